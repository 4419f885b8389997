"""Nothing that a hostile side says can do more than be wrong."""

from __future__ import annotations

import json
import random
import socket
import struct
from collections.abc import Iterator

import msgspec
import pytest

from autograder.grading.rpc import decoder
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.rpc.messages import MOST_TEXT, BackwardRequest, CallRequest, Message
from autograder.grading.rpc.peer import Peer


def replies(seed: int) -> Iterator[bytes]:
    """Frames that a hostile process could send: nearly right ones, changed at random."""
    draw = random.Random(seed)
    tensor = [-1, "float32", [2], None, False, False, False]
    module = [-2, [None, "M", "", ["forward"]], [True, {"a": 1}, {"w": None}, {"b": [-1, False, False]}, {"c": None}]]
    header = {"operation": "ok", "number": 1, "value": ["t", [["T", -1], ["m", -2]]], "grad_enabled": True}
    header |= {"output": "", "tensors": [tensor], "requires_grad": [], "modules": [module], "modes": [[-2, False]]}
    header |= {"optimizers": [], "unused": [], "ended": [], "global_state": ["float32", 5]}
    odd = [None, -1, 10**30, 1e308, "x", "", [], {}, [[]], ["T", 5], ["f", 1, "f", None], ["m", -1], ["known", "x"]]
    odd += [["class", -3, "C", [["a", 9, []]]], ["slice", 1], ["array", "d", [9], ["T", -1]], ["error"], True]
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


@pytest.mark.parametrize(("char", "times"), [("d", 1), ("B", 9)], ids=["wider numbers", "again and again"])
def test_arrays_hold_no_more_than_a_frame(monkeypatch: pytest.MonkeyPatch, char: str, times: int) -> None:
    """A short message makes no gigabytes of one tensor of bytes, by asking for copies of it."""
    monkeypatch.setattr(decoder, "MOST_BYTES", 8000)
    header = {
        "operation": "ok",
        "number": 1,
        "grad_enabled": True,
        "tensors": [[-1, "uint8", [1000], None, *[False] * 3]],
    }
    ours, theirs = socket.socketpair()
    with ours, theirs:
        peer = Peer(Channel(ours), judge=True)

        def value(count: int) -> object:
            said = header | {"value": ["l", [["array", char, [1000], ["T", -1]]] * count]}
            message = msgspec.json.decode(json.dumps(said), type=Message)
            return decoder.Decoder(peer.state, message, bytearray(1000), peer).value()

        assert len(value(times - 1 or 1)) == (times - 1 or 1)
        with pytest.raises(Lost, match="too much"):
            value(times + 1)


def unbounded(kind: object, seen: set[int], place: str = "") -> Iterator[str]:
    """The texts in a declared type that may have any length, each by where it is."""
    if id(kind) in seen:
        return
    seen.add(id(kind))
    if isinstance(kind, msgspec.inspect.StrType) and (kind.max_length or MOST_TEXT + 1) > MOST_TEXT:
        yield place
    for name in getattr(kind, "__struct_fields__", ()):
        inner = getattr(kind, name)
        for part in inner if isinstance(inner, tuple) else [inner]:
            if isinstance(part, msgspec.inspect.Field):
                yield from unbounded(part.type, seen, f"{place}.{part.name}")
            elif isinstance(part, msgspec.inspect.Type):
                yield from unbounded(part, seen, place)


def test_every_name_and_text_of_a_message_is_bounded() -> None:
    """Whatever a class, a parameter or a key is called: but for what is printed, the protocol knows no endless text."""
    kinds = msgspec.inspect.multi_type_info([Message, CallRequest, BackwardRequest])
    assert [place for kind in kinds for place in unbounded(kind, set())] == [".output"]
