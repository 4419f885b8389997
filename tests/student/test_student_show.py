"""`autograder student show`: a table, JSON, an archive of all that is kept, and one notebook with its results."""

import json
import stat
import webbrowser
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from support.commands import printed
from support.downloads import collect, zipped
from support.gradebook import LESSON, configure, disk_full

from autograder import cli
from autograder.student import archive
from autograder.student.show import as_text


def test_a_table_of_one_student(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The name stands beside the id, and each lesson with its points, its state, and when it is due and came, which
    stands beneath, whole, where it does not fit into the line.
    """
    said = printed(capsys, "student", "show", "ada")
    assert said.startswith("Ada Löve (ada), ada@example.org\n")
    row, times = f"{LESSON}  3 of 4  graded", "due 2030-01-04 12:00 UTC (+2 d)"
    assert said.splitlines()[-1] == f"{row}  {times}, handed in 2030-01-02 13:00 UTC"
    late = f"{LESSON}  0 of 4  graded, late: −3  due 2030-01-02 12:00 UTC, handed in"
    assert late in printed(capsys, "student", "show", "bob")
    monkeypatch.setenv("COLUMNS", "80")
    below = f"  {times}, handed in 2030-01-02 13:00 UTC"
    assert printed(capsys, "student", "show", "ada").splitlines()[-2:] == [row, below]


def test_what_is_missing_was_due_or_still_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A lesson that nobody handed in tells by one word whether there is time left."""
    for date, said in (("2020-01-02", "was due 2020-01-02"), ("2040-01-02", "due 2040-01-02")):
        assert cli.main(["due", LESSON, f"{date} UTC"]) == 0
        assert f"{LESSON}  0 of 4  not handed in  {said}" in printed(capsys, "student", "show", "eve")


def test_an_extension_is_told_in_days_and_hours() -> None:
    """To the minute, and without what is none."""
    given = timedelta(days=2), timedelta(hours=84, minutes=1, seconds=12), timedelta(hours=-1)
    assert [as_text(extension) for extension in given] == ["+2 d", "+3 d 12 h 1 min", "-1 h"]


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the table's columns, with times in UTC and the extension in seconds; points are those that count."""
    ada, eve = (json.loads(printed(capsys, "student", "show", student, "--json")) for student in ("ada", "eve"))
    assert ada["last_name"] == "Löve"
    (lesson,) = ada["lessons"]
    assert lesson == {
        "lesson": LESSON,
        "points": 3.0,
        "max_points": 4.0,
        "penalty": 0.0,
        "state": "graded",
        "due": "2030-01-04T12:00:00+00:00",
        "extension": 172800.0,
        "handed_in": "2030-01-02T13:00:00+00:00",
        "reason": "",
    }
    (lesson,) = eve["lessons"]
    assert (lesson["state"], lesson["points"], lesson["due"]) == ("not handed in", 0.0, "2030-01-02T12:00:00+00:00")


def test_what_waits_to_be_graded_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hand-in of somebody whom the gradebook does not have yet is shown, with the time in its file."""
    folder = course / "submitted" / "new" / LESSON
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2030-01-01T20:00:00+02:00", encoding="utf-8")
    (lesson,) = json.loads(printed(capsys, "student", "show", "new", "--json"))["lessons"]
    assert (lesson["state"], lesson["handed_in"]) == ("not graded yet", "2030-01-01T18:00:00+00:00")


@pytest.mark.parametrize("student", ["nobody", "..", "", ".replaced", "a\x1b[2J", "*"])
def test_nobody_is_said_to_be(student: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An id that nobody has is refused with those that there are, whatever it would mean as a path."""
    said = printed(capsys, "student", "show", student, status=2)
    assert "Nothing is kept about" in said and "The gradebook has ada, bob, eve." in said and "\x1b" not in said


def test_the_archive_holds_all_of_one_student(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hand-ins, replaced ones, graded notebooks, feedback and rows of the gradebook are in it, and nobody else's."""
    assert collect("folder", zipped({f"ada/{LESSON}.ipynb": b"newer"}, when=2)) == 0
    page = course / "feedback" / "ada" / "feedback.html"
    page.parent.mkdir(parents=True)
    page.write_text("Well done.", encoding="utf-8")
    (course / "submitted" / "ada" / LESSON / "link").symlink_to("/etc/passwd")
    assert "hidden_secret" in (course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8")
    said = printed(capsys, "student", "show", "ada", "--archive", "ada.zip")
    assert f"not readable: submitted/ada/{LESSON}/link" in said
    assert stat.S_IMODE((course / "ada.zip").stat().st_mode) == 0o600
    with zipfile.ZipFile("ada.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = f"{LESSON}/{LESSON}.ipynb"
    assert set(files) == {
        *(f"submitted/ada/{name}", f"submitted/.replaced/ada/{LESSON}/1/{LESSON}.ipynb"),
        *(f"autograded/ada/{name}", "feedback/ada/feedback.html", "gradebook.json"),
    }
    assert files[f"submitted/ada/{name}"] == b"newer"
    graded = json.loads(files[f"autograded/ada/{name}"])
    assert b"hidden_secret" not in files[f"autograded/ada/{name}"]
    assert [cell["id"] for cell in graded["cells"] if cell["id"].startswith("check")]
    kept = json.loads(files["gradebook.json"])
    assert kept["collected"].keys() == {LESSON}
    tables = kept["gradebook"]
    assert tables["student"][0]["last_name"] == "Löve"
    assert [row["lesson"] for row in tables["submitted_assignment"]] == [LESSON]
    points = {row["cell"]: row["auto_score"] for row in tables["grade"]}
    assert points == {"check_double": 3.0, "check_double_text": 0.0}
    assert tables["autograder_result"][0]["result"]["student"] == "ada"
    assert "bob" not in files["gradebook.json"].decode()


def test_no_archive_is_written_over(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is there stays, and nothing unfinished is left when the disk is full."""
    before = set(course.iterdir())
    with monkeypatch.context() as full:
        full.setattr(archive, "_without_hidden_tests", disk_full)
        assert cli.main(["student", "show", "ada", "--archive", "ada.zip"]) == 2
    assert "No space left" in capsys.readouterr().err and set(course.iterdir()) == before
    (course / "ada.zip").write_bytes(b"mine")
    assert "ada.zip is there already" in printed(capsys, "student", "show", "ada", "--archive", "ada.zip", status=2)
    assert (course / "ada.zip").read_bytes() == b"mine"


def test_a_notebook_is_opened(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page that nbgrader made of a graded notebook is opened; without one, the command that makes it is said."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    for student, lesson, says in (
        ("ada", LESSON, f"Run `nbgrader generate_feedback {LESSON} --student=ada` first."),
        ("eve", LESSON, "is not graded, so there is nothing to open."),
        ("ada", "02_none", f"There is no lesson 02_none. There are {LESSON}."),
    ):
        assert says in printed(capsys, "student", "show", student, "--open", lesson, status=2)
    page = course / "feedback" / "ada" / LESSON / f"{LESSON}.html"
    page.parent.mkdir(parents=True)
    page.write_text("Well done.", encoding="utf-8")
    assert not opened
    assert printed(capsys, "student", "show", "ada", "--open", LESSON) == f"{page}\n" and opened == [page.as_uri()]


def test_folders_sorted_by_lessons_are_found(course: Path) -> None:
    """Where nbgrader's folders are sorted by lessons, those of a student are found all the same."""
    configure(course, 'c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"')
    folder = course / "submitted" / LESSON / "zoe"
    folder.mkdir(parents=True)
    (folder / "answer.py").write_text("x", encoding="utf-8")
    assert cli.main(["student", "show", "zoe", "--archive", "zoe.zip"]) == 0
    with zipfile.ZipFile("zoe.zip") as archive:
        assert set(archive.namelist()) == {"gradebook.json", f"submitted/{LESSON}/zoe/answer.py"}
