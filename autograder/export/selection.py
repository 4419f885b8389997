"""Which lessons and students are exported, and what to say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean, printable
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.pending import Pending, outdated, told
from autograder.spreadsheets.sheet import number

OUT_OF_DATE = "Points are out of date, and nothing was written:"
GRADE_FIRST = "Run `autograder grade` first, or give --stale to export what the gradebook has now."


@dataclass(frozen=True)
class Selection:
    """A part of a gradebook."""

    book: GradebookSnapshot
    lessons: Sequence[GradebookLesson]  # in the course's order
    students: Sequence[Student]  # those whose ids fit, sorted by id
    # what is out of date, by (student, lesson)
    pending: Mapping[tuple[str, str], Pending] = field(default_factory=dict)

    def graded(self, student: Student, lesson: GradebookLesson) -> GradedSubmission | None:
        """What a student has in a lesson, None where they handed in nothing."""
        return self.book.graded.get((student.id, lesson.name))

    def nothing(self, student: Student, lesson: GradebookLesson) -> bool:
        """Whether a student has handed in nothing of a lesson."""
        return self.graded(student, lesson) is None and (student.id, lesson.name) not in self.pending

    def points(self, student: Student, lesson: GradebookLesson, *, zeros: bool) -> str:
        """The points that count, as they are written; where nothing was handed in "", or "0" for `zeros`."""
        graded = self.graded(student, lesson)
        return number(graded.score) if graded else "0" if zeros and self.nothing(student, lesson) else ""

    def has_any(self, student: Student) -> bool:
        """Whether a student has anything in these lessons."""
        return any(self.graded(student, lesson) for lesson in self.lessons)


def select(book: GradebookSnapshot, lessons: Sequence[str], pattern: str, *, handed_in: bool = False) -> Selection:
    """Take a part of a gradebook.

    Args:
        lessons: their names; all where there are none.
        pattern: for the ids of students, "a*".
        handed_in: where no lesson is named, only those that somebody handed in: a column is made for each.

    Raises:
        CourseError: there is no such lesson, or no such student.
    """
    wanted = book.choose_lessons(lessons)
    students = [person for person in book.students.values() if fnmatchcase(person.id, pattern)]
    if not students:
        who = "no student" if pattern == "*" else f"no student whose id fits {pattern}"
        hint = did_you_mean([pattern], book.students)
        raise CourseError(f"The gradebook has {who}. Grade first, or name others with --student.{hint}")
    names = {lesson for _, lesson in book.graded} if handed_in and not lessons else {lesson.name for lesson in wanted}
    selected = [lesson for name, lesson in book.lessons.items() if name in names]
    if not selected:
        raise CourseError("Nobody has handed in a lesson yet. Run `autograder grade` first, or name a lesson.")
    return Selection(book, selected, students)


def select_current(
    book: GradebookSnapshot,
    lessons: Sequence[str],
    pattern: str,
    messages: Messages,
    *,
    stale: bool,
    handed_in: bool = False,
) -> Selection:
    """Take a part of a gradebook, if its points are those of what was handed in.

    Args:
        stale: take it as it is, and note what is out of date.

    Raises:
        CourseError: something is out of date, or `select` finds nothing.
    """
    selection = select(book, lessons, pattern, handed_in=handed_in)
    pending = outdated(book, [lesson.name for lesson in book.choose_lessons(lessons)], pattern)
    lines = told(pending.values(), book.students)
    if lines and not stale:
        raise CourseError("\n".join([OUT_OF_DATE, *(f"  {printable(line)}" for line in lines), GRADE_FIRST]))
    messages.notes += lines
    return replace(selection, pending=pending)


@dataclass
class Messages:
    """What to tell who exports."""

    # grades that did not get into the file, and whose; with any of them the command ends with 1
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what else is worth knowing

    def note_unfinished(self, selection: Selection) -> None:
        """Note the grades that may not be final."""
        for lesson in selection.lessons:
            for student in selection.students:
                graded, what = selection.graded(student, lesson), ""
                if graded and graded.result and graded.result.reason:
                    reason = " ".join(graded.result.reason.split())
                    what = f"could not be graded, and has {number(graded.score)}. {reason}"
                elif graded and graded.result and graded.result.broken:
                    checks = ", ".join(outcome.check for outcome in graded.result.broken)
                    what = f"{checks} is broken itself, and gave no points."
                elif graded and graded.needs_review:
                    what = "waits to be looked at; the points may change."
                self.notes += [f"{student.label}, {lesson.name}: {what}"] if what else []
