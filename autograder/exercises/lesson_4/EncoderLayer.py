"""Exercise `EncoderLayer`: its cases and its slips."""

from itertools import islice
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_4.shared import (
    RANGES,
    Layer,
    added_twice,
    blocked,
    finish,
    kinds,
    on_copies,
    require_dropped,
    require_parts,
    require_rates,
    require_read_whole,
    require_shares,
    unchanged,
)
from autograder.exercises.shared import device, possible, sizes, tensors, without_dropout
from autograder.parts.attention import TensorFunction
from autograder.parts.blocks import LearnersEncoderLayer


def part_cases(answer: Layer, *, seed: int = 0) -> None:
    """The four parts of an encoder layer, of every size and each its own."""
    require_parts("EncoderLayer", answer, seed)


def value_cases(answer: Layer, *, seed: int = 0) -> None:
    """Values and gradients for layers of any size, each with a third of the masks, in both modes without dropout."""
    for index, size in enumerate(sizes(seed, 3, **RANGES)):
        batch, src_len, num_heads, d_k, d_ff = size.values()
        layer: Any = data.randomized(without_dropout(answer(num_heads * d_k, num_heads, d_ff)), seed=seed + index)
        (x,) = tensors((batch, src_len, num_heads * d_k), seed=31 * seed + index)
        twin = parts.encoder_layer_twin(layer, num_heads)
        with check.case(num_heads=num_heads, x=x):
            check.shape("layer(x)", layer(x.clone()), batch=batch, src_len=src_len, d_model=num_heads * d_k)
        every = enumerate((None, *kinds(seed + index, batch, num_heads, src_len, src_len), None))
        for turn, mask in islice(every, index % 3, None, 3):
            given = x if turn % 2 else 1 - x
            expected = twin(given, src_mask=blocked(mask, batch, num_heads, src_len, src_len)).detach()
            causal = twin(given, src_mask=~parts.causal_mask(src_len)).detach()
            hidden = {"the future is hidden, though no mask asks for it": causal} if mask is None else {}
            told = possible(hidden, expected)
            for mode in ("train", "eval"):
                getattr(layer, mode)()
                with check.case(num_heads=num_heads, mode=mode, x=x, mask=mask), unchanged(x=x, mask=mask):
                    check.close("layer(x, mask)", layer(given, mask), expected, mistakes=told)
                    if mask is not None:
                        check.close("layer(x, src_mask=mask)", layer(given, src_mask=mask), expected)
    device(seed, "layer(x)", layer, x)
    x.requires_grad_()
    for training in (True, False):
        expected, output = twin(x), layer.train(training)(x)
        check.gradients_agree("layer(x)", output / 4, expected / 4, x=x)
        check.gradients_reach(dict(layer.named_parameters()), output)


def rate_cases(answer: Layer, *, seed: int = 0) -> None:
    """The dropout of an encoder layer is that of its parts."""
    require_rates("EncoderLayer", answer, seed)


def dropout_cases(answer: Layer, *, seed: int = 0) -> None:
    """What each part of an encoder layer returns is dropped out, once, and what it reads never is."""
    x = tensors((2, 5, 12), seed=seed)
    layer: Any = data.randomized(answer(12, 3, 20)).eval()
    expected = parts.encoder_layer_twin(layer, num_heads=3)(*x)
    output = on_copies(layer)(*x)
    check.shape("layer(x)", output, batch=2, src_len=5, d_model=12)
    sublayers = "self_attention", "feed_forward"
    is_wired = torch.allclose(output, expected, atol=1e-3)
    require_dropped("EncoderLayer(12, 3, 20, dropout=1.0)(x)", answer, sublayers, x, is_wired=is_wired)
    if is_wired:  # another wiring, which is judged elsewhere, has other shares
        require_shares(answer, sublayers, torch.zeros(20, 30, 12))
    require_read_whole("layer(x)", answer, sublayers, *x)


def slips(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    """Outputs of wrong wirings of the learner's own parts, in eval mode, for x (batch, src_len, d_model)."""
    attend, feed, first, second = layer.self_attention, layer.feed_forward, layer.add_norm_1, layer.add_norm_2
    with torch.no_grad():
        attended = attend(x, x, x, mask)
        y = first(x, attended)
        slips = {
            "the mask is not handed to the attention": finish(feed, second, first(x, attend(x, x, x))),
            "all sentences get the mask of the first": (
                finish(feed, second, first(x, attend(x, x, x, None if mask is None else mask[:1])))
            ),
            "the second residual starts from the layer's input": second(x, feed(y)),
            "the second residual starts from the attention's output": second(attended, feed(y)),
            "the feed-forward network reads what the attention returns, instead of the add & norm's output": second(
                y, feed(attended)
            ),
            "the norm of the second add & norm is left out": y + feed(y),
            "the feed-forward network reads the layer's input": second(y, feed(x)),
            "x counts twice in add_norm_1: it is added before as well, or what is added is halved": finish(
                feed, second, first(x, x + attended)
            ),
            "x counts twice in add_norm_2: it is added before as well, or what is added is halved": second(
                y, y + feed(y)
            ),
            "x counts twice in each add & norm: it is added before as well, or what is added is halved": added_twice(
                feed, second, first(x, x + attended)
            ),
            "x is added once more behind each add & norm": x + y + second(x + y, feed(x + y)),
            "the first add & norm is left out": second(attended, feed(attended)),
            "the second add & norm is left out": feed(y),
            "the feed-forward network is left out": y,
            "the attention is left out": finish(feed, second, x),
            "add_norm_1 is used twice": first(y, feed(y)),
            "add_norm_2 is used twice": finish(feed, second, second(x, attended)),
            "add_norm_1 and add_norm_2 are exchanged": finish(feed, first, second(x, attended)),
            "the attention runs twice": finish(feed, second, first(y, attend(y, y, y, mask))),
            "attention and feed-forward network stand side by side: both read the layer's input": second(
                x, attended + feed(x)
            ),
            "each add & norm gets the sub-layer's output twice, and x is lost": _itself(
                feed, second, first(attended, attended)
            ),
            "keys and values are normalised before the attention reads them": finish(
                feed, second, first(x, attend(x, first.norm(x), first.norm(x), mask))
            ),
            "a ReLU stands at the end": second(y, feed(y)).relu(),
            "the feed-forward network comes before the attention": _attention_second(layer, x, mask),
            "the norms come before the sub-layers (pre-norm); the paper puts them after": _pre_norm(layer, x, mask),
        }
        if mask is not None:
            turned = first(x, attend(x, x, x, ~mask))
            slips["the mask is read the wrong way round (True = may attend)"] = finish(feed, second, turned)
            hidden = x * mask.flatten(0, -2).unsqueeze(-1)
            slips["x is multiplied by the mask, and the attention gets none"] = finish(
                feed, second, first(hidden, attend(hidden, hidden, hidden))
            )
        return possible(slips, second(y, feed(y)))


def _attention_second(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> Tensor:
    y = layer.add_norm_1(x, layer.feed_forward(x))
    return layer.add_norm_2(y, layer.self_attention(y, y, y, mask))


def _pre_norm(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> Tensor:
    normed: Tensor = layer.add_norm_1.norm(x)
    y = x + layer.self_attention(normed, normed, normed, mask)
    return y + layer.feed_forward(layer.add_norm_2.norm(y))


def _itself(feed: TensorFunction, norm: TensorFunction, y: Tensor) -> Tensor:
    return norm(feed(y), feed(y))
