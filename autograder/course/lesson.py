"""A lesson in pieces: its cells, its exercises, and what stands in their sources."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

STUB = 'raise NotImplementedError("Your code here.")'

FACTS = re.compile(
    r"\*\*Paper:\*\* (?P<paper>.+?) · \*\*Exercises:\*\* (?P<exercises>\d+)"
    r" · \*\*Points:\*\* (?P<points>\d+(?:\.\d+)?) · \*\*Time:\*\* about (?P<minutes>\d+) minutes"
    r" · \*\*Runs in:\*\* (?P<seconds>\d+) seconds"
)
EFFORT = re.compile(r"\*(?P<points>\d+(?:\.\d+)?) points? · (?P<minutes>\d+) minutes?\*")


class Cell:
    """A cell as the grammar sees it; its id is the nbgrader id where it has one."""

    def __init__(self, raw: dict[str, Any], position: int):
        self.raw = raw
        self.kind: str = raw["cell_type"]
        self.source: str = raw["source"]
        self.nbgrader: dict[str, Any] = raw["metadata"].get("nbgrader") or {}
        self.tags: list[str] = raw["metadata"].get("tags") or []
        self.id = cell_id(raw)
        self.label = self.id or f"number {position}"

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank, without the space around them."""
        return [line.strip() for line in self.source.splitlines() if line.strip()]

    def flags(self) -> dict[str, bool]:
        """What nbgrader is told to do with this cell."""
        return {key: bool(self.nbgrader.get(key)) for key in ("grade", "solution", "locked")}

    @property
    def points(self) -> float:
        """The points of a check cell, 0 when they are missing or not a number."""
        points = self.nbgrader.get("points")
        return points if isinstance(points, int | float) else 0


@dataclass
class Exercise:
    """A task cell and everything up to the next exercise or section."""

    task: Cell
    body: list[Cell]

    @property
    def name(self) -> str:
        return self.task.id.removeprefix("exercise_")

    @property
    def answer(self) -> Cell | None:
        """The cell directly after the task, if it is meant as the answer."""
        first = self.body[0] if self.body else None
        is_answer = first and first.kind == "code" and (first.id == self.name or first.flags()["solution"])
        return first if is_answer else None

    @property
    def checks(self) -> list[Cell]:
        """The cells that are graded, or named as if they were."""
        return [c for c in self.body if c is not self.answer and (c.flags()["grade"] or c.id.startswith("check_"))]

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)

    @property
    def effort(self) -> re.Match[str] | None:
        """Points and minutes as the task states them."""
        return EFFORT.fullmatch(self.task.lines[1]) if len(self.task.lines) > 1 else None

    @property
    def minutes(self) -> int:
        return int(self.effort["minutes"]) if self.effort else 0


class Lesson:
    """A lesson read from its parsed notebook."""

    def __init__(self, name: str, notebook: dict[str, Any]):
        self.name = name
        self.number = int(name[:2]) if name[:2].isdigit() else 0
        self.cells = [Cell(raw, position) for position, raw in enumerate(notebook["cells"], start=1)]
        self.exercises: list[Exercise] = []
        open_exercise = False
        for cell in self.cells:
            if cell.kind == "markdown" and cell.id.startswith("exercise_"):
                self.exercises.append(Exercise(cell, []))
                open_exercise = True
            elif cell.kind == "markdown" and cell.source.startswith("## "):
                open_exercise = False
            elif open_exercise:
                self.exercises[-1].body.append(cell)

    @cached_property
    def title(self) -> str:
        """The words of the title, without the number."""
        return self.cells[0].lines[0].partition(" · ")[2]

    @cached_property
    def facts(self) -> re.Match[str] | None:
        """Paper, exercises, points, minutes and seconds as the title cell states them."""
        lines = self.cells[0].lines if self.cells else []
        return next(filter(None, map(FACTS.fullmatch, lines)), None)

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)


def cell_id(raw: dict[str, Any]) -> str:
    """Return nbgrader's id of a cell, else its own, else nothing."""
    grade_id = (raw["metadata"].get("nbgrader") or {}).get("grade_id")
    found = grade_id or raw.get("id")
    return found if isinstance(found, str) else ""


def is_marked(raw: dict[str, Any], flag: str) -> bool:
    """nbgrader marks a cell as "grade", "solution" or whatever `flag` says."""
    return bool((raw["metadata"].get("nbgrader") or {}).get(flag))


def is_check(raw: dict[str, Any]) -> bool:
    """A cell is an autograder test."""
    return is_marked(raw, "grade") and not is_marked(raw, "solution")


def without_regions(source: str, kind: str, stub: str | None = None) -> str:
    """Return the source without its regions of a kind, as nbgrader strips them for students."""
    kept, inside = [], False
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            inside = True
            if stub is not None:
                kept.append(line[: len(line) - len(line.lstrip())] + stub)
        elif f"END {kind}" in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def regions(source: str, kind: str) -> list[list[str]] | None:
    """Return the lines of each `### BEGIN`/`### END` region of a kind, or None when the marks do not pair up."""
    found: list[list[str]] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() == f"### BEGIN {kind}" and not inside:
            found.append([])
            inside = True
        elif line.strip() == f"### END {kind}" and inside:
            inside = False
        elif f"BEGIN {kind}" in line or f"END {kind}" in line:
            return None
        elif inside:
            found[-1].append(line)
    return None if inside else found


def code_lines(lines: list[str]) -> list[str]:
    """Return the lines that are neither blank nor comment."""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def parse(source: str) -> ast.Module:
    """Parse a code cell, magics included; warnings of the compiler count as errors, since nbgrader gives them 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = TransformerManager().transform_cell(source)
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
    return next((n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name), None)
