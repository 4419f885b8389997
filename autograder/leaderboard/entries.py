"""Who takes part in a leaderboard, and what is graded for that: the hand-in, with one check that measures."""

import ast
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbformat.v4 import new_code_cell

from autograder import lessons
from autograder.course.config import CourseError
from autograder.course.lesson import is_check, is_marked, parse_or_none
from autograder.course.names import printable
from autograder.course.paths import Course
from autograder.course.plain import KEY
from autograder.grading.jobs import Job, prepared, read_job
from autograder.grading.results import Limits
from autograder.grading.submission.reader import NotGradable, cells_of
from autograder.stub import without_regions

CLASS, NICKNAME = "Entry", "nickname"
OWN_CODE = 20_000  # letters beyond those of the answers in solutions: nothing is learned by heart
LONGEST_NICKNAME = 24
LESSONS_OWN = "the lesson's own"


@dataclass(frozen=True)
class Entry:
    """What takes part."""

    student: str  # whose it is; "" for the lesson's own
    nickname: str
    code: str  # the cell that defines it
    job: Job  # what is graded; its reason says why it is not


def entries(course: Course, lesson: str, text: str, seconds: float) -> list[Entry]:
    """Find the entries to a lesson's leaderboard, the lesson's own first.

    Args:
        text: what they are measured on.
        seconds: the processor time that each of them has.

    Raises:
        CourseError: the lesson has no leaderboard, or cannot be read.
    """
    measure = dict(lessons.installed().boards).get(lesson)
    if measure is None:
        has = ", ".join(name for name, _ in lessons.installed().boards) or "none"
        raise CourseError(f"{lesson} has no leaderboard. Lessons that have one: {has}.")
    notebook = json.loads(prepared(course.source(lesson), course.config))
    example = next(filter(None, (_example(cell) for cell in notebook["cells"])), None)
    if example is None:
        raise CourseError(f"No text of {lesson} holds an example of a class `{CLASS}` in a block of Python. Add one.")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    given = {_as_released(cell["source"]) for cell in code if not is_marked(cell, "solution")}
    most = OWN_CODE + sum(len(cell["source"]) for cell in code if is_marked(cell, "solution"))
    for cell in filter(is_check, notebook["cells"]):
        cell["source"] = "pass"  # so those of a hand-in do not run as cells of its own
    notebook["metadata"].pop(KEY, None)  # so the measuring cell runs in the judge, where no entry reaches the text
    own = json.dumps({**notebook, "cells": [*notebook["cells"], new_code_cell(example, id="own")]}).encode()
    source = json.dumps({**notebook, "cells": [*notebook["cells"], _measuring(measure, text, seconds)]}).encode()
    limits = Limits(cell_seconds=4 * seconds + 10, submission_seconds=8 * seconds + 20)
    found = [Entry("", LESSONS_OWN, example, Job("", lesson, source, own, limits))]
    for student in course.students(lesson):
        job = read_job(course.submitted(student, lesson), student, lesson, source, limits)
        # What lies beside a notebook could be a model that was trained elsewhere.
        entry = _entry(replace(job, other_files=b"", hidden_seed=b"", handed_in=""), given, most)
        found += [entry] if entry else []
    return _distinct(found)


def _entry(job: Job, given: Collection[str], most: int) -> Entry | None:
    """What a hand-in enters; None where it enters nothing.

    Args:
        given: the code that all have.
        most: letters of other code that it may hold.
    """
    try:
        sources = [cell.source for cell in cells_of(job.submitted) if cell.kind == "code"] if not job.reason else []
    except NotGradable:
        return None
    defining = [source for source in sources if _defines(source)]
    if not defining:
        return None
    own = sum(len(source) for source in sources if _as_released(source) not in given)
    if own > most:
        reason = f"The notebook has {own:,} letters of code beside the lesson's own; {most:,} is the most."
        job = replace(job, reason=reason)
    return Entry(job.student, _nickname(defining), defining[-1], job)


def _as_released(source: str) -> str:
    return without_regions(source, "HIDDEN TESTS").strip()


def _defines(source: str) -> bool:
    module = parse_or_none(source) or ast.Module([], [])
    return any(isinstance(node, ast.ClassDef) and node.name == CLASS for node in module.body)


def _nickname(sources: Iterable[str]) -> str:
    """What stands as `nickname = "…"` in the cell or in its class; "" for nothing."""
    for node in (node for source in sources for node in ast.walk(parse_or_none(source) or ast.Module([], []))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if NICKNAME in names:
                return " ".join(printable(node.value.value).split())[:LONGEST_NICKNAME]
    return ""


def _distinct(found: Sequence[Entry]) -> list[Entry]:
    """The entries with nicknames that differ: those that have none, or somebody else's, get a number."""
    taken, named = set[str](), []
    for entry in found:
        nickname = entry.nickname or "nameless"
        number = 1
        while nickname.casefold() in taken:
            number += 1
            nickname = f"{entry.nickname or 'nameless'} ({number})"
        taken.add(nickname.casefold())
        named.append(replace(entry, nickname=nickname))
    return named


def _example(cell: dict[str, Any]) -> str | None:
    """The class that a text shows in a block of Python."""
    blocks = cell["source"].split("```python\n")[1:] if cell["cell_type"] == "markdown" else []
    return next((block for block in (block.partition("\n```")[0] for block in blocks) if _defines(block)), None)


def _measuring(measure: str, text: str, seconds: float) -> dict[str, Any]:
    """The check that measures."""
    module, _, function = measure.partition(":")
    source, name = f"from {module} import {function}\n\n{function}({CLASS}, {text!r}, {seconds!r})", f"check_{CLASS}"
    marks = {"grade": True, "locked": True, "points": 0, "schema_version": 3, "solution": False, "task": False}
    cell: dict[str, Any] = new_code_cell(source, id=name, metadata={"nbgrader": {**marks, "grade_id": name}})
    return cell
