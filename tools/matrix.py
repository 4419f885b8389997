"""Which check catches which wrong answer: every answer of the tables is graded once, and the result kept as a page.

    PYTHONPATH=tests python tools/matrix.py            # all exercises; writes tests/matrix.md
    PYTHONPATH=tests python tools/matrix.py EXERCISE …   # these alone: what each message says, and what is missing

An answer is *nameable* when the tables hold words that would name its slip. That values, a shape or a dtype are wrong,
or that Python raised an error, names nothing.
"""

import functools
import itertools
import multiprocessing
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import answers
import numpy as np
import torch
from answers import RIGHT, WRONG, Right, Wrong
from support.classroom import LESSONS, Result, classroom, message

from autograder.check._compare import agrees

PAGE = Path(__file__).parent.parent / "tests" / "matrix.md"
SLIP = re.compile(r"^(?:These are the values|This is the (?:value|shape)) you get when (.+)\.$", re.MULTILINE)
NO_NAME = re.compile(
    r"wrong (values?|shape|dtype|error)|raised( \w+)?|should be .*|\w+Error|is None|all rows mixed up|"
)
NEAR = 10  # wrong answers go this many times beyond what is allowed
MOST = 0.25  # of what is allowed, for right ones: 0.16 where this was measured, but other machines round otherwise
HEAD = """\
<!-- Made by `make mistakes`; do not edit. -->

# What the checks catch

Every answer in `tests/answers/`, wrong or right, graded by the checks of its exercise.

- *Caught*: some check fails. *Mistakes* are what somebody may write in good faith, *tricks* were made to get past the
  checks; *seen* and *seen through* are those that fail a check that students see.
- *Nameable*: the tables hold words for the slip; that values, a shape or a dtype are wrong, or that Python raised an
  error, does not count. *Named*: a message holds these words. *Misnamed*: a message names a slip that the tables do not
  hold the answer to be.
- *Near*: wrong answers that only a comparison with a tolerance catches and that lie less than 10 times beyond it, and
  right ones that use more than 0.25 of it (none used more than a sixth where this was measured). Where there are none,
  rounding decides nothing; where there are some, they stand below the table.
- The verdicts do not depend on the state of random generators, on the number of threads or on the order of lessons:
  `tests/test_answers.py` changes all of these 50 times, each time for a right and a wrong answer of every fifth
  exercise.
"""


def source(lesson: str, answer: Wrong | Right) -> str:
    """The source of an answer, right or wrong; an edit that no longer fits the solution is an error in the table."""
    return answers.source(answer, classroom(lesson).answers)


@functools.cache
def graded(lesson: str, answer: Wrong | Right) -> tuple[Result, ...]:
    """The checks of its exercise, run once on an answer of the tables."""
    sources = {answer.exercise: source(lesson, answer)}
    return tuple(classroom(lesson).grade(sources, exercise=answer.exercise))


@functools.cache
def solved(lesson: str, exercise: str) -> tuple[Result, ...]:
    """The checks of an exercise, run once on its solution."""
    return tuple(classroom(lesson).grade({}, exercise=exercise))


def wrong_answers(lesson: str, exercise: str) -> list[Wrong]:
    """The wrong answers of an exercise."""
    return [each for each in WRONG.get(lesson, ()) if each.exercise == exercise]


def right_answers(lesson: str, exercise: str) -> list[Right]:
    """The right answers of an exercise that are not its solution."""
    return [each for each in RIGHT.get(lesson, ()) if each.exercise == exercise]


def failing(results: tuple[Result, ...]) -> list[Result]:
    """The checks that failed."""
    return [result for result in results if not result.passed]


def slips(results: tuple[Result, ...]) -> set[str]:
    """The slips that the messages name."""
    return {slip for result in failing(results) for slip in SLIP.findall(message(result))}


def words(answer: Wrong) -> re.Pattern[str] | None:
    """What would name the slip of an answer, None when the table holds nothing that would."""
    says = "" if NO_NAME.fullmatch(answer.says) else re.escape(answer.says)
    told = [each for each in (says, answer.names) if each]
    return re.compile("|".join(told), re.IGNORECASE) if told else None


def named(answer: Wrong, results: tuple[Result, ...]) -> bool:
    """Some message holds words that name the slip."""
    wanted = words(answer)
    return bool(wanted and any(wanted.search(message(result)) for result in failing(results)))


def misnamed(answer: Wrong, results: tuple[Result, ...]) -> bool:
    """Some message names a slip that the table does not hold the answer to be."""
    wanted = words(answer)
    return any(not (wanted and wanted.search(slip)) for slip in slips(results))


def is_near(results: tuple[Result, ...]) -> bool:
    """Rounding could turn the verdict: a right answer uses much of what is allowed, a wrong one goes little beyond."""
    failed = failing(results)
    if not failed:
        return any(distance > MOST for result in results for distance in result.distances)
    beyond = [max(result.distances, default=0.0) for result in failed]
    return 1 < max(beyond) < NEAR and min(beyond) > 1


def count(lesson: str, exercise: str) -> dict[str, int]:
    """How many answers of an exercise are caught, seen, named, misnamed, accepted, and near a tolerance."""
    wrong = {each: graded(lesson, each) for each in wrong_answers(lesson, exercise)}
    right = [graded(lesson, each) for each in right_answers(lesson, exercise)]
    everything = [*wrong.values(), *right, solved(lesson, exercise)]
    seen = [each.trick for each, results in wrong.items() if any(result.seen for result in results)]
    tricks = sum(each.trick for each in wrong)
    return {
        "wrong": len(wrong),
        "caught": sum(bool(failing(results)) for results in wrong.values()),
        "mistakes": len(wrong) - tricks,
        "seen": seen.count(False),
        "tricks": tricks,
        "seen through": seen.count(True),
        "nameable": sum(words(each) is not None for each in wrong),
        "named": sum(named(each, results) for each, results in wrong.items()),
        "misnamed": sum(misnamed(each, results) for each, results in wrong.items()),
        "right": len(right),
        "accepted": sum(not failing(results) for results in right),
        "near": sum(map(is_near, everything)),
    }


def alike(one: object, other: object) -> bool:
    """Two values that no comparison could tell apart."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return agrees(one, other, 1e-4, 1e-5 if one.dim() else 0.0)  # a single number is compared by its size
    return one == other


def by_check(lesson: str, exercise: str) -> dict[str, tuple[int, list[str]]]:
    """For each check of an exercise how many wrong answers it catches, and which ones it alone catches."""
    caught = {
        each: {result.check for result in failing(graded(lesson, each))} for each in wrong_answers(lesson, exercise)
    }
    return {
        check: (
            sum(check in by for by in caught.values()),
            [each.what for each, by in caught.items() if by == {check}],
        )
        for check in classroom(lesson).checks_of(exercise)
    }


def exercises() -> list[tuple[str, str]]:
    """Lesson and name of every exercise."""
    return [(lesson, exercise) for lesson in LESSONS for exercise in classroom(lesson).answers]


def strange(lesson: str, exercise: str) -> Iterator[str]:
    """What should not be: answers that escape, are rejected, misnamed or near a tolerance, with what was said."""
    for answer in wrong_answers(lesson, exercise):
        results = graded(lesson, answer)
        if not failing(results):
            yield f"`{answer.what}` escapes."
        if misnamed(answer, results):
            yield f"`{answer.what}` is told that {'; '.join(sorted(slips(results)))}."
        if is_near(results):
            yield f"`{answer.what}` is caught by little more than the tolerance."
    for answer in right_answers(lesson, exercise):
        for result in failing(graded(lesson, answer)):
            yield f"`{answer.what}`, which is right, is rejected by {result.check}: {message(result)}"
        if not failing(graded(lesson, answer)) and is_near(graded(lesson, answer)):
            yield f"`{answer.what}`, which is right, uses much of a tolerance."
    if is_near(solved(lesson, exercise)):
        yield "The solution uses much of a tolerance."


def missing(lesson: str, exercise: str) -> Iterator[str]:
    """What an exercise still needs, in the order in which one would add it."""
    table = [each for each in wrong_answers(lesson, exercise) if each.check is not None]
    if len(table) < 4:
        yield "It has fewer than four wrong answers in tests/answers that say which check must fail."
    if len(right_answers(lesson, exercise)) < 2:
        yield "It has fewer than two other right answers in tests/answers."
    aimed = {f"check_{exercise}" + (f"_{each.check}" if each.check else "") for each in table}
    checks = classroom(lesson).checks_of(exercise)
    for check in checks:
        if check not in aimed:
            yield f"No wrong answer is aimed at `{check}`."
    if not any("HIDDEN TESTS" in cell.source for cell in classroom(lesson).checks if cell.id in checks):
        yield "No check has hidden tests."
    counts = count(lesson, exercise)
    if counts["seen"] + counts["seen through"] < 0.9 * counts["wrong"]:
        yield "The checks that students see catch less than 90 % of its wrong answers."
    if table and not any(words(each) for each in table):
        yield "No message names a slip: is there a fingerprint to add to its module in autograder/exercises?"
    yield from strange(lesson, exercise)


@dataclass(frozen=True)
class Summary:
    """What the page says of an exercise."""

    lesson: str
    exercise: str
    counts: dict[str, int]  # see `count`
    near: list[str]  # the answers near a tolerance, by what they do
    checks: dict[str, tuple[int, list[str]]]  # see `by_check`


def summary(lesson: str, exercise: str) -> Summary:
    """Grade all answers to an exercise, and sum up what came of it."""
    both = wrong_answers(lesson, exercise) + right_answers(lesson, exercise)
    near = [each.what for each in both if is_near(graded(lesson, each))]
    return Summary(lesson, exercise, count(lesson, exercise), near, by_check(lesson, exercise))


def page(summaries: Sequence[Summary]) -> str:
    """The whole page."""
    return "\n".join(_lines(summaries)) + "\n"


def _lines(summaries: Sequence[Summary]) -> Iterator[str]:
    counted = list(summaries[0].counts)
    yield from (*HEAD.splitlines(), "")
    yield from (f"| lesson | exercise | {' | '.join(counted)} |", "|---|---|" + "---:|" * len(counted))
    yield from map(row, summaries)
    total = sum((Counter(each.counts) for each in summaries), Counter())
    yield "| | **all** | " + " | ".join(f"**{total[each]}**" for each in counted) + " |"
    seen, through = total["seen"] / total["mistakes"], total["seen through"] / max(total["tricks"], 1)
    yield from ("", f"The checks that students see catch {seen:.1%} of the mistakes and {through:.1%} of the tricks.")
    yield from ("", f"{total['named'] / total['nameable']:.0%} of the nameable slips are named.", "")
    for each in summaries:
        if each.near:
            yield f"Near a tolerance in `{each.exercise}`: {'; '.join(each.near)}."
    for lesson, group in itertools.groupby(summaries, key=lambda each: each.lesson):
        yield from ("", f"## Lesson {int(lesson[:2])}", "")
        yield "| check | catches | alone | caught by this check alone |"
        yield "|---|---:|---:|---|"
        for each in group:
            yield from rows_of_checks(each)


def row(each: Summary) -> str:
    """What the page says of an exercise."""
    return f"| {int(each.lesson[:2])} | `{each.exercise}` | {' | '.join(map(str, each.counts.values()))} |"


def rows_of_checks(each: Summary) -> Iterator[str]:
    """What the page says of the checks of an exercise."""
    for check, (caught, alone) in each.checks.items():
        shown = "; ".join(alone[:6]) + (f"; and {len(alone) - 6} more" if len(alone) > 6 else "")
        shown = shown.replace("|", r"\|") or "nothing: redundant, but for the points it gives"
        yield f"| `{check}` | {caught} | {len(alone)} | {shown} |"


def report(lesson: str, exercise: str) -> Iterator[str]:
    """One exercise, for whoever works on it."""
    yield f"{lesson}: {exercise}\n"
    for answer in wrong_answers(lesson, exercise):
        seen = any(result.seen for result in graded(lesson, answer))
        said = [message(result).partition("\n\nRule:")[0] for result in failing(graded(lesson, answer))]
        yield f"{answer.what}{'' if seen else '  (hidden tests only)'}"
        yield "    " + (said[0] if said else "✗ escapes").replace("\n\n", "\n").replace("\n", "\n    ")
    yield f"\n{', '.join(f'{value} {what}' for what, value in count(lesson, exercise).items())}"
    for check, (caught, alone) in by_check(lesson, exercise).items():
        yield f"{check}: catches {caught}, {len(alone)} of them alone"
    yield ""
    yield from [f"✗ {each}" for each in missing(lesson, exercise)] or ["Nothing is missing."]


def graded_otherwise(seed: int) -> Iterator[tuple[str, list, list]]:
    """A right and a wrong answer of every fifth exercise, others for every seed, graded again in another state.

    Yields:
        the answer, what its checks say now, and what they said before.
    """
    for lesson, exercise in exercises()[seed % 5 :: 5][:: 1 if seed % 2 else -1]:
        right, wrong = right_answers(lesson, exercise), wrong_answers(lesson, exercise)
        for answer in (right[seed % len(right)], wrong[seed % len(wrong)]):
            before = graded(lesson, answer)
            torch.manual_seed(seed), random.seed(seed), np.random.seed(seed)
            torch.set_num_threads(1 + seed % 2)
            now = classroom(lesson).grade({exercise: source(lesson, answer)}, exercise=exercise)
            said = [[(each.check, str(each.error)) for each in results] for results in (now, before)]
            yield f"{exercise}: {answer.what}", *said


def main(names: list[str]) -> None:
    """Write the page, or report on the exercises called by name."""
    known = {exercise: lesson for lesson, exercise in exercises()}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"There is no exercise {', '.join(unknown)}. There are: {', '.join(known)}.")
    if names:
        print(*(line for name in names for line in report(known[name], name)), sep="\n")
        return
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        done = list(pool.map(_summed_up, *zip(*exercises(), strict=True)))
    text = page([summed for summed, _ in done])
    PAGE.write_text(text, encoding="utf-8")
    print(text.split("## Lesson")[0])
    for summed, lacks in done:
        for each in lacks:
            print(f"✗ {summed.exercise}: {each}")


def _summed_up(lesson: str, exercise: str) -> tuple[Summary, list[str]]:
    done = summary(lesson, exercise), list(missing(lesson, exercise))
    graded.cache_clear()
    return done


if __name__ == "__main__":
    main(sys.argv[1:])
