"""The class page: what a class has understood and what not, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.report.counts import (
    FAILED,
    NOT_GRADABLE,
    NOT_TRIED,
    PASSED,
    UNKNOWN,
    CheckCount,
    ExerciseCount,
    LessonCount,
    Mistake,
    Spread,
    count_lesson,
)
from autograder.report.outline import Exercise, Outline
from autograder.report.page import code, mean, number, plain, render

TOP = 10
MOST = 12  # kinds of mistake shown for an exercise
MOST_NOTES = 30
MOST_RULES = 3
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


def class_page(book: GradebookSnapshot, lessons: Sequence[Outline], waiting: Collection[tuple[str, str]] = ()) -> bytes:
    """Make the page.

    Args:
        waiting: (student, lesson) of what was handed in and is not graded yet.
    """
    waiting = {pair for pair in waiting if pair not in book.graded}
    students = {**{student: Student(student) for student, _ in waiting}, **book.students}
    by_lesson: dict[str, list[GradedSubmission]] = {outline.name: [] for outline in lessons}
    for each in book.graded.values():
        if each.lesson in by_lesson:
            by_lesson[each.lesson].append(each)
    counts = [
        count_lesson(outline, students, by_lesson[outline.name], {who for who, name in waiting if name == outline.name})
        for outline in lessons
    ]
    labels = labels_of(students.values())
    rows = [_row(book, each, labels[each.id], lessons, waiting) for each in students.values()]
    graded = [each for listed in by_lesson.values() for each in listed]
    present = {each.student for each in graded}
    maximum = sum(outline.points for outline in lessons)
    totals = [row.total for row in rows if row.id in present]
    marks = {mark for row in rows for cell in row.cells for mark in cell.marks}
    spreads = [(each.spread, each.outline.label) for each in counts if each.spread]
    if len(spreads) > 1 and (whole := Spread.of(totals, maximum)):
        spreads.insert(0, (whole, "All lessons together"))
    top, hardest = _top(counts), _hardest(counts)
    absent = set(students) - present - {student for student, name in waiting if name in by_lesson}
    return render(
        "class.html",
        script="class.js",
        course=book.course.name,
        where=book.where,
        last_graded=max((each.recorded for each in graded if each.recorded), default=None),
        contents=_contents(counts, bool(top), bool(hardest), bool(spreads)),
        facts=_facts(students, counts, totals, maximum),
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
        unjudged=any(dict(_parts(each))["gradable"] for lesson in counts for each in lesson.exercises),
        rules=_rules,
        most=MOST,
        most_notes=MOST_NOTES,
    )


def labels_of(students: Iterable[Student]) -> dict[str, str]:
    """What to call each student; two of the same name have their ids with it."""
    students = list(students)
    often = Counter(each.name for each in students)
    return {each.id: each.name if often[each.name] == 1 else f"{each.name} ({each.id})" for each in students}


def _label_all(labels: Mapping[str, str], students: Iterable[str]) -> list[str]:
    return sorted((labels[student] for student in students), key=str.casefold)


def _row(book: GradebookSnapshot, student: Student, label: str, lessons: Sequence[Outline], waiting: Collection) -> Row:
    graded = [book.graded.get((student.id, outline.name)) for outline in lessons]
    cells = (
        _cell(each, outline.points, (student.id, outline.name) in waiting)
        for each, outline in zip(graded, lessons, strict=True)
    )
    total, maximum = sum(each.score for each in graded if each), sum(outline.points for outline in lessons)
    share = str(round(100 * total / maximum)) if maximum else ""
    name = student.name if student.name != student.id else label
    return Row(student.id, name, tuple(cells), total, share)


def _cell(each: GradedSubmission | None, maximum: float, waits: bool) -> Cell:
    if each is None:
        return Cell("–", "w" if waits else "")
    marks = {
        "h": bool(each.by_hand),
        "e": bool(each.extra),
        "l": each.penalty > 0,
        "n": bool(each.result and each.result.reason),
        "?": each.needs_review,
    }
    shade = max(0, min(10, int(10 * each.score / maximum + 1e-9))) if maximum else None
    return Cell(number(each.score), "".join(mark for mark, holds in marks.items() if holds), shade)


def _anchors(lessons: Sequence[Outline]) -> dict[Exercise, str]:
    return {each: f"{outline.name}-{each.name}" for outline in lessons for each in outline.exercises}


def _parts(count: ExerciseCount) -> list[tuple[str, int]]:
    """The parts of an exercise's bar: style and number."""
    no_verdict = count.count(NOT_GRADABLE) + count.count(UNKNOWN)
    return [
        ("passed", count.count(PASSED)),
        ("failed", count.count(FAILED)),
        ("attempted", count.count(NOT_TRIED)),
        ("gradable", no_verdict),
    ]


def _rules(check: CheckCount) -> Markup:
    shown = [Markup("{} <small>({})</small>").format(code(plain(rule, 200)), n) for rule, n in check.rules[:MOST_RULES]]
    return Markup("; ").join(shown)


def _top(lessons: Sequence[LessonCount]) -> list[tuple[Mistake, ExerciseCount]]:
    """The mistakes with a name that most students made."""
    found = [(each, count) for lesson in lessons for count in lesson.exercises for each in count.mistakes if each.named]
    return sorted(found, key=lambda pair: (-pair[0].count, -pair[0].count / max(1, pair[1].tried)))[:TOP]


def _hardest(lessons: Sequence[LessonCount]) -> list[tuple[CheckCount, ExerciseCount]]:
    """The checks that the largest part of those who tried failed."""
    found = [(each, count) for lesson in lessons for count in lesson.exercises for each in count.checks if each.failed]
    return sorted(found, key=lambda pair: (-pair[0].share_failed, -pair[0].failed))[:TOP]


def _contents(lessons: Sequence[LessonCount], top: bool, hardest: bool, spreads: bool) -> list[tuple[str, str]]:
    graded = any(lesson.graded for lesson in lessons)
    parts = [(top, "mistakes", "Mistakes"), (graded, "exercises", "Exercises"), (hardest, "checks", "Hardest checks")]
    parts += [(spreads, "scores", "Scores"), (True, "students", "Students")]
    there = [(anchor, label) for shown, anchor, label in parts if shown]
    return there + [(lesson.outline.name, lesson.outline.label) for lesson in lessons]


def _facts(
    students: Collection[str], lessons: Sequence[LessonCount], totals: Sequence[float], maximum: float
) -> list[tuple[str, str]]:
    """The numbers at the head of the page."""
    graded, bad = sum(len(each.graded) for each in lessons), sum(len(each.ungradable) for each in lessons)
    waiting, nothing = sum(len(each.waiting) for each in lessons), sum(len(each.nothing) for each in lessons)
    facts = [(str(len(students)), "students"), (str(graded), "notebooks graded")]
    facts += [(str(bad), "could not be graded")] if bad else []
    facts += [(str(waiting), "not graded yet")] if waiting else []
    facts += [(str(nothing), "not handed in")] if nothing else []
    if totals:
        facts.append((f"{mean(sum(totals) / len(totals))} of {number(maximum)}", "points on average"))
    return facts
