"""Which check catches which wrong answer: every answer of the tables is graded once, and the result kept as a page.

    python tests/matrix.py

prints the summary and writes tests/matrix.md, which test_answers.py compares with what it finds itself.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from classroom import LESSONS, Result, classroom, message
from more_right_answers import RIGHT as MORE_RIGHT
from more_wrong_answers import WRONG as MORE_WRONG
from right_answers import RIGHT
from wrong_answers import WRONG

PAGE = Path(__file__).parent / "matrix.md"
SLIP = re.compile(r"^(?:These are the values|This is the shape) you get when (.+)\.$", re.MULTILINE)
HEAD = """\
<!-- Made by `make mistakes`; do not edit. -->

# What the checks catch

Every answer in `tests/wrong_answers.py`, `tests/more_wrong_answers.py`, `tests/right_answers.py` and
`tests/more_right_answers.py`, graded by the checks of its exercise. *Caught*: some check fails. *Visible*: a check that
students see fails. *Named*: a message says what the slip is, because the values prove it. *Misnamed*: a message names
a slip that the table does not hold the answer to be.
"""


def source(lesson: str, answer) -> str:
    """The source of an answer, right or wrong; an edit that no longer fits the solution is an error in the table."""
    text = answer.source or classroom(lesson).answers[answer.exercise]
    for old, new in getattr(answer, "edits", ()):
        assert old in text, f"{old!r} is not in the solution of {answer.exercise} any more"
        text = text.replace(old, new)
    return text


@functools.cache
def graded(lesson: str, answer, hidden: bool = True) -> tuple[Result, ...]:
    """The checks of its exercise, run once on an answer of the tables."""
    sources = {answer.exercise: source(lesson, answer)}
    return tuple(classroom(lesson).grade(sources, exercise=answer.exercise, hidden=hidden))


def wrong_answers(lesson: str, exercise: str) -> list:
    """The wrong answers of an exercise, from both tables."""
    return [each for table in (WRONG, MORE_WRONG) for each in table.get(lesson, ()) if each.exercise == exercise]


def right_answers(lesson: str, exercise: str) -> list:
    """The right answers of an exercise that are not its solution, from both tables."""
    return [each for table in (RIGHT, MORE_RIGHT) for each in table.get(lesson, ()) if each.exercise == exercise]


def failing(results: tuple[Result, ...]) -> list[Result]:
    """The checks that failed."""
    return [result for result in results if not result.passed]


def named(results: tuple[Result, ...]) -> set[str]:
    """The slips that the messages name."""
    return {slip for result in failing(results) for slip in SLIP.findall(message(result))}


def misnamed(answer, results: tuple[Result, ...]) -> bool:
    """A slip is named that the table does not hold the answer to be.

    In the first table `says` is what a message must hold, "" where no slip can be proved; in the second `name` is a
    regular expression for words that would name the slip fairly.
    """
    slips = named(results)
    if not slips:
        return False
    if hasattr(answer, "says"):
        return not answer.says
    return not answer.name or not any(re.search(answer.name, slip, re.IGNORECASE) for slip in slips)


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield from HEAD.splitlines()
    yield from ("", "| lesson | exercise | wrong | caught | visible | named | misnamed | right | accepted |")
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    total: Counter[str] = Counter()
    for lesson in LESSONS:
        for exercise in classroom(lesson).answers:
            counts = count(lesson, exercise)
            total.update(counts)
            yield f"| {int(lesson[:2])} | `{exercise}` | " + " | ".join(map(str, counts.values())) + " |"
    yield "| | **all** | " + " | ".join(f"**{value}**" for value in total.values()) + " |"
    for lesson in LESSONS:
        yield from ("", f"## Lesson {int(lesson[:2])}", "")
        yield "| check | catches | alone | caught by this check alone |"
        yield "|---|---:|---:|---|"
        for exercise in classroom(lesson).answers:
            yield from checks(lesson, exercise)


def count(lesson: str, exercise: str) -> dict[str, int]:
    """How many answers of an exercise are caught, seen, named, misnamed and accepted."""
    wrong, right = wrong_answers(lesson, exercise), right_answers(lesson, exercise)
    results = {each: graded(lesson, each) for each in wrong}
    return {
        "wrong": len(wrong),
        "caught": sum(bool(failing(found)) for found in results.values()),
        "visible": sum(bool(failing(graded(lesson, each, hidden=False))) for each in wrong),
        "named": sum(bool(named(found)) for found in results.values()),
        "misnamed": sum(misnamed(each, found) for each, found in results.items()),
        "right": len(right),
        "accepted": sum(not failing(graded(lesson, each)) for each in right),
    }


def checks(lesson: str, exercise: str) -> Iterator[str]:
    """A line for each check of an exercise: how much it catches, and what nobody else does."""
    caught = {
        each: {result.check for result in failing(graded(lesson, each))} for each in wrong_answers(lesson, exercise)
    }
    for check in classroom(lesson).checks_of(exercise):
        alone = [each.what for each, by in caught.items() if by == {check}]
        shown = "; ".join(alone[:6]) + (f"; and {len(alone) - 6} more" if len(alone) > 6 else "")
        shown = shown.replace("|", r"\|")
        yield f"| `{check}` | {sum(check in by for by in caught.values())} | {len(alone)} | {shown or 'nothing'} |"


def page() -> str:
    """The whole page."""
    return "\n".join(lines()) + "\n"


def strange() -> Iterator[str]:
    """The answers that escape, are rejected or are misnamed, with what was said."""
    for lesson in LESSONS:
        for exercise in classroom(lesson).answers:
            for answer in wrong_answers(lesson, exercise):
                results = graded(lesson, answer)
                if not failing(results):
                    yield f"{exercise}: {answer.what}: escapes"
                elif misnamed(answer, results):
                    yield f"{exercise}: {answer.what}: is told that {'; '.join(sorted(named(results)))}"
            for answer in right_answers(lesson, exercise):
                for result in failing(graded(lesson, answer)):
                    yield f"{exercise}: {answer.what}: is rejected by {result.check}: {message(result)}"


if __name__ == "__main__":
    text = page()
    PAGE.write_text(text, encoding="utf-8")
    print(text.split("## Lesson")[0], *strange(), sep="\n")
