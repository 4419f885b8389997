"""The class page: what a class has understood and what not, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from markupsafe import Markup

from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.results import Status
from autograder.report.counts import CheckCount, ExerciseCount, LessonCount, MistakeCount, Spread, count_lesson
from autograder.report.outline import ExerciseOutline, LessonOutline
from autograder.report.page import code, mean, number, render, shortened

TOP = 10
MOST_MISTAKES = 12  # shown for an exercise
MOST_NOTES = 30
MOST_RULES = 3
MOST_PREDICTIONS = 8  # shown for a question
LEGEND = {
    "h": "points given by hand",
    "e": "with extra credit",
    "l": "points taken off for being late",
    "n": "could not be graded",
    "?": "somebody should look at it",
    "w": "handed in, not graded yet",
}


@dataclass(frozen=True)
class Cell:
    """A student's points in a lesson; `shade` is the tenth of the points that was reached, 0 to 10."""

    text: str
    marks: str = ""
    shade: int | None = None


@dataclass(frozen=True)
class Row:
    """A student in the table."""

    id: str
    name: str
    cells: tuple[Cell, ...]
    total: float
    share: str


class Link(NamedTuple):
    """An entry of the contents."""

    anchor: str
    label: str


class Fact(NamedTuple):
    """A number at the head of the page, and what it counts."""

    number: str
    label: str


class BarPart(NamedTuple):
    """A part of a bar: its style and how many students it stands for."""

    style: str
    students: int


class TopMistake(NamedTuple):
    """A mistake among the most frequent, and where it was made."""

    mistake: MistakeCount
    exercise: ExerciseCount


class HardCheck(NamedTuple):
    """A check among the hardest, and its exercise."""

    check: CheckCount
    exercise: ExerciseCount


class TitledSpread(NamedTuple):
    """A histogram of scores and what it shows."""

    spread: Spread
    title: str


def class_page(
    book: GradebookSnapshot, lessons: Sequence[LessonOutline], waiting: Collection[tuple[str, str]] = ()
) -> bytes:
    """Make the page.

    Args:
        waiting: (student, lesson) of what was handed in and is not graded yet.
    """
    waiting = {pair for pair in waiting if pair not in book.graded}
    students = {**{student: Student(student) for student, _ in waiting}, **book.students}
    by_lesson: dict[str, list[GradedSubmission]] = {outline.name: [] for outline in lessons}
    for submission in book.graded.values():
        if submission.lesson in by_lesson:
            by_lesson[submission.lesson].append(submission)
    counts = [
        count_lesson(
            outline, students, by_lesson[outline.name], {student for student, name in waiting if name == outline.name}
        )
        for outline in lessons
    ]
    labels = labels_of(students.values())
    rows = [_row(book, student, labels[student.id], lessons, waiting) for student in students.values()]
    graded = [submission for submissions in by_lesson.values() for submission in submissions]
    present = {submission.student for submission in graded}
    maximum = sum(outline.points for outline in lessons)
    totals = [row.total for row in rows if row.id in present]
    marks = {mark for row in rows for cell in row.cells for mark in cell.marks}
    spreads = [TitledSpread(count.spread, count.outline.label) for count in counts if count.spread]
    if len(spreads) > 1 and (whole := Spread.of(totals, maximum)):
        spreads.insert(0, TitledSpread(whole, "All lessons together"))
    top, hardest = _top(counts), _hardest(counts)
    absent = set(students) - present - {student for student, name in waiting if name in by_lesson}
    return render(
        "class.html",
        script="class.js",
        course=book.course.name,
        where=book.where,
        last_graded=max((submission.recorded for submission in graded if submission.recorded), default=None),
        contents=_contents(counts, bool(top), bool(hardest), bool(spreads)),
        facts=_facts(students, counts, totals, maximum, sum(submission.needs_review for submission in graded)),
        graded=graded,
        waiting=len([pair for pair in waiting if pair[1] in by_lesson]),
        top=top,
        hardest=hardest,
        spreads=spreads,
        lessons=counts,
        anchors=_anchors(lessons),
        rows=sorted(rows, key=lambda row: (row.name.casefold(), row.id)),
        ids=any(row.name != row.id for row in rows),
        maximum=maximum,
        legend=[(mark, meaning) for mark, meaning in LEGEND.items() if mark in marks],
        absent=_label_all(labels, absent),
        labels=labels,
        label_all=partial(_label_all, labels),
        parts=_parts,
        any_without_verdict=any(exercise.without_verdict for lesson in counts for exercise in lesson.exercises),
        rules=_rules,
        most_mistakes=MOST_MISTAKES,
        most_notes=MOST_NOTES,
        most_predictions=MOST_PREDICTIONS,
    )


def labels_of(students: Iterable[Student]) -> dict[str, str]:
    """What to call each student; two of the same name have their ids with it."""
    students = list(students)
    bearers = Counter(student.name for student in students)
    return {
        student.id: student.name if bearers[student.name] == 1 else f"{student.name} ({student.id})"
        for student in students
    }


def _label_all(labels: Mapping[str, str], students: Iterable[str]) -> list[str]:
    return sorted((labels[student] for student in students), key=str.casefold)


def _row(
    book: GradebookSnapshot,
    student: Student,
    label: str,
    lessons: Sequence[LessonOutline],
    waiting: Collection[tuple[str, str]],
) -> Row:
    graded = [book.graded.get((student.id, outline.name)) for outline in lessons]
    cells = (
        _cell(submission, outline.points, (student.id, outline.name) in waiting)
        for submission, outline in zip(graded, lessons, strict=True)
    )
    total = sum(submission.score for submission in graded if submission)
    maximum = sum(outline.points for outline in lessons)
    share = str(round(100 * total / maximum)) if maximum else ""
    name = student.name if student.name != student.id else label
    return Row(student.id, name, tuple(cells), total, share)


def _cell(submission: GradedSubmission | None, maximum: float, waits: bool) -> Cell:
    if submission is None:
        return Cell("–", "w" if waits else "")
    marks = {
        "h": bool(submission.by_hand),
        "e": bool(submission.extra),
        "l": submission.penalty > 0,
        "n": bool(submission.result and submission.result.reason),
        "?": submission.needs_review,
    }
    shade = max(0, min(10, int(10 * submission.score / maximum + 1e-9))) if maximum else None
    return Cell(number(submission.score), "".join(mark for mark, holds in marks.items() if holds), shade)


def _anchors(lessons: Sequence[LessonOutline]) -> dict[ExerciseOutline, str]:
    return {exercise: f"{outline.name}-{exercise.name}" for outline in lessons for exercise in outline.exercises}


def _parts(count: ExerciseCount) -> list[BarPart]:
    """The bar of an exercise."""
    return [
        BarPart("passed", count.count(Status.PASSED)),
        BarPart("failed", count.count(Status.FAILED)),
        BarPart("attempted", count.count(Status.NOT_ATTEMPTED)),
        BarPart("gradable", count.without_verdict),
    ]


def _rules(check: CheckCount) -> Markup:
    shown = (
        Markup("{} <small>({})</small>").format(code(shortened(rule, 200)), count)
        for rule, count in check.rules[:MOST_RULES]
    )
    return Markup("; ").join(shown)


def _top(lessons: Sequence[LessonCount]) -> list[TopMistake]:
    """The named mistakes that most students made."""
    named = [
        TopMistake(mistake, exercise)
        for lesson in lessons
        for exercise in lesson.exercises
        for mistake in exercise.mistakes
        if mistake.named
    ]
    return sorted(named, key=lambda top: (-top.mistake.count, -top.mistake.count / max(1, top.exercise.tried)))[:TOP]


def _hardest(lessons: Sequence[LessonCount]) -> list[HardCheck]:
    """The checks that the largest part of those who tried failed."""
    failed = [
        HardCheck(check, exercise)
        for lesson in lessons
        for exercise in lesson.exercises
        for check in exercise.checks
        if check.failed
    ]
    return sorted(failed, key=lambda hard: (-hard.check.share_failed, -hard.check.failed))[:TOP]


def _contents(lessons: Sequence[LessonCount], top: bool, hardest: bool, spreads: bool) -> list[Link]:
    shown = {
        Link("mistakes", "Mistakes"): top,
        Link("exercises", "Exercises"): any(lesson.graded for lesson in lessons),
        Link("checks", "Hardest checks"): hardest,
        Link("scores", "Scores"): spreads,
        Link("students", "Students"): True,
    }
    parts = [link for link, is_shown in shown.items() if is_shown]
    return parts + [Link(lesson.outline.name, lesson.outline.label) for lesson in lessons]


def _facts(
    students: Collection[str], lessons: Sequence[LessonCount], totals: Sequence[float], maximum: float, to_review: int
) -> list[Fact]:
    """The numbers at the head of the page."""
    rare = {
        "could not be graded": sum(len(lesson.ungradable) for lesson in lessons),
        "not graded yet": sum(len(lesson.waiting) for lesson in lessons),
        "to be looked at": to_review,
        "not handed in": sum(len(lesson.nothing) for lesson in lessons),
    }
    graded = sum(len(lesson.graded) for lesson in lessons)
    facts = [Fact(str(len(students)), "students"), Fact(str(graded), "notebooks graded")]
    facts += [Fact(str(count), label) for label, count in rare.items() if count]
    if totals:
        facts.append(Fact(f"{mean(sum(totals) / len(totals))} of {number(maximum)}", "points on average"))
    return facts
