"""The autograder for Classroom 50 runs as it would there, writes results of the published form, and hides nothing."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from export.test_gradescope import LESSON, work_of
from support.sample_lesson import ROOT

from autograder import cli

SAMPLE = json.loads((ROOT / "tests" / "export" / "samples" / "classroom50_result.json").read_text(encoding="utf-8"))
TOLD = {  # to an autograder, by Classroom 50
    "CLASSROOM": SAMPLE["classroom"],
    "ASSIGNMENT": SAMPLE["assignment"],
    "USERNAME": SAMPLE["owner"],
    "SUBMISSION_TAG": SAMPLE["submission"],
    "COMMIT_URL": SAMPLE["commit"],
    "RELEASE_URL": SAMPLE["release"],
    "REVIEW_URL": SAMPLE["review"],
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported files, unpacked."""
    folder = tmp_path_factory.mktemp("classroom50")
    archive = folder / "autograder.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        assert cli.main(["export", "classroom50", LESSON, "--output", str(archive)]) == 0
    assert archive.stat().st_size < 10 * 2**20, "what Classroom 50 fetches"
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder / "bundle")
    return folder / "bundle"


def run(bundle: Path, checkout: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run the autograder in a student's checkout."""
    environment = os.environ | TOLD | {"AUTOGRADER_PYTHON": sys.executable} | changed
    command = [sys.executable, str(bundle / "autograder.py")]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, encoding="utf-8", check=False)


def valid(checkout: Path) -> dict[str, Any]:
    """Assert that Classroom 50 would take the result, and return it."""
    result: dict[str, Any] = json.loads((checkout / "result.json").read_text(encoding="utf-8"))
    assert result.keys() == SAMPLE.keys()
    for one, like in [(result, SAMPLE), *((test, SAMPLE["tests"][0]) for test in result["tests"])]:
        assert one.keys() == like.keys() and all(type(one[name]) is type(like[name]) for name in like), one
        assert 0 <= one["score"] <= one["max-score"]
    own = ("datetime", "score", "max-score", "tests")
    assert all(result[name] == SAMPLE[name] for name in SAMPLE if name not in own)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["datetime"])
    assert all(sum(test[name] for test in result["tests"]) == result[name] for name in ("score", "max-score"))
    return result


def hand_in(checkout: Path, student: str, place: str) -> None:
    """Put what an invented student wrote into a checkout, with what else lies in one."""
    for name, text in {place: work_of(student), ".github/x.ipynb": "{}", "notebooks/other/other.ipynb": "{}"}.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text, encoding="utf-8")


def test_what_is_published_hides_nothing(bundle: Path) -> None:
    """The lesson is the students', without answers, hidden tests and their seed; what else there is is the package."""
    texts = {path.relative_to(bundle).as_posix(): path.read_bytes() for path in (bundle / "lesson").iterdir()}
    assert texts.keys() == {f"lesson/{LESSON}.ipynb"} and b"HIDDEN" not in texts[f"lesson/{LESSON}.ipynb"]
    assert b"BEGIN SOLUTION" not in texts[f"lesson/{LESSON}.ipynb"]
    tops = {"autograder.py", "constraints.txt", "lesson", "package", "run_autograder", "setup.sh"}
    assert {path.name for path in bundle.iterdir()} == tops
    assert (bundle / "package" / "autograder" / "data" / "dates.json").is_file()
    assert not (bundle / "package" / "autograder" / "demo").exists()


def test_right_and_wrong_work_is_graded(bundle: Path, tmp_path: Path) -> None:
    """Right work has all points, other work some; where the notebook lies is free, and what checks said is told."""
    places = {"perfect": f"notebooks/{LESSON}/{LESSON}.ipynb", "typical": f"{LESSON}.ipynb"}
    scores = {}
    for student, place in places.items():
        (checkout := tmp_path / student).mkdir()
        hand_in(checkout, student, place)
        done = run(bundle, checkout)
        assert done.returncode == 0, done.stderr
        result = valid(checkout)
        scores[student] = result["score"] / result["max-score"]
        told = (checkout / "release-body.md").read_text(encoding="utf-8")
        assert all((test["output"].splitlines() or [""])[0] in told for test in result["tests"] if not test["passed"])
    assert scores["perfect"] == 1 > scores["typical"] > 0


def test_what_is_no_notebook_has_no_points(bundle: Path, tmp_path: Path) -> None:
    """It is told why, and passes nothing: not even a check of no points."""
    (tmp_path / f"{LESSON}.ipynb").write_text("<html>", encoding="utf-8")
    assert run(bundle, tmp_path).returncode == 0
    result = valid(tmp_path)
    assert (result["score"], result["max-score"]) == (0, 20)
    assert [test["passed"] for test in result["tests"]] == [False]
    assert "It could not be graded." in (tmp_path / "release-body.md").read_text(encoding="utf-8")


def test_a_grader_that_fails_blames_nobody(bundle: Path, tmp_path: Path) -> None:
    """Where the grader does not start, there is no result, and the exit status says so."""
    hand_in(tmp_path, "perfect", f"{LESSON}.ipynb")
    done = run(bundle, tmp_path, AUTOGRADER_PYTHON="/bin/false")
    assert done.returncode == 1 and "says nothing about your work" in done.stderr
    assert not (tmp_path / "result.json").exists()
