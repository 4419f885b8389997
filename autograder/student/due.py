"""`autograder due`: when lessons are due, set, taken back and shown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Assignment, SubmittedAssignment
from rich.console import Console
from rich.markup import escape
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from autograder.course.config import CourseError
from autograder.course.dates import Moment, moment
from autograder.course.names import counted, printable
from autograder.course.paths import Course, handed_in
from autograder.grading.gradebook.counting import Rule, rule_of
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.late import LateRule, PenaltyChange, recompute
from autograder.grading.gradebook.lesson import GradebookLesson, read_lesson, read_lessons
from autograder.grading.gradebook.reader import Student, label_of, read_extensions, read_students


def due(
    root: Path, out: Console, *, lesson: str = "", date: str = "", none: bool = False, as_json: bool = False
) -> None:
    """Set a due date, take it back, or show what is set.

    Args:
        lesson: "" for all of them, which are shown.
        date: "" to show what is set.
        none: take the date back.
        as_json: print JSON, where dates are shown.

    Raises:
        CourseError: nothing was set, and why.
    """
    course = Course.at(root)
    names = course.choose_lessons([lesson]) if lesson else []
    gradebook = Gradebook(course.db_url, course.root)
    if not (date or none):
        with gradebook.reading() as connection, explained(gradebook.where):
            lessons = [one for name, one in read_lessons(connection).items() if not names or name in names]
            extensions, students = read_extensions(connection), read_students(connection)
        _show(lessons, extensions, students, out, as_json=as_json)
        return
    until, rule = None if none else moment(date), LateRule(course.config)
    with gradebook.writing() as connection, explained(gradebook.where):
        released = read_lesson(connection, names[0])
        connection.commit()
        with Session(connection) as session, session.begin():
            extended = _extended(session, released)
            if until is None and extended:
                raise CourseError(
                    f"{_count(extended)} more time for {released.name}, which counts from its due date. Take that back "
                    f"first: `autograder student extend {released.name} --all --by 0d`."
                )
            session.get_one(Assignment, released.assignment_id).duedate = until and until.utc
            session.flush()
            changes = recompute(session, rule, replace(released, duedate=until and until.utc))
    _say(released, until, extended, out)
    print_changes(changes, out)
    print_limits(course, released.name, course.students(released.name) if until else (), out)


def _extended(session: Session, lesson: GradebookLesson) -> int:
    """How many students have more time."""
    of_lesson = SubmittedAssignment.assignment_id == lesson.assignment_id
    rows = select(func.count()).where(of_lesson, SubmittedAssignment.extension.is_not(None))
    return session.scalar(rows.select_from(SubmittedAssignment)) or 0


def _count(students: int) -> str:
    return f"{counted(students, 'student')} {'has' if students == 1 else 'have'}"


def _say(lesson: GradebookLesson, until: Moment | None, extended: int, out: Console) -> None:
    """Say what was understood, and what that brings about."""
    lines = [f"✓ {lesson.name} is due on {until.text}." if until else f"✓ {lesson.name} has no due date."]
    if until and until.utc < datetime.now(UTC).replace(tzinfo=None):
        lines.append("That is in the past: what is handed in from now on is late.")
    if extended:
        lines.append(f"{_count(extended)} more time, which counts from this date.")
    for line in lines:
        out.print(escape(printable(line)), soft_wrap=True, highlight=False)


def _show(
    lessons: Sequence[GradebookLesson],
    extensions: Mapping[tuple[str, str], timedelta],
    students: Mapping[str, Student],
    out: Console,
    *,
    as_json: bool,
) -> None:
    if as_json:
        dates = [(one.name, one.duedate.replace(tzinfo=UTC).isoformat() if one.duedate else None) for one in lessons]
        out.print_json(json.dumps({"lessons": [{"lesson": name, "due": date} for name, date in dates]}))
        return
    width = max((len(lesson.name) for lesson in lessons), default=0)
    for lesson in lessons:
        out.print(escape(f"{lesson.name:{width}}  {_when(lesson.due(None))}"), soft_wrap=True, highlight=False)
        for (student, name), extension in sorted(extensions.items()):
            if name == lesson.name:
                line = f"{'':{width}}  {_when(lesson.due(extension))}  {label_of(student, students)}"
                out.print(escape(printable(line)), soft_wrap=True, highlight=False)


def _when(date: datetime | None) -> str:
    return f"{date:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC" if date else "–"


def print_changes(changes: Sequence[PenaltyChange], out: Console) -> None:
    """Say whose points are others now, and what to do about it."""
    for change in changes:
        line = f"{change.student}: {counted(change.after, 'point')} off for being late, {change.before:g} before."
        out.print(escape(printable(line)), soft_wrap=True)
    if changes:
        out.print("Make the pages and exports again that you have given out.")


def print_limits(course: Course, lesson: str, students: Iterable[str], out: Console) -> None:
    """Say what another date alone does not bring about for these students."""
    handed = [folder for student in students if (folder := course.submitted(student, lesson)).is_dir()]
    if untimed := sum(not handed_in(folder) for folder in handed):
        come = f"{counted(untimed, 'hand-in')} {'comes' if untimed == 1 else 'come'}"
        text = f"{come} without a time, as all do from Canvas, and cannot be late here: set the date there, too."
        out.print(text, soft_wrap=True, highlight=False)
    if handed and rule_of(course.config) is not Rule.LAST:
        out.print("Which hand-in counts depends on the date: run `autograder grade`.", soft_wrap=True)
