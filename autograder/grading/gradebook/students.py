"""Write into the gradebook who is in the class, and with whom somebody has talked."""

from collections.abc import Iterable
from datetime import date

from nbgrader.api import Student as StudentRow
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.orm import Session

from autograder.grading.gradebook.database import TALKS
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


def write_talk(connection: Connection, student: str, lesson: str, held: date | None) -> None:
    """Keep the day of a talk about their code, in place of an earlier one; None takes it back."""
    with connection.begin():
        connection.execute(delete(TALKS).where(TALKS.c.student == student, TALKS.c.lesson == lesson))
        if held:
            connection.execute(insert(TALKS).values(student=student, lesson=lesson, held=held))
