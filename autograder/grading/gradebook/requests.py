"""Requests to look at an answer again, and which of them are answered.

nbgrader keeps no times of points and comments by hand. So a request is kept with what there was by hand about its
exercise when it came, as a digest; once that is another, it is answered.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from nbgrader.api import BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Connection, delete, insert, select

from autograder.course.lesson import answer_of
from autograder.grading.gradebook.database import REQUESTS, own_rows
from autograder.grading.gradebook.lesson import GradebookLesson


@dataclass(frozen=True)
class Request:
    """What a student asks to be looked at again. Its fields are those of `status --json`."""

    student: str
    lesson: str
    exercise: str
    asked: str  # when it was first graded with the notebook, in UTC
    words: str  # why, on one line, perhaps shortened
    is_open: bool  # no points and no comment about the exercise were given by hand since


def keep_requests(
    connection: Connection, lesson: GradebookLesson, student: str, submission: str, words: Mapping[str, str]
) -> None:
    """Keep the requests of a student's last hand-in, and no others; one with the same words is the same."""
    own = (REQUESTS.c.lesson == lesson.name) & (REQUESTS.c.student == student)
    known = {(row.exercise, row.words): row for row in connection.execute(select(REQUESTS).where(own))}
    connection.execute(delete(REQUESTS).where(own))
    now = datetime.now(UTC).replace(tzinfo=None)
    for exercise, text in words.items():
        row = {"lesson": lesson.name, "student": student, "submission_id": submission, "exercise": exercise}
        row |= {"words": text, "given": _given(connection, lesson, submission, exercise)}
        old = known.get((exercise, text))
        if old and old.given != row["given"]:
            row["given"] = ""  # answered, whatever becomes of points and comments
        connection.execute(insert(REQUESTS).values(asked=old.asked if old else now, **row))


def read_requests(connection: Connection, lessons: Mapping[str, GradebookLesson]) -> list[Request]:
    """Read all requests, the oldest first."""
    query = select(REQUESTS).join(SubmittedAssignment, SubmittedAssignment.id == REQUESTS.c.submission_id)
    query, found = query.order_by(REQUESTS.c.asked, REQUESTS.c.student, REQUESTS.c.exercise), []
    for row in own_rows(connection, REQUESTS, query):
        if lesson := lessons.get(row.lesson):
            is_open = row.given == _given(connection, lesson, row.submission_id, row.exercise)
            asked = row.asked.replace(tzinfo=UTC).isoformat()
            found.append(Request(row.student, row.lesson, row.exercise, asked, row.words, is_open))
    return found


def _given(connection: Connection, lesson: GradebookLesson, submission: str, exercise: str) -> str:
    """What there is by hand about an exercise, its answer and the checks of that, as a digest."""
    base, given = BaseCell.__table__, []
    for table, columns in ((Grade, (Grade.manual_score, Grade.extra_credit)), (Comment, (Comment.manual_comment,))):
        rows = connection.execute(
            select(base.c.name, *columns)
            .join(table, table.cell_id == base.c.id)
            .join(SubmittedNotebook, SubmittedNotebook.id == table.notebook_id)
            .where(SubmittedNotebook.assignment_id == submission)
        )
        own = (row for row in rows if exercise in (row.name, answer_of(row.name, lesson.answers)))
        given += [[table.__name__, *row] for row in own if {*row[1:]} - {None, ""}]
    return hashlib.sha256(repr(sorted(given, key=repr)).encode()).hexdigest()
