"""What hostile submissions come to: every attack, through every way of grading, as root and as an ordinary user.

    PYTHONPATH=tests python tools/attack_table.py   # writes tests/attacks.md; an hour on two cores

Ways that take one submission after the other have two classes at a time.
"""

import itertools
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attacks import ATTACKS, KINDS
from attacks.ways import WHOLE, Attacked, Way, attacked
from support.ordinary_user import USERS

PAGE = Path(__file__).parent.parent / "tests" / "attacks.md"
CLASSES = {Way.GRADE: 1, Way.CLUSTER: 1, Way.NBGRADER: 2, Way.FORMGRADER: 2}
HEAD = """\
<!-- Made by `make attacks`; do not edit. -->

# What hostile submissions come to

Every attack in `tests/attacks/`, handed in by a student of a class with honest ones in it, and graded as an instructor
would: with `autograder grade`, with `nbgrader autograde`, by the request that formgrader's button sends to its server,
and with `autograder grade --scheduler` by a Dask worker; each as root and as an ordinary user.

- *0 / 30* says that of 30 attacks none did any of these: *gain* points that an honest grader would not give, *leak*
  something secret into what a student sees, *stop* their own grading or that of others, *show* something that can act
  in a browser.
- *Honest* are the submissions among the attacks that have all their points. *Changed* are files of the course, and
  *left* are processes, that are not as they were before.
- Cells have 8 seconds here and submissions 40, so that it ends in an hour; as a rule they have 120 and 600.
"""

Table = Mapping[tuple[Way, str], Attacked]


def whole(way: Way, user: str) -> Attacked:
    """Let all attacks go one way as a user."""
    count = CLASSES[way]
    with ThreadPoolExecutor(count) as pool:
        classes = list(pool.map(lambda first: attacked(way, user, ATTACKS[first::count]), range(count)))
    return Attacked(
        {what: harms for each in classes for what, harms in each.harms.items()},
        [points for each in classes for points in each.honest],
        [name for each in classes for name in each.changed],
        [pid for each in classes for pid in each.left],
        "\n".join(each.said for each in classes),
    )


def page(table: Table) -> str:
    """The page: a row for each kind of attack, a column for each way and user."""
    rows = [["", "attacks", *(f"{way}, {user}" for way, user in table)], ["---", *["---:"] * (1 + len(table))]]
    for kind, attacks in [*KINDS.items(), ("all", ATTACKS)]:
        tried = [
            [each.harms[attack.what] for attack in attacks if attack.what in each.harms] for each in table.values()
        ]
        rows.append([kind, str(len(attacks)), *(f"{sum(map(bool, harms))} / {len(harms)}" for harms in tried)])
    complete = (f"{each.honest.count(WHOLE)} of {len(each.honest)}" for each in table.values())
    rows.append(["honest", "", *complete])
    rows.append(["changed, left", "", *(f"{len(each.changed)}, {len(each.left)}" for each in table.values())])
    harms = [
        f"- {what}, {way}, {user}: {', '.join(harms)}"
        for (way, user), each in table.items()
        for what, harms in each.harms.items()
        if harms
    ]
    told = {line.partition("honest: ")[2] for each in table.values() for line in each.said.splitlines()} - {""}
    count = sum(len(each.harms) for each in table.values())
    said = f"Of {count:,} submissions {len(harms)} did harm{':' if harms else '.'}"
    lines = [HEAD, *(f"| {' | '.join(row)} |" for row in rows), "", said, *(["", *harms] if harms else [])]
    if told:  # a busy machine costs the honest their time
        lines += ["", "Honest submissions that lost points were told:", "", *(f"- {text}" for text in sorted(told))]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; 0 where no attack has done anything."""
    table: dict[tuple[Way, str], Attacked] = {}
    for way, user in itertools.product(Way, USERS):
        table[way, user] = graded = whole(way, user)
        harmed = {what: harms for what, harms in graded.harms.items() if harms}
        print(f"{way}, {user}: {len(graded.harms)} attacks, {len(harmed)} did harm. {harmed or ''}", flush=True)
        if harmed or not graded.is_whole:
            print(graded.said)
    PAGE.write_text(page(table), encoding="utf-8")
    return int(any(any(each.harms.values()) or not each.is_whole for each in table.values()))


if __name__ == "__main__":
    sys.exit(main())
