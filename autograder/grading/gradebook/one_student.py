"""All that the gradebook has about one student: to be read, and to be removed."""

import json
from contextlib import suppress
from typing import Any

from nbgrader.api import Assignment, BaseCell, Comment, Grade, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import ColumnElement, Connection, Table, delete, select

from autograder.grading.gradebook.database import OTHERS, REQUESTS, RESULTS, TALKS

# Where a row names another by an id that says nothing: the column, what it names, and what to call that.
NAMED: dict[str, tuple[str, Any, str]] = {
    "submitted_assignment": ("assignment_id", Assignment, "lesson"),
    "submitted_notebook": ("notebook_id", Notebook, "notebook"),
    "grade": ("cell_id", BaseCell, "cell"),
    "comment": ("cell_id", BaseCell, "cell"),
}


def read_rows(connection: Connection, student: str) -> dict[str, list[dict[str, Any]]]:
    """Read a student's rows, by table; there are no empty tables among them."""
    rows = {}
    for table, condition in _tables(connection, student).items():
        query = select(table).where(condition)
        if table.name in NAMED:
            column, named, label = NAMED[table.name]
            names = named.__table__
            query = query.add_columns(names.c.name.label(label)).join(names, names.c.id == table.c[column])
        if found := [dict(row) for row in connection.execute(query).mappings()]:
            rows[table.name] = found
    for row in (*rows.get(OTHERS.name, ()), *rows.get(RESULTS.name, ())):
        with suppress(ValueError):
            row["result"] = json.loads(row["result"])
    return rows


def remove_rows(connection: Connection, student: str) -> None:
    """Remove a student's rows, all or none; in a SQLite file, what they held is overwritten."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON").close()
        connection.commit()
    with connection.begin():
        for table, condition in _tables(connection, student).items():
            connection.execute(delete(table).where(condition))


def _tables(connection: Connection, student: str) -> dict[Table, ColumnElement[bool]]:
    """Say which rows of which tables are a student's; those that others point to come last."""
    submissions = select(SubmittedAssignment.id).where(SubmittedAssignment.student_id == student)
    notebooks = select(SubmittedNotebook.id).where(SubmittedNotebook.assignment_id.in_(submissions))
    tables = {
        Grade.__table__: Grade.notebook_id.in_(notebooks),
        Comment.__table__: Comment.notebook_id.in_(notebooks),
        SubmittedNotebook.__table__: SubmittedNotebook.assignment_id.in_(submissions),
        SubmittedAssignment.__table__: SubmittedAssignment.student_id == student,
        OTHERS: OTHERS.c.student == student,
        RESULTS: RESULTS.c.student == student,
        TALKS: TALKS.c.student == student,
        REQUESTS: REQUESTS.c.student == student,
        Student.__table__: Student.id == student,
    }
    for ours in RESULTS.metadata.sorted_tables:
        if not connection.dialect.has_table(connection, ours.name):  # made by the first command that writes
            del tables[ours]
    return tables
