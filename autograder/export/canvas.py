"""Canvas: its exported gradebook with our points in it, ready for *Grades → Import*.

Canvas reads back the file that it exports. A column `Name (1234)` is the assignment with that id; one without a number
is an assignment of that name, or a new one. Cells that are as they were change nothing in Canvas.
"""

import re

from autograder.course.config import CourseError
from autograder.export.columns import Choices, columns_of, title_of
from autograder.export.scale import maximum_for, scaled
from autograder.export.selection import Messages, Selection
from autograder.spreadsheets.matching import CANVAS, keys_of, match
from autograder.spreadsheets.sheet import Row, Sheet, harmless, number, table

POINTS = "Points Possible"
TOTALS = re.compile(
    r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)"
)  # also "Unposted …" and those of a group or a grading period: Canvas tells them by these words
EXCUSED, NOT_ASSIGNED = "EX", "N/A"
TEST_STUDENT = "Student, Test"


def fill(
    selection: Selection, sheet: Sheet, choices: Choices, messages: Messages, *, scale: bool, zeros: bool
) -> bytes:
    """Put the points into a gradebook that Canvas exported; all else keeps its bytes.

    Args:
        choices: the columns of those lessons of which they were said.
        scale: convert points where Canvas has another maximum.
        zeros: enter 0 where nothing was handed in.

    Raises:
        CourseError: the file is no exported gradebook, or has no place for a lesson's points.
    """
    students, points = _parts(sheet)
    keys = keys_of(sheet, CANVAS)
    matches = match(selection.book.students.values(), sheet, students, keys)
    messages.notes += sheet.notes
    places = _places(selection, sheet, choices, messages, points)
    for lesson in selection.lessons:
        column = places[lesson.name]
        if "read only" in sheet.get(points, column).casefold():
            raise CourseError(f"The column “{sheet.headings[column]}” of {sheet.path} is read only in Canvas.")
        maximum = maximum_for(sheet.get(points, column), lesson, f"{sheet.path.name}", scale=scale)
        for student in selection.students:
            graded, row = selection.graded(student, lesson), matches.rows.get(student.id)
            if row is None or not (graded or (zeros and selection.nothing(student, lesson))):
                continue
            points_now = scaled(graded, lesson, maximum) if graded else "0"
            _enter(sheet, row, column, points_now, f"{student.label}, {lesson.name}", messages)
    for student in selection.students:
        if student.id in matches.why_not and (zeros or selection.has_any(student)):
            messages.missing.append(f"{student.label}: {matches.why_not[student.id]}.")
    for row in matches.strangers:
        name = _name(sheet, row)
        if name != TEST_STUDENT:
            messages.missing.append(
                f"{sheet.path.name}, line {row.line}: {name} is not in the gradebook; left as it was."
            )
    return sheet.to_bytes()


def _parts(sheet: Sheet) -> tuple[list[Row], Row]:
    """Return the rows of students, and the row of points."""
    sheet.require("Student", "LastName")
    for name in ("ID", "Section"):
        sheet.require(name)
    students, points = [], None
    for row in sheet.rows[1:]:
        cells = [sheet.get(row, column).strip() for column in range(len(row.cells))]
        if POINTS in cells[0]:
            points = points or row
        elif any(cell and not cell.startswith(("Manual Posting", "Muted")) for cell in cells):
            students.append(row)
    if points is None:
        raise CourseError(f"{sheet.path} has no row “{POINTS}”. Export the gradebook from Canvas again.")
    return students, points


def _name(sheet: Sheet, row: Row) -> str:
    last = sheet.column("LastName")
    return sheet.get(row, 0) if last is None else f"{sheet.get(row, last)}, {sheet.get(row, sheet.column('FirstName'))}"


def _places(selection: Selection, sheet: Sheet, choices: Choices, messages: Messages, points: Row) -> dict[str, int]:
    """Return the column of each lesson, added where that was asked for."""
    first = sheet.require("Section") + 1
    headings = {column: heading for column, heading in enumerate(sheet.headings) if column >= first and heading}
    totals = [column for column, heading in headings.items() if TOTALS.search(heading)]
    columns = {column: heading for column, heading in headings.items() if column not in totals}
    titles = {lesson.name: title_of(selection.book, lesson) for lesson in selection.lessons}
    found = columns_of(columns, titles, choices, sheet.path)
    end = min(totals, default=len(sheet.headings))
    added = [lesson for lesson in selection.lessons if lesson.name not in found]
    places = {lesson: column + len(added) * (column >= end) for lesson, column in found.items()}
    for column, released in enumerate(added, end):
        sheet.insert(column, released.name)
        sheet.put(points, column, number(released.max_score))
        places[released.name] = column
    messages.notes += filter(None, (choices.settle(lesson, sheet.headings[places[lesson]]) for lesson in titles))
    return places


def _enter(sheet: Sheet, row: Row, column: int, points: str, what: str, messages: Messages) -> None:
    now = sheet.get(row, column).strip()
    if now.upper() == EXCUSED:
        messages.notes.append(f"{what}: excused in Canvas, and left so; here they have {points}.")
    elif now == NOT_ASSIGNED:
        messages.missing.append(
            f"{what}: not assigned to them in Canvas, which takes no points; here they have {points}."
        )
    else:
        sheet.put(row, column, points)


def fresh(selection: Selection, choices: Choices, messages: Messages, *, zeros: bool) -> bytes:
    """Write a gradebook for Canvas without a template, for the students whose `lms_id` is Canvas' number for them.

    Canvas takes a column for the assignment of that name where there is one, and else makes a new assignment.
    """
    headings = [choices.of(lesson.name) or lesson.name for lesson in selection.lessons]
    rows = [
        ["Student", "ID", "SIS Login ID", "Section", *headings],
        [f"    {POINTS}", "", "", "", *(number(lesson.max_score) for lesson in selection.lessons)],
    ]
    without = False
    numbers = [student.lms_id.strip() for student in selection.book.students.values()]
    for student in selection.students:
        if not (zeros or selection.has_any(student)):
            continue
        canvas_id = student.lms_id.strip()
        if not re.fullmatch(r"[0-9]+", canvas_id):
            what = f"has “{canvas_id}”, which is no number, as" if canvas_id else "does not know"
            messages.missing.append(f"{student.label}: the gradebook {what} their id in Canvas, `lms_user_id`.")
            without = True
        elif numbers.count(canvas_id) > 1:
            messages.missing.append(f"{student.label}: another student has the same id in Canvas, {canvas_id}.")
        else:
            points = [selection.points(student, lesson, zeros=zeros) for lesson in selection.lessons]
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            rows.append([harmless(name), canvas_id, "", "", *points])
    if new := [lesson.name for lesson in selection.lessons if not choices.of(lesson.name)]:
        messages.notes.append(
            f"Canvas makes a new assignment of each of {', '.join(new)} that it does not have under just this name. "
            "Name the gradebook that it exports to fill the columns that are there."
        )
    if without:
        messages.notes.append(
            "Export the gradebook from Canvas and name that file: students are then found by more ids."
        )
    return table(rows, bom=False)
