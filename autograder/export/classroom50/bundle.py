"""The files of an assignment's autograder in Classroom 50, as one zip file."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course.config import CourseError
from autograder.export.gradescope.bundle import packed, shared
from autograder.grading.jobs import prepared
from autograder.version import PACKAGE

SCRIPT = "autograder.py"


def bundle(root: Path, released: Path) -> bytes:
    """Make the zip file; the same course makes the same bytes.

    Classroom 50 publishes these files, so the lesson is that of the students, without hidden tests and answers.

    Args:
        root: the course folder.
        released: the lesson's notebook in notebooks/.

    Raises:
        CourseError: something that belongs in it is missing, or a check has half a point, which the form cannot hold.
    """
    try:
        lesson = prepared(released)
    except CourseError as error:
        raise CourseError(f"{released}: {error}") from None
    nbgrader = [cell["metadata"].get("nbgrader", {}) for cell in json.loads(lesson)["cells"]]
    if odd := [each["grade_id"] for each in nbgrader if each.get("grade") and each["points"] % 1]:
        raise CourseError(f"Classroom 50 counts in whole points. Give whole ones to {', '.join(odd)}.")
    script = (PACKAGE / "export" / "classroom50" / SCRIPT).read_bytes()
    return packed(shared(root) | {f"lesson/{released.name}": lesson, SCRIPT: script})
