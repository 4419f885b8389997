# ruff: noqa: E501 (tables: one line, one fault)
"""What becomes of notebooks on their way from a student to the grader: a table of faults.

Each row breaks a solved notebook of lesson 2 and says what repair should tell of it: words of its notes, or of the
reason why nothing can be graded. Where it can be graded, answers and checks are those of the notebook before.
"""

import base64
import copy
import gzip
import io
import json
import lzma
import random
import zipfile
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
    """One way in which a submission is broken."""

    what: str
    # changes the notebook in place and returns it, or returns the bytes of the file
    breaks: Callable[[Notebook], Notebook | bytes]
    notes: tuple[str, ...] = ()  # words of each note that repair makes, in any order
    reason: str = ""  # words of the reason why it cannot be graded, "" where it can
    lost: tuple[str, ...] = ()  # answers that are gone for good


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
GIVEN = next(cell.source for cell in RELEASED.cells if cell.id == "exercises")
ANSWERS = tuple(cell.id for cell in RELEASED.cells if cell.metadata.get("nbgrader", {}).get("solution"))
EDITED = "assert True  # it worked at home"
CHANGED = ("`check_merge_heads_values` had been changed",)
IN_ITS_OWN_CELL = ("`merge_heads` stood in a cell of its own",)
MARKS = "lost nbgrader's marks"
MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": "# Mine"}
JULIA = {"name": "julia-1.9", "display_name": "Julia"}
NOT_THIS_LESSON = "None of this lesson's exercises is in the notebook"


def marks(cell: Cell, **changes: Any) -> None:
    """Change nbgrader's metadata of a cell that has it."""
    if "nbgrader" in cell["metadata"]:
        cell["metadata"]["nbgrader"].update(changes)


def zipped(*names: str) -> Callable[[Notebook], bytes]:
    """Pack files of these names, the notebook in each."""

    def packed(notebook: Notebook) -> bytes:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            for name in names:
                target.writestr(name, json.dumps(notebook))
        return archive.getvalue()

    return packed


def conflict(ours: str, theirs: str, *, base: bool = False) -> Callable[[Notebook], bytes]:
    """Change a text in the notebook's JSON on two branches, and merge them."""

    def merged(notebook: Notebook) -> bytes:
        lines = []
        for line in json.dumps(notebook, indent=1).splitlines(keepends=True):
            if ours in line:
                middle = f"||||||| 1a2b3c4\n{line}" if base else ""
                line = f"<<<<<<< HEAD\n{line}{middle}=======\n{line.replace(ours, theirs)}>>>>>>> main\n"
            lines.append(line)
        return "".join(lines).encode()

    return merged


# What, the bytes of the file, and words of the reason.
FILES = [
    ("an empty file", b"", "The file is empty"),
    ("spaces alone", b" \n\n", "The file is empty"),
    ("zeros alone", bytes(2000), "nothing but zeros"),
    ("a web page saved by the browser", b"<!DOCTYPE html><html>Sign in</html>", "it is a web page"),
    ("a web page with a comment", b"<!-- saved from url=(0044)https://colab.research.google.com/ -->\n<html>", "it is a web page"),
    ("XHTML", b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC>\n<html xmlns="a">', "it is a web page"),
    ("a piece of a web page", b"<div class='jp-Notebook'></div>", "it is a web page"),
    ("a web page in one file", b"From: <Saved by Blink>\nSnapshot-Content-Location: https://a\n", "a saved web page or mail"),
    ("an error of a store", b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "it is a web page"),
    ("a PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "it is a PDF"),
    ("a screenshot", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is a picture"),
    ("a photo", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "it is a picture"),
    ("a photo of a telephone", b"\0\0\0\x18ftypheic\0\0\0\0", "it is a picture"),
    ("a film", b"\0\0\0\x18ftypmp42\0\0\0\0", "a film or a recording"),
    ("a packed folder", b"7z\xbc\xaf'\x1c\0\x04", "a packed archive. Unpack it"),
    ("an old Word file", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an office document"),
    ("RTF", b"{\\rtf1\\ansi { notebook }}", "an office document"),
    ("Git LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS. Fetch the notebook itself (`git lfs pull`)"),
    ("git-annex", b"/annex/objects/SHA256E-s12345--4d7a.ipynb\n", "a pointer of git-annex. Fetch the notebook itself (`git annex get`)"),
    ("git-annex, as a link", b"../../.git/annex/objects/k5/9J/SHA256E-s1--4d/SHA256E-s1--4d.ipynb", "a pointer of git-annex"),
    ("DVC", b"outs:\n- md5: d8e8fca2dc0f896fd7cb4cb0031ba249\n  size: 5\n  path: a.ipynb\n", "a pointer of DVC"),
    ("a link in git", b"../shared/02_multi_head_attention.ipynb", "nothing but the name of a file"),
    ("a Google document", b'{"url": "https://docs.google.com/open?id=1", "doc_id": "1", "email": "a@b.c"}', "a link of Google Drive"),
    ("a Google shortcut", b'{"":"WARNING! DO NOT EDIT THIS FILE!","doc_id":"1","resource_key":"","email":"a@b.c"}', "a link of Google Drive"),
    ("a shortcut of Windows", b"[InternetShortcut]\r\nURL=https://colab.research.google.com/drive/1\r\n", "a link to a web page"),
    ("a shortcut of macOS", b'<?xml version="1.0"?>\n<plist version="1.0"><dict><key>URL</key><string>a</string></dict></plist>', "a link to a web page"),
    ("a link of Windows", b"L\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0F", "a shortcut to a file elsewhere"),
    ("an alias of macOS", b"book\0\0\0\0mark\0\0\0\0", "a shortcut to a file elsewhere"),
    ("what macOS keeps beside it", b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ", "what macOS keeps beside a file"),
    ("a link alone", b"https://colab.research.google.com/drive/1aB?usp=sharing\n", "nothing but a link"),
    ("a script", b"#!/usr/bin/env python\nimport torch\n", "a Python script"),
    ("a script as Colab writes it", b'# -*- coding: utf-8 -*-\n"""02.ipynb\n\nAutomatically generated by Colab.\n"""\n', "a Python script"),
    ("a script as Jupyter writes it", b"# In[1]:\n\n\nimport torch\n", "a Python script"),
    ("a script with comments in front", b"# My homework\n# Ada\n\ndef merge_heads(x):\n    return x\n", "a Python script"),
    ("a script in cells", b"# %% [markdown]\n# Heads\n", "a Python script"),
    ("Jupytext", b"---\njupyter:\n  jupytext:\n    formats: ipynb,md\n---\n\n# Heads\n", "as text (Jupytext)"),
    ("Markdown", b"# Heads\n\nText.\n\n```python\nimport torch\n```\n", "a Markdown text"),
    ("LaTeX", b"\\documentclass{article}\n", "a text for LaTeX"),
    ("a patch", b"diff --git a/a.ipynb b/a.ipynb\nindex 1..2\n", "a list of changes"),
    ("a pickle", b"\x80\x04\x95\x1f\0\0\0\0\0\0\0.", "data of another program"),
    ("a mail", b"Return-Path: <a@b.c>\nReceived: from x\n", "a saved web page or mail"),
    ("a word", b"sorry", "line 1 is no JSON"),
    ("JSON of something else", b'{"answers": [1, 2]}', "has no cells"),
    ("a number", b"20", "has no cells"),
    ("a list", b"[1, 2]", "has no cells"),
    ("brackets without end", b"[" * 200_000, "is no notebook"),
    ("braces without end", b'{"a":' * 100_000, "it is nested too deeply"),
    # What is broken before its end is not cut off; what ends in a million backslashes is found to be in no time.
    ("a comma missing, and its end", b'{"cells": [1 2, ', "its JSON is broken in line 1"),
    ("a comma too many, no cells", b'{"cells": [],}', "its JSON is broken in line 1"),
    ("a word behind it", b'{"cells": []} more', "behind the notebook's end (line 1)"),
    ("a conflict, and its end missing", b'{"cells": [\n<<<<<<< HEAD\n', "conflict marks stand in line 2."),
    ("a text over two lines", b'{"source": "a\nb', "line 1 is no JSON"),
    ("another language", b"x = {", "line 1 is no JSON"),
    ("JSON and bytes", b'{"b": "\xff\xff', "it is no text"),
    ("a long number", b'{"cells": [' + b"1" * 5000 + b"]}", "a number in it is too long"),
    ("a million backslashes", b'{"a": "' + b"\\" * 10**6 + b"! ", "is cut off"),
]  # fmt: skip

FAULTS = [
    # What is no fault: no note may be made of it.
    Fault("nothing", whole(lambda nb: None)),
    Fault("saved by Colab", colab_save),
    Fault("run from top to bottom", printed),
    Fault("spaces at the ends of lines", each_cell(lambda c: c.update(source=c["source"].replace("\n", " \n") + "\n\n"))),
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
    Fault("another given cell's text under an id", duplicate("setup", GIVEN)),
    Fault("a given cell's text under an answer's id", duplicate("merge_heads", GIVEN)),
    Fault("schema_version of nbgrader edited", each_cell(lambda c: marks(c, schema_version=99))),
    Fault("points of nbgrader edited", each_cell(lambda c: marks(c, points=1000))),
    Fault("checks unlocked", each_cell(lambda c: marks(c, locked=False, grade=False))),
    Fault("new ids of all cells", each_cell(lambda c: c.update(id=f"n{zlib.crc32(c['source'].encode())}"))),
    Fault("ids too long and with spaces", each_cell(lambda c: c.update(id=c["id"] * 9 + " ! "))),
    # What is mended, and said.
    Fault("another answer of that name above", duplicate("merge_heads", "def merge_heads(x):\n    return x", behind=False), ("`merge_heads` stood in 2 cells",)),
    Fault("a check edited", source_of("check_merge_heads_values", EDITED), CHANGED),
    Fault("a check emptied", source_of("check_merge_heads_values", ""), CHANGED),
    Fault("a check deleted", remove("check_merge_heads_values"), ("`check_merge_heads_values` had been deleted",)),
    Fault("all checks deleted", remove(*CHECKS), ("12 deleted, 0 changed",)),
    Fault("all checks edited", whole(lambda nb: [c.update(source=EDITED) for c in nb["cells"] if c.get("id") in CHECKS]), ("0 deleted, 12 changed",)),
    Fault("an answer deleted", remove("merge_heads"), ("`merge_heads` is not in the notebook",), lost=("merge_heads",)),
    Fault("an answer deleted together with its checks", remove("merge_heads", "check_merge_heads_shape", "check_merge_heads_values"), ("`merge_heads` is not", "`check_merge_heads_shape` had been deleted", "`check_merge_heads_values` had been deleted"), lost=("merge_heads",)),
    Fault("the answer in a cell of its own", own_cell, IN_ITS_OWN_CELL),
    Fault("the same, above code too deep to parse", lambda nb: too_deep(own_cell(nb)), IN_ITS_OWN_CELL),
    Fault("the answer's mark lost", one_cell("merge_heads", lambda c: c.update(metadata={}, id="x1")), ("`merge_heads` was found by its name",)),
    Fault("the answer turned to markdown", retyped("merge_heads", "markdown"), ("`merge_heads` stood in a markdown cell",)),
    Fault("the answer turned to raw text", retyped("merge_heads", "raw"), ("`merge_heads` stood in a raw cell",)),
    Fault("a check turned to markdown", retyped("check_merge_heads_values", "markdown")),
    Fault("all marks and ids lost", without_marks, (MARKS, *(f"`{name}` was found by its name" for name in ANSWERS))),
    Fault("nbgrader's marks lost, the ids not", each_cell(lambda c: c.update(metadata={})), (MARKS,)),
    Fault("metadata that are no table", each_cell(lambda c: c.update(metadata=[1, 2])), (MARKS,)),
    Fault("cells stirred", shuffled, ("another order",)),
    Fault("the last exercise first", whole(lambda nb: nb["cells"].insert(0, nb["cells"].pop(place(nb, "MultiHeadAttention")))), ("another order",)),
    Fault("format 3", version_3),
    Fault("cells that are none", whole(lambda nb: nb["cells"].extend([1, None, "x", {"cell_type": "nonsense"}, {}]))),
    Fault("half characters", insert("merge_heads", code("s = '\ud800'"))),
    # What is not quite a notebook, and can be graded.
    Fault("UTF-16", lambda nb: json.dumps(nb).encode("utf-16")),
    Fault("UTF-16 without a mark of byte order", lambda nb: json.dumps(nb).encode("utf-16-le")),
    Fault("UTF-32", lambda nb: json.dumps(nb).encode("utf-32")),
    Fault("a mark of byte order", lambda nb: b"\xef\xbb\xbf" + json.dumps(nb).encode()),
    Fault("Latin-1", lambda nb: json.dumps(insert("merge_heads", code("s = 'é'"))(nb), ensure_ascii=False).encode("cp1252", "backslashreplace")),
    Fault("zeros behind it", lambda nb: json.dumps(nb).encode() + bytes(512)),
    Fault("in a text of JSON", lambda nb: json.dumps(json.dumps(nb)).encode()),
    Fault("in a list", lambda nb: json.dumps([nb]).encode()),
    Fault("its cells alone", lambda nb: json.dumps(nb["cells"]).encode()),
    Fault("as Jupyter's server sends it", lambda nb: json.dumps({"name": "a.ipynb", "format": "json", "content": nb}).encode()),
    Fault("a conflict in numbers and outputs alone", conflict('"execution_count":', '"execution_count" :')),
    Fault("the same, with the common ancestor", conflict('"execution_count":', '"execution_count" :', base=True)),
    # What nobody can grade.
    Fault("another lesson's notebook", whole(lambda nb: nb.update(cells=[code("def other(): pass")])), reason=NOT_THIS_LESSON),
    Fault("no cells", whole(lambda nb: nb.update(cells=[])), reason="no cell with anything in it"),
    Fault("cells without a word", whole(lambda nb: nb.update(cells=[code(" \n")] * 3)), reason="no cell with anything in it"),
    Fault("2,001 cells", whole(lambda nb: nb["cells"].extend([MARKDOWN] * (2001 - len(nb["cells"])))), reason="has 2,001 cells, more than 2,000"),
    Fault("five million letters", whole(lambda nb: nb.update(cells=[code("x" * 5_000_000)])), reason="has 5,000,000 letters, more than 4,000,000"),
    Fault("a text of one's own", whole(lambda nb: nb.update(cells=[MARKDOWN])), reason=NOT_THIS_LESSON),
    *(Fault(what, lambda nb, raw=raw: raw, reason=reason) for what, raw, reason in FILES),
    Fault("cut off in transfer", lambda nb: json.dumps(nb).encode()[:5000], reason="The file is cut off. Download"),
    Fault("its beginning is missing", lambda nb: json.dumps(nb).encode()[5000:], reason="The beginning of the notebook is missing"),
    Fault("a zip archive", zipped("homework/a.ipynb"), reason="it is a zip archive. Unpack it"),
    Fault("Word", zipped("[Content_Types].xml", "word/document.xml"), reason="an office document"),
    Fault("Excel", zipped("[Content_Types].xml", "xl/workbook.xml"), reason="an office document"),
    Fault("weights", zipped("model/data.pkl", "model/data/0"), reason="what PyTorch saves"),
    Fault("packed by gzip", lambda nb: gzip.compress(json.dumps(nb).encode()), reason="a packed archive. Unpack it"),
    Fault("packed by xz", lambda nb: lzma.compress(json.dumps(nb).encode()), reason="a packed archive. Unpack it"),
    Fault("Base64", lambda nb: base64.b64encode(json.dumps(nb).encode()), reason="a notebook in Base64"),
    Fault("as Python prints it", lambda nb: repr(nb).encode(), reason="as Python prints it"),
    Fault("quotes of a word processor", lambda nb: json.dumps(nb).replace('"', "“").encode(), reason="quotes of a word processor"),
    Fault("random bytes", lambda nb: random.Random(0).randbytes(2000), reason="The file is no notebook (it is no text"),
    Fault("a comma too many", lambda nb: json.dumps(nb, indent=1).encode().replace(b"\n}", b",\n}"), reason="its JSON is broken in line"),
    Fault("a comma behind it", lambda nb: json.dumps(nb).encode() + b",\n", reason="behind the notebook's end (line 1)"),
    Fault("a brace behind it", lambda nb: json.dumps(nb, indent=1).encode() + b"}", reason="behind the notebook's end"),
    Fault("between fences", lambda nb: b"```json\n" + json.dumps(nb).encode() + b"\n```\n", reason="in front of the notebook and behind"),
    Fault("with its answer's head", lambda nb: b"HTTP/1.1 200 OK\n\n" + json.dumps(nb).encode(), reason="in front of the notebook, so"),
    Fault("two notebooks in one file", lambda nb: json.dumps(nb).encode() * 2, reason="Two notebooks stand in the file"),
    Fault("a conflict in an answer", conflict('"source": "def ', '"source": "def  '), reason="conflict marks stand in lines "),
    Fault("a conflict, half resolved", lambda nb: conflict('"source": "def ', '"source": "def  ')(nb).replace(b"<<<<<<< HEAD\n", b""), reason="a merge was not finished: git's conflict marks stand in line"),
    Fault("a conflict above all", lambda nb: b"<<<<<<< HEAD\n" + json.dumps(nb).encode(), reason="conflict marks stand in line 1"),
    Fault("many conflicts", conflict('"cell_type"', '"cell_kind"'), reason=" more places. Choose one version"),
]  # fmt: skip
