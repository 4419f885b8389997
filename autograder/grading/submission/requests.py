"""Requests to look at an answer again: a cell of the student's that begins with `Regrade 2.3:`, and says why.

It is text, which is read and shown; nothing else comes of it.
"""

import json
import re

from autograder.course.lesson import Lesson
from autograder.course.names import printable
from autograder.grading.submission.reader import NotGradable, SubmittedCell, cells_of

FORM = re.compile(r"[\W_]*regrade[\s:]+(?:exercise\s+)?`?([\w.]+)[\s:*`–—-]*(.*)", re.IGNORECASE | re.DOTALL)
LOOKED_AT, LONGEST = 1000, 300  # letters of such a cell, and of its words as they are kept
MOST_NOTES = 3  # on requests about no exercise
MARK = b"egrade"  # without which a file has no request
UNKNOWN = "“Regrade {}” names no exercise of this lesson. Write its number, as in `Regrade {}: why`."


def requests_in(submitted: bytes, source: bytes) -> tuple[dict[str, str], list[str]]:
    """Find what a notebook asks to be looked at again, by the lesson in solutions/ (`source`).

    Return exercise → the words of the last request about it, and what to say of those about none.
    """
    found, notes = dict[str, str](), dict[str, None]()
    cells = _cells(submitted) if MARK in submitted.lower() else []
    if not (asking := [request for cell in cells if (request := _request(cell))]):
        return found, []
    lesson = Lesson("", json.loads(source))
    names = {cell.id.casefold(): cell.id for cell in lesson.written}
    names |= {exercise.name.casefold(): exercise.name for exercise in lesson.exercises}
    numbers = {exercise.number: exercise.name for exercise in lesson.exercises if exercise.number}
    for request in asking:
        asked, words = request[1].strip("."), printable(" ".join(request[2].split()))
        if name := (names | numbers).get(asked.casefold()):
            found[name] = words if len(words) <= LONGEST else f"{words[:LONGEST]} …"
        else:
            notes[UNKNOWN.format(printable(asked[:40]), next(iter([*numbers, *names]), "1.1"))] = None
    return found, list(notes)[:MOST_NOTES]


def same_but_requests(submitted: bytes, earlier: bytes) -> bool:
    """Whether two notebooks differ in requests alone, and in outputs."""
    if MARK not in (submitted + earlier).lower():
        return False
    first, second = _cells(submitted), _cells(earlier)
    return any(map(_request, [*first, *second])) and _others(first) == _others(second)


def _cells(notebook: bytes) -> list[SubmittedCell]:
    try:
        return cells_of(notebook)
    except NotGradable:
        return []


def _request(cell: SubmittedCell) -> re.Match[str] | None:
    return FORM.match(cell.source[:LOOKED_AT])


def _others(cells: list[SubmittedCell]) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source.strip()) for cell in cells if cell.source.strip() and not _request(cell)]
