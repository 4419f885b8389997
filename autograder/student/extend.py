"""`autograder student extend`: more time for one student, several or all, before or after they hand in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.markup import escape

from autograder.course.config import CourseError
from autograder.course.names import printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.late import LateRule, extend
from autograder.grading.gradebook.lesson import GradebookLesson, read_lesson
from autograder.grading.gradebook.reader import read_students

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True)
class ExtendOptions:
    """Who gets how much more time.

    Attributes:
        students: their ids; none for all in the gradebook.
        until: a date; "" where `by` says how much.
        by: "2d" after the due date, "36h", "1w"; "0d" takes an extension back.
    """

    lesson: str
    students: Sequence[str] = ()
    until: str = ""
    by: str = ""


def give_time(root: Path, options: ExtendOptions, out: Console) -> int:
    """Record the extensions, all or none, and say whose points they change.

    Raises:
        CourseError: nothing was recorded, and why.
    """
    course = Course.at(root)
    (name,) = course.choose_lessons([options.lesson])
    rule, gradebook = LateRule(course.config), Gradebook(course.db_url, course.root)
    with gradebook.writing() as connection, explained(gradebook.where):
        lesson, known = read_lesson(connection, name), read_students(connection)
        connection.commit()
        extension = _extension(lesson, options)
        if unknown := [student for student in options.students if student not in known]:
            raise CourseError(
                printable(f"The gradebook has no student {', '.join(unknown)}. ")
                + "Add who is missing with `nbgrader db student add`, then try again."
            )
        students = list(dict.fromkeys(options.students)) or list(known)
        changes = extend(connection, rule, lesson, students, extension)
    assert lesson.duedate is not None, "without one there is no extension"
    who = ", ".join(students) if options.students else f"all {len(students)} students"
    due = f"{lesson.duedate + extension:%Y-%m-%d %H:%M} UTC"
    out.print(escape(printable(f"✓ {name} is due at {due} for {who}.")), soft_wrap=True)
    for change in changes:
        line = f"{change.student}: {change.after:g} points off for being late, {change.before:g} before."
        out.print(escape(printable(line)), soft_wrap=True)
    if changes:
        out.print("Write pages and exports that you have given out anew.")
    return 0


def _extension(lesson: GradebookLesson, options: ExtendOptions) -> timedelta:
    """How long after the due date."""
    if lesson.duedate is None:
        raise CourseError(
            f"{lesson.name} has no due date, so nobody is late. "
            f"Give it one with `nbgrader db assignment add {lesson.name} --duedate=…` first."
        )
    if options.by:
        if not (parts := re.fullmatch(r"(\d{1,4})([hdw])", options.by)):
            raise CourseError(f"--by {printable(options.by)} is no time like 36h, 2d or 1w.")
        return int(parts[1]) * UNITS[parts[2]]
    extension = _time(options.until) - lesson.duedate
    if extension <= timedelta():
        raise CourseError(
            f"{lesson.name} is due at {lesson.duedate:%Y-%m-%d %H:%M} UTC, and --until names no later time. "
            "`--by 0d` takes an extension back."
        )
    return extension


def _time(text: str) -> datetime:
    """Read a date and time, in UTC where no zone is named.

    nbgrader's own reading takes a zone that it does not know for UTC, and a day for the midnight that begins it.
    """
    words = text.split()
    try:
        zone = ZoneInfo(words[2]) if len(words) == 3 else UTC
        moment = datetime.fromisoformat(" ".join(words[:2] if len(words) == 3 else words))
        if len(text.strip()) <= len("2026-10-14"):
            raise ValueError("no time of the day")
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, KeyError, OSError, OverflowError):
        raise CourseError(
            printable(
                f"--until {text} is no date and time like '2026-10-14 23:59' or '2026-10-14 23:59 Europe/Berlin'."
            )
        ) from None
