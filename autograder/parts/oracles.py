"""Oracles: PyTorch's own layers with a learner's weights copied in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.blocks import LearnersDecoderLayer, LearnersEncoderLayer
from autograder.parts.model import LearnersTransformer
from autograder.parts.position import sinusoidal_encoding


def encoder_layer_twin(layer: LearnersEncoderLayer, num_heads: int) -> nn.TransformerEncoderLayer:
    """`nn.TransformerEncoderLayer` with the weights of a course-built encoder layer, in eval mode."""
    first = layer.feed_forward.linear_1
    oracle = nn.TransformerEncoderLayer(first.in_features, num_heads, first.out_features, batch_first=True)
    _copy(layer.self_attention.attention, oracle.self_attn)
    _copy(layer.feed_forward.linear_1, oracle.linear1)
    _copy(layer.feed_forward.linear_2, oracle.linear2)
    _copy(layer.add_norm_1.norm, oracle.norm1)
    _copy(layer.add_norm_2.norm, oracle.norm2)
    return oracle.to(first.weight).eval()


def decoder_layer_twin(layer: LearnersDecoderLayer, num_heads: int) -> nn.TransformerDecoderLayer:
    """`nn.TransformerDecoderLayer` with the weights of a course-built decoder layer, in eval mode."""
    first = layer.feed_forward.linear_1
    oracle = nn.TransformerDecoderLayer(first.in_features, num_heads, first.out_features, batch_first=True)
    _copy(layer.self_attention.attention, oracle.self_attn)
    _copy(layer.cross_attention.attention, oracle.multihead_attn)
    _copy(layer.feed_forward.linear_1, oracle.linear1)
    _copy(layer.feed_forward.linear_2, oracle.linear2)
    _copy(layer.add_norm_1.norm, oracle.norm1)
    _copy(layer.add_norm_2.norm, oracle.norm2)
    _copy(layer.add_norm_3.norm, oracle.norm3)
    return oracle.to(first.weight).eval()


def stack_twin(layers: nn.ModuleList) -> nn.TransformerEncoder | nn.TransformerDecoder:
    """PyTorch's stack, in eval mode and without a norm at its end, with the weights of `layers`.

    Args:
        layers: this package's `EncoderLayer` or `DecoderLayer`, all of one size.
    """
    first = _first(layers)
    oracle: nn.TransformerEncoder | nn.TransformerDecoder
    if isinstance(first, nn.TransformerEncoderLayer):
        encoder_layer = nn.TransformerEncoderLayer(*_sizes(first), batch_first=True)
        oracle = nn.TransformerEncoder(encoder_layer, len(layers), enable_nested_tensor=False)
    else:
        oracle = nn.TransformerDecoder(nn.TransformerDecoderLayer(*_sizes(first), batch_first=True), len(layers))
    _copy(layers, oracle.layers)
    return oracle.to(first.linear1.weight).eval()


def transformer_twin(model: LearnersTransformer) -> Callable[[Tensor, Tensor], Tensor]:
    """`nn.Transformer` with the weights of a course-built model: (src, tgt) → logits, in eval mode."""
    encoder, decoder = model.encoder.layers, model.decoder.layers
    d_model, num_heads, _ = _sizes(_first(encoder))
    oracle = nn.Transformer(
        d_model, num_heads, batch_first=True, custom_encoder=stack_twin(encoder), custom_decoder=stack_twin(decoder)
    ).eval()
    _copy(encoder, oracle.encoder.layers)  # nn.Transformer draws what it is given anew
    _copy(decoder, oracle.decoder.layers)

    def embed(table: Tensor, tokens: Tensor) -> Tensor:
        positions = sinusoidal_encoding(tokens.size(1), table.size(1)).to(table)
        return F.embedding(tokens, table) * math.sqrt(table.size(1)) + positions

    def logits(src: Tensor, tgt: Tensor) -> Tensor:
        src_padding, tgt_padding = src == model.pad_id, tgt == model.pad_id
        output: Tensor = oracle(
            embed(model.src_embedding.embedding.weight, src),
            embed(model.tgt_embedding.embedding.weight, tgt),
            tgt_mask=torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=src_padding,
            memory_key_padding_mask=src_padding,
            tgt_key_padding_mask=tgt_padding,
        )
        return F.linear(output, model.output_projection.weight, model.output_projection.bias)

    return logits


def _first(layers: nn.ModuleList) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
    return cast(nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, layers[0])


def _sizes(layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> tuple[int, int, int]:
    """d_model, num_heads and d_ff of one of PyTorch's layers."""
    return layer.self_attn.embed_dim, layer.self_attn.num_heads, layer.linear1.out_features


def _copy(source: nn.Module, target: nn.Module) -> None:
    target.load_state_dict(source.state_dict())


def parameters_of(**layers: nn.Module) -> dict[str, tuple[int, ...]]:
    """Name → shape of every parameter that a module with these layers has, for `check.parameters`."""
    return {
        f"{name}.{key}": tuple(value.shape) for name, layer in layers.items() for key, value in layer.named_parameters()
    }
