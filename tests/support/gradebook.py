"""A course of one small lesson that was released, and results for it as the engine hands them to the gradebook."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from rich.console import Console

from autograder.course.config import read_notebook
from autograder.course.paths import Course, handed_in
from autograder.demo import sample_class
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.jobs import prepared, read_job
from autograder.grading.options import GradeOptions
from autograder.grading.results import Limits, Outcome, Result, Status
from autograder.grading.submission.reader import cells_in
from autograder.grading.submission.repair import repair
from autograder.grading.worker.client import GradingServer

LESSON = "01_doubling"
DUE = datetime(2030, 1, 2, 12, 0)
ALL_OFF_WHEN_LATE = 'c.LateSubmissionPlugin.penalty_method = "zero"'


def db_url(course: Path) -> str:
    """Return the address of a course's gradebook."""
    return f"sqlite:///{course / 'gradebook.db'}"


def configure(course: Path, line: str) -> None:
    """Add a line to a course's configuration."""
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\n{line}\n")


def set_duedate(course: Path, lesson: str = LESSON) -> None:
    """Let a lesson be due at DUE, in a course where nothing counts that comes later."""
    configure(course, ALL_OFF_WHEN_LATE)
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(lesson, duedate=DUE)


def repaired_notebook(course: Path, outputs: Mapping[str, list[Any]] | None = None) -> NotebookNode:
    """Return the lesson as the engine hands it back, with its solution in it and with outputs of some cells."""
    source = read_notebook(course / "solutions" / LESSON / f"{LESSON}.ipynb")
    notebook = repair(source, cells_in(source)).notebook
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = (outputs or {}).get(cell.id, [])
    return notebook


def small_result(course: Path, student: str = "ada", **changes: Any) -> Result:
    """Return a result: the first check passed, the second failed."""
    checks = (Outcome("check_double", 3, Status.PASSED), Outcome("check_double_text", 1, Status.FAILED, "✗ wrong"))
    result = Result(student, LESSON, checks, notebook=json.dumps(repaired_notebook(course)))
    return replace(result, **changes)


def keep(recorder: Recorder, result: Result, digest: str = "d", **options: Any) -> None:
    """Record a result with little around it."""
    recorder.record(result, digest, **{"submitted": None, "timestamp": None, **options})


def record(course: Path, students: Sequence[str] = ("ada",), timestamp: datetime | None = None, **changes: Any) -> None:
    """Record the same result for some students."""
    result = small_result(course, **changes)
    with Recorder(course) as recorder:
        for student in students:
            keep(recorder, replace(result, student=student), digest_of(course, student), timestamp=timestamp)


def digest_of(course: Path, student: str) -> str:
    """Return the digest of what a student handed in."""
    place = Course.at(course)
    folder = place.submitted(student, LESSON)
    return read_job(
        folder, student, LESSON, prepared(place.source(LESSON), place.config), Limits(), handed_in(folder)
    ).digest


class Pretender(GradingServer):
    """A warm process that runs nothing: whatever is handed in comes to the small result, with these changes."""

    def __init__(self, course: Path, **changes: Any) -> None:
        super().__init__()
        self._course, self._changes = course, changes

    def __enter__(self) -> Pretender:
        return self

    def start(self) -> None:
        """There is nothing to start."""

    def stop(self) -> None:
        """There is nothing to stop."""

    def grade(self, student: str, *_: object) -> Result:
        return small_result(self._course, student, **self._changes)


def said(course: Path, changes: Mapping[str, Any] | None = None, *, width: int = 200, **options: Any) -> str:
    """Grade as the engine would, with these changes of the small result, and return what is printed."""
    out = io.StringIO()
    grade(course, GradeOptions(**options), Console(file=out, width=width), warm=Pretender(course, **(changes or {})))
    return out.getvalue()


def hand_in(course: Path, *students: str) -> None:
    """Let students hand in the lesson as it was released."""
    for student in students:
        sample_class.hand_in(course, student, LESSON, sample_class.released_notebook(course, LESSON))


def handed_in_at(course: Path, student: str, time: str) -> None:
    """Write down when a student handed in."""
    (course / "submitted" / student / LESSON / "timestamp.txt").write_text(f"{time}\n")


def by_hand(course: Path, *, points: float | None = None, comment: str | None = None) -> None:
    """Give ada points for the second check or a comment on her answer as formgrader does."""
    with open_gradebook(course) as gradebook:
        if points is not None:
            mark = gradebook.find_grade("check_double_text", LESSON, LESSON, "ada")
            mark.manual_score, mark.needs_manual_grade = points, False
        if comment is not None:
            gradebook.find_comment("double", LESSON, LESSON, "ada").manual_comment = comment
        gradebook.db.commit()


def disk_full(*_: object) -> None:
    """Fail as a call does when the disk is full."""
    raise OSError(28, "No space left on device")
