"""Wrong and right answers to every exercise: what its checks must catch, and what they must accept.

Each exercise has a file of its name in the folder of its lesson, with the tables `WRONG`, what somebody may write by
mistake, `TRICKS`, wrong answers made to get past the checks, and `RIGHT`, from what an answer does to how it is written
(see `writing`), and perhaps `BASES`: answers that are not graded but that others are edits of. A learner who works
through the lessons, in `support.learner`, writes the solutions.

Where an answer cell defines several parts, each has such a file of its name, and `PART_OF` there says which exercise
it belongs to; its answers stand in for that part alone.
"""

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
_CODE: dict[str, dict[str, Code]] = {}  # what edits may be on, by exercise or part of one


def source(answer: Wrong | Right, solutions: Mapping[str, str]) -> str:
    """The source of an answer, given the sources of the solutions of its lesson by exercise."""
    solution = solutions[answer.exercise]
    if not answer.part:
        return writing.source(answer.code, solution, _CODE[answer.exercise])
    part = writing.part_of(solution, answer.part)
    return solution.replace(part, writing.source(answer.code, part, _CODE[answer.part]))


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
    for named in sorted(path.stem for path in folder.glob("*.py")):
        table = importlib.import_module(f"answers.{folder.name}.{named}")
        exercise = getattr(table, "PART_OF", named)
        where = {"exercise": exercise, "part": named if hasattr(table, "PART_OF") else ""}
        before = "" if named == exercise else f"{named}: "
        bases, wrong, tricks, right = (getattr(table, each, {}) for each in ("BASES", "WRONG", "TRICKS", "RIGHT"))
        codes = {what: _code(written) for what, written in (bases | wrong | tricks | right).items()}
        _CODE.setdefault(named, {}).update(codes)
        for is_trick, rows in enumerate((wrong, tricks)):
            made = [replace(_wrong(each), **where, what=before + what) for what, each in rows.items()]
            WRONG[lesson] += [replace(each, trick=bool(is_trick)) for each in made]
        RIGHT[lesson] += [Right(codes[what], **where, what=before + what) for what in right]


for _lesson in LESSONS:
    _collect(_lesson)
