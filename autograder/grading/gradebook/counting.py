"""Which of a student's hand-ins counts, where several are kept: the last, the last in time, or the best.

The others keep their results in a table of our own, so that none of them is graded twice.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.orm import Session
from traitlets.config import Config

from autograder.course.config import choice
from autograder.course.paths import Course
from autograder.grading.gradebook.database import OTHERS, own_rows, result_in
from autograder.grading.gradebook.late import LateRule, lateness
from autograder.grading.results import Result


class Rule(StrEnum):
    """Which hand-in counts."""

    LAST = "last"
    LAST_IN_TIME = "last_in_time"
    BEST = "best"


class Attempt(NamedTuple):
    """A hand-in, as far as it matters for what counts; its points are those left when it is late."""

    points: float
    in_time: bool


class HandIn(NamedTuple):
    """A hand-in that was graded."""

    digest: str  # of what was graded
    submitted: datetime | None  # when it was handed in, in UTC; None where nobody knows
    result: Result


def rule_of(config: Config) -> Rule:
    """Read the rule of a course, without one that the last hand-in counts; CourseError where there is no such rule."""
    return choice(config, "counts", Rule.LAST)


def which_counts(rule: Rule, attempts: Sequence[Attempt]) -> int:
    """Return the place of the hand-in that counts among some, the oldest first; of equally good ones the first."""
    last = len(attempts) - 1
    if rule is Rule.BEST:
        return max(range(len(attempts)), key=lambda place: attempts[place].points)
    if rule is Rule.LAST_IN_TIME:
        return max((place for place, attempt in enumerate(attempts) if attempt.in_time), default=last)
    return last


def hand_ins(course: Course, student: str, lesson: str) -> list[Path]:
    """Return the folders of the hand-ins that may count, the oldest first."""
    kept = kept_hand_ins(course, student, lesson)
    return kept[-1:] if rule_of(course.config) is Rule.LAST else kept


def kept_hand_ins(course: Course, student: str, lesson: str) -> list[Path]:
    """Return the folders of all hand-ins that are kept, the oldest first."""
    earlier = (path for path in course.replaced(student, lesson).glob("*") if path.name.isdecimal())
    return [*sorted(earlier, key=lambda path: int(path.name)), course.submitted(student, lesson)]


def hand_in_of(digest: str) -> str:
    """Return the part of a digest that tells hand-ins apart."""
    return digest.rpartition("-")[2]


def are_rivals(standing: str, new: str, hand_ins: Collection[str]) -> bool:
    """Whether two digests are of two hand-ins that may both count; what is no longer kept, or is the same, may not."""
    pair = {hand_in_of(standing), hand_in_of(new)}
    return len(pair) == 2 and pair <= {*hand_ins}


def is_chosen(digest: str, hand_ins: Sequence[str], others: Collection[str]) -> bool:
    """Whether a hand-in that comes to count was there before: by the rule, and not for being new.

    `hand_ins` are the student's that may count, as `hand_in_of` names them, the oldest first; `others` those that were
    graded and did not count.
    """
    return hand_in_of(digest) in {*hand_ins[:-1], *others}


@dataclass(frozen=True)
class Contest:
    """What decides which of a student's hand-ins for a lesson counts."""

    rule: Rule
    late: LateRule
    student: str
    due: datetime | None  # for this student, in UTC; None where no date is set
    by_hand: Mapping[str, float]  # check → points that somebody gave; they stay, whichever counts
    extra: float  # the extra credit, which stays as well

    def counting(self, hand_ins: Sequence[HandIn]) -> HandIn:
        """Return the one that counts of these, the oldest first."""
        return hand_ins[which_counts(self.rule, [self._attempt(one) for one in hand_ins])]

    def is_won_by(
        self, new: HandIn, standing: Mapping[str, Any], submitted: datetime | None, hand_ins: Sequence[str]
    ) -> bool:
        """Whether a hand-in counts, rather than the one whose points the gradebook has, a row of our table."""
        if (result := result_in(standing["result"])) is None:
            return True
        old = HandIn(standing["digest"], submitted, result)
        return self.counting(sorted((old, new), key=lambda one: hand_ins.index(hand_in_of(one.digest)))) is new

    def _attempt(self, one: HandIn) -> Attempt:
        score = sum({**one.result.earned, **self.by_hand}.values()) + self.extra
        penalty = self.late.taken_off(self.student, self.due, one.submitted, score) or 0.0
        return Attempt(max(0.0, score - penalty), lateness(self.due, one.submitted) <= timedelta())


def read_others(connection: Connection) -> Iterator[tuple[str, HandIn]]:
    """Yield the hand-ins that do not count, the oldest record first, each with the id of its submission."""
    for row in own_rows(connection, OTHERS, select(OTHERS).order_by(OTHERS.c.recorded)):
        if result := result_in(row.result):
            yield row.submission_id, HandIn(row.digest, row.submitted, result)


def set_aside(session: Session, row: Mapping[str, Any], submitted: datetime | None) -> None:
    """Keep a result that does not count, given as a row of the table of those that do."""
    columns = {column.name: row[column.name] for column in OTHERS.c if column.name in row}
    session.execute(insert(OTHERS).values(columns | {"submitted": submitted}))


def forget_others(session: Session, submission: str, *, but: Collection[str]) -> None:
    """Remove what is kept of the hand-ins of a submission, except these."""
    rows = session.execute(select(OTHERS.c.digest).where(OTHERS.c.submission_id == submission)).all()
    gone = [row.digest for row in rows if hand_in_of(row.digest) not in but]
    session.execute(delete(OTHERS).where(OTHERS.c.submission_id == submission, OTHERS.c.digest.in_(gone)))


def row_of(new: HandIn, submission: str, now: datetime) -> dict[str, Any]:
    """Make a row of our own tables."""
    return {
        "lesson": new.result.lesson,
        "student": new.result.student,
        "submission_id": submission,
        "digest": new.digest,
        "recorded": now,
        "result": json.dumps(new.result.to_json()),
    }
