"""What is exported is what the gradebook holds, in the forms that other programs publish; nobody's row is guessed."""

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from export.test_gradescope import FAILED, PASSED, valid
from rich.console import Console
from support.gradebook import LESSON, db_url, hand_in, handed_in_at
from support.sample_lesson import ROOT
from traitlets.config import Config

from autograder import cli
from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.export import canvas, csv_columns, moodle
from autograder.export.columns import Choices, columns_of
from autograder.export.scale import scaled
from autograder.export.selection import Messages, select
from autograder.grading import grade
from autograder.grading.gradebook.counting import HandIn
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.gradebook.students import write_students
from autograder.grading.pending import Pending
from autograder.grading.results import Outcome, Result, Status
from autograder.spreadsheets.sheet import Sheet, harmless, number

SAMPLES = ROOT / "tests" / "export" / "samples"
CANVAS, MOODLE = SAMPLES / "canvas.csv", SAMPLES / "moodle_worksheet.csv"
SECOND = "02_halving"
NBGRADERS = [
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
]
RELEASED = {
    LESSON: GradebookLesson(LESSON, {"check_double": 3.0, "check_double_text": 1.0}, datetime(2026, 3, 1, 12)),
    SECOND: GradebookLesson(SECOND, {"check_half": 5.0}),
}
UNTOUCHED = Outcome("check_double_text", 1.0, Status.NOT_ATTEMPTED, "✗ `double` is not written yet.")
ADA = Student("s-ada", "Ada", "Lovelace", "ada@example.org", "901")
INES = Student("ines", "Inés", "Núñez", "ines@example.org", "902")
BOB = Student("bob", "=Bob", "Evil", "bob@example.org", "903")
GRACE = Student("grace", "Grace", "Hopper", "grace@example.org")
ABSENT = Student("zoe", "Zoë", 'O\'Neil, "Zo"\nJr.', "-zoe@example.org")


def graded(
    person: Student, scores: Mapping[str, float], checks: Sequence[Outcome] = (), **more: Any
) -> GradedSubmission:
    """A submission of the first lesson."""
    result = Result(person.id, LESSON, tuple(checks))
    return GradedSubmission(person.id, LESSON, scores, result=result, **more)


def make_book(
    *submissions: GradedSubmission, people: Sequence[Student] = (ADA, INES, BOB, GRACE, ABSENT)
) -> GradebookSnapshot:
    """A gradebook with two lessons."""
    students = {person.id: person for person in sorted(people, key=lambda person: person.id)}
    listed = {(submission.student, submission.lesson): submission for submission in submissions}
    return GradebookSnapshot(RELEASED, students, listed, Course(Config()))


RIGHT = graded(ADA, {"check_double": 3.0, "check_double_text": 1.0}, [PASSED, replace(FAILED, status=Status.PASSED)])
HALF = graded(INES, {"check_double": 3.0, "check_double_text": 0.25}, [PASSED, FAILED], penalty=0.5)
BOOK = make_book(RIGHT, HALF)


def rows_of(data: bytes) -> list[list[str]]:
    """What any reader of CSV files finds."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def filled(
    book: GradebookSnapshot,
    sheet: Sheet | None = None,
    messages: Messages | None = None,
    lessons: Sequence[str] = (LESSON,),
    **options: Any,
) -> bytes:
    """A Canvas gradebook with points in it."""
    sheet, messages = sheet or Sheet.read(CANVAS), messages or Messages()
    choices = Choices(options.pop("columns", {}), options.pop("remembered", {}))
    options = {"scale": False, "zeros": False} | options
    return canvas.fill(select(book, lessons, "*"), sheet, choices, messages, **options)


def worksheet(
    book: GradebookSnapshot, sheet: Sheet | None = None, messages: Messages | None = None, **options: bool
) -> bytes:
    """A Moodle worksheet with points in it."""
    sheet, messages = sheet or Sheet.read(MOODLE), messages or Messages()
    options = {"scale": False, "zeros": False, "feedback": False} | options
    return moodle.fill(select(book, [LESSON], "*"), sheet, messages, **options)


def edited(tmp_path: Path, name: str, old: str, new: str) -> Sheet:
    """A sample with one text changed in all places."""
    text = (SAMPLES / name).read_bytes().decode()
    assert old in text
    (tmp_path / name).write_bytes(text.replace(old, new).encode())
    return Sheet.read(tmp_path / name)


def test_plain_begins_like_nbgraders() -> None:
    """The table has nbgrader's columns first, a row for everybody in every lesson, and zeros for who is absent."""
    data = csv_columns.grades_table(select(BOOK, [], "*"))
    head, *rows = rows_of(data)
    assert head[:11] == NBGRADERS
    assert [(row[0], row[3]) for row in rows] == [(a, s) for a in RELEASED for s in sorted(BOOK.students)]
    by_student = {row[3]: row for row in rows if row[0] == LESSON}
    assert by_student["ines"][7:11] == ["3.25", "0.5", "2.75", "4"]
    assert by_student["zoe"][7:14] == ["0", "0", "0", "4", "", "not handed in", ""]
    assert by_student["s-ada"][1] == "2026-03-01 12:00:00"
    more_time = replace(BOOK, extensions={("ines", LESSON): timedelta(days=2)})
    dates = {row[3]: row[1] for row in rows_of(csv_columns.grades_table(select(more_time, [LESSON], "*")))}
    assert (dates["ines"], dates["zoe"]) == ("2026-03-03 12:00:00", "2026-03-01 12:00:00"), "each has their own"
    assert data.startswith(b"\xef\xbb\xbf") and data.endswith(b"\r\n")


def test_plain_says_why_nothing_could_be_graded() -> None:
    """A submission that is not gradable says so with its reason, and one that waits says that it waits."""
    broken = GradedSubmission("s-ada", LESSON, {}, result=Result("s-ada", LESSON, reason="=It is, a zip."))
    waiting = GradedSubmission("ines", LESSON, {"check_double": 1.0}, to_review=frozenset({"check_double"}))
    rows = rows_of(csv_columns.grades_table(select(make_book(broken, waiting), [LESSON], "*")))
    by_student = {row[3]: row[12:] for row in rows}
    assert by_student["s-ada"] == ["not gradable", "'=It is, a zip.", ""]
    assert by_student["ines"] == ["to be looked at", "", ""]


def test_wide_has_a_row_for_each_student() -> None:
    """Points that count stand under the lesson with its maximum, a dash where nothing was handed in, then the total;
    commas, quotes, newlines and accents of a name are read back as they were."""
    selection = replace(select(BOOK, [], "*"), pending={("bob", LESSON): Pending("bob", LESSON)})
    head, *rows = rows_of(csv_columns.wide_table(selection))
    assert head == ["student_id", "last_name", "first_name", "email", f"{LESSON} (4)", f"{SECOND} (5)", "total (9)"]
    points = {row[0]: row[4:] for row in rows}
    assert points["s-ada"] == ["4", "–", "4"] and points["ines"] == ["2.75", "–", "2.75"]
    assert points["zoe"] == ["–", "–", "0"] and points["bob"] == ["not graded yet", "–", "0"]
    assert list(points) == sorted(BOOK.students) and rows[-1][1:3] == [ABSENT.last_name, "Zoë"]


def test_what_does_not_count_is_named() -> None:
    """Beside what counts stands when the others were handed in, and what their checks came to."""
    other = HandIn("d", datetime(2026, 3, 2, 9, 30), Result("s-ada", LESSON, checks=(PASSED, FAILED)))
    rows = rows_of(csv_columns.grades_table(select(make_book(replace(RIGHT, others=[other])), [LESSON], "s-ada")))
    assert (rows[0][-1], rows[1][-1]) == ("not_counted", "2026-03-02 09:30:00: 3")


def test_formulas_are_neutralised() -> None:
    """A text that would be a formula gets an apostrophe in front, and numbers stay numbers."""
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"):
        assert harmless(text) == f"'{text}"
    for text in ("", "Ada", "1=1", "'=1", " a"):
        assert harmless(text) == text
    row = rows_of(csv_columns.grades_table(select(BOOK, [LESSON], "bob")))[1]
    assert row[5] == "'=Bob"
    assert rows_of(csv_columns.grades_table(select(BOOK, [LESSON], "zoe")))[1][6] == "'-zoe@example.org"
    minus = graded(ADA, {"check_double": -1.5})
    assert rows_of(csv_columns.grades_table(select(make_book(minus), [LESSON], "s-ada")))[1][7] == "-1.5"


def test_numbers_are_written_plainly() -> None:
    """Points have at most four decimals, no exponent, and no zeros that say nothing."""
    shown = {-0.0: "0", 20.0: "20", 1 / 3: "0.3333", 1234567.5: "1234567.5", 100.0: "100", 1e-9: "0"}
    assert {value: number(value) for value in shown} == shown


def test_checks_are_in_long_form() -> None:
    """Each check is a row, with its points, what it said, and whether somebody gave the points by hand."""
    by_hand = replace(HALF, by_hand=frozenset({"check_double_text"}))
    head, *rows = rows_of(csv_columns.checks_table(select(make_book(by_hand), [], "*")))
    assert [row[5:10] for row in rows] == [
        ["check_double", "3", "3", "passed", ""],
        ["check_double_text", "0.25", "1", "failed", "yes"],
    ]
    assert rows[1][head.index("verdict")] == "`double` is <wrong>."


def test_canvas_fills_its_column_and_nothing_else() -> None:
    """Only the cells of the lesson change: the file else keeps its bytes, read-only totals and odd names included."""
    messages = Messages()
    text = CANVAS.read_text(encoding="utf-8")
    data = filled(BOOK, messages=messages).decode()
    expected = text.replace(",9.50,,95", ",9.50,4,95").replace(",8.00,1.00,", ",8.00,2.75,")
    assert data == expected
    assert messages.missing == ["canvas.csv, line 8: Nobody, Jane is not in the gradebook; left as it was."]


def test_canvas_finds_students_by_each_id() -> None:
    """A student is found by Canvas' id, by the SIS user id, or by the login, which may be the e-mail."""
    text = Sheet.read(CANVAS)
    by_id = Student("s-ada"), Student("ADA@example.org"), Student("x", email="Ada@Example.org")
    for person in (*by_id, Student("x", lms_id="901"), Student("x", lms_id="s-ada")):
        book = make_book(replace(RIGHT, student=person.id), people=[person])
        data = filled(book)
        assert rows_of(data)[3][text.column("01_doubling (4711)")] == "4", person


def test_canvas_guesses_nothing() -> None:
    """Names match nobody; two rows for one student or two students for one row are listed and left empty."""
    nameless = Student("q", "Ada", "Lovelace")
    torn = Student("s-ada", lms_id="902")
    twins = Student("s-bob", email="x"), Student("y", lms_id="903")
    everybody = [nameless, torn, *twins]
    book = make_book(*(replace(RIGHT, student=person.id) for person in everybody), people=everybody)
    messages, sheet = Messages(), Sheet.read(CANVAS)
    assert filled(book, sheet, messages) == CANVAS.read_bytes()
    missing = "\n".join(messages.missing)
    assert "q (Ada Lovelace): no row of canvas.csv has their id or e-mail under ID, SIS User ID, SIS" in missing
    assert "s-ada: lines 4 and 5 of canvas.csv fit equally." in missing
    assert "s-bob: line 6 of canvas.csv fits y equally." in missing
    assert "y: line 6 of canvas.csv fits s-bob equally." in missing


def test_canvas_keeps_what_it_would_not_take() -> None:
    """Who is excused stays excused, and points for an assignment that is not theirs are listed."""
    messages = Messages()
    book = make_book(*(replace(RIGHT, student=person.id) for person in (BOB, GRACE)), people=[BOB, GRACE])
    assert filled(book, messages=messages) == CANVAS.read_bytes()
    assert any(line.startswith("bob (=Bob Evil), 01_doubling: excused in Canvas") for line in messages.notes)
    assert any(line.startswith("grace (Grace Hopper), 01_doubling: not assigned") for line in messages.missing)


def test_canvas_adds_a_column() -> None:
    """Where that is asked for, a lesson gets a column before the totals, with its name and its points."""
    book = make_book(replace(RIGHT, lesson=SECOND, scores={"check_half": 2.5}))
    rows = rows_of(filled(book, lessons=[SECOND], columns={SECOND: "new"}))
    place = rows[0].index(SECOND)
    assert rows[0][place - 1 : place + 2] == ["01_doubling (4711)", SECOND, "Assignments Current Score"]
    assert [row[place] for row in rows[1:5]] == ["", "5", "2.5", ""]
    assert {len(row) for row in rows} == {len(rows[0])}


def test_canvas_takes_the_column_that_is_named(tmp_path: Path) -> None:
    """A lesson goes where --column says, two columns of one name are refused until it does, and none is shared."""
    sheet = edited(tmp_path, "canvas.csv", "Essay (4700)", "01_doubling (4700)")
    with pytest.raises(CourseError, match=r"01_doubling \(4700\)” and “01_doubling \(4711\)” both(.|\n)*--column"):
        filled(BOOK, sheet)
    rows = rows_of(filled(BOOK, sheet, columns={LESSON: "01_doubling (4711)"}))
    assert rows[3][6:8] == ["9.50", "4"]
    with pytest.raises(CourseError, match=r"01_doubling”\): there is no column “Quiz”"):
        filled(BOOK, sheet, columns={LESSON: "Quiz"})
    both = {LESSON: "01_doubling (4711)", SECOND: "01_doubling (4711)"}
    with pytest.raises(CourseError, match="would share the column"):
        filled(BOOK, edited(tmp_path, "canvas.csv", ",4.00,(", ",,("), lessons=[LESSON, SECOND], columns=both)


def test_canvas_offers_no_column_that_is_another_lessons() -> None:
    """What is to be copied works: a free column, or the lessons that have theirs."""
    headings, titles = {4: "Doubling (7)"}, {LESSON: "Doubling", SECOND: "Halving"}
    with pytest.raises(CourseError, match=f"--lesson {LESSON}") as raised:
        columns_of(headings, titles, Choices(), Path("canvas.csv"))
    assert f"--column {SECOND}=" in str(raised.value) and f"{SECOND}=Doubling" not in str(raised.value)
    columns_of({**headings, 5: "Quiz (8)"}, titles, Choices(given={SECOND: "Quiz (8)"}), Path("canvas.csv"))


def test_points_of_before_are_scaled_by_the_maximum_of_before() -> None:
    """A check that is worth 3 points now and was worth 1 when it was graded takes nothing from a right hand-in."""
    lesson = GradebookLesson(LESSON, {"one": 3.0, "other": 1.0})
    result = Result("ada", LESSON, tuple(Outcome(check, 1.0, Status.PASSED) for check in lesson.points))
    graded = GradedSubmission("ada", LESSON, {"one": 1.0, "other": 1.0}, result=result)
    assert scaled(graded, lesson, 10.0) == "10"
    assert scaled(replace(graded, scores={"one": 3.0, "other": 0.0}, result=None), lesson, 10.0) == "7.5"


@pytest.mark.parametrize(
    "heading",
    [
        "01_multi_head_attention (3002)",
        "1 Multi Head Attention (3002)",
        "Lesson 1: Heads & tails (3002)",
        "HEADS AND TAILS",
        "01 – heads and tails!",
        "Multi-head attention (3002)",
        "Lesson 01",
        "homework 1: multihead attention",
    ],
)
def test_canvas_columns_are_found_as_people_write_them(heading: str) -> None:
    """A column is a lesson's by its name or title, whatever the case, signs and zeros, if no other is as well."""
    lesson, path = "01_multi_head_attention", Path("canvas.csv")
    titles = {lesson: "Heads and tails"}
    others = {5: "Heads (1)", 6: "2 Heads and tails", 7: "Multi-head attention quiz", 8: "Lesson 11", 9: "Homework 1"}
    assert columns_of({**others, 10: heading}, titles, Choices(), path) == {lesson: 10}
    assert columns_of({**others, 10: heading}, titles, Choices({lesson: "lesson 11"}), path) == {lesson: 8}
    with pytest.raises(CourseError, match=re.escape(f"“{heading}” and “Heads and tails (9)” both may be it.")):
        columns_of({10: heading, 11: "Heads and tails (9)"}, titles, Choices(), path)
    with pytest.raises(CourseError) as error:
        columns_of(others, titles, Choices(), path)
    assert str(error.value).splitlines() == [
        "canvas.csv: which column is a lesson's cannot be told, and nothing was written.",
        "  01_multi_head_attention (“Heads and tails”): no column has this name.",
        "Its columns are: “Heads (1)”, “2 Heads and tails”, “Multi-head attention quiz”, “Lesson 11”, “Homework 1”.",
        "Say which with --column '01_multi_head_attention=2 Heads and tails', or add one with "
        "--column 01_multi_head_attention=new; this is remembered.",
    ]


def test_canvas_column_that_was_renamed_is_known_by_its_number() -> None:
    """What was said holds for the assignment; where that is gone, nothing else is taken."""
    said = Choices(remembered={LESSON: "Doubling lab (7)"})
    assert columns_of({5: LESSON, 6: "Twice (7)"}, {LESSON: "Doubling"}, said, CANVAS) == {LESSON: 6}
    with pytest.raises(CourseError, match=r"there is no column “Doubling lab \(7\)”"):
        columns_of({5: LESSON}, {LESSON: "Doubling"}, said, CANVAS)


def test_canvas_refuses_another_maximum(tmp_path: Path) -> None:
    """Points of another maximum are refused, and converted when that is asked for; a read-only column takes none."""
    for hundred in ("100.00", '"100,00"'):
        sheet = edited(tmp_path, "canvas.csv", ",4.00,(", f",{hundred},(")
        with pytest.raises(CourseError, match=r"has 4 points, and 100 in canvas.csv.*--scale"):
            filled(BOOK, sheet)
        assert rows_of(filled(BOOK, sheet, scale=True))[4][7] == "68.75"
    with pytest.raises(CourseError, match="and 0 in"):
        filled(BOOK, edited(tmp_path, "canvas.csv", ",4.00,(", ",0.00,("), scale=True)
    with pytest.raises(CourseError, match="read only in Canvas"):
        filled(BOOK, edited(tmp_path, "canvas.csv", ",4.00,(", ",(read only),("))


def test_canvas_zeros_when_asked() -> None:
    """Nothing is entered for who handed in nothing, or 0 when that is asked for."""
    book = make_book(RIGHT, people=[ADA, INES])
    assert rows_of(filled(book))[4][7] == "1.00"
    assert rows_of(filled(book, zeros=True))[4][7] == "0"


def test_canvas_in_other_clothes(tmp_path: Path) -> None:
    """Semicolons, CR LF, a byte order mark, two columns of names and cut-off cells are all kept as they are."""
    text = CANVAS.read_text(encoding="utf-8")
    path = tmp_path / "canvas.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    data = filled(BOOK, Sheet.read(path))
    assert data.startswith(b"\xef\xbb\xbfStudent,ID") and data.count(b"\r\n") == text.count("\n") == data.count(b"\n")
    assert b",9.50,4,95" in data
    rows = [row[:8] for row in csv.reader(io.StringIO(text))]
    semicolons = io.StringIO()
    csv.writer(semicolons, delimiter=";").writerows(
        [*(part for part in row[0].partition(", ")[::2]), *row[1:]]
        if row[0] != "Student"
        else ["LastName", "FirstName", *row[1:]]
        for row in rows
    )
    path.write_text(semicolons.getvalue() + ";;\n", encoding="utf-8")
    messages = Messages()
    again = filled(BOOK, Sheet.read(path), messages).decode()
    assert "Lovelace;Ada;901" in again and ";9.50;4\r\n" in again and again.endswith(";;\n")
    assert [line for line in messages.missing if "Test" in line] == []


def test_canvas_without_a_template() -> None:
    """A new file has the columns that Canvas asks for, the row of points, and only students whose number is known."""
    messages = Messages()
    book = make_book(RIGHT, HALF, replace(RIGHT, student="grace"), replace(RIGHT, student="bob"))
    rows = rows_of(canvas.fresh(select(book, [LESSON], "*"), Choices(), messages, zeros=False))
    assert rows == [
        ["Student", "ID", "SIS Login ID", "Section", LESSON],
        ["    Points Possible", "", "", "", "4"],
        ["Evil, =Bob", "903", "", "", "4"],
        ["Núñez, Inés", "902", "", "", "2.75"],
        ["Lovelace, Ada", "901", "", "", "4"],
    ]
    assert messages.missing == ["grace (Grace Hopper): the gradebook does not know their id in Canvas, `lms_user_id`."]
    twin = make_book(RIGHT, people=[ADA, replace(INES, lms_id="901")])
    messages = Messages()
    assert len(rows_of(canvas.fresh(select(twin, [LESSON], "*"), Choices(), messages, zeros=False))) == 2
    assert messages.missing == ["s-ada (Ada Lovelace): another student has the same id in Canvas, 901."]


def test_canvas_reads_back_what_it_wrote(tmp_path: Path) -> None:
    """What is made without a template is itself of the form that a template has."""
    path = tmp_path / "new.csv"
    path.write_bytes(canvas.fresh(select(BOOK, [LESSON], "*"), Choices(), Messages(), zeros=False))
    messages = Messages()
    assert filled(BOOK, Sheet.read(path), messages) == path.read_bytes()
    assert not messages.missing


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"Name,Points\nAda,3\n", r"no column “Student”. Its columns are: Name, Points"),
        (b"Student,ID,SIS Login ID\nA,1,a\n", "no column “Section”"),
        (b"Student,ID,SIS Login ID,Section\nA,1,a,s\n", "no row “Points Possible”"),
        (b'Student,ID,Section\n"A,1,s\n', "in line 2 a quotation mark is not closed"),
        (b"Student,ID,Section\nA,1,s,4,5\n", "line 2, has 5 cells, and there are 3 headings"),
        (b"PK\x03\x04", "perhaps a workbook"),
        ("Student,ID".encode("utf-16"), "no text in UTF-8"),
        (b"Student\x81\xff,ID", r"not in UTF-8 \(line 1\), nor"),
    ],
)
def test_wrong_templates_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """A file of another form is refused with what is missing."""
    path = tmp_path / "template.csv"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=message):
        filled(BOOK, Sheet.read(path))


def test_windows_encoding_is_read_and_said(tmp_path: Path) -> None:
    """A file that Excel saved in Windows' encoding is read, written in UTF-8, and this is said."""
    path = tmp_path / "canvas.csv"
    path.write_bytes(CANVAS.read_text(encoding="utf-8").encode("cp1252"))
    messages = Messages()
    assert "Núñez, Inés" in filled(BOOK, Sheet.read(path), messages).decode()
    assert "read as Windows-1252" in messages.notes[0]


def test_moodle_fills_a_worksheet_and_nothing_else() -> None:
    """Only grades change; dates, by which Moodle tells what is newer, and comments keep their bytes."""
    messages = Messages()
    text = MOODLE.read_bytes().decode()
    data = worksheet(BOOK, messages=messages).decode()
    ungraded = 'grading",{},4.00,Yes,"Monday, 2 March 2026, 9'
    expected = text.replace(ungraded.format(""), ungraded.format(4))
    assert data == expected.replace('Graded",1.00,', 'Graded",2.75,')
    assert [line.split(":")[0] for line in messages.missing] == ["moodle_worksheet.csv, line 6"]


def test_moodle_locked_and_too_high_grades_are_listed() -> None:
    """A grade that Moodle would not take is listed and not entered."""
    book = make_book(replace(RIGHT, student="bob"), replace(RIGHT, scores={"check_double": 7.0}))
    messages, sheet = Messages(), Sheet.read(MOODLE)
    assert worksheet(book, sheet, messages) == MOODLE.read_bytes()
    assert messages.missing[0] == "bob (=Bob Evil): their grade is locked in Moodle; the gradebook has 4."
    assert messages.missing[1] == "s-ada (Ada Lovelace): 7 is more than the maximum, which Moodle does not take."


def test_moodle_feedback_is_html_and_keeps_comments_of_others(tmp_path: Path) -> None:
    """What checks said is escaped; a person's comment stays, and ours is replaced by the newer one."""
    messages = Messages()
    book = make_book(HALF, replace(RIGHT, result=Result("s-ada", LESSON, (PASSED, UNTOUCHED))))
    data = worksheet(book, messages=messages, feedback=True)
    rows = rows_of(data)
    assert rows[1][9] == "<p>01_doubling: 4 of 4 points.</p><p>Not attempted: check_double_text.</p>"
    assert rows[2][9] == "<p>Well begun,\nand half done.</p>"
    assert messages.notes == ["ines (Inés Núñez): somebody wrote a comment in Moodle, which stays in place of ours."]
    path = tmp_path / "again.csv"
    path.write_bytes(data)
    newer = make_book(replace(RIGHT, result=Result("s-ada", LESSON, (PASSED, FAILED)), comments={"double": "<b>"}))
    again = rows_of(worksheet(newer, Sheet.read(path), feedback=True))
    assert again[1][9] == (
        "<p>01_doubling: 4 of 4 points.</p><pre>✗ `double` is &lt;wrong&gt;.</pre><p>double: &lt;b&gt;</p>"
    )


def test_moodle_worksheets_of_another_form_are_refused(tmp_path: Path) -> None:
    """What a worksheet lacks is named: a heading, points, ids, a place for comments, or the right maximum, to which
    points are converted when that is asked for."""
    for old, new, message in [
        ("Identifier,", "Kennung,", "no column “Identifier”.*Set Moodle to English"),
        ('"Last modified (grade)"', "x", r"no column “Last modified \(grade\)”"),
        ('"Maximum grade"', "Scale", "grades it on a scale"),
        ('"Email address"', "City", "none of the columns Email address, ID number, Username"),
        ("4.00", '"100,00"', "has 4 points, and 100"),
    ]:
        with pytest.raises(CourseError, match=message):
            worksheet(BOOK, edited(tmp_path, "moodle_worksheet.csv", old, new))
    with pytest.raises(CourseError, match="no column “Feedback comments”"):
        sheet = edited(tmp_path, "moodle_worksheet.csv", '"Feedback comments"', "x")
        worksheet(BOOK, sheet, feedback=True)
    sheet = edited(tmp_path, "moodle_worksheet.csv", "4.00", '"100,00"')
    assert rows_of(worksheet(BOOK, sheet, scale=True))[2][4] == "68.75"


def test_moodle_import_has_the_published_form() -> None:
    """The import file has one column that says who it is, one for points and one for feedback, and no one twice."""
    sample = rows_of((SAMPLES / "moodle_import.csv").read_bytes())
    messages = Messages()
    rows = rows_of(moodle.fresh(select(BOOK, [LESSON], "*"), messages, "email", zeros=False, feedback=True))
    assert rows[0] == sample[0]
    assert [row[:2] for row in rows[1:]] == [["ines@example.org", "2.75"], ["ada@example.org", "4"]]
    assert not messages.missing and not messages.notes
    rows = rows_of(moodle.fresh(select(BOOK, [], "*"), messages, "idnumber", zeros=False, feedback=False))
    assert rows == [["ID number", LESSON, SECOND], ["902", "2.75", ""], ["901", "4", ""]]
    assert messages.notes[0].startswith("2 cells are empty")
    people = [ADA, replace(INES, email="ADA@example.org")]
    messages = Messages()
    moodle.fresh(select(make_book(RIGHT, people=people), [LESSON], "*"), messages, "email", zeros=True, feedback=False)
    assert len(messages.missing) == 2 and "has the same email address" in messages.missing[0]


@pytest.fixture(scope="module")
def template(small_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded course: right work, wrong work, a broken file, and somebody who handed in nothing."""
    folder = Path(shutil.copytree(small_course, tmp_path_factory.mktemp("export") / "course"))
    hand_in(folder, "s-ada", "ines", "bob")
    place = f"{LESSON}/{LESSON}.ipynb"
    shutil.copy(folder / "solutions" / place, folder / "submitted" / "s-ada" / place)
    (folder / "submitted" / "bob" / place).write_text("{")
    assert grade.grade(folder, grade.GradeOptions(), Console(quiet=True)) == 1
    with Gradebook(db_url(folder), folder).writing() as connection:
        write_students(connection, (ADA, INES, BOB, ABSENT))
    return folder


@pytest.fixture
def course(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of the test's own, which is the current folder."""
    folder = Path(shutil.copytree(template, tmp_path / "course"))
    for sample in (CANVAS, MOODLE):
        shutil.copy(sample, folder / f"from_{sample.name}")
    monkeypatch.chdir(folder)
    return folder


def test_command_writes_every_form(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each form comes from a real gradebook, and what did not get into a file is listed, with exit status 1."""
    assert cli.main(["export", "csv"]) == 0
    assert (course / "grades.csv").stat().st_mode & 0o777 == 0o600, "nobody else can read it"
    states = {row[3]: row[9:] for row in rows_of((course / "grades.csv").read_bytes())[1:]}
    assert states["s-ada"][:2] == ["4", "4"] and states["s-ada"][3] == "graded"
    assert states["bob"][0] == "0" and states["bob"][3] == "not gradable" and "is cut off" in states["bob"][4]
    assert states["zoe"][3] == "not handed in"
    assert cli.main(["export", "csv", "--wide"]) == cli.main(["export", "csv", "--checks"]) == 0
    assert {row[0]: row[4:] for row in rows_of((course / "table.csv").read_bytes())}["s-ada"] == ["4", "4"]
    assert "verdict" in rows_of((course / "checks.csv").read_bytes())[0]
    capsys.readouterr()
    assert cli.main(["export", "canvas", "from_canvas.csv"]) == 1
    out = capsys.readouterr()
    assert "✓ canvas.csv: 01_doubling." in out.out
    assert "Nobody, Jane is not in the gradebook" in out.err
    assert "bob (=Bob Evil), 01_doubling: could not be graded" in out.err
    assert rows_of((course / "canvas.csv").read_bytes())[3][7] == "4"
    assert cli.main(["export", "canvas", "--output", "new.csv"]) == 0
    assert cli.main(["export", "moodle", "--feedback"]) == 0
    assert cli.main(["export", "moodle", "--worksheet", "from_moodle_worksheet.csv", "--output", "w.csv"]) == 1
    assert cli.main(["export", "gradescope"]) == 0
    for student in ("s-ada", "ines", "bob"):
        path = course / "gradescope" / student / LESSON / "results.json"
        assert "hidden_secret" not in json.dumps(valid(json.loads(path.read_bytes())))
    assert cli.main(["export", "gradescope-zip", LESSON]) == 0
    assert zipfile.is_zipfile(course / f"gradescope-{LESSON}.zip")


def test_command_writes_to_standard_output(course: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """With `-` the file goes to standard output, and nothing else does."""
    assert cli.main(["export", "csv", "--checks", "--student", "i*", "--output", "-"]) == 0
    out = capfdbinary.readouterr()
    assert [row[1] for row in rows_of(out.out)[1:]] == ["ines", "ines"]
    assert "✓ standard output" in out.err.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["csv", "03_thirds"], "The gradebook has no lesson 03_thirds. It has 01_doubling."),
        (["csv", "--student", "q*"], "no student whose id fits q*"),
        (["csv", "--output", "gradebook.db", "--force"], "gradebook.db does not end in .csv"),
        (["csv", "--output", "from_canvas.csv"], "from_canvas.csv exists. Give --output another name, or --force"),
        (["csv", "--output", "nowhere/grades.csv"], "There is no folder"),
        (["canvas", "missing.csv"], "There is no file missing.csv"),
        (["canvas", "from_canvas.csv", "--output", "from_canvas.csv", "--force"], "would be overwritten"),
        (["canvas", "from_canvas.csv", "--column", "x"], "--column x is not LESSON=HEADING"),
        (["canvas", "from_moodle_worksheet.csv"], "has no column “Student”. Its columns are: Identifier, Full name"),
        (["canvas", "--scale"], "need Canvas' exported gradebook"),
        (["moodle", "--scale"], "--scale needs a worksheet"),
        (["moodle", LESSON, "--worksheet", "from_canvas.csv"], "has no column “Identifier”"),
        (["gradescope", "--output", "-"], "has to name a folder"),
        (["gradescope-zip", "../x"], "There is no lesson ../x. There are 01_doubling."),
    ],
)
def test_command_refuses(course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """What cannot be exported is said, with exit status 2, and no file is changed."""
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    assert cli.main(["export", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


def test_command_remembers_columns(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that is said is taken the next time too, which a note says, until another one is said."""
    sheet = course / "from_canvas.csv"
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("01_doubling (4711)", "Twice (4711)"), encoding="utf-8")
    export, kept = ["export", "canvas", "from_canvas.csv", "--force"], course / "gradebook.db.canvas.json"
    assert cli.main(export) == 2
    said = capsys.readouterr().err
    assert f"{LESSON} (“Doubling”): no column has this name." in said and f"--column {LESSON}=new" in said
    assert not (course / "canvas.csv").exists() and not kept.exists()
    for column, said in {
        f"{LESSON}=twice": "goes into “Twice (4711)”, also the next time (gradebook.db.canvas.json).",
        "": "goes into “Twice (4711)”, as said before; another --column changes that.",
    }.items():
        assert cli.main([*export, *(["--column", column] if column else [])]) == 1
        assert f"{LESSON}: {said}" in capsys.readouterr().err
        assert rows_of((course / "canvas.csv").read_bytes())[3][7] == "4"
    assert cli.main(["export", "canvas", "--output", "new.csv"]) == 0
    assert rows_of((course / "new.csv").read_bytes())[0][4] == "Twice (4711)"
    assert cli.main([*export, "--column", f"{LESSON}=new"]) == 1
    assert rows_of((course / "canvas.csv").read_bytes())[0][7:9] == ["Twice (4711)", LESSON]
    assert json.loads(kept.read_bytes()) == {LESSON: LESSON}
    sheet.write_bytes((course / "canvas.csv").read_bytes())
    assert cli.main(export) == 1
    kept.write_text("[]")
    capsys.readouterr()
    assert cli.main(export) == 2
    assert f"{kept} is no longer what was written." in capsys.readouterr().err


STALE = [
    f"{LESSON}, graded before the lesson changed: bob (=Bob Evil), ines (Inés Núñez).",
    f"{LESSON}, graded before the lesson changed and it was handed in again: s-ada (Ada Lovelace).",
]


@pytest.mark.parametrize(
    "arguments",
    [
        ["csv"],
        ["canvas"],
        ["canvas", "from_canvas.csv"],
        ["moodle"],
        ["moodle", LESSON, "--worksheet", "from_moodle_worksheet.csv"],
        ["gradescope"],
    ],
)
def test_command_exports_nothing_out_of_date(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Who is not graded, or was before a change, is said; with --stale the file is written, and they are said too."""
    hand_in(course, "zoe")
    before = sorted(course.rglob("*"))
    assert cli.main(["export", *arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Points are out of date") and said[1].startswith(f"  {LESSON}, not graded yet: zoe")
    assert "--stale" in said[2] and sorted(course.rglob("*")) == before
    handed_in_at(course, "s-ada", "2026-01-02 03:04:05 UTC")
    source = course / "solutions" / LESSON / f"{LESSON}.ipynb"
    source.write_text(source.read_text(encoding="utf-8").replace("hidden_secret", "other"), encoding="utf-8")
    assert cli.main(["export", *arguments]) == 2
    assert {f"  {line}" for line in STALE} < set(capsys.readouterr().err.splitlines())
    before = sorted(course.rglob("*"))
    assert cli.main(["export", *arguments, "--stale"]) in (0, 1)
    assert set(STALE) < set(capsys.readouterr().err.splitlines())
    assert len(sorted(course.rglob("*"))) > len(before)


def test_stale_exports_tell_states_and_give_no_zero_for_what_waits(course: Path) -> None:
    """What is not graded yet is neither “not handed in” nor 0; students who are not exported hold up nothing."""
    hand_in(course, "zoe")
    handed_in_at(course, "s-ada", "2026-01-02 03:04:05 UTC")
    assert cli.main(["export", "csv", "--student", "ines"]) == 0
    assert cli.main(["export", "csv", "--stale", "--force"]) == 0
    states = {row[3]: row[12] for row in rows_of((course / "grades.csv").read_bytes())[1:]}
    assert states == {"bob": "not gradable", "ines": "graded", "s-ada": "out of date", "zoe": "not graded yet"}
    assert cli.main(["export", "moodle", "--zeros", "--stale"]) == 0
    assert ["-zoe@example.org", ""] in rows_of((course / "moodle.csv").read_bytes())
