"""`autograder student defence`: questions about a student's own right answers, for a talk of five minutes.

Each is one small change in what they handed in; what comes of it is what grading says of the changed hand-in.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell
from rich.console import Console

from autograder.changes import Mutant, mutants
from autograder.course.config import CourseError
from autograder.course.lesson import answer_of, cell_id, is_check, is_marked
from autograder.course.names import counted, did_you_mean, printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.students import write_talk
from autograder.grading.jobs import Job, prepared, read_job
from autograder.grading.results import Limits, Outcome, Result, Status
from autograder.grading.worker.client import GradingServer

QUESTIONS, MOST_COMPARED, MOST_TRIED = 3, 24, 6  # in all; for one, changes with an input sought, and those graded
NOTING = "{cell}\nfrom autograder import calls as _calls\n{name} = _calls.noting({name}, _noted := [])\n"
TELLING = "print(_calls.telling({name!r}, {name}.__wrapped__, {cells!r}, _noted))"


@dataclass(frozen=True)
class Question:
    """A change of an answer, and the checks of it that fail then, the others in order."""

    answer: str
    change: str
    shown_by: str  # a call that returns something else then; "" where none that can be shown is known
    failed: list[Outcome]
    passed: list[str]


def defence(
    root: Path,
    student: str,
    lesson: str,
    out: Console,
    *,
    seed: int | None = None,
    unprotected: bool = False,
    held: str = "",
    warm: GradingServer | None = None,
) -> None:
    """Print questions about what a student handed in, with their answers, or keep that somebody asked.

    Args:
        seed: for the same questions again; drawn anew when None.
        unprotected: grade even where the sandbox does not hold.
        held: ask nothing, and keep the day of the talk, "2026-10-12", or "none" to take it back.

    Raises:
        CourseError: they have not handed it in, it cannot be graded, no answer passes all its checks, or a day is none.
    """
    course = Course.at(root)
    if student in course.lessons():
        raise CourseError(f"The student comes first: autograder student defence {lesson} {student}")
    (lesson,) = course.choose_lessons([lesson])
    if student not in (students := course.students(lesson)):
        hint = did_you_mean([student], students)
        raise CourseError(printable(f"{student} has not handed in {lesson}.{hint}"))
    if held:
        _keep(course, lesson, student, held, out)
        return
    source = prepared(course.source(lesson), course.config)
    job = read_job(course.submitted(student, lesson), student, lesson, source, Limits())
    with warm or GradingServer(unprotected=unprotected) as server:
        result = job.run(server)
        if result.reason:
            raise CourseError(f"It cannot be graded, so nothing can be asked. {result.reason}")
        passed = {outcome.check for outcome in result.checks if outcome.status is Status.PASSED}
        answers = _by_answer(result).items()
        right = {name: checks for name, checks in answers if passed.issuperset(one.check for one in checks)}
        if not right:
            raise CourseError(f"No answer of {printable(student)} in {lesson} passes all its checks.")
        asked = list(islice(_questions(job, result, right, server, random.Random(seed)), QUESTIONS))
    title = f"{counted(len(asked), 'question')} for {printable(student)} on {lesson}"
    out.print(title, markup=False, highlight=False)
    for number, question in enumerate(asked, start=1):
        out.print(_told(number, question), markup=False, highlight=False, soft_wrap=True)


def _keep(course: Course, lesson: str, student: str, held: str, out: Console) -> None:
    """Keep when the talk took place."""
    try:
        day = date.fromisoformat(held) if held != "none" else None
    except ValueError:
        raise CourseError(f"--held {printable(held)} is no day like 2026-10-12.") from None
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.writing() as connection, explained(gradebook.where):
        write_talk(connection, student, lesson, day)
    when = f"kept: {day}. The class page says so" if day else "not kept"
    out.print(printable(f"✓ The talk with {student} about {lesson} is {when}."), markup=False, highlight=False)


def _questions(
    job: Job, result: Result, right: dict[str, list[Outcome]], server: GradingServer, draw: random.Random
) -> Iterator[Question]:
    """Ask about as many different answers as there are."""
    notebook = json.loads(result.notebook)
    for name in draw.sample(sorted(right), len(right)):
        alone = replace(job, source=_of_checks(job.source, [outcome.check for outcome in right[name]]))
        cell = next(cell for cell in notebook["cells"] if _solution_of(cell) == name)
        if (question := _question(alone, name, cell, notebook, server, draw)) is not None:
            yield question


def _of_checks(source: bytes, checks: list[str]) -> bytes:
    """A lesson with these check cells alone."""
    lesson = json.loads(source)
    lesson["cells"] = [cell for cell in lesson["cells"] if not is_check(cell) or cell_id(cell) in checks]
    return json.dumps(lesson).encode()


def _question(
    job: Job, name: str, cell: dict[str, Any], notebook: object, server: GradingServer, draw: random.Random
) -> Question | None:
    """A change with a known mistake as its cause, or else any that a check rejects; None where there is none."""
    own, fallback = cell["source"], None
    changes = _shuffled(own, draw)[:MOST_COMPARED]
    shown_by = dict(zip(changes, _telling(job, name, cell, notebook, changes, server), strict=True))
    for change in sorted(changes, key=lambda one: not shown_by[one])[:MOST_TRIED]:
        cell["source"] = change.source
        graded = replace(job, submitted=json.dumps(notebook).encode()).run(server)
        cell["source"] = own
        checks = _by_answer(graded).get(name, [])
        failed = [outcome for outcome in checks if outcome.status is Status.FAILED]
        passed = [outcome.check for outcome in checks if outcome.status is Status.PASSED]
        if failed:
            fallback = Question(name, change.change, shown_by[change], failed, passed)
        if failed and failed[0].mistake:
            break
    return fallback


def _telling(
    job: Job, name: str, cell: dict[str, Any], notebook: Any, changes: Sequence[Mutant], server: GradingServer
) -> list[str]:
    """For each change a call of the checks that shows it, "" for none, as a cell behind the checks finds it."""
    own, cells = cell["source"], [change.source for change in changes]
    if f"def {name}(" not in own:
        return [""] * len(changes)
    cell["source"] = NOTING.format(cell=own, name=name)
    last = new_code_cell(TELLING.format(name=name, cells=cells), id="telling")
    whole = json.dumps({**notebook, "cells": [*notebook["cells"], last]}).encode()
    result, cell["source"] = replace(job, submitted=whole).run(server), own
    try:
        (output,) = json.loads(result.notebook)["cells"][-1]["outputs"]
        found = [str(call) for call in json.loads("".join(output["text"]))]
    except (ValueError, KeyError, TypeError):  # an answer that cannot be named, or meddles
        found = []
    return found if len(found) == len(changes) else [""] * len(changes)


def _shuffled(source: str, draw: random.Random) -> list[Mutant]:
    try:
        changes = mutants(source, in_words=True)
    except SyntaxError:  # of IPython's own
        return []
    return draw.sample(changes, len(changes))


def _solution_of(cell: dict[str, Any]) -> str:
    """The answer that a cell of a graded notebook holds; "" where it holds none."""
    return cell_id(cell) if is_marked(cell, "solution") and not is_marked(cell, "grade") else ""


def _by_answer(result: Result) -> dict[str, list[Outcome]]:
    """The outcomes of the checks of each answer."""
    cells = json.loads(result.notebook)["cells"] if result.notebook else []
    names = [*filter(None, map(_solution_of, cells))]
    found: dict[str, list[Outcome]] = {}
    for outcome in result.checks:
        if owner := answer_of(outcome.check, names):
            found.setdefault(owner, []).append(outcome)
    return found


def _told(number: int, question: Question) -> str:
    """A question, and below it what comes of the change."""
    first, shows = question.failed[0], bool(question.shown_by)
    before, _, after = question.change.rpartition(" → ")
    lines = [
        f"\n{number}  {question.answer}, of which all checks pass. Suppose that one line were another:",
        f"     yours    {before}",
        f"     instead  {after}",
        "   Which rule breaks first, and why? Which ones still hold?" + " On which input would you see it?" * shows,
        f"   → It breaks “{first.rule}”: {first.verdict} {first.slip}".rstrip(),
    ]
    if others := [f"“{outcome.rule}”" for outcome in question.failed[1:]]:
        lines.append(f"   → So are broken {', '.join(others)}.")
    if question.passed:
        lines.append(f"   → Still passes: {', '.join(question.passed)}.")
    if shows:
        lines.append(f"   → You see it on {question.shown_by}.")
    return "\n".join(lines)
