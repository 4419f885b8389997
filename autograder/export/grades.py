"""What is exported: the lessons and students that are wanted, and what their grades come to in another program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from autograder.course.config import CourseError
from autograder.export.sheet import number
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student


@dataclass(frozen=True)
class Chosen:
    """A part of a gradebook.

    Attributes:
        lessons: the wanted ones, in the course's order.
        students: those whose ids fit, sorted by id.
    """

    book: GradebookSnapshot
    lessons: Sequence[GradebookLesson]
    students: Sequence[Student]

    def graded(self, student: Student, lesson: GradebookLesson) -> GradedSubmission | None:
        """What a student has in a lesson, None where they handed in nothing."""
        return self.book.graded.get((student.id, lesson.name))

    def has_any(self, student: Student) -> bool:
        """Whether a student has anything in these lessons."""
        return any(self.graded(student, lesson) for lesson in self.lessons)


def choose(book: GradebookSnapshot, lessons: Sequence[str], pattern: str, *, handed_in: bool = False) -> Chosen:
    """Take the wanted part of a gradebook.

    Args:
        lessons: their names; all where there are none.
        pattern: for the ids of students, "a*".
        handed_in: where no lesson is named, only those that somebody handed in: a column is made for each.

    Raises:
        CourseError: there is no such lesson, or no such student.
    """
    if unknown := [name for name in lessons if name not in book.lessons]:
        there = f"It has {', '.join(book.lessons)}." if book.lessons else "It has none. Run `autograder release`."
        raise CourseError(f"The gradebook has no lesson {', '.join(unknown)}. {there}")
    students = [person for person in book.students.values() if fnmatchcase(person.id, pattern)]
    if not students:
        who = "no student" if pattern == "*" else f"no student whose id fits {pattern}"
        raise CourseError(f"The gradebook has {who}. Grade first, or name others with --student.")
    names = {lesson for _, lesson in book.graded} if handed_in and not lessons else set(lessons or book.lessons)
    wanted = [lesson for name, lesson in book.lessons.items() if name in names]
    if not wanted:
        raise CourseError("Nobody has handed in a lesson yet. Run `autograder grade` first, or name a lesson.")
    return Chosen(book, wanted, students)


@dataclass
class Report:
    """What to tell who exports.

    Attributes:
        missing: grades that did not get into the file, and whose; with any of them the command ends with 1.
        notes: what else is worth knowing.
    """

    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def look_at(self, chosen: Chosen) -> None:
        """Note the grades that are exported and may not be final."""
        for lesson in chosen.lessons:
            for student in chosen.students:
                graded = chosen.graded(student, lesson)
                if graded and graded.result and graded.result.reason:
                    reason = " ".join(graded.result.reason.split())
                    self.notes.append(
                        f"{student.id}, {lesson.name}: could not be graded, and has {number(graded.score)}. {reason}"
                    )
                elif graded and graded.needs_review:
                    self.notes.append(f"{student.id}, {lesson.name}: waits to be looked at; the points may change.")


def scaled(graded: GradedSubmission, lesson: GradebookLesson, maximum: float | None) -> str:
    """Write the points that count, on the scale of another program's maximum if there is one."""
    if maximum is None or not lesson.max_score:
        return number(graded.score)
    return number(graded.score * maximum / lesson.max_score)


def maximum_for(text: str, lesson: GradebookLesson, where: str, *, scale: bool) -> float | None:
    """Read another program's maximum; None where it is the lesson's own, or where none is said.

    Raises:
        CourseError: it is another one, and points are not to be scaled.
    """
    maximum = _points(text)
    if maximum is None or abs(maximum - lesson.max_score) < 0.005:
        return None
    if scale and maximum > 0:
        return maximum
    raise CourseError(
        f"{lesson.name} has {number(lesson.max_score)} points, and {number(maximum)} in {where}. "
        "Change them there and download the file again" + ("." if scale else ", or give --scale to convert them.")
    )


def _points(text: str) -> float | None:
    """Read a number with a point or a comma."""
    text = text.strip()
    try:
        return float(text.replace(",", ".") if "." not in text else text.replace(",", "")) if text else None
    except ValueError:
        return None
