"""What exercises of lesson 4 share."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.shared import few, masks, sizes, some, tensors, without_dropout

Module = Callable[..., Any]  # a class whose instances are modules
Layer = Callable[..., Any]  # a class whose instances are layers
ATTENTIONS = {"EncoderLayer": ("self_attention",), "DecoderLayer": ("self_attention", "cross_attention")}
RANGES = {"batch": (1, 3), "tgt_len": (1, 7), "num_heads": (1, 3), "d_k": (4, 8), "d_ff": (1, 20)}


def positions(
    seed: int, count: int, *, dtypes: tuple[torch.dtype, ...] = (torch.float32,), **ranges: tuple[int, int]
) -> Iterator[Any]:
    """Draw x with `d_model` columns and from none to three leading dimensions, and the sizes in `ranges`."""
    for index, size in enumerate(sizes(seed, count, batch=(1, 4), seq_len=(1, 9), **ranges)):
        batch, seq_len, *others = size.values()
        leading = ((), (batch,), (batch, seq_len), (2, batch, seq_len))[(index + seed) % 4]
        (x,) = tensors((*leading, size["d_model"]), seed=31 * seed + index, dtype=dtypes[index % len(dtypes)])
        yield x, *others


def drawn(name: str, module: nn.Module) -> None:
    """The matrices of a new module hold numbers that differ, and no two the same ones: alike, they learn alike."""
    seen: dict[str, Tensor] = {}
    for key, parameter in module.named_parameters():
        matrix = parameter.detach()
        if matrix.dim() < 2 or matrix.numel() < 2:
            continue
        slip = "Leave the first numbers to the layers themselves."
        check.true(matrix.min() < matrix.max(), f"In a new `{name}`, all numbers of `{key}` are the same.", slip)
        twin = next((other for other, held in seen.items() if torch.equal(held, matrix)), None)
        check.true(twin is None, f"In a new `{name}`, `{key}` starts with the same numbers as `{twin}`.", slip)
        seen[key] = matrix


def require_parts(name: str, answer: Layer, seed: int) -> None:
    more = few(seed)
    for d_model, num_heads, d_ff in some(seed, ((12, 3, 20), (8, 2, 6 + more), (4 + more, 1, 3), (20, 5, 40))):
        expected: dict[str, nn.Module] = {each: parts.MultiHeadAttention(d_model, 1) for each in ATTENTIONS[name]}
        expected["feed_forward"] = parts.FeedForward(d_model, d_ff)
        expected |= {f"add_norm_{number + 1}": parts.AddNorm(d_model) for number in range(len(ATTENTIONS[name]) + 1)}
        call = f"{name}({d_model}, {num_heads}, {d_ff})"
        layer = answer(d_model, num_heads, d_ff)
        check.parameters(call, layer, parts.parameters_of(**expected))
    drawn(call, layer)
    check.separate(call, layer, answer(d_model, num_heads, d_ff))


def require_rates(name: str, answer: Layer, seed: int) -> None:
    check.defaults(name, answer, dropout=0.1)
    dropping = "feed_forward", *(f"add_norm_{number + 1}" for number in range(len(ATTENTIONS[name]) + 1))
    asked = 0.3 + few(seed) / 200
    for rate, layer in (
        (asked, answer(12, 3, 20, dropout=asked)),
        (0.1, answer(12, 3, 20)),
        (0.0, answer(12, 3, 20, dropout=0.0)),
    ):
        for part in dropping:
            rates = {inner.p for inner in getattr(layer, part).modules() if isinstance(inner, nn.Dropout)}
            _passed_on(part, rate, rates, rates == {rate})
        for part in ATTENTIONS[name]:  # which may drop out as well, or not
            inner_parts = getattr(layer, part).modules()
            rates = {inner.dropout for inner in inner_parts if isinstance(inner, nn.MultiheadAttention)}
            _passed_on(part, rate, rates, rates <= {0.0, rate})


def _passed_on(part: str, rate: float, rates: set[float], right: bool) -> None:
    if not (rates or right):
        check.true(False, f"`{part}` holds no dropout at all.", "Is it the part that belongs there?")
    found = " and ".join(map(str, sorted(rates)))
    check.true(right, f"With dropout={rate}, `{part}` drops out at {found}.", "Pass `dropout` on.")


def on_copies(layer: Layer) -> Callable[..., Any]:
    """The layer, called with copies: inputs that it changes are told by the check of its values alone."""
    return lambda *given: layer(*(each.clone() if isinstance(each, Tensor) else each for each in given))


def require_dropout(
    name: str,
    answer: Layer,
    twin: Callable[[nn.Module, int], nn.Module],
    given: Mapping[str, Tensor],
    *memories: Tensor,
    **length: int,
) -> None:
    """What each part of a layer returns is dropped out, once, and what it reads never is.

    Args:
        given: what it is called with, by name, each (2, length, 12).
        memories: what else it needs for x (20, 30, 12).
    """
    sublayers, arguments = (*ATTENTIONS[name], "feed_forward"), ", ".join(given)
    layer: Any = data.randomized(answer(12, 3, 20)).eval()
    expected, output = twin(layer, 3)(*given.values()), on_copies(layer)(*given.values())
    check.shape(f"layer({arguments})", output, mistakes=None, batch=2, **length, d_model=12)
    is_wired = torch.allclose(output, expected, atol=1e-3)
    _is_dropped(f"{name}(12, 3, 20, dropout=1.0)({arguments})", answer, sublayers, *given.values(), is_wired=is_wired)
    if is_wired:  # another wiring, which is judged elsewhere, has other shares
        _has_shares(answer, sublayers, torch.zeros(20, 30, 12), *memories)
    _reads_whole(f"layer({arguments})", answer, sublayers, *given.values())


def _is_dropped(call: str, answer: Layer, sublayers: Sequence[str], *given: Tensor, is_wired: bool) -> None:
    """At a dropout of 1 nothing of a sub-layer is left: the values are the answer's own where sub-layers return 0."""
    layer = _plain(answer(12, 3, 20, dropout=1.0), len(sublayers))
    for name in sublayers:
        without_dropout(getattr(layer, name))
    slips = exchanged(layer, *given) if is_wired else {}
    slips["more is dropped than what the parts return, so that nothing of x is left"] = torch.zeros_like(given[0])
    output = on_copies(layer)(*given)
    _constant(layer, sublayers, None)
    name = f"`{call}`, held against your layer where its parts return 0"
    check.close(name, output, on_copies(layer.eval())(*given), mistakes=slips)


def _constant(layer: Any, sublayers: Sequence[str], loud: str | None) -> None:
    """Make the sub-layers return 0 everywhere, and `loud` 1."""
    for name in sublayers:
        weight, bias = list(getattr(layer, name).parameters())[-2:]
        with torch.no_grad():
            weight.zero_(), bias.fill_(float(name == loud))


def _plain(layer: Any, norms: int) -> Any:
    """The layer in training, its norms as they should start: by what they start with it is not judged here."""
    for number in range(norms):
        weight, bias = getattr(layer, f"add_norm_{number + 1}").norm.parameters()
        with torch.no_grad():
            weight.fill_(1.0), bias.zero_()
    return layer.train()


def _has_shares(answer: Layer, sublayers: Sequence[str], *given: Tensor) -> None:
    """What each of these parts returns is dropped at the rate that was asked for; each is a module of its own."""
    if len({id(getattr(made, name)) for made in [answer(12, 3, 20)] for name in sublayers}) < len(sublayers):
        return  # the check of the parts says so
    for loud in sublayers:  # this one returns 1 everywhere, all others 0
        layer = _plain(answer(12, 3, 20, dropout=0.3), len(sublayers))
        _constant(layer, sublayers, loud)
        output = on_copies(layer)(*given)  # a dropped entry falls below its row's mean
        lower = (output < -0.1).float().mean().item()
        verdict = f"With dropout=0.3, the output looks as if {lower:.0%} of what `{loud}` returns were dropped."
        twice = "It is dropped twice: add & norm does so already." if abs(lower - 0.51) < 0.03 else None
        check.true(abs(lower - 0.3) < 0.03, verdict, twice)


def _reads_whole(call: str, answer: Layer, sublayers: Sequence[str], *given: Tensor) -> None:
    """Where the parts themselves drop nothing, nothing is dropped: what they read is whole."""
    layer = data.randomized(answer(12, 3, 20, dropout=0.5)).train()
    for name in (*sublayers, *(f"add_norm_{number + 1}" for number in range(len(sublayers)))):
        without_dropout(getattr(layer, name))
    slip = (
        "Add & norm drops what a part returns, and the network its hidden values; what a part reads is never dropped."
    )
    with torch.no_grad():
        output = on_copies(layer)(*given)
        name = f"`{call}` with the dropout of its parts off"
        check.stays(name, output, on_copies(layer.eval())(*given), when="the layer is in train mode", slip=slip)


def kinds(seed: int, batch: int, num_heads: int, query_len: int, key_len: int) -> list[Tensor]:
    """One mask of each shape that broadcasts to (batch, num_heads, query_len, key_len)."""
    shapes = [
        (query_len, key_len),
        (batch, 1, query_len, key_len),
        (batch, num_heads, query_len, key_len),
        (1, num_heads, query_len, key_len),
        (num_heads, query_len, key_len),
        (key_len,),
        (batch, 1, 1, key_len),  # the last: it fits where none is given after it
    ]
    return [masks(seed + place, *shape) for place, shape in enumerate(shapes)]


def blocked(mask: Tensor | None, *full: int) -> Tensor | None:
    """A mask as PyTorch wants it: True = blocked, (batch · num_heads, query_len, key_len)."""
    return None if mask is None else ~mask.expand(full).flatten(0, 1)


def unchanged(**given: Tensor | None) -> AbstractContextManager[None]:
    """Those of the inputs that there are stay as they were."""
    return check.unchanged(**{name: value for name, value in given.items() if value is not None})


def exchanged(layer: Any, x: Tensor, *memory: Tensor) -> dict[str, Tensor]:
    """Outputs of a layer, in its mode and without masks, whose add & norms get their two arguments in the other order.

    Args:
        layer: the learner's own encoder layer or, where there is a `memory`, decoder layer.
    """
    slips = {}
    for turned in list(itertools.product((False, True), repeat=2 + len(memory)))[1:]:
        some = " and ".join(f"`add_norm_{place}`" for place, is_turned in enumerate(turned, start=1) if is_turned)
        norms = "every add & norm" if all(turned) else some
        with torch.no_grad():
            slips[f"the arguments of {norms} are exchanged, so that x is dropped"] = _summed(layer, turned, x, *memory)
    return slips


def _summed(layer: Any, turned: Sequence[bool], x: Tensor, *memory: Tensor) -> Tensor:
    sublayers = "self_attention", *["cross_attention"] * len(memory), "feed_forward"
    for place, name in enumerate(sublayers):
        source = {"self_attention": (x, x), "cross_attention": memory * 2, "feed_forward": ()}[name]
        given = x, getattr(layer, name)(x, *source)
        x = getattr(layer, f"add_norm_{place + 1}")(*(reversed(given) if turned[place] else given))
    return x
