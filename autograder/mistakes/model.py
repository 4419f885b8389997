"""Slips of lesson 5: the stacks and the whole model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.mistakes.blocks import possible
from autograder.parts.model import LearnersTransformer


def encoder(layers: nn.ModuleList, x: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    """Outputs of a badly wired stack of the learner's own `layers`, for x (batch, src_len, d_model)."""
    with torch.no_grad():
        slips = {
            "the mask is not handed to the layers": _through(layers, x, lambda y, layer: layer(y)),
            "the mask is handed to the first layer only": _through(
                layers[1:], layers[0](x, mask), lambda y, layer: layer(y)
            ),
        }
        if mask is not None:
            slips["all rows get the mask of the first"] = _through(layers, x, lambda y, layer: layer(y, mask[:1]))
        return _stack(layers, x, lambda y, layer: layer(y, mask), slips)


def decoder(
    layers: nn.ModuleList, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> dict[str, Tensor]:
    """Outputs of a badly wired stack, for x (batch, tgt_len, d_model) and memory (batch, src_len, d_model)."""
    masked = {"src_mask": src_mask, "tgt_mask": tgt_mask}
    with torch.no_grad():
        slips = {
            "no mask is handed to the layers, so that a position sees the ones after it": _through(
                layers, x, lambda y, layer: layer(y, memory)
            ),
            "`tgt_mask` is not handed to the layers, so that a position sees the ones after it": _through(
                layers, x, lambda y, layer: layer(y, memory, src_mask=src_mask)
            ),
            "the masks are handed to the first layer only": _through(
                layers[1:], layers[0](x, memory, **masked), lambda y, layer: layer(y, memory)
            ),
            "`src_mask` is not handed to the layers": _through(
                layers, x, lambda y, layer: layer(y, memory, tgt_mask=tgt_mask)
            ),
        }
        if src_mask is None:
            slips["the layers attend to the target instead of the memory"] = _through(
                layers, x, lambda y, layer: layer(y, y, tgt_mask=tgt_mask)
            )
        return _stack(layers, x, lambda y, layer: layer(y, memory, **masked), slips)


def _stack(
    layers: nn.ModuleList, x: Tensor, step: Callable[[Tensor, nn.Module], Tensor], others: dict[str, Tensor]
) -> dict[str, Tensor]:
    right = _through(layers, x, step)
    slips = {
        "every layer reads the input of the stack, so that only the last one counts": step(x, layers[-1]),
        "only the first layer is used": step(x, layers[0]),
        "the first layer is used every time": _through([layers[0]] * len(layers), x, step),
        "the layers run in reverse order": _through(reversed(layers), x, step),
        "each layer's output is added to its input, which the layers do themselves": _through(
            layers, x, lambda y, layer: y + step(y, layer)
        ),
        "there is one more norm at the end": F.layer_norm(right, right.shape[-1:]),
    }
    return possible(others | slips, right)


def _through(layers: Iterable[nn.Module], x: Tensor, step: Callable[[Tensor, nn.Module], Tensor]) -> Tensor:
    for layer in layers:
        x = step(x, layer)
    return x


def transformer(model: LearnersTransformer, src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """Logits of badly joined parts, for src (batch, src_len) and tgt (batch, tgt_len) without padding.

    Args:
        model: the learner's own, in eval mode; its vocabulary of the source is the larger one.
    """
    place = model.positional_encoding
    source, target = model.src_embedding(src), model.tgt_embedding(tgt)
    causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()

    def logits(source: Tensor, target: Tensor, memory: Tensor | None = None) -> Tensor:
        memory = model.encoder(source) if memory is None else memory
        result: Tensor = model.output_projection(model.decoder(target, memory, tgt_mask=causal))
        return result

    with torch.no_grad():
        right = logits(place(source), place(target))
        scale = source.size(-1) ** 0.5
        slips = {
            "no positions are added, neither to the source nor to the target": logits(source, target),
            "no positions are added to the source": logits(source, place(target)),
            "no positions are added to the target": logits(place(source), target),
            "positions are added twice": logits(place(place(source)), place(place(target))),
            "the embeddings are multiplied by √d_model once more; they do that themselves": logits(
                place(scale * source), place(scale * target)
            ),
            "the embeddings are multiplied by √d_model after the positions have been added": logits(
                scale * place(source), scale * place(target)
            ),
            "the embeddings are not multiplied by √d_model, as `embedding` is called inside them": logits(
                place(source / scale), place(target / scale)
            ),
            "the source is not multiplied by √d_model": logits(place(source / scale), place(target)),
            "the target is not multiplied by √d_model": logits(place(source), place(target / scale)),
            "the target is embedded with `src_embedding`": logits(place(source), place(model.src_embedding(tgt))),
            "the encoder is left out: the memory is the embedded source": logits(
                place(source), place(target), memory=place(source)
            ),
            "the decoder is left out": model.output_projection(place(target)),
            "a softmax is applied to the logits": right.softmax(-1),
            "a ReLU is applied to the logits": right.relu(),
        }
        if model.output_projection.bias is not None:
            slips["the bias of the output layer is left out"] = right - model.output_projection.bias
        return possible(slips, right)


def transformer_padding(model: LearnersTransformer, src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """Logits of a model that does not hide the padding of src (batch, src_len) everywhere."""
    keys = torch.ne(src, model.pad_id)[:, None, None, :]
    masks = {"tgt_mask": torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()}
    with torch.no_grad():
        source = model.positional_encoding(model.src_embedding(src))
        target = model.positional_encoding(model.tgt_embedding(tgt))

        def logits(encoder_mask: Tensor | None, cross_mask: Tensor | None) -> Tensor:
            memory = model.encoder(source, src_mask=encoder_mask)
            result: Tensor = model.output_projection(model.decoder(target, memory, src_mask=cross_mask, **masks))
            return result

        slips = {
            "the encoder gets no mask, so words attend to padding": logits(None, keys),
            "the cross-attention gets no mask, so the target attends to the padding of the source": logits(keys, None),
            "neither the encoder nor the cross-attention gets the mask of the source": logits(None, None),
            "all sentences get the source mask of the first": logits(keys[:1], keys[:1]),
        }
        if model.pad_id:
            zeros = torch.ne(src, 0)[:, None, None, :]
            slips["`pad_id` is not handed on to `padding_mask`, which hides token 0 instead"] = logits(zeros, zeros)
        return possible(slips, logits(keys, keys))


def transformer_future(model: LearnersTransformer, src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """Logits of a model whose decoder sees the future, for src (batch, src_len) and tgt (batch, tgt_len) unpadded."""
    with torch.no_grad():
        memory = model.encoder(model.positional_encoding(model.src_embedding(src)))
        target = model.positional_encoding(model.tgt_embedding(tgt))
        later = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool)
        masks = {
            "the decoder gets no causal mask, so it sees the future": None,
            "the mask of the decoder is one diagonal off, so a position sees the one after it": later.tril(1),
            "the causal mask is upside down, so a position sees itself and the future": later.triu(),
        }
        return {
            slip: model.output_projection(model.decoder(target, memory, tgt_mask=mask)) for slip, mask in masks.items()
        }


def parameters_by_sizes(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> dict[str, Tensor]:
    """Wrong numbers of parameters of a Transformer whose embeddings are shared."""
    table, norm = vocab_size * d_model, 2 * d_model
    attention, feed_forward = 4 * (d_model**2 + d_model), 2 * d_model * d_ff + d_ff + d_model
    layers = num_layers * (3 * attention + 2 * feed_forward + 5 * norm)
    right = layers + table + vocab_size
    slips = {
        "the bias of the output layer is left out": right - vocab_size,
        "the shared matrix is counted three times": right + 2 * table,
        "the shared matrix is counted twice": right + table,
        "the shared matrix is left out": right - table,
        "a decoder layer has one attention": right - num_layers * attention,
        "a decoder layer has two norms, or a feed-forward network no second bias": right - num_layers * norm,
        "a decoder layer is counted like an encoder layer": right - num_layers * (attention + norm),
        "the bias of the output layer has d_model numbers instead of vocab_size": right - vocab_size + d_model,
        "both biases of a feed-forward network have d_ff numbers": right + num_layers * 2 * (d_ff - d_model),
        "both biases of a feed-forward network have d_model numbers": right - num_layers * 2 * (d_ff - d_model),
        "the first bias of the feed-forward networks is left out": right - num_layers * 2 * d_ff,
        "a feed-forward network has one matrix": right - num_layers * 2 * d_model * d_ff,
        "the decoder has no feed-forward networks": right - num_layers * feed_forward,
        "a norm has one vector": right - num_layers * 5 * d_model,
        "the norms are left out": right - num_layers * 5 * norm,
        "the biases of the attention are left out": right - num_layers * 12 * d_model,
        "the biases of the feed-forward networks are left out": right - num_layers * 2 * (d_ff + d_model),
        "the biases of the layers are left out": right - num_layers * (12 * d_model + 2 * (d_ff + d_model)),
        "an attention has three matrices, without w_o": right - num_layers * 3 * (d_model**2 + d_model),
        "there is one layer in each stack": right - layers + layers // num_layers,
        "each stack ends in one more norm": right + 2 * norm,
        "every head has matrices of the full size": right + num_layers * 6 * attention,
    }
    return _numbers(slips, right)


def multiplications(
    src_len: int, tgt_len: int, vocab_size: int, d_model: int, num_layers: int, d_ff: int
) -> dict[str, Tensor]:
    """Wrong numbers of multiplications in the matrix products of one prediction."""

    def products(query_len: int, key_len: int) -> int:
        return query_len * key_len * d_model

    def projections(query_len: int, key_len: int) -> int:
        return 2 * (query_len + key_len) * d_model**2

    pairs = [(src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)]
    scores, linear = sum(products(*pair) for pair in pairs), sum(projections(*pair) for pair in pairs)
    crossing = projections(tgt_len, src_len) + 2 * products(tgt_len, src_len)
    forward = 2 * (src_len + tgt_len) * d_model * d_ff
    output = tgt_len * d_model * vocab_size
    layers = num_layers * (2 * scores + linear + forward)
    right = layers + output
    slips = {
        "scores and weighted sums are left out": right - num_layers * 2 * scores,
        "the weighted sums, or the scores, are left out": right - num_layers * scores,
        "the cross-attention is left out": right - num_layers * crossing,
        "the cross-attention takes its keys and values from the target": right
        + num_layers * (projections(tgt_len, tgt_len) + 2 * products(tgt_len, tgt_len) - crossing),
        "in the cross-attention, w_k and w_v read the target instead of the source": right
        + num_layers * 2 * (tgt_len - src_len) * d_model**2,
        "w_o is left out": right - num_layers * (src_len + 2 * tgt_len) * d_model**2,
        "a feed-forward network has one matrix": right - num_layers * forward // 2,
        "the decoder has no feed-forward networks": right - num_layers * 2 * tgt_len * d_model * d_ff,
        "scores and weighted sums lack the factor d_model": right - num_layers * 2 * (scores - scores // d_model),
        "the output layer scores a single position": right - (tgt_len - 1) * d_model * vocab_size,
        "the decoder has no self-attention": right
        - num_layers * (projections(tgt_len, tgt_len) + 2 * products(tgt_len, tgt_len)),
        "the feed-forward networks are left out": right - num_layers * forward,
        "the output layer is left out": right - output,
        "the output layer scores the source, too": right + src_len * d_model * vocab_size,
        "there is one layer in each stack": right - layers + layers // num_layers,
        "the additions are counted as well": 2 * right,
        "the embeddings are counted as matrix products": right + (src_len + tgt_len) * d_model * vocab_size,
    }
    return _numbers(slips, right)


def distribution(parameter: Tensor) -> str | None:
    """The slip in drawing a large matrix (fan_out, fan_in) otherwise than uniformly by Xavier's rule, where known."""
    fan_out, fan_in = parameter.shape
    total, by = fan_in + fan_out, "the numbers are drawn by `nn.init."
    sizes = {  # the standard deviation, and whether the numbers are uniform
        f"{by}xavier_normal_`": (math.sqrt(2 / total), False),
        f"{by}kaiming_uniform_`": (math.sqrt(2 / fan_in), True),
        f"{by}kaiming_normal_`": (math.sqrt(2 / fan_in), False),
        "the bound is 6 / (fan_in + fan_out), without the root": (6 / total / math.sqrt(3), True),
        "the bound is √(1 / fan_in), which is PyTorch's for a linear layer": (math.sqrt(1 / fan_in / 3), True),
        "fan_in + fan_out lacks its parentheses": (math.sqrt((6 / fan_in + fan_out) / 3), True),
        "fan_out + fan_in lacks its parentheses": (math.sqrt((6 / fan_out + fan_in) / 3), True),
        "the numbers are drawn from a normal distribution whose standard deviation is Xavier's bound": (
            math.sqrt(6 / total),
            False,
        ),
    }
    size, most = parameter.detach().std().item(), parameter.detach().abs().max().item()
    proved = [
        slip
        for slip, (wanted, is_uniform) in sizes.items()
        if abs(size - wanted) < 0.02 * wanted and (most < 1.8 * size) == is_uniform
    ]
    return f"These are the values you get when {proved[0]}." if len(proved) == 1 else None


def _numbers(slips: dict[str, int], right: int) -> dict[str, Tensor]:
    return possible({slip: torch.tensor(float(count)) for slip, count in slips.items()}, torch.tensor(float(right)))


def parted_gradient(table: Tensor, bias: Tensor, words: Tensor) -> dict[str, Tensor]:
    """Gradients of a matrix that embedding and output layer should share, each with one of its own instead.

    Args:
        table: (vocab_size, d_model), the numbers of both.
        words: (batch,), of which the logits' log-sum-exp is taken.
    """
    embedding, output = (table.clone().requires_grad_() for _ in range(2))
    total = (embedding[words] @ output.T + bias).logsumexp(-1).sum()
    first, second = torch.autograd.grad(total, (embedding, output))
    return {
        "the output layer keeps its part of the gradient to itself": first,
        "the embedding keeps its part of the gradient to itself": second,
    }
