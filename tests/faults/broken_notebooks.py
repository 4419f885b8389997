"""What becomes of notebooks on their way from a student to the grader: a table of faults.

Each row breaks a solved notebook of lesson 2 and says what repair should tell of it: words of its notes, or of the
reason why nothing can be graded. Where it can be graded, answers and checks are those of the notebook before.
"""

from __future__ import annotations

import copy
import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.classroom import ROOT

from autograder.course.config import read_notebook
from autograder.demo.students import colab_save

Notebook = dict[str, Any]
Cell = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """One way in which a submission is broken.

    Attributes:
        what: what happened, in words.
        breaks: changes the notebook in place and returns it, or returns the bytes of the file.
        notes: words of each note that repair makes, in any order.
        reason: words of the reason why it cannot be graded, "" where it can.
        lost: answers that are gone for good.
    """

    what: str
    breaks: Callable[[Notebook], Notebook | bytes]
    notes: tuple[str, ...] = ()
    reason: str = ""
    lost: tuple[str, ...] = ()


def cell_named(notebook: Notebook, name: str) -> Cell:
    """The cell of that name."""
    return next(cell for cell in notebook["cells"] if cell.get("id") == name)


def place(notebook: Notebook, name: str) -> int:
    """Where the cell of that name stands."""
    return notebook["cells"].index(cell_named(notebook, name))


def whole(change: Callable[[Notebook], object]) -> Callable[[Notebook], Notebook]:
    """Do something to the notebook."""

    def broken(notebook: Notebook) -> Notebook:
        change(notebook)
        return notebook

    return broken


def each_cell(change: Callable[[Cell], object]) -> Callable[[Notebook], Notebook]:
    """Do the same to every cell."""
    return whole(lambda notebook: [change(cell) for cell in notebook["cells"]])


def one_cell(name: str, change: Callable[[Cell], object]) -> Callable[[Notebook], Notebook]:
    """Do something to one cell."""
    return whole(lambda notebook: change(cell_named(notebook, name)))


def source_of(name: str, source: str) -> Callable[[Notebook], Notebook]:
    """Put another source into one cell."""
    return one_cell(name, lambda cell: cell.update(source=source))


def code(source: str) -> Cell:
    """A cell of the student's own."""
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def insert(before: str, *cells: Cell) -> Callable[[Notebook], Notebook]:
    """Put cells before another one."""
    return whole(lambda notebook: [notebook["cells"].insert(place(notebook, before), cell) for cell in cells])


def duplicate(name: str, source: str | None = None, *, behind: bool = True) -> Callable[[Notebook], Notebook]:
    """Copy and paste a cell, its id included, perhaps with another source."""

    def change(notebook: Notebook) -> None:
        twin = copy.deepcopy(cell_named(notebook, name))
        twin["source"] = twin["source"] if source is None else source
        notebook["cells"].insert(place(notebook, name) + behind, twin)

    return whole(change)


def remove(*names: str) -> Callable[[Notebook], Notebook]:
    """Delete cells."""
    return whole(lambda notebook: notebook.update(cells=[c for c in notebook["cells"] if c.get("id") not in names]))


@whole
def own_cell(notebook: Notebook) -> None:
    """Leave the stub as it was and write the answer into a cell of its own below the check."""
    answer = cell_named(notebook, "merge_heads")
    notebook["cells"].insert(place(notebook, "check_merge_heads_values") + 1, code(answer["source"]))
    answer["source"] = STUB


@whole
def too_deep(notebook: Notebook) -> None:
    """Add cells that Python's parser gives up on."""
    notebook["cells"] += [code("-" * 100_000 + "1"), code("(" * 1000 + ")" * 1000), code("x" + ".y" * 50_000)]


@each_cell
def without_marks(cell: Cell) -> None:
    """Lose all metadata and ids, as some editors do."""
    cell["metadata"] = {}
    cell.pop("id", None)


def version_3(notebook: Notebook) -> Notebook:
    """Save in the format of 2014."""
    cells = []
    for cell in notebook["cells"]:
        old = {key: value for key, value in cell.items() if key not in ("id", "source", "execution_count")}
        old["input" if cell["cell_type"] == "code" else "source"] = cell["source"].splitlines(keepends=True)
        cells.append(old)
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells, "metadata": {}}]}


shuffled = whole(lambda notebook: random.Random(1).shuffle(notebook["cells"]))


@each_cell
def printed(cell: Cell) -> None:
    """Have an output of each code cell."""
    if cell["cell_type"] == "code":
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x"}]


def retyped(name: str, kind: str) -> Callable[[Notebook], Notebook]:
    """Turn a cell into one of another kind."""

    def change(cell: Cell) -> None:
        cell["cell_type"] = kind
        cell.pop("outputs", None), cell.pop("execution_count", None)

    return one_cell(name, change)


RELEASED = read_notebook(ROOT / "notebooks" / "02_multi_head_attention" / "02_multi_head_attention.ipynb")
STUB = next(cell.source for cell in RELEASED.cells if cell.id == "merge_heads")
CHECKS = tuple(cell.id for cell in RELEASED.cells if cell.metadata.get("nbgrader", {}).get("grade"))
ANSWERS = ("split_heads", "merge_heads", "MultiHeadAttention", "mended_weights")
EDITED = "assert True  # it worked at home"
CHANGED = ("`check_merge_heads_values` had been changed",)
IN_ITS_OWN_CELL = ("`merge_heads` stood in a cell of its own",)
MARKS = "lost nbgrader's marks"


MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": "# Mine"}
JULIA = {"name": "julia-1.9", "display_name": "Julia"}
NOT_THIS_LESSON = ("Is it another lesson's?", *(f"`{name}` is not" for name in ANSWERS), "12 deleted")


def marks(cell: Cell, **changes: Any) -> None:
    """Change nbgrader's metadata of a cell that has it."""
    if "nbgrader" in cell["metadata"]:
        cell["metadata"]["nbgrader"].update(changes)


FAULTS = [
    # What is no fault: no note may be made of it.
    Fault("nothing", whole(lambda nb: None)),
    Fault("saved by Colab", colab_save),
    Fault("run from top to bottom", printed),
    Fault(
        "spaces at the ends of lines", each_cell(lambda c: c.update(source=c["source"].replace("\n", " \n") + "\n\n"))
    ),
    Fault("lines as a list", each_cell(lambda c: c.update(source=c["source"].splitlines(keepends=True)))),
    Fault("Windows line ends", each_cell(lambda c: c.update(source=c["source"].replace("\n", "\r\n")))),
    Fault("cells of the student's own", insert("merge_heads", code("x = 1"), code("%time x"), MARKDOWN)),
    Fault("an error in a cell of the student's own", insert("merge_heads", code("1 / 0"))),
    Fault("no syntax in a cell of the student's own", insert("merge_heads", code("def broken(:"))),
    Fault("the setup cell added to", one_cell("setup", lambda c: c.update(source=c["source"] + "\nimport os"))),
    Fault("another kernel", whole(lambda nb: nb["metadata"].update(kernelspec=JULIA))),
    Fault("no metadata of the notebook", whole(lambda nb: nb.update(metadata=None))),
    Fault("format 4.0, without ids", each_cell(lambda c: c.pop("id", None))),
    Fault("format 5", whole(lambda nb: nb.update(nbformat=5, nbformat_minor=0))),
    Fault("markdown deleted", remove("title", "exercise_split_heads")),
    Fault("an answer twice, the same", duplicate("merge_heads")),
    Fault("the stub copied below the answer", duplicate("merge_heads", STUB)),
    Fault("a check twice", duplicate("check_merge_heads_values")),
    Fault("schema_version of nbgrader edited", each_cell(lambda c: marks(c, schema_version=99))),
    Fault("points of nbgrader edited", each_cell(lambda c: marks(c, points=1000))),
    Fault("checks unlocked", each_cell(lambda c: marks(c, locked=False, grade=False))),
    Fault("new ids of all cells", each_cell(lambda c: c.update(id=f"n{zlib.crc32(c['source'].encode())}"))),
    Fault("ids too long and with spaces", each_cell(lambda c: c.update(id=c["id"] * 9 + " ! "))),
    # What is mended, and said.
    Fault(
        "another answer of that name above",
        duplicate("merge_heads", "def merge_heads(x):\n    return x", behind=False),
        ("`merge_heads` was there 2 times",),
    ),
    Fault("a check edited", source_of("check_merge_heads_values", EDITED), CHANGED),
    Fault("a check emptied", source_of("check_merge_heads_values", ""), CHANGED),
    Fault("a check deleted", remove("check_merge_heads_values"), ("`check_merge_heads_values` had been deleted",)),
    Fault("all checks deleted", remove(*CHECKS), ("12 deleted, 0 changed",)),
    Fault(
        "all checks edited",
        whole(lambda nb: [c.update(source=EDITED) for c in nb["cells"] if c.get("id") in CHECKS]),
        ("0 deleted, 12 changed",),
    ),
    Fault("an answer deleted", remove("merge_heads"), ("`merge_heads` is not in the notebook",), lost=("merge_heads",)),
    Fault(
        "an answer deleted together with its checks",
        remove("merge_heads", "check_merge_heads_shape", "check_merge_heads_values"),
        (
            "`merge_heads` is not",
            "`check_merge_heads_shape` had been deleted",
            "`check_merge_heads_values` had been deleted",
        ),
        lost=("merge_heads",),
    ),
    Fault("the answer in a cell of its own", own_cell, IN_ITS_OWN_CELL),
    Fault("the same, above code too deep to parse", lambda nb: too_deep(own_cell(nb)), IN_ITS_OWN_CELL),
    Fault(
        "the answer's mark lost",
        one_cell("merge_heads", lambda c: c.update(metadata={}, id="x1")),
        ("`merge_heads` was found by its name",),
    ),
    Fault(
        "the answer turned to markdown", retyped("merge_heads", "markdown"), ("`merge_heads` stood in a markdown cell",)
    ),
    Fault("the answer turned to raw text", retyped("merge_heads", "raw"), ("`merge_heads` stood in a raw cell",)),
    Fault("a check turned to markdown", retyped("check_merge_heads_values", "markdown")),
    Fault("all marks and ids lost", without_marks, (MARKS, *(f"`{name}` was found by its name" for name in ANSWERS))),
    Fault("nbgrader's marks lost, the ids not", each_cell(lambda c: c.update(metadata={})), (MARKS,)),
    Fault("metadata that are no table", each_cell(lambda c: c.update(metadata=[1, 2])), (MARKS,)),
    Fault("cells stirred", shuffled, ("another order",)),
    Fault(
        "the last exercise first",
        whole(lambda nb: nb["cells"].insert(0, nb["cells"].pop(place(nb, "MultiHeadAttention")))),
        ("another order",),
    ),
    Fault("format 3", version_3),
    Fault("cells that are none", whole(lambda nb: nb["cells"].extend([1, None, "x", {"cell_type": "nonsense"}, {}]))),
    Fault("half characters", insert("merge_heads", code("s = '\ud800'"))),
    Fault(
        "another lesson's notebook",
        whole(lambda nb: nb.update(cells=[code("def other(): pass")])),
        NOT_THIS_LESSON,
        lost=ANSWERS,
    ),
    Fault("no cells", whole(lambda nb: nb.update(cells=[])), NOT_THIS_LESSON, lost=ANSWERS),
    # What nobody can grade.
    Fault("an empty file", lambda nb: b"", reason="The file is empty"),
    Fault("cut off in transfer", lambda nb: json.dumps(nb).encode()[:5000], reason="The file is cut off. Download"),
    Fault("a zip archive", lambda nb: b"PK\x03\x04" + bytes(100), reason="zip archive"),
    Fault("a web page saved by the browser", lambda nb: b"<!DOCTYPE html><html>Sign in</html>", reason="web page"),
    Fault("random bytes", lambda nb: random.Random(0).randbytes(2000), reason="is no notebook"),
    Fault("JSON of something else", lambda nb: b'{"answers": [1, 2]}', reason="has no cells"),
    Fault("a list", lambda nb: b"[1, 2]", reason="has no cells"),
    Fault("brackets without end", lambda nb: b"[" * 200_000, reason="is no notebook"),
    Fault("a conflict of git", lambda nb: b"<<<<<<< HEAD\n" + json.dumps(nb).encode(), reason="is no notebook"),
    Fault("UTF-16", lambda nb: json.dumps(nb).encode("utf-16")),
    Fault("a mark of byte order", lambda nb: b"\xef\xbb\xbf" + json.dumps(nb).encode()),
]
