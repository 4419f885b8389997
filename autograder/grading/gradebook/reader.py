"""The class as the gradebook has it: who handed in what, what each check came to, and which points count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Connection, func, select

from autograder.course.config import load_config
from autograder.grading.gradebook.database import RESULTS, Gradebook
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
        points: check → points; what is graded by hand alone is among them.
        answers: the cells in which students answer.
    """

    name: str
    points: Mapping[str, float]
    duedate: datetime | None = None
    answers: frozenset[str] = frozenset()

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
        result: what grading came to, without its notebook; None where another program than ours graded it last.
        extra: check → extra credit that somebody gave, which `scores` hold already.
        comments: answer → what somebody wrote about it by hand.
        notebook_sha256: of the graded notebook, as we left it; "" where there is no `result`.
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
    extra: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    notebook_sha256: str = ""

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
        where: the gradebook: its file, or the address of its server without the password.
    """

    lessons: Mapping[str, Released]
    students: Mapping[str, Person]
    graded: Mapping[tuple[str, str], Graded]
    course: CourseDirectory
    where: str = ""

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
    gradebook = Gradebook(db_url or course.db_url, Path(course.root))
    with gradebook.reading() as connection:
        lessons, students, rows = _lessons(connection), _students(connection), _Rows.read(connection)
    return Book(lessons, students, rows.graded(), course, gradebook.where)  # made while nobody waits for the gradebook


def _lessons(connection: Connection) -> dict[str, Released]:
    base, graded, task = BaseCell.__table__, GradeCell.__table__, TaskCell.__table__
    points = func.coalesce(graded.c.max_score, task.c.max_score)
    rows = connection.execute(
        select(Assignment.name, Assignment.duedate, base.c.name, base.c.type, points)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .join(base, base.c.notebook_id == Notebook.id)
        .outerjoin(graded, graded.c.id == base.c.id)
        .outerjoin(task, task.c.id == base.c.id)
        .order_by(Assignment.name)
    ).all()
    answers: dict[str, set[str]] = {}
    for lesson, _, cell, kind, _ in rows:
        if kind == SolutionCell.__name__:
            answers.setdefault(lesson, set()).add(cell)
    found: dict[str, Released] = {}
    for lesson, duedate, cell, _, worth in rows:
        if worth is not None:
            mine = frozenset(answers.get(lesson, ()))
            found.setdefault(lesson, Released(lesson, {}, duedate, mine)).points[cell] = worth
    return found


def _students(connection: Connection) -> dict[str, Person]:
    columns = Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id
    rows = connection.execute(select(*columns).order_by(Student.id))
    return {row[0]: Person(*(each or "" for each in row)) for row in rows}


@dataclass(frozen=True)
class _Rows:
    """What the gradebook has on submissions, as it has it."""

    submissions: Sequence[tuple]
    grades: Sequence[tuple]
    comments: Sequence[tuple]
    results: Sequence[tuple]

    @classmethod
    def read(cls, connection: Connection) -> _Rows:
        """Read it in four queries, however many students there are."""
        base = BaseCell.__table__
        of_submission = SubmittedAssignment.id, SubmittedAssignment.student_id, Assignment.name
        penalty = func.sum(SubmittedNotebook.late_submission_penalty)
        submissions = connection.execute(
            select(*of_submission, SubmittedAssignment.timestamp, penalty)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .group_by(*of_submission, SubmittedAssignment.timestamp)
        ).all()
        points = Grade.score, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade
        grades = connection.execute(
            select(SubmittedNotebook.assignment_id, base.c.name, *points)
            .select_from(Grade)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(base, base.c.id == Grade.cell_id)
        ).all()
        comments = connection.execute(
            select(SubmittedNotebook.assignment_id, base.c.name, Comment.manual_comment)
            .select_from(Comment)
            .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
            .join(base, base.c.id == Comment.cell_id)
            .where(Comment.manual_comment.is_not(None))
        ).all()
        results: Sequence[tuple] = ()
        if connection.dialect.has_table(connection, RESULTS.name):  # made by the first `autograder grade`
            ours = RESULTS.c.submission_id, RESULTS.c.recorded, RESULTS.c.result, RESULTS.c.notebook_sha256
            results = connection.execute(select(*ours)).all()
        return cls(submissions, grades, comments, results)

    def graded(self) -> dict[tuple[str, str], Graded]:
        """Put together what belongs to one submission."""
        points: dict[str, dict[str, tuple]] = {row[0]: {} for row in self.submissions}
        comments: dict[str, dict[str, str]] = {row[0]: {} for row in self.submissions}
        for submission, check, *row in self.grades:
            points[submission][check] = tuple(row)
        for submission, answer, comment in self.comments:
            if comment.strip():
                comments[submission][answer] = comment
        ours = {submission: row for submission, *row in self.results}
        found = {}
        for submission, student, lesson, timestamp, penalty in self.submissions:
            mine = points[submission]
            recorded, result, sha256 = _as_recorded(ours.get(submission), mine)
            found[student, lesson] = Graded(
                student,
                lesson,
                {check: row[0] for check, row in mine.items()},
                frozenset(check for check, row in mine.items() if row[2] is not None),
                penalty or 0.0,
                any(row[4] for row in mine.values()),
                timestamp,
                recorded,
                result,
                {check: row[3] for check, row in mine.items() if row[3]},
                comments[submission],
                sha256,
            )
        return found


def _as_recorded(row: Sequence | None, points: Mapping[str, tuple]) -> tuple[datetime | None, Result | None, str]:
    """Our result and its circumstances, if the autograder's points are still those that it gave."""
    if row is None:
        return None, None, ""
    recorded, text, sha256 = row
    with suppress(ValueError, TypeError, KeyError, AttributeError):  # of a version that recorded something else
        result = Result.from_json(json.loads(text))
        earned = {} if result.reason else {outcome.check: outcome.earned for outcome in result.checks}
        if all((auto or 0.0) == earned.get(check, 0.0) for check, (_, auto, *_) in points.items()):
            return recorded, result, sha256
    return None, None, ""
