"""Whoever handed in gets the page that is theirs: Canvas and Moodle read their names as their sources do."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from support.downloads import collect, notebook, zipped
from support.gradebook import LESSON, db_url, record
from support.sample_lesson import ROOT

from autograder import cli
from autograder.collect.download import Download
from autograder.course.config import CourseError
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.reader import Student
from autograder.grading.gradebook.students import write_students
from autograder.hand_back.names import PageNames, for_canvas, for_moodle
from autograder.spreadsheets.sheet import Sheet

WORKSHEET = ROOT / "tests" / "export" / "samples" / "moodle_worksheet.csv"
ADA = Student("ada", "Ada", "Lovelace", "ada@example.org", "901")
INES = Student("ines", "Inés", "Núñez", "ines@example.org", "902")
BOB = Student("bob", "Bob", "Evil", "bob@example.org", "903")
NAME = f"{LESSON}_feedback.html"


def moodle_reads(path: str) -> tuple[int, str] | None:
    """What Moodle's importziplib.php takes from a path: whose number it is, and the name of the file."""
    parts = ["", "import", *path.split("/")]
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 5 and info[1].isdecimal() and info[2:4] == ["assignsubmission", "file"]:
            return int(info[1]), "/".join([info[4], *parts]).lstrip("/")
    return None


def canvas_reads(path: str) -> tuple[str, str] | None:
    """What Canvas' abstract_assignment.rb takes from a name: the user, and the file that they handed in."""
    parts = [part for part in path.rpartition("/")[2].split("_") if part != "LATE"]
    if parts[-1].startswith("link"):
        return None
    numbers = parts[1:3] if parts[0] == "anon" else [part for part in parts if re.fullmatch(r"\d+", part)][:2]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def worksheet(tmp_path: Path, *edits: tuple[str, str]) -> Sheet:
    """The sample worksheet with texts changed."""
    text = WORKSHEET.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "worksheet.csv").write_text(text, encoding="utf-8")
    return Sheet.read(tmp_path / "worksheet.csv")


def canvas_names(tmp_path: Path, files: Sequence[str], *people: Student) -> PageNames:
    """The names of pages for a class, after a download of these files."""
    (tmp_path / "download.zip").write_bytes(zipped(dict.fromkeys(files, "x")))
    with Download(tmp_path / "download.zip") as download:
        return for_canvas(download, {one.id: one for one in people}, LESSON)


def test_moodle_finds_each_students_number(tmp_path: Path) -> None:
    """Moodle reads the number of the student's own row, whatever stands in the name, and one plain file name."""
    odd = worksheet(tmp_path, ("Ada Lovelace", "Ada_5502_assignsubmission_file_"), ("Inés Núñez", "../.."))
    for sheet in (Sheet.read(WORKSHEET), odd):
        found = for_moodle(sheet, {one.id: one for one in (ADA, INES, BOB)}, LESSON)
        read = {student: moodle_reads(name) for student, name in found.names.items()}
        assert read == {"ada": (5501, NAME), "ines": (5502, NAME), "bob": (5503, NAME)}
        assert all(".." not in name and name.count("/") == 1 for name in found.names.values())
        assert found.strangers == [f"{sheet.path.name}, line 6: Jane Nobody is not in the gradebook."]


def test_moodle_guesses_nothing(tmp_path: Path) -> None:
    """Two rows of one number, a row of two students, and a row without a number give nobody a page."""
    twice = worksheet(tmp_path, ("Participant 5502", "Participant 5501"), ("Participant 5503", "Participant"))
    found = for_moodle(twice, {one.id: one for one in (ADA, INES, BOB)}, LESSON)
    assert not found.names
    assert "several rows have their number, 5501" in found.why_not["ada"]
    assert "has no number" in found.why_not["bob"]
    same = replace(INES, email="ada@example.org")
    found = for_moodle(Sheet.read(WORKSHEET), {one.id: one for one in (ADA, same)}, LESSON)
    assert not found.names and "fits ines equally" in found.why_not["ada"]
    with pytest.raises(CourseError, match="none of the columns"):
        for_moodle(worksheet(tmp_path, ("Email address", "Town")), {"ada": ADA}, LESSON)


@pytest.mark.parametrize(
    ("files", "read"),
    [
        (["lovelaceada_901_9001_01_doubling.ipynb"], ("901", "9001")),
        (["lovelaceada_LATE_901_9001_01_doubling.ipynb"], ("901", "9001")),
        (["lovelaceada_901_9001_old.ipynb", "lovelaceada_901_9002_new.ipynb"], ("901", "9002")),
        (["lovelaceada_901_9001_work.ipynb", "lovelaceada_901_9002_notes.txt"], ("901", "9001")),
        (["lovelaceada_901_9001_link.ipynb"], ("901", "9001")),
        (["42_901_9001_01_doubling.ipynb"], ("901", "9001")),
        (["team_7_lovelaceada_901_9001_01_doubling.ipynb"], ("901", "9001")),
        (["_901_9001_01_doubling.ipynb"], ("901", "9001")),
    ],
)
def test_canvas_finds_the_file_that_was_handed_in(tmp_path: Path, files: list[str], read: tuple[str, str]) -> None:
    """Canvas reads the student's number and that of their newest notebook, whatever else stands in the name."""
    found = canvas_names(tmp_path, files, ADA, INES)
    assert list(found.names) == ["ada"] and not found.strangers
    assert canvas_reads(found.names["ada"]) == read and found.names["ada"].endswith(NAME)


def test_canvas_guesses_nothing(tmp_path: Path) -> None:
    """A number that two students have, numbers of nobody, and a hand-in without a file give nobody a page."""
    files = [f"x_{number}_9{number}_a.ipynb" for number in (901, 902, 777)] + ["x_903_text.html", "readme.txt"]
    found = canvas_names(tmp_path, files, ADA, replace(INES, lms_id="901"), BOB)
    assert not found.names
    assert "handed in no file" in found.why_not["bob"]
    assert found.why_not["ada"] == found.why_not["ines"] == "ada and ines have the same id in Canvas, 901"
    assert found.strangers == [
        "download.zip: Canvas' user 777 is not in the gradebook.",
        "download.zip: Canvas' user 902 is not in the gradebook.",
    ]
    with pytest.raises(CourseError, match="has no names like lovelaceada"):
        canvas_names(tmp_path, ["ada/01_doubling.ipynb"], ADA)


def test_anonymous_students_get_theirs(tmp_path: Path) -> None:
    """Where Canvas hides names, the page goes to the one whom it was collected from."""
    found = canvas_names(tmp_path, ["LATE_anon_Ab3xY_9001_01_doubling.ipynb"], Student("anon_Ab3xY"))
    assert canvas_reads(found.names["anon_Ab3xY"]) == ("Ab3xY", "9001")


@pytest.fixture
def graded(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which two are graded, one waits, and one handed in nothing; the current folder."""
    record(course, ("ada", "ines"))
    with Gradebook(db_url(course), course).writing() as connection:
        write_students(connection, (ADA, INES, BOB, Student("zoe")))
    (course / "submitted" / "bob" / LESSON).mkdir(parents=True)
    monkeypatch.chdir(course)
    return course


def pages(path: Path) -> dict[str, str]:
    """Whose page lies under which name in a zip file, by the page's own heading."""
    with zipfile.ZipFile(path) as archive:
        found = {name: BeautifulSoup(archive.read(name), "html.parser") for name in archive.namelist()}
    return {name: page.select_one("h1 bdi").get_text() for name, page in found.items()}


def test_the_command_hands_back_to_moodle(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each page lies under its student's own number; who has none is listed, and nobody else can read the file."""
    arguments = ["export", "feedback-moodle", LESSON, "--worksheet", str(WORKSHEET), "--stale"]
    assert cli.main(arguments) == 1
    said, written = capsys.readouterr(), graded / f"feedback-moodle-{LESSON}.zip"
    read = {moodle_reads(name): who for name, who in pages(written).items()}
    assert read == {(5501, NAME): "Ada Lovelace", (5502, NAME): "Inés Núñez"}
    assert "2 pages" in said.out and "bob (Bob Evil): handed in, and not graded yet." in said.err
    assert "Handed in nothing, and have no page: zoe." in said.err
    assert written.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(written) as archive:
        assert not any("hidden_secret" in archive.read(name).decode() for name in archive.namelist())
    assert cli.main(arguments) == 2
    assert "exists. Give --output another name, or --force" in capsys.readouterr().err


def test_the_command_hands_back_to_canvas(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The download that was collected says under which numbers each page goes; of some, where it is asked for some."""
    files = ["lovelaceada_901_9001_01_doubling.ipynb", "núñezinés_LATE_902_9002_01_doubling.ipynb"]
    (graded / "download.zip").write_bytes(zipped(dict.fromkeys(files, "x")))
    assert cli.main(["export", "feedback-canvas", LESSON, "download.zip", "--stale"]) == 1
    read = {canvas_reads(name): who for name, who in pages(graded / f"feedback-canvas-{LESSON}.zip").items()}
    assert read == {("901", "9001"): "Ada Lovelace", ("902", "9002"): "Inés Núñez"}
    assert "bob (Bob Evil): handed in, and not graded yet." in capsys.readouterr().err
    assert cli.main(["export", "feedback-canvas", LESSON, "download.zip"]) == 2
    assert f"{LESSON}, not graded yet: bob (Bob Evil)." in capsys.readouterr().err
    some = ["export", "feedback-canvas", LESSON, "download.zip", "--student", "a*", "--output", "some.zip"]
    assert cli.main(some) == 0
    assert list(pages(graded / "some.zip").values()) == ["Ada Lovelace"]


def test_a_download_from_before_the_last_collection(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with what to do, by Canvas' numbers of files; with --stale it is noted; the last one is taken."""
    data = notebook(graded)
    (graded / "old.zip").write_bytes(zipped({"lovelaceada_901_9001_a.ipynb": data, "x_902_9002_a.ipynb": data}))
    assert collect("canvas", zipped({"lovelaceada_901_9005_a.ipynb": data, "x_902_9002_a.ipynb": data})) == 0
    record(graded, ("ada", "ines"))
    capsys.readouterr()
    command = ["export", "feedback-canvas", LESSON, "old.zip", "--student", "[ai]*"]
    assert cli.main(command) == 2
    said = capsys.readouterr().err
    assert "old.zip is older than what was collected last" in said and ": ada (Ada Lovelace). Download once" in said
    assert cli.main([*command, "--stale"]) == 0
    assert "old.zip is older than what was collected last" in capsys.readouterr().err
    assert cli.main(["export", "feedback-canvas", LESSON, "submissions.zip", "--student", "[ai]*", "--force"]) == 0
    assert "older" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["feedback-canvas", "03_thirds", "download.zip"], "The gradebook has no lesson 03_thirds"),
        (["feedback-canvas", LESSON, "nothing.zip", "--stale"], "There is no file and no folder nothing.zip"),
        (
            ["feedback-canvas", LESSON, "download.zip", "--output", "download.zip", "--force", "--stale"],
            "would be overwritten",
        ),
        (["feedback-canvas", LESSON, "download.zip", "--student", "zoe"], "There is no page to hand back"),
        (["feedback-moodle", LESSON, "--worksheet", "download.zip", "--stale"], "is no text in UTF-8"),
    ],
)
def test_the_command_refuses(
    graded: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """What cannot be handed back is said, with exit status 2, and nothing is written."""
    (graded / "download.zip").write_bytes(zipped({"lovelaceada_901_9001_01_doubling.ipynb": "x"}))
    before = sorted(graded.iterdir())
    assert cli.main(["export", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert sorted(graded.iterdir()) == before
