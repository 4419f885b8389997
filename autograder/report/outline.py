"""The lessons as a page goes through them: exercises with their titles, checks and hints, in the lesson's order."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from autograder.course.config import CourseError
from autograder.course.lesson import Cell, Exercise, Lesson, answer_of, heading_above
from autograder.course.predictions import PREFIX, questions_of
from autograder.course.versions.released import read_source
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot
from autograder.report.page import code, markdown

HINT = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
OTHER = "other checks"
COMPARED = re.compile(r"yours\.compare\(\s*(\w+),")
HAPPENED = re.compile(r"^what happened   (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Hint:
    """What a student sees going wrong, and the help against it, both as HTML."""

    title: Markup
    text: Markup


@dataclass(frozen=True)
class CheckOutline:
    """A check cell: its grade id, its name within the exercise, and its points."""

    id: str
    label: str
    points: float


@dataclass(frozen=True)
class ExerciseOutline:
    """A task."""

    name: str  # of the answer, "causal_mask"
    number: str  # "1.4"; "" where solutions/ does not have the lesson as graded
    title: str  # "Causal mask", or the name again
    checks: tuple[CheckOutline, ...]
    hints: tuple[Hint, ...] = ()

    @property
    def points(self) -> float:
        """The points that there are to earn."""
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class QuestionOutline:
    """What a predict cell asks: its id, the paragraph that asks, as HTML, and what to write between the quotes."""

    cell: str
    text: Markup
    kind: Markup
    happened: str = ""  # what came when the lesson itself was run; "" where its stored outputs do not say


@dataclass(frozen=True)
class LessonOutline:
    """A lesson."""

    name: str
    label: str  # "1 · Attention", or the name again
    exercises: tuple[ExerciseOutline, ...]
    remark: str = ""  # what is odd about it; "" as a rule
    questions: tuple[QuestionOutline, ...] = ()
    written: tuple[CheckOutline, ...] = ()  # the answers in words, each by the heading that it stands under

    @property
    def points(self) -> float:
        """The points that there are to earn."""
        return sum(exercise.points for exercise in self.exercises) + sum(answer.points for answer in self.written)


def outlines_of(book: GradebookSnapshot, names: Sequence[str]) -> list[LessonOutline]:
    """Go through lessons of the gradebook; what solutions/ does not say comes from the gradebook alone.

    Raises:
        CourseError: a lesson is not in the gradebook.
    """
    return [_outline(book, lesson) for lesson in book.choose_lessons(names)]


def _outline(book: GradebookSnapshot, released: GradebookLesson) -> LessonOutline:
    try:
        source = Lesson(released.name, read_source(book.course.source(released.name), book.course.config))
        label = f"{source.number} · {source.title}" if source.title else released.name
        exercises = [_exercise(exercise, released) for exercise in source.exercises if exercise.answer]
    except (CourseError, OSError, IndexError, KeyError) as error:
        gone = not book.course.source(released.name).exists()
        why = "solutions/ no longer has this lesson" if gone else f"Its notebook in solutions/ cannot be read: {error}"
        remark = f"{why.rstrip('.')}. Names are the gradebook's."
        titles = {name: name for name in released.written}
        return LessonOutline(
            released.name, released.name, _from_gradebook(released, ()), remark, written=_written(titles, released)
        )
    rest = _from_gradebook(released, {check.id for exercise in exercises for check in exercise.checks})
    remark = "The gradebook has checks that solutions/ no longer has; they stand at the end." if rest else ""
    graded = (exercise for exercise in exercises if exercise.checks)
    titles = {
        cell.id: heading_above(source.cells, place) if cell.given is not None else cell.lines[0].strip("# ")
        for place, cell in enumerate(source.cells)
        if cell.is_written
    }
    return LessonOutline(released.name, label, (*graded, *rest), remark, _questions(source), _written(titles, released))


def _written(titles: Mapping[str, str], released: GradebookLesson) -> tuple[CheckOutline, ...]:
    return tuple(
        CheckOutline(name, title, released.points[name]) for name, title in titles.items() if name in released.written
    )


def _exercise(source: Exercise, released: GradebookLesson) -> ExerciseOutline:
    checks = (_check(cell.id, source.name, released) for cell in source.checks if cell.id in released.points)
    return ExerciseOutline(source.name, source.number, source.title, tuple(checks), hints(source.task.source))


def _questions(source: Lesson) -> tuple[QuestionOutline, ...]:
    return tuple(
        QuestionOutline(
            question.cell, markdown(question.text), code(question.kind), what_happened(source.cells, question.cell)
        )
        for question in questions_of(source)
    )


def what_happened(cells: Sequence[Cell], question: str) -> str:
    """What stands beside a prediction in a lesson's stored outputs; "" where that is not plain."""
    name = f"predicted_{question.removeprefix(PREFIX)}"
    for cell in cells:
        compared = COMPARED.findall(cell.source) if cell.kind == "code" else []
        if name in compared:
            streams = (output for output in cell.raw.get("outputs", ()) if output["output_type"] == "stream")
            happened = HAPPENED.findall("".join(str(output["text"]) for output in streams))
            return happened[compared.index(name)] if len(happened) == len(compared) else ""
    return ""


def _from_gradebook(released: GradebookLesson, without: Collection[str]) -> tuple[ExerciseOutline, ...]:
    """Sort the other checks to the answers whose names they have."""
    checks_of: dict[str, list[CheckOutline]] = {}
    for check in released.points:
        if check not in without and check not in released.written:
            answer = answer_of(check, released.answers, OTHER)
            checks_of.setdefault(answer, []).append(_check(check, answer, released))
    return tuple(ExerciseOutline(name, "", name, tuple(checks)) for name, checks in sorted(checks_of.items()))


def _check(check: str, answer: str, released: GradebookLesson) -> CheckOutline:
    label = check.removeprefix(f"check_{answer}").strip("_").replace("_", " ")
    return CheckOutline(check, label or "the check", released.points[check])


def hints(task: str) -> tuple[Hint, ...]:
    """The hints that stand under a task."""
    return tuple(Hint(code(title.strip()), markdown(text)) for title, text in HINT.findall(task))
