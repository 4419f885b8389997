"""What a class has understood and what not, counted: exercises, checks, and the mistakes that answers prove."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import median

from autograder.grading.gradebook.reader import GradedSubmission
from autograder.grading.results import Outcome
from autograder.report.outline import Check, Exercise, Outline

PASSED, FAILED, NOT_TRIED, NOT_GRADABLE = "passed", "failed", "not attempted", "not gradable"
UNKNOWN = "unknown"  # points are missing, and the program that took them kept no reason
STATES = (PASSED, FAILED, NOT_TRIED, NOT_GRADABLE, UNKNOWN)
PROVED = re.compile(r"(?:These are the values|This is the shape) you get when (?P<slip>.+?)\.?", re.DOTALL)
NAMELESS = re.compile(r"has the wrong (values|shape|dtype)|raised |raises the wrong error|gave no reason")
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
BINS = 10
Group = list[tuple[str, Outcome]]  # who, and what they were told


@dataclass(frozen=True)
class Mistake:
    """Several students' same mistake in one exercise.

    Attributes:
        text: the slip, or the verdict with `…` where the numbers differ.
        named: it says what was done wrong, and not only that something is.
        students: who made it, sorted.
        example: a whole message, one that most of them were told.
        checks: those that said so.
    """

    text: str
    named: bool
    students: tuple[str, ...]
    example: str
    checks: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many made it."""
        return len(self.students)


@dataclass(frozen=True)
class CheckCount:
    """How one check went.

    Attributes:
        passed, failed: how many of those who tried.
        rules: the rules that were broken, the one most often broken first, with how often.
    """

    check: Check
    passed: int
    failed: int
    rules: tuple[tuple[str, int], ...]

    @property
    def tried(self) -> int:
        """How many answers it could judge."""
        return self.passed + self.failed

    @property
    def share_failed(self) -> float:
        """Of those who tried."""
        return self.failed / self.tried if self.tried else 0.0


@dataclass(frozen=True)
class ExerciseCount:
    """How one exercise went.

    Attributes:
        students: state → who, sorted.
        mean: points on average, of those who handed in what could be graded; None where nobody did.
        seconds: half of the tries took their checks no longer; None where that is not known.
        longest: what the slowest try took.
        mistakes: the most frequent first.
    """

    exercise: Exercise
    students: dict[str, tuple[str, ...]]
    mean: float | None
    seconds: float | None
    longest: float | None
    checks: tuple[CheckCount, ...]
    mistakes: tuple[Mistake, ...]

    def count(self, state: str) -> int:
        """How many are in a state."""
        return len(self.students[state])

    @property
    def tried(self) -> int:
        """How many wrote an answer that was judged."""
        return self.count(PASSED) + self.count(FAILED)

    @property
    def all(self) -> int:
        """How many handed in the lesson."""
        return sum(map(len, self.students.values()))


@dataclass(frozen=True)
class Spread:
    """How scores lie.

    Attributes:
        bins: how many have 0–10 %, 10–20 %, … 90–100 % of the points, each bin with its lower end.
    """

    bins: tuple[int, ...]
    mean: float
    median: float
    best: float
    maximum: float

    @property
    def words(self) -> str:
        """The bins as text."""
        size = 100 // BINS
        filled = [(place * size, count) for place, count in enumerate(self.bins) if count]
        told = (f"{n} student{'s' * (n > 1)} with {low} to {low + size} % of the points" for low, n in filled)
        return "; ".join(told) + "."

    @classmethod
    def of(cls, scores: Sequence[float], maximum: float) -> Spread | None:
        """Count scores; None where there are none."""
        if not scores or not maximum:
            return None
        found = Counter(max(0, min(BINS - 1, int(BINS * score / maximum + 1e-9))) for score in scores)
        counted = tuple(found[place] for place in range(BINS))
        return cls(counted, sum(scores) / len(scores), median(scores), max(scores), maximum)


@dataclass(frozen=True)
class LessonCount:
    """How one lesson went.

    Attributes:
        graded: who handed in what could be graded, sorted.
        ungradable: who handed in something else, with the reason.
        waiting: who handed in what is not graded yet.
        nothing: who handed in nothing.
        foreign: how many another program graded, which kept points alone.
        older: how many were graded with other checks than the gradebook has now.
        unenforced: how many were graded without the whole sandbox.
        notes: what was mended or odd, and in whose notebooks; the most frequent first.
    """

    outline: Outline
    graded: tuple[str, ...]
    ungradable: tuple[tuple[str, str], ...]
    waiting: tuple[str, ...]
    nothing: tuple[str, ...]
    foreign: int
    older: int
    unenforced: int
    notes: tuple[tuple[str, tuple[str, ...]], ...]
    spread: Spread | None
    exercises: tuple[ExerciseCount, ...] = field(default_factory=tuple)


def count_lesson(
    outline: Outline, students: Collection[str], graded: Sequence[GradedSubmission], waiting: Collection[str]
) -> LessonCount:
    """Count one lesson.

    Args:
        students: the whole class.
        graded: what the gradebook has of this lesson.
        waiting: who handed it in without being graded yet.
    """
    fine = sorted((each for each in graded if not _reason(each)), key=lambda each: each.student)
    seen = {each.student for each in graded} | set(waiting)
    names = {check.id for exercise in outline.exercises for check in exercise.checks}
    results = [each.result for each in fine if each.result]
    notes: dict[str, list[str]] = {}
    for each in graded:
        for note in each.result.notes if each.result else ():
            notes.setdefault(note.text, []).append(each.student)
    told = {each.student: _told(each) for each in fine}
    return LessonCount(
        outline,
        tuple(each.student for each in fine),
        tuple(sorted((each.student, _reason(each)) for each in graded if _reason(each))),
        tuple(sorted(waiting)),
        tuple(sorted(set(students) - seen)),
        sum(each.result is None for each in graded),
        sum({outcome.check for outcome in result.checks} != names for result in results),
        sum(bool(result.unenforced) for result in results),
        tuple((note, tuple(sorted(who))) for note, who in sorted(notes.items(), key=lambda item: -len(item[1]))),
        Spread.of([each.score for each in fine], outline.points),
        tuple(_count_exercise(exercise, fine, told) for exercise in outline.exercises),
    )


def _reason(each: GradedSubmission) -> str:
    return each.result.reason if each.result else ""


def _told(each: GradedSubmission) -> dict[str, Outcome]:
    """What each check said; where another program graded, what its points say."""
    if each.result:
        return {outcome.check: outcome for outcome in each.result.checks}
    return {}


def states_of(each: GradedSubmission, exercise: Exercise) -> dict[str, str]:
    """The state of each check of an exercise in a submission: one of STATES."""
    if _reason(each):
        return {check.id: NOT_GRADABLE for check in exercise.checks}
    if each.result is None:
        full = {check.id: each.scores.get(check.id, 0.0) >= check.points for check in exercise.checks}
        return {check: PASSED if earned else UNKNOWN for check, earned in full.items()}
    found = {outcome.check: outcome.status for outcome in each.result.checks}
    return {check.id: found.get(check.id, UNKNOWN) for check in exercise.checks}


def state_of(states: Iterable[str]) -> str:
    """The state of an exercise, told from those of its checks."""
    found = set(states)
    for state in (FAILED, NOT_GRADABLE, UNKNOWN):
        if state in found:
            return state
    if found == {PASSED}:
        return PASSED
    return NOT_TRIED if found == {NOT_TRIED} else FAILED


def _count_exercise(
    exercise: Exercise, graded: Sequence[GradedSubmission], told: dict[str, dict[str, Outcome]]
) -> ExerciseCount:
    students: dict[str, list[str]] = {state: [] for state in STATES}
    of_checks: dict[str, Counter[str]] = {check.id: Counter() for check in exercise.checks}
    rules: dict[str, Counter[str]] = {check.id: Counter() for check in exercise.checks}
    failures: Group = []
    taken, points = [], []
    for each in graded:
        states = states_of(each, exercise)
        students[state_of(states.values())].append(each.student)
        points.append(sum(each.scores.get(check, 0.0) for check in states))
        outcomes = [told[each.student][check] for check in states if check in told[each.student]]
        for check, state in states.items():
            of_checks[check][state] += 1
        for outcome in outcomes:
            if outcome.status == FAILED:
                rules[outcome.check][outcome.rule] += 1
                failures.append((each.student, outcome))
        tries = [outcome.seconds for outcome in outcomes if outcome.status in (PASSED, FAILED)]
        if tries and isfinite(sum(tries)):
            taken.append(sum(tries))
    checks = (
        CheckCount(
            check,
            of_checks[check.id][PASSED],
            of_checks[check.id][FAILED],
            tuple((rule, count) for rule, count in rules[check.id].most_common() if rule),
        )
        for check in exercise.checks
    )
    return ExerciseCount(
        exercise,
        {state: tuple(who) for state, who in students.items()},
        sum(points) / len(points) if points else None,
        median(taken) if taken else None,
        max(taken) if taken else None,
        tuple(checks),
        mistakes(failures),
    )


def mistakes(failures: Group) -> tuple[Mistake, ...]:
    """Put the same mistakes together: by the slip where one is proved, else by the verdict without its numbers."""
    groups: dict[tuple[bool, str], Group] = {}
    for student, outcome in failures:
        groups.setdefault(_kind(outcome), []).append((student, outcome))
    found = [_mistake(text, proved, group) for (proved, text), group in groups.items()]
    return tuple(sorted(found, key=lambda each: (-each.count, not each.named, each.text)))


def _kind(outcome: Outcome) -> tuple[bool, str]:
    if proved := PROVED.fullmatch(outcome.slip):
        return True, proved["slip"]
    return False, without_numbers(outcome.verdict or "It gave no reason.")  # as a version without verdicts recorded


def without_numbers(verdict: str) -> str:
    """A verdict with `…` for its numbers, except in code, where they belong to the check's own expression."""
    parts = verdict.split("`")
    return "`".join(NUMBER.sub("…", part) if i % 2 == 0 else part for i, part in enumerate(parts))


def _mistake(text: str, proved: bool, group: Group) -> Mistake:
    told = Counter(outcome.message for _, outcome in group)
    verdicts = {outcome.verdict for _, outcome in group}
    if not proved and len(verdicts) == 1:
        text = verdicts.pop() or text
    students = tuple(sorted({student for student, _ in group}))
    checks = tuple(dict.fromkeys(outcome.check for _, outcome in group))
    return Mistake(text, proved or not NAMELESS.search(text), students, told.most_common(1)[0][0], checks)
