"""Slips of lesson 5: the stacks and the whole model."""

from __future__ import annotations

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
            "no mask is handed to the layers": _through(layers, x, lambda y, layer: layer(y, memory)),
            "`tgt_mask` is not handed to the layers": _through(
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
