"""A student's page: what every check said about their answers, with a picture where there is one, and what may help."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.course.lesson import cell_id, is_check, is_marked
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.gradebook.requests import Request
from autograder.grading.pending import Pending
from autograder.grading.results import Status, told_once
from autograder.report.counts import State, state_of, states_of
from autograder.report.outline import CheckOutline, ExerciseOutline, LessonOutline, QuestionOutline
from autograder.report.page import render

LARGEST = 50 * 10**6  # bytes of a notebook in which pictures are looked for
WORDS: dict[State, str] = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.NOT_ATTEMPTED: "not tried",
    Status.NOT_GRADABLE: "not gradable",
    Status.BROKEN: "broken check",
    None: "points missing",
}


@dataclass(frozen=True)
class ExerciseShown:
    """How one exercise went."""

    exercise: ExerciseOutline
    states: Mapping[str, State]  # check → what it came to
    code: str  # what the student wrote, as it was graded; "" where that is not known

    @property
    def state(self) -> State:
        """What the whole exercise came to."""
        return state_of(self.states.values())


@dataclass(frozen=True)
class LessonShown:
    """How one lesson went."""

    outline: LessonOutline
    graded: GradedSubmission | None  # None where there is nothing, or nothing yet
    pending: Pending | None  # what is out of date about it, if anything is
    due: datetime | None = None  # where nothing was handed in and there still is time; in UTC
    exercises: tuple[ExerciseShown, ...] = ()
    # failed check → its message with a picture, HTML as the judge made it, where there is one
    panels: Mapping[str, Markup] = field(default_factory=dict)
    # what the student asked to be looked at again, each with what to call the exercise
    requests: tuple[tuple[str, Request], ...] = ()

    @property
    def reason(self) -> str:
        """Why it could not be graded."""
        return self.graded.result.reason if self.graded and self.graded.result else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was mended or odd."""
        return tuple(told_once(self.graded.result.notes)) if self.graded and self.graded.result else ()

    @property
    def predictions(self) -> list[tuple[QuestionOutline, str]]:
        """What the student predicted, with the question."""
        texts = self.graded.result.predictions if self.graded and self.graded.result else {}
        return [(question, texts[question.cell]) for question in self.outline.questions if texts.get(question.cell)]


def student_page(
    book: GradebookSnapshot,
    lessons: Sequence[LessonOutline],
    student: str,
    pending: Mapping[tuple[str, str], Pending] | None = None,
    *,
    now: datetime | None = None,
) -> bytes:
    """Make the page of one student.

    Args:
        lessons: those that count.
        pending: what is out of date, by (student, lesson).
        now: in UTC; what is due later is not counted, unless it was handed in.
    """
    shown = [_lesson(book, outline, student, (pending or {}).get((student, outline.name)), now) for outline in lessons]
    scores = [lesson.graded.score for lesson in shown if lesson.graded]
    dated = [lesson for lesson in shown if lesson.graded or book.due(student, lesson.outline.name)]
    return render(
        "student.html",
        any_style=any(lesson.panels for lesson in shown),
        student=book.students.get(student, Student(student)),
        course=book.course.name,
        lessons=shown,
        total=sum(scores),
        maximum=sum(one.outline.points for one in dated if one.graded or not (one.due or one.pending)),
        words=WORDS,
        earned=_earned,
    )


def _lesson(
    book: GradebookSnapshot, outline: LessonOutline, student: str, pending: Pending | None, now: datetime | None
) -> LessonShown:
    graded = book.graded.get((student, outline.name))
    if not graded and not pending and book.not_due([(student, outline.name)], now):
        return LessonShown(outline, None, pending, book.due(student, outline.name))
    if graded is None or (graded.result and graded.result.reason):
        return LessonShown(outline, graded, pending)
    cells = cells_in(book.course.graded_notebooks(student, outline.name), graded.notebook_sha256)
    html, code = panels_of(cells), code_of(cells)
    exercises = [ExerciseShown(one, states_of(graded, one), code.get(one.name, "")) for one in outline.exercises]
    failed = {check for one in exercises for check, state in one.states.items() if state is Status.FAILED}
    panels = {check: Markup(html[check]) for check in failed & html.keys()}
    titles = {one.name: f"{one.number} {one.title}".strip() for one in outline.exercises}
    titles |= {answer.id: answer.label for answer in outline.written}
    own = (one for one in book.requests if (one.student, one.lesson) == (student, outline.name))
    requests = ((titles.get(one.exercise, one.exercise), one) for one in own)
    return LessonShown(outline, graded, pending, exercises=tuple(exercises), panels=panels, requests=tuple(requests))


def _earned(graded: GradedSubmission, checks: Sequence[CheckOutline]) -> float:
    return sum(graded.scores.get(check.id, 0.0) for check in checks)


def cells_in(notebooks: Sequence[Path], sha256: str) -> list[dict[str, Any]]:
    """The cells of the graded notebooks of a submission, as a rule of one.

    HTML acts in a browser, so cells are taken from no other file than the one that the judge's work went into: not
    where the notebook has changed since, and not where another program graded it.
    """
    try:
        if not sha256 or sum(path.stat().st_size for path in notebooks) > LARGEST:
            return []
        read = [path.read_bytes() for path in notebooks]
        if hashlib.sha256(b"".join(read)).hexdigest() != sha256:
            return []
        return [cell for data in read for cell in json.loads(data)["cells"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def panels_of(cells: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The panels in a graded notebook: check → HTML that the judge put before the check's error."""
    panels: dict[str, str] = {}
    for cell in cells:
        for first, second in pairwise(cell.get("outputs", []) if is_check(cell) else ()):
            if first["output_type"] == "display_data" and second["output_type"] == "error":
                html = first["data"].get("text/html", "")
                panels[cell_id(cell)] = html if isinstance(html, str) else "".join(html)
    return {check: html for check, html in panels.items() if html}


def code_of(cells: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The code in a graded notebook: answer → what the student wrote."""
    answers = (cell for cell in cells if cell["cell_type"] == "code" and is_marked(cell, "solution"))
    return {cell_id(cell): "".join(cell["source"]) for cell in answers}
