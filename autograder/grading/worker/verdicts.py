"""What a check cell comes to, and how it is told where the cell has run in a student's process."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from traceback import walk_tb
from types import CodeType
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from autograder.check import _measure
from autograder.check._errors import CheckBroken, CheckFailed, ExerciseName, NotWritten
from autograder.check._translate import from_exception
from autograder.course.lesson import parse_or_none
from autograder.grading.worker.plain import values_in


def in_words(error: Exception, code: CodeType, source: str, scope: Mapping[str, Any]) -> Exception:
    """The verdict of a check that makes none itself, as plain `assert` cells do; words of its own stay.

    Args:
        source: the check's cell, without what is hidden.
    """
    if isinstance(error, CheckFailed):
        return error
    trace = [*walk_tb(error.__traceback__)]
    places = [each for each in trace if each[0].f_code.co_filename == code.co_filename]
    of_answer = any(each not in places and each[0].f_globals is scope for each in trace)
    if not isinstance(error, AssertionError) or of_answer or hasattr(error, "answer_frames"):
        return from_exception(error, code, scope)
    if str(error) or not places:
        return error
    frame, last = places[-1]
    asserts = (node for node in ast.walk(parse_or_none(source) or ast.Module([], [])) if isinstance(node, ast.Assert))
    line = next((node.test for node in asserts if node.lineno <= last <= (node.end_lineno or 0)), None)
    text = ast.get_source_segment(source, line) if line else None
    if line is None or not text:
        return CheckFailed("A case that is not shown does not hold.")
    return CheckFailed(f"`{text}` does not hold.", list(values_in(line, source, {**frame.f_globals, **frame.f_locals})))


KINDS = (CheckFailed, NotWritten, CheckBroken)  # of a verdict; a report has its place


@dataclass(frozen=True)
class _Drawn:
    """A picture that was drawn in another process."""

    page: str

    def html(self) -> str:
        return self.page


class Report(msgspec.Struct, omit_defaults=True):
    """What a check cell has come to in another process: the fields of its verdict, what it measured, slow imports."""

    failed: bool
    verdict: str = ""
    kind: Annotated[int, Meta(ge=0, lt=len(KINDS))] = 0
    details: list[str] = []
    slip: str | None = None
    mistake: str | None = None
    picture: str | None = None
    case: str = ""
    missing: str = ""
    rule: str | None = None
    exercise: str | None = None
    measured: list[tuple[float, float]] = []
    loaded: list[str] = []

    @classmethod
    def of(cls, error: Exception | None) -> Report:
        """Report of an error, or of none."""
        measured = [*_measure.take_measured()]
        if not isinstance(error, CheckFailed):
            return cls(error is not None, str(error or ""), measured=measured)
        picture = None if error.picture is None else error.picture.html()
        exercise = None if error.exercise is None else str(error.exercise)
        words = [*error.details], error.slip, error.mistake, picture, error.case, error.missing, error.rule, exercise
        kind = next(place for place in (2, 1, 0) if isinstance(error, KINDS[place]))
        return cls(True, error.verdict, kind, *words, measured)

    def error(self) -> Exception | None:
        """Return what the cell ended in there; None where it passed. What was measured is as if it were here."""
        for seconds, value in self.measured:
            _measure.measured(seconds, value)
        if not self.failed:
            return None
        kind, picture = KINDS[self.kind], self.picture and _Drawn(self.picture)
        error = kind(self.verdict, self.details, self.slip, mistake=self.mistake, picture=picture or None)
        error.case, error.missing, error.rule = self.case, self.missing, self.rule
        error.exercise = None if self.exercise is None else ExerciseName.parse(self.exercise)
        return error
