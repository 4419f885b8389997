"""What the hand-ins of a class say over the weeks: who stopped, when work came, and which checks tell who is strong."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from autograder.grading.gradebook.reader import GradedSubmission
from autograder.grading.results import Status
from autograder.report.counts import states_of
from autograder.report.outline import ExerciseOutline, LessonOutline

FEWEST = 30  # who tried a check, before thirds of them are compared
DAY = timedelta(days=1)
LAST_HOURS = timedelta(hours=6)
EARLY, LATE = 7, 3  # days before and after the due date that have a column of their own; the outer ones hold the rest


@dataclass(frozen=True)
class LessonTurnout:
    """Who is still there in one lesson; students by their ids, sorted."""

    outline: LessonOutline
    expected: int  # how many handed it in, or have no time left for it
    handed_in: tuple[str, ...]
    skipped: tuple[str, ...]  # who handed in an earlier lesson and a later one, and not this one
    stopped: tuple[str, ...]  # who handed in an earlier lesson, and nothing from this one on

    @property
    def absent(self) -> int:
        """How many more did not hand it in: they had stopped before, or begin later, or never."""
        return self.expected - len(self.handed_in) - len(self.skipped) - len(self.stopped)


def count_turnout(
    lessons: Sequence[LessonOutline],
    students: Iterable[str],
    handed_in: Collection[tuple[str, str]],
    has_time: Collection[tuple[str, str]],
) -> tuple[LessonTurnout, ...]:
    """Follow a class from lesson to lesson.

    Args:
        lessons: in the course's order.
        handed_in: (student, lesson).
        has_time: (student, lesson) of what is not handed in and not due yet, of which nothing is said.
    """
    expected: Counter[str] = Counter()
    came, skipped, stopped = (defaultdict[str, list[str]](list) for _ in range(3))
    for student in sorted(students):
        mine = [one.name for one in lessons if (student, one.name) not in has_time]
        expected.update(mine)
        done = [place for place, name in enumerate(mine) if (student, name) in handed_in]
        if not done:
            continue
        first, last = done[0], done[-1]
        for place in range(first, last + 1):
            (came if place in done else skipped)[mine[place]].append(student)
        if last + 1 < len(mine):
            stopped[mine[last + 1]].append(student)
    return tuple(
        LessonTurnout(one, expected[one.name], *(tuple(group[one.name]) for group in (came, skipped, stopped)))
        for one in lessons
    )


class Column(NamedTuple):
    """A column of a histogram: what it counts, and whether that is late."""

    words: str
    students: int
    is_late: bool


@dataclass(frozen=True)
class HandInTimes:
    """When a lesson was handed in, by its due date, and for those who were given more time by theirs."""

    outline: LessonOutline
    columns: tuple[Column, ...]  # how many on each day, from the earliest to the latest
    last_hours: int  # how many in the last LAST_HOURS, and in time
    late: tuple[str, ...]  # who was late, sorted
    unknown: int  # of how many nobody knows when

    @property
    def words(self) -> str:
        """The columns as text."""
        return "; ".join(f"{column.words}: {column.students}" for column in self.columns if column.students) + "."


def count_hand_in_times(
    outline: LessonOutline, submissions: Iterable[GradedSubmission], due: Mapping[str, datetime]
) -> HandInTimes | None:
    """Count when a lesson was handed in; None where no time is known.

    Args:
        due: student → when it was due for them.
    """
    days: Counter[int] = Counter()
    last_hours, late, unknown = 0, list[str](), 0
    for submission in submissions:
        if submission.submitted is None or submission.student not in due:
            unknown += 1
            continue
        left = due[submission.student] - submission.submitted
        day = left // DAY  # 0 is the last day, −1 the first day late
        days[max(-LATE, min(EARLY, day))] += 1
        if left < timedelta():
            late.append(submission.student)
        elif left <= LAST_HOURS:
            last_hours += 1
    if not days:
        return None
    columns = tuple(_column(day, days[day]) for day in range(EARLY, -LATE - 1, -1))
    return HandInTimes(outline, columns, last_hours, tuple(sorted(late)), unknown)


def _column(day: int, students: int) -> Column:
    words = {EARLY: f"{EARLY} days before or more", 1: "1 day before", 0: "on the last day", -1: "up to a day late"}
    words[-LATE] = f"{LATE} days late or more"
    usual = f"{day} days before" if day > 0 else f"{-day} days late"
    return Column(words.get(day, usual), students, day < 0)


class Thirds(NamedTuple):
    """Which part of the strongest and of the weakest third passed a check, of those who tried it; both from 0 to 1.

    Who is strong is told by the points in all other exercises that they handed in.
    """

    strongest: float
    weakest: float
    tried: int

    @property
    def difference(self) -> float:
        """How far the check tells one from the other; below 0 where the weaker passed it more often."""
        return self.strongest - self.weakest

    @property
    def error(self) -> float:
        """The standard error of the difference, if nothing but chance brings it about."""
        share = (self.strongest + self.weakest) / 2
        return sqrt(2 * share * (1 - share) / (self.tried / 3))

    @property
    def is_odd(self) -> bool:
        """The weaker passed it more often, by more than chance explains among so many checks: three standard errors."""
        return -self.difference > 3 * self.error

    @property
    def tells(self) -> bool:
        """The difference is more than chance: two standard errors, or `is_odd`, where it is the wrong way round."""
        return self.is_odd or self.difference > 2 * self.error


def count_thirds(
    lessons: Sequence[LessonOutline], submissions: Iterable[GradedSubmission]
) -> dict[tuple[str, str], Thirds]:
    """Compare the strongest third with the weakest: (lesson, check) → what they passed.

    Nothing is said where fewer than FEWEST tried, where all passed or all failed, where nobody is stronger, or where
    chance explains the difference.
    """
    of_lesson: dict[str, list[GradedSubmission]] = {outline.name: [] for outline in lessons}
    points = {outline.name: sum(exercise.points for exercise in outline.exercises) for outline in lessons}
    earned, possible = defaultdict[str, float](float), defaultdict[str, float](float)
    for submission in submissions:
        if submission.lesson in of_lesson and not (submission.result and submission.result.reason):
            of_lesson[submission.lesson].append(submission)
            earned[submission.student] += submission.raw_score
            possible[submission.student] += points[submission.lesson]
    return {
        (outline.name, check): thirds
        for outline in lessons
        for exercise in outline.exercises
        for check, tries in _tries(exercise, of_lesson[outline.name], earned, possible).items()
        if (thirds := _thirds(tries))
    }


class _Try(NamedTuple):
    """A student's strength, as a share of the points elsewhere, and whether they passed the check."""

    strength: float
    passed: bool


def _tries(
    exercise: ExerciseOutline,
    submissions: Iterable[GradedSubmission],
    earned: Mapping[str, float],
    possible: Mapping[str, float],
) -> dict[str, list[_Try]]:
    """Who tried each check of an exercise."""
    tries: dict[str, list[_Try]] = {check.id: [] for check in exercise.checks}
    for submission in submissions:
        elsewhere = possible[submission.student] - exercise.points
        if elsewhere <= 0:
            continue
        here = sum(submission.scores.get(check, 0.0) for check in tries)
        strength = round((earned[submission.student] - here) / elsewhere, 9)  # equals stay equal
        for check, state in states_of(submission, exercise).items():
            if state in (Status.PASSED, Status.FAILED):
                tries[check].append(_Try(strength, state is Status.PASSED))
    return tries


def _thirds(tries: Sequence[_Try]) -> Thirds | None:
    if len(tries) < FEWEST or len({one.passed for one in tries}) < 2 or len({one.strength for one in tries}) < 2:
        return None
    weakest_first = sorted(tries)
    thirds = Thirds(_share_passed(weakest_first[::-1]), _share_passed(weakest_first), len(tries))
    return thirds if thirds.tells else None


def _share_passed(ordered: Sequence[_Try]) -> float:
    """Which part of the first third passed; where its border cuts through equals, all of them count in part."""
    size, taken, passed = len(ordered) / 3, 0.0, 0.0
    for _, group in groupby(ordered, key=lambda one: one.strength):
        equals = [one.passed for one in group]
        part = min(1.0, (size - taken) / len(equals))
        taken, passed = taken + part * len(equals), passed + part * sum(equals)
        if part < 1:
            break
    return passed / size
