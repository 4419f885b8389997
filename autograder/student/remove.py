"""`autograder student remove`: a student goes, with all that is kept about them.

What was handed in goes first, so that nobody grades it again, and the gradebook's rows go last, in one transaction:
whoever is stopped in between runs the same command again.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder import files
from autograder.collect.place import STATE, forget
from autograder.course.config import CourseError
from autograder.course.names import counted, printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.history import remove_lines
from autograder.grading.gradebook.one_student import remove_rows
from autograder.report.write import CLASS_PAGE, LEADERBOARD_PAGE, SIMILAR_PAGE
from autograder.student.kept import Kept, read_kept

PAGES = {  # what each holds of students, and the command that writes it
    CLASS_PAGE: ("names the whole class", "report"),
    SIMILAR_PAGE: ("names pairs of students", "similar"),
    LEADERBOARD_PAGE: ("shows code of students", "leaderboard"),
}
STAYS = "Downloads, tables for platforms, your copies and what platforms and nbgrader's exchange have stay as they are."


def remove(root: Path, student: str, out: Console, *, confirmed: bool) -> None:
    """Say what is kept about a student and, once that is confirmed, remove it.

    Raises:
        CourseError: nothing is kept, or some of it could not be removed.
    """
    course = Course.at(root)
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.writing() if confirmed else gradebook.reading() as connection, explained(gradebook.where):
        kept = read_kept(course, connection, student)
        connection.commit()
        out.print(escape(printable(f"Kept about {student}:")), soft_wrap=True)
        for line in _lines(course, kept):
            out.print(escape(f"  {printable(line)}"), soft_wrap=True)
        if confirmed:
            for folder in kept.folders:
                _remove_folder(folder)
            forget(course, student)
            remove_lines(gradebook.history, student)
            for page in PAGES:
                (course.root / page).unlink(missing_ok=True)
            remove_rows(connection, student)
    out.print(f"✓ Removed. {STAYS}" if confirmed else "Nothing was removed yet; --yes removes it.", soft_wrap=True)


def _lines(course: Course, kept: Kept) -> Iterator[str]:
    """List what is kept, in the order in which it goes."""
    for folder in kept.folders:
        where = folder.relative_to(course.root) if folder.is_relative_to(course.root) else folder
        count = 1 if folder.is_symlink() else sum(1 for _ in files.walk(folder))
        yield f"{where} ({counted(count, 'file')})"
    if kept.collected:
        where = (course.all_submitted / STATE).relative_to(course.root)
        yield f"{where}: what was collected for {', '.join(kept.collected)}"
    for page, (what, command) in PAGES.items():
        if (course.root / page).exists():
            yield f"{page}, which {what}; `autograder {command}` writes it anew"
    if kept.rows:
        yield "gradebook: " + ", ".join(counted(len(rows), f"row in {table}") for table, rows in kept.rows.items())


def _remove_folder(folder: Path) -> None:
    """Remove a folder, or the link in its place and not what that leads to."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        files.remove(folder)
    if os.path.lexists(folder):
        raise CourseError(
            f"{folder} could not be removed, and what comes after it in the list is still there. "
            "Mend the folder's permissions, then try again."
        )
    files.sync_folder(folder.parent)
