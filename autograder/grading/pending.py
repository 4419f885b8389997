"""What `autograder grade` would grade, or grade again, and which points are out of date until it does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course.config import CourseError
from autograder.course.dates import recorded_time
from autograder.course.paths import handed_in
from autograder.grading.gradebook.history import Reason, reasons_of
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.jobs import prepared, read_job
from autograder.grading.results import Limits

NAMED = 10  # students in a line
NOT_GRADED, BROKE_OFF = "not graded yet", "grading broke off"
CHANGES = {
    Reason.ENGINE: "the autograder changed",
    Reason.LESSON: "the lesson changed",
    Reason.SUBMISSION: "it was handed in again",
}


@dataclass(frozen=True)
class Pending:
    """A hand-in that is to be graded, or graded again.

    Attributes:
        was_graded: it has points, or the reason why not.
        reasons: why again; none where another program than ours graded it.
    """

    student: str
    lesson: str
    was_graded: bool = False
    reasons: tuple[Reason, ...] = ()

    @property
    def is_outdated(self) -> bool:
        """Whether its points may become others, or are not there yet."""
        return not self.was_graded or not {*CHANGES, Reason.BROKE_OFF}.isdisjoint(self.reasons)

    @property
    def why(self) -> str:
        """What is out of date, in a few words."""
        if not self.was_graded:
            return NOT_GRADED
        if Reason.BROKE_OFF in self.reasons:
            return BROKE_OFF
        return f"graded before {' and '.join(CHANGES[reason] for reason in self.reasons if reason in CHANGES)}"


def pending_in(book: GradebookSnapshot, lesson: str, students: str = "*") -> list[Pending]:
    """Find what is to be graded of a lesson, by student; again, only in one that solutions/ still has.

    Args:
        students: a pattern for their ids.

    Raises:
        CourseError: the lesson cannot be read.
    """
    course, submitted = book.course, book.course.students(lesson, students)
    found = [Pending(student, lesson) for student in submitted if (student, lesson) not in book.graded]
    again, path = [student for student in submitted if (student, lesson) in book.graded], course.source(lesson)
    if again and path.exists():
        try:
            source = prepared(path, course.config)
        except CourseError as error:
            raise CourseError(f"{path}: {error}") from None
        for student in again:
            pending = _again(book, book.graded[student, lesson], source)
            found += [pending] if pending else []
    return sorted(found, key=lambda pending: pending.student)


def _again(book: GradebookSnapshot, graded: GradedSubmission, source: bytes) -> Pending | None:
    """What was graded, where it would be graded again."""
    student, lesson = graded.student, graded.lesson
    folder = book.course.submitted(student, lesson)
    when = handed_in(folder)
    if graded.result is None:
        newer = (Reason.SUBMISSION,) if _is_later(when, graded) else ()
        return Pending(student, lesson, was_graded=True, reasons=newer)
    job, broke_off = read_job(folder, student, lesson, source, Limits(), when), graded.result.retryable
    is_there = _digest(book.course.graded_notebook(student, lesson)) == graded.notebook_sha256
    known = {graded.digest, *(other.digest for other in graded.others)}
    if job.digest in known and not broke_off and is_there:
        return None
    reasons = reasons_of(graded.digest, job.digest, broke_off=broke_off, forced=False)
    return Pending(student, lesson, was_graded=True, reasons=reasons)


def _is_later(when: str, graded: GradedSubmission) -> bool:
    """Whether something was handed in after what another program graded."""
    try:
        return bool(when and graded.submitted and recorded_time(when) > graded.submitted)
    except ValueError:
        return False


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def outdated(book: GradebookSnapshot, lessons: Iterable[str], students: str = "*") -> dict[tuple[str, str], Pending]:
    """Find what is out of date of these lessons, by (student, lesson), for students whose ids fit a pattern.

    A lesson that cannot be read any more was changed since anybody was graded in it.
    """
    found: list[Pending] = []
    for lesson in lessons:
        try:
            found += pending_in(book, lesson, students)
        except (CourseError, OSError):
            found += [
                Pending(student, lesson, (student, lesson) in book.graded, (Reason.LESSON,))
                for student in book.course.students(lesson, students)
            ]
    return {(one.student, one.lesson): one for one in found if one.is_outdated}


def grouped(found: Iterable[Pending]) -> dict[str, dict[str, list[str]]]:
    """Sort students by lesson, and by what is out of date."""
    groups: dict[str, dict[str, list[str]]] = {}
    for one in found:
        groups.setdefault(one.lesson, {}).setdefault(one.why, []).append(one.student)
    return groups


def told(found: Iterable[Pending], students: Mapping[str, Student]) -> list[str]:
    """Say what is out of date: a line for each lesson and reason."""
    return [
        f"{lesson}, {why}: {name_some(who, students)}."
        for lesson, reasons in grouped(found).items()
        for why, who in reasons.items()
    ]


def name_some(who: Sequence[str], students: Mapping[str, Student]) -> str:
    """Name students in a line, the first of many."""
    names = ", ".join(students.get(student, Student(student)).label for student in who[:NAMED])
    return names + (f" and {len(who) - NAMED} more" if len(who) > NAMED else "")
