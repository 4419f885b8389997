"""The checks are checked: wrong answers fail the check that should catch them, right ones earn all points."""

import ast
import itertools
import re

import matrix
import pytest
import torch
import two_slips
from answers import RIGHT, WRONG, Right, Wrong
from support import drawn
from support.classroom import LESSONS, classroom, message

from autograder import check
from autograder.check import NotWritten

WRONG_ANSWERS = [(lesson, wrong) for lesson, table in WRONG.items() for wrong in table]
AIMED = [(lesson, wrong) for lesson, wrong in WRONG_ANSWERS if wrong.check is not None]
RIGHT_ANSWERS = [(lesson, right) for lesson, table in RIGHT.items() for right in table]
EXERCISES = [(lesson, name) for lesson in LESSONS for name in classroom(lesson).answers]

PAGE = matrix.PAGE.read_text(encoding="utf-8")
SEEDS = 8 if drawn.FEW else 50

# Two that give the same on all inputs of their checks, so that a message names neither.
NEITHER_IS_NAMED = {
    (
        "10000 is squared first, as in `10000 ** 2 * i / d_model`: the exponent needs parentheses",
        "the exponent is doubled: it is 2i / d_model, and an even column's number already is the paper's 2i",
    ),
    (
        "the longest piece that fits is taken, instead of the merges in their order",
        "two neighbours are joined wherever they make a piece, by whatever merge",
    ),
    ("each word is encoded by itself, and the spaces between them are lost", "spaces are lost"),
}


def title(answer: object) -> str:
    """A test's name, from the table."""
    return answer if isinstance(answer, str) else f"{answer.exercise}: {answer.what}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_solutions_earn_all_points_in_silence(lesson: str) -> None:
    """Every check passes on the solutions, prints one ✓ line for each rule and writes nothing to stderr."""
    with check.audit():
        results = classroom(lesson).grade({})
    for result in results:
        assert result.passed, f"{result.check}: {result.error}"
        assert result.stderr == ""
        assert result.stdout and all(line.startswith("✓ ") for line in result.stdout.splitlines())


@pytest.mark.parametrize("secret", [b"one", b"two", b"three"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_hidden_tests_of_any_course_accept_the_solutions(lesson: str, secret: bytes) -> None:
    """Whatever secret a course has drawn, its hidden tests fail no right answer."""
    for result in classroom(lesson).grade({}, hidden_seed=secret):
        assert result.passed, f"{result.check}: {result.error}"


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_two_slips_of_a_check_differ_somewhere(lesson: str, name: str) -> None:
    """No two known mistakes give the same in every comparison of an exercise that knows both: each can be named."""
    with check.audit() as comparisons:
        classroom(lesson).grade({}, exercise=name)
    differ: dict[tuple[str, ...], bool] = {}
    for what, values in comparisons:
        for one, other in itertools.combinations(sorted(values), 2):
            pair = what, one, other
            differ[pair] = differ.get(pair, False) or not matrix.alike(values[one], values[other])
    alike = {pair[1:] for pair, is_told_apart in differ.items() if not is_told_apart}
    assert alike <= NEITHER_IS_NAMED, alike - NEITHER_IS_NAMED


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_of_two_slips_together_no_third_is_named(lesson: str, name: str) -> None:
    """Where an answer makes two mistakes, what a message names is one of them; `make pairs` tries all."""
    _, wrong = two_slips.misnamed(lesson, name, most=8, seed=1)
    assert not wrong, wrong


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_a_stub_earns_nothing_and_only_because_it_is_not_written(lesson: str, name: str) -> None:
    """Every check of an unanswered exercise fails with the verdict that the answer is not written yet."""
    room = classroom(lesson)
    results = room.grade({name: room.stubs[name]}, exercise=name)
    parts = [node.name for node in ast.parse(room.stubs[name]).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert results
    for result in results:
        assert isinstance(result.error, NotWritten) and isinstance(result.error, NotImplementedError)
        assert any(f"`{part}" in str(result.error) for part in parts) and "is not written yet" in str(result.error)


@pytest.mark.parametrize("lesson", LESSONS)
def test_one_unanswered_exercise_costs_no_other(lesson: str) -> None:
    """With one stub at a time, every check of every other exercise still passes."""
    room = classroom(lesson)
    for name, stub in room.stubs.items():
        lost = {result.check for result in room.grade({name: stub}) if not result.passed}
        assert lost == set(room.checks_of(name))


@pytest.mark.parametrize(("lesson", "wrong"), AIMED, ids=title)
def test_a_wrong_answer_fails_the_right_check_by_name(lesson: str, wrong: Wrong) -> None:
    """The check that should catch the mistake fails, its message is a verdict, and it names a slip that is proved."""
    results = matrix.graded(lesson, wrong)
    failed = {result.check: result for result in results if not result.passed}
    aimed = f"check_{wrong.exercise}" + (f"_{wrong.check}" if wrong.check else "")
    assert aimed in failed, f"caught by {sorted(failed) or 'nothing'}"
    said = message(failed[aimed])
    assert wrong.says in said, said
    assert said.startswith("✗ ") and len(said.splitlines()) <= 9
    assert "cannot go on" not in said, said
    assert not matrix.misnamed(wrong, results), f"a slip is named that the table does not: {matrix.slips(results)}"


@pytest.mark.parametrize(("lesson", "wrong"), WRONG_ANSWERS, ids=title)
def test_every_wrong_answer_is_seen_to_fail(lesson: str, wrong: Wrong) -> None:
    """A wrong answer fails a check before its hidden tests, and whatever fails says so in a short verdict."""
    results = matrix.graded(lesson, wrong)
    failed = [message(result) for result in results if not result.passed]
    assert any(result.seen for result in results)
    assert all(said.startswith("✗ ") and len(said.splitlines()) <= 9 for said in failed)


@pytest.mark.parametrize(("lesson", "right"), RIGHT_ANSWERS, ids=title)
def test_another_right_answer_earns_all_points(lesson: str, right: Right) -> None:
    """An answer that differs from the solution and does what the exercise asks passes every check, in silence."""
    for result in matrix.graded(lesson, right):
        assert result.passed, f"{result.check}: {result.error}"
        assert result.stderr == ""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_verdicts_depend_on_the_answer_alone(seed: int) -> None:
    """With other random states, other numbers of threads and lessons in both orders, every message stays the same."""
    threads = torch.get_num_threads()
    try:
        for title, now, before in matrix.graded_otherwise(seed):
            assert now == before, title
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_rounding_decides_no_right_answer(lesson: str, name: str) -> None:
    """Right answers, the solution included, use a small part of every tolerance."""
    assert not matrix.is_near(matrix.solved(lesson, name))
    for answer in matrix.right_answers(lesson, name):
        assert not matrix.is_near(matrix.graded(lesson, answer)), answer.what


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_nothing_is_missing(lesson: str, name: str) -> None:
    """An exercise has what the page on adding one asks for; near misses of rounded answers stand on the page."""
    assert not [each for each in matrix.missing(lesson, name) if "tolerance" not in each]


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_the_page_says_what_the_checks_catch(lesson: str, name: str) -> None:
    """What `make mistakes` writes of an exercise stands on the page."""
    if not_on_page(lesson, name):  # on a loaded machine one wrong answer was seen to fail one check more
        matrix.graded.cache_clear()
    assert not not_on_page(lesson, name), "`make mistakes` renews the page"


def test_the_page_adds_up_and_nothing_escapes() -> None:
    """Wrong answers are caught and most seen to fail, right ones are accepted, and each exercise is there."""
    rows = re.findall(r"^\| \d \| `\w+` \|(.+)\|$", PAGE, re.MULTILINE)
    total = [sum(column) for column in zip(*(map(int, row.split("|")) for row in rows), strict=True)]
    assert PAGE.startswith(matrix.HEAD) and total == list(map(int, re.findall(r"\*\*(\d+)\*\*", PAGE)))
    checks = [check for lesson, name in EXERCISES for check in classroom(lesson).checks_of(name)]
    assert len(rows) == len(EXERCISES) and re.findall(r"^\| `(check_\w+)`", PAGE, re.MULTILINE) == checks
    wrong, caught, mistakes, seen, tricks, through, nameable, named, misnamed, right, accepted, _ = total
    assert caught == wrong >= 150 and accepted == right >= 80 and misnamed == 0
    assert seen >= 0.98 * mistakes and through >= 0.9 * tricks and named >= 0.95 * nameable >= 0.5 * wrong
    assert f" {seen / mistakes:.1%} of the mistakes and {through / tricks:.1%} of the tricks." in PAGE
    assert f"\n{named / nameable:.0%} of the nameable slips are named.\n" in PAGE


def not_on_page(lesson: str, name: str) -> list[str]:
    """The lines of an exercise that the page has otherwise, but for what is near a tolerance: processors round it."""
    summary, lines = matrix.summary(lesson, name), PAGE.splitlines()
    row = matrix.row(summary).rsplit("|", 2)[0]
    lacking = [line for line in matrix.rows_of_checks(summary) if line not in lines]
    return lacking if any(line.startswith(row) for line in lines) else [row, *lacking]
