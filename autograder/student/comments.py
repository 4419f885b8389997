"""`autograder comments`: what was written by hand about an exercise, most often first, to be given to others too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Comment, SubmittedAssignment, SubmittedNotebook
from rich.console import Console
from rich.markup import escape
from sqlalchemy import Row, select, update

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean, printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.lesson import read_lesson

NONE = "Nobody has a comment by hand there yet. Write one in formgrader, under Manual Grading."
SHOWN = 300  # letters of a comment


def comments(root: Path, lesson: str, exercise: str, give: Sequence[str], out: Console) -> None:
    """List the comments of a lesson or an exercise, or give one to students, beneath what they have.

    Args:
        exercise: the name of its answer; "" for all of the lesson.
        give: the number of the comment in the list, then who gets it; nothing to list.

    Raises:
        CourseError: nothing was given, and why.
    """
    course = Course.at(root)
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.writing() if give else gradebook.reading() as connection, explained(gradebook.where):
        released = read_lesson(connection, *course.choose_lessons([lesson]))
        cells = {**released.answers, **{task: released.checks[task] for task in released.tasks}}
        if exercise not in cells and (exercise or give):
            which = f"{lesson} has no exercise {exercise}." if exercise else "Name the exercise, too."
            raise CourseError(printable(f"{which} It has {', '.join(cells)}.{did_you_mean([exercise], cells)}"))
        query = (
            select(SubmittedAssignment.student_id.label("student"), Comment.id, Comment.cell_id, Comment.manual_comment)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Comment, Comment.notebook_id == SubmittedNotebook.id)
            .where(SubmittedAssignment.assignment_id == released.assignment_id)
        )
        rows = connection.execute(query.order_by(SubmittedAssignment.student_id)).all()
        found = {
            name: [row for row in rows if row.cell_id == cells[name]] for name in ([exercise] if exercise else cells)
        }
        if give:
            text, given = _chosen(found[exercise], exercise, *give)
            for row in given:
                value = f"{(row.manual_comment or '').rstrip()}\n\n{text}".strip()
                connection.execute(update(Comment).where(Comment.id == row.id).values(manual_comment=value))
            connection.commit()
    lines = [
        f"{name} {number}, {count}×: {_brief(told)}"
        for name, of_exercise in found.items()
        for number, (count, told) in enumerate(_counted(of_exercise), start=1)
    ]
    for line in [f"✓ {', '.join(give[1:])}: {_brief(text)}"] if give else lines or [NONE]:
        out.print(escape(printable(line)), soft_wrap=True, highlight=False)


def _chosen(rows: Sequence[Row[Any]], exercise: str, number: str, *students: str) -> tuple[str, list[Row[Any]]]:
    """The comment of a number, and the rows of those who are to get it and have it not yet."""
    texts, found = [text for _, text in _counted(rows)], {row.student: row for row in rows}
    if not number.isdecimal() or not 0 < int(number) <= len(texts):
        has = f"{len(texts)} of them" if texts else "none"
        raise CourseError(printable(f"{exercise} has no comment {number}, but {has}. List them first."))
    if not students:
        raise CourseError(f"Name who gets comment {number}, behind the number.")
    if unknown := [student for student in students if student not in found]:
        hint = did_you_mean(unknown, found)
        raise CourseError(printable(f"Nothing of {', '.join(unknown)} is graded there; nobody got the comment.{hint}"))
    text = texts[int(number) - 1]
    return text, [found[student] for student in dict.fromkeys(students) if not _has(found[student], text)]


def _counted(rows: Sequence[Row[Any]]) -> list[tuple[int, str]]:
    """How many have each comment, alone or with others; the most frequent first."""
    texts = {row.manual_comment.strip() for row in rows if row.manual_comment} - {""}
    return sorted(((sum(_has(row, text) for row in rows), text) for text in texts), key=lambda one: (-one[0], one[1]))


def _has(row: Row[Any], text: str) -> bool:
    return f"\n\n{text}\n\n" in f"\n\n{(row.manual_comment or '').strip()}\n\n"


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
