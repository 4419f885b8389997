"""What is taken off for being late, by nbgrader's plugin, and more time for those who get it."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import NamedTuple

from nbgrader.api import Grade, SubmittedAssignment, SubmittedNotebook, new_uuid
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import ColumnElement, Connection, func, select
from sqlalchemy.orm import Session
from traitlets import TraitError
from traitlets.config import Config

from autograder.course.config import CourseError
from autograder.grading.gradebook.lesson import GradebookLesson


class LateRuleError(CourseError):
    """The rule for late hand-ins fails, or gives no points."""


class LateRule:
    """The rule for late hand-ins that nbgrader_config.py sets."""

    def __init__(self, config: Config) -> None:
        """Load it; CourseError where the configuration names what cannot be loaded."""
        try:
            self._penalties = AssignLatePenalties(config=config)
            self._penalties.init_plugin()
        except (ImportError, TraitError) as error:
            raise CourseError(
                f"The rule for late hand-ins in nbgrader_config.py cannot be loaded ({error}). Define its class in "
                "that file, as docs/guide.md shows, or install the package that it comes from."
            ) from None

    def taken_off(self, student: str, due: datetime | None, handed_in: datetime | None, score: float) -> float | None:
        """Return what is taken off these points of a hand-in of this time; None where it is in time.

        Raise LateRuleError where the rule fails.
        """
        late = lateness(due, handed_in)
        if late <= timedelta():
            return None
        plugin = self._penalties.plugin_inst
        try:
            penalty: float | None = plugin.late_submission_penalty(student, score, late.total_seconds())
            if penalty is not None:
                penalty = self._penalties._check_late_penalty(SimpleNamespace(score=score), penalty)
        except Exception as error:  # whatever a rule of the instructor's own may raise
            raise LateRuleError(
                f"The rule for late hand-ins in nbgrader_config.py fails for {student}, {late} late "
                f"({type(error).__name__}: {error}). Mend it there, and try again."
            ) from error
        return penalty


def lateness(due: datetime | None, handed_in: datetime | None) -> timedelta:
    """Return how much later than due a hand-in came; nothing where that is not known."""
    return timedelta() if handed_in is None or due is None else handed_in - due


class PenaltyChange(NamedTuple):
    """What more time, another due date or another rule changed for somebody who is graded already."""

    student: str
    before: float
    after: float


def extend(
    connection: Connection, rule: LateRule, lesson: GradebookLesson, students: Sequence[str], extension: timedelta
) -> list[PenaltyChange]:
    """Give students more time, in place of what they had; none takes it back.

    Who has handed in nothing gets a submission without a notebook, which no page and no export takes for one. What is
    taken off those who are graded already is computed anew.
    """
    with Session(connection) as session, session.begin():
        of_lesson = SubmittedAssignment.assignment_id == lesson.assignment_id
        rows = {row.student_id: row for row in session.scalars(select(SubmittedAssignment).where(of_lesson))}
        for student in students:
            if student not in rows and extension:
                rows[student] = SubmittedAssignment(
                    id=new_uuid(), assignment_id=lesson.assignment_id, student_id=student
                )
                session.add(rows[student])
            if student in rows:
                rows[student].extension = extension or None
        changes = recompute(session, rule, lesson, students)
    return sorted(changes, key=lambda change: students.index(change.student))


def recompute(
    session: Session, rule: LateRule, lesson: GradebookLesson, students: Collection[str] | None = None
) -> list[PenaltyChange]:
    """Compute anew what is taken off all, or some, by the due date, the rule and the points of today."""
    of_lesson = SubmittedAssignment.assignment_id == lesson.assignment_id
    of_notebook = (SubmittedNotebook.assignment_id == SubmittedAssignment.id) & (
        SubmittedNotebook.notebook_id.in_(lesson.notebooks.values())
    )
    query = select(SubmittedAssignment, SubmittedNotebook).join(SubmittedNotebook, of_notebook).where(of_lesson)
    if students is not None:
        query = query.where(SubmittedAssignment.student_id.in_(students))
    changes = []
    for submission, notebook in session.execute(query.order_by(SubmittedAssignment.student_id)).all():
        student, due, before = submission.student_id, lesson.due(submission.extension), notebook.late_submission_penalty
        score = session.scalar(select(func.sum(Grade.score)).where(grades_of(lesson, notebook))) or 0.0
        after = notebook.late_submission_penalty = rule.taken_off(student, due, submission.timestamp, score)
        if (before or 0.0) != (after or 0.0):
            changes.append(PenaltyChange(student, before or 0.0, after or 0.0))
    return changes


def grades_of(lesson: GradebookLesson, *notebooks: SubmittedNotebook) -> ColumnElement[bool]:
    """Select the grades of notebooks of a submission; nbgrader's only index on them begins with the cell."""
    ids = [notebook.id for notebook in notebooks]
    selected: ColumnElement[bool] = Grade.cell_id.in_(lesson.checks.values()) & Grade.notebook_id.in_(ids)
    return selected
