"""The lessons as a page goes through them: exercises with their titles, checks and hints, in the lesson's order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import mistune
from markupsafe import Markup

from autograder.course import lesson as parsed
from autograder.course.config import CourseError, read_notebook
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot
from autograder.report.page import code

HEADING = re.compile(r"### Exercise (?P<number>[\d.]+) · (?P<title>.+)")
HINT = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
OTHER = "other checks"


@dataclass(frozen=True)
class Hint:
    """What a student sees going wrong, and the help against it, both as HTML."""

    title: Markup
    text: Markup


@dataclass(frozen=True)
class Check:
    """A check cell: its grade id, what it is called in its exercise, and its points."""

    id: str
    label: str
    points: float


@dataclass(frozen=True)
class Exercise:
    """A task.

    Attributes:
        name: of the answer, "causal_mask".
        number: "1.4"; "" where solutions/ does not have the lesson as graded.
        title: "Causal mask", or the name again.
    """

    name: str
    number: str
    title: str
    checks: tuple[Check, ...]
    hints: tuple[Hint, ...] = ()

    @property
    def points(self) -> float:
        """The points that there are to earn."""
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class Outline:
    """A lesson.

    Attributes:
        label: "1 · Attention", or the name again.
        remark: what is odd about it; "" as a rule.
    """

    name: str
    label: str
    exercises: tuple[Exercise, ...]
    remark: str = ""

    @property
    def points(self) -> float:
        """The points that there are to earn."""
        return sum(exercise.points for exercise in self.exercises)


def outlines(book: GradebookSnapshot, names: Sequence[str]) -> list[Outline]:
    """Go through lessons of the gradebook; what solutions/ does not say is told from the gradebook alone.

    Raises:
        CourseError: a lesson is not in the gradebook.
    """
    if unknown := [name for name in names if name not in book.lessons]:
        known = f"It has {', '.join(book.lessons)}." if book.lessons else "It has none; run `autograder release`."
        raise CourseError(f"The gradebook has no lesson {', '.join(unknown)}. {known}")
    return [_outline(book, book.lessons[name]) for name in names or book.lessons]


def _outline(book: GradebookSnapshot, released: GradebookLesson) -> Outline:
    try:
        source = parsed.Lesson(released.name, read_notebook(book.course.source(released.name)))
        label = f"{source.number} · {source.title}" if source.title else released.name
        exercises = [_exercise(each, released) for each in source.exercises if each.answer]
        remark = ""
    except (CourseError, OSError, IndexError, KeyError) as error:
        gone = not book.course.source(released.name).exists()
        why = "solutions/ no longer has this lesson" if gone else f"Its notebook in solutions/ cannot be read: {error}"
        return Outline(
            released.name,
            released.name,
            _from_gradebook(released, ()),
            f"{why.rstrip('.')}. Names are the gradebook's.",
        )
    known = {check.id for exercise in exercises for check in exercise.checks}
    rest = _from_gradebook(released, known)
    if rest:
        remark = "The gradebook has checks that solutions/ no longer has; they stand at the end."
    return Outline(released.name, label, (*(each for each in exercises if each.checks), *rest), remark)


def _exercise(source: parsed.Exercise, released: GradebookLesson) -> Exercise:
    heading = HEADING.fullmatch(source.task.lines[0]) if source.task.lines else None
    checks = (_check(cell.id, source.name, released) for cell in source.checks if cell.id in released.points)
    number, title = (heading["number"], heading["title"]) if heading else ("", source.name)
    return Exercise(source.name, number, title, tuple(checks), hints(source.task.source))


def _from_gradebook(released: GradebookLesson, known: Iterable[str]) -> tuple[Exercise, ...]:
    """Sort checks to the answers whose names they have."""
    found: dict[str, list[Check]] = {}
    for check in released.points:
        if check not in known:
            fits = [name for name in released.answers if f"{check}_".startswith(f"check_{name}_")]
            answer = max(fits, key=len, default=OTHER)
            found.setdefault(answer, []).append(_check(check, answer, released))
    return tuple(Exercise(name, "", name, tuple(checks)) for name, checks in sorted(found.items()))


def _check(check: str, answer: str, released: GradebookLesson) -> Check:
    label = check.removeprefix(f"check_{answer}").strip("_").replace("_", " ")
    return Check(check, label or "the check", released.points[check])


def hints(task: str) -> tuple[Hint, ...]:
    """The hints that stand under a task."""
    return tuple(Hint(code(title.strip()), Markup(_markdown()(text))) for title, text in HINT.findall(task))


@cache
def _markdown() -> mistune.Markdown:
    return mistune.create_markdown(escape=True, plugins=["table", "strikethrough"])
