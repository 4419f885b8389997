"""A lesson in pieces: its cells, its exercises, and what stands in their sources."""

import ast
import re
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

from autograder.course.names import counted
from autograder.stub import STUB, TEXT_STUB, without_regions

FACTS = re.compile(
    r"\*\*Paper:\*\* (?P<paper>.+?) · \*\*Exercises:\*\* (?P<exercises>\d+)"
    r" · \*\*Points:\*\* (?P<points>\d+(?:\.\d+)?) · \*\*Time:\*\* about (?P<minutes>\d+) minutes"
    r" · \*\*Runs in:\*\* (?P<seconds>\d+) seconds"
)
HEADING = re.compile(r"### Exercise (?P<number>[\d.]+) · (?P<title>.+)")
EFFORT = re.compile(r"\*(?P<points>\d+(?:\.\d+)?) points? · (?P<minutes>\d+) minutes?\*")
MAGIC = re.compile(
    r"^(?:.*(?:>>>|\.{3,}:|In \[\d+\]:)|[^\S\n]*\.{3})?[^\S\n]*[%!?,;/]|=[^\S\n]*[%!]|\?[^\S\n]*$", re.MULTILINE
)  # behind a prompt, too, which IPython takes away
ONE_AT_A_TIME = threading.RLock()  # Python 3.11's `ast.parse` counts depth for all threads at once; so do warnings
MOST_MAGICS, MOST_LETTERS = 100, 20_000  # in a cell that is no Python; the time for both together is their product
FOLD_TITLE = 100  # characters, what a notebook's width shows
EXAMPLE = "An example on small numbers"  # the title of the last hint, which works the idea through by hand
HINT = re.compile(r"<details>\s*<summary>(?P<title>.*?)</summary>(?P<text>.*?)</details>", re.DOTALL)


class Rule(NamedTuple):
    """One `check.exercise` of a check cell: the exercise as it names it, and what it proves."""

    exercise: str
    words: str


class Hint(NamedTuple):
    """What a student sees going wrong, and the help against it, in Markdown."""

    title: str
    text: str


class Cell:
    """A cell of the instructor's notebook; its id is the nbgrader id where it has one.

    Attributes:
        is_graded: whether nbgrader gives points for it.
        is_answer: whether students answer in it.
        is_locked: whether nbgrader restores it.
    """

    def __init__(self, raw: dict[str, Any], position: int) -> None:
        self.raw = raw
        self.kind: str = raw["cell_type"]
        self.source: str = raw["source"]
        self.nbgrader: dict[str, Any] = raw["metadata"].get("nbgrader") or {}
        self.tags: list[str] = raw["metadata"].get("tags") or []
        self.id = cell_id(raw)
        self.label = self.id or f"number {position}"
        self.is_graded, self.is_answer, self.is_locked = (
            is_marked(raw, flag) for flag in ("grade", "solution", "locked")
        )

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank, without the space around them."""
        return [line.strip() for line in self.source.splitlines() if line.strip()]

    @property
    def is_written(self) -> bool:
        """Whether students answer in it in words, or below it, which a person grades."""
        return (self.is_graded and self.is_answer) or bool(self.nbgrader.get("task"))

    @property
    def points(self) -> float:
        """The points of a check cell, 0 when they are missing or not a number."""
        points = self.nbgrader.get("points")
        return points if isinstance(points, int | float) else 0

    @property
    def given(self) -> str | None:
        """What students get of it in a course of the plain form."""
        return (self.raw["metadata"].get("autograder") or {}).get("given")

    @property
    def visible(self) -> str:
        """Its source as far as students may see it."""
        if (given := self.given) is not None:
            return given
        stub = STUB if self.kind == "code" else TEXT_STUB
        return without_regions(without_regions(self.source, "SOLUTION", stub), "HIDDEN TESTS")

    @cached_property
    def released(self) -> str:
        """Its source as students get it: a check is folded under a title, the rules that it proves."""
        if not self.is_graded or self.is_answer or self.given is not None:
            return self.visible
        return fold_title(rules_of(self.visible)) + self.visible.rstrip()


@dataclass
class Exercise:
    """A task cell and everything up to the next exercise or section."""

    task: Cell
    body: list[Cell]
    called: str = ""  # its heading in the plain form, where the answer is the task; "" elsewhere

    @property
    def name(self) -> str:
        """The name of its answer, "causal_mask"."""
        return self.task.id.removeprefix("exercise_")

    @property
    def number(self) -> str:
        """As its heading has it, "1.4"; "" where that reads differently."""
        return self._heading["number"] if self._heading else ""

    @property
    def title(self) -> str:
        """The words of its heading, "Causal mask"; its name where that reads differently."""
        return self._heading["title"] if self._heading else self.called or self.name

    @cached_property
    def _heading(self) -> re.Match[str] | None:
        return HEADING.fullmatch(self.task.lines[0]) if self.task.lines else None

    @property
    def answer(self) -> Cell | None:
        """The cell directly after the task, if it is meant as the answer."""
        first = self.body[0] if self.body else None
        is_answer = first and first.kind == "code" and (first.id == self.name or first.is_answer)
        return first if is_answer else None

    @property
    def checks(self) -> list[Cell]:
        """The cells that are graded, or named as if they were."""
        rest = (cell for cell in self.body if cell is not self.answer)
        return [cell for cell in rest if cell.is_graded or cell.id.startswith("check_")]

    @property
    def hints(self) -> list[Hint]:
        """The hints that stand under the task."""
        return [Hint(match["title"].strip(), match["text"]) for match in HINT.finditer(self.task.source)]

    @property
    def points(self) -> float:
        """The points of its checks."""
        return sum(check.points for check in self.checks)

    @property
    def effort(self) -> re.Match[str] | None:
        """Points and minutes as the task states them."""
        return EFFORT.fullmatch(self.task.lines[1]) if len(self.task.lines) > 1 else None

    @property
    def minutes(self) -> int:
        """The minutes that the task states."""
        return int(self.effort["minutes"]) if self.effort else 0


class Lesson:
    """A lesson read from its parsed notebook."""

    def __init__(self, name: str, notebook: dict[str, Any]) -> None:
        self.name = name
        self.number = int(name[:2]) if name[:2].isdigit() else 0
        self.cells = cells_of(notebook)
        self.exercises: list[Exercise] = []
        self.written = [cell for cell in self.cells if cell.is_written]
        if any(cell.given is not None for cell in self.cells):
            self.exercises = _plain_exercises(self.cells)
            return
        body: list[Cell] = []  # of the exercise that is open, or of none
        for cell in self.cells:
            if cell.kind == "markdown" and cell.id.startswith("exercise_"):
                self.exercises.append(Exercise(cell, body := []))
            elif cell.kind == "markdown" and cell.source.startswith("## "):
                body = []
            else:
                body.append(cell)

    @cached_property
    def title(self) -> str:
        """The words of the title, without the number."""
        return self.cells[0].lines[0].partition(" · ")[2] if self.cells and self.cells[0].lines else ""

    @cached_property
    def facts(self) -> re.Match[str] | None:
        """The line of the title cell that states paper, exercises, points, minutes and seconds."""
        lines = self.cells[0].lines if self.cells else []
        return next(filter(None, map(FACTS.fullmatch, lines)), None)

    @property
    def points(self) -> float:
        """The points of its exercises; written answers, which are off as a rule, come on top."""
        return sum(exercise.points for exercise in self.exercises)


def _plain_exercises(cells: Sequence[Cell]) -> list[Exercise]:
    """The answers of the plain form, each with the checks that follow it."""
    found, early = list[Exercise](), list[Cell]()
    for place, cell in enumerate(cells):
        if cell.is_answer and not cell.is_graded:
            called = "" if not cell.id.startswith("cell-") else heading_above(cells, place)
            found.append(Exercise(cell, [cell, *early], called))
            early = []
        elif cell.is_graded and not cell.is_answer:
            (found[-1].body if found else early).append(cell)
    return found


def heading_above(cells: Sequence[Cell], place: int) -> str:
    """The heading under which a cell stands, or its own where it is a task; its id where there is none."""
    given = (cell for cell in reversed(cells[: place + 1]) if cell.kind == "markdown" and not cell.is_answer)
    headings = (line.strip("# ") for cell in given for line in reversed(cell.lines) if line.startswith("#"))
    return next(headings, cells[place].label)


def cells_of(notebook: dict[str, Any]) -> list[Cell]:
    """Return the cells of a parsed notebook."""
    return [Cell(raw, position) for position, raw in enumerate(notebook["cells"], start=1)]


def cell_id(raw: Mapping[str, Any]) -> str:
    """Return nbgrader's id of a cell, else its own, else nothing."""
    grade_id = (raw["metadata"].get("nbgrader") or {}).get("grade_id")
    name = grade_id or raw.get("id")
    return name if isinstance(name, str) else ""


def is_marked(raw: Mapping[str, Any], flag: str) -> bool:
    """nbgrader marks a cell as "grade", "solution" or whatever `flag` says."""
    return bool((raw["metadata"].get("nbgrader") or {}).get(flag))


def is_check(raw: Mapping[str, Any]) -> bool:
    """A cell is an autograder test."""
    return is_marked(raw, "grade") and not is_marked(raw, "solution")


def answer_of(check: str, answers: Iterable[str], default: str = "") -> str:
    """Return the answer that a check is about, by their names; of several the one that says most."""
    fitting = [answer for answer in answers if f"{check}_".startswith(f"check_{answer}_")]
    return max(fitting, key=len, default=default)


def rules_of(source: str) -> list[Rule]:
    """Return the rules that the functions of a check cell prove, in their order."""
    module = parse_or_none(source)
    return [
        Rule(call.args[0].value, function.name.replace("_", " "))
        for function in (module.body if module else [])
        if isinstance(function, ast.FunctionDef)
        for call in function.decorator_list
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "check.exercise"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]


def state_points(name: str, notebook: dict[str, Any]) -> None:
    """Write the points of the checks where a lesson states them as well: in its tasks and in its title."""
    lesson = Lesson(name, notebook)
    for exercise in lesson.exercises:
        if said := exercise.effort:
            now = f"*{counted(exercise.points, 'point')} · {counted(int(said['minutes']), 'minute')}*"
            exercise.task.raw["source"] = exercise.task.source.replace(said[0], now, 1)
    if facts := lesson.facts:
        now = facts[0].replace(f"**Points:** {facts['points']} ", f"**Points:** {lesson.points:g} ")
        lesson.cells[0].raw["source"] = lesson.cells[0].source.replace(facts[0], now, 1)


def fold_title(rules: Sequence[Rule]) -> str:
    """Return the line under which a check is folded: as many of its rules as fit, and how many more there are."""
    if not rules:
        return ""
    fitting = [f"# @title Check {rules[0].exercise.partition(' ')[0]}: {rules[0].words}"]
    for rule in rules[1:]:
        if len(f"{fitting[-1]}; {rule.words}, and more") > FOLD_TITLE:
            break
        fitting.append(f"{fitting[-1]}; {rule.words}")
    more = len(rules) - len(fitting)
    return fitting[-1] + (f", and {more} more" if more else "") + "\n"


def as_python(source: str) -> str:
    """Return a cell with IPython's magics and commands as calls.

    Raises:
        SyntaxError: it cannot be, or is so long, or has so many, that IPython would take seconds for it.
    """
    with ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(Exception):  # most cells are Python as they stand
            compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            return source
        if len(source) > MOST_LETTERS or len(MAGIC.findall(source)) > MOST_MAGICS:
            raise SyntaxError(f"more than {MOST_MAGICS} magics, or {MOST_LETTERS} letters beside one, in a cell")
        try:
            return TransformerManager().transform_cell(source)
        except Exception as error:
            raise SyntaxError(str(error)) from None


def parse(source: str) -> ast.Module:
    """Parse a code cell, magics included; warnings of the compiler count as errors, since nbgrader gives them 0."""
    with ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("error")
        code = as_python(source)
        compile(code, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        return ast.parse(code)


def parse_or_none(source: str) -> ast.Module | None:
    """Parse a code cell, or return None where it is no Python or too deep for it."""
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definition(module: ast.Module | None, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """Return the top-level function or class of that name."""
    body = module.body if module else []
    definitions = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return next((node for node in definitions if node.name == name), None)
