"""Slips of lesson 4: layer normalisation, feed-forward network, residual connections, encoder and decoder layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.parts.attention import TensorFunction
from autograder.parts.blocks import FeedForward, LearnersDecoderLayer, LearnersEncoderLayer

UNBIASED = "the variance is divided by d_model − 1 instead of d_model (`correction=0` is wanted)"
BOTH = "both happen: d_model − 1 in the variance, and eps added to the standard deviation"


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> dict[str, Tensor]:
    """Normalised values of x (batch, seq_len, d_model), with the parameters `weight` and `bias` (d_model,)."""
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    centred = x - mean
    right = F.layer_norm(x, x.shape[-1:], weight, bias, eps)

    def over(*dims: int) -> Tensor:
        deviation = (x.var(dims, correction=0, keepdim=True) + eps).sqrt()
        return weight * (x - x.mean(dims, keepdim=True)) / deviation + bias

    slips = possible(
        {
            UNBIASED: (weight * centred / (x.var(-1, keepdim=True) + eps).sqrt() + bias),
            "eps is added to the standard deviation instead of the variance": (
                weight * centred / (variance.sqrt() + eps) + bias
            ),
            BOTH: (weight * centred / (x.std(-1, keepdim=True) + eps) + bias),
            "`bias` is divided by the deviation, too": (weight * centred + bias) / (variance + eps).sqrt(),
            "`bias` is multiplied by `weight`, too": weight * (centred / (variance + eps).sqrt() + bias),
            "eps is left out": weight * centred / variance.sqrt() + bias,
            "the squares are summed instead of averaged in the variance": (
                weight * centred / (variance * x.size(-1) + eps).sqrt() + bias
            ),
            "only the mean is divided by the deviation: x − mean needs parentheses": (
                weight * (x - mean / (variance + eps).sqrt()) + bias
            ),
            "only the mean is divided, and only x multiplied by `weight`: x − mean needs parentheses": (
                weight * x - mean / (variance + eps).sqrt() + bias
            ),
            "the root is taken of the standard deviation": weight * centred / (x.std(-1, keepdim=True) + eps).sqrt()
            + bias,
            "the root of the variance is missing": weight * centred / (variance + eps) + bias,
            "the variance is squared instead of taking its root": weight * centred / (variance + eps) ** 2 + bias,
            "eps is fixed at 1e-5, whatever was asked for": weight * centred / (variance + 1e-5).sqrt() + bias,
            "the mean is not subtracted": weight * x / (variance + eps).sqrt() + bias,
            "`weight` and `bias` are not used": centred / (variance + eps).sqrt(),
            "`weight` and `bias` are exchanged": bias * centred / (variance + eps).sqrt() + weight,
            "`bias` is not used": weight * centred / (variance + eps).sqrt(),
            "`weight` is not used": centred / (variance + eps).sqrt() + bias,
            "the values are not divided by their deviation": weight * centred + bias,
            "mean and variance are taken over the positions, not over the columns": over(1),
            "mean and variance are taken over the batch, not over the columns": over(0),
            "mean and variance are taken over positions and columns together": over(1, 2),
            "mean and variance are taken over everything": over(0, 1, 2),
        },
        right,
    )
    alone, both = (slips.get(slip) for slip in (UNBIASED, BOTH))
    if alone is not None and both is not None and torch.allclose(alone, both, atol=1e-3):
        del slips[BOTH]  # where eps does not show, what is true of both is said
    return slips


def layer_norm_eps(norm: Callable[[Tensor], Tensor], x: Tensor, eps: float) -> dict[str, Tensor]:
    """Values for small x (…, d_model) of a norm whose weight is 1 and bias 0, with the variance that is its own."""
    centred = x - x.mean(-1, keepdim=True)
    large = 1e4 * centred
    own = (F.layer_norm(large, x.shape[-1:], eps=0.0).norm() / norm(1e4 * x).detach().norm()).square()
    variance = own * centred.square().mean(-1, keepdim=True)
    return possible(
        {
            "eps is added to the standard deviation instead of the variance": centred / (variance.sqrt() + eps),
            "eps is left out": centred / variance.sqrt(),
            "eps is fixed at 1e-5, whatever was asked for": centred / (variance + 1e-5).sqrt(),
        },
        centred / (variance + eps).sqrt(),
    )


def feed_forward(module: FeedForward, x: Tensor) -> dict[str, Tensor]:
    """Outputs for x (…, d_model), with the learner's own `linear_1` and `linear_2`."""
    first, second = module.linear_1, module.linear_2
    with torch.no_grad():
        hidden = first(x)
        return possible(
            {
                "there is no ReLU between the two layers": second(hidden),
                "the ReLU comes after the second layer": second(hidden).relu(),
                "there is a ReLU after both layers": second(hidden.relu()).relu(),
                "the ReLU comes before the first layer": second(first(x.relu())),
                "there is a ReLU before the first layer as well": second(first(x.relu()).relu()),
                "the biases are left out": (hidden - first.bias).relu() @ second.weight.mT,
                "the activation is GELU instead of ReLU": second(F.gelu(hidden)),
                "the activation is a sigmoid instead of ReLU": second(hidden.sigmoid()),
                "the activation is tanh instead of ReLU": second(hidden.tanh()),
                "the input is added to the output, which is the next exercise's job": x + second(hidden.relu()),
                "the hidden values are averaged over the positions": second(
                    hidden.relu().mean(-2, keepdim=True).expand_as(hidden)
                ),
            },
            second(hidden.relu()),
        )


def add_norm(norm: TensorFunction, x: Tensor, sublayer_output: Tensor) -> dict[str, Tensor]:
    """Results for two tensors (batch, seq_len, d_model) and the learner's own `norm`."""
    with torch.no_grad():
        return possible(
            {
                "the residual is missing: x is not added": norm(sublayer_output),
                "the two are multiplied instead of added": norm(x * sublayer_output),
                "x is added once more inside the norm": norm(2 * x + sublayer_output),
                "the sub-layer's output is normalised before it is added": x + norm(sublayer_output),
                "x is normalised before the output is added": norm(x) + sublayer_output,
                "nothing is normalised": x + sublayer_output,
                "the output of the sub-layer is missing": norm(x),
                "x is added once more after the norm": x + norm(x + sublayer_output),
                "each of the two is normalised by itself": norm(x) + norm(sublayer_output),
            },
            norm(x + sublayer_output),
        )


def pre_norm(
    x: Tensor, sublayers: Sequence[TensorFunction], norms: Sequence[TensorFunction]
) -> dict[str, list[Tensor]]:
    """States of wrong stacks: x (batch, seq_len, d_model) before the first sub-layer and after each of them."""
    first, start = norms[0], x
    steps: dict[str, Callable[[Tensor, TensorFunction, TensorFunction], Tensor]] = {
        "nothing is mended: the sum still starts from norm(x), so x itself is lost": lambda x, sublayer, norm: (
            norm(x) + sublayer(norm(x))
        ),
        "the norm comes after the addition, as in post-norm": lambda x, sublayer, norm: norm(x + sublayer(x)),
        "the sub-layer's output is normalised instead of its input": lambda x, sublayer, norm: x + norm(sublayer(x)),
        "nothing is normalised": lambda x, sublayer, norm: x + sublayer(x),
        "x is not added": lambda x, sublayer, norm: sublayer(norm(x)),
        "the first norm is used for every sub-layer": lambda x, sublayer, norm: x + sublayer(first(x)),
        "norm(x) is added as well": lambda x, sublayer, norm: x + norm(x) + sublayer(norm(x)),
        "every sum starts from the first x": lambda x, sublayer, norm: start + sublayer(norm(x)),
        "x is normalised twice": lambda x, sublayer, norm: norm(x) + sublayer(norm(norm(x))),
    }
    slips = {}
    for slip, step in steps.items():
        slips[slip] = [x]
        for sublayer, norm in zip(sublayers, norms, strict=True):
            slips[slip].append(step(slips[slip][-1], sublayer, norm).detach())
    states = [x]
    for sublayer, norm in zip(sublayers, norms, strict=True):
        states.append(states[-1] + sublayer(norm(states[-1])).detach())
    slips["each state is put into the list before its sub-layer is added"] = [x, *states[:-1]]
    return slips


def encoder_layer(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    """Outputs of wrong wirings of the learner's own parts, in eval mode, for x (batch, src_len, d_model)."""
    attend, feed, first, second = layer.self_attention, layer.feed_forward, layer.add_norm_1, layer.add_norm_2
    with torch.no_grad():
        attended = attend(x, x, x, mask)
        y = first(x, attended)
        slips = {
            "the mask is not handed to the attention": _finish(feed, second, first(x, attend(x, x, x))),
            "all sentences get the mask of the first": (
                _finish(feed, second, first(x, attend(x, x, x, None if mask is None else mask[:1])))
            ),
            "the second residual starts from the layer's input": second(x, feed(y)),
            "the second residual starts from the attention's output": second(attended, feed(y)),
            "the feed-forward network reads the layer's input": second(y, feed(x)),
            "x is added before add_norm_1, which adds it once more": _finish(feed, second, first(x, x + attended)),
            "x is added before add_norm_2, which adds it once more": second(y, y + feed(y)),
            "x is added before each add & norm, which adds it once more": _doubled(
                feed, second, first(x, x + attended)
            ),
            "x is added once more behind each add & norm": x + y + second(x + y, feed(x + y)),
            "the first add & norm is left out": second(attended, feed(attended)),
            "the second add & norm is left out": feed(y),
            "the feed-forward network is left out": y,
            "the attention is left out": _finish(feed, second, x),
            "add_norm_1 is used twice": first(y, feed(y)),
            "add_norm_2 is used twice": _finish(feed, second, second(x, attended)),
            "add_norm_1 and add_norm_2 are exchanged": _finish(feed, first, second(x, attended)),
            "the feed-forward network comes before the attention": _attention_second(layer, x, mask),
            "the norms come before the sub-layers (pre-norm); the paper puts them after": _pre_norm(layer, x, mask),
        }
        return possible(slips, second(y, feed(y)))


def decoder_layer(
    layer: LearnersDecoderLayer, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> dict[str, Tensor]:
    """Outputs of wrong wirings, for x (batch, tgt_len, d_model) and memory (batch, src_len, d_model)."""
    own, cross, feed = layer.self_attention, layer.cross_attention, layer.feed_forward
    first, second, third = layer.add_norm_1, layer.add_norm_2, layer.add_norm_3

    def wired(
        own_out: Tensor | None = None,
        cross_out: TensorFunction | None = None,
        first: TensorFunction = first,
        second: TensorFunction = second,
        third: TensorFunction = third,
    ) -> Tensor:
        y = first(x, own(x, x, x, tgt_mask) if own_out is None else own_out)
        z = second(y, cross(y, memory, memory, src_mask) if cross_out is None else cross_out(y))
        return third(z, feed(z))

    def last(y: Tensor, z: Tensor) -> Tensor:
        return third(z, feed(y))

    def doubled() -> Tensor:
        y = first(x, x + own(x, x, x, tgt_mask))
        return _doubled(feed, third, second(y, y + cross(y, memory, memory, src_mask)))

    with torch.no_grad():
        y = first(x, own(x, x, x, tgt_mask))
        crossed = cross(y, memory, memory, src_mask)
        z = second(y, crossed)
        turned = first(x, cross(x, memory, memory, src_mask))
        normed = x + own(first.norm(x), first.norm(x), first.norm(x), tgt_mask)
        normed = normed + cross(second.norm(normed), memory, memory, src_mask)
        added = x + y
        added = added + second(added, cross(added, memory, memory, src_mask))
        slips = {
            "the self-attention gets no mask, so every position sees the future": wired(own_out=own(x, x, x)),
            "the cross-attention gets no mask, so it sees the padding of the source": wired(
                cross_out=lambda y: cross(y, memory, memory)
            ),
            "neither attention gets a mask": wired(own_out=own(x, x, x), cross_out=lambda y: cross(y, memory, memory)),
            "the cross-attention comes before the self-attention": _finish(
                feed, third, second(turned, own(turned, turned, turned, tgt_mask))
            ),
            "the norms come before the sub-layers (pre-norm); the paper puts them after": normed
            + feed(third.norm(normed)),
            "x is added once more behind each add & norm": added + third(added, feed(added)),
            "both later residuals start from the layer's input": third(x, feed(second(x, crossed))),
            "the cross-attention reads x instead of the output of the first add & norm": wired(
                cross_out=lambda _: cross(x, memory, memory, src_mask)
            ),
            "the cross-attention is left out": third(y, feed(y)),
            "the masked self-attention is left out": _finish(
                feed, third, second(x, cross(x, memory, memory, src_mask))
            ),
            "there is no residual around the cross-attention": last(second.norm(crossed), second.norm(crossed)),
            "the second residual starts from the layer's input": _finish(feed, third, second(x, crossed)),
            "the third residual starts from the layer's input": third(x, feed(z)),
            "the third residual starts from before the cross-attention": third(y, feed(z)),
            "the feed-forward network reads what came before the cross-attention": last(y, z),
            "x is added before each add & norm, which adds it once more": doubled(),
            "the feed-forward network is left out": z,
            "the third add & norm is left out": feed(z),
            "the first add & norm is left out": wired(first=lambda _, attended: attended),
            "add_norm_1 is used for all three": wired(second=first, third=first),
            "add_norm_2 is used twice, add_norm_3 never": wired(third=second),
            "add_norm_2 and add_norm_3 are exchanged": wired(second=third, third=second),
            "self_attention and cross_attention are exchanged": wired(
                own_out=cross(x, x, x, tgt_mask), cross_out=lambda y: own(y, memory, memory, src_mask)
            ),
            "one attention does both jobs: self_attention": wired(cross_out=lambda y: own(y, memory, memory, src_mask)),
        }
        if x.shape == memory.shape:
            slips |= {
                "the cross-attention attends to the target instead of the memory": wired(
                    cross_out=lambda y: cross(y, y, y, src_mask)
                ),
                "the cross-attention attends to the target, with the mask of the target": wired(
                    cross_out=lambda y: cross(y, y, y, tgt_mask)
                ),
                "query and memory are exchanged in the cross-attention": wired(
                    cross_out=lambda y: cross(memory, y, y, src_mask)
                ),
                "the keys of the cross-attention come from the target": wired(
                    cross_out=lambda y: cross(y, y, memory, src_mask)
                ),
                "the values of the cross-attention come from the target": wired(
                    cross_out=lambda y: cross(y, memory, y, src_mask)
                ),
                "the cross-attention gets the mask of the target": wired(
                    cross_out=lambda y: cross(y, memory, memory, tgt_mask)
                ),
                "the self-attention gets the mask of the source": wired(own_out=own(x, x, x, src_mask)),
                "the two masks are exchanged": wired(
                    own_out=own(x, x, x, src_mask), cross_out=lambda y: cross(y, memory, memory, tgt_mask)
                ),
                "the second residual starts from the memory": _finish(feed, third, second(memory, crossed)),
            }
        return possible(slips, third(z, feed(z)))


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


def _finish(feed: TensorFunction, norm: TensorFunction, y: Tensor) -> Tensor:
    return norm(y, feed(y))


def _doubled(feed: TensorFunction, norm: TensorFunction, y: Tensor) -> Tensor:
    return norm(y, y + feed(y))


def _attention_second(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> Tensor:
    y = layer.add_norm_1(x, layer.feed_forward(x))
    return layer.add_norm_2(y, layer.self_attention(y, y, y, mask))


def _pre_norm(layer: LearnersEncoderLayer, x: Tensor, mask: Tensor | None) -> Tensor:
    normed: Tensor = layer.add_norm_1.norm(x)
    y = x + layer.self_attention(normed, normed, normed, mask)
    return y + layer.feed_forward(layer.add_norm_2.norm(y))


def possible(slips: dict[str, Tensor], right: Tensor) -> dict[str, Tensor]:
    """Only the slips that show on these inputs; two that look the same there stay, and neither will be named."""
    return {
        slip: values
        for slip, values in slips.items()
        if values.shape != right.shape or not torch.allclose(values, right, atol=1e-3)
    }
