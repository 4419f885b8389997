"""Parts of lessons 1 and 2: attention, masks, heads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.inputs import numbers_of, require_columns, require_mask, require_tensors, size_of

TensorFunction = Callable[..., Tensor]


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
    require_tensors("scaled_dot_product_attention", query=query, key=key, value=value)
    require_mask("scaled_dot_product_attention", mask, *query.shape[:-1], key.size(-2))
    identity = torch.eye(key.size(-2), dtype=key.dtype, device=key.device).expand(*key.shape[:-2], -1, -1)
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, identity, attn_mask=mask)
    if dropout is not None:
        if not callable(dropout):
            raise TypeError(f"dropout is {dropout!r}; hand over the nn.Dropout module itself, not its probability.")
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
    require_tensors("split_heads", x=x)
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x: Tensor) -> Tensor:
    """(batch, num_heads, seq_len, d_k) → (batch, seq_len, d_model), the heads side by side again."""
    require_tensors("merge_heads", x=x)
    return torch.cat(x.unbind(dim=1), dim=-1)


def blocked_mask(
    part: str, mask: Tensor | None, num_heads: int, query: Tensor, key: Tensor, *, name: str = "mask"
) -> Tensor | None:
    """Our mask as `nn.MultiheadAttention` wants it: True = blocked, (batch · num_heads, query_len, key_len).

    Args:
        part: who was given the mask, under `name`, for the message when it does not fit.
    """
    if mask is None:
        return None
    full = (query.size(0), num_heads, query.size(1), key.size(1))
    require_mask(part, mask, *full, name=name)
    return torch.logical_not(mask).expand(full).flatten(0, 1)


class LearnersAttention(Protocol):
    """A learner's own multi-head attention, under the contract's names."""

    w_q: nn.Linear
    w_k: nn.Linear
    w_v: nn.Linear
    w_o: nn.Linear


class MultiHeadAttention(nn.Module):
    """`nn.MultiheadAttention` behind the course's interface (§3.2.2).

    PyTorch stacks `w_q`, `w_k` and `w_v` in one `in_proj_weight`, calls `w_o` `out_proj`, and reads a boolean mask the
    other way round: True = may not attend.
    """

    __call__: TensorFunction

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
        d_model, own = size_of(module, "w_o.bias"), ("w_q", "w_k", "w_v", "w_o")
        shapes: dict[str, tuple[int, ...]] = {f"{layer}.weight": (d_model, d_model) for layer in own}
        shapes |= {f"{layer}.bias": (d_model,) for layer in own}
        numbers = numbers_of(module, shapes)
        with torch.device("meta"):
            oracle = cls(d_model, num_heads).eval()
        attention = {
            f"in_proj_{kind}": torch.cat([numbers[f"{layer}.{kind}"] for layer in own[:3]])
            for kind in ("weight", "bias")
        }
        attention |= {f"out_proj.{kind}": numbers[f"w_o.{kind}"] for kind in ("weight", "bias")}
        oracle.attention.load_state_dict(attention, assign=True)
        return oracle

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, query_len, d_model); `attention_weights` keeps (batch, num_heads, query_len, key_len).

        Raises:
            TypeError: an input is not a tensor.
            ValueError: `key` and `value` differ in length, or an input does not fit.
        """
        name = "MultiHeadAttention"
        require_columns(name, self.attention.embed_dim, query=query, key=key, value=value)
        if key.size(1) != value.size(1):
            counts = f"the key has {key.size(1)} positions, the value {value.size(1)}"
            raise ValueError(f"Key and value must come from the same words, but {counts}.")
        blocked = blocked_mask(name, mask, self.num_heads, query, key)
        output: Tensor
        output, weights = self.attention(
            query, key, value, attn_mask=blocked, need_weights=True, average_attn_weights=False
        )
        self.attention_weights = weights.detach()
        return output


def projections(attention: Any) -> tuple[TensorFunction, TensorFunction, TensorFunction, TensorFunction]:
    """`w_q, w_k, w_v, w_o` of any multi-head attention: a learner's own, this package's or PyTorch's."""
    if isinstance(attention, MultiHeadAttention):
        attention = attention.attention
    if not isinstance(attention, nn.MultiheadAttention):
        return attention.w_q, attention.w_k, attention.w_v, attention.w_o
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    query, key, value = (functools.partial(F.linear, weight=w, bias=b) for w, b in zip(weights, biases, strict=True))
    return query, key, value, attention.out_proj
