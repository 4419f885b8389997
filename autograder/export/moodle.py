"""Moodle: the offline grading worksheet of an assignment, filled, or a file for *Grades → Import → CSV file*.

Both take points with a decimal point whatever Moodle's language is; so there is no option for commas.
"""

from collections.abc import Iterable
from html import escape

from autograder.course.config import CourseError
from autograder.course.names import counted
from autograder.export.scale import maximum_for, scaled
from autograder.export.selection import Messages, Selection
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradedSubmission, Student
from autograder.grading.results import Status
from autograder.spreadsheets.matching import MOODLE, Matches, keys_of, match
from autograder.spreadsheets.sheet import Row, Sheet, number, table

IDENTIFIERS = {"email": ("Email address", "email"), "username": ("Username", "id"), "idnumber": ("ID number", "lms_id")}
ENGLISH = "Set Moodle to English while you download and upload it."


def fill(selection: Selection, sheet: Sheet, messages: Messages, *, scale: bool, zeros: bool, feedback: bool) -> bytes:
    """Put one lesson's points into an offline grading worksheet; all else keeps its bytes, dates above all.

    Moodle leaves out rows whose grade somebody has changed since the download, which it tells by these dates.

    Args:
        scale: convert points where Moodle has another maximum.
        zeros: enter 0 where nothing was handed in.
        feedback: write what the checks said into the comments; what somebody else wrote there stays.

    Raises:
        CourseError: the file is no worksheet, or has no place for the points.
    """
    (lesson,) = selection.lessons
    grade, comments = _grade_column(sheet), _comments_column(sheet) if feedback else None
    matches = matches_of(sheet, selection.book.students.values())
    messages.notes += sheet.notes
    for student in selection.students:
        graded, row = selection.graded(student, lesson), matches.rows.get(student.id)
        if not (graded or (zeros and selection.nothing(student, lesson))):
            continue
        if row is None:
            messages.missing.append(f"{student.label}: {matches.why_not[student.id]}.")
            continue
        maximum = maximum_for(sheet.get(row, sheet.require("Maximum grade")), lesson, sheet.path.name, scale=scale)
        points, fits = "0", True
        if graded:
            points, fits = scaled(graded, lesson, maximum), graded.score <= lesson.max_score
        _enter(sheet, row, grade, points, student.label, messages, fits=fits)
        if comments is not None and graded:
            _comment(sheet, row, comments, _page(lesson, graded), student.label, messages)
    messages.missing += [f"{stranger}; left as it was." for stranger in strangers_of(sheet, matches)]
    return sheet.to_bytes()


def matches_of(sheet: Sheet, students: Iterable[Student]) -> Matches:
    """Find the row of each student in a worksheet.

    Raises:
        CourseError: it has no column that says who somebody is.
    """
    keys = keys_of(sheet, MOODLE)
    if not keys:
        raise CourseError(
            f"{sheet.path} has none of the columns {', '.join(MOODLE)}, and names alone do not say who is who. "
            "An administrator can show one of them to teachers (in Moodle: showuseridentity)."
        )
    return match(students, sheet, [row for row in sheet.rows[1:] if not row.is_blank], keys)


def strangers_of(sheet: Sheet, matches: Matches) -> list[str]:
    """Say which rows of a worksheet nobody in the gradebook fits."""
    columns = sheet.column("Full name"), sheet.column("Identifier")
    named = [(row.line, sheet.get(row, columns[0]) or sheet.get(row, columns[1])) for row in matches.strangers]
    return [f"{sheet.path.name}, line {line}: {who} is not in the gradebook" for line, who in named]


def _grade_column(sheet: Sheet) -> int:
    """Return the column of grades, if all are there that Moodle asks for."""
    *_, grade = (sheet.require(name, advice=ENGLISH) for name in ("Identifier", "Last modified (grade)", "Grade"))
    if sheet.column("Maximum grade") is None:
        raise CourseError(
            f"{sheet.path} has no column “Maximum grade”: Moodle grades it on a scale. Let it have points."
        )
    return grade


def _comments_column(sheet: Sheet) -> int:
    """Return the column of comments, if there is one."""
    column = sheet.column("Feedback comments")
    if column is None:
        raise CourseError(
            f"{sheet.path} has no column “Feedback comments”. Turn on this feedback type in the assignment's settings, "
            "or leave out --feedback."
        )
    return column


def _enter(sheet: Sheet, row: Row, column: int, points: str, student: str, messages: Messages, *, fits: bool) -> None:
    if sheet.get(row, sheet.column("Grade can be changed")).strip().casefold() == "no":
        messages.missing.append(f"{student}: their grade is locked in Moodle; the gradebook has {points}.")
    elif not fits:
        messages.missing.append(f"{student}: {points} is more than the maximum, which Moodle does not take.")
    else:
        sheet.put(row, column, points)


def _comment(sheet: Sheet, row: Row, column: int, page: str, student: str, messages: Messages) -> None:
    now, ours = sheet.get(row, column).strip(), page.split(":")[0]
    if now and not now.startswith(ours):
        messages.notes.append(f"{student}: somebody wrote a comment in Moodle, which stays in place of ours.")
    else:
        sheet.put(row, column, page)


def fresh(selection: Selection, messages: Messages, identifier: str, *, zeros: bool, feedback: bool) -> bytes:
    """Write a file for Moodle's grade import: who it is, a column for each lesson, and one more for feedback.

    Args:
        identifier: "email", "username" or "idnumber", by which Moodle finds students.
    """
    heading, attribute = IDENTIFIERS[identifier]
    titles = [title for lesson in selection.lessons for title in (lesson.name, f"{lesson.name} feedback")]
    rows = [[heading, *(titles if feedback else titles[::2])]]
    keys = [getattr(person, attribute).strip().casefold() for person in selection.book.students.values()]
    empty = 0
    for student in selection.students:
        if not (zeros or selection.has_any(student)):
            continue
        key = getattr(student, attribute).strip()
        if not key:
            messages.missing.append(
                f"{student.label}: the gradebook has no {heading.lower()} of theirs; --by takes another."
            )
        elif keys.count(key.casefold()) > 1:
            messages.missing.append(f"{student.label}: another student has the same {heading.lower()}, {key}.")
        else:
            cells = []
            for lesson in selection.lessons:
                graded, points = selection.graded(student, lesson), selection.points(student, lesson, zeros=zeros)
                empty += not points
                cells.append(points)
                cells += [_page(lesson, graded) if graded else ""] if feedback else []
            rows.append([key, *cells])
    if empty:
        messages.notes.append(
            f"{empty} cells are empty, where nothing was handed in; Moodle takes them for “no grade”. "
            "Export one lesson at a time to leave such students out, or give --zeros."
        )
    return table(rows, bom=False)


def _page(lesson: GradebookLesson, graded: GradedSubmission) -> str:
    """What the checks said, as HTML, which is what Moodle's comments are."""
    parts = [f"<p>{escape(lesson.name)}: {number(graded.score)} of {counted(lesson.max_score, 'point')}.</p>"]
    if graded.penalty:
        parts.append(f"<p>Taken off for being late: {counted(graded.penalty, 'point')}.</p>")
    if graded.result and graded.result.reason:
        parts.append(f"<p>It could not be graded. {escape(graded.result.reason)}</p>")
    outcomes = graded.result.checks if graded.result else ()
    for outcome in outcomes:
        if outcome.message and outcome.status is not Status.NOT_ATTEMPTED:
            parts.append(f"<pre>{escape(outcome.message)}</pre>")
    if untouched := [outcome.check for outcome in outcomes if outcome.status is Status.NOT_ATTEMPTED]:
        parts.append(f"<p>Not attempted: {escape(', '.join(untouched))}.</p>")
    parts += [f"<p>{escape(answer)}: {escape(comment)}</p>" for answer, comment in graded.comments.items()]
    return "".join(parts)
