"""What an earlier release gave is no change of the student's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.course.lesson import Cell
from autograder.course.versions.released import digest_of
from autograder.grading.submission.reader import SubmittedCell


def brought_up(
    submitted: Sequence[SubmittedCell], cells: Sequence[Cell], earlier: Mapping[str, str]
) -> tuple[list[SubmittedCell], bool]:
    """Return a submission's cells, what an earlier release gave as it is given now or gone, and whether any was such.

    `earlier` has digest → id of what earlier releases gave.
    """
    if not earlier:
        return list(submitted), False
    now = {cell.id: cell.released for cell in cells}
    pairs = [(cell, earlier.get(digest_of(cell.source))) for cell in submitted]
    found = [
        cell if name is None else replace(cell, source=now[name]) for cell, name in pairs if name is None or name in now
    ]
    return found, any(name for _, name in pairs)
