"""`autograder comments` counts what was written by hand and gives it to others; grading again loses none of it."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from support.commands import printed
from support.gradebook import LESSON, Pretender, hand_in, record

from autograder import cli
from autograder.course.paths import Course
from autograder.course.release import release
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions

TWICE, NAME = "Say it *twice*.", "A better name helps."


@pytest.fixture(autouse=True)
def _commented(course: Path, _in_course: None) -> None:
    """Ada, bob and cem are graded; bob and cem have the same comment, cem another one beneath it."""
    hand_in(course, "cem")
    record(course, ["cem"])
    write(course, bob=TWICE, cem=f"{TWICE}\n\n{NAME}")


def write(course: Path, **comments: str) -> None:
    """Write comments as formgrader does."""
    with open_gradebook(course) as gradebook:
        for student, text in comments.items():
            gradebook.find_comment("double", LESSON, LESSON, student).manual_comment = text
        gradebook.db.commit()


def written(course: Path) -> dict[str, str]:
    """Student → what stands in the gradebook."""
    graded = read_gradebook(course).graded
    return {student: one.comments["double"] for (student, _), one in graded.items() if one.comments}


def comments(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Run the command for the small lesson, and return what it prints."""
    return printed(capsys, "comments", LESSON, *arguments, status=status)


def test_they_are_listed_by_how_many_have_them(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Alone or with others; on one line each, harmless and not too long; of all exercises, or of one."""
    write(course, ada="[red]no\x1b[31m" + "x" * 500)
    for arguments in ([], ["double"]):
        first, *others = comments(capsys, *arguments).splitlines()
        assert first == f"double 1, 2×: {TWICE}"
        assert [line[:25] for line in others] == [f"double 2, 1×: {TWICE}"[:25], "double 3, 1×: [red]no?[31m"[:25]]
        assert all(len(line) < 360 for line in others)


def test_one_is_given_to_others_beneath_what_they_have(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who has it already does not get it twice; students' pages show it."""
    write(course, ada="Hm.")
    assert comments(capsys, "double", "--give", "1", "ada", "bob", "cem", "ada") == f"✓ ada, bob, cem: {TWICE}\n"
    assert written(course) == {"ada": f"Hm.\n\n{TWICE}", "bob": TWICE, "cem": f"{TWICE}\n\n{NAME}"}
    assert comments(capsys, "double").startswith(f"double 1, 3×: {TWICE}\n")
    assert cli.main(["report", "--student", "ada"]) == 0
    page = BeautifulSoup((course / "feedback" / "ada" / "feedback.html").read_bytes(), "html.parser")
    assert page.blockquote.get_text(" ").split() == ["From", "your", "instructor", "Hm.", "Say", "it", "twice", "."]
    assert page.blockquote.em.get_text() == "twice"


def test_the_beginning_of_another_comment_is_not_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What has other words behind it is another comment."""
    write(course, ada="Good", bob="Good, but slow", cem="")
    comments(capsys, "double", "--give", "1", "bob")
    assert written(course)["bob"] == "Good, but slow\n\nGood"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["doubel"], "01_doubling has no exercise doubel. It has double. Did you mean `double`?"),
        (["--give", "1", "ada"], "Name the exercise, too. It has double."),
        (["double", "--give", "3", "ada"], "There is no comment 3; there are 2. List them first."),
        (["double", "--give", "0", "ada"], "There is no comment 0;"),
        (["double", "--give", "ada"], "There is no comment ada;"),
        (["double", "--give", "1"], "Name who gets comment 1, behind the number."),
        (
            ["double", "--give", "1", "ada", "eve", "bop"],
            "Nothing of eve, bop is graded there; nobody got the comment. D",
        ),
    ],
)
def test_what_cannot_be_given_is_told(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    """Nobody gets anything then, and it ends with 2."""
    before = written(course)
    assert comments(capsys, *arguments, status=2).startswith(says)
    assert written(course) == before


def test_where_there_are_none_it_says_where_to_write_one(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list is empty, and giving says so."""
    write(course, bob="", cem="  ")
    where = "Nobody has a comment by hand there yet. Write one in formgrader, under Manual Grading.\n"
    assert comments(capsys) == where
    assert "There is no comment 1; there are 0." in comments(capsys, "double", "--give", "1", "ada", status=2)


@pytest.mark.parametrize("what", ["forced", "lesson", "submission", "not gradable", "lost"])
def test_grading_again_loses_no_comment(course: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is graded again, and why, what was written by hand stands there as it was."""
    comments(capsys, "double", "--give", "1", "ada")
    before, place = written(course), Course.at(course)
    notebook = place.submitted("ada", LESSON) / f"{LESSON}.ipynb"
    if what == "lesson":
        source = place.source(LESSON)
        source.write_text(source.read_text().replace("hidden_secret", "another_secret"))
        release(course)
    elif what == "submission":
        notebook.write_text(notebook.read_text().replace("7 comes twice", "8 comes twice"))
    elif what == "not gradable":
        notebook.unlink()
    elif what == "lost":
        place.graded_notebook("ada", LESSON).unlink()
    options = GradeOptions(force=what == "forced")
    assert grade(course, options, Console(quiet=True), warm=Pretender(course)) == (what == "not gradable")
    assert (read_gradebook(course).graded["ada", LESSON].result.reason != "") == (what == "not gradable")
    assert written(course) == before and before["ada"] == TWICE
