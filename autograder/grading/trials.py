"""Hostile submissions for `autograder doctor`: one of each kind, through the engine as it is, on this machine.

The lesson that they are handed in for is made here, so that no course has to be at hand.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.jobs import read_job
from autograder.grading.results import Limits, Result, Status
from autograder.grading.worker.client import GradingServer

LESSON = "trial"
LIMITS = Limits(cell_seconds=4, submission_seconds=40, memory_bytes=2**30, file_bytes=2**24)
SETUP = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nfrom autograder import check"
RIGHT = {
    "doubled": "def doubled(x):\n    return 2 * x",
    "Ramp": dedent("""
        class Ramp(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.layer = nn.Linear(size, size)

            def forward(self, x):
                return self.layer(x).relu()
    """).strip(),
}
CHECKS = {
    "check_doubled": dedent("""
        @check.exercise("1.1 doubled")
        def twice_is_what_comes_back():
            first, second = torch.randn(3, 4), torch.randn(3, 4)
            for x, expected in ((first, 2 * first), (second, 2 * second)):
                check.close("doubled(x)", doubled(x), expected)
    """).strip(),
    "check_Ramp": dedent("""
        @check.exercise("1.2 Ramp")
        def its_output_is_that_of_its_weights():
            ramp, x = Ramp(4), torch.randn(3, 4)
            expected = F.linear(x, ramp.layer.weight, ramp.layer.bias).relu()
            check.parameters("ramp", ramp, {"layer.weight": (4, 4), "layer.bias": (4,)})
            check.close("ramp(x)", ramp(x), expected)
    """).strip(),
}
POINTS = 2.0  # of each check


@dataclass(frozen=True)
class Trial:
    """One submission, and what must come of it."""

    name: str  # what is tried, as `doctor` says it
    kept: str  # what holds, where it does
    answers: Mapping[str, str]  # answer cell → its source, which earns nothing; all others are right
    cells: tuple[str, ...] = ()  # own cells, before the answers
    holds: Callable[[Result], bool] = lambda result: not result.reason  # what else must be true of the result
    depth: int = 0  # of folders in folders that lie beside the notebook, a file in the last


def _code(name: str, source: str, **nbgrader: Any) -> Any:
    flags = {"grade": False, "solution": False, "locked": False, "schema_version": 3, "grade_id": name}
    return new_code_cell(source, id=name, metadata={"nbgrader": {**flags, **nbgrader}} if nbgrader else {})


def _notebook(answers: Mapping[str, str], cells: tuple[str, ...] = ()) -> bytes:
    """A notebook of the lesson with these answers."""
    own = [_code(f"own_{place}", source) for place, source in enumerate(cells)]
    made = [_code("setup", SETUP), *own]
    made += [_code(name, source, solution=True) for name, source in answers.items()]
    made += [_code(name, source, grade=True, locked=True, points=POINTS) for name, source in CHECKS.items()]
    return json.dumps(new_notebook(cells=made)).encode()


def _shows_text_alone(result: Result) -> bool:
    """Nothing of the graded notebook can act in a browser."""
    cells = json.loads(result.notebook)["cells"]
    outputs = [output for cell in cells if cell["id"].startswith("own_") for output in cell.get("outputs", [])]
    return bool(outputs) and all(set(output.get("data", {})) <= {"text/plain"} for output in outputs)


TRIALS = (
    Trial("a right submission", "it has all its points", {}),
    Trial("folders in folders beside the notebook", "it is graded all the same", {}, depth=100),
    Trial(
        "HTML, JavaScript and SVG as output",
        "they stand there as text",
        {},
        cells=(
            "from IPython.display import HTML, SVG, Javascript, display\n"
            "display(HTML('<script>alert(1)</script>'), Javascript('alert(2)'), SVG('<svg onload=\"alert(3)\"/>'))",
        ),
        holds=_shows_text_alone,
    ),
    Trial(
        "inputs of earlier calls that are overwritten",
        "no points for it",
        {
            "doubled": "given = []\n\ndef doubled(x):\n    for earlier in given:\n        earlier.zero_()\n"
            "    given.append(x)\n    return 2 * x"
        },
    ),
    Trial(
        "zeros for weights, hidden from PyTorch",
        "no points for it",
        {
            "Ramp": RIGHT["Ramp"] + "\n\n\nclass Ramp(Ramp):\n    def __init__(self, *args):\n"
            "        super().__init__(*args)\n        for parameter in self.parameters():\n"
            "            parameter.data.zero_()\n        self.__dict__.update(self._modules)\n"
            "        self._modules.clear()"
        },
    ),
    Trial(
        "a check that is patched, and torch.allclose with it",
        "no points for it",
        {"doubled": "def doubled(x):\n    return x"},
        cells=(
            "check.close = lambda *args, **kwargs: None\ntorch.allclose = torch.equal = lambda *args, **kwargs: True",
        ),
    ),
    Trial(
        "a loop without an end",
        "it is stopped, and the others have their points",
        {"doubled": "def doubled(x):\n    while True:\n        pass"},
    ),
    Trial(
        "more memory than there is",
        "it is refused, and the others have their points",
        {"doubled": "def doubled(x):\n    return torch.ones(2**40)"},
    ),
    Trial(
        "a process that ends itself",
        "the others have their points",
        {"doubled": "import os\n\ndef doubled(x):\n    os._exit(0)"},
    ),
    Trial(
        "ten thousand magics in a cell",
        "it is bounded",
        {"doubled": "%time 1\n" * 10_000 + "def doubled(x):\n    return 2 * x"},
        holds=lambda result: result.seconds < LIMITS.submission_seconds,
    ),
)


def tried(warm: GradingServer) -> Iterator[tuple[Trial, str]]:
    """Grade each submission, and yield it with what is wrong about its result; "" where all is as it must be."""
    source = _notebook(RIGHT)
    for trial in TRIALS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / f"{LESSON}.ipynb").write_bytes(_notebook({**RIGHT, **trial.answers}, trial.cells))
            if trial.depth:
                place = folder.joinpath(*["deep"] * trial.depth)
                place.mkdir(parents=True)
                (place / "end.txt").write_text("end")
            yield trial, _wrong(trial, read_job(folder, "somebody", LESSON, source, LIMITS).run(warm))


def _wrong(trial: Trial, result: Result) -> str:
    expected = {check: POINTS for check in CHECKS if check.removeprefix("check_") not in trial.answers}
    earned = {check.check: check.points for check in result.checks if check.status is Status.PASSED}
    if earned != expected:
        said = f" ({result.reason})" if result.reason else ""
        return f"it earns {earned or 'nothing'}, not {expected}{said}"
    return "" if trial.holds(result) else "its result is not what it must be"
