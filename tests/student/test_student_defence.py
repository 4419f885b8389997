"""`autograder student defence`: questions on a student's own right answers, which grading itself has answered."""

import ast
import io
import json
import re
from datetime import date
from pathlib import Path

import pytest
from rich.console import Console
from support.commands import printed
from support.gradebook import LESSON
from support.warm import Lent

from autograder import cli
from autograder.course.config import CourseError
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.worker.client import GradingServer
from autograder.student.defence import defence


def hand_in(course: Path, body: str = "", source: str = "") -> None:
    """Let ada hand in an answer, the whole of it or what it returns."""
    path = course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "double":
            cell["source"] = source or f"def double(x):\n    return {body}"
    path.write_text(json.dumps(notebook))


def asked(course: Path, warm: GradingServer, **options: object) -> str:
    """What the command prints about ada."""
    out = io.StringIO()
    defence(course, "ada", LESSON, Console(file=out, width=200), warm=Lent(warm), **options)
    return out.getvalue()


def test_a_change_of_the_students_own_line_and_what_it_breaks(course: Path, warm: GradingServer) -> None:
    """The same seed asks the same; what was handed in stays as it is."""
    hand_in(course, "x + x")
    before = (course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes()
    said = asked(course, warm, seed=4)
    assert said.startswith(f"1 question for ada on {LESSON}\n")
    assert "     yours    return x + x\n     instead  return x " in said and "   → It breaks “" in said
    assert "Which ones still hold? On which input would you see it?\n" in said
    (argument,) = re.findall(r"   → You see it on double\((.*)\)\.\n", said)
    assert ast.literal_eval(argument)  # twice which is another number
    assert asked(course, warm, seed=4) == said
    assert (course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    "source",
    [
        "class double:\n    def __new__(cls, x):\n        return x + x",
        "from autograder import calls\ncalls.telling = lambda *args: '[1'\ndef double(x):\n    return x + x",
    ],
)
def test_an_input_that_nobody_knows_is_not_asked_for(course: Path, warm: GradingServer, source: str) -> None:
    """A class is called for what it is, and an answer that meddles gets no say."""
    hand_in(course, source=source)
    said = asked(course, warm, seed=4)
    assert "Which ones still hold?\n" in said and "You see it on" not in said


def test_a_talk_is_kept_until_it_is_taken_back(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its day is on the class page and in the student's archive, in no export, and goes with the student."""
    arguments = ["student", "defence", "ada", LESSON, "--held"]
    assert cli.main([*arguments, "2030-01-04"]) == cli.main(arguments) == 0
    assert "The talk with ada about 01_doubling is kept: 2030-01-05." in printed(capsys, *arguments, "2030-01-05")
    assert read_gradebook(course).talks == {("ada", LESSON): date(2030, 1, 5)}
    assert cli.main(["report"]) == 0
    assert "Ada Löve, 5 January 2030" in (course / "report.html").read_text("utf-8")
    assert "2030-01-05" not in printed(capsys, "export", "csv", "--stale", "--output", "-")
    assert printed(capsys, *arguments, "friday", status=2) == "--held friday is no day like 2026-10-12.\n"
    assert "1 row in autograder_talk" in printed(capsys, "student", "remove", "ada")
    assert cli.main([*arguments, "none"]) == 0
    assert not read_gradebook(course).talks


def test_nothing_is_asked_where_nothing_is_right(course: Path, warm: GradingServer) -> None:
    """Nor about whom nobody knows, and a notebook that cannot be read says why."""
    hand_in(course, "x")
    with pytest.raises(CourseError, match=rf"No answer of ada in {LESSON} passes all its checks\."):
        asked(course, warm)
    (course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").write_text("{")
    with pytest.raises(CourseError, match=r"It cannot be graded, so nothing can be asked\."):
        asked(course, warm)


def test_who_has_handed_in_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said, with who may be meant, and the status is 2."""
    for student, lesson, said in (
        ("eve", LESSON, f"eve has not handed in {LESSON}.\n"),
        ("adda", LESSON, f"adda has not handed in {LESSON}. Did you mean `ada`?\n"),
        (LESSON, "ada", f"The student comes first: autograder student defence ada {LESSON}\n"),
    ):
        assert printed(capsys, "student", "defence", student, lesson, status=2) == said
