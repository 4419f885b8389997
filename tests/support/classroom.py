"""Runs a lesson's cells in this process: one set of answers against one set of checks, without a kernel."""

import contextlib
import functools
import io
import linecache
import math
import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from autograder.check import CheckFailed
from autograder.check._compare import margins
from autograder.grading.submission.hidden_tests import with_hidden_seed
from autograder.stub import STUB, without_regions

ROOT = Path(__file__).resolve().parents[2]
AS_GRADED = {"NBGRADER_EXECUTION": "autograde"}  # which shortens demonstrations
LESSONS = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir())


@dataclass(frozen=True)
class Result:
    """What one check cell did."""

    check: str
    points: float
    error: Exception | None  # None when it passed
    seen: bool  # it failed before its hidden tests, so students see it fail
    stdout: str
    stderr: str
    distances: tuple[float, ...]  # for each comparison the greatest distance, as a multiple of the one that is allowed

    @property
    def passed(self) -> bool:
        return self.error is None


class Classroom:
    """One lesson, ready to grade answers: its setup and given cells run once, when somebody is graded."""

    def __init__(self, lesson: str) -> None:
        self.lesson = lesson
        path = ROOT / "solutions" / lesson / f"{lesson}.ipynb"
        self.cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        self.answers = {cell.id: cell.source for cell in self.cells if _flag(cell, "solution")}
        self.stubs = {name: without_regions(source, "SOLUTION", STUB) for name, source in self.answers.items()}
        self.checks = [cell for cell in self.cells if _flag(cell, "grade")]
        self.given = [cell for cell in self.cells if not _flag(cell, "solution") and not _flag(cell, "grade")]
        self.given_to_checks = [cell for cell in self.given if "try-it" not in cell.metadata.get("tags", [])]

    @functools.cached_property
    def scope(self) -> dict:
        """What the setup and the given cells have made."""
        scope: dict = {"__name__": "__main__"}
        for cell in self.given_to_checks:
            with contextlib.redirect_stdout(io.StringIO()), mock.patch.dict(os.environ, AS_GRADED):
                run(cell.source, cell.id, scope)
        return scope

    def checks_of(self, exercise: str) -> list[str]:
        """The ids of an exercise's check cells."""
        return [cell.id for cell in self.checks if cell.id == f"check_{exercise}" or _belongs(cell.id, exercise)]

    def grade(self, answers: dict[str, str], *, exercise: str | None = None, hidden_seed: bytes = b"") -> list[Result]:
        """Run the checks, of one exercise or of all, on the solutions with `answers` in place of some of them."""
        scope = dict(self.scope)
        for name, source in (self.answers | answers).items():
            run(source, name, scope)
        wanted = self.checks_of(exercise) if exercise else [cell.id for cell in self.checks]
        sources = {cell.id: with_hidden_seed(cell.source, hidden_seed) for cell in self.checks}
        return [self._run_check(cell, sources[cell.id], scope) for cell in self.checks if cell.id in wanted]

    def _run_check(self, cell, source: str, scope: dict) -> Result:
        out, err, error, seen = io.StringIO(), io.StringIO(), None, False
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), margins() as distances:
            try:
                run(source, cell.id, scope)
            except Exception as raised:
                error, seen = raised, _line_of(raised, cell.id) < _first_hidden_line(source)
        points = cell.metadata.nbgrader.points
        return Result(cell.id, points, error, seen, out.getvalue(), err.getvalue(), tuple(distances))


@functools.cache
def classroom(lesson: str) -> Classroom:
    """The lesson's classroom, made once for all tests."""
    return Classroom(lesson)


def filename_of(name: str) -> str:
    """What tracebacks call a cell."""
    return f"<cell {name}>"


def run(source: str, name: str, scope: dict) -> None:
    """Run a cell as IPython would, its lines known to tracebacks."""
    code = TransformerManager().transform_cell(source)
    filename = filename_of(name)
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
    exec(compile(code, filename, "exec"), scope)


def message(result: Result) -> str:
    """What a student reads; an exception that is no verdict has no business in a check."""
    assert isinstance(result.error, CheckFailed), repr(result.error)
    return str(result.error)


def _flag(cell, name: str) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get(name))


def _belongs(check: str, exercise: str) -> bool:
    return check.startswith(f"check_{exercise}_")


def _line_of(error: Exception, check: str) -> int:
    """The line of a check's cell in which it came."""
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == filename_of(check)
    ]
    return lines[0]


def _first_hidden_line(source: str) -> float:
    """The line that begins a check's hidden tests, which are its last."""
    begins = [line for line, text in enumerate(source.splitlines(), 1) if "BEGIN HIDDEN TESTS" in text]
    return begins[0] if begins else math.inf
