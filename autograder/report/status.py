"""`autograder status`: for each lesson who handed in, who is graded, and what waits for whom."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.course.names import printable
from autograder.grading.gradebook.late import LateRule
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, Student, label_of, read_gradebook
from autograder.grading.gradebook.requests import Request
from autograder.grading.pending import NAMED, name_some, pending_in

DONE = "✓ All that was handed in is graded."
GRADE = "{} to be graded: run `autograder grade`."


@dataclass(frozen=True)
class LessonStatus:
    """Where a lesson stands; students by their ids, sorted. Its fields are those of `--json`."""

    lesson: str
    due: str | None  # in UTC, "2026-10-12T21:59:00+00:00"; None where no date is set
    handed_in: tuple[str, ...]
    graded: tuple[str, ...]  # those who have points, or the reason why not
    to_review: tuple[str, ...]  # whom somebody is to look at before the points are final
    not_gradable: tuple[str, ...]  # whose hand-in could not be graded
    # who is graded, and whom the next `autograder grade` grades again: the hand-in that counts, the lesson, the penalty
    # or the graded notebook is another one since, or grading broke off
    changed: tuple[str, ...]
    requests: tuple[Request, ...] = ()  # what students ask to be looked at again, the oldest first; answered ones too
    broken_checks: tuple[str, ...] = ()  # those that are wrong themselves, whatever the answer

    @property
    def waiting(self) -> tuple[str, ...]:
        """Who is not graded yet."""
        return tuple(sorted(set(self.handed_in) - set(self.graded)))


def status(root: Path, lessons: Sequence[str], out: Console, *, as_json: bool = False) -> None:
    """Say where lessons of a course stand, or all.

    Raises:
        CourseError: there is no gradebook or no lesson of that name, or a lesson cannot be read.
    """
    book = read_gradebook(root)
    late = LateRule(book.course.config)
    found = [lesson_status(book, lesson, late) for lesson in book.choose_lessons(lessons)]
    everybody = {student: Student(student) for lesson in found for student in lesson.handed_in} | dict(book.students)
    if as_json:
        names = {student: everybody[student].name for student in sorted(everybody)}
        out.print_json(json.dumps({"students": names, "lessons": [asdict(lesson) for lesson in found]}))
        return
    out.print(_table(found, len(everybody)))
    for line in _lines(found, everybody, book):
        out.print(escape(printable(line)), highlight=False)


def lesson_status(book: GradebookSnapshot, lesson: GradebookLesson, late: LateRule) -> LessonStatus:
    """Find out where a lesson stands."""
    submitted = book.course.students(lesson.name)
    graded = {student: one for (student, name), one in sorted(book.graded.items()) if name == lesson.name}
    results = {student: one.result for student, one in graded.items() if one.result}
    return LessonStatus(
        lesson.name,
        due=lesson.duedate.replace(tzinfo=UTC).isoformat() if lesson.duedate else None,
        handed_in=tuple(sorted({*submitted, *graded})),
        graded=tuple(graded),
        to_review=tuple(student for student, one in graded.items() if one.needs_review),
        not_gradable=tuple(student for student, result in results.items() if result.reason),
        changed=tuple(pending.student for pending in pending_in(book, lesson.name, late) if pending.was_graded),
        requests=tuple(one for one in book.requests if one.lesson == lesson.name),
        broken_checks=tuple(sorted({each.check for result in results.values() for each in result.broken})),
    )


def _table(lessons: Sequence[LessonStatus], students: int) -> Table:
    """A row for each lesson; those of the course fit 80 columns, with no heading cut off."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("lesson", "due (UTC)"):
        table.add_column(heading, no_wrap=True)
    for heading in (f"handed in, of {students}", "graded", "to be looked at", "not gradable", "changed since"):
        table.add_column(heading, justify="right", width=max(map(len, heading.split())))
    for lesson in lessons:
        counts = [lesson.handed_in, lesson.graded, lesson.to_review, lesson.not_gradable, lesson.changed]
        due = lesson.due[:16].replace("T", " ") if lesson.due else "–"
        table.add_row(escape(lesson.lesson), due, *(str(len(count)) for count in counts))
    return table


def _lines(lessons: Sequence[LessonStatus], students: Mapping[str, Student], book: GradebookSnapshot) -> Iterator[str]:
    """Name who waits for what, then say what to do."""
    unknown = [name for name in book.course.lessons() if name not in book.lessons and book.course.students(name)]
    for lesson in lessons:
        groups = {
            "not graded yet": lesson.waiting,
            "to be looked at": lesson.to_review,
            "not gradable": lesson.not_gradable,
            "changed since": lesson.changed,
        }
        for what, who in groups.items():
            if who:
                yield f"{lesson.lesson}, {what}: {name_some(who, students)}."
                if what == "not gradable":
                    reasons = ((one, book.graded[one, lesson.lesson].result) for one in who[:NAMED])
                    yield from (f"  {one}: {result.reason}" for one, result in reasons if result)
        for check in lesson.broken_checks:
            yield f"✗ {lesson.lesson}, {check}: the check itself is broken. Mend it, release, and grade again."
        if asked := [one for one in lesson.requests if one.is_open]:
            yield f"{lesson.lesson}, asked to be looked at again (give points or write a comment in formgrader):"
            for one in asked:
                name, why = label_of(one.student, students), one.words or "no reason given"
                yield f"  {name}, {one.exercise}, {one.asked[:10]}: {why}"
    count = sum(len(lesson.waiting) + len(lesson.changed) for lesson in lessons)
    yield from (f"{name}: handed in, and not released. Run `autograder release`." for name in unknown)
    if count or not unknown:
        yield GRADE.format(count) if count else DONE
