"""`autograder student show`: what a student has in each lesson, all that is kept about them, and one notebook."""

import glob
import json
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder.course.config import CourseError
from autograder.course.dates import recorded_time
from autograder.course.names import printable
from autograder.course.paths import handed_in
from autograder.export.csv_columns import status_of
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, Student, read_gradebook
from autograder.grading.pending import Pending, outdated, told
from autograder.grading.summary import print_rows
from autograder.student.archive import write_archive
from autograder.student.kept import read_kept

TIME = "%Y-%m-%d %H:%M UTC"


@dataclass(frozen=True)
class LessonRow:
    """What a student has in a lesson; times are UTC."""

    lesson: str
    points: float
    max_points: float
    penalty: float
    state: str
    due: datetime | None  # for this student, the extension included; None where the lesson has no due date
    extension: timedelta | None
    handed_in: datetime | None
    reason: str  # why it is not gradable; "" where it is


def show(
    root: Path, student: str, out: Console, *, as_json: bool = False, archive: Path | None = None, opened: str = ""
) -> None:
    """Show a student, write the archive, open the notebook, whichever was asked for.

    Args:
        as_json: print JSON instead of a table.
        archive: the zip file that gets all that is kept about the student, if any.
        opened: the lesson whose graded notebook is opened, "" for none.

    Raises:
        CourseError: there is no such student, lesson or page, or the archive is there already.
    """
    book = read_gradebook(root)
    with Gradebook(book.course.db_url, book.course.root).reading() as connection:
        kept = read_kept(book.course, connection, student)
    if archive:
        left_out = write_archive(book.course, kept, archive)
        out.print(f"✓ {escape(str(archive))}: all that is kept about {escape(printable(kept.student))}.")
        for line in left_out:
            out.print(escape(printable(f"Left out, being no file or not readable: {line}")))
    if opened:
        page = _page(book, kept.student, opened)
        out.print(escape(str(page)), soft_wrap=True)
        webbrowser.open(page.as_uri())
    if not archive and not opened:
        known = book.students.get(kept.student, Student(kept.student))
        pending = outdated(book, book.lessons, glob.escape(known.id))
        rows = [_row(book, lesson, known.id, pending) for lesson in book.lessons.values()]
        if as_json:
            whole = {"students": {known.id: known.name}, **asdict(known), "lessons": [asdict(row) for row in rows]}
            print(json.dumps(whole, default=_to_json, indent=2))
        else:
            _print_table(out, known, rows)
            reasons = [f"{row.lesson}, not gradable: {row.reason}" for row in rows if row.reason]
            for line in (*reasons, *told(pending.values(), {})):
                out.print(escape(printable(line)), soft_wrap=True)


def _row(
    book: GradebookSnapshot, lesson: GradebookLesson, student: str, pending: Mapping[tuple[str, str], Pending]
) -> LessonRow:
    key, folder = (student, lesson.name), book.course.submitted(student, lesson.name)
    graded, now = book.graded.get(key), pending.get(key)
    return LessonRow(
        lesson=lesson.name,
        points=graded.score if graded else 0.0,
        max_points=lesson.max_score,
        penalty=graded.penalty if graded else 0.0,
        state=status_of(graded, now),
        due=book.due(*key),
        extension=book.extensions.get(key),
        handed_in=graded.submitted if graded else _time(handed_in(folder)) if now else None,
        reason=graded.result.reason if graded and graded.result else "",
    )


def _time(text: str) -> datetime | None:
    """When something was handed in, if the student's file says so."""
    try:
        return recorded_time(text) if text else None
    except ValueError:
        return None


def _page(book: GradebookSnapshot, student: str, lesson: str) -> Path:
    """The page of a graded notebook."""
    if lesson not in book.lessons:
        raise CourseError(f"There is no lesson {lesson}. There are {', '.join(book.lessons)}.")
    page = book.course.feedback(student, lesson) / f"{lesson}.html"
    if page.is_file():
        return page
    notebook = book.course.graded_notebook(student, lesson)
    if not notebook.is_file():
        raise CourseError(f"{lesson} of {student} is not graded, so there is nothing to open.")
    raise CourseError(
        f"There is no page of {notebook} yet. Run `nbgrader generate_feedback {lesson} --student={student}` first."
    )


def _to_json(value: datetime | timedelta) -> float | str:
    return value.total_seconds() if isinstance(value, timedelta) else value.replace(tzinfo=UTC).isoformat()


def _print_table(out: Console, student: Student, rows: list[LessonRow]) -> None:
    name = student.id if student.name == student.id else f"{student.name} ({student.id})"
    out.print(escape(printable(", ".join(filter(None, [name, student.email])))))
    lines, now = [], datetime.now(UTC).replace(tzinfo=None)
    for row in rows:
        state = f"{row.state}, late: −{row.penalty:g}" if row.penalty else row.state
        cells = row.lesson, f"{row.points:g} of {row.max_points:g}", state
        more = f" ({as_text(row.extension)})" if row.extension else ""
        due = f"{'was due' if row.due < now else 'due'} {row.due:{TIME}}{more}" if row.due else ""
        came = f"handed in {row.handed_in:{TIME}}" if row.handed_in else ""
        lines.append((cells, ", ".join(filter(None, (due, came)))))
    print_rows(out, ("lesson", "points", "state"), lines)


def as_text(extension: timedelta) -> str:
    """Write an extension in days, hours and minutes: +3 d 12 h."""
    hours, minutes = divmod(round(abs(extension) / timedelta(minutes=1)), 60)
    days, hours = divmod(hours, 24)
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if number]
    return ("-" if extension < timedelta() else "+") + (" ".join(parts) or "0 min")
