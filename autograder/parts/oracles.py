"""Oracles: PyTorch's own layers with a learner's weights copied in."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.position import sinusoidal_encoding


def encoder_layer_twin(layer: nn.Module, num_heads: int) -> nn.TransformerEncoderLayer:
    """`nn.TransformerEncoderLayer` with the weights of a course-built encoder layer, in eval mode.

    Args:
        layer: made of this module's `MultiHeadAttention`, `FeedForward` and `AddNorm`, under the contract's names.
    """
    first = layer.feed_forward.linear_1
    twin = nn.TransformerEncoderLayer(first.in_features, num_heads, first.out_features, batch_first=True)
    _copy(layer.self_attention.attention, twin.self_attn)
    _copy_feed_forward_and_norms(layer, twin, count=2)
    return twin.to(first.weight).eval()


def decoder_layer_twin(layer: nn.Module, num_heads: int) -> nn.TransformerDecoderLayer:
    """`nn.TransformerDecoderLayer` with the weights of a course-built decoder layer, in eval mode."""
    first = layer.feed_forward.linear_1
    twin = nn.TransformerDecoderLayer(first.in_features, num_heads, first.out_features, batch_first=True)
    _copy(layer.self_attention.attention, twin.self_attn)
    _copy(layer.cross_attention.attention, twin.multihead_attn)
    _copy_feed_forward_and_norms(layer, twin, count=3)
    return twin.to(first.weight).eval()


def stack_twin(layers: nn.ModuleList) -> nn.TransformerEncoder | nn.TransformerDecoder:
    """PyTorch's stack, in eval mode and without a norm at its end, with the weights of `layers`.

    Args:
        layers: this module's `EncoderLayer` or `DecoderLayer`, all of one size.
    """
    first = layers[0]
    kind = nn.TransformerEncoderLayer if isinstance(first, nn.TransformerEncoderLayer) else nn.TransformerDecoderLayer
    sizes = first.self_attn.embed_dim, first.self_attn.num_heads, first.linear1.out_features
    layer = kind(*sizes, batch_first=True)
    if kind is nn.TransformerEncoderLayer:
        twin = nn.TransformerEncoder(layer, len(layers), enable_nested_tensor=False)
    else:
        twin = nn.TransformerDecoder(layer, len(layers))
    _copy(layers, twin.layers)
    return twin.to(first.linear1.weight).eval()


def transformer_twin(model: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    """`nn.Transformer` with the weights of a course-built model: (src, tgt) → logits, in eval mode.

    Args:
        model: named like `Transformer`, its encoder and decoder layers those of this module.
    """
    first = model.encoder.layers[0].self_attn
    stacks = {"custom_encoder": stack_twin(model.encoder.layers), "custom_decoder": stack_twin(model.decoder.layers)}
    twin = nn.Transformer(first.embed_dim, first.num_heads, batch_first=True, **stacks).eval()
    _copy(model.encoder.layers, twin.encoder.layers)  # nn.Transformer draws what it is given anew
    _copy(model.decoder.layers, twin.decoder.layers)

    def embed(table: Tensor, tokens: Tensor) -> Tensor:
        positions = sinusoidal_encoding(tokens.size(1), table.size(1)).to(table)
        return F.embedding(tokens, table) * table.size(1) ** 0.5 + positions

    def logits(src: Tensor, tgt: Tensor) -> Tensor:
        src_padding, tgt_padding = src == model.pad_id, tgt == model.pad_id
        output = twin(
            embed(model.src_embedding.embedding.weight, src),
            embed(model.tgt_embedding.embedding.weight, tgt),
            tgt_mask=torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=src_padding,
            memory_key_padding_mask=src_padding,
            tgt_key_padding_mask=tgt_padding,
        )
        return F.linear(output, model.output_projection.weight, model.output_projection.bias)

    return logits


def _copy_feed_forward_and_norms(layer: nn.Module, twin: nn.Module, count: int) -> None:
    _copy(layer.feed_forward.linear_1, twin.linear1)
    _copy(layer.feed_forward.linear_2, twin.linear2)
    for i in range(1, count + 1):
        _copy(getattr(layer, f"add_norm_{i}").norm, getattr(twin, f"norm{i}"))


def _copy(source: nn.Module, target: nn.Module) -> None:
    target.load_state_dict(source.state_dict())


def parameters_of(**layers: nn.Module) -> dict[str, tuple[int, ...]]:
    """Name → shape of every parameter that a module with these layers has, for `check.parameters`."""
    return {
        f"{name}.{key}": tuple(value.shape) for name, layer in layers.items() for key, value in layer.named_parameters()
    }
