"""Groups that hand in one notebook: `groups.csv` in the course folder, a line for each student."""

from collections.abc import Collection, Mapping
from pathlib import Path

from autograder.collect.people import People
from autograder.course.config import CourseError
from autograder.course.names import did_you_mean
from autograder.grading.gradebook.reader import Student
from autograder.spreadsheets.sheet import Sheet

GROUPS = "groups.csv"
HANDED_IN_BY = "Handed in by {}, who is in the same group."


def read_groups(
    root: Path, students: Mapping[str, Student], others: Collection[str] = ()
) -> dict[str, Collection[str]]:
    """Return student → the members of their group, of those who are in one; without the file nobody is.

    Args:
        others: ids of those who may be in a group, though the class does not know them yet.

    Raises:
        CourseError: a student is in two groups or not in the class, or a group has no student.
    """
    if not (path := root / GROUPS).exists():
        return {}
    sheet, people, names, members = Sheet.read(path), People.of(students), dict[str, str](), dict[str, list[str]]()
    columns = sheet.require("student"), sheet.require("group")
    for row in sheet.rows[1:]:
        (told, group), where = (sheet.get(row, column).strip() for column in columns), f"{path}, line {row.line}:"
        if not group:
            continue  # who works alone
        if not told:
            raise CourseError(f"{where} the group {group} has no student. Name one, or delete it.")
        if not (person := people.find(("id", told), ("email", told))) and told not in others:
            advice = f"{did_you_mean([told], students)} Mend the line, or run `nbgrader db student add {told}`."
            raise CourseError(f"{where} {told} is not in the class.{advice}")
        student = person.id if person else told
        if (first := names.setdefault(student, group)) != group:
            raise CourseError(f"{where} {told} is in two groups, {first} and {group}. Delete one.")
        if student not in members.setdefault(group, []):
            members[group].append(student)
    return {student: members[group] for student, group in names.items()}
