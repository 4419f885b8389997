"""A server that grades: its limits hold, whatever it inherited from who started it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from support.sample_lesson import code, sample_lesson

from autograder.grading.results import Limits, NoteKind, Result
from autograder.grading.worker.client import GradingServer

BRIEF = Limits(cell_seconds=1, submission_seconds=60)


@pytest.fixture(scope="module")
def server() -> Iterator[GradingServer]:
    """One server for all tests, started where an interrupt is ignored, as in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        started = GradingServer()
        started.start()
    finally:
        signal.signal(signal.SIGINT, before)
    with started:
        yield started


def grade(server: GradingServer, *cells: dict[str, Any]) -> Result:
    """Grade the solved sample lesson with these cells, in place of those of their names and else at its end."""
    source, names = sample_lesson(), {cell["id"] for cell in cells}
    submitted = {**source, "cells": [cell for cell in source["cells"] if cell["id"] not in names] + list(cells)}
    return server.grade("ann", "01_doubling", json.dumps(source).encode(), json.dumps(submitted).encode(), BRIEF)


@pytest.mark.parametrize(
    ("module", "large"),
    [("client", {"torch", "nbformat", "nbgrader"}), ("judge", {"nbgrader", "sqlalchemy"}), ("shell", {"nbgrader"})],
)
def test_nothing_large_is_imported_in_vain(module: str, large: set[str]) -> None:
    """Who starts the server imports nbgrader while that warms up; the server never does, nor whoever it forks."""
    code = f"import sys, autograder.grading.worker.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not large & set(done.stdout.split())


def test_the_solution_has_full_points(server: GradingServer) -> None:
    """The sample lesson's own answers pass, without a note."""
    result = grade(server)
    assert (result.score, result.max_score, result.notes) == (4, 4, ())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("return 0", "✗ `double(2) == 4` does not hold."),
        ("raise MemoryError", "✗ `double` raised MemoryError."),
        ("assert x is None", "✗ `double` raised AssertionError."),
    ],
)
def test_a_check_that_fails_without_words_says_so(server: GradingServer, line: str, says: str) -> None:
    """A bare `assert` shows its line, unless that is hidden, and an error its kind: no points are lost in silence."""
    result = grade(server, code("double", f"def double(x):\n    {line}", solution=True))
    assert next(check.message for check in result.checks if check.check == "check_double").startswith(says)


def test_a_cell_is_interrupted_where_interrupts_were_ignored(server: GradingServer) -> None:
    """An endless cell is interrupted and its process goes on, so that a later cell finds earlier names."""
    endless, later = code("endless", "kept = 1\nwhile True:\n    pass"), code("later", "print(kept)")
    result = grade(server, endless, later)
    notes = [note.text for note in result.notes if note.kind is NoteKind.RUN]
    assert notes == ["The cell that begins with `kept = 1` was interrupted after 1 seconds."]
    cells = {cell["id"]: cell for cell in json.loads(result.notebook)["cells"]}
    assert [output["text"] for output in cells["later"]["outputs"]] == ["1\n"]
    assert result.score == 4


def test_a_copy_of_a_given_cell_runs_where_something_needs_it(server: GradingServer) -> None:
    """A copied import mends what was deleted; a copied figure or training takes no time that the original would not."""
    mended = [code("gone", "del math"), code("setup_again", "import math"), code("later", "print(math.pi > 3)")]
    result = grade(server, *mended, code("try_again", "double(21)"), code("own", "double(21)  # mine"))
    outputs = {cell["id"]: cell.get("outputs") for cell in json.loads(result.notebook)["cells"]}
    assert outputs["later"][0]["text"] == "True\n" and outputs["try_again"] == [] and outputs["own"] != []
    assert result.score == 4


def test_a_cell_that_ends_python_costs_itself_alone(server: GradingServer) -> None:
    """Another process runs what had run, and the checks behind."""
    result = grade(server, code("ending", "import os\nos._exit(0)"), code("later", "print(double(21))"))
    cells = {cell["id"]: cell for cell in json.loads(result.notebook)["cells"]}
    assert cells["ending"]["outputs"][0]["ename"] == "Ended"
    assert [output["text"] for output in cells["later"]["outputs"]] == ["42\n"]
    assert result.score == 4


def test_code_is_shown_as_far_as_a_page_can_take_it(server: GradingServer) -> None:
    """The time to colour a line grows with the square of its length: long lines and very much code run, and are cut."""
    many = [code(f"many_{place}", "x = 1\n" * 16_000) for place in range(6)]
    result = grade(
        server, code("wide", f"y = len({'1' * 20_000!r}) - 19_998"), *many, code("later", "print(double(y))")
    )
    cells = {cell["id"]: cell for cell in json.loads(result.notebook)["cells"]}
    shown = {name: cell["source"] for name, cell in cells.items() if name == "wide" or name.startswith("many_")}
    assert max(len(line) for source in shown.values() for line in source.splitlines()) < 1100
    assert 380_000 < sum(map(len, shown.values())) < 402_000 and "see what was handed in" in shown["many_5"]
    assert [output["text"] for output in cells["later"]["outputs"]] == ["4\n"] and "double(y)" not in cells["later"][
        "source"
    ]
    assert result.score == 4


def test_a_cell_that_is_too_long_is_said_to_be(server: GradingServer) -> None:
    """A cell of more letters than a message may hold is not run, says so, and costs itself alone."""
    result = grade(server, code("long", f"kept = {'1' * 100_000!r}"), code("later", "print(double(21))"))
    cells = {cell["id"]: cell for cell in json.loads(result.notebook)["cells"]}
    (said,) = [note.text for note in result.notes]
    cell = f"The cell that begins with `kept = '{'1' * 32}`"
    assert said == f"{cell} was not run: it has 100,009 letters, more than 100,000. Shorten it."
    assert cells["long"]["outputs"][0]["ename"] == "NotRun"
    assert [output["text"] for output in cells["later"]["outputs"]] == ["42\n"]
    assert result.score == 4
