"""What a course keeps about one student: rows of the gradebook, folders, and what collecting wrote down."""

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from autograder.collect.collect import REPOSITORIES
from autograder.collect.place import collected_of
from autograder.course.config import CourseError
from autograder.course.names import did_you_mean, printable
from autograder.course.paths import REPLACED, Course, is_folder_name
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.history import read_lines
from autograder.grading.gradebook.one_student import read_rows
from autograder.grading.gradebook.reader import read_students

GRADESCOPE = "gradescope"  # the folder that `autograder export gradescope` makes
SHOWN = 10  # students that are named


@dataclass(frozen=True)
class Kept:
    """All that is kept about one student."""

    student: str
    # of the gradebook, by table, and what grading again changed, as history
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    folders: Sequence[Path]  # those that are the student's alone
    collected: Mapping[str, Mapping[str, Any]]  # by lesson, what `autograder collect` wrote down


def read_kept(course: Course, connection: Connection, student: str) -> Kept:
    """Find all that is kept about a student.

    Raises:
        CourseError: nothing is.
    """
    folders = course.folders_of(student)
    if is_folder_name(student):
        above = course.all_submitted / REPLACED, course.root / REPOSITORIES, course.root / GRADESCOPE
        folders += [path / student for path in above if os.path.lexists(path / student)]
        folders += sorted((course.root / REPOSITORIES).glob(f"{glob.escape(student)}@*"))  # one for each lesson
    rows = read_rows(connection, student)
    if regrades := read_lines(Gradebook(course.db_url, course.root).history, student):
        rows["history"] = regrades
    kept = Kept(student, rows, folders, collected_of(course, student))
    if not (kept.rows or kept.folders or kept.collected):
        ids = list(read_students(connection))
        some = ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
        raise CourseError(
            printable(f"Nothing is kept about {student}. The gradebook has {some or 'no students yet'}.")
            + did_you_mean([student], ids)
        )
    return kept
