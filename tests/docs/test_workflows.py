"""The workflows of CI do what pyproject.toml and the folders say."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from support.sample_lesson import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GRADING = {Requirement(need).name for need in PROJECT["optional-dependencies"]["grading"]}


def jobs_of(path: Path) -> dict[str, Any]:
    """Read the jobs of a workflow."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


WEEKLY = jobs_of(ROOT / ".github/workflows/weekly.yml")


def commands(job: dict[str, Any]) -> list[str]:
    """What a job runs in a shell."""
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_workflow_names_is_there(path: Path) -> None:
    """Each action has a version, each job ends, and each target of make and each path in a command exists."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for job in jobs_of(path).values():
        assert job["timeout-minutes"] <= 90
        assert all(re.search(r"@v\d+$", step["uses"]) for step in job["steps"] if "uses" in step)
        for command in commands(job):
            for target in re.findall(r"\bmake ([\w-]+)", command):
                assert target in targets
            for name in re.findall(r"(?:^| )((?:tests|solutions|\.ci)\b[\w/.]*)", command):
                assert (ROOT / name).exists(), name


def test_the_oldest_torch_is_the_one_that_the_package_allows() -> None:
    """Weekly, all tests run with the lower bound of pyproject.toml, and with whatever is newest."""
    jobs = {job["torch"]: job for job in WEEKLY["torch"]["strategy"]["matrix"]["include"]}
    (bound,) = next(need.specifier for need in map(Requirement, PROJECT["dependencies"]) if need.name == "torch")
    assert jobs["oldest"]["packages"].split()[0] == f"torch=={bound.version}.*" and bound.operator == ">="
    assert jobs["newest"]["packages"] == "torch"
    assert jobs["oldest"]["python"] == PROJECT["requires-python"].removeprefix(">=")


def test_students_install_nothing_of_grading() -> None:
    """On macOS and Windows the package is installed without its extras, and nothing that is in them."""
    installed = [command for command in commands(WEEKLY["students"]) if "pip install" in command]
    words = {word for command in installed for word in command.split()}
    assert "." in words and "[" not in "".join(words) and not words & GRADING
