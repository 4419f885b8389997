"""What a class has understood and what not, counted: exercises, checks, and the mistakes that answers prove."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import NamedTuple

from autograder.course.names import counted
from autograder.grading.gradebook.reader import GradedSubmission
from autograder.grading.results import Outcome, Status
from autograder.report.forgotten import Forgotten
from autograder.report.outline import CheckOutline, ExerciseOutline, LessonOutline
from autograder.report.predictions import PredictionCount, count_predictions

State = Status | None  # None: points are missing, and the program that took them kept no reason
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
BINS = 10
NO_REASON = "It gave no reason."  # of a check whose verdict an earlier version did not record


class Failure(NamedTuple):
    """A check that a student's answer failed."""

    student: str
    outcome: Outcome


class NoteCount(NamedTuple):
    """A note, and in whose notebooks it stands."""

    text: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class MistakeCount:
    """Several students' same mistake in one exercise."""

    text: str  # the mistake as a phrase where it is proved, else the verdict, with `…` where the numbers differ
    named: bool  # it is proved, or the message says what to do; otherwise it says only what is wrong
    students: tuple[str, ...]  # who made it, sorted
    example: str  # a whole message, the one that most of them read

    @property
    def count(self) -> int:
        """How many made it."""
        return len(self.students)


@dataclass(frozen=True)
class CheckCount:
    """How one check went.

    Attributes:
        passed, failed: how many of those who tried.
        rules: the rules that were broken and how often, the one most often broken first.
    """

    check: CheckOutline
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
    """How one exercise went."""

    exercise: ExerciseOutline
    students: Mapping[State, tuple[str, ...]]  # state → who, sorted
    mean: float | None  # points on average, of those who handed in what could be graded; None where nobody did
    seconds: float | None  # half of the tries took their checks no longer; None where that is not known
    longest: float | None  # what the slowest try took
    checks: tuple[CheckCount, ...]
    mistakes: tuple[MistakeCount, ...]  # the most frequent first

    def count(self, state: State) -> int:
        """How many are in a state."""
        return len(self.students[state])

    @property
    def tried(self) -> int:
        """How many wrote an answer that was judged."""
        return self.count(Status.PASSED) + self.count(Status.FAILED)

    @property
    def without_verdict(self) -> int:
        """How many answers nobody judged, or judged without keeping the reason."""
        return sum(map(self.count, (Status.NOT_GRADABLE, Status.BROKEN, None)))


@dataclass(frozen=True)
class Spread:
    """How scores lie."""

    bins: tuple[int, ...]  # how many have 0–10 %, 10–20 %, … 90–100 % of the points, each bin with its lower end
    mean: float
    median: float
    maximum: float

    @property
    def words(self) -> str:
        """The bins as text."""
        size = 100 // BINS
        filled = [(place * size, count) for place, count in enumerate(self.bins) if count]
        parts = (f"{counted(n, 'student')} with {low} to {low + size} % of the points" for low, n in filled)
        return "; ".join(parts) + "."

    @classmethod
    def of(cls, scores: Sequence[float], maximum: float) -> Spread | None:
        """Count scores; None where there are none."""
        if not scores or not maximum:
            return None
        counts = Counter(max(0, min(BINS - 1, int(BINS * score / maximum + 1e-9))) for score in scores)
        bins = tuple(counts[place] for place in range(BINS))
        return cls(bins, sum(scores) / len(scores), median(scores), maximum)


@dataclass(frozen=True)
class LessonCount:
    """How one lesson went."""

    outline: LessonOutline
    graded: tuple[str, ...]  # who handed in what could be graded, sorted
    ungradable: tuple[tuple[str, str], ...]  # who handed in something else, with the reason
    waiting: tuple[str, ...]  # who handed in what is not graded yet
    nothing: tuple[str, ...]  # who handed in nothing, and has no time left
    has_time: tuple[str, ...]  # who handed in nothing, and still has time
    foreign: int  # how many another program graded, which kept points alone
    older: int  # how many were graded with other checks than the gradebook has now
    unenforced: int  # how many were graded without the whole sandbox
    broken: tuple[str, ...]  # the checks that are wrong themselves
    notes: tuple[NoteCount, ...]  # what was mended or odd, the most frequent first
    exercises: tuple[ExerciseCount, ...]
    predictions: tuple[PredictionCount, ...]
    forgotten: Forgotten


def count_lesson(
    outline: LessonOutline,
    students: Collection[str],
    submissions: Sequence[GradedSubmission],
    waiting: Collection[str],
    has_time: Collection[str],
    forgotten: Forgotten,
) -> LessonCount:
    """Count one lesson.

    Args:
        students: the whole class.
        submissions: what the gradebook has of this lesson.
        waiting: who handed it in without being graded yet.
        has_time: who handed in nothing, and whose time is not over.
        forgotten: what the hand-ins say of earlier lessons.
    """
    came = {submission.student for submission in submissions}.union(waiting)
    by_student = sorted(submissions, key=lambda submission: submission.student)
    gradable = [submission for submission in by_student if not _reason(submission)]
    results = [submission.result for submission in gradable if submission.result]
    current = {check.id for exercise in outline.exercises for check in exercise.checks}
    return LessonCount(
        outline,
        graded=tuple(submission.student for submission in gradable),
        ungradable=tuple((one.student, reason) for one in by_student if (reason := _reason(one))),
        waiting=tuple(sorted(waiting)),
        nothing=tuple(sorted(set(students) - came - set(has_time))),
        has_time=tuple(sorted(has_time)),
        foreign=sum(submission.result is None for submission in submissions),
        older=sum({outcome.check for outcome in result.checks} != current for result in results),
        unenforced=sum(bool(result.unenforced) for result in results),
        broken=tuple(sorted({outcome.check for result in results for outcome in result.broken})),
        notes=_count_notes(by_student),
        exercises=tuple(_count_exercise(exercise, gradable) for exercise in outline.exercises),
        predictions=count_predictions(outline.questions, results),
        forgotten=forgotten,
    )


def _reason(submission: GradedSubmission) -> str:
    """Why it could not be graded; "" where it could."""
    return submission.result.reason if submission.result else ""


def _count_notes(submissions: Sequence[GradedSubmission]) -> tuple[NoteCount, ...]:
    students: dict[str, list[str]] = {}
    for submission in submissions:
        for note in submission.result.notes if submission.result else ():
            students.setdefault(note.text, []).append(submission.student)
    counts = (NoteCount(text, tuple(names)) for text, names in students.items())
    return tuple(sorted(counts, key=lambda note: -len(note.students)))


def states_of(submission: GradedSubmission, exercise: ExerciseOutline) -> dict[str, State]:
    """The state of each check of an exercise in a submission."""
    if _reason(submission):
        return {check.id: Status.NOT_GRADABLE for check in exercise.checks}
    if submission.result is None:
        return {
            check.id: Status.PASSED if submission.scores.get(check.id, 0.0) >= check.points else None
            for check in exercise.checks
        }
    outcomes = submission.outcomes
    return {check.id: outcomes[check.id].status if check.id in outcomes else None for check in exercise.checks}


def state_of(states: Iterable[State]) -> State:
    """The state of an exercise, from those of its checks."""
    present = set(states)
    for state in (Status.FAILED, Status.NOT_GRADABLE, Status.BROKEN, None):
        if state in present:
            return state
    return present.pop() if len(present) == 1 else Status.FAILED


def _count_exercise(exercise: ExerciseOutline, submissions: Sequence[GradedSubmission]) -> ExerciseCount:
    students: dict[State, list[str]] = {state: [] for state in (*Status, None)}
    failures: list[Failure] = []
    durations, points, all_states = [], [], []
    for submission in submissions:
        states = states_of(submission, exercise)
        all_states.append(states)
        students[state_of(states.values())].append(submission.student)
        points.append(sum(submission.scores.get(check, 0.0) for check in states))
        mine = [submission.outcomes[check] for check in states if check in submission.outcomes]
        failures += [Failure(submission.student, outcome) for outcome in mine if outcome.status is Status.FAILED]
        tries = [outcome.seconds for outcome in mine if outcome.status in (Status.PASSED, Status.FAILED)]
        if tries and isfinite(sum(tries)):
            durations.append(sum(tries))
    checks = []
    for check in exercise.checks:
        states_here = Counter(states[check.id] for states in all_states)
        rules = Counter(one.outcome.rule for one in failures if one.outcome.check == check.id and one.outcome.rule)
        passed, failed = states_here[Status.PASSED], states_here[Status.FAILED]
        checks.append(CheckCount(check, passed, failed, tuple(rules.most_common())))
    return ExerciseCount(
        exercise,
        students={state: tuple(names) for state, names in students.items()},
        mean=sum(points) / len(points) if points else None,
        seconds=median(durations) if durations else None,
        longest=max(durations, default=None),
        checks=tuple(checks),
        mistakes=count_mistakes(failures),
    )


def count_mistakes(failures: Iterable[Failure]) -> tuple[MistakeCount, ...]:
    """Put the same mistakes together: by the mistake where one is proved, else by the verdict without its numbers."""
    groups: dict[tuple[str, bool], list[Failure]] = {}
    for failure in failures:
        mistake = failure.outcome.mistake
        groups.setdefault((mistake or without_numbers(failure.outcome.verdict), bool(mistake)), []).append(failure)
    counts = (_mistake(text, group, is_proved=is_proved) for (text, is_proved), group in groups.items())
    return tuple(sorted(counts, key=lambda mistake: (-mistake.count, not mistake.named, mistake.text)))


def without_numbers(verdict: str) -> str:
    """A verdict with `…` for its numbers, except in code, where they belong to the check's own expression."""
    parts = verdict.split("`")
    return "`".join(NUMBER.sub("…", part) if i % 2 == 0 else part for i, part in enumerate(parts))


def _mistake(text: str, failures: Sequence[Failure], *, is_proved: bool) -> MistakeCount:
    messages = Counter(failure.outcome.message for failure in failures)
    students = tuple(sorted({failure.student for failure in failures}))
    verdicts = {failure.outcome.verdict for failure in failures}
    if len(verdicts) == 1 and not is_proved:
        (text,) = verdicts
    named = is_proved or any(failure.outcome.slip for failure in failures)
    return MistakeCount(text or NO_REASON, named, students, messages.most_common(1)[0][0])
