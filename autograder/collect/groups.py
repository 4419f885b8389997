"""Groups that hand in one notebook: `groups.csv` in the course folder, a line for each student."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect.hand_in import HandIn
from autograder.collect.people import People
from autograder.course.config import CourseError
from autograder.course.names import did_you_mean
from autograder.grading.gradebook.reader import Student
from autograder.spreadsheets.sheet import Sheet

FILE = "groups.csv"


@dataclass(frozen=True)
class Groups:
    """Who works with whom.

    Attributes:
        names: student → the name of their group, of those who are in one.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path, students: Mapping[str, Student], others: Collection[str] = ()) -> Groups:
        """Read the groups of a course; where it has no such file there are none.

        Args:
            others: ids of those who may be in a group, though the class does not know them yet.

        Raises:
            CourseError: a student is in two groups or not in the class, or a group has no student.
        """
        path, people, names = root / FILE, People.of(students), dict[str, str]()
        if not path.exists():
            return cls()
        sheet = Sheet.read(path)
        columns = sheet.require("student"), sheet.require("group")
        for row in sheet.rows[1:]:
            told, group = (sheet.get(row, column).strip() for column in columns)
            if not group:
                continue  # who works alone
            if not told:
                raise CourseError(f"{path}, line {row.line}: the group {group} has no student. Name one, or delete it.")
            person = people.find(("id", told), ("email", told))
            student = person.id if person else told
            if not person and told not in others:
                raise CourseError(
                    f"{path}, line {row.line}: {told} is not in the class.{did_you_mean([told], students)} Mend the "
                    f"line, or run `nbgrader db student add {told}`."
                )
            if (first := names.setdefault(student, group)) != group:
                raise CourseError(f"{path}, line {row.line}: {told} is in two groups, {first} and {group}. Delete one.")
        return cls(names)

    def of(self, student: str) -> list[str]:
        """The members of a student's group, or the student alone."""
        group = self.names.get(student)
        return [one for one, name in self.names.items() if name == group] if group else [student]

    def note(self, student: str) -> str:
        """Say whose a hand-in is that counts for others as well."""
        return f"Handed in by {student}, for the group {self.names[student]}."

    def shared(self, hand_ins: Iterable[HandIn]) -> Iterator[HandIn]:
        """Yield each hand-in for every member of its group."""
        for one in hand_ins:
            for member in self.of(one.student):
                notes = one.notes if member == one.student else (*one.notes, self.note(one.student))
                yield replace(one, student=member, notes=notes)
