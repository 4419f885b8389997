"""The plain form of a course: nbgrader as people write it, with `c.Autograder.form = "plain"` in nbgrader_config.py.

A lesson is a folder of the source directory: one notebook or several, and the data files that belong to them. Nothing
is asked of a lesson but what grading needs, and release writes nothing into it. Inside the engine its notebooks are
one, in which each cell knows its notebook and what students get of it.
"""

import ast
import base64
import copy
import functools
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from traitlets.config import Config

from autograder import files
from autograder.course.config import CourseError, choice, read_notebook, refuse
from autograder.course.lesson import cell_id, is_check, is_marked, parse, parse_or_none
from autograder.course.lint import Breach

KEY = "autograder"  # in the metadata of notebooks and cells
MOST_BYTES = 32 * 2**20  # of a lesson's data files
NOT_DATA = ("*.ipynb", "*.pyc", "__pycache__", ".*")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what nbformat takes


class Form(StrEnum):
    """What a course asks of its lessons."""

    COURSE = "course"
    PLAIN = "plain"


def is_plain(config: Config) -> bool:
    """Whether a course is written as plain nbgrader."""
    return choice(config, "form", Form.COURSE) is Form.PLAIN


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of a lesson in its folder."""
    return sorted(path for path in folder.glob("*.ipynb") if path.is_file())


def data_in(folder: Path) -> dict[str, Path]:
    """The data files of a lesson, by their paths from its notebooks."""
    found = files.walk(folder, wanted=lambda name: not any(fnmatch(name, pattern) for pattern in NOT_DATA))
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def read_plain(folder: Path, config: Config) -> NotebookNode:
    """Read a lesson as one notebook; its metadata hold the data files, those of a cell what students get of it.

    Raises:
        CourseError: there is no notebook, or something else of which nothing can be released.
    """
    paths = notebooks_in(folder)
    if not paths:
        raise CourseError("it holds no notebook. Put one there, or move the folder away.")
    parts = {path.stem: _with_header(path, config) for path in paths}
    whole = next(iter(parts.values()))
    taken, cells = set[str](), []
    for name, part in parts.items():
        stem = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:50]
        for place, (cell, given) in enumerate(zip(part.cells, _given(part, config), strict=True), start=1):
            own = cell_id(cell)
            cell.id = own if _ID.fullmatch(own) and own not in taken else f"{stem}-{place}"
            taken.add(cell.id)
            cell.metadata[KEY] = {"notebook": name, "given": given}
            cells.append(cell)
    whole.nbformat_minor, whole.cells = 5, cells
    data = {name: base64.b64encode(path.read_bytes()).decode() for name, path in data_in(folder).items()}
    whole.metadata[KEY] = {"notebooks": list(parts), "data": data}
    return whole


def alone(lesson: NotebookNode, name: str) -> NotebookNode:
    """One notebook of what `read_plain` has made, with all data files; a lesson of a course as it is."""
    if "notebooks" in lesson["metadata"].get(KEY, {}):
        lesson["cells"] = [cell for cell in lesson["cells"] if cell["metadata"][KEY]["notebook"] == name]
        lesson["metadata"][KEY]["notebooks"] = [name]
    return lesson


def _with_header(path: Path, config: Config) -> NotebookNode:
    """A notebook between the header and the footer that nbgrader puts around it."""
    notebook = read_notebook(path)
    for name, around in header_of(path.parents[2], config).items():
        more = read_notebook(around).cells
        notebook.cells = [*more, *notebook.cells] if name == "header" else [*notebook.cells, *more]
    return notebook


def header_of(root: Path, config: Config) -> dict[str, Path]:
    """The files of the header and the footer that a course has."""
    named = config.get("IncludeHeaderFooter", {})
    return {name: root / named[name] for name in ("header", "footer") if named.get(name)}


def _given(notebook: NotebookNode, config: Config) -> list[str]:
    """What students get of each cell, by nbgrader's own means."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions  # which takes a second

    given, resources = copy.deepcopy(notebook), dict[str, Any]()
    try:
        for clear in (ClearSolutions, ClearHiddenTests, ClearMarkScheme):
            given, resources = clear(config=config).preprocess(given, resources)
    except (RuntimeError, ValueError) as error:
        raise CourseError(f"nbgrader cannot make the student version ({error}). Mend the notebook.") from None
    return [cell.source for cell in given.cells]


def split(notebook: NotebookNode, lesson: str) -> dict[str, NotebookNode]:
    """The notebooks, by name, that `read_plain` has made one of; a lesson of a course is one anyway."""
    parts: dict[str, NotebookNode] = {}
    name = lesson
    for cell in notebook.cells:
        name = cell.metadata.pop(KEY, {}).get("notebook", name)
        if name not in parts:
            parts[name] = copy.copy(notebook)
            parts[name].cells = []
        parts[name].cells.append(cell)
    return parts


@functools.lru_cache(maxsize=8)
def names_of(source: bytes) -> tuple[str, ...]:
    """The notebooks of a lesson as a job has it; none where it is a course's."""
    return tuple(json.loads(source)["metadata"].get(KEY, {}).get("notebooks", ()))


def data_of(notebook: Mapping[str, Any]) -> dict[str, bytes]:
    """The data files that `read_plain` has put into a notebook, by their paths from it."""
    data = notebook.get("metadata", {}).get(KEY, {}).get("data", {})
    return {name: base64.b64decode(text) for name, text in data.items()}


def read_plain_lessons(source: Path, config: Config) -> dict[str, NotebookNode]:
    """Read every lesson of the source directory, and refuse all of them when one cannot be graded."""
    folders = sorted(path for path in source.glob("[!._]*/") if path.is_dir())
    if not folders:
        raise CourseError(f"{source.name}/ holds no lesson. `autograder new lesson NAME` writes one.")
    lessons, found = {}, list[Breach]()
    for folder in folders:
        place = f"{source.name}/{folder.name}"
        try:
            lessons[folder.name] = read_plain(folder, config)
            found += [Breach(folder.name, *each, place=place) for each in _breaches(lessons[folder.name], folder)]
        except CourseError as error:
            found.append(Breach(folder.name, "", str(error), place=place))
    refuse(found)
    return lessons


def _breaches(lesson: NotebookNode, folder: Path) -> Iterator[tuple[str, str]]:
    """What of a lesson cannot be graded, by cell."""
    size = sum(path.stat().st_size for path in data_in(folder).values())
    if size > MOST_BYTES:
        yield "", f"its data files have {size / 2**20:.0f} MB, and {MOST_BYTES / 2**20:g} are taken. Make them smaller."
    seen = set[str]()
    for place, cell in enumerate(lesson.cells, start=1):
        marks = cell.metadata.get("nbgrader") or {}
        name = marks.get("grade_id") or f"number {place}"
        if any(marks.get(flag) for flag in ("grade", "solution", "locked", "task")) and not marks.get("grade_id"):
            yield name, "nbgrader knows it, but it has no id. Give it one."
        elif marks and name in seen:
            yield name, "another cell of the lesson has this id. Give it one of its own."
        seen.add(name)
        points = marks.get("points")
        if (is_marked(cell, "grade") or is_marked(cell, "task")) and not isinstance(points, int | float):
            yield name, "it is graded, and says no points. Give it some, or 0."
        if "### AUTOTEST" in cell.source or "### HASHED AUTOTEST" in cell.source:
            yield name, "it asks nbgrader to make tests (AUTOTEST), which this engine does not. Write them out."
        elif is_check(cell) and cell.cell_type == "code":
            try:
                parse(cell.source)
            except (SyntaxError, ValueError) as error:
                yield name, f"it is not valid Python: {getattr(error, 'msg', error)}. Mend it."
            last = module.body[-1] if (module := parse_or_none(cell.source)) and module.body else None
            if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call | ast.Constant):
                yield name, f"it ends in `{ast.unparse(last)}`, which checks nothing. Put `assert` before it."
