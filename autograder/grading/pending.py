"""What `autograder grade` would grade, or grade again, and which points are out of date until it does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder import files
from autograder.course.config import CourseError
from autograder.course.dates import recorded_time
from autograder.course.paths import Course, handed_in
from autograder.grading.gradebook.counting import Contest, HandIn, hand_in_of, hand_ins, kept_hand_ins, rule_of
from autograder.grading.gradebook.history import Reason, reasons_of
from autograder.grading.gradebook.late import LateRule, LateRuleError
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student, label_of, read_gradebook
from autograder.grading.jobs import Job, prepared, read_job
from autograder.grading.results import Limits
from autograder.grading.submission.requests import same_but_requests

NAMED = 10  # students in a line
ALIKE = 1e-9  # points that may differ by how they were added up
NOT_GRADED = "not graded yet"
STATES = {
    Reason.BROKE_OFF: "grading broke off",
    Reason.COUNTS: "another hand-in may count now",
    Reason.PENALTY: "another penalty for being late now",
}
CHANGES = {
    Reason.ENGINE: "the autograder changed",
    Reason.LESSON: "the lesson changed",
    Reason.SUBMISSION: "it was handed in again",
}


@dataclass(frozen=True)
class Pending:
    """A hand-in that is to be graded, or graded again."""

    student: str
    lesson: str
    was_graded: bool = False  # it has points, or the reason why not
    reasons: tuple[Reason, ...] = ()  # why again; none where another program than ours graded it

    @property
    def is_outdated(self) -> bool:
        """Whether its points may become others, or are not there yet."""
        return not self.was_graded or not {*CHANGES, *STATES}.isdisjoint(self.reasons)

    @property
    def why(self) -> str:
        """What is out of date, in a few words."""
        if not self.was_graded:
            return NOT_GRADED
        before = f"graded before {' and '.join(CHANGES[reason] for reason in self.reasons if reason in CHANGES)}"
        return next((STATES[reason] for reason in self.reasons if reason in STATES), before)


def pending_in(book: GradebookSnapshot, lesson: str, late: LateRule, students: str = "*") -> list[Pending]:
    """Find what is to be graded of a lesson, by student; again, only in one that solutions/ still has.

    By today's rule for late hand-ins, of students whose ids fit a pattern; CourseError where the lesson cannot be read.
    """
    course, submitted = book.course, book.course.students(lesson, students)
    found = [Pending(student, lesson) for student in submitted if (student, lesson) not in book.graded]
    again, path = [student for student in submitted if (student, lesson) in book.graded], course.source(lesson)
    if again and path.exists():
        try:
            source = prepared(path, course.config)
        except CourseError as error:
            raise CourseError(f"{path}: {error}") from None
        for student in again:
            reasons = _why_again(book, book.graded[student, lesson], source, late)
            found += [Pending(student, lesson, was_graded=True, reasons=reasons)] if reasons is not None else []
    return sorted(found, key=lambda pending: pending.student)


def _why_again(
    book: GradebookSnapshot, graded: GradedSubmission, source: bytes, late: LateRule
) -> tuple[Reason, ...] | None:
    """Why a submission would be graded again, or its penalty be another one; None where all stays."""
    student, lesson = graded.student, graded.lesson
    due = book.due(student, lesson)
    penalty = late.taken_off(student, due, graded.submitted, graded.raw_score) or 0.0
    stays = None if abs(penalty - graded.penalty) < ALIKE else (Reason.PENALTY,)
    if graded.result is None:
        is_newer = _is_later(handed_in(book.course.submitted(student, lesson)), graded)
        return (Reason.SUBMISSION,) if is_newer else stays or ()
    found = list(digests(book.course, student, lesson, source, Limits()))
    own = next((one for one in found if hand_in_of(one) == hand_in_of(graded.digest)), found[-1])
    broke_off = graded.result.retryable
    is_there = _digest(book.course, student, lesson) == graded.notebook_sha256
    if own != graded.digest or broke_off or not is_there:
        chosen = hand_in_of(own) in graded.set_aside
        return reasons_of(graded.digest, own, broke_off=broke_off, forced=False, chosen=chosen)
    standing = HandIn(graded.digest, graded.submitted, graded.result)
    known = {one.digest: one for one in (*graded.others, standing) if not one.result.retryable}
    if unknown := [one for one in found if one not in known]:
        return (Reason.SUBMISSION if found[-1] in unknown else Reason.COUNTS,)
    by_hand = {check: graded.scores[check] - graded.extra.get(check, 0.0) for check in graded.by_hand}
    contest = Contest(rule_of(book.course.config), late, student, due, by_hand, sum(graded.extra.values()))
    return stays if contest.counting([known[one] for one in found]) is standing else (Reason.COUNTS,)


def digests(course: Course, student: str, lesson: str, source: bytes, limits: Limits) -> dict[str, Path]:
    """Return digest → folder of the hand-ins that may count, the oldest first; one that came twice is the newer."""
    found: dict[str, Path] = {}
    for folder in hand_ins(course, student, lesson):
        digest = read_hand_in(course, folder, student, lesson, source, limits).digest
        found.pop(digest, None)
        found[digest] = folder
    return found


def read_hand_in(course: Course, folder: Path, student: str, lesson: str, source: bytes, limits: Limits) -> Job:
    """Read one of a student's hand-ins; one that differs from that before it in requests alone came when that did."""
    job = first = read_job(folder, student, lesson, source, limits, handed_in(folder))
    kept = kept_hand_ins(course, student, lesson)
    for path in reversed(kept[: kept.index(folder)]):
        earlier = read_job(path, student, lesson, source, limits, handed_in(path))
        if earlier.other_files != first.other_files or not same_but_requests(first.submitted, earlier.submitted):
            break
        first = earlier
    return replace(job, handed_in=first.handed_in)


def _is_later(when: str, graded: GradedSubmission) -> bool:
    """Whether something was handed in after what another program graded."""
    try:
        return bool(when and graded.submitted and recorded_time(when) > graded.submitted)
    except ValueError:
        return False


def _digest(course: Course, student: str, lesson: str) -> str:
    try:
        return files.digest_of(course.graded_notebooks(student, lesson))
    except OSError:
        return ""


def outdated(book: GradebookSnapshot, lessons: Iterable[str], students: str = "*") -> dict[tuple[str, str], Pending]:
    """Find what is out of date of these lessons, by (student, lesson), for students whose ids fit a pattern.

    A lesson that cannot be read any more was changed since anybody was graded in it.
    """
    found, late = list[Pending](), LateRule(book.course.config)
    for lesson in lessons:
        try:
            found += pending_in(book, lesson, late, students)
        except LateRuleError:
            raise
        except (CourseError, OSError):
            found += [
                Pending(student, lesson, (student, lesson) in book.graded, (Reason.LESSON,))
                for student in book.course.students(lesson, students)
            ]
    return {(one.student, one.lesson): one for one in found if one.is_outdated}


def told_of_other_checks(root: Path) -> list[str]:
    """Say whose grades came from other checks than the lessons of a course have now; nothing where nobody's did."""
    book = read_gradebook(root)
    found = [one for one in outdated(book, book.lessons).values() if Reason.LESSON in one.reasons]
    names = dict.fromkeys(one.lesson for one in found)
    come = "hand-in was graded" if len(found) == 1 else "hand-ins were graded"
    lines = f"{len(found)} {come} with another version of the lesson: run `autograder grade {' '.join(names)}`."
    return [lines] if found else []


def grouped(found: Iterable[Pending]) -> dict[str, dict[str, list[str]]]:
    """Sort students by lesson, and by what is out of date."""
    groups: dict[str, dict[str, list[str]]] = {}
    for one in found:
        groups.setdefault(one.lesson, {}).setdefault(one.why, []).append(one.student)
    return groups


def told(found: Iterable[Pending], students: Mapping[str, Student]) -> list[str]:
    """Say what is out of date: a line for each lesson and reason."""
    return [
        f"{lesson}, {why}: {name_some(who, students)}."
        for lesson, reasons in grouped(found).items()
        for why, who in reasons.items()
    ]


def name_some(who: Sequence[str], students: Mapping[str, Student]) -> str:
    """Name students in a line, the first of many."""
    names = ", ".join(label_of(student, students) for student in who[:NAMED])
    return names + (f" and {len(who) - NAMED} more" if len(who) > NAMED else "")
