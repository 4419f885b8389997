"""Finished building blocks with the interfaces of the course, made by adapting PyTorch's own.

A lesson takes what earlier lessons built from here, so that a mistake in lesson 1 costs nothing in lesson 5; each
part shows at the same time how the course's names map to those of `torch.nn`. Masks are boolean, True = may attend.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: Callable[[Tensor], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with `F.scaled_dot_product_attention`, whose boolean mask means what ours means (§3.2.1).

    PyTorch's function does not return its weights; applied to the identity matrix as values, it does.

    Returns:
        output: (…, query_len, d_v).
        weights: (…, query_len, key_len), after `dropout`.
    """
    identity = torch.eye(key.size(-2), dtype=key.dtype, device=key.device).expand(*key.shape[:-2], -1, -1)
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, identity, attn_mask=mask)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """(batch, seq_len) → (batch, 1, 1, seq_len): the key is a real token. PyTorch's `key_padding_mask`, negated."""
    return torch.ne(tokens, pad_id)[:, None, None, :]


def causal_mask(size: int) -> Tensor:
    """(size, size): a query sees no later key. PyTorch's `generate_square_subsequent_mask`, as booleans."""
    return nn.Transformer.generate_square_subsequent_mask(size, device=torch.device("cpu")) == 0


def decoder_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """(batch, seq_len) → (batch, 1, seq_len, seq_len): the key is real and not later than the query."""
    return torch.logical_and(padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device))


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """(batch, seq_len, d_model) → (batch, num_heads, seq_len, d_k), by cutting the columns and stacking the pieces."""
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x: Tensor) -> Tensor:
    """(batch, num_heads, seq_len, d_k) → (batch, seq_len, d_model), the heads side by side again."""
    return torch.cat(x.unbind(dim=1), dim=-1)


def _blocked(mask: Tensor | None, num_heads: int, query: Tensor, key: Tensor) -> Tensor | None:
    """Our mask as `nn.MultiheadAttention` wants it: True = blocked, (batch · num_heads, query_len, key_len)."""
    if mask is None:
        return None
    full = (query.size(0), num_heads, query.size(1), key.size(1))
    return torch.logical_not(mask).expand(full).flatten(0, 1)


class MultiHeadAttention(nn.Module):
    """`nn.MultiheadAttention` behind the course's interface (§3.2.2).

    PyTorch stacks `w_q`, `w_k` and `w_v` in one `in_proj_weight`, calls `w_o` `out_proj`, and reads a boolean mask the
    other way round: True = may not attend.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of num_heads = {num_heads}.")
        self.num_heads = num_heads
        self.attention = nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)
        self.attention_weights: Tensor | None = None

    @classmethod
    def twin_of(cls, module: nn.Module, num_heads: int) -> MultiHeadAttention:
        """PyTorch's layer with the weights of a course-built `module` copied in, in eval mode and of its dtype.

        Args:
            module: anything with `nn.Linear` layers `w_q, w_k, w_v, w_o`.
        """
        layers = module.w_q, module.w_k, module.w_v
        twin = cls(module.w_o.weight.size(0), num_heads).to(module.w_o.weight).eval()
        with torch.no_grad():
            twin.attention.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
            twin.attention.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            twin.attention.out_proj.weight.copy_(module.w_o.weight)
            twin.attention.out_proj.bias.copy_(module.w_o.bias)
        return twin

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, query_len, d_model); `attention_weights` keeps (batch, num_heads, query_len, key_len)."""
        blocked = _blocked(mask, self.num_heads, query, key)
        output, weights = self.attention(
            query, key, value, attn_mask=blocked, need_weights=True, average_attn_weights=False
        )
        self.attention_weights = weights.detach()
        return output


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """(max_len, d_model), float32: unit complex numbers turning at the paper's speeds (§3.5).

    The imaginary part of e^(i·angle) is the sine and goes to the even columns, the real part to the odd ones.
    """
    speed = torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # radians a position
    angle = torch.outer(torch.arange(max_len, dtype=torch.float64), speed)
    turning = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))  # (max_len, d_model / 2, 2)
    return turning.flip(-1).flatten(1).float()


def encoding_angle(position: int, column: int, d_model: int) -> float:
    """How far the column pair that `column` belongs to has turned at `position`, in radians (§3.5)."""
    return position * 10000.0 ** (-(column - column % 2) / d_model)


class FeedForward(nn.Sequential):
    """The position-wise network of `nn.TransformerEncoderLayer`, `linear1` and `linear2` under our names (§3.3)."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        first, second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        super().__init__(OrderedDict(linear_1=first, relu=nn.ReLU(), dropout=nn.Dropout(dropout), linear_2=second))


class AddNorm(nn.Module):
    """Residual connection, dropout and `nn.LayerNorm` around a sub-layer, in the paper's order (§3.1, §5.4)."""

    def __init__(self, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer_output: Tensor) -> Tensor:
        """(batch, seq_len, d_model), both inputs and the result."""
        return self.norm(torch.add(self.dropout(sublayer_output), x))


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


_GIVEN = {
    1: (padding_mask, causal_mask),
    2: (scaled_dot_product_attention, split_heads, merge_heads),
    3: (encoding_angle, sinusoidal_encoding),
    4: (MultiHeadAttention, FeedForward, AddNorm),
}


def of_lesson(number: int, *names: str) -> dict[str, Callable]:
    """The right neighbours for the checks of a lesson's later exercises, by name (`given=` of `check.exercise`).

    Args:
        names: only these; all of the lesson's when left out.
    """
    return {part.__name__: part for part in _GIVEN[number] if not names or part.__name__ in names}
