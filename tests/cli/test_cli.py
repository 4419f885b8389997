"""The command line as a whole: its version, and what it says to a name that is none."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.gradebook import LESSON, record
from support.sample_lesson import ROOT

from autograder import cli, version
from autograder.course.names import counted, listed, printable


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` needs no command and says what pip has installed."""
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["--version"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == version.DISTRIBUTION
    assert capsys.readouterr().out == f"autograder {importlib.metadata.version(project['name'])}\n"


def test_the_version_of_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is only on the path has no version, and commands work there."""
    monkeypatch.setattr(version, "DISTRIBUTION", "transformer-from-nowhere")
    assert not version.installed()
    assert cli.command_line().parse_args(["doctor"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["grde"], "there is no `grde`. There are start, release, due, collect, grade,"),
        (["extend", "01_attention"], "Did you mean `autograder student extend`?"),
        (["grde"], "Did you mean `grade`?"),
        (["quux"], "leaderboard, doctor, demo, new, export, student.\n"),
        (["export", "mooodle"], "Did you mean `moodle`?"),
        (["export", "moodle", "--by", "emial"], "Did you mean `email`?"),
    ],
)
def test_a_word_that_is_no_command(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    """An unknown command, form or choice ends with 2, with all there are, and with the one that is like it, if any."""
    with pytest.raises(SystemExit, match=r"^2$"):
        cli.main(arguments)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["grade", "01_dubling"], LESSON),
        (["grade", "--student", "adda"], "ada"),
        (["report", "01_dubling"], LESSON),
        (["report", "--student", "adda"], "ada"),
        (["export", "csv", "01_dubling"], LESSON),
        (["export", "csv", "--student", "adda"], "ada"),
    ],
)
def test_a_name_that_is_none(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], meant: str
) -> None:
    """An unknown lesson or student ends with 2 and with the one that may have been meant."""
    record(course)
    (course / "submitted" / "ada" / LESSON).mkdir(parents=True)
    monkeypatch.chdir(course)
    assert cli.main(arguments) == 2
    assert capsys.readouterr().err.endswith(f" Did you mean `{meant}`?\n")


@pytest.mark.parametrize(
    "words",
    [
        "grade L/",
        "status L/",
        "history L/",
        "report L/",
        "similar L/",
        "leaderboard L/",
        "due L/",
        "comments L/",
        "demo --lesson L/",
        "new exercise double --lesson L/",
        "collect folder L/ class",
        "collect moodle L/ class --worksheet w",
        "student extend L/ ada --by 1d",
        "student show ada --open L/",
        "student defence ada L/",
        "export csv L/",
        "export canvas --lesson L/",
        "export moodle L/",
        "export gradescope L/",
        "export gradescope-zip L/",
        "export classroom50 L/",
        "export feedback-canvas L/ class",
        "export feedback-moodle L/ --worksheet w",
    ],
)
def test_a_lesson_may_have_the_slash_of_a_folder(words: str) -> None:
    """Each command takes a lesson as a shell completes the name of its folder, with a slash behind it."""
    parse = cli.command_line().parse_args
    assert vars(parse(words.split())) == vars(parse(words.replace("L/", "L").split()))


def test_what_is_printed_moves_no_cursor() -> None:
    """Of a text from elsewhere ends of lines become spaces, and what else acts on a terminal question marks."""
    assert printable("It failed.\nBecause\x1b[2J of\ta bell\x07.") == "It failed. Because?[2J of a bell?."


def test_the_command_line_starts_without_what_instructors_need() -> None:
    """Who has only what students install can ask for the version and the commands."""
    code = "import sys; from autograder.cli import command_line; command_line(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"nbgrader", "nbformat", "rich", "torch"} & set(loaded)


@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("autograder stat", {"status "}),
        ("autograder grade 01", {f"{LESSON} "}),
        ("autograder student show a", {"ada "}),
        ("autograder student show .", {""}),
        ("autograder export csv --stu", {"--student "}),
    ],
)
def test_a_shell_is_told_what_could_follow(course: Path, tmp_path: Path, line: str, suggested: set[str]) -> None:
    """Commands, options, the lessons of the course, and who has handed in."""
    for folder in ("ada", ".replaced"):
        (course / "submitted" / folder / LESSON).mkdir(parents=True)
    answer = tmp_path / "answer.txt"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_SHELL": "bash"}
    command = [sys.executable, "-c", "from autograder.cli import main; main()"]
    subprocess.run(command, cwd=course, env={**os.environ, "PYTHONPATH": str(ROOT), **asked}, check=True, timeout=60)
    assert set(answer.read_text().split("\n")) == suggested


@pytest.mark.parametrize(
    ("number", "what", "said"),
    [
        (1, "point", "1 point"),
        (1.0, "row in grade", "1 row in grade"),
        (0, "rare line of words", "0 rare lines of words"),
        (0.1 + 0.2, "point", "0.3 points"),
        (12345678, "file", "12345678 files"),
    ],
)
def test_how_many_there_are_is_said_as_people_do(number: float, what: str, said: str) -> None:
    """One is one, all else are several, and what is behind the noun stays."""
    assert counted(number, what) == said


def test_names_are_joined_as_in_a_sentence() -> None:
    """Commas between them, and the last behind an "and"."""
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
