"""Write who is in the class into the gradebook."""

from __future__ import annotations

from collections.abc import Iterable

from nbgrader.api import Student as StudentRow
from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from autograder.grading.gradebook.reader import Student

LONGEST = 128  # letters, nbgrader's columns
COLUMNS = {"first_name": "first_name", "last_name": "last_name", "email": "email", "lms_user_id": "lms_id"}


def write_students(connection: Connection, students: Iterable[Student]) -> None:
    """Add those who are not there; of those who are, fill in what is not known. What somebody entered stays."""
    with Session(connection) as session, session.begin():
        rows = {row.id: row for row in session.scalars(select(StudentRow))}
        for student in students:
            if student.id not in rows:
                session.add(row := StudentRow(id=student.id))
                rows[student.id] = row
            for column, attribute in COLUMNS.items():
                told = getattr(student, attribute)[:LONGEST]
                if told and not getattr(rows[student.id], column):
                    setattr(rows[student.id], column, told)
