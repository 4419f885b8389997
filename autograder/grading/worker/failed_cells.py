"""The cells of a submission that ended in an error, for the checks that then miss a name."""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any, NamedTuple

from autograder.check._errors import CheckFailed
from autograder.grading.submission.dependencies import names_in

PACKAGES = ("torch", "numpy", "matplotlib", "safetensors", "tqdm")  # that the course has, and so grading
CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( .*)?$", re.MULTILINE)
LINE = re.compile(r"Cell In\[\d*\], line (\d+)")
MISSING = re.compile(r"No module named '([\w.]+)'")
PYTHON = re.compile(rb'"language_info"\s*:\s*\{(?:[^{}]|\{[^{}]{0,200}\}){0,400}?"version"\s*:\s*"3\.(\d{1,3})')
MOST_LETTERS = 160


class FailedCell(NamedTuple):
    """A cell, and the error that it ended in."""

    source: str
    kind: str
    text: str
    line: int  # of the cell, counted from 1; 0 where it is not known

    def binds(self, name: str) -> bool:
        """It would have given a name its meaning."""
        if "import *" in self.source or self.source.lstrip().startswith("%run"):
            return True
        if not (names := names_in(self.source, False)).opaque:
            return name in names.binds
        word = re.escape(name)
        return bool(
            re.search(rf"\b(?:def|class)\s+{word}\b|^\s*[^=\n]*\b{word}\b[^=\n]*=(?!=)", self.source, re.MULTILINE)
            or re.search(rf"^\s*(?:from\s.+\s)?import\s[^\n]*\b{word}\b", self.source, re.MULTILINE)
        )


class FailedCells:
    """All of them, in their order.

    Args:
        submitted: the file, which names the Python that it was written with.
    """

    def __init__(self, submitted: bytes) -> None:
        version = PYTHON.search(submitted)
        self._minor = int(version[1]) if version else 0
        self._cells: list[FailedCell] = []

    def add(self, source: str, output: Mapping[str, Any]) -> None:
        """Remember a cell that ended in an error; what a student's process says of it is text, and no more."""
        found = LINE.search("".join(map(str, output["traceback"])))
        lines = str(output["evalue"]).splitlines()
        text = re.sub(r" \(<[^()]*, line \d+\)$", "", lines[0] if lines else "")
        line = int(found[1]) if found else 0
        self._cells.append(FailedCell(source, str(output["ename"]), text[:MOST_LETTERS], line))

    def explained(self, failed: CheckFailed, names: Collection[str], later: Iterable[str] = ()) -> CheckFailed:
        """A check that misses a name, with the error of the cell that was to define it, its place, or a name like it.

        Args:
            names: what the notebook has defined.
            later: the sources of the cells that have not run yet.
        """
        name = failed.missing
        cell = next((cell for cell in reversed(self._cells) if cell.binds(name)), None) if name else None
        if cell is None:
            near = get_close_matches(name, {*names} - {name}, n=1, cutoff=0.8) if name else []
            if name and any(name in names_in(source, False).binds for source in later):
                failed.slip = f"A cell below this check defines `{name}`: move it up, since cells run from the top."
            elif near:
                failed.slip = f"Your notebook defines `{near[0]}`: is that the one? The exercise calls it `{name}`."
            return failed
        lines = cell.source.splitlines()
        shown = lines[cell.line - 1].strip()[:MOST_LETTERS] if 0 < cell.line <= len(lines) else ""
        details = [f"{cell.kind}: {cell.text}", f"in line {cell.line} of that cell" + (f":  {shown}" if shown else "")]
        verdict = f"{failed.verdict.removesuffix('.')}: the cell that defines `{name}` ended in an error."
        explained = CheckFailed(verdict, details if cell.line else details[:1], self._advice(cell))
        explained.missing, explained.rule, explained.exercise = name, failed.rule, failed.exercise
        explained.display = failed.display
        return explained

    def _advice(self, cell: FailedCell) -> str:
        """What to do about the error of a cell."""
        if found := CONFLICT.search(cell.source):
            line = cell.source[: found.start()].count("\n") + 1
            return f"Line {line} is the mark {found[1]} of a merge that was not finished: keep one of the two versions."
        if found := MISSING.search(cell.text):
            package = found[1].partition(".")[0]
            have = ", ".join(each for each in PACKAGES if find_spec(each))
            return (
                f"Where it is graded there is no `{package}`, and nothing can be installed: there are {have} and "
                "Python's own modules. A file of yours is found that you hand in beside the notebook."
            )
        if cell.kind in ("SyntaxError", "IndentationError", "TabError"):
            of_the_error = cell.source.splitlines()[cell.line - 1 : cell.line] if cell.line else []
            for letter in "".join(of_the_error):
                if unicodedata.category(letter) in ("Zs", "Cf", "Zl", "Zp", "Pi", "Pf", "Sm") and ord(letter) > 127:
                    return (
                        f"Line {cell.line} holds the letter {unicodedata.name(letter, '?').lower()}, "
                        f"U+{ord(letter):04X}, as pages and word processors write it: type it anew."
                    )
            if self._minor > sys.version_info.minor:
                return (
                    f"The notebook was written with Python 3.{self._minor}, and it is graded with Python "
                    f"3.{sys.version_info.minor}, which may not know this: grading needs a Python at least as new."
                )
        return f"Mend that{' line' if cell.line else ''}, run the cell, then this check again."
