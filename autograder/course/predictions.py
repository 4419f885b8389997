"""Predict cells: between the quotes of one line a learner writes what will happen; it is read, never run."""

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from autograder.course.lesson import Cell, Lesson, parse_or_none

PREFIX, TAG = "predict_", "predict"
FORM = re.compile(r'(?P<name>\w+) = "" *# *(?P<kind>\S.*)')
LONGEST, LONGEST_SOURCE = 80, 1000  # characters of a prediction, and of a cell in which one is looked for


class Question(NamedTuple):
    """What a predict cell asks."""

    cell: str
    kind: str  # its comment, what to write between the quotes
    text: str  # the paragraph before it that asks, in Markdown; "" where there is none


def is_prediction(cell: Cell) -> bool:
    """Whether learners predict in it."""
    return cell.kind == "code" and not cell.nbgrader and cell.id.startswith(PREFIX)


def name_of(cell: Cell) -> str:
    """The name that it assigns to, "predicted_ratio"."""
    return f"predicted_{cell.id.removeprefix(PREFIX)}"


def predicted(source: str, name: str) -> str | None:
    """What a cell's source predicts, its spaces folded; "" for nothing yet.

    None where it is anything else than one assignment of a text or number to that name, or is too long.
    """
    if name not in source or len(source) > LONGEST_SOURCE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            match ast.parse(source.strip()).body:
                case [ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant() | ast.UnaryOp() as value)]:
                    literal = ast.literal_eval(value)
                case _:
                    return None
        text = " ".join(str(literal).encode("utf-8", "replace").decode().split())
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    fits = found == name and isinstance(literal, str | int | float) and len(text) <= LONGEST
    return text if fits else None


def questions_of(lesson: Lesson) -> list[Question]:
    """What the predict cells of a lesson ask, in order."""
    questions = []
    for before, cell in pairwise(lesson.cells):
        form = FORM.fullmatch(cell.source.strip())
        if form and is_prediction(cell):
            paragraphs = before.source.split("\n\n") if before.kind == "markdown" else []
            text = next((paragraph for paragraph in reversed(paragraphs) if "?" in paragraph), "")
            questions.append(Question(cell.id, form["kind"], text))
    return questions


def predictions_are_compared(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """A predict cell is one line to be filled in, and a later cell sets it beside what happens."""
    for place, cell in enumerate(lesson.cells):
        if not cell.id.startswith(PREFIX) and TAG not in cell.tags:
            continue
        if not cell.id.startswith(PREFIX) or TAG not in cell.tags:
            text = f"only its id or its tag says that it asks. Give it the id `{PREFIX}…` and the tag `{TAG}`."
            yield cell.label, text
            continue
        name = name_of(cell)
        form = FORM.fullmatch(cell.source.strip())
        if cell.kind != "code":
            yield cell.label, "it is no code cell. Ask in the text before it, and make it one line of code."
        elif not form or form["name"] != name:
            text = f'it is not one empty prediction. Write `{name} = ""  # between the quotes: ` and what kind.'
            yield cell.label, text
        if not any(_reads(later, name) for later in lesson.cells[place + 1 :]):
            yield cell.label, f"no later cell reads `{name}`. Call `yours.compare({name}, …)` where it has happened."


def _reads(cell: Cell, name: str) -> bool:
    module = parse_or_none(cell.source) if cell.kind == "code" and name in cell.source else None
    names = (node for node in ast.walk(module) if isinstance(node, ast.Name)) if module else ()
    return any(node.id == name and isinstance(node.ctx, ast.Load) for node in names)
