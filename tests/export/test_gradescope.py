"""The autograder for Gradescope runs as it would there, and always writes results of the published form."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.sample_lesson import ROOT

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import class_work
from autograder.export.gradescope import run as container
from autograder.export.gradescope.bundle import bundle
from autograder.export.gradescope.results import of_result, to_bytes
from autograder.grading.jobs import Job
from autograder.grading.results import Limits, Note, NoteKind, Outcome, Result, Status

SAMPLE = ROOT / "tests" / "export" / "samples" / "gradescope_results.json"
LESSON = "01_attention"
PASSED = Outcome("check_double", 3.0, Status.PASSED, seconds=0.25)
FAILED = Outcome("check_double_text", 1.0, Status.FAILED, "✗ `double` is <wrong>.", 0.5, "`double` is <wrong>.", "Add.")

# Denies what Docker's default profile denies to a container without rights: namespaces and mounts.
LIKE_DOCKER = """
import ctypes, os, struct, sys
from autograder.grading.sandbox.seccomp import call_numbers
denied = "unshare:272:97 setns:308:268 mount:165:40 umount2:166:39 mount_setattr:442:442 pivot_root:155:41"
code = [(0x20, 0, 0, 0)]
for number in call_numbers(denied).values():
    code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050001)]
code.append((0x06, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in code))
header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0), libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def fits(value: Any, sample: Any, where: str = "results") -> None:
    """Assert that a value has only the fields of the published sample, each of its type."""
    if isinstance(sample, dict) and sample:
        assert isinstance(value, dict) and set(value) <= set(sample), (where, value)
        for name, part in value.items():
            fits(part, sample[name], f"{where}.{name}")
    elif isinstance(sample, list):
        assert isinstance(value, list), where
        for part in value:
            fits(part, sample[0], where)
    else:
        kind = (int, float) if isinstance(sample, float | int) else type(sample)
        assert isinstance(value, kind) and not isinstance(value, bool), (where, value)


def valid(results: dict[str, Any]) -> dict[str, Any]:
    """Assert that Gradescope would take this, and return it."""
    fits(results, json.loads(SAMPLE.read_text()))
    assert "score" in results
    for part in (results, *results["tests"]):
        assert part.get("visibility") in {"visible", "hidden", "after_due_date", "after_published"}
        assert part.get("status", "passed") in {"passed", "failed"}
        for name in ("output_format", "test_output_format", "test_name_format", "name_format"):
            assert part.get(name, "text") in {"text", "html", "simple_format", "md", "ansi"}
    return results


def test_gradescope_results_have_the_published_form() -> None:
    """Points given by hand, a penalty, notes and what only people grade are all in it, and the sum is what counts."""
    note = Note(NoteKind.NOTEBOOK, "Cells stood in another order.")
    result = Result("x", LESSON, (PASSED, FAILED), (note,), seconds=2.6)
    scores = {"check_double": 3.0, "check_double_text": 0.25, "essay": 1.0}
    results = valid(of_result(result, scores=scores, penalty=0.5))
    assert results["score"] == 3.75 and results["execution_time"] == 3
    assert [(test["name"], test["score"]) for test in results["tests"]] == list(scores.items())
    assert [test.get("status") for test in results["tests"]] == ["passed", "failed", None]
    assert "Cells stood in another order." in results["output"] and "late" in results["output"]
    broken = valid(of_result(Result("x", LESSON, reason="The file is empty. Hand it in again.")))
    assert broken["score"] == 0 and broken["output"].startswith("It could not be graded. The file is empty.")


def test_gradescope_results_are_always_utf8() -> None:
    """A lone half of a character in a message makes no file that nobody can read."""
    odd = replace(FAILED, message="✗ \ud800")
    assert json.loads(to_bytes(of_result(Result("x", LESSON, (odd,)))))["tests"][0]["output"] == "✗ ?"


@pytest.fixture(scope="module")
def archive() -> bytes:
    """The autograder of lesson 1."""
    return bundle(ROOT, ROOT / "solutions" / LESSON / f"{LESSON}.ipynb")


@pytest.fixture
def home(archive: bytes, tmp_path: Path) -> Path:
    """A folder as Gradescope lays it out, with nothing handed in."""
    source = tmp_path / "source"
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(source)
        for entry in files.infolist():
            (source / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    shutil.copy(source / "run_autograder", tmp_path)
    (tmp_path / "submission").mkdir()
    return tmp_path


def run(home: Path, *, python: str = sys.executable, through: Sequence[str] = ()) -> tuple[dict[str, Any], str]:
    """Run the autograder as Gradescope does; return its results and what instructors see."""
    environment = os.environ | {"AUTOGRADER_HOME": str(home), "AUTOGRADER_PYTHON": python}
    done = subprocess.run(
        [*through, home / "run_autograder"], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return valid(json.loads((home / "results" / "results.json").read_bytes())), done.stdout


def hand_in(home: Path, student: str, name: str = "my work (1).ipynb") -> None:
    """Hand in what an invented student wrote."""
    path = home / "submission" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(work_of(student), encoding="utf-8")


def work_of(student: str) -> str:
    """What an invented student hands in for the lesson."""
    released = read_notebook(ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb")
    lesson = Lesson(LESSON, read_notebook(ROOT / "solutions" / LESSON / f"{LESSON}.ipynb"))
    return json.dumps(class_work(lesson, released)[student])


def test_gradescope_zip_is_reproducible(archive: bytes) -> None:
    """The same course makes the same bytes, with scripts that can be run at its root and the pinned versions."""
    assert archive == bundle(ROOT, ROOT / "solutions" / LESSON / f"{LESSON}.ipynb")
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        modes = {entry.filename: entry.external_attr >> 16 for entry in files.infolist()}
        assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
        package = {"package/pyproject.toml", "package/autograder/check/__init__.py"}
        assert package | {f"lesson/{LESSON}.ipynb"} <= modes.keys()
        assert not [name for name in modes if "__pycache__" in name or (LESSON not in name and name.endswith(".ipynb"))]
        pinned = files.read("constraints.txt").decode()
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        assert not line.startswith(("torch==", "nbgrader==")) or line in pinned
    assert "-e" not in pinned


@pytest.mark.parametrize(
    ("index", "from_there"), [("", ""), ("https://cpu.example/", "--index-url https://cpu.example/ ")]
)
def test_gradescope_setup_installs_from_the_zip(home: Path, index: str, from_there: str) -> None:
    """`setup.sh` makes an environment, and installs PyTorch, from where it is told, and the package as pinned."""
    stand_in = home / "bin" / "python3"
    stand_in.parent.mkdir()
    makes = '[ "$2" = venv ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"'
    stand_in.write_text(f'#!/bin/sh\necho "$*" >> {home}/calls\n{makes}\nexit 0\n')
    stand_in.chmod(0o755)
    environment = {"PATH": f"{stand_in.parent}:{os.defpath}", "AUTOGRADER_HOME": str(home), "TORCH_INDEX": index}
    subprocess.run([home / "source" / "setup.sh"], env=environment, check=True, capture_output=True)
    calls = (home / "calls").read_text().splitlines()
    assert calls[1] == f"-m venv {home}/venv"
    assert calls[2].endswith(f"--constraint {home}/source/constraints.txt {from_there}torch")
    assert calls[3].endswith(f"--constraint {home}/source/constraints.txt {home}/source/package[grading]")


def test_gradescope_grades_right_work(home: Path) -> None:
    """All points, in a folder of a zip file as well, and nothing hidden is in what comes out."""
    hand_in(home, "perfect", "unpacked/copy.ipynb")
    results, printed = run(home)
    assert results["score"] == sum(test["max_score"] for test in results["tests"]) > 0
    assert {test["status"] for test in results["tests"]} == {"passed"}
    assert "Traceback" not in printed


def test_gradescope_grades_wrong_work(home: Path) -> None:
    """Some points, with what the student also reads, and no line of a hidden test or solution."""
    hand_in(home, "typical")
    results, printed = run(home)
    failed = [test for test in results["tests"] if test["status"] == "failed"]
    assert failed and results["score"] == sum(test["score"] for test in results["tests"])
    assert all(test["output"].startswith("✗ ") for test in failed)
    source = read_notebook(ROOT / "solutions" / LESSON / f"{LESSON}.ipynb")
    kept_back = {
        line.strip()
        for cell in source.cells
        for kind in ("HIDDEN TESTS", "SOLUTION")
        for part in re.findall(rf"### BEGIN {kind}\n(.*?)### END {kind}", cell.source, re.DOTALL)
        for line in part.splitlines()
        if len(line.strip()) > 20
    }
    written = "\n".join([results["output"], *(test["output"] for test in results["tests"]), printed])
    assert len(kept_back) > 20 and not [line for line in kept_back if line in written]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, f"There is no notebook. It should be called {LESSON}.ipynb."),
        ({"a.ipynb": "{", "b.ipynb": "{"}, "There are several notebooks"),
        ({"a.ipynb": "PK\x03\x04 no notebook"}, "The file is no notebook: it is a zip archive"),
    ],
)
def test_gradescope_says_what_is_wrong_with_a_file(home: Path, files: dict[str, str], message: str) -> None:
    """A missing, doubled or broken notebook comes to 0 points and a reason."""
    for name, text in files.items():
        (home / "submission" / name).write_text(text)
    results, _ = run(home)
    assert results["score"] == 0 and message in results["output"]


def test_gradescope_results_are_there_when_nothing_works(home: Path) -> None:
    """Without Python, or without its lesson, it still says that nothing was graded, and whose fault it is."""
    hand_in(home, "perfect")
    results, printed = run(home, python="/nonexistent/python")
    assert results["score"] == 0 and "the grader did not start" in results["output"] and "status 127" in printed
    shutil.rmtree(home / "source" / "lesson")
    results, printed = run(home)
    assert results["score"] == 0 and "the grader itself failed" in results["output"]
    assert "Not graded: The autograder holds 0 lessons" in printed


def test_gradescope_says_what_the_container_does_not_allow(home: Path) -> None:
    """Where namespaces are forbidden it grades all the same, and tells instructors alone what is not enforced."""
    hand_in(home, "half-done")
    results, printed = run(home, through=[sys.executable, "-c", LIKE_DOCKER])
    assert 0 < results["score"] < sum(test["max_score"] for test in results["tests"])
    assert "Not enforced here: " in printed and results["extra_data"]["unenforced"]
    assert results["stdout_visibility"] == "hidden"
    assert "enforced" not in results["output"] + "".join(test["output"] for test in results["tests"])


def test_who_grades_without_rights_gets_the_whole_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of the hidden tests, too, and whatever a note holds."""
    note = Note(NoteKind.FILE, "The file is called \udcff.ipynb.")
    job = Job("ada", LESSON, b"{}", b"\xff", Limits(cell_seconds=3), "", (note,), "2030", b"beside", b"secret")
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    result, jobs = Result("ada", LESSON), list[Job]()

    def run(*command: object, input: bytes, **options: object) -> SimpleNamespace:
        monkeypatch.setattr(sys, "stdin", io.StringIO(input.decode()))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert container._as_child() == 0
        return SimpleNamespace(stdout=printed.getvalue())

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(container, "GradingServer", lambda **options: contextlib.nullcontext())
    monkeypatch.setattr(Job, "run", lambda self, warm: jobs.append(self) or result)
    assert container._as_nobody(job, tmp_path) == result and jobs == [job]
