"""With whom somebody has talked about their code, and when; no export has it."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection, delete, insert, select

from autograder.grading.gradebook.database import TALKS


def read_talks(connection: Connection) -> dict[tuple[str, str], date]:
    """Read the day of each talk, by (student, lesson)."""
    if not connection.dialect.has_table(connection, TALKS.name):  # made by the first command that writes
        return {}
    return {(row.student, row.lesson): row.held for row in connection.execute(select(TALKS))}


def write_talk(connection: Connection, student: str, lesson: str, held: date | None) -> None:
    """Keep the day of a talk, in place of an earlier one; None takes it back."""
    with connection.begin():
        connection.execute(delete(TALKS).where(TALKS.c.student == student, TALKS.c.lesson == lesson))
        if held:
            connection.execute(insert(TALKS).values(student=student, lesson=lesson, held=held))
