"""Encoder and decoder layers, lesson 4, over generated inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from autograder import check, data, mistakes, parts
from autograder.generated.blocks import drawn
from autograder.generated.inputs import device, few, masks, sizes, some, tensors, without_dropout

Layer = Callable[..., Any]  # a class whose instances are layers
ATTENTIONS = {"EncoderLayer": ("self_attention",), "DecoderLayer": ("self_attention", "cross_attention")}
RANGES = {"batch": (1, 3), "tgt_len": (1, 7), "num_heads": (1, 3), "d_k": (4, 8), "d_ff": (1, 20)}


def encoder_layer_parts(answer: Layer, *, seed: int = 0) -> None:
    """The four parts of an encoder layer, of every size and each its own."""
    _parts("EncoderLayer", answer, seed)


def decoder_layer_parts(answer: Layer, *, seed: int = 0) -> None:
    """The six parts of a decoder layer, of every size and each its own."""
    _parts("DecoderLayer", answer, seed)


def _parts(name: str, answer: Layer, seed: int) -> None:
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


def encoder_layer(answer: Layer, *, seed: int = 0) -> None:
    """Values and gradients for layers of any size, each with a third of the masks, in both modes without dropout."""
    for index, size in enumerate(sizes(seed, 3, **RANGES)):
        batch, src_len, num_heads, d_k, d_ff = size.values()
        layer: Any = data.randomized(without_dropout(answer(num_heads * d_k, num_heads, d_ff)), seed=seed + index)
        (x,) = tensors((batch, src_len, num_heads * d_k), seed=31 * seed + index)
        twin = parts.encoder_layer_twin(layer, num_heads)
        with check.case(num_heads=num_heads, x=x):
            check.shape("layer(x)", layer(x.clone()), batch=batch, src_len=src_len, d_model=num_heads * d_k)
        every = enumerate((None, *_kinds(seed + index, batch, num_heads, src_len, src_len), None))
        for turn, mask in islice(every, index % 3, None, 3):
            given = x if turn % 2 else 1 - x
            expected = twin(given, src_mask=blocked(mask, batch, num_heads, src_len, src_len)).detach()
            for mode in ("train", "eval"):
                getattr(layer, mode)()
                with check.case(num_heads=num_heads, mode=mode, x=x, mask=mask), _unchanged(x=x, mask=mask):
                    check.close("layer(x, mask)", layer(given, mask), expected)
                    if mask is not None:
                        check.close("layer(x, src_mask=mask)", layer(given, src_mask=mask), expected)
    device(seed, "layer(x)", layer, x)
    x.requires_grad_()
    for training in (True, False):
        expected, output = twin(x), layer.train(training)(x)
        check.gradients_agree("layer(x)", output / 4, expected / 4, x=x)
        check.gradients_reach(dict(layer.named_parameters()), output)


def decoder_layer(answer: Layer, *, seed: int = 0) -> None:
    """Values and gradients for masks of every kind, target and source of any lengths, likewise."""
    for index, size in enumerate(sizes(seed, 3, **RANGES, src_len=(1, 8))):
        batch, tgt_len, num_heads, d_k, d_ff, src_len = size.values()
        layer: Any = data.randomized(without_dropout(answer(num_heads * d_k, num_heads, d_ff)), seed=seed + index)
        shapes = (batch, tgt_len, num_heads * d_k), (batch, src_len, num_heads * d_k)
        x, memory = tensors(*shapes, seed=31 * seed + index)
        twin = parts.decoder_layer_twin(layer, num_heads)
        with check.case(num_heads=num_heads, x=x, memory=memory):
            output = layer(x.clone(), memory.clone())
            check.shape("layer(x, memory)", output, batch=batch, tgt_len=tgt_len, d_model=num_heads * d_k)
        own = [None, *_kinds(seed + index, batch, num_heads, tgt_len, tgt_len), None, None]
        cross = [None, None, *_kinds(seed + index + 9, batch, num_heads, tgt_len, src_len), None]
        for turn, (tgt_mask, src_mask) in islice(enumerate(zip(own, cross, strict=True)), index % 3, None, 3):
            source = memory if turn % 2 else 1 - memory
            expected = twin(
                x,
                source,
                tgt_mask=blocked(tgt_mask, batch, num_heads, tgt_len, tgt_len),
                memory_mask=blocked(src_mask, batch, num_heads, tgt_len, src_len),
            ).detach()
            given = {"x": x, "memory": source, "src_mask": src_mask, "tgt_mask": tgt_mask}
            by_name = {"tgt_mask": tgt_mask, "src_mask": src_mask}
            for mode in ("train", "eval"):
                getattr(layer, mode)()
                with check.case(num_heads=num_heads, mode=mode, **given), _unchanged(**given):
                    output = layer(x, source, src_mask, tgt_mask)
                    check.close("layer(x, memory, src_mask, tgt_mask)", output, expected)
                    if mode == "eval":
                        name = "layer(x, memory, tgt_mask=tgt_mask, src_mask=src_mask)"
                        check.close(name, layer(x, source, **by_name), expected)
    device(seed, "layer(x, memory)", layer, x, memory)
    x.requires_grad_(), memory.requires_grad_()
    for training in (True, False):
        expected, output = twin(x, memory), layer.train(training)(x, memory)
        check.gradients_agree("layer(x, memory)", output / 4, expected / 4, x=x, memory=memory)
        check.gradients_reach(dict(layer.named_parameters()), output)


def decoder_layer_masks(answer: Layer, *, seed: int = 0) -> None:
    """No later target position and no padding of the source reaches the output, and all others do."""
    layer: Any = without_dropout(answer(12, 3, 20))
    x, memory = tensors((1, 6, 12), (1, 6, 12), seed=seed)
    given = torch.tensor([1, 1, 1, 1, 0, 0]).bool(), parts.causal_mask(6)
    future, padding, word = x.clone(), memory.clone(), memory.clone()
    future[:, 5], padding[:, 4:], word[:, 3] = 2.0, 2.0, 2.0
    for training in (False, True):
        layer.train(training)
        before = layer(x, memory, *given)
        check.shape("layer(x, memory, …)", before, batch=1, tgt_len=6, d_model=12)
        slip = "Is a part in a plain list? PyTorch does not find it there, and leaves its dropout on."
        same = torch.allclose(before, layer(x, memory, *given), atol=1e-4)
        check.true(same, "`layer(x, memory, …)` differs from call to call, though its dropout is off.", slip)
        after = layer(future, memory, *given)
        slip = "The future leaks: an earlier position sees what comes after it."
        check.stays("layer(…)[:, :5]", after[:, :5], before[:, :5], when="x changes at position 5", slip=slip)
        check.differs("layer(…)[:, 5]", after[:, 5], before[:, 5], when="x changes at position 5")
        after = layer(x, padding, *given)
        slip = "Something lets the padding of the source in."
        check.stays("layer(…)", after, before, when="the memory changes where src_mask hides it", slip=slip)
        after = layer(x, word, *given)
        check.differs("layer(…)[:, 0]", after[:, 0], before[:, 0], when="the last source word changes")


def encoder_layer_rates(answer: Layer, *, seed: int = 0) -> None:
    """The dropout of an encoder layer is that of its parts."""
    _rates("EncoderLayer", answer, seed)


def decoder_layer_rates(answer: Layer, *, seed: int = 0) -> None:
    """The dropout of a decoder layer is that of its parts."""
    _rates("DecoderLayer", answer, seed)


def _rates(name: str, answer: Layer, seed: int) -> None:
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
    found = " and ".join(map(str, sorted(rates))) or "no rate at all"
    check.true(right, f"With dropout={rate}, `{part}` drops out at {found}.", "Pass `dropout` on.")


def encoder_layer_dropout(answer: Layer, *, seed: int = 0) -> None:
    """What each part of an encoder layer returns is dropped out, once, and what it reads never is."""
    x = tensors((2, 5, 12), seed=seed)
    layer: Any = data.randomized(answer(12, 3, 20)).eval()
    expected = parts.encoder_layer_twin(layer, num_heads=3)(*x)
    output = layer(*x)
    check.shape("layer(x)", output, batch=2, src_len=5, d_model=12)
    sublayers = "self_attention", "feed_forward"
    is_wired = torch.allclose(output, expected, atol=1e-3)
    _dropped("EncoderLayer(12, 3, 20, dropout=1.0)(x)", answer, sublayers, x, is_wired=is_wired)
    if is_wired:  # another wiring, which is judged elsewhere, has other shares
        _shares(answer, sublayers, torch.zeros(20, 30, 12))


def decoder_layer_dropout(answer: Layer, *, seed: int = 0) -> None:
    """What each part of a decoder layer returns is dropped out, once, and what it reads never is."""
    given = tensors((2, 4, 12), (2, 4, 12), seed=seed)
    layer: Any = data.randomized(answer(12, 3, 20)).eval()
    expected = parts.decoder_layer_twin(layer, num_heads=3)(*given)
    output = layer(*given)
    check.shape("layer(x, memory)", output, batch=2, tgt_len=4, d_model=12)
    sublayers = "self_attention", "cross_attention", "feed_forward"
    is_wired = torch.allclose(output, expected, atol=1e-3)
    _dropped("DecoderLayer(12, 3, 20, dropout=1.0)(x, memory)", answer, sublayers, given, is_wired=is_wired)
    if is_wired:
        _shares(answer, sublayers, torch.zeros(20, 30, 12), *tensors((20, 6, 12), seed=seed))


def _dropped(call: str, answer: Layer, sublayers: Sequence[str], given: Sequence[Tensor], *, is_wired: bool) -> None:
    """At a dropout of 1 nothing of a sub-layer is left: the values are the answer's own where sub-layers return 0."""
    layer = _plain(answer(12, 3, 20, dropout=1.0), len(sublayers))
    for name in sublayers:
        without_dropout(getattr(layer, name))
    slips = mistakes.exchanged(layer, *given) if is_wired else {}
    slips["more is dropped than what the parts return, so that nothing of x is left"] = torch.zeros_like(given[0])
    output = layer(*given)
    _constant(layer, sublayers, None)
    check.close(call, output, layer.eval()(*given), mistakes=slips)


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


def _shares(answer: Layer, sublayers: Sequence[str], *given: Tensor) -> None:
    """What each of these parts returns is dropped at the rate that was asked for."""
    for loud in sublayers:  # this one returns 1 everywhere, all others 0
        layer = _plain(answer(12, 3, 20, dropout=0.3), len(sublayers))
        _constant(layer, sublayers, loud)
        output = layer(*given)  # a dropped entry falls below its row's mean
        lower = (output < -0.1).float().mean().item()
        verdict = f"With dropout=0.3, the output looks as if {lower:.0%} of what `{loud}` returns were dropped."
        twice = "It is dropped twice: add & norm does so already." if abs(lower - 0.51) < 0.03 else None
        check.true(abs(lower - 0.3) < 0.03, verdict, twice)


def _kinds(seed: int, batch: int, num_heads: int, query_len: int, key_len: int) -> list[Tensor]:
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


def _unchanged(**given: Tensor | None) -> AbstractContextManager[None]:
    """Those of the inputs that there are stay as they were."""
    return check.unchanged(**{name: value for name, value in given.items() if value is not None})
