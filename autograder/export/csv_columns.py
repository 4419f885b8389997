"""Tables for a spreadsheet: the columns of nbgrader's own export and what it lacks, or a row for each check."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from autograder.export.selection import Selection
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradedSubmission, Student
from autograder.grading.pending import NOT_GRADED, Pending
from autograder.spreadsheets.sheet import harmless, number, table

WHO = {"student_id": "id", "last_name": "last_name", "first_name": "first_name", "email": "email"}


class GradeRow(NamedTuple):
    """A student in a lesson; the names are the headings, the first eleven nbgrader's, for what reads its grades.csv."""

    assignment: str
    duedate: str
    timestamp: str
    student_id: str
    last_name: str
    first_name: str
    email: str
    raw_score: str
    late_submission_penalty: str
    score: str
    max_score: str
    recorded: str
    status: str
    reason: str
    not_counted: str


class CheckRow(NamedTuple):
    """A check of a student's answer; the names are the headings."""

    assignment: str
    student_id: str
    last_name: str
    first_name: str
    email: str
    check: str
    score: str
    max_score: str
    status: str
    by_hand: str
    seconds: str
    verdict: str
    slip: str


def grades_table(selection: Selection) -> bytes:
    """Write a row for each lesson and student, those too who handed in nothing; times are UTC."""
    rows = (_grade_row(selection, lesson, student) for lesson in selection.lessons for student in selection.students)
    return table([GradeRow._fields, *rows], bom=True)


def checks_table(selection: Selection) -> bytes:
    """Write a row for each lesson, student and check of what was handed in."""
    rows = (
        row
        for lesson in selection.lessons
        for student in selection.students
        if (graded := selection.graded(student, lesson))
        for row in _check_rows(lesson, student, graded)
    )
    return table([CheckRow._fields, *rows], bom=True)


def wide_table(selection: Selection) -> bytes:
    """Write a row for each student, with the points that count in each lesson and their total."""
    lessons, rows = selection.lessons, []
    for student in selection.students:
        graded = [selection.graded(student, lesson) for lesson in lessons]
        nothing = ["–" if selection.nothing(student, lesson) else NOT_GRADED for lesson in lessons]
        points = [number(one.score) if one else other for one, other in zip(graded, nothing, strict=True)]
        rows.append([*_who(student).values(), *points, number(sum(one.score for one in graded if one))])
    names = (f"{lesson.name} ({number(lesson.max_score)})" for lesson in lessons)
    total = f"total ({number(sum(lesson.max_score for lesson in lessons))})"
    return table([[*WHO, *names, total], *rows], bom=True)


def status_of(graded: GradedSubmission | None, pending: Pending | None = None) -> str:
    """Say in a word or two what became of a submission."""
    if pending:
        return "out of date" if pending.was_graded else NOT_GRADED
    if graded is None:
        return "not handed in"
    if graded.result and graded.result.reason:
        return "not gradable"
    if graded.result and graded.result.broken:
        return "broken check"
    return "to be looked at" if graded.needs_review else "graded"


def _grade_row(selection: Selection, lesson: GradebookLesson, student: Student) -> GradeRow:
    handed_in = selection.graded(student, lesson)
    graded = handed_in or GradedSubmission(student.id, lesson.name, {})
    others = (f"{_time(other.submitted) or '?'}: {number(other.result.score)}" for other in graded.others)
    return GradeRow(
        assignment=lesson.name,
        duedate=_time(selection.book.due(student.id, lesson.name)),
        timestamp=_time(graded.submitted),
        **_who(student),
        raw_score=number(graded.raw_score),
        late_submission_penalty=number(graded.penalty),
        score=number(graded.score),
        max_score=number(lesson.max_score),
        recorded=_time(graded.recorded),
        status=status_of(handed_in, selection.pending.get((student.id, lesson.name))),
        reason=harmless(graded.result.reason if graded.result else ""),
        not_counted="; ".join(others),
    )


def _check_rows(lesson: GradebookLesson, student: Student, graded: GradedSubmission) -> Iterator[CheckRow]:
    for check in dict.fromkeys([*graded.outcomes, *lesson.points]):
        outcome = graded.outcomes.get(check)
        yield CheckRow(
            assignment=lesson.name,
            **_who(student),
            check=check,
            score=number(graded.scores.get(check, 0.0)),
            max_score=number(lesson.points.get(check, outcome.points if outcome else 0.0)),
            status=outcome.status if outcome else _status(graded, check),
            by_hand="yes" if check in graded.by_hand else "",
            seconds=f"{outcome.seconds:.3f}" if outcome else "",
            verdict=harmless(outcome.verdict if outcome else ""),
            slip=harmless(outcome.slip if outcome else ""),
        )


def _who(student: Student) -> dict[str, str]:
    return {heading: harmless(getattr(student, name)) for heading, name in WHO.items()}


def _status(graded: GradedSubmission, check: str) -> str:
    """What became of a check that has no outcome: a written answer, or one that another program graded."""
    return status_of(replace(graded, to_review=graded.to_review & {check}))


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else ""
