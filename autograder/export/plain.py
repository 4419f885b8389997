"""Plain tables: the columns of nbgrader's own export and what it lacks, or a row for each check."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from autograder.export.grades import Chosen
from autograder.export.sheet import harmless, number, table
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradedSubmission, Student

# The first eleven are nbgrader's, so that what reads its grades.csv reads this.
COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score", "recorded", "status", "reason"),
)
CHECK_COLUMNS = (
    *("assignment", "student_id", "last_name", "first_name", "email", "check", "score", "max_score"),
    *("status", "by_hand", "seconds", "verdict", "slip"),
)


def grades(chosen: Chosen) -> bytes:
    """Write a row for each lesson and student, those too who handed in nothing; times are UTC."""
    rows = [_row(lesson, student, chosen.graded(student, lesson)) for lesson, student in _all(chosen)]
    return table([COLUMNS, *rows], bom=True)


def checks(chosen: Chosen) -> bytes:
    """Write a row for each lesson, student and check of what was handed in."""
    rows = [row for lesson, student in _all(chosen) for row in _check_rows(chosen, lesson, student)]
    return table([CHECK_COLUMNS, *rows], bom=True)


def _all(chosen: Chosen) -> Iterator[tuple[GradebookLesson, Student]]:
    return ((lesson, student) for lesson in chosen.lessons for student in chosen.students)


def status(graded: GradedSubmission | None) -> tuple[str, str]:
    """Say in a word or two what became of a submission, and why where it could not be graded."""
    if graded is None:
        return "not handed in", ""
    if graded.result and graded.result.reason:
        return "not gradable", graded.result.reason
    return "to be looked at" if graded.needs_review else "graded", ""


def _row(lesson: GradebookLesson, student: Student, graded: GradedSubmission | None) -> list[str]:
    points = [number(each) for each in (graded.raw_score, graded.penalty, graded.score)] if graded else ["0"] * 3
    what, why = status(graded)
    return [
        lesson.name,
        _time(lesson.duedate),
        _time(graded and graded.submitted),
        *_who(student),
        *points,
        number(lesson.max_score),
        _time(graded and graded.recorded),
        what,
        harmless(why),
    ]


def _check_rows(chosen: Chosen, lesson: GradebookLesson, student: Student) -> Iterator[list[str]]:
    graded = chosen.graded(student, lesson)
    if graded is None:
        return
    outcomes = {each.check: each for each in graded.result.checks} if graded.result else {}
    order = [*outcomes, *(check for check in lesson.points if check not in outcomes)]
    for check in order:
        outcome, score = outcomes.get(check), graded.scores.get(check, 0.0)
        state = outcome.status if outcome else status(graded)[0]
        yield [
            lesson.name,
            *_who(student),
            check,
            number(score),
            number(lesson.points.get(check, outcome.points if outcome else 0.0)),
            state,
            "yes" if check in graded.by_hand else "",
            f"{outcome.seconds:.3f}" if outcome else "",
            harmless(outcome.verdict if outcome else ""),
            harmless(outcome.slip if outcome else ""),
        ]


def _who(student: Student) -> list[str]:
    return [harmless(each) for each in (student.id, student.last_name, student.first_name, student.email)]


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else ""
