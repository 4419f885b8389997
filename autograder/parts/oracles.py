"""Oracles: PyTorch's own layers with a learner's weights copied in."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.inputs import numbers_of, size_of
from autograder.parts.model import LearnersTransformer
from autograder.parts.position import sinusoidal_encoding

Module = TypeVar("Module", bound=nn.Module)
ENCODER_LAYER = {
    "self_attn": "self_attention.attention",
    "linear1": "feed_forward.linear_1",
    "linear2": "feed_forward.linear_2",
    "norm1": "add_norm_1.norm",
    "norm2": "add_norm_2.norm",
}
SRC, TGT, OUTPUT = "src_embedding.embedding.weight", "tgt_embedding.embedding.weight", "output_projection.weight"
DECODER_LAYER = ENCODER_LAYER | {"multihead_attn": "cross_attention.attention", "norm3": "add_norm_3.norm"}


def encoder_layer_twin(layer: nn.Module, num_heads: int) -> nn.TransformerEncoderLayer:
    """`nn.TransformerEncoderLayer` with the weights of a course-built encoder layer, in eval mode."""
    return _layer_twin(nn.TransformerEncoderLayer, layer, num_heads, ENCODER_LAYER)


def decoder_layer_twin(layer: nn.Module, num_heads: int) -> nn.TransformerDecoderLayer:
    """`nn.TransformerDecoderLayer` with the weights of a course-built decoder layer, in eval mode."""
    return _layer_twin(nn.TransformerDecoderLayer, layer, num_heads, DECODER_LAYER)


def _layer_twin(kind: Callable[..., Module], layer: nn.Module, num_heads: int, names: Mapping[str, str]) -> Module:
    sizes = size_of(layer, "add_norm_1.norm.bias"), num_heads, size_of(layer, "feed_forward.linear_1.bias")
    with torch.device("meta"):
        oracle = kind(*sizes, batch_first=True)
    return _filled(oracle, layer, names)


def stack_twin(layers: nn.ModuleList) -> nn.TransformerEncoder | nn.TransformerDecoder:
    """PyTorch's stack, in eval mode and without a norm at its end, with the weights of `layers`.

    Args:
        layers: this package's `EncoderLayer` or `DecoderLayer`, all of one size.
    """
    with torch.device("meta"):
        oracle = _stack(layers)
    return _filled(oracle, layers, {f"layers.{place}": str(place) for place in range(len(layers))})


def transformer_twin(model: LearnersTransformer) -> Callable[[Tensor, Tensor], Tensor]:
    """`nn.Transformer` with the weights of a course-built model as they are now: (src, tgt) → logits, in eval mode."""
    module, stacks = cast(nn.Module, model), {"encoder": model.encoder.layers, "decoder": model.decoder.layers}
    d_model, num_heads, _ = _sizes(stacks["encoder"])
    with torch.device("meta"):
        made: dict[str, Any] = {f"custom_{name}": _stack(layers) for name, layers in stacks.items()}
        oracle = nn.Transformer(d_model, num_heads, batch_first=True, **made)
    layers = [f"{name}.layers.{place}" for name, stack in stacks.items() for place in range(len(stack))]
    _filled(oracle, module, {layer: layer for layer in layers})
    shapes: dict[str, tuple[int, ...]] = {
        table: (size_of(module, table) // d_model, d_model) for table in (SRC, TGT, OUTPUT)
    }
    if model.output_projection.bias is not None:
        shapes["output_projection.bias"] = shapes[OUTPUT][:1]
    numbers, pad_id = numbers_of(module, shapes), model.pad_id

    def embed(table: str, tokens: Tensor) -> Tensor:
        positions = sinusoidal_encoding(tokens.size(1), d_model).to(numbers[table])
        return F.embedding(tokens, numbers[table]) * math.sqrt(d_model) + positions

    def logits(src: Tensor, tgt: Tensor) -> Tensor:
        src_padding, tgt_padding = src == pad_id, tgt == pad_id
        output: Tensor = oracle(
            embed(SRC, src),
            embed(TGT, tgt),
            tgt_mask=torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=src_padding,
            memory_key_padding_mask=src_padding,
            tgt_key_padding_mask=tgt_padding,
        )
        return F.linear(output, numbers[OUTPUT], numbers.get("output_projection.bias"))

    return logits


def _stack(layers: nn.ModuleList) -> nn.TransformerEncoder | nn.TransformerDecoder:
    """PyTorch's stack for `layers`, without their weights."""
    if isinstance(layers[0], nn.TransformerEncoderLayer):
        encoder_layer = nn.TransformerEncoderLayer(*_sizes(layers), batch_first=True)
        return nn.TransformerEncoder(encoder_layer, len(layers), enable_nested_tensor=False)
    return nn.TransformerDecoder(nn.TransformerDecoderLayer(*_sizes(layers), batch_first=True), len(layers))


def _sizes(layers: nn.ModuleList) -> tuple[int, int, int]:
    """d_model, num_heads and d_ff of the first of PyTorch's layers; the widths are those of its parameters."""
    first = cast(nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, layers[0])
    return size_of(first, "norm1.bias"), first.self_attn.num_heads, size_of(first, "linear1.bias")


def _filled(oracle: Module, module: nn.Module, names: Mapping[str, str]) -> Module:
    """The oracle with the weights of `module`, in eval mode.

    Args:
        oracle: on the device "meta", so that nothing is as large as a learner's module says before the shapes agree.
        names: the oracle's part → the learner's.
    """
    pairs = {
        f"{theirs}.{key}": (f"{ours}.{key}", parameter.shape)
        for theirs, ours in names.items()
        for key, parameter in oracle.get_submodule(theirs).named_parameters()
    }
    numbers = numbers_of(module, dict(pairs.values()))
    oracle.load_state_dict({theirs: numbers[ours] for theirs, (ours, _) in pairs.items()}, assign=True)
    return oracle.eval()


def parameters_of(**layers: nn.Module) -> dict[str, tuple[int, ...]]:
    """Name → shape of every parameter that a module with these layers has, for `check.parameters`."""
    return {
        f"{name}.{key}": tuple(value.shape) for name, layer in layers.items() for key, value in layer.named_parameters()
    }
