"""What the fuzzer makes: texts, JSON, notebooks, folders, outputs and results as hardly anybody would hand them in."""

import copy
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.pieces import ACTIVE, CODE, ODD
from hypothesis import settings
from hypothesis import strategies as st
from support.sample_lesson import sample_lesson

from autograder.course.lesson import cells_of
from autograder.grading.results import Note, NoteKind, Outcome, Result, Status
from autograder.grading.worker.outputs import SHOWN

FEW = settings(max_examples=max(10, settings.default.max_examples // 4))  # of what is brought to a disk or a browser

ANY_LETTERS = st.characters(exclude_categories=())  # halves of a character, too


def joined(pieces: list[str], most: int = 8) -> st.SearchStrategy[str]:
    """Texts made of these pieces, odd letters and a few others."""
    ours, odd = st.sampled_from(pieces), st.sampled_from(ODD)
    piece = st.one_of(ours, ours, odd, st.text(ANY_LETTERS, max_size=4))
    return st.lists(piece, max_size=most).map("".join)


texts = st.one_of(st.text(ANY_LETTERS, max_size=20), joined(ACTIVE))
markdown = joined(ACTIVE, most=14)
sources = st.one_of(joined(CODE), markdown, st.sampled_from([cell.released for cell in cells_of(sample_lesson())]))
names = st.one_of(texts, st.text("ab.-_ '\"<>&é🙂", min_size=1, max_size=140))


# JSON


@dataclass(frozen=True)
class Token:
    """What stands in a file as it is, be it JSON or not."""

    text: str


@dataclass(frozen=True)
class Pairs:
    """An object in which a name may stand twice."""

    items: list[tuple[str, Any]]


TOKENS = ["NaN", "Infinity", "-Infinity", "1e999", "-0", "1.5", "tru", '"\\ud800"', "9" * 400, "9" * 5000]
KEYS = "cells worksheets cell_type source input metadata nbgrader grade_id id outputs nbformat".split()  # noqa: SIM905
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, st.sampled_from(TOKENS).map(Token))
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(st.tuples(st.one_of(st.sampled_from(KEYS), texts), inner), max_size=4).map(Pairs),
    ),
    max_leaves=8,
)


def dumped(value: Any) -> str:
    """JSON with all that Python's own would not write."""
    if isinstance(value, Token):
        return value.text
    if isinstance(value, dict):
        value = Pairs(list(value.items()))
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{json.dumps(name)}:{dumped(item)}" for name, item in value.items) + "}"
    return f"[{','.join(map(dumped, value))}]" if isinstance(value, list | tuple) else json.dumps(value)


# Notebooks

LESSON = "01_doubling"
WRITTEN = {
    "cell_type": "markdown",
    "id": "explain",
    "metadata": {"nbgrader": {"grade": True, "solution": True, "locked": False, "grade_id": "explain", "points": 2}},
    "source": "Write your answer here.",
}


def lesson() -> dict[str, Any]:
    """A lesson with an answer, two checks, a prediction and an answer in words."""
    notebook = sample_lesson()
    place = next(place for place, cell in enumerate(notebook["cells"]) if cell["id"] == "progress")
    marks = {**WRITTEN["metadata"]["nbgrader"], "schema_version": 3}
    notebook["cells"].insert(place, {**WRITTEN, "metadata": {"nbgrader": marks}})
    return notebook


def released() -> dict[str, Any]:
    """The lesson as students get it."""
    notebook = lesson()
    for raw, cell in zip(notebook["cells"], cells_of(notebook), strict=True):
        raw["source"] = cell.released
    return notebook


IDS = [cell["id"] for cell in lesson()["cells"]]
ids = st.one_of(st.sampled_from(IDS), texts, anything)
kinds = st.sampled_from(["code", "code", "markdown", "markdown", "raw", "heading", None, 3])
marks = st.fixed_dictionaries(
    {}, optional={"grade_id": ids, "grade": anything, "solution": anything, "points": anything}
)
metadata = st.one_of(
    anything, st.fixed_dictionaries({}, optional={"nbgrader": st.one_of(marks, anything), "tags": anything})
)
cell_sources = st.one_of(sources, st.lists(st.one_of(sources, anything), max_size=4), anything)
own_cells = st.fixed_dictionaries(
    {"cell_type": kinds, "source": cell_sources, "metadata": metadata}, optional={"id": ids, "input": cell_sources}
)
CHANGES = {"cell_type": kinds, "source": cell_sources, "metadata": metadata, "id": ids, "outputs": anything}


@st.composite
def notebooks(draw: st.DrawFn) -> dict[str, Any]:
    """The released lesson with cells changed, moved, copied, deleted and added."""
    notebook = released()
    cells = notebook["cells"]
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, max(0, len(cells) - 1)))
        match draw(st.sampled_from(["change", "change", "change", "add", "add", "copy", "move", "delete", "lose"])):
            case "change" if cells and isinstance(cells[place], dict):
                key = draw(st.sampled_from(list(CHANGES)))
                cells[place] = {**cells[place], key: draw(CHANGES[key])}
            case "lose" if cells and isinstance(cells[place], dict):
                key = draw(st.sampled_from(list(CHANGES)))
                cells[place] = {name: value for name, value in cells[place].items() if name != key}
            case "copy" if cells:
                cells.insert(draw(st.integers(0, len(cells))), copy.deepcopy(cells[place]))
            case "move" if cells:
                cells.insert(draw(st.integers(0, len(cells) - 1)), cells.pop(place))
            case "delete" if cells:
                cells.pop(place)
            case _:
                cells.insert(place, draw(st.one_of(own_cells, own_cells, anything)))
    return notebook


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """What may lie in a submission as its notebook: one, another JSON, or bytes, in any coding and cut anywhere."""
    own = st.fixed_dictionaries({"cells": st.lists(own_cells, max_size=3)})
    content = draw(st.one_of(notebooks(), notebooks(), anything, own))
    coding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32", "cp500"]))
    data = dumped(content).encode(coding, "replace")
    match draw(st.sampled_from(["as it is", "as it is", "cut", "filled", "noise"])):
        case "cut":
            return data[: draw(st.integers(0, len(data)))]
        case "filled":
            place = draw(st.integers(0, len(data)))
            return data[:place] + draw(st.binary(max_size=8)) + data[place:]
        case "noise":
            begin = draw(st.sampled_from([b"", b"PK", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]))
            return begin + draw(st.binary(max_size=50))
    return data


# Folders

FILE_NAMES = [b".ipynb", b"a.ipynb", b"01_doubling.ipynb", b"01-Doubling (1).IPYNB", b"x" * 249 + b".ipynb"]
FILE_NAMES += [b"timestamp.txt", b"caf\xe9.ipynb", b"\x1b[2J.ipynb", b"a\nb.ipynb", b".hidden", b"sub", b"-rf", b"*"]
FILE_NAMES += [b"b" * 255, b"nbgrader.py"]
file_names = st.one_of(
    st.sampled_from(FILE_NAMES),
    st.binary(min_size=1, max_size=12).map(lambda raw: raw.translate(None, b"\0/")).filter(lambda raw: raw.strip(b".")),
)
TARGETS = [b"a.ipynb", b"01_doubling.ipynb", b"sub", b".", b"..", b"/", b"/etc/passwd", b"/dev/zero", b"/proc/self"]
TARGETS += [b"x" * 300]


@dataclass(frozen=True)
class Entry:
    """What a name in a folder stands for."""

    kind: str
    content: Any = b""

    def make(self, name: bytes, at: int) -> None:
        """Make it, in a folder that is open: a path could be too long."""
        if self.kind == "link":
            os.symlink(self.content, name, dir_fd=at)
        elif self.kind == "pipe":
            os.mkfifo(name, dir_fd=at)
        elif self.kind == "socket":
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=at))
            os.unlink(name, dir_fd=at)
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(f"/proc/self/fd/{at}/{os.fsdecode(name)}"[:100])
        elif self.kind == "file":
            handle = os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=at)
            os.write(handle, self.content)
            os.close(handle)
        elif self.kind == "deep":
            entry, inner, depth = self.content
            Entry("folder", {inner: Entry("deep", (entry, inner, depth - 1)) if depth else entry}).make(name, at)
        else:
            os.mkdir(name, dir_fd=at)
            inside = os.open(name, os.O_RDONLY, dir_fd=at)
            fill(inside, self.content)
            os.close(inside)


def fill(at: int, content: dict[bytes, Entry]) -> None:
    """Make what a folder holds; what the file system does not take is not there."""
    for name, entry in content.items():
        try:
            entry.make(name, at)
        except OSError:
            continue


leaves = st.one_of(
    files().map(lambda content: Entry("file", content)),
    st.binary(max_size=5).map(lambda content: Entry("file", content)),
    st.sampled_from(TARGETS).map(lambda target: Entry("link", target)),
    st.sampled_from([Entry("pipe"), Entry("socket"), Entry("folder", {})]),
)
folders = st.dictionaries(
    file_names,
    st.one_of(
        leaves,
        leaves,
        st.builds(Entry, st.just("folder"), st.dictionaries(file_names, leaves, max_size=3)),
        st.builds(Entry, st.just("deep"), st.tuples(leaves, st.sampled_from([b"d", b"d" * 255]), st.integers(1, 60))),
    ),
    max_size=5,
)


def made(folder: Path, content: dict[bytes, Entry]) -> Path:
    """Make a submission."""
    folder.mkdir(parents=True)
    at = os.open(folder, os.O_RDONLY)
    fill(at, content)
    os.close(at)
    return folder


# Results

CHECKS = {"check_double": 3.0, "check_double_text": 1.0}
POINTS: Callable[[str], float] = CHECKS.__getitem__
durations = st.floats(allow_nan=False)
notes = st.builds(Note, st.sampled_from(NoteKind), texts, texts)


@st.composite
def outcomes(draw: st.DrawFn, check: str, points: float) -> Outcome:
    """What a check came to, in any words."""
    words = {name: draw(texts) for name in ("message", "verdict", "slip", "rule", "mistake")}
    return Outcome(check, points, draw(st.sampled_from(Status)), seconds=draw(durations), **words)


@st.composite
def results(draw: st.DrawFn, students: st.SearchStrategy[str] = names) -> Result:
    """What grading a submission of the small lesson came to, without a notebook."""
    reason = draw(st.one_of(st.just(""), st.just(""), texts))
    return Result(
        draw(students),
        LESSON,
        () if reason else tuple(draw(outcomes(check, points)) for check, points in CHECKS.items()),
        tuple(draw(st.lists(notes, max_size=3))),
        draw(st.dictionaries(st.one_of(st.just("predict_length"), texts), texts, max_size=2)),
        reason,
        draw(st.booleans()),
        seconds=draw(durations),
        peak_bytes=draw(st.integers(0)),
        unenforced=tuple(draw(st.lists(texts, max_size=2))),
    )


# Outputs of cells

PNG = "iVBORw0KGgo="
OUTPUT_KINDS = st.sampled_from(["stream", "display_data", "display_data", "execute_result", "error", "raw"])
SHOWN_KINDS = st.one_of(st.sampled_from([*SHOWN, "text/html", "image/svg+xml"]), texts)
words_of_pictures = st.one_of(st.fixed_dictionaries({"alt": texts}), anything)
FIELDS = {
    "name": st.sampled_from(["stdout", "stderr", "x"]),
    "text": texts,
    "data": st.dictionaries(SHOWN_KINDS, st.one_of(texts, st.just(PNG)), max_size=4),
    "metadata": st.dictionaries(st.sampled_from(SHOWN), words_of_pictures, max_size=2),
    "execution_count": st.none(),
    "ename": texts,
    "evalue": texts,
    "traceback": st.lists(texts, max_size=3),
}
FIELDS_OF = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


@st.composite
def outputs(draw: st.DrawFn) -> dict[str, Any]:
    """What a process may say that a cell has put out, as a rule with the fields of its kind."""
    kind = draw(OUTPUT_KINDS)
    fields = FIELDS_OF.get(kind, ()) if draw(st.integers(0, 9)) else draw(st.sets(st.sampled_from(list(FIELDS))))
    return {"output_type": kind, **{name: draw(FIELDS[name]) for name in fields}}
