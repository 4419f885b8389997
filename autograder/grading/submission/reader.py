"""Read what a student handed in: any folder, any file, any bytes.

Whatever cannot be graded is told apart by a reason that says what is so and what to do; nothing else is raised.
"""

import codecs
import itertools
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import files
from autograder.course.names import printable
from autograder.grading.submission.kinds import EXPORT, HEAD, MOST_NAMED, Merge, kind_of, unfinished_merge

MOST_BYTES = 50 * 2**20
MOST_CELLS = 2000
MOST_FOLDERS = 20  # in which a notebook is looked for
MOST_LETTERS = 4 * 10**6  # of all sources together
MOST_SEEN = 1000  # files that are looked at for it
MOST_WRAPPERS = 3  # around a notebook, in each other
TIME = "timestamp.txt"  # nbgrader's, which says when something was handed in
SECRET = "submission_secret.txt"  # nbgrader's, by which the exchange gives feedback back
KINDS = ("code", "markdown", "raw")
NOTEBOOK = re.compile(r"\.ipynb(\.(txt|json))?$", re.IGNORECASE)  # as some browsers save it
NO_BEGINNING = "The beginning of the notebook is missing. Download it again, and hand in the new one."
UNFINISHED = re.compile(r"[\w.+\\-]+")  # a number, a word or an escape that may go on


class NotGradable(Exception):
    """A submission that no grading can do anything with; the text says what is so, then what to do."""


@dataclass(frozen=True)
class SubmittedCell:
    """A cell as a student handed it in."""

    kind: str  # "code", "markdown" or "raw"
    source: str
    grade_id: str = ""  # nbgrader's id, "" where it is lost
    id: str = ""  # the cell's own id, "" where there is none


def find(folder: Path, lesson: str) -> tuple[Path, list[str]]:
    """Find a lesson's notebook in a student's folder, whatever a browser made of its name, with notes on what was odd.

    Raise NotGradable where there is none, or several of which none is meant more than another.
    """
    if not folder.is_dir():
        raise NotGradable("Nothing was handed in.")
    if link := next((_shown(path) for path in (folder, folder.parent) if path.is_symlink()), ""):
        raise NotGradable(f"The folder `{link}` is a link. Put a folder there, with the notebook in it.")
    try:
        entries = sorted(folder.iterdir())
        found, links = _notebooks(entries, folder)
        if not any(NOTEBOOK.search(path.name) for path in entries):
            inside = [path for path in entries if not path.is_symlink() and path.is_dir() and path.name[0] != "."]
            found = [file for path in inside[:MOST_FOLDERS] for file in _notebooks(sorted(path.iterdir()), folder)[0]]
    except OSError as error:
        raise NotGradable(f"The folder cannot be read ({error.strerror}). Hand it in again.") from None
    named = [path for path in found if path.name == f"{lesson}.ipynb"]
    alike = [path for path in found if plain(lesson) in plain(path.stem)]
    for candidates in (named, alike, found):
        if len(candidates) == 1:
            path = candidates[0]
            notes = [] if path in named else [f"The file is called `{_shown(path)}`, not `{lesson}.ipynb`."]
            if path.parent != folder:
                notes.append(f"The file lay in a folder of its own, `{_shown(path.parent)}`.")
            if others := ", ".join(f"`{_shown(other)}`" for other in found[:MOST_FOLDERS] if other != path):
                newer = any(other.stat().st_mtime > path.stat().st_mtime for other in found)
                notes.append(f"There is {others} as well{', newer' if newer else ''}; `{_shown(path)}` was graded.")
            return path, notes
        if candidates:
            names = ", ".join(map(_shown, candidates[:MOST_NAMED])) + (", …" if len(candidates) > MOST_NAMED else "")
            raise NotGradable(f"There are several notebooks, {names}. Leave the one that counts, as {lesson}.ipynb.")
    if links:
        raise NotGradable(f"`{_shown(links[0])}` is a link to a file elsewhere. Put the notebook itself there.")
    if only := _only(folder):
        raise NotGradable(f"There is no notebook, only {only}. Hand in the notebook itself, {lesson}.ipynb.")
    raise NotGradable(f"There is no notebook. It should be called {lesson}.ipynb.")


def read_in(folder: Path, lesson: str, names: Sequence[str] = ()) -> tuple[Path, bytes, list[str]]:
    """Read what a student handed in for a lesson: one notebook of its name, or several `names` as one.

    Return the path of the first notebook, its bytes or those of all together, and notes on what was odd; raise
    NotGradable where there is none of them.
    """
    if len(names) < 2:
        path, notes = find(folder, *names or [lesson])
        return path, bytes_of(path), notes
    first, cells, notes, reasons = folder / f"{names[0]}.ipynb", list[SubmittedCell](), list[str](), list[str]()
    for name in names:
        try:
            path, odd = find(folder, name)
            if path.stem != name and path.stem in names:
                raise NotGradable(f"There is no {name}.ipynb.")
            cells += cells_of(bytes_of(path))
            notes += [] if path.stem == name else odd
        except NotGradable as error:
            reasons.append(str(error))
    if not cells:
        raise NotGradable(" ".join(dict.fromkeys(reasons)))
    marks = [{"nbgrader": {"grade_id": cell.grade_id}} if cell.grade_id else {} for cell in cells]
    raw = [
        {"cell_type": cell.kind, "source": cell.source, "id": cell.id, "metadata": mark}
        for cell, mark in zip(cells, marks, strict=True)
    ]
    return first, json.dumps({"cells": raw}).encode(), notes + reasons


def _notebooks(entries: Sequence[Path], folder: Path) -> tuple[list[Path], list[Path]]:
    """Notebooks among the entries of a folder, and links to some that are outside of the submission."""
    named = [path for path in entries if NOTEBOOK.search(path.name)]
    outside = [
        path
        for path in named
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder.resolve())
    ]
    return [path for path in named if path not in outside and path.is_file()], outside


def _only(folder: Path) -> str:
    """The files that were handed in where no notebook was, the first of them by name."""
    seen = itertools.islice(files.walk(folder, wanted=lambda name: name[0] != "." and name != TIME), MOST_SEEN)
    names = [f"`{_shown(path)}`" for path in seen if os.path.isfile(path) and not os.path.islink(path)]
    return ", ".join(names[:MOST_NAMED]) + (" and more" if len(names) > MOST_NAMED else "")


def _shown(path: Path) -> str:
    """A file's name as it may be shown: nothing in it moves a cursor, and it fits a line."""
    return printable(path.name[:80])


def plain(name: str) -> str:
    """A name by its letters and digits alone, by which a browser's or a student's variants of it are known."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def bytes_of(path: Path) -> bytes:
    """Read a submitted file; NotGradable where it cannot be read, or is larger than a notebook may be."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            megabytes = f"{size / 2**20:.0f} MB, more than {MOST_BYTES / 2**20:.0f}"
            raise NotGradable(f"The file has {megabytes}. Clear the outputs of the notebook and hand it in again.")
        return path.read_bytes()
    except OSError as error:
        raise NotGradable(f"The file cannot be read ({error.strerror}). Hand it in again.") from None


def cells_of(raw: bytes) -> list[SubmittedCell]:
    """Read a notebook's bytes; NotGradable where they are no notebook of any version."""
    if not raw.strip(b"\0 \t\r\n"):
        raise NotGradable(f"The file {'holds nothing but zeros' if raw.strip() else 'is empty'}. Hand it in again.")
    text = _text_of(raw)
    try:
        notebook = _unwrapped(json.loads(text))
    except (ValueError, RecursionError) as error:
        if (merge := unfinished_merge(text)) is not None:
            return _cells_of_both(merge)
        raise NotGradable(_why_not(raw, text, error)) from None
    if _raw_cells(notebook) is None and (kind := kind_of(raw, text)) is not None:
        raise NotGradable(str(kind))
    return cells_in(notebook)


def printed(raw: bytes) -> list[str]:
    """What a notebook's cells had printed when it was saved, as it says itself; nothing where it is no notebook."""
    try:
        cells = _raw_cells(_unwrapped(json.loads(_text_of(raw))))
    except (ValueError, RecursionError):
        return []
    lists = [cell.get("outputs") for cell in cells or () if isinstance(cell, dict)]
    outputs = [output for outputs in lists if isinstance(outputs, list) for output in outputs]
    return [_text(output.get("text")) for output in outputs if isinstance(output, dict)]


def _text_of(raw: bytes) -> str:
    """What is in a file, as far as it is text; zeros behind it are what a disk has in place of what never came."""
    try:
        return raw.decode(json.detect_encoding(raw)).rstrip("\0")
    except UnicodeError:  # as some editors save it, and what is no text at all
        text = raw.decode("utf-8", "replace")
        return raw.decode("cp1252", "replace") if text.replace("\ufffd", "").isascii() else text


def _unwrapped(notebook: Any) -> Any:
    """A notebook out of what is around it: quotes, a list, or what Jupyter's server and others put it into."""
    for _ in range(MOST_WRAPPERS):
        if _raw_cells(notebook) is not None:
            break
        if isinstance(notebook, str):
            notebook = json.loads(notebook)
        elif (
            isinstance(notebook, list) and notebook and all(isinstance(e, dict) and "cell_type" in e for e in notebook)
        ):
            notebook = {"cells": notebook}
        else:
            inside = notebook.values() if isinstance(notebook, dict) else notebook if isinstance(notebook, list) else ()
            inside = [each for each in inside if _raw_cells(each) is not None or _is_json(each, '"cells"')]
            if len(inside) != 1:
                break
            notebook = inside[0]
    return notebook


def _cells_of_both(merge: Merge) -> list[SubmittedCell]:
    """The cells of a merge that was not finished where its sides differ in outputs alone; NotGradable elsewhere."""
    try:
        ours, theirs = (cells_in(json.loads(side)) for side in merge.sides)
    except (ValueError, RecursionError, NotGradable):
        raise NotGradable(str(merge)) from None
    if [(cell.kind, cell.source) for cell in ours] != [(cell.kind, cell.source) for cell in theirs]:
        raise NotGradable(str(merge))
    return ours


def _why_not(raw: bytes, text: str, error: ValueError | RecursionError) -> str:
    """What a file is that is no JSON, and what to do."""
    if _is_cut_off(raw, json.detect_encoding(raw)):
        return "The file is cut off. Download it again, and hand in the new one."
    if around := _around(text):
        return around
    words = [word in text for word in ('"cell_type"', '"nbformat"', '"cells"')]
    looks_right, begins = any(words), text.lstrip()[:1]
    if begins not in ("{", "<") and all(words[:2]):  # it may begin anywhere, like a Markdown text
        return NO_BEGINNING
    if (kind := kind_of(raw, text)) is not None:
        return str(kind)
    if looks_right and begins != "{":
        return NO_BEGINNING
    if isinstance(error, json.JSONDecodeError) and looks_right:
        return (
            "The file is a notebook that Jupyter cannot open: its JSON is broken in "
            f"line {error.lineno} ({error.msg}). Undo what was changed there outside of "
            "Jupyter, or download the notebook again, and hand it in."
        )
    if "\0" in text or _begun(raw[:HEAD], "utf-8") is None:
        what = "it is no text, and nothing that is known here"
    elif isinstance(error, json.JSONDecodeError):
        what = f"line {error.lineno} is no JSON"
    else:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else "a number in it is too long"
    return f"The file is no notebook ({what}). {EXPORT}"


def _around(text: str) -> str:
    """What to do where a whole notebook is in a file with something else in front of it or behind it; "" elsewhere."""
    start = max(text.find("{"), 0)
    try:
        notebook, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return ""
    if _raw_cells(notebook) is None:
        return ""
    if text[end:].lstrip().startswith("{"):
        return "Two notebooks stand in the file, one behind the other. Hand in the one that counts, alone."
    behind = f"behind the notebook's end (line {text.count(chr(10), 0, end) + 1})" if text[end:].strip() else ""
    before = "in front of the notebook" if text[:start].strip() else ""
    where = " and ".join(filter(None, (before, behind)))
    return (
        f"Something stands {where}, so Jupyter cannot open it. Delete that in a text editor, or download the notebook "
        "again, and hand it in."
    )


def _is_cut_off(raw: bytes, encoding: str) -> bool:
    """Whether a notebook ends in the middle: it is JSON as far as it goes, and not yet whole."""
    text = _begun(raw.rstrip(b"\0"), encoding)
    if text is None:
        return False
    unfinished = UNFINISHED.match(text[::-1])
    begun = text[: len(text) - unfinished.end()] if unfinished else text
    try:
        json.loads(f"{begun}\0")  # a letter that JSON has nowhere
    except json.JSONDecodeError as error:
        return begun.lstrip().startswith("{") and error.pos == len(begun) and not _is_json(begun)
    except (ValueError, RecursionError):
        return False
    return False


def _begun(raw: bytes, encoding: str) -> str | None:
    """The text of which these bytes are the beginning, perhaps without a part of its last letter; None for no text."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(raw)
    except ValueError:
        return None


def _is_json(text: Any, word: str = "") -> bool:
    try:
        return isinstance(text, str) and word in text and json.loads(text) is not None
    except (ValueError, RecursionError):
        return False


def cells_in(notebook: Any) -> list[SubmittedCell]:
    """Take the cells out of a parsed notebook, whatever else is in it.

    Raise NotGradable where it has no list of cells, or more of them than anybody writes.
    """
    cells = _raw_cells(notebook)
    if cells is None:
        raise NotGradable(f"The file is JSON, but has no cells, so it is no notebook. {EXPORT}")
    if len(cells) > MOST_CELLS:
        raise NotGradable(
            f"The notebook has {len(cells):,} cells, more than {MOST_CELLS:,}. Delete those that you do not need, and "
            "hand it in again."
        )
    found = [_cell(raw_cell) for raw_cell in cells if isinstance(raw_cell, dict)]
    if (letters := sum(len(cell.source) for cell in found)) > MOST_LETTERS:
        raise NotGradable(
            f"What is written in the notebook has {letters:,} letters, more than {MOST_LETTERS:,}. Shorten it, and "
            "hand it in again."
        )
    return found


def _raw_cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook of version 4, or of version 3, which kept them in worksheets."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _cell(raw: dict[str, Any]) -> SubmittedCell:
    kind = raw.get("cell_type")
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    source = raw.get("source", raw.get("input", ""))  # which version 3 called it in code cells
    return SubmittedCell(kind if kind in KINDS else "raw", _text(source), _name(grade_id), _name(raw.get("id")))


def _text(source: Any) -> str:
    if isinstance(source, Sequence) and not isinstance(source, str):
        source = "".join(line for line in source if isinstance(line, str))
    text = source if isinstance(source, str) else ""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")


def _name(value: Any) -> str:
    return value if isinstance(value, str) else ""
