"""Exercise `EncoderLayer`: its cases and its slips."""

from itertools import islice
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_4 import shared
from autograder.exercises.shared import device, possible, sizes, tensors, without_dropout
from autograder.parts.attention import TensorFunction
from autograder.parts.blocks import LearnersEncoderLayer


def part_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """The four parts of an encoder layer, of every size and each its own."""
    shared.require_parts("EncoderLayer", answer, seed)


def value_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """Values and gradients for layers of any size, each with a third of the masks, in both modes without dropout."""
    for index, size in enumerate(sizes(seed, 3, **shared.RANGES)):
        batch, src_len, num_heads, d_k, d_ff = size.values()
        layer: Any = data.randomized(without_dropout(answer(num_heads * d_k, num_heads, d_ff)), seed=seed + index)
        (x,) = tensors((batch, src_len, num_heads * d_k), seed=31 * seed + index)
        twin = parts.encoder_layer_twin(layer, num_heads)
        with check.case(num_heads=num_heads, x=x):
            check.shape("layer(x)", layer(x.clone()), batch=batch, src_len=src_len, d_model=num_heads * d_k)
        every = enumerate((None, *shared.kinds(seed + index, batch, num_heads, src_len, src_len), None))
        for turn, mask in islice(every, index % 3, None, 3):
            given = x if turn % 2 else 1 - x
            expected = twin(given, src_mask=shared.blocked(mask, batch, num_heads, src_len, src_len)).detach()
            causal = twin(given, src_mask=~parts.causal_mask(src_len)).detach()
            hidden = {"the future is hidden, though no mask asks for it": causal} if mask is None else {}
            told = possible(hidden, expected)
            for mode in ("train", "eval"):
                getattr(layer, mode)()
                with check.case(num_heads=num_heads, mode=mode, x=x, mask=mask), shared.unchanged(x=x, mask=mask):
                    check.close("layer(x, mask)", layer(given, mask), expected, mistakes=told)
                    if mask is not None:
                        check.close("layer(x, src_mask=mask)", layer(given, src_mask=mask), expected)
    device(seed, "layer(x)", layer, x)
    x.requires_grad_()
    for training in (True, False):
        expected, output = twin(x), layer.train(training)(x)
        check.gradients_agree("layer(x)", output / 4, expected / 4, x=x)
        check.gradients_reach(dict(layer.named_parameters()), output)
    before = expected.detach()
    data.randomized(layer, seed=seed + 51)
    expected = parts.encoder_layer_twin(layer, num_heads)(x).detach()
    told = possible({"the output of an earlier call comes back, from before the weights changed": before}, expected)
    check.close("`layer(x)` with other weights", layer(x), expected, mistakes=told)


def rate_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """The dropout of an encoder layer is that of its parts."""
    shared.require_rates("EncoderLayer", answer, seed)


def dropout_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """What each part of an encoder layer returns is dropped out, once, and what it reads never is."""
    given = {"x": tensors((2, 5, 12), seed=seed)[0]}
    shared.require_dropout("EncoderLayer", answer, parts.encoder_layer_twin, given, src_len=5)


@torch.no_grad()
def slips(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    """Outputs of wrong wirings of the learner's own parts, in eval mode, for x (batch, src_len, d_model)."""
    attend, feed, first, second = layer.self_attention, layer.feed_forward, layer.add_norm_1, layer.add_norm_2

    def rest(y: Tensor, norm: TensorFunction = second) -> Tensor:
        return norm(y, feed(y))

    attended = attend(x, x, x, mask)
    y, doubled, normed, fed = first(x, attended), first(x, x + attended), first.norm(x), first(x, feed(x))
    added = x + attend(normed, normed, normed, mask)
    slips = {
        "the mask is not handed to the attention": rest(first(x, attend(x, x, x))),
        "all sentences get the mask of the first": rest(first(x, attend(x, x, x, None if mask is None else mask[:1]))),
        "the second residual starts from the layer's input": second(x, feed(y)),
        "the second residual starts from the attention's output": second(attended, feed(y)),
        "the feed-forward network reads what the attention returns, instead of the add & norm's output": second(
            y, feed(attended)
        ),
        "the norm of the second add & norm is left out": y + feed(y),
        "the feed-forward network reads the layer's input": second(y, feed(x)),
        "x counts twice in add_norm_1: it is added before as well, or what is added is halved": rest(doubled),
        "x counts twice in add_norm_2: it is added before as well, or what is added is halved": second(y, y + feed(y)),
        "x counts twice in each add & norm: it is added before as well, or what is added is halved": second(
            doubled, doubled + feed(doubled)
        ),
        "x is added once more behind each add & norm": x + y + second(x + y, feed(x + y)),
        "the first add & norm is left out": rest(attended),
        "the second add & norm is left out": feed(y),
        "the feed-forward network is left out": y,
        "the attention is left out": rest(x),
        "add_norm_1 is used twice": rest(y, first),
        "add_norm_2 is used twice": rest(second(x, attended)),
        "add_norm_1 and add_norm_2 are exchanged": rest(second(x, attended), first),
        "the attention runs twice": rest(first(y, attend(y, y, y, mask))),
        "attention and feed-forward network stand side by side: both read the layer's input": second(
            x, attended + feed(x)
        ),
        "each add & norm gets the sub-layer's output twice, and x is lost": second(
            *[feed(first(attended, attended))] * 2
        ),
        "keys and values are normalised before the attention reads them": rest(
            first(x, attend(x, normed, normed, mask))
        ),
        "a ReLU stands at the end": rest(y).relu(),
        "the feed-forward network comes before the attention": second(fed, attend(fed, fed, fed, mask)),
        "the norms come before the sub-layers (pre-norm); the paper puts them after": (
            added + feed(second.norm(added))
        ),
    }
    if mask is not None:
        turned = first(x, attend(x, x, x, ~mask))
        slips["the mask is read the wrong way round (True = may attend)"] = rest(turned)
        hidden = x * mask.flatten(0, -2).unsqueeze(-1)
        unmasked = first(hidden, attend(hidden, hidden, hidden))
        slips["x is multiplied by the mask, and the attention gets none"] = rest(unmasked)
    return possible(slips, rest(y))
