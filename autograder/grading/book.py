"""The class as the gradebook has it: who handed in what, what each check came to, and which points count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from nbgrader.api import Assignment, Grade, GradeCell, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Connection, func, select

from autograder.course import load_config
from autograder.grading.database import RESULTS, Gradebook
from autograder.grading.results import Result


@dataclass(frozen=True)
class Person:
    """A student as the gradebook knows them; all but `id` may be empty.

    Attributes:
        lms_id: the id in the learning management system, for Canvas a number.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """First and last name, or the id where there is none."""
        return f"{self.first_name} {self.last_name}".strip() or self.id


@dataclass(frozen=True)
class Released:
    """A lesson as the gradebook has it.

    Attributes:
        points: check → points.
    """

    name: str
    points: Mapping[str, float]
    duedate: datetime | None = None

    @property
    def max_score(self) -> float:
        """The points that there are to earn."""
        return sum(self.points.values())


@dataclass(frozen=True)
class Graded:
    """One submission as it counts.

    Attributes:
        scores: check → points that count: those given by hand before those of the checks, extra credit included.
        by_hand: the checks whose points somebody gave by hand.
        penalty: points taken off for being late.
        to_be_looked_at: nbgrader wants somebody to look at it.
        submitted: when it was handed in, in UTC; None where nobody knows.
        recorded: when it was graded, in UTC; None where another program than ours did.
        result: what grading came to, without its notebook; None where another program than ours graded it.
    """

    student: str
    lesson: str
    scores: Mapping[str, float]
    by_hand: frozenset[str] = frozenset()
    penalty: float = 0.0
    to_be_looked_at: bool = False
    submitted: datetime | None = None
    recorded: datetime | None = None
    result: Result | None = None

    @cached_property
    def raw_score(self) -> float:
        """The points before the penalty."""
        return sum(self.scores.values())

    @property
    def score(self) -> float:
        """The points that count."""
        return max(0.0, self.raw_score - self.penalty)


@dataclass(frozen=True)
class Book:
    """All of it, as of one moment.

    Attributes:
        lessons: by name, in the course's order.
        students: by id, sorted; those too who handed in nothing.
        graded: by (student, lesson).
        course: where nbgrader keeps what.
    """

    lessons: Mapping[str, Released]
    students: Mapping[str, Person]
    graded: Mapping[tuple[str, str], Graded]
    course: CourseDirectory

    @property
    def root(self) -> Path:
        """The course folder."""
        return Path(self.course.root)

    def notebook(self, student: str, lesson: str) -> Path:
        """The graded notebook of a submission."""
        folder = self.course.format_path(self.course.autograded_directory, student, lesson)
        return Path(folder, f"{lesson}.ipynb")

    def source(self, lesson: str) -> Path:
        """The notebook of a lesson, hidden tests included."""
        return Path(self.course.format_path(self.course.source_directory, ".", lesson), f"{lesson}.ipynb")


def read_book(root: Path, *, db_url: str | None = None) -> Book:
    """Read the gradebook of a course.

    Nothing is written, and a grading that runs meanwhile is not held up.

    Args:
        root: the course folder.
        db_url: the gradebook, if not the one that nbgrader's configuration names.

    Raises:
        CourseError: there is none, or it cannot be read.
    """
    config = load_config(root)
    config.CourseDirectory.setdefault("root", str(root.resolve()))
    course = CourseDirectory(config=config)
    with Gradebook(db_url or course.db_url, Path(course.root)).reading() as connection:
        return Book(_lessons(connection), _students(connection), _graded(connection), course)


def _lessons(connection: Connection) -> dict[str, Released]:
    rows = connection.execute(
        select(Assignment.name, Assignment.duedate, GradeCell.name, GradeCell.max_score)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .join(GradeCell, GradeCell.notebook_id == Notebook.id)
        .order_by(Assignment.name)
    )
    found: dict[str, Released] = {}
    for name, duedate, check, points in rows:
        found.setdefault(name, Released(name, {}, duedate)).points[check] = points
    return found


def _students(connection: Connection) -> dict[str, Person]:
    columns = Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id
    rows = connection.execute(select(*columns).order_by(Student.id))
    return {row[0]: Person(*(each or "" for each in row)) for row in rows}


def _graded(connection: Connection) -> dict[tuple[str, str], Graded]:
    found, results = {}, dict(_results(connection))
    of_submission = SubmittedAssignment.id, SubmittedAssignment.student_id, SubmittedAssignment.timestamp
    rows = connection.execute(
        select(*of_submission, Assignment.name, func.sum(SubmittedNotebook.late_submission_penalty))
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .group_by(*of_submission, Assignment.name)
    ).all()
    scores: dict[str, dict[str, float]] = {row[0]: {} for row in rows}
    by_hand: dict[str, set[str]] = {row[0]: set() for row in rows}
    waiting = set()
    grades = connection.execute(
        select(
            SubmittedNotebook.assignment_id, GradeCell.name, Grade.score, Grade.manual_score, Grade.needs_manual_grade
        )
        .select_from(Grade)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
    )
    for submission, check, score, manual, looked_at in grades:
        scores[submission][check] = score
        if manual is not None:
            by_hand[submission].add(check)
        if looked_at:
            waiting.add(submission)
    for submission, student, timestamp, lesson, penalty in rows:
        recorded, result = results.get(submission, (None, None))
        found[student, lesson] = Graded(
            student,
            lesson,
            scores[submission],
            frozenset(by_hand[submission]),
            penalty or 0.0,
            submission in waiting,
            timestamp,
            recorded,
            result,
        )
    return found


def _results(connection: Connection) -> Iterator[tuple[str, tuple[datetime, Result]]]:
    """What our own table has, where there is one: submission → (when, result)."""
    if not connection.dialect.has_table(connection, RESULTS.name):
        return
    columns = RESULTS.c.submission_id, RESULTS.c.recorded, RESULTS.c.result
    for submission, recorded, result in connection.execute(select(*columns)):
        with suppress(ValueError, TypeError, KeyError):  # of a version that recorded something else
            yield submission, (recorded, Result.from_json(json.loads(result)))
