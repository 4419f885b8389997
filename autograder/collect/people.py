"""Who is in the class: the gradebook's students, and those of a list that a platform gives out."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.download import safe_name
from autograder.course.config import CourseError
from autograder.grading.gradebook.reader import Student
from autograder.spreadsheets.matching import CANVAS, MOODLE, keys_of, match
from autograder.spreadsheets.sheet import Row, Sheet

TEST_STUDENT = "Student, Test"  # Canvas' own
COLUMNS = {  # of a list of nobody's in particular: nbgrader's, or one made by hand
    "id": ("id", "username", "account"),
    "first_name": ("first_name", "First name"),
    "last_name": ("last_name", "Last name"),
    "email": ("email", "Email address"),
    "lms_id": ("lms_user_id",),
}
ID_BY_HAND = 90  # letters of an id that is made of what a platform says


@dataclass
class People:
    """The class, which grows as lists and hand-ins tell of more."""

    students: dict[str, Student]  # by id
    listed: set[str] = field(default_factory=set)  # the ids of those whom the gradebook or a list has
    notes: list[str] = field(default_factory=list)  # what was odd in a list

    @classmethod
    def of(cls, students: Mapping[str, Student]) -> People:
        """Begin with those of the gradebook."""
        return cls(dict(students), set(students))

    def find(self, *told: tuple[str, str]) -> Student | None:
        """Return the student who is meant by what is told, as ("email", "ada@example.org"): the first that fits one."""
        for attribute, value in told:
            wanted = value.strip().casefold()
            found = [one for one in self.students.values() if wanted and getattr(one, attribute).casefold() == wanted]
            if len(found) == 1:
                return found[0]
        return None

    def add(self, person: Student) -> Student:
        """Take in what is told of somebody, and return them as they are known now; what was known stays."""
        known = self.students.get(person.id, person)
        missing = {name: told for name, told in vars(person).items() if told and not getattr(known, name)}
        self.students[person.id] = replace(known, **missing)
        return self.students[person.id]

    def read(self, path: Path) -> list[str]:
        """Take in a list: Canvas' gradebook, Moodle's worksheet, or a CSV file with a column `id` or `email`.

        Returns:
            the ids of those in it.

        Raises:
            CourseError: it is no list of people.
        """
        sheet = Sheet.read(path)
        self.notes += sheet.notes
        if sheet.column("Student", "LastName") is not None and sheet.column("ID") is not None:
            keys, person_in = CANVAS, _canvas_person
        elif sheet.column("Identifier") is not None and sheet.column("Full name") is not None:
            keys, person_in = MOODLE, moodle_person
        elif sheet.column(*COLUMNS["id"]) is not None:
            keys, person_in = {}, _person
        elif sheet.column(*COLUMNS["email"]) is not None:
            keys, person_in = dict.fromkeys(COLUMNS["email"], ("email", "id")), _person
        else:
            headings = ", ".join(sheet.headings[:10])
            raise CourseError(
                f"{path} is no list of people: its columns are {headings}. It needs a column `id` or `email`, or is "
                "the gradebook that Canvas exports (Grades → Export)."
            )
        ids = []
        for row, person in self.rows(sheet, keys):
            told = person_in(sheet, row)
            if told.id or person:
                ids.append(self.add(replace(told, id=person.id if person else told.id)).id)
        self.listed.update(ids)
        return ids

    def rows(self, sheet: Sheet, keys: Mapping[str, Sequence[str]]) -> list[tuple[Row, Student | None]]:
        """Return the rows of a sheet, each with the student whom it means, if that is one whom we know."""
        rows = [row for row in sheet.rows[1:] if not row.is_blank]
        found = match(list(self.students.values()), sheet, rows, keys_of(sheet, keys)).rows
        known = {row.line: self.students[student] for student, row in found.items()}
        return [(row, known.get(row.line)) for row in rows]


def _canvas_person(sheet: Sheet, row: Row) -> Student:
    """A row of Canvas' gradebook; that of the points, and of the test student, is nobody's."""
    number, login = sheet.get(row, sheet.column("ID")).strip(), sheet.get(row, sheet.column("SIS Login ID")).strip()
    name = sheet.get(row, sheet.column("Student"))
    last, _, first = re.sub(r'^="(.*)"$', r"\1", name).partition(", ")  # as Canvas writes what could be a formula
    if sheet.column("Student") is None:
        last, first = sheet.get(row, sheet.column("LastName")), sheet.get(row, sheet.column("FirstName"))
    if not number.isascii() or not number.isdigit() or f"{last}, {first}" == TEST_STUDENT:
        return Student("")
    return Student(number, first.strip(), last.strip(), login if "@" in login else "", number)


def moodle_person(sheet: Sheet, row: Row) -> Student:
    """A row of Moodle's worksheet; without e-mail, number or name of an account it is nobody's."""
    email, number, account = (sheet.get(row, sheet.column(heading)).strip() for heading in MOODLE)
    first, last = split_name(sheet.get(row, sheet.column("Full name")))
    told = email.lower() or number or account
    return Student(safe_id(told) if told else "", first, last, email)


def _person(sheet: Sheet, row: Row) -> Student:
    told = {name: sheet.get(row, sheet.column(*headings)).strip() for name, headings in COLUMNS.items()}
    if not told["first_name"] + told["last_name"]:
        told["first_name"], told["last_name"] = split_name(sheet.get(row, sheet.column("Name", "Full name")))
    told["id"] = told["id"] or told["email"].lower()
    return Student(**told | {"id": safe_id(told["id"]) if told["id"] else ""})


def split_name(name: str) -> tuple[str, str]:
    """Return first names and last name."""
    first, _, last = " ".join(name.split()).rpartition(" ")
    return first, last


def safe_id(told: str) -> str:
    """Return an id for somebody, which is the name of a folder too; where it cannot be what was told, it is like it."""
    told = unicodedata.normalize("NFC", told).strip()
    plain = re.sub(r"\s+", " ", safe_name(told)).strip()[:ID_BY_HAND]
    if plain and plain == told:
        return plain
    return f"{plain or 'unknown'} {hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:6]}"
