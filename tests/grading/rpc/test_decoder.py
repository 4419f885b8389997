"""Nothing that a hostile side says can do more than be wrong."""

import json
from collections.abc import Iterator

import msgspec
import pytest
import torch

from autograder.grading.rpc import decoder
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.rpc.messages import MOST_TEXT, BackwardRequest, CallRequest, Message
from autograder.grading.rpc.peer import Peer

NOBODY = None  # at the other end, to whom nothing is sent


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
    peer = Peer(Channel(NOBODY), judge=True)

    def value(count: int) -> object:
        said = header | {"value": ["s", "list", [["array", char, [1000], ["T", -1]]] * count]}
        message = msgspec.json.decode(json.dumps(said), type=Message)
        return decoder.Decoder(peer.state, message, bytearray(1000), peer).value()

    assert len(value(times - 1 or 1)) == (times - 1 or 1)
    with pytest.raises(Lost, match="too much"):
        value(times + 1)


def test_no_option_takes_the_place_of_an_optimizers_parameters() -> None:
    """Whatever a hostile side calls an option, the parameters stay what they were."""
    peer, weight = Peer(Channel(NOBODY), judge=True), torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    number = peer.state.hand_out(optimizer)
    message = Message("ok", 1, None, True, optimizers=[(number, [([], {"params": 1, "lr": 0.5})])])
    decoder.Decoder(peer.state, message, bytearray(), peer)
    assert optimizer.param_groups[0]["params"] == [weight] and optimizer.param_groups[0]["lr"] == 0.5


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
