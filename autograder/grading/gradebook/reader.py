"""The class as the gradebook has it: who handed in what, what each check came to, and which points count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook
from nbgrader.api import Student as StudentRow
from sqlalchemy import Connection, func, select

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean
from autograder.course.paths import Course
from autograder.grading.gradebook.counting import HandIn, Rule, hand_in_of, read_others, rule_of
from autograder.grading.gradebook.database import RESULTS, TALKS, Gradebook, own_rows, result_in
from autograder.grading.gradebook.lesson import GradebookLesson, read_lessons
from autograder.grading.gradebook.requests import Request, read_requests
from autograder.grading.results import Outcome, Result


@dataclass(frozen=True)
class Student:
    """A student as the gradebook knows them; all but `id` may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""  # the id in the learning management system, for Canvas a number

    @property
    def name(self) -> str:
        """First and last name, or the id where there is none."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def label(self) -> str:
        """The id, with the name beside it where there is one."""
        return self.id if self.name == self.id else f"{self.id} ({self.name})"


def label_of(student: str, students: Mapping[str, Student]) -> str:
    """A student's id, with the name beside it where that is known."""
    return students.get(student, Student(student)).label


@dataclass(frozen=True)
class GradedSubmission:
    """One submission as it counts."""

    student: str
    lesson: str
    # check → points that count: those given by hand before those of the checks, extra credit included
    scores: Mapping[str, float]
    by_hand: frozenset[str] = frozenset()  # the checks whose points somebody gave by hand
    penalty: float = 0.0  # points taken off for being late
    # the checks that nbgrader wants somebody to look at, written answers among them
    to_review: frozenset[str] = frozenset()
    submitted: datetime | None = None  # when it was handed in, in UTC; None where nobody knows
    recorded: datetime | None = None  # when it was graded, in UTC; None where another program than ours did
    # what grading came to, without its notebook; None where another program than ours graded it last
    result: Result | None = None
    # check → extra credit that somebody gave, which `scores` hold already
    extra: Mapping[str, float] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)  # answer → what somebody wrote about it by hand
    notebook_sha256: str = ""  # of the graded notebook, as we left it; "" where there is no `result`
    digest: str = ""  # of what was graded, as `Job.digest` computes it; "" where there is no `result`
    others: Sequence[HandIn] = ()  # the student's hand-ins for the lesson that do not count, the oldest record first
    # as `hand_in_of` names them; where the last hand-in counts, those from when another rule held, too
    set_aside: frozenset[str] = frozenset()

    @cached_property
    def raw_score(self) -> float:
        """The points before the penalty."""
        return sum(self.scores.values())

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """Check → what it came to; empty where another program graded."""
        return {outcome.check: outcome for outcome in self.result.checks} if self.result else {}

    @property
    def needs_review(self) -> bool:
        """Somebody is to look at it before its points are final."""
        return bool(self.to_review)

    @property
    def score(self) -> float:
        """The points that count."""
        return max(0.0, self.raw_score - self.penalty)


@dataclass(frozen=True)
class GradebookSnapshot:
    """All of it, as of one moment."""

    lessons: Mapping[str, GradebookLesson]  # by name, in the course's order
    students: Mapping[str, Student]  # by id, sorted; those too who handed in nothing
    graded: Mapping[tuple[str, str], GradedSubmission]  # by (student, lesson)
    course: Course  # where nbgrader keeps what
    where: str = ""  # the gradebook: its file, or the address of its server without the password
    # by (student, lesson), what somebody gave beyond the due date; those too who handed in nothing
    extensions: Mapping[tuple[str, str], timedelta] = field(default_factory=dict)
    # by (student, lesson), when somebody talked with them about their code
    talks: Mapping[tuple[str, str], date] = field(default_factory=dict)
    requests: Sequence[Request] = ()  # what students ask to be looked at again, the oldest first; answered ones too

    def due(self, student: str, lesson: str) -> datetime | None:
        """When a lesson is due for a student, in UTC, the extension included; None where no date is set."""
        return self.lessons[lesson].due(self.extensions.get((student, lesson)))

    def not_due(self, pairs: Iterable[tuple[str, str]], now: datetime | None = None) -> set[tuple[str, str]]:
        """Those of the (student, lesson) of which the due date is still to come."""
        moment = now or datetime.now(UTC).replace(tzinfo=None)
        return {pair for pair in pairs if (due := self.due(*pair)) and due > moment}

    def choose_lessons(self, names: Sequence[str]) -> list[GradebookLesson]:
        """The lessons of these names, where there are none all; CourseError where the gradebook does not have one."""
        if unknown := [name for name in names if name not in self.lessons]:
            has = f"It has {', '.join(self.lessons)}." if self.lessons else "It has none. Run `autograder release`."
            hint = did_you_mean(unknown, self.lessons)
            raise CourseError(f"The gradebook has no lesson {', '.join(unknown)}. {has}{hint}")
        return [self.lessons[name] for name in names or self.lessons]


def read_gradebook(root: Path) -> GradebookSnapshot:
    """Read the gradebook of the course in a folder; CourseError where it cannot be read.

    Nothing is written, and a grading that runs meanwhile is not held up.
    """
    course = Course.at(root)
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.reading() as connection:
        lessons = {name: lesson for name, lesson in read_lessons(connection).items() if lesson.points}
        students, rows = read_students(connection), _SubmissionRows.read(connection)
        extensions, requests = read_extensions(connection), read_requests(connection, lessons)
        talks = {(row.student, row.lesson): row.held for row in own_rows(connection, TALKS, select(TALKS))}
    # Put together while nobody waits for the gradebook.
    graded = rows.graded(rule_of(course.config))
    return GradebookSnapshot(lessons, students, graded, course, gradebook.where, extensions, talks, requests)


def read_students(connection: Connection) -> dict[str, Student]:
    """Read who is in the class, by id, sorted."""
    columns = StudentRow.id, StudentRow.first_name, StudentRow.last_name, StudentRow.email, StudentRow.lms_user_id
    rows = connection.execute(select(*columns).order_by(StudentRow.id))
    return {row.id: Student(*(value or "" for value in row)) for row in rows}


def read_extensions(connection: Connection) -> dict[tuple[str, str], timedelta]:
    """Read who has how much more time, by (student, lesson)."""
    columns = SubmittedAssignment.student_id, Assignment.name.label("lesson"), SubmittedAssignment.extension
    query = select(*columns).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
    rows = connection.execute(query.where(SubmittedAssignment.extension.is_not(None)))
    return {(row.student_id, row.lesson): row.extension for row in rows}


@dataclass(frozen=True)
class _SubmissionRows:
    """What the gradebook has on submissions, as it has it; each row names its submission."""

    submissions: Sequence[Any]
    grades: Sequence[Any]
    comments: Sequence[Any]
    results: Sequence[Any]
    others: Mapping[str, Sequence[HandIn]]

    @classmethod
    def read(cls, connection: Connection) -> _SubmissionRows:
        """Read it in five queries, however many students there are."""
        base = BaseCell.__table__
        of_submission = SubmittedAssignment.id, SubmittedAssignment.student_id, SubmittedAssignment.timestamp
        lesson = Assignment.name.label("lesson")
        submissions = connection.execute(
            select(*of_submission, lesson, func.sum(SubmittedNotebook.late_submission_penalty).label("penalty"))
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .group_by(*of_submission, lesson)
        ).all()
        submission = SubmittedNotebook.assignment_id.label("submission_id")
        score = Grade.score.label("score")
        points = score, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade
        grades = connection.execute(
            select(submission, base.c.name.label("check"), *points)
            .select_from(Grade)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(base, base.c.id == Grade.cell_id)
        ).all()
        comments = connection.execute(
            select(submission, base.c.name.label("answer"), Comment.manual_comment)
            .select_from(Comment)
            .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
            .join(base, base.c.id == Comment.cell_id)
            .where(Comment.manual_comment.is_not(None))
        ).all()
        ours = RESULTS.c
        columns = ours.submission_id, ours.recorded, ours.result, ours.notebook_sha256, ours.digest
        results = own_rows(connection, RESULTS, select(*columns))
        others = defaultdict[str, list[HandIn]](list)
        for owner, other in read_others(connection):
            others[owner].append(other)
        return cls(submissions, grades, comments, results, others)

    def graded(self, rule: Rule) -> dict[tuple[str, str], GradedSubmission]:
        """Put together what belongs to one submission."""
        grades_of, comments_of = defaultdict[str, list[Any]](list), defaultdict[str, dict[str, str]](dict)
        for row in self.grades:
            grades_of[row.submission_id].append(row)
        for row in self.comments:
            if row.manual_comment.strip():
                comments_of[row.submission_id][row.answer] = row.manual_comment
        recorded_of = {row.submission_id: row for row in self.results}
        found = {}
        for row in self.submissions:
            grades, recorded, others = grades_of[row.id], recorded_of.get(row.id), self.others.get(row.id, ())
            result = _still_valid(recorded.result, grades) if recorded else None
            found[row.student_id, row.lesson] = GradedSubmission(
                student=row.student_id,
                lesson=row.lesson,
                scores={grade.check: grade.score for grade in grades},
                by_hand=frozenset(grade.check for grade in grades if grade.manual_score is not None),
                penalty=row.penalty or 0.0,
                to_review=frozenset(grade.check for grade in grades if grade.needs_manual_grade),
                submitted=row.timestamp,
                recorded=recorded.recorded if recorded and result else None,
                result=result,
                extra={grade.check: grade.extra_credit for grade in grades if grade.extra_credit},
                comments=comments_of[row.id],
                notebook_sha256=recorded.notebook_sha256 if recorded and result else "",
                digest=recorded.digest if recorded and result else "",
                others=others if rule is not Rule.LAST else (),
                set_aside=frozenset(hand_in_of(other.digest) for other in others),
            )
        return found


def _still_valid(recorded: str, grades: Sequence[Any]) -> Result | None:
    """A recorded result, if the autograder's points are still those that it gave."""
    result = result_in(recorded)
    earned = result.earned if result else {}
    return result if all((grade.auto_score or 0.0) == earned.get(grade.check, 0.0) for grade in grades) else None
