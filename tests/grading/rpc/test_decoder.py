"""Nothing that a hostile side says can do more than be wrong."""

from __future__ import annotations

import json
import random
import socket
import struct
from collections.abc import Iterator

import pytest

from autograder.grading.rpc.channel import Channel, Lost
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
