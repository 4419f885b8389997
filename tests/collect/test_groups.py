"""A group hands in one notebook, and each of its members has it, with its time, its points and its extensions."""

import csv
import json
import os
from pathlib import Path

import pytest
from rich.console import Console
from support.downloads import collect, notebook, submitted, zipped
from support.gradebook import LESSON, Pretender, set_duedate

from autograder import cli
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions

NAME = f"{LESSON}.ipynb"


@pytest.fixture(autouse=True)
def _class(course: Path) -> None:
    with open_gradebook(course) as gradebook:
        for student in ("ada", "bob", "cem", "dan"):
            gradebook.add_student(student, email=f"{student}@example.org")
    Path("groups.csv").write_text("student,group\nada,red\nBOB@example.org,red\ncem,\ndan,blue")


def gradescope(*hand_ins: tuple[str, str, bytes]) -> bytes:
    """A download of Gradescope: who handed in, on which day, and what."""
    listing = "".join(
        f"submission_{n}:\n  :created_at: 2030-01-0{day} 10:00:00 Z\n  :submitters:\n  - :email: {who}@example.org\n"
        for n, (who, day, _) in enumerate(hand_ins)
    )
    files = {f"submission_{n}/{NAME}": data for n, (*_, data) in enumerate(hand_ins)}
    return zipped({"submission_metadata.yml": listing, **files})


def test_one_hand_in_counts_for_all(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest of a group's is everybody's, and it is said whose it is; who is in no group has their own."""
    download = gradescope(("ada", "1", b"{}"), ("bob", "2", notebook(course)), ("cem", "1", b"[]"))
    assert collect("gradescope", download) == 0
    said = capsys.readouterr().out
    assert submitted(course, "ada") == submitted(course, "bob") and submitted(course, "ada")[NAME] == notebook(course)
    assert submitted(course, "ada")["timestamp.txt"] == b"2030-01-02T10:00:00+00:00\n"
    assert submitted(course, "cem")[NAME] == b"[]"
    assert "  ada: handed in several times; the newest is taken.\n" in said
    assert "  ada: Handed in by bob, who is in the same group.\n" in said and "by ada" not in said
    assert said.endswith("Handed in nothing (1): dan.\n")
    assert collect("gradescope", download) == 0
    assert "0 new, 0 replaced, 3 unchanged" in capsys.readouterr().out
    assert collect("gradescope", gradescope(("ada", "3", b"newer"))) == 0
    assert submitted(course, "bob")[NAME] == b"newer"
    assert collect("gradescope", download) == 0
    assert submitted(course, "bob")[NAME] == b"newer", "older ones of either are left out"


def test_where_no_time_is_told_the_files_tell(course: Path) -> None:
    """Of two folders the one with the newer file is the group's."""
    for student, when in (("ada", 2000), ("bob", 1000)):
        path = course / "class" / student / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(student.encode())
        os.utime(path, (when, when))
    assert collect("folder", course / "class") == 0
    assert submitted(course, "bob") == submitted(course, "ada") == {NAME: b"ada"}


def test_marks_pages_and_exports_are_each_members(course: Path) -> None:
    """Who has handed in nothing alone has the points of the group, and the same for being late."""
    set_duedate(course)
    assert collect("gradescope", gradescope(("ada", "3", notebook(course)))) == 0
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Pretender(course)) == 0
    graded = read_gradebook(course).graded
    assert {student: (one.raw_score, one.penalty) for (student, _), one in graded.items()} == {
        "ada": (3, 3),
        "bob": (3, 3),
    }
    assert cli.main(["report", "--student", "*"]) == cli.main(["export", "csv"]) == 0
    assert "Handed in 3 January 2030" in (course / "feedback" / "bob" / "feedback.html").read_text(encoding="utf-8")
    with open(course / "grades.csv", encoding="utf-8-sig", newline="") as file:
        assert {row["student_id"]: row["raw_score"] for row in csv.DictReader(file)}["bob"] == "3"


def test_more_time_is_the_groups(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever of a group is named, all have it, and it is said who."""
    set_duedate(course)
    assert cli.main(["student", "extend", LESSON, "bob", "cem", "--by", "2d"]) == 0
    assert "for ada, bob, cem." in capsys.readouterr().out
    assert {student for student, _ in read_gradebook(course).extensions} == {"ada", "bob", "cem"}
    assert collect("gradescope", gradescope(("ada", "3", notebook(course)))) == 0
    assert grade(course, GradeOptions(), Console(quiet=True), warm=Pretender(course)) == 0
    assert not any(one.penalty for one in read_gradebook(course).graded.values())


def test_a_group_is_no_pair_of_similar_hand_ins(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a group one hand-in is compared."""
    assert collect("gradescope", gradescope(("ada", "3", notebook(course)), ("cem", "1", notebook(course)))) == 0
    capsys.readouterr()
    assert cli.main(["similar", LESSON, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["compared"] == ["ada", "cem"] and said["left_out"] == said["pairs"] == []


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ("student,group\nada,red\nbob,red\nada,blue", ", line 4: ada is in two groups, red and blue. Delete one."),
        ("student,group\nada,red\nada@example.org,blue", ", line 3: ada@example.org is in two groups, red and blue."),
        ("student,group\nada,red\n,blue", ", line 3: the group blue has no student. Name one, or delete it."),
        ("student,group\nadda,red", ", line 2: adda is not in the class. Did you mean `ada`? Mend the line, or run"),
        ("name,team\nada,red", " has no column “student”. Its columns are: name, team."),
    ],
)
@pytest.mark.parametrize("command", ["collect", "extend", "similar"])
def test_what_is_wrong_with_the_file_is_told(
    course: Path, capsys: pytest.CaptureFixture[str], command: str, groups: str, says: str
) -> None:
    """With the line, or the column that is missing, before anything is done."""
    set_duedate(course)
    Path("groups.csv").write_text(groups)
    if command == "collect":
        assert collect("gradescope", gradescope(("ada", "1", b"{}"))) == 2
    else:
        words = {"extend": ["student", "extend", LESSON, "ada", "--by", "2d"], "similar": ["similar", LESSON]}
        assert cli.main(words[command]) == 2
    assert f"groups.csv{says}" in capsys.readouterr().err
    assert not (course / "submitted").exists() and not read_gradebook(course).extensions
