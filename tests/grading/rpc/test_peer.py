"""The judge's and the student's side of the bridge leave each other as they were."""

import os
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch

from autograder import check, parts
from autograder.check._errors import CheckFailed
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.worker import judge_peer
from autograder.grading.worker.judge_peer import JudgePeer
from autograder.grading.worker.outputs import Allowance, outputs_from
from autograder.grading.worker.student import Student


@pytest.fixture
def student() -> Iterator[JudgePeer]:
    """A judge's way to a student's process whose cells are plain Python."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            scope = {"torch": torch}
            shell = SimpleNamespace(user_ns=scope, page=None, forget_failure=lambda: None)
            shell.run = lambda source, store_history: exec(source, scope)
            Student(Channel(theirs), shell, 1000).serve()
        finally:
            os._exit(0)
    theirs.close()
    peer = JudgePeer(Channel(ours))
    yield peer
    peer.channel.close()
    os.waitpid(child, 0)


ANSWERS = """
def helper(): return "the student's"
def draw(): return helper(), torch.rand(1).item()
def seeds(): torch.manual_seed(7)
def widens(): torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
"""


def test_an_exercise_leaves_the_cells_as_they_were(student: JudgePeer) -> None:
    """Its seed, its dtype and its neighbours are there as long as it lasts; what an answer changes of them is told."""
    student.request("cell", ANSWERS)
    (draw,), (seeds,), (widens,) = student.request("names", "draw", "seeds", "widens")
    own = torch.rand(2, generator=torch.Generator().manual_seed(3)).tolist()
    fresh = torch.rand(1, generator=torch.Generator().manual_seed(check.SEED)).item()
    for _ in range(2):
        with student.exercise({"helper": parts.padding_mask, "torch": torch}):
            assert student.shared_state() == (True, torch.float32, check.SEED)
        with student.exercise({"helper": lambda: "the check's"}):
            assert draw() == ("the check's", fresh)
            assert student.shared_state() == (True, torch.float32, check.SEED)
    with student.exercise({}):
        seeds(), widens()
        assert student.shared_state() == (True, torch.float64, 7)
    assert draw() == ("the student's", own[0])
    with student.exercise({}):
        assert draw() == ("the student's", fresh)
    student.request("cell", "drawn = draw()[1], torch.get_default_dtype()")
    assert student.request("names", "drawn") == ([(own[1], torch.float32)],)


@pytest.mark.parametrize(
    "write",
    [
        "earlier.zero_()",
        "earlier.data.mul_(0)",
        "earlier.numpy()[:] = 0",
        "earlier.data = torch.zeros(5)",
        "torch.as_strided(earlier, (1,), (1,), 2).fill_(9)",
        "threading.Thread(target=earlier.zero_).start(), time.sleep(0.1)",
    ],
)
def test_what_was_given_earlier_stays_as_it_was(student: JudgePeer, write: str) -> None:
    """Whatever the way of writing into it, the judge's tensor keeps its numbers, and the check fails."""
    source = f"""
import threading, time
had = []
def tampers(x):
    for earlier in had: {write}
    had.append(x)
    return x + 1
"""
    student.request("cell", source)
    ((tampers,),) = student.request("names", "tampers")
    first, second = torch.arange(3.0), torch.ones(3)
    with student.exercise({}):
        assert torch.equal(tampers(first), first + 1)
        with pytest.raises(CheckFailed, match="given in an earlier call"):
            tampers(second)
        assert torch.equal(first, torch.arange(3.0)) and torch.equal(second, torch.ones(3))


def test_what_is_given_now_may_be_written_into(student: JudgePeer) -> None:
    """So may what is given again, and writing the numbers that stand there already changes nothing."""
    source = """
had = []
def adds(x):
    for earlier in had: earlier.copy_(earlier.clone())
    had.append(x)
    return x.add_(1).sum()
"""
    student.request("cell", source)
    ((adds,),) = student.request("names", "adds")
    first, second = torch.tensor([1.0, torch.nan]), torch.ones(3)
    with student.exercise({}):
        for x in (first, second, first):
            adds(x)
    assert first[0] == 3 and second.tolist() == [2, 2, 2]


@pytest.mark.parametrize("asked", ["function(large)", "function(large.clone())"])
def test_the_judge_holds_no_more_than_one_may_ask_for(
    student: JudgePeer, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """What it lends, called again and again within one call, fills no memory: the process is given up before."""
    monkeypatch.setattr(judge_peer, "MOST_HELD", 2**26)
    source = f"""
def asks(function, times):
    large = torch.zeros(2**20)
    for _ in range(times): {asked}
"""
    student.request("cell", source)
    ((asks,),) = student.request("names", "asks")
    with student.exercise({}):
        asks(lambda x: 2 * x, 3)
        with pytest.raises(Lost, match="too much"):
            asks(lambda x: 2 * x, 100)


def test_half_a_character_that_a_cell_prints_costs_nothing(student: JudgePeer) -> None:
    """It is shown as the question mark that a file would hold."""
    (output,) = outputs_from(student.request("cell", "print('a\\ud800')"), Allowance(1000))
    assert output.text == "a?\n"


def test_a_tensor_is_differentiated_by_once(student: JudgePeer) -> None:
    """Of each tensor that a call is differentiated by the judge makes a copy, and of none a hundred."""
    source = """
def asks(function):
    x = torch.zeros(1)
    function._caller.request("call", function._number, None, (x,), {}, (x, x), [False, False], [])
"""
    student.request("cell", source)
    ((asks,),) = student.request("names", "asks")
    with student.exercise({}), pytest.raises(Lost, match="no sources"):
        asks(lambda x: x)
