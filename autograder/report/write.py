"""`autograder report`: a page about the class, or one for each student, from what the gradebook has."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote

from autograder.course.config import CourseError
from autograder.course.names import counted, did_you_mean, printable
from autograder.grading.gradebook.reader import GradebookSnapshot, read_gradebook
from autograder.grading.pending import Pending, outdated, told
from autograder.report.class_page import class_page
from autograder.report.outline import LessonOutline, outlines_of
from autograder.report.page import write
from autograder.report.roster import PageLinks
from autograder.report.student_page import student_page

CLASS_PAGE = "report.html"
SIMILAR_PAGE = "similar.html"
LEADERBOARD_PAGE = "leaderboard.html"
STUDENT_PAGE = "feedback.html"
SHOWN = 10
OUT_OF_DATE = "Not up to date, which stands there too; run `autograder grade`, then this again:"


def write_report(root: Path, lessons: Sequence[str] = (), *, student: str = "", output: Path | None = None) -> str:
    """Write the page or pages, and return what to say about it.

    Args:
        root: the course folder.
        lessons: their names; when there are none, those that are due or that somebody has handed in.
        student: a pattern for students' ids: a page for each of them; "" for the page about the class.
        output: the file for the class, or the folder for the students' pages; None for the usual place.

    Raises:
        CourseError: there is no gradebook, lesson or student of that name, or no place to write to.
    """
    book = read_gradebook(root)
    names = lessons or _begun(book)
    outlines = outlines_of(book, names) if names else []
    pending = outdated(book, [lesson.name for lesson in outlines])
    if student:
        return _students(book, outlines, pending, student, output)
    path = page_place(book, output, CLASS_PAGE)
    data = class_page(book, outlines, pending, links=_links(book, outlines, path))
    write(path, data, mode=mode_of(book))
    graded = any((one, lesson.name) in book.graded for lesson in outlines for one in book.students)
    if not graded:
        nothing = f"Nobody has handed in {' or '.join(names) or 'anything'}."
        left = "Run `autograder grade` first." if pending else nothing
        return f"Nothing is graded yet, and {shown(path)} says so. {left}"
    size = f"{counted(len(book.students), 'student')} and {counted(len(outlines), 'lesson')}"
    who = "you and your group" if book.course.is_shared else "you"
    done = f"✓ {shown(path)}: {size}, {file_size(data)}. It holds names and points; only {who} can read the file."
    return "\n".join([done, *_out_of_date(book, pending.values())])


def _students(
    book: GradebookSnapshot,
    lessons: Sequence[LessonOutline],
    pending: Mapping[tuple[str, str], Pending],
    pattern: str,
    output: Path | None,
) -> str:
    """Write a page for each student who fits."""
    everybody = sorted({*book.students, *(student for student, _ in pending)})
    chosen = [student for student in everybody if fnmatchcase(student, pattern)]
    if not chosen:
        some = ", ".join(everybody[:SHOWN]) + (", …" if len(everybody) > SHOWN else "")
        has = f"The gradebook has {some}" if everybody else "The gradebook has no students yet"
        raise CourseError(f"No student's id fits {pattern}. {has}.{did_you_mean([pattern], everybody)}")
    named = [student for student in chosen if _is_name(student)]
    odd = ", ".join(f"`{student.encode('unicode_escape').decode()}`" for student in chosen if student not in named)
    left_out = f"No page for {odd}, which is no name for a file. Rename that student's folder." if odd else ""
    if not named:
        raise CourseError(left_out)
    places = [_place(book, student, output) for student in named]
    for student, path in zip(named, places, strict=True):
        _make_folder(path.parent, book)
        write(path, student_page(book, lessons, student, pending), mode=mode_of(book))
    pages = shown(places[0]) if len(places) == 1 else f"{len(places)} pages, {shown(places[0])} the first of them."
    shown_pending = (one for one in pending.values() if one.student in named)
    return "\n".join([f"✓ {pages}", *filter(None, [left_out]), *_out_of_date(book, shown_pending)])


def _out_of_date(book: GradebookSnapshot, pending: Iterable[Pending]) -> list[str]:
    """Say what is out of date on a page."""
    lines = told(pending, book.students)
    return [OUT_OF_DATE, *(f"  {printable(line)}" for line in lines)] if lines else []


def _is_name(student: str) -> bool:
    """Whether a student's id can be the name of a file."""
    return Path(student).name == student and not student.startswith(".") and student.isprintable()


def _begun(book: GradebookSnapshot) -> list[str]:
    """The lessons that count: those that somebody has handed in or that are due."""
    now = datetime.now(UTC).replace(tzinfo=None)
    graded = {lesson for _, lesson in book.graded}
    return [
        name
        for name, lesson in book.lessons.items()
        if name in graded or (lesson.duedate and lesson.duedate < now) or book.course.students(name)
    ]


def _place(book: GradebookSnapshot, student: str, folder: Path | None) -> Path:
    """Where a student's page belongs: in nbgrader's folder of the student's feedback, beside the lessons'.

    Raises:
        CourseError: there is no such folder.
    """
    path = folder / f"{student}.html" if folder is not None else _usual_place(book, student)
    if path is None:
        raise CourseError(
            "In nbgrader_config.py, the feedback of a student is not in one folder, in which a page about all lessons "
            "could lie. Name a folder for the pages with --output."
        )
    return path


def _usual_place(book: GradebookSnapshot, student: str) -> Path | None:
    """Where a student's page lies as a rule; None where their feedback is not in one folder."""
    lesson = "autograder-lesson"
    whole = book.course.feedback(student, lesson)
    above = next(path for path in (whole, *whole.parents) if lesson not in path.parts)
    return above / STUDENT_PAGE if above.name == student else None


def _links(book: GradebookSnapshot, lessons: Sequence[LessonOutline], page: Path) -> PageLinks:
    """The pages about students that are there, seen from the class page."""
    students, notebooks = {}, {}
    for student in filter(_is_name, book.students):
        if (path := _usual_place(book, student)) and path.is_file():
            students[student] = _address(path, page)
        for outline in lessons:
            if (student, outline.name) in book.graded:
                path = book.course.feedback(student, outline.name) / f"{outline.name}.html"
                if path.is_file():
                    notebooks[student, outline.name] = _address(path, page)
    return PageLinks(students, notebooks)


def _address(path: Path, page: Path) -> str:
    """A file's address in a link on a page."""
    return quote(os.fsencode(os.path.relpath(path, page.parent)))


def page_place(book: GradebookSnapshot, output: Path | None, name: str) -> Path:
    """Where a page about the class goes: into the file or the folder that was named, or into the course's folder.

    Raises:
        CourseError: there is no such folder, and none can be made.
    """
    if output is None:
        return book.course.root / name
    if output.suffix == ".html" or output.is_file():
        return output
    _make_folder(output, book)
    return output / name


def _make_folder(folder: Path, book: GradebookSnapshot) -> None:
    """Make a folder for pages, which nobody else is to read."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o770 if book.course.is_shared else 0o700)
    except OSError as error:
        raise CourseError(
            f"{folder} could not be made ({error.strerror}). Mend that, or name another folder with --output."
        ) from None


def mode_of(book: GradebookSnapshot) -> int:
    """A page is for those who grade: its owner, and the group where nbgrader shares the course with one."""
    return 0o660 if book.course.is_shared else 0o600


def shown(path: Path) -> str:
    """A path as somebody in the current folder would write it."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def file_size(data: bytes) -> str:
    return f"{len(data) / 10**6:.1f} MB" if len(data) >= 10**6 else f"{max(1, round(len(data) / 1000))} kB"
