"""A hand-in in which nothing is written: what it comes to is found once for a class, and need not be found again.

Only what is the lesson's own goes into it. A check that finds its answer as it was given, and nothing of the student's
in what it reads, comes to the same in every hand-in.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from autograder.course.lesson import Cell, cell_id, is_check, parse_or_none
from autograder.grading.results import Outcome, Result, Status
from autograder.grading.submission.dependencies import ANYTHING, Names, names_in
from autograder.stub import STUB

if TYPE_CHECKING:
    from nbformat import NotebookNode  # which takes two seconds, before the server is even asked to start

_STUB = STUB.strip().partition("(")[0].encode()
# With these a cell may change what a name of another cell means, whatever names it binds.
_REACHES = re.compile(
    r"\b(global|setattr|delattr|modules|import\s*\*)|__\w*(main|dict|globals|code|attr)__|\bf_(globals|back)\b"
)


class Blank(NamedTuple):
    """What such a hand-in comes to.

    Attributes:
        sources: the code of its cells, by their ids.
        outputs: what these put out.
        outcomes: of the checks that found a stub, by their ids.
    """

    sources: Mapping[str, str]
    outputs: Mapping[str, list[dict[str, Any]]]
    outcomes: Mapping[str, Outcome]

    def is_all_of(self, cells: Sequence[NotebookNode]) -> bool:
        """Whether these are its code cells, and no others."""
        return {cell_id(cell): cell.source for cell in cells} == self.sources


def has_stubs(submitted: bytes) -> bool:
    """Whether the line that answers take the place of may stand in what was handed in."""
    return _STUB in submitted


def blank_submission(source: bytes) -> bytes:
    """The lesson as it is given out, for a judge to grade."""
    notebook = json.loads(source)
    for place, cell in enumerate(notebook["cells"]):
        cell["source"] = Cell(cell, place).visible
    return json.dumps(notebook).encode()


def read_blank(result: bytes | bytearray) -> Blank | None:
    """What grading `blank_submission` has come to; None where it is not known."""
    if not result:
        return None
    graded = Result.from_json(json.loads(result))
    cells = [cell for cell in json.loads(graded.notebook)["cells"] if cell["cell_type"] == "code"]
    return Blank(
        {cell_id(cell): cell["source"] for cell in cells},
        {cell_id(cell): cell["outputs"] for cell in cells},
        {each.check: replace(each, seconds=0.0) for each in graded.checks if each.status is Status.NOT_ATTEMPTED},
    )


def known_outcomes(
    cells: Sequence[NotebookNode],
    blank: Blank,
    precomputed: Mapping[tuple[str, bool], Names],
    setup: Collection[str],
) -> dict[str, Outcome]:
    """The outcomes of the checks that nothing of the student's can reach, by their ids.

    Args:
        cells: the code cells of a repaired notebook.
        precomputed: the names of some such cells, as for `unneeded`.
        setup: names that every check asks for.
    """
    theirs = [cell.source for cell in cells if blank.sources.get(cell_id(cell)) != cell.source]
    changed: set[str] = set()
    for source in theirs:
        binds = _changed_by(source)
        if binds is None:
            return {}
        changed |= binds
    read_by: dict[str, set[str]] = {}  # name → what the lesson's own cells that bind it read
    for cell in cells:
        if cell.source not in theirs and not is_check(cell):
            names = _names(cell, precomputed)
            for name in names.binds:
                read_by.setdefault(name, set()).update(names.reads)
    known = {}
    for cell in filter(is_check, cells):
        outcome = blank.outcomes.get(cell_id(cell))
        if outcome is not None and not changed & _reached({*_names(cell, precomputed).lasting, *setup}, read_by):
            known[outcome.check] = outcome
    return known


def _names(cell: NotebookNode, precomputed: Mapping[tuple[str, bool], Names]) -> Names:
    key = cell.source, not is_check(cell)
    return precomputed.get(key) or names_in(*key)


def _reached(names: Collection[str], read_by: Mapping[str, set[str]]) -> set[str]:
    """Names, and all that the cells which bind them read in turn."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += read_by.get(name, ())
    return reached


def _changed_by(source: str) -> set[str] | None:
    """The names that mean something else once a student's cell has run; None where nobody can say."""
    names, tree = names_in(source, True), parse_or_none(source)
    if names.opaque or tree is None or _REACHES.search(source) or names.reads & ANYTHING:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            owner: ast.expr = node
            while isinstance(owner, ast.Attribute | ast.Subscript):
                owner = owner.value
            if not (isinstance(owner, ast.Name) and owner.id == "self"):
                return None
    return set(names.binds)
