"""The students on the class page: what to call them, in which order, and what each of them has in each lesson."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.report.outline import LessonOutline
from autograder.report.page import number

LEGEND = {
    "h": "points given by hand",
    "e": "with extra credit",
    "L": "late",
    "p": "late, and points taken off for it",
    "o": "another hand-in does not count",
    "n": "could not be graded",
    "?": "somebody should look at it",
    "u": "not up to date",
    "w": "handed in, not graded yet",
    "t": "not due yet, and not counted",
}


@dataclass(frozen=True)
class PageLinks:
    """Where other pages lie, seen from the class page, as addresses; those alone that are there."""

    students: Mapping[str, str] = field(default_factory=dict)  # student → the page of all lessons
    # (student, lesson) → the notebook with its results
    notebooks: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A student's points in a lesson; `shade` is the tenth of the points that was reached, 0 to 10."""

    text: str
    marks: str = ""
    points: float | None = None  # those that count, 0 for what is due and was not handed in; None where nothing counts
    shade: int | None = None
    link: str = ""


@dataclass(frozen=True)
class Row:
    """A student in the table."""

    id: str
    name: str
    cells: tuple[Cell, ...]
    total: float
    maximum: float  # the points of the lessons that count
    link: str = ""

    @property
    def percent(self) -> float | None:
        """The total by what there was to earn; None where there was nothing yet."""
        return 100 * self.total / self.maximum if self.maximum else None


class Roster:
    """A class in the order of last names.

    Attributes:
        labels: what to call each student; two of the same name have their ids with it.
    """

    def __init__(self, students: Iterable[Student]) -> None:
        ordered = sorted(students, key=_last_name_first)
        bearers = Counter(student.name for student in ordered)
        self.students = ordered
        self.labels = {
            student.id: student.name if bearers[student.name] == 1 else f"{student.name} ({student.id})"
            for student in ordered
        }
        self._places = {student.id: place for place, student in enumerate(ordered)}

    def label_all(self, students: Iterable[str]) -> list[str]:
        """What to call these students, by last names."""
        return [self.labels[student] for student in sorted(students, key=self._places.__getitem__)]


def _last_name_first(student: Student) -> tuple[str, str, str]:
    return ((student.last_name or student.name).casefold(), student.first_name.casefold(), student.id)


def row_of(
    book: GradebookSnapshot,
    student: Student,
    lessons: Sequence[LessonOutline],
    pending: Collection[tuple[str, str]],
    has_time: Collection[tuple[str, str]],
    links: PageLinks,
) -> Row:
    """Make a row of the table.

    Args:
        pending: (student, lesson) of what is not graded, or out of date.
        has_time: of what is not handed in and not due yet.
    """
    cells, total, maximum = [], 0.0, 0.0
    for outline in lessons:
        key = (student.id, outline.name)
        submission = book.graded.get(key)
        if submission:
            due = book.due(*key)
            is_late = bool(due and submission.submitted and submission.submitted > due)
            cells.append(_cell(submission, outline.points, is_late, key in pending, links.notebooks.get(key, "")))
        elif key in pending or key in has_time:
            cells.append(Cell("–", "w" if key in pending else "t"))
        else:
            cells.append(Cell("–", points=0.0 if book.due(*key) else None))
        if (points := cells[-1].points) is not None:
            total, maximum = total + points, maximum + outline.points
    both = student.last_name and student.first_name
    name = f"{student.last_name}, {student.first_name}" if both else student.name
    return Row(student.id, name, tuple(cells), total, maximum, links.students.get(student.id, ""))


def _cell(submission: GradedSubmission, maximum: float, is_late: bool, is_outdated: bool, link: str) -> Cell:
    marks = {
        "h": bool(submission.by_hand),
        "e": bool(submission.extra),
        "L": is_late and not submission.penalty,
        "p": submission.penalty > 0,
        "o": bool(submission.others),
        "n": bool(submission.result and submission.result.reason),
        "?": submission.needs_review,
        "u": is_outdated,
    }
    shade = max(0, min(10, int(10 * submission.score / maximum + 1e-9))) if maximum else None
    shown = "".join(mark for mark, holds in marks.items() if holds)
    return Cell(number(submission.score), shown, submission.score, shade, link)
