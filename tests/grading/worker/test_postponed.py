"""Slow imports wait until a submission needs them, and later ones find them done."""

import copy
import json
import subprocess
import sys

from nbformat.v4 import new_code_cell
from support.classroom import ROOT

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import solved, submission
from autograder.grading.jobs import prepared
from autograder.grading.results import Limits
from autograder.grading.worker.client import GradingServer

STEPS = """
import sys, torch
from autograder.grading.worker import postponed
postponed.postpone()
layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.5)
before = layer.bias.clone()
layer(torch.ones(1, 2)).sum().backward()
optimizer.step()
assert not torch.equal(layer.bias, before)
print(*postponed.loaded(), "sympy" in sys.modules)
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    x = torch.ones(2, 2, device="cuda")
    print((x @ x).device, *postponed.loaded() & {postponed.COMPILER})
x = torch.ones(1, 2)
assert torch.equal(torch.compile(layer, backend="eager")(x), layer(x))
postponed.load(["torch.distributed.tensor", "os"])
print(*sorted(postponed.loaded()))
"""


def test_it_waits_until_something_needs_it() -> None:
    """An optimizer steps, and a product without numbers is computed, without the compiler; who compiles finds it."""
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["False", "cuda:0", "torch._dynamo torch.distributed.tensor"], done.stderr


def test_what_one_submission_needed_is_there_for_the_next() -> None:
    """A mask is made of tensors without numbers; a student's process that is forked later finds the import done."""
    name = "01_attention"
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    released = read_notebook(ROOT / "notebooks" / name / f"{name}.ipynb")
    right = submission(released, solved(Lesson(name, read_notebook(path)).exercises))
    looking = copy.deepcopy(released)
    looking.cells.insert(0, new_code_cell("import sys\nprint('torch.distributed.tensor' in sys.modules)"))
    seen = []
    with GradingServer() as server:
        for handed_in in (looking, right, looking):
            submitted = json.dumps(handed_in).encode()
            result = server.grade("ann", name, prepared(path), submitted, Limits(cell_seconds=20))
            outputs = [output for cell in json.loads(result.notebook)["cells"] for output in cell.get("outputs", ())]
            seen.append((outputs[0]["text"].partition(":")[0].strip(), result.score))
    assert seen == [("False", 0.0), ("Ready", 20.0), ("True", 0.0)]
