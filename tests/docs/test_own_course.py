"""The page on a course of one's own: from an empty folder, every command and every cell of it, as it stands."""

import io
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from rich.console import Console
from support.guide import BLOCK
from support.sample_lesson import ROOT, cell
from support.warm import Lent

from autograder import cli
from autograder.grading import grade as grading
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.worker.client import GradingServer

PAGE = (ROOT / "docs" / "a_course_of_your_own.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(PAGE)
FIRST, RELEASE, TRY, GRADE = (code.splitlines() for kind, code in BLOCKS if kind == "sh")
CELLS = [code.strip() for kind, code in BLOCKS if kind == "python"]
LESSON = "01_noise"
SIGNAL, NOISE = "return torch.cumprod(1 - betas, 0)", "return left**0.5 * x + (1 - left) ** 0.5 * noise"
# By student: the lines in place of the solutions, and what the two checks say; "" where they pass.
WORK: dict[str, tuple[tuple[str, str] | None, tuple[str, str]]] = {
    "ada": ((SIGNAL, NOISE), ("", "")),
    "ben": (
        ("return torch.cumprod(betas, 0)", "return left * x + (1 - left) * noise"),
        ("when β is", "when the roots"),
    ),
    "cleo": (
        ("return torch.cumsum(1 - betas, 0)", "return 0.5 * x + 0.75**0.5 * noise"),
        ("the factors are added", "add_noise(points, noise, 1.0).tolist()  is  ["),
    ),
    "dan": ((SIGNAL, "return left**0.5 * x + (1 - left) ** 0.5 * noise + 1e-3 * (left == 0)"), ("", "not shown")),
    "eve": (None, ("`signal_left` is not written yet", "`add_noise` is not written yet")),
    "fay": (("return torch.cumprod(1 - beta, 0)", NOISE), ("`signal_left` raised NameError", "")),
}


def write(course: Path) -> None:
    """Do what the page says to do by hand."""
    path = course / "solutions" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    given, *others = CELLS
    ids = ("signal_left", "check_signal_left", "add_noise", "check_add_noise")
    for name, source in zip(ids, others, strict=True):
        cell(notebook, name).source = source
    notebook.cells.insert(1, new_code_cell(given))
    nbformat.write(notebook, path)
    (path.parent / "points.csv").write_text(next(code for kind, code in BLOCKS if kind == "csv"), encoding="utf-8")


def hand_in(course: Path) -> None:
    """Answer what was released, as students do, and put it where a download would be."""
    for student, (lines, _) in WORK.items():
        notebook = nbformat.read(course / "notebooks" / LESSON / f"{LESSON}.ipynb", as_version=4)
        for name, line in zip(("signal_left", "add_noise"), lines or (), strict=bool(lines)):
            answer = cell(notebook, name)
            answer.source = re.sub(r"raise NotImplementedError\(.*\)", line, answer.source)
        (course / "downloaded" / student).mkdir(parents=True)
        nbformat.write(notebook, course / "downloaded" / student / f"{LESSON}.ipynb")


def test_the_page_leads_from_nothing_to_points(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its commands run in their order, its lesson names its three slips, its checks fit its answers."""
    monkeypatch.chdir(tmp_path)

    def run(lines: list[str]) -> None:
        for words in map(shlex.split, lines):
            if words[0] == "cd":
                monkeypatch.chdir(words[1])
            elif words[:2] == ["autograder", "grade"]:
                dry, out = "--dry-run" in words, Console(file=io.StringIO())
                options = GradeOptions(dry_run=dry, students="me" if dry else "*")
                assert grading.grade(Path.cwd(), options, out, warm=Lent(warm)) == 0
                assert not dry or "2 of 2" in out.file.getvalue()
            elif words[0] in ("mkdir", "cp", "rm"):
                subprocess.run(words, check=True)
            else:
                assert words[0] == "autograder" and cli.main(words[1:]) == 0, (words, capsys.readouterr())

    run(FIRST)
    course = Path.cwd()
    write(course)
    run(RELEASE)
    assert (course / "notebooks" / LESSON / "points.csv").is_file()
    run(TRY)
    hand_in(course)
    run(GRADE)
    book = read_gradebook(course)
    for student, (_, expected) in WORK.items():
        result = book.graded[student, LESSON].result
        assert result is not None and not result.notes, (student, result)
        for check, says in zip(result.checks, expected, strict=True):
            assert says in check.message and bool(says) == bool(check.message), (student, check.message)
    for name in ("report.html", "feedback/ada/feedback.html", "grades.csv"):
        assert (course / name).is_file()


def test_what_it_installs_exists() -> None:
    """The extra, and the command, are those of the package."""
    install = next(code for kind, code in BLOCKS if kind == "console")
    place, extra = re.search(r'"\./transformer/(.*)\[(\w+)\]"', install).groups()
    project = tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"] and f"`{project['name']}`" in PAGE
    assert callable(cli.command_line().parse_args(["doctor"]).run)
