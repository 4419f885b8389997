"""`autograder student extend`: more time for one student, several or all, before or after they hand in."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from sqlalchemy import Connection

from autograder.collect.groups import read_groups
from autograder.course.config import CourseError
from autograder.course.dates import moment
from autograder.course.names import did_you_mean, printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.late import LateRule, extend
from autograder.grading.gradebook.lesson import GradebookLesson, read_lesson
from autograder.grading.gradebook.reader import read_extensions, read_students
from autograder.student.due import print_changes, print_limits

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def give_time(
    root: Path, lesson: str, out: Console, *, students: Sequence[str] = (), until: str = "", by: str = ""
) -> None:
    """Record the extensions, all or none, and say whose points they change.

    Args:
        students: their ids; none for all in the gradebook.
        until: a date; "" where `by` says how much.
        by: "2d" after the due date, "36h", "1w"; "0d" takes an extension back.

    Raises:
        CourseError: nothing was recorded, and why.
    """
    course = Course.at(root)
    if lessons := [named for named in students if named in course.lessons()]:
        raise CourseError(f"The lesson comes first: autograder student extend {lessons[0]} {lesson}")
    (name,) = course.choose_lessons([lesson])
    rule, gradebook = LateRule(course.config), Gradebook(course.db_url, course.root)
    with gradebook.writing() as connection, explained(gradebook.where):
        released, known = read_lesson(connection, name), read_students(connection)
        extension = _extension(released, until, by)
        longer = {} if students else _longer(connection, name, extension)
        connection.commit()
        if unknown := [student for student in students if student not in known]:
            raise CourseError(
                printable(f"The gradebook has no student {', '.join(unknown)}.{did_you_mean(unknown, known)} ")
                + "Add who is missing with `nbgrader db student add`, then try again."
            )
        groups = read_groups(course.root, known)
        whole = list(dict.fromkeys(one for named in students for one in groups.get(named, [named])))
        whole = whole or [student for student in known if student not in longer]
        changes = extend(connection, rule, released, whole, extension)
    assert released.duedate is not None, "without one there is no extension"
    who = ", ".join(whole) if students else f"all {len(whole)} students" + " who had less" * bool(longer)
    due = moment(until).text if until else f"{released.duedate + extension:%Y-%m-%d %H:%M} UTC"
    out.print(escape(printable(f"✓ {name} is due on {due}, for {who}.")), soft_wrap=True)
    for student, time in longer.items():
        keeps = f"  {student} keeps more time: until {released.duedate + time:%Y-%m-%d %H:%M} UTC."
        out.print(escape(printable(keeps)), soft_wrap=True)
    print_changes(changes, out)
    print_limits(course, name, whole, out)


def _longer(connection: Connection, lesson: str, extension: timedelta) -> dict[str, timedelta]:
    """Who has more time already, which a smaller amount for all leaves as it is; none at all takes everybody's back."""
    given = read_extensions(connection) if extension else {}
    return {student: time for (student, name), time in sorted(given.items()) if name == lesson and time > extension}


def _extension(lesson: GradebookLesson, until: str, by: str) -> timedelta:
    """How long after the due date."""
    if lesson.duedate is None:
        raise CourseError(
            f"{lesson.name} has no due date, so nobody is late. "
            f"Give it one with `autograder due {lesson.name} DATE` first."
        )
    if by:
        if not (parts := re.fullmatch(r"(\d{1,4})([hdw])", by)):
            raise CourseError(f"--by {printable(by)} is no time like 36h, 2d or 1w.")
        return int(parts[1]) * UNITS[parts[2]]
    extension = moment(until).utc - lesson.duedate
    if extension <= timedelta():
        raise CourseError(
            f"{lesson.name} is due at {lesson.duedate:%Y-%m-%d %H:%M} UTC, and --until names no later time. "
            "`--by 0d` takes an extension back."
        )
    return extension
