"""The page of attacks says what they have done, and the one that is kept says: nothing."""

import attack_table
from attack_table import PAGE, page
from attacks import ATTACKS, KINDS
from attacks.ways import Attacked, Harm, Way
from support.ordinary_user import ORDINARY, ROOT_USER

HARMLESS = {attack.what: [] for attack in ATTACKS}


def test_the_page_counts_and_names_what_did_harm() -> None:
    """Each kind has a row, each way and user a column; what did harm is counted there and named below."""
    evil = KINDS["secrets read"][0].what
    table = {
        (Way.GRADE, ROOT_USER): Attacked(HARMLESS, [20, 20], [], [], ""),
        (Way.CLUSTER, ORDINARY): Attacked(HARMLESS | {evil: [Harm.LEAKS]}, [20, 7], ["solutions/a"], [1], ""),
    }
    said = page(table).splitlines()
    count, of_kind = len(ATTACKS), len(KINDS["secrets read"])
    assert f"| secrets read | {of_kind} | 0 / {of_kind} | 1 / {of_kind} |" in said
    assert f"| all | {count} | 0 / {count} | 1 / {count} |" in said
    assert "| honest |  | 2 of 2 | 1 of 2 |" in said and "| changed, left |  | 0, 0 | 1, 1 |" in said
    assert f"Of {2 * count:,} submissions 1 did harm:" in said
    assert f"- {evil}, a Dask worker, an ordinary user: leaks" in said


def test_the_kept_page_has_every_way_and_no_harm() -> None:
    """The last run went all ways as both users, and no attack of it did any harm."""
    kept = PAGE.read_text(encoding="utf-8")
    assert all(f"{way}, {user}" in kept for way in Way for user in (ROOT_USER, ORDINARY))
    assert kept.startswith(attack_table.HEAD) and " submissions 0 did harm." in kept
