"""A lesson as a student meets it: stubs for answers, checks folded, and below given cells what came of them."""

import base64
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup
from nbconvert.filters import ansi2html
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from autograder.course.lesson import Cell, Lesson
from autograder.course.lint import PROGRESS
from autograder.course.predictions import is_prediction, name_of
from website.markdown import html_of
from website.page import render

TITLE = re.compile(r"(?:# @title (.*)\n)?((?s:.*))")
OVERWRITTEN = re.compile(r"^.*\r", re.MULTILINE)  # as a progress bar is


class Figure(NamedTuple):
    """A picture that a cell has drawn.

    Attributes:
        file: where it is to be kept, from the site's folder.
        width, height: in pixels.
    """

    file: str
    png: bytes
    alt: str
    width: int
    height: int


class Shown(NamedTuple):
    """A cell on the page."""

    kind: str  # "text", "code", "folded", "answer" or "predict"
    html: Markup
    title: str = ""  # what it is folded under
    outputs: tuple[Markup | Figure, ...] = ()  # texts as HTML, and figures
    after: str = ""  # what has come first: "prediction", "answer" or nothing


def shown_cells(lesson: Lesson) -> Iterator[Shown]:
    """Go through a lesson's source, and show of each cell what students get of it."""
    asked = [name_of(cell) for cell in lesson.cells if is_prediction(cell)]
    answering = {id(cell) for exercise in lesson.exercises for cell in exercise.body}
    for cell in lesson.cells:
        if cell.kind != "code":
            yield Shown("text", Markup(html_of(cell.released)))
            continue
        title, text = TITLE.fullmatch(cell.released).groups("")
        kind = "answer" if cell.is_answer else "predict" if is_prediction(cell) else "folded" if title else "code"
        after = "prediction" if any(name in text for name in asked) else "answer" if id(cell) in answering else ""
        yield Shown(kind, code(text), title, tuple(_outputs(cell, lesson.name)), after)


def figures(cells: list[Shown]) -> list[Figure]:
    """The figures among what came of cells."""
    return [output for cell in cells for output in cell.outputs if isinstance(output, Figure)]


def _outputs(cell: Cell, lesson: str) -> Iterator[Markup | Figure]:
    """What came of a given cell; of checks, answers and the list of what is solved nothing has come yet."""
    given = not cell.nbgrader and cell.id != PROGRESS
    for count, output in enumerate(cell.raw["outputs"] if given else ()):
        name = f"{cell.id}-{count}" if count else cell.id
        if output["output_type"] == "stream":
            yield _text(output["text"])
        else:
            yield _data(output["data"], output["metadata"], f"figures/{lesson}/{name}.png")


def _data(data: Mapping[str, str], about: NotebookNode, file: str) -> Markup | Figure:
    if "image/png" in data:
        png = base64.b64decode(data["image/png"])
        width, height = struct.unpack(">II", png[16:24])
        return Figure(file, png, about.get("image/png", {}).get("alt", ""), width, height)
    return Markup(data["text/html"]) if "text/html" in data else _text(data["text/plain"])


def _text(text: str) -> Markup:
    return Markup(f"<pre>{ansi2html(OVERWRITTEN.sub('', text).strip(chr(10)))}</pre>")


def code(text: str) -> Markup:
    """Python with its colours."""
    return Markup(highlight(text, get_lexer_by_name("ipython3"), HtmlFormatter()))


def body(lesson: Lesson, cells: list[Shown], **values: Any) -> str:
    """The page's body, with links as the notebook has them."""
    return render("lesson.html", lesson=lesson, cells=cells, **values)
