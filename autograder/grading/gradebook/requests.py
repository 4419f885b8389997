"""Requests to look at an answer again, and which of them are answered.

nbgrader keeps no times of points and comments by hand. So a request is kept with what there was by hand about its
exercise when it came, as a digest; once that is another, it is answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Connection, delete, insert, select

from autograder.course.lesson import answer_of
from autograder.grading.gradebook.database import REQUESTS
from autograder.grading.gradebook.lesson import GradebookLesson

ANSWERED = ""  # in place of a digest: whatever becomes of points and comments


@dataclass(frozen=True)
class Request:
    """What a student asks to be looked at again.

    Attributes:
        words: why, on one line, perhaps shortened.
        asked: when it was first graded with the notebook, in UTC.
        is_open: no points and no comment about the exercise were given by hand since.
    """

    exercise: str
    words: str
    asked: datetime
    is_open: bool


def keep_requests(
    connection: Connection,
    lesson: GradebookLesson,
    student: str,
    submission: str,
    words: Mapping[str, str],
    now: datetime,
) -> None:
    """Keep the requests of a student's last hand-in, and no others; one with the same words is the same."""
    own = (REQUESTS.c.lesson == lesson.name) & (REQUESTS.c.student == student)
    known = {(row.exercise, row.words): row for row in connection.execute(select(REQUESTS).where(own))}
    connection.execute(delete(REQUESTS).where(own))
    given = _given(connection, submission) if words else {}
    for exercise, text in words.items():
        old, digest = known.get((exercise, text)), _digest(given, lesson, exercise)
        row = insert(REQUESTS).values(lesson=lesson.name, student=student, exercise=exercise, submission_id=submission)
        is_open, asked = old is None or old.given == digest, old.asked if old else now
        connection.execute(row.values(words=text, asked=asked, given=digest if is_open else ANSWERED))


def read_requests(
    connection: Connection, lessons: Mapping[str, GradebookLesson]
) -> dict[tuple[str, str], Sequence[Request]]:
    """Read all requests, by (student, lesson), the oldest first."""
    if not connection.dialect.has_table(connection, REQUESTS.name):  # made by the first command that writes
        return {}
    query = select(REQUESTS).join(SubmittedAssignment, SubmittedAssignment.id == REQUESTS.c.submission_id)
    found, given = dict[tuple[str, str], list[Request]](), dict[str, Mapping[str, list[str]]]()
    for row in connection.execute(query.order_by(REQUESTS.c.asked, REQUESTS.c.exercise)).all():
        if row.lesson in lessons:
            if row.submission_id not in given:
                given[row.submission_id] = _given(connection, row.submission_id)
            is_open = row.given == _digest(given[row.submission_id], lessons[row.lesson], row.exercise)
            request = Request(row.exercise, row.words, row.asked, is_open)
            found.setdefault((row.student, row.lesson), []).append(request)
    return {**found}


def _given(connection: Connection, submission: str) -> dict[str, list[str]]:
    """Cell → what somebody gave by hand: points, extra credit, a comment."""
    base, given = BaseCell.__table__, dict[str, list[str]]()
    for table, columns in ((Grade, (Grade.manual_score, Grade.extra_credit)), (Comment, (Comment.manual_comment,))):
        query = (
            select(base.c.name, *columns)
            .select_from(table)
            .join(SubmittedNotebook, SubmittedNotebook.id == table.notebook_id)
            .join(base, base.c.id == table.cell_id)
            .where(SubmittedNotebook.assignment_id == submission)
        )
        for name, *values in connection.execute(query):
            told = zip(columns, values, strict=True)
            given.setdefault(name, []).extend(
                f"{column.key} {value}" for column, value in told if value not in (None, "")
            )
    return given


def _digest(given: Mapping[str, Sequence[str]], lesson: GradebookLesson, exercise: str) -> str:
    """What there is by hand about an exercise: its answer, and the checks of that."""
    own = (cell for cell in sorted(given) if exercise in (cell, answer_of(cell, lesson.answers)))
    return hashlib.sha256(repr([(cell, given[cell]) for cell in own if given[cell]]).encode()).hexdigest()
