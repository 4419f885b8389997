"""What grading a submission comes to, as plain data: it crosses between processes and machines, and is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

import msgspec

from autograder.course.names import listed


class GradingServerError(Exception):
    """Grading cannot start or go on here; the text says why."""


class Status(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"
    NOT_GRADABLE = "not gradable"
    BROKEN = "broken check"  # which is the course's mistake


class NoteKind(StrEnum):
    """What a note is about."""

    FILE = "file"  # its name, its place, its time
    ANSWER = "answer"  # found elsewhere than where it belongs, or not at all
    CHECK_DELETED = "check deleted"
    CHECK_CHANGED = "check changed"
    NOTEBOOK = "notebook"  # marks or order lost
    RUN = "run"  # a cell that was interrupted or ended its process
    FILES_LEFT_OUT = "files left out"
    NOT_COUNTED = "not counted"  # another hand-in is
    REQUEST = "request"  # to look again at what no exercise is


@dataclass(frozen=True)
class Note:
    """What was mended in a submission or odd about it: one honest line, and what it is about."""

    kind: NoteKind
    text: str
    cell: str = ""  # the id of the cell in question; "" where it is the file or the whole notebook

    def __str__(self) -> str:
        return self.text


def told_once(notes: Iterable[Note]) -> list[str]:
    """The notes as texts; what is alike for several cells is said of the first, and the others are named."""
    groups: dict[str, list[Note]] = {}
    for note in dict.fromkeys(notes):
        alike = note.text.replace(f"`{note.cell}`", "`…`") if note.cell else note.text
        groups.setdefault(alike, []).append(note)
    texts = []
    for first, *others in groups.values():
        names = listed([f"`{note.cell}`" for note in others])
        texts.append(f"{first.text} The same goes for {names}." if others else first.text)
    return texts


@dataclass(frozen=True)
class Limits:
    """What one submission may use; more ends it, and says so."""

    # wall time of one cell of the student's, and of one check cell, less waiting for a processor
    cell_seconds: float = 120.0
    submission_seconds: float = 600.0  # wall time of all cells together
    memory_bytes: int = 2 * 2**30  # what its process may allocate beyond what the engine itself holds
    file_bytes: int = 64 * 2**20  # the largest file that it may write; the working folder is its own and is removed
    output_bytes: int = 200_000  # text and pictures that are kept of one cell


@dataclass(frozen=True)
class Outcome:
    """What one check cell came to."""

    check: str  # the cell's grade id, "check_padding_mask_values"
    points: float
    status: Status
    message: str = ""  # what the student reads; "" where it passed
    seconds: float = 0.0  # wall time of the check, the answer's part of it included
    verdict: str = ""  # the first sentence of the message, without the mark
    slip: str = ""  # the sentence that names the slip, or what to do; "" where nothing is known
    rule: str = ""  # what the check stands for, a line as its success prints it; "" where it passed
    mistake: str = ""  # the known mistake that the value proves, a phrase; "" where none is
    # what `check.measured` was told, as (processor seconds, value); nothing as a rule
    measured: tuple[tuple[float, float], ...] = ()

    @property
    def earned(self) -> float:
        """All points or none."""
        return self.points if self.status is Status.PASSED else 0.0


@dataclass(frozen=True)
class Result:
    """What grading one submission came to."""

    student: str
    lesson: str
    # one outcome for each check cell of the lesson, in order; empty where nothing could be graded
    checks: tuple[Outcome, ...] = ()
    notes: tuple[Note, ...] = ()  # what was mended in the notebook or odd about it
    # predict cell → what the student predicted, "" for nothing; for each that the lesson has
    predictions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""  # why it could not be graded at all; "" where it could
    retryable: bool = False  # the reason says nothing about the submission: the next run grades it again
    notebook: str = ""  # the graded notebook as JSON, each source one text, hidden tests and outputs in it; "" for none
    seconds: float = 0.0  # wall time of everything
    peak_bytes: int = 0  # the most memory that the student's process held
    unenforced: tuple[str, ...] = ()  # what this machine's sandbox could not enforce, in words; empty as a rule

    @property
    def score(self) -> float:
        """The points earned."""
        return sum(outcome.earned for outcome in self.checks)

    @property
    def max_score(self) -> float:
        """The points that there were to earn."""
        return sum(outcome.points for outcome in self.checks)

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The checks that are wrong themselves."""
        return tuple(outcome for outcome in self.checks if outcome.status is Status.BROKEN)

    @property
    def earned(self) -> dict[str, float]:
        """Check → points earned; none where it could not be graded."""
        return {} if self.reason else {outcome.check: outcome.earned for outcome in self.checks}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's own types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Result:
        """Read what `to_json` wrote, now or before it measured and predicted anything; ValueError for others."""
        try:
            values = {"predictions": {}, **data, "checks": [{"measured": (), **check} for check in data["checks"]]}
            parts = {Result: [values], Outcome: values["checks"], Note: values["notes"]}
            if all(one.keys() == FIELDS[part] for part, found in parts.items() for one in found):
                return msgspec.convert(values, cls)
        except (AttributeError, KeyError, TypeError, msgspec.ValidationError):
            pass  # of another shape
        raise ValueError("no result of this version")


FIELDS: dict[type, set[str]] = {cls: {field.name for field in fields(cls)} for cls in (Result, Outcome, Note)}
