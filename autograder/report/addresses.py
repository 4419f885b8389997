"""`autograder status --addresses`: whom to write to, as a mail program takes it in its line for addresses."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.course.config import CourseError
from autograder.course.names import printable
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, Student, read_gradebook
from autograder.grading.pending import outdated, told

ADDRESS = re.compile(r"[^\s,;:<>()\"@]+@[^\s,;:<>()\"@]+")  # one, and nothing that a mail program takes for two
PLAIN = re.compile(r"[\w '-]*")  # a name that needs no quotation marks
BELOW = re.compile(r"below[ -](\d{1,3}(?:\.\d+)?) ?%?")


def addresses(root: Path, lessons: Sequence[str], group: str) -> None:
    """Print the addresses of those whom a group holds in one of these lessons; on standard error, who has none.

    Args:
        group: "nothing", "not-gradable", or "below 50" for less than so many per cent of the points.

    Raises:
        CourseError: no lesson is named, or there is no such lesson or group.
    """
    if not lessons:
        raise CourseError(f"Name the lesson too: `autograder status 01_attention --addresses {group}`.")
    book = read_gradebook(root)
    who = {student for lesson in book.choose_lessons(lessons) for student in _of_group(book, lesson, group)}
    people = [book.students[student] for student in sorted(who)]
    names = [] if group == "nothing" else [lesson.name for lesson in book.choose_lessons(lessons)]
    if stale := told(outdated(book, names).values(), book.students):
        print("Some points are out of date. Run `autograder grade` first:", file=sys.stderr)
        print(*(f"  {printable(line)}" for line in stale), sep="\n", file=sys.stderr)
    reached = [person for person in people if ADDRESS.fullmatch(person.email.strip())]
    if reached:
        print(", ".join(map(_address, reached)))
    if missing := [printable(person.label) for person in people if person not in reached]:
        print(f"Without an e-mail address in the gradebook: {', '.join(missing)}.", file=sys.stderr)
    if not people:
        print("Nobody.", file=sys.stderr)


def _of_group(book: GradebookSnapshot, lesson: GradebookLesson, group: str) -> set[str]:
    graded = {student: one for (student, name), one in book.graded.items() if name == lesson.name}
    if group == "nothing":
        return book.students.keys() - graded.keys() - set(book.course.students(lesson.name))
    if group == "not-gradable":
        return {student for student, one in graded.items() if one.result and one.result.reason}
    if share := BELOW.fullmatch(group):
        return {student for student, one in graded.items() if 100 * one.score < float(share[1]) * lesson.max_score}
    raise CourseError(f"`{group}` is no group. Give --addresses nothing, not-gradable or below-50 (any per cent).")


def _address(student: Student) -> str:
    """Write `Anna Berg <anna@uni.example>`, with quotation marks where a mail program needs them."""
    name = printable(student.name)
    if not PLAIN.fullmatch(name):
        name = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{name} <{student.email.strip()}>"
