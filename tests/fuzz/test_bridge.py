# ruff: noqa: SIM905 (words by the line, as one reads them)
"""Whatever comes over the bridge is a value, an error of the answer's, or the end of the other side."""

import copy
import io
import json
import math
import struct
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.strategies import anything, dumped, texts
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.far_side import Attention, Purse
from torch import nn, optim

from autograder import parts
from autograder.check._errors import CheckFailed
from autograder.grading.rpc.channel import MOST_HEADER, Channel, Lost
from autograder.grading.rpc.encoder import ARRAY_TYPES, Encoder
from autograder.grading.rpc.messages import MOST_DIGITS
from autograder.grading.rpc.peer import Peer
from autograder.grading.rpc.registry import DTYPES

HEAD = struct.Struct(">4sII")
TOLD = {"operation": "ok", "number": 1, "value": None, "grad_enabled": True}

# Values that cross as what they are

shapes = st.lists(st.integers(0, 3), max_size=3)
numbers = st.one_of(st.booleans(), st.integers(-(2**63) + 1, 2**63 - 1), st.floats())
exact = st.one_of(st.decimals(), st.fractions(), st.integers().map(lambda n: Decimal("7" * (abs(n) % 400 + 1))))


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """A small tensor of any dtype, perhaps turned, spread, or one that is trained."""
    dtype, shape = draw(st.sampled_from(list(DTYPES.values()))), draw(shapes)
    tensor = torch.tensor(draw(st.lists(st.integers(0, 1), min_size=27, max_size=27)))[: math.prod(shape)]
    tensor = tensor.reshape(shape).to(dtype)
    match draw(st.sampled_from(["as it is", "turned", "spread", "trained", "parameter"])):
        case "turned":
            return tensor.permute(tuple(reversed(range(tensor.ndim))))
        case "spread":
            return tensor.expand(2, *shape)
        case "trained" if tensor.is_floating_point():
            return tensor.requires_grad_()
        case "parameter" if tensor.is_floating_point():
            return nn.Parameter(tensor)
    return tensor


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray | np.generic:
    """A small array or number of NumPy's."""
    shape = draw(shapes)
    content = np.array(draw(st.lists(st.integers(0, 1), min_size=27, max_size=27)))[: math.prod(shape)].reshape(shape)
    made = content.astype(np.dtype(draw(st.sampled_from(ARRAY_TYPES))))
    return made[()] if draw(st.booleans()) else made.T


leaf = st.one_of(
    st.none(), numbers, numbers, st.text(max_size=8), texts, exact, tensors(), arrays(),
    st.sampled_from([*DTYPES.values(), torch.device("cpu"), math, parts.padding_mask, slice(1, None, 2)]),
)  # fmt: skip
keys = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5))
values = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.sets(keys, max_size=3),
    ),
    max_leaves=10,
)


def same(one: Any, other: Any) -> bool:
    """Two values are alike, type for type and bit for bit."""
    if isinstance(one, torch.Tensor):
        kinds = isinstance(one, nn.Parameter), isinstance(other, nn.Parameter)
        alike = one.dtype == other.dtype and one.shape == other.shape and kinds[0] == kinds[1]
        return alike and bool(torch.equal(one.detach(), other.detach()))
    if isinstance(one, Decimal | Fraction) and len(str(one)) > MOST_DIGITS:
        return type(other).__name__ == type(one).__name__ and not isinstance(other, Decimal | Fraction)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool(np.array_equal(one, other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, str):
        return one.encode("utf-8", "replace").decode() == other
    return repr(one) == repr(other) or one == other


class Wire(io.BytesIO):
    """An end of a connection with nobody at the other: what is sent is kept, and what was given is received."""

    sent = b""

    def send(self, data: memoryview) -> int:
        """Keep it."""
        self.sent += data
        return len(data)

    recv = io.BytesIO.read


def frame_of(value: Any, *, judge: bool) -> bytes:
    """A value as one side sends it."""
    sender = Peer(Channel(wire := Wire()), judge=judge)
    sender.state.tensors.hold()  # as in a request
    encoder = Encoder(sender.state, lambda error: [("answer", 1, "x")])
    message = encoder.message("ok", -1 if judge else 1, encoder.encode(value))
    sender.channel.send(message, encoder.blobs)
    return wire.sent


def received(data: bytes, *, judge: bool = True) -> Any:
    """What comes of bytes that one side gets in answer to a request, and then no more."""
    return Peer(Channel(Wire(data)), judge=judge).request("names")


def framed(header: bytes, blob: bytes = b"") -> bytes:
    """A frame."""
    return HEAD.pack(b"judg", len(header), len(blob)) + header + blob


EACH_KIND = None, True, -7, 2.5, math.inf, "ü ✓", (1, [2, (3,)]), {"a": [1], 2: None}, {1, 2}, slice(1, None, 2)


@given(values, st.booleans())
@example(EACH_KIND, True)
@example(EACH_KIND, False)
@example([Decimal("7" * 201)], False)  # came as another number: its first two hundred digits
def test_what_crosses_is_what_it_was(value: Any, judge: bool) -> None:
    """Whatever an encoder takes is on the other side what it was on this one."""
    try:
        frame = frame_of(value, judge=judge)
    except CheckFailed:
        assume(False)
    got = received(frame, judge=not judge)
    assert same(value, got)


# Frames that nobody should send


def things() -> list[Any]:
    """One of each kind that has a message of its own."""
    model, error = Attention(3), NameError("name 'x' is not defined", name="x")
    array, learned = np.arange(4.0), nn.Linear(2, 2)
    return [
        (1, "two", [3.0, math.inf], {"four": {5}, None: slice(1, 2)}, Decimal("1.5"), Fraction(1, 3)),
        (torch.ones(2, 3), torch.ones(2, dtype=torch.bool), torch.ones(0, 2), nn.Parameter(torch.ones(2))),
        (array, np.float32(2), torch.float64, torch.device("cpu"), torch, parts.causal_mask),
        (model, learned, nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))),
        (learned, optim.Adam(learned.parameters(), lr=0.1), optim.SGD(learned.parameters(), lr=0.1)),
        (Purse, Purse(3), lambda query, key=2, *rest, flag=True, **more: query),
        error,
        CheckFailed("It is wrong.", ["expected  1"], "Look again."),
        (0, 0, (), ()),
    ]


def parted(frame: bytes) -> tuple[Any, bytes]:
    """A frame's header, and the bytes behind it."""
    end = HEAD.size + HEAD.unpack_from(frame)[1]
    return json.loads(frame[HEAD.size : end]), frame[end:]


HEADERS = [parted(frame_of(thing, judge=False)) for thing in things()]
TAGS = """
s T Ts number array known m mirror generator optimizer verdict error ok call get copy backward next
""".split()
SPECIAL = """
tuple list set dict slice float function class iterator object cpu meta nan Decimal 1e999999999 1/0
torch forward __class__ Adam Adagrad SparseAdam LBFGS Optimizer lr fused KeyError ExceptionGroup StopIteration
""".split()
WORDS = [*TAGS, *DTYPES, *ARRAY_TYPES, *SPECIAL]
LARGE = 2**31, 2**40 - 1, 2**63, 2**64, 10**30, 1e308
ODD_NUMBERS = st.sampled_from([*range(-5, 4), 16, *LARGE, -0.0, True, None])
words = st.one_of(st.sampled_from(WORDS), texts, st.just("\x00"))
spots = st.one_of(ODD_NUMBERS, ODD_NUMBERS, words, anything, st.tuples(st.sampled_from(TAGS), ODD_NUMBERS).map(list))


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """What a side could send, changed in some places, cut or filled."""
    header, blob = copy.deepcopy(draw(st.sampled_from(HEADERS)))
    for _ in range(draw(st.integers(0, 3))):
        spot: Any = header
        while True:
            key = draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
            inside = spot[key]
            if not isinstance(inside, dict | list) or not inside or draw(st.integers(0, 3)) == 0:
                break
            spot = inside
        match draw(st.sampled_from(["other", "other", "other", "again", "less"])):
            case "other":
                spot[key] = draw(spots)
            case "again" if isinstance(spot, list):
                spot[key:key] = [copy.deepcopy(inside)] * draw(st.sampled_from([1, 2, 300]))
            case "less" if spot is not header:
                del spot[key]
        if isinstance(spot, dict | list) and not header:
            break
    if draw(st.integers(0, 4)) == 0:
        blob = draw(st.sampled_from([b"", blob[:5], blob + bytes(64), bytes(draw(st.integers(0, 200)))]))
    data = framed(dumped(header).encode("utf-8", "replace"), blob)
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 15)) == 0 else data


def array_of(char: str, tensor: list[Any]) -> bytes:
    """A frame with an array of NumPy's, made of this tensor."""
    header = {**TOLD, "value": ["array", char, [16], ["T", -1]], "tensors": [tensor]}
    return framed(json.dumps(header).encode(), bytes(64))


@given(frames())
@example(array_of("f", [-1, "float32", [16], None, True, False, False]))  # NumPy wants no gradients: a RuntimeError
def test_no_message_can_do_more_than_be_refused_or_believed(data: bytes) -> None:
    """The judge gets a value, raises what it was told that an answer raised, or gives the other side up."""
    enabled = torch.is_grad_enabled()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            received(data)
    except Lost as lost:
        assert len(lost.why) > 0
    except Exception as error:
        told = isinstance(error, CheckFailed) or "answer_frames" in vars(error)
        assert told and b'"error"' in data, repr(error)
    finally:
        torch.set_grad_enabled(enabled)


NO_MESSAGES = anything.map(lambda value: framed(dumped(value).encode("utf-8", "replace")))
DEEP = b'{"operation":"ok","number":1,"grad_enabled":true,"value":' + b'["s","list",[' * 10**5


@given(st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(framed), NO_MESSAGES))
@example(b"GET / HTTP/1.1\r\n\r\n" * 9)
@example(b"\0" * 64)
@example(HEAD.pack(b"judg", 2**31, 0))  # a giant header
@example(HEAD.pack(b"judg", 4, 2**31) + b"null")  # a giant blob
@example(framed(b"nonsense"))
@example(framed(b"[" * (MOST_HEADER // 2)))  # too deep
@example(framed(DEEP.ljust(MOST_HEADER // 2, b"[")))  # a value that is
@example(HEAD.pack(b"judg", 100, 0) + b"half")
def test_what_is_no_message_ends_the_connection(data: bytes) -> None:
    """Random bytes and JSON are refused, and no more is waited for than a frame may hold."""
    with pytest.raises(Lost):
        received(data)
