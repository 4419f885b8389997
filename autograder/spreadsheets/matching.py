"""Whose row is whose: the students of the gradebook and those of a file, matched by ids and never by names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.grading.gradebook.reader import Student
from autograder.spreadsheets.sheet import Row, Sheet

CANVAS: Mapping[str, Sequence[str]] = {
    "ID": ("lms_id",),
    "SIS User ID": ("id", "lms_id"),
    "SIS Login ID": ("id", "email", "lms_id"),
}
MOODLE: Mapping[str, Sequence[str]] = {
    "Email address": ("email", "id"),
    "ID number": ("id", "lms_id"),
    "Username": ("id", "lms_id"),
}


@dataclass(frozen=True)
class Matches:
    """What came of matching."""

    rows: Mapping[str, Row]  # student → their row; who fits no row, or more than one, is not among them
    why_not: Mapping[str, str]  # student → why there is no row for them
    strangers: Sequence[Row]  # the rows that nobody in the gradebook fits


def keys_of(sheet: Sheet, headings: Mapping[str, Sequence[str]]) -> dict[int, Sequence[str]]:
    """Return the columns of a sheet that say who somebody is, and the attributes of a Student that each may hold."""
    return {column: names for name, names in headings.items() if (column := sheet.column(name)) is not None}


def match(people: Iterable[Student], sheet: Sheet, rows: Sequence[Row], keys: Mapping[int, Sequence[str]]) -> Matches:
    """Find the row of each student; where more than one way is open, none is taken.

    Args:
        rows: those of the sheet that stand for students.
        keys: column → the attributes of a Student that it may hold.
    """
    by_key: dict[tuple[int, str], list[int]] = {}
    for place, row in enumerate(rows):
        for column in keys:
            by_key.setdefault((column, _plain(sheet.get(row, column))), []).append(place)
    fitting: dict[str, list[int]] = {}
    claimed: dict[int, list[str]] = {}
    for person in people:
        keys_of_person = {(column, _plain(getattr(person, name))) for column, names in keys.items() for name in names}
        places = sorted({place for key in keys_of_person if key[1] for place in by_key.get(key, ())})
        fitting[person.id] = places
        for place in places:
            claimed.setdefault(place, []).append(person.id)
    row_of, why_not = {}, {}
    for student, places in fitting.items():
        lines = " and ".join(str(rows[place].line) for place in places)
        if not places:
            headings = ", ".join(sheet.headings[column] for column in keys)
            why_not[student] = f"no row of {sheet.path.name} has their id or e-mail under {headings}"
        elif len(places) > 1:
            why_not[student] = f"lines {lines} of {sheet.path.name} fit equally"
        elif len(claimed[places[0]]) > 1:
            others = ", ".join(other for other in claimed[places[0]] if other != student)
            why_not[student] = f"line {lines} of {sheet.path.name} fits {others} equally"
        else:
            row_of[student] = rows[places[0]]
    return Matches(row_of, why_not, [row for place, row in enumerate(rows) if place not in claimed])


def _plain(text: str) -> str:
    return text.strip().casefold()
