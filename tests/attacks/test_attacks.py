"""Hostile submissions: none gains a point, reads a secret, harms another submission or outlives its limits."""

import functools
import pkgutil
from collections.abc import Callable

import pytest
from support.ordinary_user import ORDINARY, ROOT_USER, USERS

from attacks import ATTACKS, KINDS
from attacks.ways import Attacked, Way, attacked

# `make attacks` goes every way with every attack, as each user; here each attack goes one way as an ordinary user, and
# those that lean on the kernel, which knows who root is, another one as root …
WHOLE_CLASS = {ROOT_USER: Way.CLUSTER, ORDINARY: Way.GRADE}
OF_THE_KERNEL = "exhausted resources", "secrets read", "looking around", "out of the sandbox"
TRIED = [
    (attack.what, user)
    for kind, attacks in KINDS.items()
    for attack in attacks
    for user in USERS
    if user == ORDINARY or kind in OF_THE_KERNEL
]
# … and one of each kind goes the others.
SAMPLE = [attacks[0] for attacks in KINDS.values()]
OTHER_WAYS = [(way, user) for user in USERS for way in Way if way is not WHOLE_CLASS[user]]

Class = Callable[[str], Attacked]


@pytest.fixture(scope="module")
def of_user(request: pytest.FixtureRequest) -> Class:
    """What has come of the attacks of the tests that were chosen, by the user who graded them."""

    @functools.cache
    def graded(user: str) -> Attacked:
        chosen = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
        names = {params.get("attack", params.get("one")) for params in chosen if params.get("user") == user}
        return attacked(WHOLE_CLASS[user], user, [attack for attack in ATTACKS if attack.what in names])

    return graded


def require_whole(graded: Attacked) -> None:
    """The honest have all their points, the course is as it was, and no process is left."""
    assert graded.is_whole, (graded.honest, graded.changed, graded.left, graded.said)


def test_no_attack_is_there_twice() -> None:
    """The tables are long, and no two attacks have one name."""
    assert len({attack.what for attack in ATTACKS}) == len(ATTACKS) >= 280


@pytest.mark.parametrize("target", sorted({target for attack in ATTACKS for target in attack.targets}))
def test_what_an_attack_reaches_for_is_there(target: str) -> None:
    """A name that was changed in the package would turn the attack into one that proves nothing."""
    pkgutil.resolve_name(target)


@pytest.mark.parametrize(("attack", "user"), TRIED)
def test_it_gains_nothing_and_learns_nothing(of_user: Class, user: str, attack: str) -> None:
    """No check gives more than it is worth, no secret and nothing active is in what students see, and it ends."""
    graded = of_user(user)
    assert graded.harms[attack] == [], graded.said


@pytest.mark.parametrize(("one", "user"), [(KINDS[OF_THE_KERNEL[0]][0].what, user) for user in USERS])
def test_all_else_is_as_if_nobody_had_attacked(of_user: Class, user: str, one: str) -> None:
    """Honest submissions among the attacks have all their points, no file has changed, and no process is left."""
    require_whole(of_user(user))


@pytest.mark.parametrize(("way", "user"), OTHER_WAYS)
def test_other_ways_are_as_safe(way: Way, user: str) -> None:
    """One attack of each kind comes to nothing through each other way of grading, too."""
    graded = attacked(way, user, SAMPLE)
    assert graded.harms == {attack.what: [] for attack in SAMPLE}, graded.said
    require_whole(graded)
