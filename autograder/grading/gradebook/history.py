"""What grading again changed: one line of JSON for each time, in a file beside the gradebook.

A line is on the disk before the gradebook takes the result, so none is missing. It names the record that it replaces,
and each record is replaced once. So a line whose result never came into the gradebook is known: its record still
stands, or a later line replaces the same one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import select

from autograder import files
from autograder.course.paths import Course
from autograder.grading.gradebook.database import RESULTS, Gradebook, own_rows
from autograder.grading.results import Result


class Reason(StrEnum):
    """Why something was graded again, or is to be."""

    ENGINE = "autograder changed"
    LESSON = "lesson changed"
    SUBMISSION = "submission changed"
    BROKE_OFF = "grading had broken off"
    FORCED = "forced"
    LOST = "graded notebook was lost or changed"
    COUNTS = "another hand-in counts"
    PENALTY = "penalty changed"


PARTS = (Reason.ENGINE, Reason.LESSON, Reason.SUBMISSION)  # of a digest, in this order, with a hyphen between


class Recorded(NamedTuple):
    """What is recorded of a submission."""

    digest: str  # of what was graded
    result: Result | None  # without its notebook; None where an earlier version recorded something else
    when: datetime  # in UTC


@dataclass(frozen=True)
class CheckChange:
    """A check whose points became others."""

    check: str
    old: float
    new: float


@dataclass(frozen=True)
class Regrade:
    """A submission that was graded again. Its fields are those of a line, and of `--json`."""

    student: str
    lesson: str
    graded: str  # when it was graded before, in UTC; no record of a submission has the same time twice
    regraded: str  # when it was graded again, in UTC
    reasons: tuple[Reason, ...]
    # the points of its checks before; None where an earlier version of the autograder had recorded them
    old: float | None
    new: float  # the points of its checks since
    checks: tuple[CheckChange, ...]  # those that have other points

    @classmethod
    def of(
        cls, result: Result, digest: str, when: datetime, replaced: Recorded, *, forced: bool, chosen: bool
    ) -> Regrade:
        """Compare a result, `chosen` if of another hand-in that was there before, with what it replaces."""
        before = replaced.result
        broke_off, checks = bool(before and before.retryable), []
        if before is not None:
            old, new = before.earned, result.earned
            pairs = ((check, old.get(check, 0.0), new.get(check, 0.0)) for check in {**old, **new})
            checks = [CheckChange(*pair) for pair in pairs if pair[1] != pair[2]]
        return cls(
            result.student,
            result.lesson,
            graded=replaced.when.isoformat(),
            regraded=when.isoformat(),
            reasons=reasons_of(replaced.digest, digest, broke_off=broke_off, forced=forced, chosen=chosen),
            old=None if before is None else sum(before.earned.values()),
            new=float(sum(result.earned.values())),
            checks=tuple(checks),
        )


def reasons_of(old: str, new: str, *, broke_off: bool, forced: bool, chosen: bool) -> tuple[Reason, ...]:
    """Why a submission was graded again, from the digests of what was graded then and now."""
    before, now = old.split("-"), new.split("-")
    if len(before) != len(now):  # an earlier version had other parts
        return (Reason.ENGINE,)
    parts = zip((*PARTS[:-1], Reason.COUNTS if chosen else PARTS[-1]), before, now, strict=False)
    changed = tuple(part for part, then, since in parts if then != since)
    return changed or ((Reason.BROKE_OFF if broke_off else Reason.FORCED if forced else Reason.LOST),)


def append(path: Path, regrade: Regrade) -> None:
    """Add a line, durable on return; what a crash left of an unfinished one becomes a line of its own."""
    is_new = not path.exists()
    with path.open("a+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            file.write(b"" if file.read(1) == b"\n" else b"\n")
        file.write(json.dumps(asdict(regrade)).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        files.sync_folder(path.parent)


def read_history(root: Path) -> list[Regrade]:
    """Read what grading again changed in a course, the oldest first; CourseError where the gradebook cannot be read."""
    course = Course.at(root)
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.reading() as connection:
        rows = own_rows(connection, RESULTS, select(RESULTS.c.student, RESULTS.c.lesson, RESULTS.c.recorded))
    standing = {(row.student, row.lesson, row.recorded.isoformat()) for row in rows}
    newest = {(one.student, one.lesson, one.graded): one for one in _lines(gradebook.history)}
    return sorted((one for key, one in newest.items() if key not in standing), key=lambda one: one.regraded)


def read_lines(path: Path, student: str) -> list[dict[str, Any]]:
    """Read the lines about one student."""
    return [asdict(regrade) for regrade in _lines(path) if regrade.student == student]


def remove_lines(path: Path, student: str) -> None:
    """Strike a student out of the history, and with them what a crash left unfinished."""
    others = [json.dumps(asdict(regrade)) for regrade in _lines(path) if regrade.student != student]
    if path.exists():
        files.write(path, "".join(f"{line}\n" for line in others).encode())


def _lines(path: Path) -> Iterator[Regrade]:
    """Yield what the lines say; one that a crash left unfinished is no line."""
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        with suppress(msgspec.DecodeError):
            yield msgspec.json.decode(line, type=Regrade)
