# ruff: noqa: E501 (a table: one line, one fault)
"""What an instructor finds in submitted/ at the end of a term: a table of files, folders, names and events.

Each row puts something where the lesson 01_attention of one student belongs and says what comes of it: points, or words
of the reason why it cannot be graded; and words of each note, no more of them than there are.
"""

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from faults import broken_notebooks
from faults.broken_notebooks import code, duplicate, each_cell, marks, one_cell, remove, shuffled, source_of, whole

LESSON = "01_attention"
NAME = f"{LESSON}.ipynb"
WHOLE = 20.0
ONE_LOST = 18.0  # all but `causal_mask`

Notebook = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """What one student handed in."""

    what: str  # what happened, in words; the student is called so, too
    puts: Callable[[Path, Notebook], object]  # fills the folder of the submission, given a notebook that is right
    points: float | None = WHOLE  # None where nothing can be graded, for the `reason`
    reason: str = ""
    notes: tuple[str, ...] = ()
    says: str = ""  # words of the message of a check that failed
    student: str = ""  # the name of the folder, where it is the point
    recorded: bool = True  # whether the gradebook takes it


def write(path: Path, notebook: Notebook | bytes) -> None:
    """Put a file there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode("utf-8", "surrogatepass"))


def as_file(change: Callable[[Notebook], Notebook | bytes], name: str = NAME) -> Callable[[Path, Notebook], None]:
    """Hand in a changed notebook, or other bytes."""
    return lambda folder, notebook: write(folder / name, change(notebook))


def beside(name: str, content: bytes) -> Callable[[Path, Notebook], None]:
    """Hand in the right notebook and a file."""

    def puts(folder: Path, notebook: Notebook) -> None:
        write(folder / NAME, notebook)
        write(folder / name, content)

    return puts


def both(*names: str) -> Callable[[Path, Notebook], object]:
    """Hand in the right notebook under one name, or several."""
    return lambda folder, notebook: [write(folder / name, notebook) for name in names]


def older_beside_newer(folder: Path, notebook: Notebook) -> None:
    """Hand in a notebook, and another one that is a day younger."""
    write(folder / NAME, notebook)
    write(folder / "mine.ipynb", notebook)
    yesterday = (folder / NAME).stat().st_mtime - 86_400
    os.utime(folder / NAME, (yesterday, yesterday))


def linked(target: str) -> Callable[[Path, Notebook], None]:
    """Hand in a link."""

    def puts(folder: Path, notebook: Notebook) -> None:
        write(folder.parent / "elsewhere.ipynb", notebook)
        write(folder / "kept" / "mine.ipynb", notebook)
        (folder / NAME).symlink_to(target)

    return puts


def pipe(name: str, *, right: bool) -> Callable[[Path, Notebook], None]:
    """Hand in a named pipe, which whoever opens it waits for."""

    def puts(folder: Path, notebook: Notebook) -> None:
        folder.mkdir(parents=True)
        if right:
            write(folder / NAME, notebook)
        os.mkfifo(folder / name)

    return puts


def nested(folders: int, name: str) -> Callable[[Path, Notebook], None]:
    """Hand in a file so many folders of a name deep, beside a notebook that is right."""

    def puts(folder: Path, notebook: Notebook) -> None:
        write(folder / NAME, notebook)
        here = os.open(folder, os.O_RDONLY)
        for _ in range(folders):  # step by step: the whole path is longer than any call takes
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("data.csv", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.close(here)

    return puts


def outputs(size: int) -> Callable[[Notebook], Notebook]:
    """Store much output in one cell."""
    stream = {"output_type": "stream", "name": "stdout", "text": "x" * size}
    return one_cell("setup", lambda c: c.update(outputs=[stream]))


def answer(body: str) -> Callable[[Path, Notebook], None]:
    """Answer one exercise with this body."""
    return as_file(source_of("causal_mask", f"def causal_mask(size):\n{indent(body, '    ')}\n"))


def first(*sources: str) -> Callable[[Path, Notebook], None]:
    """Begin with cells of the student's own, behind the setup."""
    return as_file(whole(lambda notebook: notebook["cells"].__setitem__(slice(2, 2), map(code, sources))))


def named(student: str, what: str, *, recorded: bool = True) -> Row:
    """A row about the name of a student, who has done all right."""
    expected = (WHOLE,) if recorded else (None, "cannot be a student's name in the gradebook")
    return Row(what, both(NAME), *expected, student=student, recorded=recorded)


def generic(*names: str) -> list[Row]:
    """Rows of the table of broken notebooks that fit any lesson."""
    table = {fault.what: fault for fault in broken_notebooks.FAULTS}
    faults = [table[name] for name in names]
    return [Row(f.what, as_file(f.breaks), None if f.reason else WHOLE, f.reason, f.notes) for f in faults]


TRAP = b"from pathlib import Path\nPath(__file__).with_name('imported').touch()\nraise SystemExit('imported')\n"
TEXT = "There is no notebook"
ENDED = "ended Python, or used more memory or time than there is"
SLOW = "did not finish within"
LINK = "is a link to a file elsewhere"

ROWS = [
    # Files and folders.
    Row("the right notebook", both(NAME)),
    Row("nothing but the folder", lambda folder, nb: folder.mkdir(parents=True), None, TEXT),
    Row("no notebook", lambda folder, nb: write(folder / "notes.txt", b"sorry"), None, f"{TEXT}, only `notes.txt`."),
    Row("200 MB", lambda folder, nb: (write(folder / NAME, b""), os.truncate(folder / NAME, 200 * 2**20)), None, "200 MB, more than 50"),
    Row("60 MB of outputs", as_file(outputs(60 * 2**20)), None, "60 MB, more than 50"),
    Row("20 MB of outputs", as_file(outputs(20 * 2**20))),
    Row("two notebooks, one of the right name", both(NAME, "scratch.ipynb"), notes=(f"; `{NAME}` was graded",)),
    Row("two notebooks, none of the right name", both("a.ipynb", "b.ipynb"), None, "several notebooks, a.ipynb, b.ipynb"),
    Row("downloaded twice", both(f"{LESSON} (1).ipynb"), notes=(f"called `{LESSON} (1).ipynb`",)),
    Row("a copy in Colab", both(f"Copy of {NAME}"), notes=(f"called `Copy of {NAME}`",)),
    Row("a name that redraws the terminal", both("\x1b[2Jhi.ipynb"), notes=("called `?[2Jhi.ipynb`",)),
    Row("a folder in the folder", both(f"{LESSON}/{NAME}"), notes=("lay in a folder of its own",)),
    Row("a folder of the notebook's name", lambda folder, nb: (folder / NAME).mkdir(parents=True), None, TEXT),
    Row("a link out of the folder", linked("../elsewhere.ipynb"), None, LINK),
    Row("a link to the solutions", linked(f"../../../solutions/{LESSON}/{NAME}"), None, LINK),
    Row("a link within the folder", linked("kept/mine.ipynb")),
    Row("a folder that is a link", lambda folder, nb: (write(folder.parent / "elsewhere" / NAME, nb), folder.symlink_to("elsewhere")), None, "is a link. Put a folder there"),
    Row("a link to nothing", linked("nothing.ipynb"), None, TEXT),
    Row("a link to nothing elsewhere", linked("/nothing.ipynb"), None, LINK),
    Row("a link to itself", linked(NAME), None, TEXT),
    Row("a named pipe", pipe(NAME, right=False), None, TEXT),
    Row("a named pipe beside it", pipe("data.csv", right=True), notes=("Not kept",)),
    Row("a named pipe for the time", pipe("timestamp.txt", right=True), notes=("When it was handed in", "Not kept")),
    Row("a file a thousand folders deep", nested(1200, "a"), notes=("Not kept",)),
    Row("a path longer than any may be", nested(30, "b" * 200), notes=("Not kept",)),
    Row("a path that just fits", nested(3, "c" * 255)),
    Row("a time that is none", beside("timestamp.txt", b"yesterday\n"), notes=("When it was handed in is not known",)),
    *(
        Row(f"a time that is {text[:10]}", beside("timestamp.txt", text.encode()), notes=("When it was handed in is not known",))
        for text in ("9" * 30 + "h", "1" * 999, "10:00 AM XYZ", "2026-13-01", "0001-01-01 00:00 +1400", "NaN", "2026-01-01 10:00 ../UTC")
    ),
    Row("a time in bytes", beside("timestamp.txt", b"\xff\xfe\x00"), notes=("When it was handed in is not known",)),
    Row("a time", beside("timestamp.txt", b"2030-01-02 12:00:00 UTC\n")),
    Row("nobody may read it", lambda folder, nb: (write(folder / NAME, nb), (folder / NAME).chmod(0)), *((WHOLE,) if os.geteuid() == 0 else (None, "cannot be read"))),
    *(Row(f"{name} beside it", beside(name, TRAP)) for name in ("torch.py", "sitecustomize.py", "conftest.py", "autograder.py")),
    # Names.
    named("Zoë Ångström-O'Brien \"Z\"", "accents and quotes"),
    named("-rf", "a dash in front"),
    named("[red]a\\", "markup"),
    named("100% {x} $HOME *?", "signs that mean something somewhere"),
    named("李小龙", "another script"),
    named("n" * 128, "128 characters"),
    named("n" * 200, "200 characters", recorded=False),
    named("two\nlines", "two lines", recorded=False),
    named(os.fsdecode(b"caf\xe9"), "Latin-1", recorded=False),
    # What has happened to the notebook.
    *generic("saved by Colab", "Windows line ends", "format 4.0, without ids", "format 5", "format 3", "checks unlocked", "new ids of all cells", "cells that are none", "nbgrader's marks lost, the ids not"),
    *generic(*(fault.what for fault in broken_notebooks.FAULTS if fault.reason), "UTF-16", "a mark of byte order"),
    Row("another lesson", as_file(lambda nb: json.loads(json.dumps(broken_notebooks.RELEASED))), None, broken_notebooks.NOT_THIS_LESSON),
    Row("another lesson, under its own name", as_file(lambda nb: json.loads(json.dumps(broken_notebooks.RELEASED)), "02_multi_head_attention.ipynb"), None, broken_notebooks.NOT_THIS_LESSON, notes=("called `02_multi_head_attention.ipynb`",)),
    Row("all ids the same", as_file(each_cell(lambda c: c.update(id="same")))),
    Row("an answer twice", as_file(duplicate("causal_mask", "def causal_mask(size):\n    return None", behind=False)), notes=("`causal_mask` stood in 2 cells",)),
    Row("a check deleted", as_file(remove("check_causal_mask_values")), notes=("`check_causal_mask_values` had been deleted",)),
    Row("an answer deleted", as_file(remove("causal_mask")), ONE_LOST, notes=("`causal_mask` is not in the notebook",), says="is not written yet"),
    Row("cells stirred", as_file(shuffled), notes=("another order",)),
    Row("all points taken", as_file(each_cell(lambda c: marks(c, points="many", grade_id=7))), notes=(broken_notebooks.MARKS,)),
    Row("an older notebook of the right name beside a newer one", older_beside_newer, notes=("There is `mine.ipynb` as well, newer",)),
    Row("a text of 20 MB", as_file(lambda nb: {**nb, "cells": [*nb["cells"], {"cell_type": "markdown", "metadata": {}, "source": "x" * 20 * 2**20}]}), None, "letters, more than"),
    Row("brackets too deep", as_file(lambda nb: json.dumps(nb).encode()[:-1] + b', "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), None, "is no notebook"),
    Row("numbers that are none", as_file(whole(lambda nb: nb["metadata"].update(a=float("nan"), b=float("inf"))))),
    Row("cells without sources", as_file(whole(lambda nb: nb["cells"].extend([{"cell_type": "code", "metadata": {}}, {"cell_type": "markdown", "source": None}, {}])))),
    Row("worksheets that are none", as_file(lambda nb: {"worksheets": [1, {"cells": 5}, {"cells": {"a": 1}}]}), None, "no cell with anything in it"),
    Row("a notebook saved with another ending", both(f"{NAME}.txt"), notes=("called `01_attention.ipynb.txt`",)),
    Row("noise", as_file(lambda nb: bytes(zlib.crc32(bytes([i])) % 256 for i in range(256)) * 50), None, "is no notebook"),
    # What happens while it runs.
    Row("an endless loop", answer("while True: pass"), ONE_LOST, says=SLOW),
    Row("an endless loop that catches all", answer("while True:\n    try:\n        while True: pass\n    except BaseException: pass"), ONE_LOST, says=SLOW),
    Row("an endless loop in a cell", first("while True: pass"), notes=("was interrupted after 6 seconds",)),
    Row("sleep in a check", answer("import time\ntime.sleep(1000)"), ONE_LOST, says=SLOW),
    Row("the end of Python", answer("import os\nos._exit(0)"), ONE_LOST, says=ENDED),
    Row("a segmentation fault", answer("import ctypes\nctypes.string_at(0)"), ONE_LOST, says=ENDED),
    Row("a segmentation fault in a cell", first("import ctypes", "ctypes.string_at(0)"), notes=("ended Python",)),
    Row("exit", answer("exit()"), ONE_LOST),
    Row("exit in a cell", first("exit()", "quit()")),
    Row("SystemExit", answer("raise SystemExit(0)"), ONE_LOST),
    Row("SystemExit in a cell", first("raise SystemExit(3)")),
    Row("KeyboardInterrupt", answer("raise KeyboardInterrupt"), ONE_LOST),
    Row("memory without end", answer("kept = []\nwhile True: kept.append(torch.empty(2**24, dtype=torch.uint8))"), ONE_LOST),
    Row("memory without end in a cell", first("def fill():\n    kept = []\n    while True: kept.append(torch.empty(2**24, dtype=torch.uint8))\nfill()")),
    Row("words without end", answer("while True: print('x' * 1000)"), ONE_LOST, says=SLOW),
    Row("words without end in a cell", first("while True: print('x' * 1000)"), notes=("was interrupted after 6 seconds",)),
    Row("a message of 20 MB", answer("raise ValueError('x' * 20 * 2**20)"), ONE_LOST),
    Row("threads left running", first("import threading, time\nfor _ in range(8): threading.Thread(target=time.sleep, args=(1000,)).start()")),
    Row("a thread that computes", first("import threading\ndef forever():\n    while True: pass\nthreading.Thread(target=forever, daemon=True).start()")),
    Row("input", answer("return int(input('size'))"), ONE_LOST, says="input"),
    Row("input in a cell", first("input('name')")),
    Row("processes left running", first("import os\nif os.fork() == 0:\n    while True: pass")),
    Row("a signal to all", first("import os, signal\nos.kill(-1, signal.SIGKILL)")),
    Row("recursion without end", answer("return causal_mask(size)"), ONE_LOST),
    Row("standard output closed", first("import os, sys\nos.close(1), os.close(2)\nsys.stdout.close()")),
    Row("all files closed", answer("import os\nos.closerange(0, 256)"), ONE_LOST),
    Row("a file without end", answer("with open('big', 'wb') as file:\n    while True: file.write(bytes(2**20))"), ONE_LOST),
    # The last one: nothing of all this reached it.
    Row("the right notebook, last of all", both(NAME), student="zzz honest"),
]  # fmt: skip
