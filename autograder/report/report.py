"""`autograder report`: a page about the class, or one for each student, from what the gradebook has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.grading.gradebook.reader import GradebookSnapshot, read_gradebook
from autograder.report.class_page import class_page
from autograder.report.outline import Outline, outlines
from autograder.report.page import write
from autograder.report.student_page import student_page

CLASS_PAGE = "report.html"
STUDENT_PAGE = "feedback.html"
SHOWN = 10


@dataclass(frozen=True)
class ReportOptions:
    """What to write, and where.

    Attributes:
        lessons: their names; all that the gradebook has when there are none.
        student: a pattern for students' ids: a page for each of them; "" for the page about the class.
        output: the file for the class, or the folder for the students' pages; None for the usual place.
    """

    lessons: Sequence[str] = ()
    student: str = ""
    output: Path | None = None


def report(root: Path, options: ReportOptions) -> str:
    """Write the page or pages, and return what to say about it.

    Args:
        root: the course folder.

    Raises:
        CourseError: there is no gradebook, lesson or student of that name, or no place to write to.
    """
    book = read_gradebook(root)
    lessons = outlines(book, options.lessons)
    waiting = _waiting(root, book, lessons)
    if options.student:
        return _students(book, lessons, waiting, options)
    path = options.output or book.course.root / CLASS_PAGE
    data = class_page(book, lessons, waiting)
    write(path, data, mode=_mode(book))
    graded = sum(lesson in {each.name for each in lessons} for _, lesson in book.graded)
    if not graded:
        return f"Nothing is graded yet, and {_shown(path)} says so. Run `autograder grade` first."
    of = f"{_count(len(book.students), 'student')} and {_count(len(lessons), 'lesson')}"
    who = "you and your group" if book.course.is_shared else "you"
    return f"✓ {_shown(path)}: {of}, {_size(data)}. It holds names and points; only {who} can read the file."


def _students(
    book: GradebookSnapshot, lessons: Sequence[Outline], waiting: set[tuple[str, str]], options: ReportOptions
) -> str:
    """Write a page for each student who fits."""
    known = sorted({*book.students, *(student for student, _ in waiting)})
    chosen = [student for student in known if fnmatchcase(student, options.student)]
    if not chosen:
        some = ", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
        has = f"The gradebook has {some}" if known else "The gradebook has no students yet"
        raise CourseError(f"No student's id fits {options.student}. {has}.")
    places = [_place(book, student, options.output) for student in chosen]
    for student, path in zip(chosen, places, strict=True):
        _make_folder(path.parent, book, made=options.output is None)
        write(path, student_page(book, lessons, student, waiting), mode=_mode(book))
    if len(places) == 1:
        return f"✓ {_shown(places[0])}"
    return f"✓ {len(places)} pages, {_shown(places[0])} the first of them."


def _waiting(root: Path, book: GradebookSnapshot, lessons: Sequence[Outline]) -> set[tuple[str, str]]:
    """What was handed in and is not graded yet."""
    course = Course.at(root)
    found = {(student, each.name) for each in lessons for student in course.students(each.name)}
    return found - book.graded.keys()


def _place(book: GradebookSnapshot, student: str, folder: Path | None) -> Path:
    """Where a student's page belongs: in nbgrader's folder of the student's feedback, beside the lessons'.

    Raises:
        CourseError: there is no such folder, or the id is no name for a file.
    """
    if Path(student).name != student or student.startswith(".") or not student.isprintable():
        shown = student.encode("unicode_escape").decode()
        raise CourseError(f"`{shown}` is no name for a file. Rename that student, or leave them out with --student.")
    if folder is not None:
        return folder / f"{student}.html"
    lesson = "autograder-lesson"
    whole = book.course.feedback(student, lesson)
    above = next(path for path in (whole, *whole.parents) if lesson not in path.parts)
    if above.name != student:
        raise CourseError(
            "In nbgrader_config.py, the feedback of a student is not in one folder, in which a page about all lessons "
            "could lie. Name a folder for the pages with --output."
        )
    return above / STUDENT_PAGE


def _make_folder(folder: Path, book: GradebookSnapshot, *, made: bool) -> None:
    """Make nbgrader's folder of a student's feedback; one that somebody names has to be there."""
    if not made:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o770 if book.course.is_shared else 0o700)
    except OSError as error:
        raise CourseError(
            f"{folder} could not be made ({error.strerror}). Mend that, or name another folder with --output."
        ) from None


def _mode(book: GradebookSnapshot) -> int:
    """A page is for those who grade: its owner, and the group where nbgrader shares the course with one."""
    return 0o660 if book.course.is_shared else 0o600


def _shown(path: Path) -> str:
    """A path as somebody in the current folder would write it."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _size(data: bytes) -> str:
    return f"{len(data) / 10**6:.1f} MB" if len(data) >= 10**6 else f"{max(1, round(len(data) / 1000))} kB"
