"""`autograder export feedback-canvas` and `feedback-moodle`: the pages of one lesson as a zip file to upload."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.collect.download import Download
from autograder.collect.place import orders_of
from autograder.course.config import CourseError
from autograder.course.names import counted, printable
from autograder.export.output import put, tell
from autograder.export.selection import Messages, Selection, select_current
from autograder.grading.gradebook.reader import GradebookSnapshot, read_gradebook
from autograder.grading.pending import name_some
from autograder.hand_back.names import PageNames, for_canvas, for_moodle
from autograder.report.outline import outlines_of
from autograder.report.student_page import student_page
from autograder.spreadsheets.sheet import Sheet

OLDER = "{} is older than what was collected last, and Canvas takes no page for a file that was replaced since: {}."
DOWNLOAD = "Download once more, collect, grade, and name that download, or give --stale to go on with this one."


def hand_back(
    root: Path,
    *,
    form: str,
    lesson: str,
    template: Path,
    students: str = "*",
    output: str = "",
    force: bool = False,
    stale: bool = False,
) -> int:
    """Write the zip file; 0 when everybody who handed in has a page in it, 1 when not, which standard error lists.

    Args:
        form: "feedback-canvas" or "feedback-moodle".
        template: the download of Canvas, or the worksheet of Moodle, which say what they call whom.
        students: a pattern for their ids, "a*".
        output: the zip file; "" for the usual one, "-" for standard output.
        force: replace what is there.
        stale: hand back pages that are out of date, too, and by a download that is.

    Raises:
        CourseError: nothing was written, and why.
    """
    book, messages = read_gradebook(root), Messages()
    selection = select_current(book, [lesson], students, messages, stale=stale)
    found = _names(book, form, template, lesson, messages)
    collected = orders_of(book.course, lesson) if found.orders else {}
    older = [one for one, order in sorted(found.orders.items()) if order < collected.get(one, order)]
    if older:
        messages.notes.append(OLDER.format(template, name_some(older, book.students)))
        if not stale:
            raise CourseError(f"{printable(messages.notes[-1])} {DOWNLOAD}")
    pages = _pages(book, selection, found, messages)
    if not pages:
        raise CourseError(
            f"There is no page to hand back: nobody in {template} has a graded {lesson}. Is it of this assignment?"
        )
    usual = f"{form}-{lesson}.zip"
    output = put(_zipped(pages), output, usual, force=force, suffix=".zip", template=template)
    return tell(messages, f"{output}: {lesson}, {counted(len(pages), 'page')}.", output)


def _names(book: GradebookSnapshot, form: str, template: Path, lesson: str, messages: Messages) -> PageNames:
    if form == "feedback-moodle":
        sheet = Sheet.read(template)
        messages.notes += sheet.notes
        return for_moodle(sheet, book.students, lesson)
    with Download(template) as download:
        return for_canvas(download, book.students, lesson)


def _pages(book: GradebookSnapshot, selection: Selection, found: PageNames, messages: Messages) -> dict[str, bytes]:
    """Make the page of each student who has something graded and a name there; say who has none."""
    (lesson,) = selection.lessons
    outlines = outlines_of(book, [lesson.name])
    pages, absent = dict[str, bytes](), []
    for student in selection.students:
        if selection.graded(student, lesson) is None:
            if selection.nothing(student, lesson):
                absent.append(student.label)
            else:
                messages.missing.append(f"{student.label}: handed in, and not graded yet.")
        elif student.id in found.names:
            pages[found.names[student.id]] = student_page(book, outlines, student.id, selection.pending)
        else:
            why_not = found.why_not.get(student.id, "the file has nothing of theirs")
            messages.missing.append(f"{student.label}: {why_not}.")
    messages.missing += found.strangers
    messages.note_unfinished(selection)
    if absent:
        messages.notes.append(f"Handed in nothing, and have no page: {', '.join(absent)}.")
    return pages


def _zipped(pages: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, page in sorted(pages.items()):
            target.writestr(name, page)
    return archive.getvalue()
