"""`autograder start` lays the lessons that a wheel brought into a folder, and says what is missing and what is next."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from support import wheel
from support.classroom import LESSONS
from support.sample_lesson import ROOT
from test_structure import LESSONS as LESSON_ROOMS

from autograder import cli, start, version

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Somebody with the course's wheel, who starts."""
    run = installed(tmp_path_factory.mktemp("learner"))
    return lambda *words: run("start", *words)


def installed(home: Path, project: str = "") -> Run:
    """The command of a wheel in an environment of its own, where all that it needs is installed, but no checkout."""
    venv.create(home / "venv")
    python = home / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install", "--no-index", "--no-deps"]
    subprocess.run([*install, str(wheel.build(home / "built", project))], check=True)
    (site_packages,) = (home / "venv").glob("lib/*/site-packages")
    (site_packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}

    def run(*words: str, folder: Path = home) -> subprocess.CompletedProcess[str]:
        command = [str(python.with_name("autograder")), *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)

    return run


def test_a_wheel_brings_the_lessons(learner: Run, tmp_path: Path) -> None:
    """Each lesson lies in a folder of its name as it was released, links between them lead somewhere, checks work."""
    folder = tmp_path / "my lessons"
    done = learner(str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in folder.glob("*/")) == LESSONS
    for name in LESSONS:
        there, released = (place / name / f"{name}.ipynb" for place in (folder, ROOT / "notebooks"))
        assert there.read_bytes() == released.read_bytes()
    assert (folder / "AGENTS.md").is_file() and not list(folder.rglob("release.json"))
    assert f"✓ {len(LESSONS)} lessons are in {folder}" in done.stdout
    assert "a wrong one is told: These are the values you get when x and y are exchanged." in done.stdout


def test_what_is_there_stays(learner: Run, tmp_path: Path) -> None:
    """A notebook that somebody worked in, or a link, is named and left; what is missing is laid beside it."""
    assert learner(str(tmp_path)).returncode == 0
    mine, gone = (tmp_path / name / f"{name}.ipynb" for name in LESSONS[:2])
    mine.write_text("my answers", encoding="utf-8")
    gone.unlink()
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").symlink_to("elsewhere.md")
    done = learner(str(tmp_path))
    assert mine.read_text(encoding="utf-8") == "my answers" and gone.is_file()
    assert f"since they may be yours: {LESSONS[0]}, AGENTS.md\n" in done.stdout
    assert not (tmp_path / "elsewhere.md").exists()


def test_the_engine_alone_grades_a_course(tmp_path: Path) -> None:
    """Its wheel has no lesson of this repository and needs what the course's needs, and somebody's own are graded."""
    ours, engine = (
        tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for place in (".", wheel.ENGINE)
    )
    assert {*ours["dependencies"]} - {*engine["dependencies"]} == {"safetensors>=0.4", "tqdm"}
    assert ours["optional-dependencies"] == engine["optional-dependencies"] | {
        "lab": ours["optional-dependencies"]["lab"]
    }
    run = installed(tmp_path, wheel.ENGINE)
    (package,) = tmp_path.glob("venv/lib/*/site-packages/autograder")
    of_lessons = {f"autograder.{path.stem}" for path in package.iterdir()} & LESSON_ROOMS
    assert not of_lessons and (package / "grading").is_dir()
    course = tmp_path / "sums"
    for command in ("new course sums --form plain", "new lesson 01_one", "new exercise double", "release"):
        done = run(*command.split(), folder=course if course.exists() else tmp_path)
        assert done.returncode == 0, done.stderr
    shutil.copytree(course / "notebooks" / "01_one", course / "submitted" / "ada" / "01_one")
    graded = run("grade", "01_one", folder=course)
    assert graded.returncode == 0 and "ada" in graded.stdout, graded.stderr
    started = run("start")
    assert "This installation of notebook-autograder holds no lessons." in started.stdout


def test_the_next_command_opens_jupyterlab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command at the end, as it stands there, is JupyterLab's on the folder."""
    folder = tmp_path / "my lessons"
    assert cli.main(["start", str(folder)]) == 0
    *words, place = shlex.split(capsys.readouterr().out.splitlines()[-2])
    assert place == str(folder)
    asked = subprocess.run([*words, "--version"], capture_output=True, encoding="utf-8", check=True)
    assert asked.stdout.startswith("4.")


def test_without_jupyterlab_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who has the package alone is told what to install, by the name of an extra that the package has."""
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    assert cli.main(["start", str(tmp_path)]) == 0
    assert f'-m pip install "{version.DISTRIBUTION}[lab]"' in capsys.readouterr().out
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '\nlab = ["ipywidgets' in project and "jupyterlab>=" in project


def test_what_does_not_work_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without PyTorch, in an installation without lessons, or where nothing can be written, it says so and fails."""
    monkeypatch.setitem(sys.modules, "torch", None)
    assert cli.main(["start", str(tmp_path / "a")]) == 1
    assert "✗ ModuleNotFoundError: import of torch" in capsys.readouterr().out and (tmp_path / "a").is_dir()
    (tmp_path / "file").touch()
    assert cli.main(["start", str(tmp_path / "file")]) == 2
    assert "Name another folder." in capsys.readouterr().err
    monkeypatch.setattr(start, "_sources", list)
    assert cli.main(["start", str(tmp_path / "b")]) == 1
    assert "holds no lessons" in capsys.readouterr().out and not (tmp_path / "b").exists()
