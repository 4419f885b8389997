"""Parts of lesson 3: token embedding and positional encoding."""

import torch
from torch import Tensor, nn

from autograder.parts.attention import TensorFunction


def encoding_angle(position: int, column: int, d_model: int) -> float:
    """How far the column pair that `column` belongs to has turned at `position`, in radians (§3.5)."""
    angle: float = position * 10000.0 ** (-(column - column % 2) / d_model)
    return angle


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    """(max_len, d_model), float32: unit complex numbers turning at the paper's speeds (§3.5).

    The imaginary part of e^(i·angle) is the sine and goes to the even columns, the real part to the odd ones.
    """
    speed = torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # radians a position
    angle = torch.outer(torch.arange(max_len, dtype=torch.float64), speed)
    turning = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))  # (max_len, d_model / 2, 2)
    return turning.flip(-1).flatten(1).float()


class TokenEmbedding(nn.Module):
    """`nn.Embedding`, its rows times √d_model (§3.4)."""

    __call__: TensorFunction

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, seq_len) → (batch, seq_len, d_model)."""
        rows: Tensor = self.embedding(tokens)
        return rows.mul(self.embedding.embedding_dim**0.5)


class PositionalEncoding(nn.Module):
    """The sinusoidal encoding, added and followed by dropout (§3.5, §5.4); the buffer is `encoding`."""

    __call__: TensorFunction
    encoding: Tensor

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1) -> None:
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq_len, d_model) → the same shape.

        Raises:
            ValueError: seq_len is larger than max_len.
        """
        seq_len, max_len = x.size(1), len(self.encoding)
        if seq_len > max_len:
            raise ValueError(f"The sequence has {seq_len} positions, the encoding {max_len}.")
        output: Tensor = self.dropout(self.encoding.narrow(0, 0, seq_len) + x)
        return output
