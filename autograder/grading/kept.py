"""A student's hand-ins for a lesson that may count, each with the digest of what grading would grade."""

from __future__ import annotations

from pathlib import Path

from autograder.course.paths import Course, handed_in
from autograder.grading.gradebook.counting import hand_ins
from autograder.grading.jobs import read_job
from autograder.grading.results import Limits


def digests(course: Course, student: str, lesson: str, source: bytes, limits: Limits) -> dict[str, Path]:
    """Return digest → folder, the oldest first; the same hand-in once more is the newer one."""
    found: dict[str, Path] = {}
    for folder in hand_ins(course, student, lesson):
        digest = read_job(folder, student, lesson, source, limits, handed_in(folder)).digest
        found.pop(digest, None)
        found[digest] = folder
    return found
