"""Parts of lesson 4: feed-forward network, add & norm, encoder and decoder layer."""

from collections import OrderedDict
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from autograder.parts.attention import MultiHeadAttention, TensorFunction, blocked_mask
from autograder.parts.inputs import require_columns, require_tensors


class FeedForward(nn.Sequential):
    """The position-wise network of `nn.TransformerEncoderLayer`, `linear1` and `linear2` under our names (§3.3)."""

    __call__: TensorFunction
    linear_1: nn.Linear
    linear_2: nn.Linear

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1) -> None:
        first, second = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        super().__init__(OrderedDict(linear_1=first, relu=nn.ReLU(), dropout=nn.Dropout(dropout), linear_2=second))

    def forward(self, x: Tensor) -> Tensor:
        """(…, d_model) → the same shape."""
        require_tensors("FeedForward", x=x)
        output: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return output


class AddNorm(nn.Module):
    """Residual connection, dropout and `nn.LayerNorm` around a sub-layer, in the paper's order (§3.1, §5.4)."""

    __call__: TensorFunction

    def __init__(self, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer_output: Tensor) -> Tensor:
        """(batch, seq_len, d_model), both inputs and the result."""
        require_columns("AddNorm", self.norm.normalized_shape[0], x=x, sublayer_output=sublayer_output)
        if x.size(1) != sublayer_output.size(1):
            counts = f"`x` has {x.size(1)} positions, `sublayer_output` {sublayer_output.size(1)}"
            raise ValueError(f"AddNorm adds position by position, but {counts}.")
        output: Tensor = self.norm(torch.add(self.dropout(sublayer_output), x))
        return output


class _RecordingAttention(nn.MultiheadAttention):
    """`nn.MultiheadAttention` that keeps its last weights as the course's layer does."""

    attention_weights: Tensor | None = None

    def forward(self, *args: Any, **options: Any) -> tuple[Tensor, Tensor | None]:
        """What PyTorch's returns, the weights never averaged over the heads."""
        output, weights = super().forward(*args, **options | {"need_weights": True, "average_attn_weights": False})
        self.attention_weights = None if weights is None else weights.detach()
        return output, weights


class EncoderLayer(nn.TransformerEncoderLayer):
    """`nn.TransformerEncoderLayer` behind the course's interface (§3.1), post-norm as it is by default.

    PyTorch calls the sub-layers `self_attn`, `linear1`, `linear2`, and their norms `norm1` and `norm2`.
    """

    __call__: TensorFunction
    self_attn: _RecordingAttention

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        # torch.relu is F.relu under a name that PyTorch's fast path, which keeps no weights, does not know.
        super().__init__(d_model, num_heads, d_ff, dropout, activation=torch.relu, batch_first=True)
        self.self_attn = _RecordingAttention(d_model, num_heads, dropout, batch_first=True)

    @property
    def self_attention(self) -> _RecordingAttention:
        """The course's name for `self_attn`."""
        return self.self_attn

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        """(batch, src_len, d_model) → the same shape."""
        name, attention = "EncoderLayer", self.self_attn
        require_columns(name, self.linear1.in_features, x=x)
        return super().forward(x, src_mask=blocked_mask(name, src_mask, attention.num_heads, x, x, name="src_mask"))


class DecoderLayer(nn.TransformerDecoderLayer):
    """`nn.TransformerDecoderLayer` behind the course's interface (§3.1); `multihead_attn` is the cross-attention."""

    __call__: TensorFunction
    self_attn: _RecordingAttention
    multihead_attn: _RecordingAttention

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
        super().__init__(d_model, num_heads, d_ff, dropout, activation=torch.relu, batch_first=True)
        self.self_attn = _RecordingAttention(d_model, num_heads, dropout, batch_first=True)
        self.multihead_attn = _RecordingAttention(d_model, num_heads, dropout, batch_first=True)

    @property
    def self_attention(self) -> _RecordingAttention:
        """The course's name for `self_attn`."""
        return self.self_attn

    @property
    def cross_attention(self) -> _RecordingAttention:
        """The course's name for `multihead_attn`."""
        return self.multihead_attn

    def forward(  # type: ignore[override]
        self, x: Tensor, memory: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """x (batch, tgt_len, d_model), memory (batch, src_len, d_model) → the shape of x."""
        name, num_heads = "DecoderLayer", self.self_attn.num_heads
        require_columns(name, self.linear1.in_features, x=x, memory=memory)
        return super().forward(
            x,
            memory,
            tgt_mask=blocked_mask(name, tgt_mask, num_heads, x, x, name="tgt_mask"),
            memory_mask=blocked_mask(name, src_mask, num_heads, x, memory, name="src_mask"),
        )


class LearnersEncoderLayer(Protocol):
    """A learner's own encoder layer, under the contract's names, made of the parts of this package."""

    self_attention: MultiHeadAttention
    feed_forward: FeedForward
    add_norm_1: AddNorm
    add_norm_2: AddNorm


class LearnersDecoderLayer(LearnersEncoderLayer, Protocol):
    """A learner's own decoder layer, likewise."""

    cross_attention: MultiHeadAttention
    add_norm_3: AddNorm
