"""Exercise `DecoderLayer`: its cases and its slips."""

from itertools import islice
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_4 import shared
from autograder.exercises.shared import device, possible, sizes, tensors, without_dropout
from autograder.parts.attention import TensorFunction
from autograder.parts.blocks import LearnersDecoderLayer


def part_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """The six parts of a decoder layer, of every size and each its own."""
    shared.require_parts("DecoderLayer", answer, seed)


def value_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """Values and gradients for masks of every kind, target and source of any lengths, likewise."""
    for index, size in enumerate(sizes(seed, 3, **shared.RANGES, src_len=(1, 8))):
        batch, tgt_len, num_heads, d_k, d_ff, src_len = size.values()
        layer: Any = data.randomized(without_dropout(answer(num_heads * d_k, num_heads, d_ff)), seed=seed + index)
        shapes = (batch, tgt_len, num_heads * d_k), (batch, src_len, num_heads * d_k)
        x, memory = tensors(*shapes, seed=31 * seed + index)
        twin = parts.decoder_layer_twin(layer, num_heads)
        with check.case(num_heads=num_heads, x=x, memory=memory):
            output = layer(x.clone(), memory.clone())
            check.shape("layer(x, memory)", output, batch=batch, tgt_len=tgt_len, d_model=num_heads * d_k)
        own = [None, *shared.kinds(seed + index, batch, num_heads, tgt_len, tgt_len), None, None]
        cross = [None, None, *shared.kinds(seed + index + 9, batch, num_heads, tgt_len, src_len), None]
        for turn, (tgt_mask, src_mask) in islice(enumerate(zip(own, cross, strict=True)), index % 3, None, 3):
            source = memory if turn % 2 else 1 - memory
            hidden = shared.blocked(src_mask, batch, num_heads, tgt_len, src_len)
            unseen = shared.blocked(tgt_mask, batch, num_heads, tgt_len, tgt_len)
            expected = twin(x, source, tgt_mask=unseen, memory_mask=hidden).detach()
            causal = parts.causal_mask(tgt_len)
            alone = twin(x, source, tgt_mask=~causal, memory_mask=hidden)
            joined = _wired(layer, x, source, src_mask, causal if tgt_mask is None else causal & tgt_mask)
            own_causal = {
                "`tgt_mask` is not used, and a causal mask of the layer's own is": alone.detach(),
                "a causal mask of the layer's own is joined to `tgt_mask`": joined.detach(),
            }
            told = possible(own_causal, expected)
            given = {"x": x, "memory": source, "src_mask": src_mask, "tgt_mask": tgt_mask}
            by_name = {"tgt_mask": tgt_mask, "src_mask": src_mask}
            for mode in ("train", "eval"):
                getattr(layer, mode)()
                with check.case(num_heads=num_heads, mode=mode, **given), shared.unchanged(**given):
                    output = layer(x, source, src_mask, tgt_mask)
                    check.close("layer(x, memory, src_mask, tgt_mask)", output, expected, mistakes=told)
                    if mode == "eval":
                        name = "layer(x, memory, tgt_mask=tgt_mask, src_mask=src_mask)"
                        check.close(name, layer(x, source, **by_name), expected, mistakes=told)
    device(seed, "layer(x, memory)", layer, x, memory)
    x.requires_grad_(), memory.requires_grad_()
    for training in (True, False):
        expected, output = twin(x, memory), layer.train(training)(x, memory)
        check.gradients_agree("layer(x, memory)", output / 4, expected / 4, x=x, memory=memory)
        check.gradients_reach(dict(layer.named_parameters()), output)
    before = expected.detach()
    data.randomized(layer, seed=seed + 51)
    expected = parts.decoder_layer_twin(layer, num_heads)(x, memory).detach()
    told = possible({"the output of an earlier call comes back, from before the weights changed": before}, expected)
    check.close("`layer(x, memory)` with other weights", layer(x, memory), expected, mistakes=told)


def mask_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """No later target position and no padding of the source reaches the output, and all others do."""
    layer: Any = without_dropout(answer(12, 3, 20))
    x, memory = tensors((1, 6, 12), (1, 6, 12), seed=seed)
    given = torch.tensor([1, 1, 1, 1, 0, 0]).bool(), parts.causal_mask(6)
    future, padding, word = x.clone(), memory.clone(), memory.clone()
    future[:, 5], padding[:, 4:], word[:, 3] = 2.0, 2.0, 2.0
    for training in (False, True):
        layer.train(training)
        call = shared.on_copies(layer)
        before = call(x, memory, *given)
        check.shape("layer(x, memory, …)", before, batch=1, tgt_len=6, d_model=12)
        slip = "Is there a dropout of another rate, a part in a plain list, or one that is made anew in each call?"
        same = torch.allclose(before, call(x, memory, *given), atol=1e-4, equal_nan=True)
        check.true(same, "`layer(x, memory, …)` differs from call to call, though its dropout is off.", slip)
        after = call(future, memory, *given)
        slip = "The future leaks: an earlier position sees what comes after it."
        check.stays("layer(…)[:, :5]", after[:, :5], before[:, :5], when="x changes at position 5", slip=slip)
        check.differs("layer(…)[:, 5]", after[:, 5], before[:, 5], when="x changes at position 5")
        after = call(x, padding, *given)
        slip = "Something lets the padding of the source in."
        check.stays("layer(…)", after, before, when="the memory changes where src_mask hides it", slip=slip)
        after = call(x, word, *given)
        check.differs("layer(…)[:, 0]", after[:, 0], before[:, 0], when="the last source word changes")


def rate_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """The dropout of a decoder layer is that of its parts."""
    shared.require_rates("DecoderLayer", answer, seed)


def dropout_cases(answer: shared.Layer, *, seed: int = 0) -> None:
    """What each part of a decoder layer returns is dropped out, once, and what it reads never is."""
    given = dict(zip(("x", "memory"), tensors((2, 4, 12), (2, 4, 12), seed=seed), strict=True))
    memories = tensors((20, 6, 12), seed=seed)
    shared.require_dropout("DecoderLayer", answer, parts.decoder_layer_twin, given, *memories, tgt_len=4)


@torch.no_grad()
def slips(
    layer: LearnersDecoderLayer, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> dict[str, Tensor]:
    """Outputs of wrong wirings, for x (batch, tgt_len, d_model) and memory (batch, src_len, d_model)."""
    own, cross, feed = layer.self_attention, layer.cross_attention, layer.feed_forward
    first, second, third = layer.add_norm_1, layer.add_norm_2, layer.add_norm_3

    def wired(
        own_out: Tensor | None = None,
        *,
        query: Tensor | None = None,
        key: Tensor | None = memory,
        value: Tensor | None = memory,
        mask: Tensor | None = src_mask,
        cross: TensorFunction = cross,
        first: TensorFunction = first,
        second: TensorFunction = second,
        third: TensorFunction = third,
    ) -> Tensor:
        """The output where the cross-attention gets these; None stands for what reaches it from the target."""
        y = first(x, own(x, x, x, tgt_mask) if own_out is None else own_out)
        query, key, value = (y if given is None else given for given in (query, key, value))
        z = second(y, cross(query, key, value, mask))
        return third(z, feed(z))

    def rest(z: Tensor) -> Tensor:
        return third(z, feed(z))

    y = first(x, own(x, x, x, tgt_mask))
    crossed, unmasked = cross(y, memory, memory, src_mask), own(x, x, x)
    z = second(y, crossed)
    turned = first(x, cross(x, memory, memory, src_mask))
    normed = x + own(first.norm(x), first.norm(x), first.norm(x), tgt_mask)
    normed = normed + cross(second.norm(normed), memory, memory, src_mask)
    fed, plain, by_second = rest(y), F.layer_norm(memory, memory.shape[-1:]), second.norm(memory)
    added = x + y
    added = added + second(added, cross(added, memory, memory, src_mask))
    doubled = first(x, x + own(x, x, x, tgt_mask))
    doubled = second(doubled, doubled + cross(doubled, memory, memory, src_mask))
    slips = {
        "the self-attention gets no mask, so every position sees the future": wired(unmasked),
        "the cross-attention gets no mask, so it sees the padding of the source": wired(mask=None),
        "neither attention gets a mask": wired(unmasked, mask=None),
        "the cross-attention comes before the self-attention": rest(
            second(turned, own(turned, turned, turned, tgt_mask))
        ),
        "the norms come before the sub-layers (pre-norm); the paper puts them after": (
            normed + feed(third.norm(normed))
        ),
        "x is added once more behind each add & norm": added + rest(added),
        "both later residuals start from the layer's input": third(x, feed(second(x, crossed))),
        "the cross-attention reads x instead of the output of the first add & norm": wired(query=x),
        "the cross-attention is left out": fed,
        "both attentions read x side by side and share one add & norm": rest(
            first(x, own(x, x, x, tgt_mask) + cross(x, memory, memory, src_mask))
        ),
        "the self-attention runs twice, and the cross-attention never": rest(second(y, own(y, y, y, tgt_mask))),
        "the masked self-attention is left out": rest(second(x, cross(x, memory, memory, src_mask))),
        "there is no residual around the cross-attention": rest(second.norm(crossed)),
        "the second residual starts from the layer's input": rest(second(x, crossed)),
        "the third residual starts from the layer's input": third(x, feed(z)),
        "the third residual starts from before the cross-attention": third(y, feed(z)),
        "the feed-forward network reads what came before the cross-attention": third(z, feed(y)),
        "x counts twice in each add & norm: it is added before as well, or what is added is halved": third(
            doubled, doubled + feed(doubled)
        ),
        "the feed-forward network is left out": z,
        "the third add & norm gets x twice, and the feed-forward network is not used": third(z, z),
        "the feed-forward network runs before the cross-attention as well": rest(
            second(fed, cross(fed, memory, memory, src_mask))
        ),
        "the memory is normalised before the cross-attention reads it": wired(key=plain, value=plain),
        "the memory goes through the norm of add_norm_2 before the cross-attention reads it": wired(
            key=by_second, value=by_second
        ),
        "the third add & norm is left out": feed(z),
        "the first add & norm is left out": wired(first=lambda _, attended: attended),
        "add_norm_1 is used for all three": wired(second=first, third=first),
        "add_norm_2 is used twice, add_norm_3 never": wired(third=second),
        "add_norm_2 and add_norm_3 are exchanged": wired(second=third, third=second),
        "self_attention and cross_attention are exchanged": wired(cross(x, x, x, tgt_mask), cross=own),
        "one attention does both jobs: self_attention": wired(cross=own),
    }
    if src_mask is not None and tgt_mask is not None:
        own_turned = own(x, x, x, ~tgt_mask)
        slips |= {
            "tgt_mask is read the wrong way round (True = may attend)": wired(own_turned),
            "src_mask is read the wrong way round (True = may attend)": wired(mask=~src_mask),
            "the masks are read the wrong way round (True = may attend)": wired(own_turned, mask=~src_mask),
        }
    if x.shape == memory.shape:
        if src_mask is not None and tgt_mask is not None:
            joined = wired(own(x, x, x, tgt_mask & src_mask))
            slips["the self-attention gets both masks joined, instead of tgt_mask alone"] = joined
        of_source = own(x, x, x, src_mask)
        slips |= {
            "x and the memory are exchanged": _wired(layer, memory, x, src_mask, tgt_mask),
            "the cross-attention attends to the target instead of the memory": wired(key=None, value=None),
            "the cross-attention attends to the target, with the mask of the target": wired(
                key=None, value=None, mask=tgt_mask
            ),
            "query and memory are exchanged in the cross-attention": wired(query=memory, key=None, value=None),
            "the keys of the cross-attention come from the target": wired(key=None),
            "the values of the cross-attention come from the target": wired(value=None),
            "the cross-attention gets the mask of the target": wired(mask=tgt_mask),
            "the self-attention gets the mask of the source": wired(of_source),
            "the two masks are exchanged": wired(of_source, mask=tgt_mask),
            "the second residual starts from the memory": rest(second(memory, crossed)),
        }
    return possible(slips, rest(z))


def _wired(
    layer: LearnersDecoderLayer, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> Tensor:
    y = layer.add_norm_1(x, layer.self_attention(x, x, x, tgt_mask))
    z = layer.add_norm_2(y, layer.cross_attention(y, memory, memory, src_mask))
    return layer.add_norm_3(z, layer.feed_forward(z))
