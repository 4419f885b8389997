"""What a blank hand-in comes to is known without running it, and only where nothing of the student's can matter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from nbformat import NotebookNode, from_dict
from support.sample_lesson import ROOT, code

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import solved, submission
from autograder.grading.jobs import prepared
from autograder.grading.results import Limits, Outcome, Result, Status
from autograder.grading.submission.blank import Blank, known_outcomes
from autograder.grading.worker.client import GradingServer

LESSON = "00_orientation"
SOURCE = ROOT / "solutions" / LESSON / f"{LESSON}.ipynb"
STUB = 'def first(x):\n    raise NotImplementedError("Your code here.")'
CELLS = (
    code("setup", "import torch\nscale = 2"),
    code("first", STUB, solution=True),
    code("helped", "def helped(x):\n    return first(x) * scale"),
    code("second", STUB.replace("first", "second"), solution=True),
    code("check_first", "helped(1)", grade=True),
    code("check_second", "second(torch.ones(1))", grade=True),
)
CHECKS = {"check_first", "check_second"}
BLANK = Blank(
    {cell["id"]: cell["source"] for cell in CELLS},
    {cell["id"]: [] for cell in CELLS},
    {check: Outcome(check, 1.0, Status.NOT_ATTEMPTED) for check in CHECKS},
)


@pytest.fixture(scope="module")
def server() -> Iterator[GradingServer]:
    """A server that grades."""
    with GradingServer() as server:
        yield server


def known(*own: str, **answers: str) -> set[str]:
    """The checks whose outcome is known, for own cells and answers of a student."""
    cells: list[dict[str, Any]] = [{**cell, "source": answers.get(cell["id"], cell["source"])} for cell in CELLS]
    cells[1:1] = [code(f"own-{place}", source) for place, source in enumerate(own)]
    notebook: list[NotebookNode] = [from_dict(cell) for cell in cells]
    return set(known_outcomes(notebook, BLANK, {}, ["torch", "math"]))


def test_an_exercise_that_is_left_is_known_whatever_stands_in_the_others() -> None:
    """An answer that is written takes its own check, and all that reads it, out of what is known."""
    assert known() == CHECKS
    assert known("x = [1, 2]\nprint(x)") == CHECKS
    assert known(second="def second(x):\n    return first(x)") == {"check_first"}
    assert known(first="class first:\n    def __init__(self, x):\n        self.x = x") == {"check_second"}


@pytest.mark.parametrize(
    "own",
    [
        "def define():\n    global first\n    first = abs\ndefine()",
        "first.__code__ = (lambda x: x).__code__",
        "torch.ones = None",
        "math = 3",
        "globals()['fir' + 'st'] = abs",
        "exec('first = abs')",
        "import sys\nsys.modules['__main__'].first = abs",
        "from somewhere import *",
        "%run other.py",
        "setattr(torch, 'ones', 1)",
        "def f(:",
    ],
)
def test_a_cell_that_may_change_what_others_mean_is_run(own: str) -> None:
    """Whoever reaches for names in another way than binding them has everything run."""
    assert known(own) == set()


def test_a_name_that_a_given_cell_reads_is_followed() -> None:
    """A check that reads a given function reads what that one reads, too."""
    assert known("scale = 3") == {"check_second"}


def test_blank_hand_ins_come_to_the_same_and_start_no_process(server: GradingServer) -> None:
    """But for time and memory, what is known of a blank and of a half-done hand-in is as it would be if all ran."""
    released = read_notebook(ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb")
    exercises = Lesson(LESSON, read_notebook(SOURCE)).exercises
    blank = json.dumps(submission(released, {})).encode()
    half = json.dumps(submission(released, solved(exercises[:2]))).encode()

    def grade(submitted: bytes, source: bytes) -> Result:
        result = server.grade("student", LESSON, source, submitted, Limits())
        checks = tuple(replace(check, seconds=0.0) for check in result.checks)
        return replace(result, checks=checks, seconds=0.0)

    lesson, same_lesson = prepared(SOURCE), prepared(SOURCE) + b" "
    ran, half_known, known_blank = grade(blank, lesson), grade(half, lesson), grade(blank, lesson)
    half_ran = grade(half, same_lesson)
    assert {check.status for check in ran.checks} == {Status.NOT_ATTEMPTED}
    assert ran.peak_bytes and not known_blank.peak_bytes
    assert known_blank == replace(ran, peak_bytes=0)
    assert half_ran.score
    assert replace(half_known, peak_bytes=0) == replace(half_ran, peak_bytes=0)
