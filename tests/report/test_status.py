"""`autograder status` says what is so, counts what grading would grade again, and writes nothing."""

import io
import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from support.classroom import LESSONS
from support.commands import printed
from support.downloads import snapshot
from support.gradebook import LESSON, Pretender, hand_in, handed_in_at, set_duedate

from autograder import cli
from autograder.course.paths import Course
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.pending import outdated


def grade_all(course: Path) -> None:
    """Grade what is new or has changed, as the engine would: the first check right, the second wrong."""
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Pretender(course)) in (0, 1)


@pytest.fixture
def term(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with a student in each state: ada graded, bob handed in again, cem without a notebook, dee new, …"""
    set_duedate(course)
    hand_in(course, "ada", "bob", "eve", "fay")
    (course / "submitted" / "cem" / LESSON).mkdir(parents=True)
    grade_all(course)
    handed_in_at(course, "bob", "2026-01-02 03:04:05 UTC")
    hand_in(course, "dee")
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        gradebook.add_student("gil", first_name="Gil")
        gradebook.find_grade("check_double", LESSON, LESSON, "eve").needs_manual_grade = True
        gradebook.db.commit()
    shutil.rmtree(course / "autograded" / "fay")
    monkeypatch.chdir(course)
    return course


def page(path: Path) -> BeautifulSoup:
    """A page, parsed."""
    return BeautifulSoup(path.read_bytes(), "html.parser")


def lesson_status(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Run `autograder status --json`, and return the one lesson."""
    (lesson,) = json.loads(printed(capsys, "status", "--json"))["lessons"]
    return lesson


def test_every_student_is_where_they_are(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, each is in the lists of their states, and in no other; names stand beside ids, and no file changes."""
    before = snapshot(term)
    said = json.loads(printed(capsys, "status", "--json"))
    assert said["students"] == {
        "ada": "Ada Lovelace", "bob": "bob", "cem": "cem", "dee": "dee", "eve": "eve", "fay": "fay", "gil": "Gil"
    }  # fmt: skip
    assert said["lessons"] == [
        {
            "lesson": LESSON,
            "due": "2030-01-02T12:00:00+00:00",
            "handed_in": ["ada", "bob", "cem", "dee", "eve", "fay"],
            "graded": ["ada", "bob", "cem", "eve", "fay"],
            "to_review": ["eve"],
            "not_gradable": ["cem"],
            "changed": ["bob", "fay"],
            "requests": [],
            "broken_checks": [],
        }
    ]
    assert snapshot(term) == before


def test_the_table_counts_and_names(term: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For people it is a row of counts, then who waits for what, and what to do."""
    from autograder.report.status import status

    out = io.StringIO()
    status(term, [LESSON], Console(file=out, width=200))
    *_, heading, row = table = out.getvalue().splitlines()[:4]
    lines = out.getvalue().splitlines()[len(table) :]
    assert heading.split()[0] == "lesson" and "".join(table).count("7") == 1, "the class has seven"
    assert row.split() == [LESSON, "2030-01-02", "12:00", "6", "5", "1", "1", "2"]
    assert lines == [
        f"{LESSON}, not graded yet: dee.",
        f"{LESSON}, to be looked at: eve.",
        f"{LESSON}, not gradable: cem.",
        "  cem: There is no notebook. It should be called 01_doubling.ipynb.",
        f"{LESSON}, changed since: bob, fay.",
        "3 to be graded: run `autograder grade`.",
    ]


@pytest.mark.parametrize(
    ("who", "reached", "unreached"),
    [
        ("nothing", "Gil <gil@uni.example>", "hal"),
        ("not-gradable", '"Berg, Cem \\"C.\\"" <cem@uni.example>', ""),
        ("below-75", '"Berg, Cem \\"C.\\"" <cem@uni.example>', ""),
        ("below 100%", 'Ada Lovelace <ada@uni.example>, "Berg, Cem \\"C.\\"" <cem@uni.example>', "bob, eve, fay"),
        ("below-0", "", "Nobody"),
    ],
)
def test_whom_to_write_to(
    term: Path, capsys: pytest.CaptureFixture[str], who: str, reached: str, unreached: str
) -> None:
    """One line for a mail program, and on standard error whoever has no address that is one."""
    with open_gradebook(term) as gradebook:
        for student, email in (("ada", "ada@uni.example"), ("gil", "gil@uni.example"), ("bob", "b@x, eve@x")):
            gradebook.update_or_create_student(student, email=email)
        gradebook.update_or_create_student("cem", first_name="Berg,", last_name='Cem "C."', email="cem@uni.example")
        gradebook.add_student("hal")
    assert cli.main(["status", LESSON, "--addresses", who]) == 0
    said = capsys.readouterr()
    assert said.out == f"{reached}\n" * bool(reached)
    lines = said.err.splitlines()
    without = [
        line.removeprefix("Without an e-mail address in the gradebook: ") for line in lines if LESSON not in line
    ]
    assert without == ["Some points are out of date. Run `autograder grade` first:"] * (who != "nothing") + (
        [f"{unreached}."] if unreached else []
    )


def test_what_is_announced_is_what_is_graded(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next run grades those who wait or have changed, and then nothing is left."""
    grade_all(term)
    lesson = lesson_status(capsys)
    assert lesson["changed"] == [] and lesson["graded"] == lesson["handed_in"]
    assert printed(capsys, "status").endswith("✓ All that was handed in is graded.\n")


def test_pages_say_what_is_out_of_date(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each page begins with whose points are not those of what was handed in, and why; a lost notebook changes none."""
    again, new = "graded before it was handed in again", "not graded yet"
    said = printed(capsys, "report") + printed(capsys, "report", "--student", "*")
    assert said.count(f"  {LESSON}, {again}: bob.\n  {LESSON}, {new}: dee.\n") == 2 and "fay" not in said
    main = page(term / "report.html").select_one("main")
    assert main.select_one("p").get_text().startswith(f"This page is not up to date: 1 · Doubling (1 {again}; 1 {new})")
    assert f"1 {again}" in [summary.get_text() for summary in main.select("section.lesson summary")]
    for student, why in {"bob": again, "dee": new, "ada": "", "fay": ""}.items():
        main = page(term / "feedback" / student / "feedback.html").select_one("main")
        first = f"This page is not up to date: 1 · Doubling ({why})."
        assert (main.find().get_text() == first) == bool(why), student
        assert (f"What stands here is out of date: {again}." in main.get_text()) == (student == "bob"), student
        assert ("; out of date" in main.table.get_text()) == (student == "bob"), student


def test_one_student_is_shown_with_what_is_out_of_date(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state of a lesson says it, and below stands why."""
    states = {}
    for student in ("ada", "bob", "cem", "dee", "gil"):
        states[student] = json.loads(printed(capsys, "student", "show", student, "--json"))["lessons"][0]["state"]
    assert states == {
        "ada": "graded", "bob": "out of date", "cem": "not gradable", "dee": "not graded yet", "gil": "not handed in"
    }  # fmt: skip
    assert printed(capsys, "student", "show", "bob").endswith(f"{LESSON}, graded before it was handed in again: bob.\n")
    reason = "There is no notebook. It should be called 01_doubling.ipynb."
    assert printed(capsys, "student", "show", "cem").endswith(f"{LESSON}, not gradable: {reason}\n")


def test_points_of_another_program_are_not_called_out_of_date(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what was handed in after them is; `autograder grade` would grade both again."""
    with open_gradebook(term) as gradebook:
        for student in ("ada", "bob"):
            gradebook.find_grade("check_double", LESSON, LESSON, student).auto_score = 2
            gradebook.find_submission(LESSON, student).timestamp = datetime(2026, 1, 1)
        gradebook.db.commit()
    assert lesson_status(capsys)["changed"] == ["ada", "bob", "fay"]
    assert [student for student, _ in outdated(read_gradebook(term), [LESSON])] == ["bob", "dee"]


def test_another_lesson_changes_all(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a change in solutions/ all that was graded is to be graded again; without the lesson, nothing is."""
    source = Course.at(term).source(LESSON)
    source.write_text(source.read_text().replace("hidden_secret", "another_secret"))
    assert lesson_status(capsys)["changed"] == ["ada", "bob", "cem", "eve", "fay"]
    whys = {student: one.why for (student, _), one in outdated(read_gradebook(term), [LESSON]).items()}
    lesson = "graded before the lesson changed"
    both = "graded before the lesson changed and it was handed in again"
    assert whys == {"ada": lesson, "bob": both, "cem": lesson, "dee": "not graded yet", "eve": lesson, "fay": lesson}
    source.write_text("no notebook")
    assert {one.why for one in outdated(read_gradebook(term), [LESSON]).values()} == {lesson, "not graded yet"}
    assert f"{source}: it is not valid JSON" in printed(capsys, "status", status=2)
    source.unlink()
    assert lesson_status(capsys)["changed"] == []


def test_what_is_not_there_is_told(term: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lesson, a group, a lesson for a group, the gradebook: it ends with 2 and a sentence."""
    assert printed(capsys, "status", "01_dubling", status=2).endswith(f"It has {LESSON}. Did you mean `{LESSON}`?\n")
    assert "not-gradable or below-50" in printed(capsys, "status", LESSON, "--addresses", "all", status=2)
    assert "Name" in printed(capsys, "status", "--addresses", "nothing", status=2)
    (term / "gradebook.db").unlink()
    assert "There is no gradebook" in printed(capsys, "status", status=2)


def test_a_course_that_begins(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anybody has handed in, all lists are empty and there is nothing to do."""
    monkeypatch.chdir(course)
    lesson = lesson_status(capsys)
    assert lesson.pop("lesson") == LESSON and not any(lesson.values())


def test_the_courses_own_lessons_fit_a_terminal() -> None:
    """In 80 columns no heading, name or date of the longest lesson is cut off."""
    from autograder.report.status import LessonStatus, _table

    out, ids = io.StringIO(), tuple(map(str, range(130)))
    longest = max(LESSONS, key=len)
    row = LessonStatus(longest, "2030-01-02T12:00:00+00:00", ids, ids, ids, ids, ids)
    Console(file=out, width=80).print(_table([row], 130))
    words = "lesson due (UTC) handed in, of 130 graded to be looked at not gradable changed since 2030-01-02 12:00"
    assert {*words.split(), longest} == set(out.getvalue().split())
