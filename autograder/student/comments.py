"""`autograder comments`: what was written by hand about an exercise, most often first, to be given to others too."""

from collections.abc import Collection, Sequence
from pathlib import Path

from nbgrader.api import Comment, SubmittedAssignment, SubmittedNotebook
from rich.console import Console
from rich.markup import escape
from sqlalchemy import func, select, update

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean, printable
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.reader import read_gradebook

NONE = "Nobody has a comment by hand there yet. Write one in formgrader, under Manual Grading."


def comments(root: Path, lesson: str, exercise: str, give: Sequence[str], out: Console) -> None:
    """List the comments of a lesson or an exercise, or give one to students, beneath what they have.

    Args:
        exercise: the name of its answer; "" for all of the lesson.
        give: the number of the comment in the list, then who gets it; nothing to list.

    Raises:
        CourseError: nothing was given, and why.
    """
    book = read_gradebook(root)
    (released,) = book.choose_lessons([lesson])
    cells = {**released.answers, **{task: released.checks[task] for task in released.tasks}}
    if exercise not in cells and (exercise or give):
        which = f"{lesson} has no exercise {exercise}." if exercise else "Name the exercise, too."
        raise CourseError(f"{which} It has {', '.join(cells)}.{did_you_mean([exercise], cells)}")
    graded = {student: one.comments for (student, name), one in book.graded.items() if name == lesson}
    written = {name: [one.get(name, "") for one in graded.values()] for name in ([exercise] if exercise else cells)}
    if not give:
        lines = [
            f"{name} {number}, {sum(_has(one, text) for one in texts)}×: {text}"
            for name, texts in written.items()
            for number, text in enumerate(_by_frequency(texts), start=1)
        ]
    else:
        text, students = _chosen(written[exercise], graded, *give)
        lines, gradebook = [f"✓ {', '.join(students)}: {text}"], Gradebook(book.course.db_url, root)
        for_whom = [one for one in students if not _has(graded[one].get(exercise, ""), text)]
        notebooks = select(SubmittedNotebook.id).join(
            SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id
        )
        of_them = notebooks.where(SubmittedAssignment.student_id.in_(for_whom))
        before = func.coalesce(func.nullif(Comment.manual_comment, "").concat("\n\n"), "")
        change = update(Comment).where(Comment.cell_id == cells[exercise], Comment.notebook_id.in_(of_them))
        with gradebook.writing() as connection, explained(gradebook.where), connection.begin():
            connection.execute(change.values(manual_comment=before.concat(text)))
    for line in lines or [NONE]:
        out.print(escape(printable(line if len(line) < 350 else f"{line[:350]} …")), soft_wrap=True, highlight=False)


def _chosen(texts: Sequence[str], graded: Collection[str], number: str, *students: str) -> tuple[str, list[str]]:
    """The comment of a number, and who is to get it."""
    known = _by_frequency(texts)
    if not number.isdecimal() or not 0 < int(number) <= len(known):
        raise CourseError(f"There is no comment {number}; there are {len(known)}. List them first.")
    if unknown := [student for student in students if student not in graded]:
        hint = did_you_mean(unknown, graded)
        raise CourseError(f"Nothing of {', '.join(unknown)} is graded there; nobody got the comment.{hint}")
    if not students:
        raise CourseError(f"Name who gets comment {number}, behind the number.")
    return known[int(number) - 1], list(dict.fromkeys(students))


def _by_frequency(texts: Sequence[str]) -> list[str]:
    """The comments, those first that most have, alone or with others."""
    return sorted({*map(str.strip, texts)} - {""}, key=lambda text: (-sum(_has(one, text) for one in texts), text))


def _has(comment: str, text: str) -> bool:
    return f"\n\n{text}\n\n" in f"\n\n{comment.strip()}\n\n"
