"""Across the bridge answers behave as they do here, and nothing that comes over it can do more than be wrong."""

from __future__ import annotations

import json
import math
import os
import random
import socket
import struct
import weakref
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from matrix import exercises, graded, right_answers, source, wrong_answers
from support import two_processes
from support.classroom import classroom
from torch import nn

from autograder import check, parts
from autograder.check._errors import CheckFailed
from autograder.grading.rpc.channel import MOST_HEADER, Channel, Lost
from autograder.grading.rpc.codec import MOST_ITEMS
from autograder.grading.rpc.peer import Peer
from autograder.grading.submission.dependencies import unneeded
from autograder.grading.worker.judge_peer import JudgePeer, RemoteAnswers
from autograder.grading.worker.student import Student

EVERY = 4  # answer of the tables; all of them take six minutes
OTHERWISE = {  # told otherwise across the bridge
    *("sampling at low temperature", "dropout at a fixed rate", "new layers on every call"),  # luck decides
    "in place on x in train only when no grad",  # an input that is written into does not take the graph along
    "cached by shape",  # a tensor without numbers that an answer has kept is another error there
}


@pytest.mark.parametrize(("lesson", "exercise"), exercises(), ids=lambda each: each)
def test_verdicts_and_words_are_those_of_a_students_own_notebook(lesson: str, exercise: str) -> None:
    """Answers, right and wrong ones, are told the same by the same checks, wherever they are.

    Messages that hold a random number may differ in it.
    """
    tables = wrong_answers(lesson, exercise), right_answers(lesson, exercise)
    for answer in [each for table in tables for each in table[::EVERY]]:
        if getattr(answer, "what", "") in OTHERWISE:
            continue
        outcomes = two_processes.grade(classroom(lesson), {exercise: source(lesson, answer)}, exercise)
        for here, there in zip(graded(lesson, answer), outcomes, strict=True):
            assert here.passed == (there.status == "passed"), (answer, there.message, here.error)
            if not here.passed:
                assert first_words(there.message) == first_words(str(here.error)), answer


def first_words(message: str) -> str:
    """The verdict and the rule of a message, without the numbers between them."""
    lines = [line for line in message.splitlines() if line.startswith(("✗", "Rule"))]
    return " ".join(word for line in lines for word in line.split() if not any(map(str.isdigit, word)))


class Attention(nn.Module):
    """A module of the far side."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.drop = nn.Linear(width, width), nn.Dropout(0.5)
        self.register_buffer("table", torch.arange(3.0))
        self.kept, self.calls = None, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Twice the layer."""
        self.calls, self.kept = self.calls + 1, self.inner(x).detach()
        return 2 * self.inner(x)

    def shifted(self, x: torch.Tensor) -> torch.Tensor:
        """A method beside `forward`."""
        return x + self.table


class Careless(nn.Module):
    """A module of the near side, which no copy of it elsewhere could stand for."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.modes = nn.Parameter(torch.tensor(3.0)), []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scale, and note in which mode."""
        self.modes.append((self.training, torch.is_grad_enabled()))
        return self.scale * x


def written_into(x):
    x += 1
    return x


def learn(model, optimizer, x):
    model.train()
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.25
    return loss.item()


def fails(kind):
    raise kind("what went wrong")


KEPT = torch.zeros(3)
THERE = {
    "Attention": Attention,
    "average": lambda query, key: (query @ key.T).softmax(-1) @ key,
    "apply": lambda function, x: function(x) + x,
    "written_into": written_into,
    "keep": lambda x: KEPT.copy_(x),
    "learn": learn,
    "same": lambda *values: values if len(values) > 1 else values[0],
    "fails": fails,
    "take": lambda iterator: [next(iterator), next(iterator)],
    "turned": lambda part, training: part.train(training) and None,
    "inner_turned": lambda model, training: model.inner.train(training) and None,
    "dropping": lambda part, rate: setattr(part, "p", rate),
    "known": lambda model: (model.training, model.inner.training, model.drop.p),
    "quiet": lambda x: torch.set_grad_enabled(False) and None,
}


@pytest.fixture
def there() -> Iterator[dict[str, object]]:
    """The names of another process, as mirrors."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            far = Peer(Channel(theirs), judge=False)
            far.operations["names"] = lambda *names: tuple(THERE[name] for name in names)
            far.operations["held"] = lambda: (len(far.mine), len(far.states))
            while True:
                far.answer(far.receive())
        finally:
            os._exit(0)
    theirs.close()
    peer = Peer(Channel(ours), judge=True)
    yield {"peer": peer, **dict(zip(THERE, peer.request("names", *THERE), strict=True))}
    peer.channel.close()
    os.waitpid(child, 0)


@pytest.fixture
def student() -> Iterator[JudgePeer]:
    """A judge's way to a student's process whose cells are plain Python."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            scope = {"torch": torch}
            plain = SimpleNamespace(user_ns=scope, page=None, forget_failure=lambda: None)
            plain.run = lambda source, store_history: exec(source, scope)
            Student(Channel(theirs), plain, 1000).serve()
        finally:
            os._exit(0)
    theirs.close()
    peer = JudgePeer(Channel(ours))
    yield peer
    peer.channel.close()
    os.waitpid(child, 0)


def test_a_result_can_be_differentiated(there) -> None:
    """Gradients are those of the same function here."""
    query, key = (torch.randn(3, 4, dtype=torch.double, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(there["average"], (query, key))
    got = torch.autograd.grad(there["average"](query, key).pow(2).sum(), (query, key))
    wanted = torch.autograd.grad(THERE["average"](query, key).pow(2).sum(), (query, key))
    assert all(map(torch.allclose, got, wanted))


def test_a_function_that_was_handed_in_is_called_back_and_differentiated(there) -> None:
    """The gradient goes through the far side and back into a closure of this one."""
    weight, x = torch.tensor(2.0, requires_grad=True), torch.ones(3, requires_grad=True)
    result = there["apply"](lambda y: weight * y * y, x)
    assert torch.equal(result, torch.full((3,), 3.0))
    assert torch.equal(torch.autograd.grad(result.sum(), x)[0], torch.full((3,), 5.0))


def test_a_module_is_there_with_its_parameters_and_its_state(there) -> None:
    """Parameters, parts, buffers, modes, attributes and methods; a change on either side is one on both."""
    module = there["Attention"](4)
    assert isinstance(module, nn.Module)
    assert type(module.inner) is nn.Linear
    assert list(module.state_dict()) == ["table", "inner.weight", "inner.bias"]
    x = torch.randn(2, 4)
    assert torch.allclose(module(x), 2 * module.inner(x))
    assert module.calls == 1
    assert torch.allclose(module.kept, module.inner(x))
    with torch.no_grad():
        module.inner.weight.zero_(), module.inner.bias.fill_(1.0), module.table.fill_(5.0)
    assert torch.equal(module(x), torch.full((2, 4), 2.0))
    assert torch.equal(module.shifted(torch.zeros(3)), torch.full((3,), 5.0))
    (gradient,) = torch.autograd.grad(module(x).sum(), module.inner.bias)
    assert torch.equal(gradient, torch.full((4,), 4.0))
    assert module.double()(x.double()).dtype == torch.double
    with pytest.raises(AttributeError, match="'Attention' object has no attribute 'outer'"):
        _ = module.outer


def test_what_changes_here_or_there_is_seen_on_the_other_side(there) -> None:
    """Inputs that are written into, results that are written over later."""
    x = torch.zeros(2)
    there["written_into"](x)
    assert torch.equal(x, torch.ones(2))
    first = there["keep"](torch.tensor([1.0, 2.0, 3.0]))
    there["keep"](torch.tensor([4.0, 5.0, 6.0]))
    assert torch.equal(first, torch.tensor([4.0, 5.0, 6.0]))


def test_a_model_of_ours_is_trained_there(there) -> None:
    """Mode, gradients, parameters and the optimizer's options come back."""
    for model in (Careless(), nn.Sequential(nn.Linear(1, 1, bias=False), nn.Dropout(0.0))):
        parameter = next(model.parameters())
        before = parameter.detach().clone()
        optimizer = torch.optim.SGD(model.eval().parameters(), lr=0.5)
        there["learn"](model, optimizer, torch.ones(1, 1))
        assert torch.allclose(parameter.detach(), before - 0.5)
        assert model.training
        assert optimizer.param_groups[0]["lr"] == 0.25
    assert Careless().modes == []


def test_errors_keep_their_class_and_their_words(there) -> None:
    """Python's own, and those that only the other side has."""
    for kind in (ValueError, KeyError, NotImplementedError):
        with pytest.raises(kind, match="what went wrong"):
            there["fails"](kind)
    with pytest.raises(RuntimeError, match="what went wrong") as caught:
        there["fails"](KeyboardInterrupt)
    assert type(caught.value).__name__ == "KeyboardInterrupt"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -7,
        2.5,
        math.inf,
        "ü ✓",
        (1, [2, (3,)]),
        {"a": [1], 2: None},
        {1, 2},
        slice(1, None, 2),
        torch.float64,
    ],
    ids=repr,
)
def test_plain_values_cross_both_ways(there, value) -> None:
    """And come back as what they were."""
    assert there["same"](value) == value
    assert type(there["same"](value)) is type(value)


@pytest.mark.parametrize("dtype", [torch.bool, torch.long, torch.uint8, torch.bfloat16, torch.float64, torch.complex64])
def test_tensors_cross_whatever_their_layout(there, dtype) -> None:
    """Transposed, expanded, empty, without dimensions, a single element with a strange stride."""
    whole = torch.arange(24).view(2, 3, 4).to(dtype)
    shapes = [whole, whole.transpose(0, 2), whole[:, 1], whole[:1].expand(3, 3, 4), whole[:0], whole[0, 0, 1]]
    for x in [*shapes, whole[:, :, -1:][:1, :1], whole.permute(2, 0, 1)[1:, :, ::2]]:
        assert there["same"](x) is x
        got = there["apply"](lambda y: y.clone(), x) if dtype != torch.bool else there["same"](x)
        assert got.shape == x.shape
        assert got.dtype == x.dtype


def test_parts_of_the_course_and_iterators_are_what_they_are(there) -> None:
    """A finished part is the very same on both sides; an iterator is asked item by item."""
    assert there["same"](parts.padding_mask) is parts.padding_mask
    numbers = iter(range(100))
    assert there["take"](numbers) == [0, 1]
    assert next(numbers) == 2


def test_gradients_switched_off_there_are_off_here(there) -> None:
    """So that a check can say it."""
    there["quiet"](torch.ones(1))
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


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
    home = RemoteAnswers(student)
    own = torch.rand(2, generator=torch.Generator().manual_seed(3)).tolist()
    fresh = torch.rand(1, generator=torch.Generator().manual_seed(check.SEED)).item()
    for _ in range(2):
        with home.exercise({"helper": parts.padding_mask, "torch": torch}):
            assert home.shared_state() == (True, torch.float32, check.SEED)
        with home.exercise({"helper": lambda: "the check's"}):
            assert draw() == ("the check's", fresh)
            assert home.shared_state() == (True, torch.float32, check.SEED)
    with home.exercise({}):
        seeds(), widens()
        assert home.shared_state() == (True, torch.float64, 7)
    assert draw() == ("the student's", own[0])
    with home.exercise({}):
        assert draw() == ("the student's", fresh)
    student.request("cell", "drawn = draw()[1], torch.get_default_dtype()")
    assert student.request("names", "drawn") == ([(own[1], torch.float32)],)


def test_a_change_of_mode_crosses_as_a_number_and_a_flag(there: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways, and in the parts; nothing else of a module is told again."""
    model, sent, send = there["Attention"](3), [], Channel.send

    def noted(channel: Channel, header: dict, blobs: list) -> None:
        sent.append(header)
        send(channel, header, blobs)

    monkeypatch.setattr(Channel, "send", noted)
    rested = model.eval()(torch.ones(2, 3))
    assert torch.equal(rested, model(torch.ones(2, 3)))
    assert [len(header["modes"]) for header in sent] == [3, 0]
    assert not any(header["modules"] for header in sent)
    assert there["same"](model) is model
    there["learn"](model, torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(2, 3))
    assert model.training and model.inner.training and model.drop.training


def test_a_change_that_is_taken_back_is_seen_on_the_other_side(there: dict) -> None:
    """Also where the one was told of with the whole model, and the other with a part of it."""
    model, x, none = there["Attention"](3), torch.ones(2, 3), 0.0
    model(x)
    model.eval()
    there["turned"](model, True)
    assert model.training and model.inner.training
    there["turned"](model.inner, False)
    assert model.training and not model.inner.training
    there["inner_turned"](model, True)
    assert model.inner.training
    there["turned"](model.inner, False)
    model.inner.train()
    model.drop.p = none
    assert there["known"](model) == (True, True, 0.0)
    there["dropping"](model.drop, 0.25)
    assert model.drop.p == 0.25
    model.drop.p = none
    assert there["known"](model) == (True, True, 0.0)


def test_numbers_and_texts_that_json_does_not_know_cross(there: dict) -> None:
    """What is not finite stays so; half a character, which no file takes, becomes a question mark."""
    same = there["same"]
    assert math.isnan(same(math.nan)) and math.isnan(same(np.float32("nan")))
    assert same((-math.inf, np.float64("inf"))) == (-math.inf, math.inf)
    assert type(same(np.float64("inf"))) is np.float64
    assert same("\ud800\x00 ü") == "?\x00 ü"
    model = there["Attention"](3)
    model.drop.p = math.inf
    assert there["known"](model)[2] == math.inf


def test_modules_that_nobody_holds_are_let_go_on_both_sides(there: dict) -> None:
    """Those that are held, and parts of others that are, live on and can be called and changed."""
    peer, x = there["peer"], torch.ones(2, 3)
    kept, model = there["Attention"](3), there["Attention"](3)
    before, part, gone = kept(x), model.inner, weakref.ref(model)
    model(x).sum().backward()
    functions, states = peer.request("held")
    assert states == 6
    del model
    peer.let_go()
    assert gone() is None
    assert peer.request("held") == (functions - 2, 4)
    with torch.no_grad():
        kept.inner.weight.zero_(), part.weight.zero_()
    assert torch.equal(part(x), part.bias.expand(2, 3))
    assert not torch.equal(kept(x), before)
    assert torch.equal(kept(x), 2 * kept.inner.bias.expand(2, 3))
    assert there["same"](part) is part


def test_a_large_number_of_tensors_is_refused(there: dict) -> None:
    """A tuple of tensors counts as many things as it holds."""
    with pytest.raises(CheckFailed, match="too many things"):
        there["same"](*[torch.ones(())] * (MOST_ITEMS + 1))


def replies(seed: int) -> Iterator[bytes]:
    """Frames that a hostile process could send: nearly right ones, changed at random."""
    draw = random.Random(seed)
    tensor = [-1, "float32", [2], None, False, False, False]
    module = [-2, [None, "M", "", ["forward"]], [True, {"a": 1}, {"w": None}, {"b": [-1, False, False]}, {"c": None}]]
    header = {"op": "ok", "n": 1, "v": ["t", [["T", -1], ["m", -2]]], "grad": True, "out": "", "tensors": [tensor]}
    header |= {"modules": [module], "modes": [[-2, False]], "optimizers": [], "unused": [], "ended": []}
    header |= {"left": ["float32", 5]}
    odd = [None, -1, 10**30, 1e308, "x", "", [], {}, [[]], ["T", 5], ["f", 1, "f", None], ["m", -1], ["known", "x"]]
    odd += [["class", -3, "C", ["x"], [["a", 9, []]]], ["slice", 1], ["array", "d", [9], ["T", -1]], ["error"], True]
    odd += [["back", 3], ["optimizer", -5, "Adam", [[[], {}]]], ["d", [[[], 1]]], ["set", [["l", []]]], ["dtype", "o"]]
    for _ in range(400):
        changed = json.loads(json.dumps(header))
        for _ in range(draw.randint(1, 3)):
            spot = changed
            while isinstance(spot, dict | list) and spot:
                key = draw.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
                if draw.random() < 0.4 or not isinstance(spot[key], dict | list):
                    spot[key] = json.loads(json.dumps(draw.choice(odd)))
                    break
                spot = spot[key]
        text, blob = json.dumps(changed).encode(), bytes(draw.choice([0, 4, 16, 64]))
        yield struct.pack(">4sII", b"judg", len(text), len(blob)) + text + blob


@pytest.mark.parametrize("seed", range(5))
def test_no_reply_can_do_more_than_be_refused_or_believed(seed: int) -> None:
    """Whatever comes, a value is returned, the other side's error is raised, or the other side is given up."""
    ends = {"believed": 0, "lost": 0}
    for frame in replies(seed):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(frame), theirs.shutdown(socket.SHUT_WR)
            try:
                Peer(Channel(ours), judge=True).request("names")
                ends["believed"] += 1
            except Lost:
                ends["lost"] += 1
    assert min(ends.values()) > 10


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n" * 9,
        b"\0" * 64,
        struct.pack(">4sII", b"judg", 2**31, 0),
        struct.pack(">4sII", b"judg", 4, 2**31) + b"null",
        struct.pack(">4sII", b"judg", 8, 0) + b"nonsense",
        struct.pack(">4sII", b"judg", MOST_HEADER // 2, 0) + b"[" * (MOST_HEADER // 2),
        struct.pack(">4sII", b"judg", 100, 0) + b"half",
    ],
    ids=["http", "zeros", "giant header", "giant blob", "no JSON", "deep", "half"],
)
def test_what_is_no_frame_ends_the_connection(raw: bytes) -> None:
    """Without waiting for more than a frame may hold."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        try:
            theirs.sendall(raw)
        finally:
            os._exit(0)
    theirs.close()
    with ours, pytest.raises(Lost):
        Channel(ours).receive()
    os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("cells", "idle"),
    [
        ([("import math", True), ("def f():\n    return math.pi", False)], set()),
        ([("import math", True), ("import re", True), ("def f():\n    return math.pi", False)], {1}),
        ([("n = 3", True), ("k = n + 1", True), ("def f():\n    return k", False)], set()),
        ([("n = [3]", True), ("n.append(4)", True), ("def f():\n    return n", False)], set()),
        ([("def f(): pass", False), ("print(f())", True), ("y = f()", True), ("print(y)", True)], {1, 2, 3}),
        ([("y = 1", True), ("print(y)", True), ("eval('y')", False)], set()),
        ([("%matplotlib inline", True), ("x = 1", True), ("x", False)], {0}),
        ([("this is no Python", True), ("x = 1", False)], set()),
    ],
)
def test_given_cells_run_when_something_depends_on_them(cells: list[tuple[str, bool]], idle: set[int]) -> None:
    """On a name that they bind, or on a variable that they may change."""
    assert unneeded(cells) == idle
