"""Wrong and right answers to every exercise: what its checks must catch, and what they must accept.

Each exercise has a file of its name in the folder of its lesson, with the tables `WRONG` and `RIGHT`, from what an
answer does to how it is written (see `writing`), and perhaps `BASES`: answers that are not graded but that others are
edits of. Where the file would grow longer than 1,200 lines, the right answers have one beside it, `<exercise>_right`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from answers import writing
from answers.writing import Code, Right, Wrong

__all__ = ["RIGHT", "WRONG", "Right", "Wrong", "source"]

LESSONS = sorted(path.name for path in (Path(__file__).parents[2] / "solutions").iterdir() if path.is_dir())
WRONG: dict[str, list[Wrong]] = {}
RIGHT: dict[str, list[Right]] = {}
_CODE: dict[str, dict[str, Code]] = {}  # what edits may be on, by exercise


def source(answer: Wrong | Right, solutions: Mapping[str, str]) -> str:
    """The source of an answer, given the sources of the solutions of its lesson by exercise."""
    return writing.source(answer.code, solutions[answer.exercise], _CODE[answer.exercise])


def _code(written: str | Code | Wrong) -> Code:
    """How an answer of the tables is written."""
    return writing.whole(written) if isinstance(written, str) else getattr(written, "code", written)


def _wrong(written: str | Code | Wrong) -> Wrong:
    """A wrong answer of the tables."""
    return written if isinstance(written, Wrong) else Wrong(_code(written))


def _collect(lesson: str) -> None:
    """Read the tables of a lesson."""
    folder = Path(__file__).parent / f"lesson_{int(lesson[:2])}"
    WRONG[lesson], RIGHT[lesson] = [], []
    for name in sorted(path.stem for path in folder.glob("*.py")):
        exercise, table = name.removesuffix("_right"), importlib.import_module(f"answers.{folder.name}.{name}")
        bases, wrong, right = (getattr(table, each, {}) for each in ("BASES", "WRONG", "RIGHT"))
        codes = {what: _code(written) for what, written in (bases | wrong | right).items()}
        _CODE.setdefault(exercise, {}).update(codes)
        WRONG[lesson] += [replace(_wrong(each), exercise=exercise, what=what) for what, each in wrong.items()]
        RIGHT[lesson] += [Right(codes[what], exercise=exercise, what=what) for what in right]


for _lesson in LESSONS:
    _collect(_lesson)
