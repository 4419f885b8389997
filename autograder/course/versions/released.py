"""The checks that releases have handed out, in solutions/released.txt: what only looks changed is known by it.

A line for each, by its lesson, its id and a digest. It is merged line by line, and nothing is ever taken out of it.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from traitlets.config import Config

from autograder.course.config import read_notebook
from autograder.course.lesson import cells_of
from autograder.course.lint import EXERCISES
from autograder.course.plain import is_plain, read_plain
from autograder.course.written import asked

NAME, KEY = "released.txt", "earlier"
TITLE = re.compile(r"\A# @title .*\n")  # of a folded check
HEADING = "# What releases have handed out, for repair; written by autograder release."
LINE = re.compile(r"(\w+) ([\w-]+) ([0-9a-f]{16})")


def digest_of(source: str) -> str:
    """A digest of a cell without its title and the spaces at the ends of lines."""
    text = "\n".join(line.rstrip() for line in TITLE.sub("", source.strip() + "\n").splitlines())
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:16]


def handed_out(notebook: NotebookNode) -> dict[str, str]:
    """Digest → id of what students get to run and not to change: the checks, and the cell that counts them."""
    cells = (cell for cell in cells_of(notebook) if (cell.is_graded and not cell.is_answer) or cell.id == EXERCISES)
    return {digest_of(cell.released): cell.id for cell in cells}


def updated(folder: Path, lessons: Mapping[str, NotebookNode]) -> bytes:
    """The file with what a release of these lessons hands out."""
    handed = [*_read(folder).items(), *((name, handed_out(lesson)) for name, lesson in lessons.items())]
    lines = {f"{name} {cell} {digest}" for name, cells in handed for digest, cell in cells.items()}
    return "\n".join([HEADING, *sorted(lines), ""]).encode()


def read_source(path: Path, config: Config) -> NotebookNode:
    """Read a lesson of solutions/ as the course asks for it; its metadata have what earlier releases handed out.

    Raises:
        CourseError: it is no notebook.
    """
    notebook = read_plain(path.parent, config) if is_plain(config) else asked(read_notebook(path), config)
    now = handed_out(notebook)
    released = _read(path.parents[1]).get(path.parent.name, {})
    if earlier := {digest: cell for digest, cell in released.items() if digest not in now}:
        notebook.metadata.setdefault("autograder", {})[KEY] = earlier
    return notebook


def earlier_of(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Digest → id of what `read_source` has noted."""
    noted: dict[str, str] = notebook["metadata"].get("autograder", {}).get(KEY, {})
    return noted


def _read(folder: Path) -> dict[str, dict[str, str]]:
    """Lesson → digest → id; lines of another form, as a merge may leave them, say nothing."""
    path, found = folder / NAME, dict[str, dict[str, str]]()
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    for name, cell, digest in (line.groups() for line in map(LINE.fullmatch, text.splitlines()) if line):
        found.setdefault(name, {})[digest] = cell
    return found
