"""The instructor's guide says what is so: its commands, scripts, tables and messages are tried here."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbgrader
import pytest
import yaml
from collect.test_github import git
from nbgrader.apps import NbGraderApp
from nbgrader.exchange.default import Exchange
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from support.classroom import LESSONS, ROOT
from support.guide import BLOCKS, GUIDE, SCRIPTS, SHELL, block
from traitlets.config import Application, Config

from autograder import cli
from autograder.course import assistants
from autograder.course.address import Address, read_address
from autograder.course.dates import moment

SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", GUIDE, flags=re.MULTILINE | re.DOTALL))
COMMANDS = sorted({line.strip() for code in SHELL for line in code.splitlines()} | set(SPANS))


def commands(name: str) -> list[list[str]]:
    """Return the words behind a command's name, for each time that the guide gives it words."""
    lines = [shlex.split(line.replace("=…", "=x")) for line in COMMANDS if line.startswith(f"{name} ")]
    return [words[1:] for words in lines]


def configured(code: str) -> tuple[Config, dict[str, object]]:
    """Run lines of nbgrader_config.py; return the configuration and what else they define."""
    names: dict[str, object] = {"c": Config(), "get_config": Config}
    exec(compile(code, "nbgrader_config.py", "exec"), names)
    return names["c"], names


def test_every_autograder_command_parses() -> None:
    """The command line takes each `autograder …` of the guide as it stands."""
    calls = commands("autograder")
    assert {words[0] for words in calls} == {
        *("collect", "comments", "doctor", "due", "export", "grade", "history", "leaderboard", "new", "release"),
        *("report", "similar", "start", "status", "student"),
    }
    for words in calls:
        assert callable(cli.command_line().parse_args(words).run), words


def test_the_forms_and_options_named_alone_exist(capsys: pytest.CaptureFixture[str]) -> None:
    """The options and forms that stand by themselves in the table of commands are in the help of their command."""
    table = GUIDE[GUIDE.index("## All commands") :]
    for row in table.splitlines():
        if not (first := re.match(r"\| `autograder (student \w+|\w+)", row)):
            continue
        forms = "gradescope-zip|classroom50|feedback-moodle|canvas|moodle|gradescope|folder|github"
        for option in re.findall(rf"`(--[a-z]+|{forms})\b", row.split("|")[2]):
            with pytest.raises(SystemExit):
                cli.main([*first[1].split(), "--help"])
            assert option in capsys.readouterr().out, (first[1], option)


@pytest.mark.parametrize("words", commands("nbgrader"), ids=" ".join)
def test_every_nbgrader_command_exists(words: list[str]) -> None:
    """nbgrader has each command that the guide names, with its options."""
    app: Application = NbGraderApp()
    while words and words[0] in app.subcommands:
        app, words = app.subcommands[words[0]][0](), words[1:]
    assert not isinstance(app, NbGraderApp)
    assert not app.subcommands
    for option in (word.removeprefix("--").partition("=")[0] for word in words if word.startswith("--")):
        assert option in app.aliases or option in app.flags, option


def test_every_lesson_named_exists() -> None:
    """Lessons in the guide's commands and paths are lessons of the course."""
    named = set(re.findall(r"(?<![\w/])\d\d_\w+", GUIDE))
    assert named
    assert named <= set(LESSONS)


@pytest.mark.parametrize(
    "quoted",
    [
        "had been deleted and was put back",
        "had been changed; the original was run",
        "not gradable",
        "of solutions/ is not the one that was released",
        "does not know the lesson",
        "is not as release wrote it: somebody worked in it",
        "Not in the file",
        "Cannot add or remove cells",
        "Skipping existing assignment",
        "Changed in submitted/ by hand, or not put there by this command",
    ],
)
def test_every_message_quoted_is_one(quoted: str) -> None:
    """What the guide says that a tool says stands in the source of the course's package or of nbgrader."""
    assert quoted in GUIDE
    folders = ROOT / "autograder", Path(nbgrader.__file__).parent
    assert any(quoted in path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py"))


def test_the_term_is_that_of_the_readme() -> None:
    """The term's weeks have the lessons of the README's table, in its order."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lessons = re.findall(r"^\| \[(.+?)\]\(.*?\) \| ", readme, re.MULTILINE)
    assert re.findall(r"^\| \d+ \| (\d · .*?) \|$", GUIDE, re.MULTILINE) == lessons
    assert len(lessons) == len(LESSONS)


def test_the_address_is_read(tmp_path: Path) -> None:
    """The table for pyproject.toml is one that release understands."""
    (table,) = (code for language, code in BLOCKS if language == "toml")
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert read_address(tmp_path, look_up=False) == Address("https://github.com/you/course-students", "main")


def test_what_students_get_holds_the_package_and_no_answers() -> None:
    """What students get is all that the package is built from, and neither solutions nor tests."""
    (words,) = (words for words in commands("git") if words[:3] == ["archive", "HEAD", "README.md"])
    names = words[2 : words.index("|")]
    assert all((ROOT / name.removeprefix(":!")).exists() for name in names) and ":!autograder/demo" in names
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"pyproject.toml", "autograder", project["readme"], *project["license-files"]} <= set(names)
    assert not {name.split("/")[0] for name in names} & {"solutions", "tests", "benchmarks"}
    texts = [f"notebooks/{name}" for name in (assistants.NAME, *assistants.POINTERS)]
    assert [name for name in names if name.startswith("notebooks")] == [*texts, f"notebooks/{LESSONS[0]}"]


def test_every_option_of_the_configuration_exists() -> None:
    """What the guide sets in nbgrader_config.py are traits of nbgrader's classes."""
    classes = (AssignLatePenalties, Exchange, LateSubmissionPlugin)
    traits = {f"{kind.__name__}.{name}" for kind in classes for name in kind.class_traits(config=True)}
    named = {name for code in SCRIPTS for name in re.findall(r"^c\.(\w+\.\w+) =", code, re.MULTILINE)}
    assert named - traits == {"CourseDirectory.course_id", "Autograder.written_answers", "Autograder.counts"}
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    assert 'c.CourseDirectory.course_id = "transformer"' in config
    assert "c.Autograder.written_answers = False" in config and 'c.Autograder.counts = "last"' in config
    assert block("get_config()").splitlines()[1] in config


def test_the_late_rule_takes_ten_per_cent_a_day() -> None:
    """A second late costs one day, 36 hours two, a month all points; nbgrader accepts both ways of setting a rule."""
    config, names = configured(block("TenPercentADay"))
    assert config.AssignLatePenalties.plugin_class is names["TenPercentADay"]
    rule = AssignLatePenalties(config=config)
    rule.init_plugin()
    takes = [rule.plugin_inst.late_submission_penalty("ada", 20.0, hours * 3600) for hours in (1 / 3600, 36, 720)]
    assert takes == [2.0, 4.0, 20.0]
    config, _ = configured(block("penalty_method"))
    assert LateSubmissionPlugin(config=config).late_submission_penalty("ada", 20.0, 1.0) == 20.0


def test_dates_are_understood() -> None:
    """The guide's due date is read by the command, its timestamp by nbgrader, in UTC; nbgrader guesses as it says."""
    due = next(" ".join(words[2:]) for words in commands("autograder") if words[0] == "due" and "Berlin" in words[-1])
    assert f"{moment(due).utc}" == "2026-10-12 21:59:00"
    assert f"{parse_utc('12.10.2026')}" == "2026-12-10 00:00:00"
    assert f"{parse_utc('2026-10-12T20:00:00+02:00')}" == "2026-10-12 18:00:00"
    assert "`2026-10-12T20:00:00+02:00`" in GUIDE


def test_feedback_goes_back_to_repositories(tmp_path: Path) -> None:
    """The loop for GitHub pushes a student's feedback page from where `autograder collect github` keeps the clones."""
    git(tmp_path, "init", "--quiet", "--bare", "ada.git")
    git(tmp_path, "clone", "--quiet", "ada.git", "downloaded/repositories/ada")
    (tmp_path / "feedback" / "ada").mkdir(parents=True)
    (tmp_path / "feedback" / "ada" / "feedback.html").write_text("Well done.", encoding="utf-8")
    me = {"GIT_AUTHOR_NAME": "I", "GIT_AUTHOR_EMAIL": "i@example.org"}
    me |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in me.items()}
    loop = block("git", "feedback.html", of=SHELL)
    subprocess.run(["bash", "-e", "-c", loop], cwd=tmp_path, env=os.environ | me, check=True, capture_output=True)
    assert git(tmp_path / "ada.git", "show", "HEAD:feedback.html") == "Well done."


def test_the_exchange_takes_lessons_out_and_hand_ins_back(tmp_path: Path) -> None:
    """nbgrader's exchange releases what `notebooks/` holds, and collects what a student submits, with its time."""
    course, student, exchange = (tmp_path / name for name in ("course", "student", "exchange"))
    released = course / "notebooks" / "01_attention" / "01_attention.ipynb"
    for folder in (released.parent, student, exchange):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / released.relative_to(course), released)
    place = "/srv/nbgrader/exchange"
    settings = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    settings += next(code for code in SCRIPTS if code.startswith("c.Exchange.root"))
    (course / "nbgrader_config.py").write_text(settings.replace(place, str(exchange)), encoding="utf-8")
    theirs = block("get_config()").replace(place, str(exchange))
    (student / "nbgrader_config.py").write_text(theirs, encoding="utf-8")
    environment = os.environ | {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "OMP_NUM_THREADS": "1"}
    steps = {"release_assignment": course, "fetch_assignment": student, "submit": student, "collect": course}
    for what, folder in steps.items():
        assert [what, "01_attention"] in commands("nbgrader")
        command = [sys.executable, "-m", "nbgrader", what, "01_attention"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    (collected,) = course.glob("submitted/*/01_attention/01_attention.ipynb")
    assert collected.read_bytes() == released.read_bytes()
    assert parse_utc((collected.parent / "timestamp.txt").read_text(encoding="utf-8").strip())


def test_conda_gets_what_pip_gets() -> None:
    """environment.yml takes everything from requirements.txt, with the pinned PyTorch and a Python new enough."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *plain, pip = environment["dependencies"]
    assert pip == {"pip": ["-r requirements.txt"]}
    versions = dict(package.split("=") for package in plain if "=" in package)
    pinned = re.search(r"^torch==(.*)$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert versions["pytorch-cpu"] == pinned
    assert "pip" in plain
    assert tuple(map(int, versions["python"].split("."))) >= (3, 11)


def test_the_container_is_set_up_as_everything_else() -> None:
    """The development container runs `make setup`, in an environment with PyTorch for CPUs that its editor uses."""
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    *_, environment, install, setup = container["postCreateCommand"].split(" && ")
    assert install == "uv pip install --torch-backend=cpu -r requirements.txt -c constraints.txt"
    assert setup == "make setup"
    assert re.search(r"^setup:", makefile, re.MULTILINE)
    folder = re.search(r"^VENV\s*:= (.*)$", makefile, re.MULTILINE)[1]
    assert environment == f"python3 -m venv {folder}"
    code = container["customizations"]["vscode"]
    assert code["settings"]["python.defaultInterpreterPath"] == f"${{containerWorkspaceFolder}}/{folder}/bin/python"
    assert {"ms-python.python", "ms-toolsai.jupyter"} <= set(code["extensions"])
    assert tuple(map(int, container["image"].rpartition(":")[2].split("."))) >= (3, 11)
