"""Models that are built in another way than the paper's, to see what the choice is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LONGEST = 500  # positions that the learned table holds


class _Normed(nn.Module):
    """A sublayer whose own input comes normalised, and what it attends to as it is."""

    def __init__(self, sublayer: nn.Module, d_model: int) -> None:
        super().__init__()
        self.sublayer, self.norm = sublayer, nn.LayerNorm(d_model)

    def forward(self, query: Tensor, key: Any = None, value: Any = None, mask: Tensor | None = None) -> Any:
        """What the sublayer makes of it, a feed-forward network as well as an attention."""
        normed = self.norm(query)
        if key is None:
            return self.sublayer(normed)
        key, value = (normed if x is query else x for x in (key, value))
        return self.sublayer(normed, key, value, mask)


class _Sum(nn.Module):
    """The residual connection of an add & norm, with its dropout and without its norm."""

    def __init__(self, add_norm: nn.Module) -> None:
        super().__init__()
        self.dropout = next((module.p for module in add_norm.modules() if isinstance(module, nn.Dropout)), 0.0)

    def forward(self, x: Tensor, sublayer_output: Tensor) -> Tensor:
        """Both (batch, seq_len, d_model), and the result."""
        return x + F.dropout(sublayer_output, self.dropout, self.training)


class _ThenNorm(nn.Module):
    """A layer with a norm behind it."""

    def __init__(self, layer: nn.Module, d_model: int) -> None:
        super().__init__()
        self.layer, self.norm = layer, nn.LayerNorm(d_model)

    def forward(self, *args: Any, **options: Any) -> Any:
        """What the layer returns, normalised."""
        return self.norm(self.layer(*args, **options))


class _LearnedPositions(nn.Module):
    """A trained vector for each position (§3.5), added to the embeddings."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(LONGEST, d_model) / d_model**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq_len, d_model) → the same shape, for sequences of up to `LONGEST` tokens."""
        return x + self.table[: x.size(1)]


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def _width(model: Any) -> int:
    return int(model.src_embedding(torch.zeros(1, 1, dtype=torch.long, device=_device(model))).size(-1))


def _norm_first(model: Any) -> None:
    d_model = _width(model)
    for stack in (model.encoder, model.decoder):
        for layer in stack.layers:
            if isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                layer.norm_first = True
                continue
            for name, part in list(layer.named_children()):
                if name.startswith("add_norm"):
                    setattr(layer, name, _Sum(part))
                elif name.endswith("attention") or name == "feed_forward":
                    setattr(layer, name, _Normed(part, d_model))
        stack.layers[-1] = _ThenNorm(stack.layers[-1], d_model)


def _learned_positions(model: Any) -> None:
    model.positional_encoding = _LearnedPositions(_width(model))


VARIANTS: dict[str, Callable[[Any], None]] = {"norm first": _norm_first, "learned positions": _learned_positions}


def rebuilt(variant: str, model: nn.Module) -> nn.Module:
    """Build an untrained model of the contract in another way, in place, and return it.

    Args:
        variant: "norm first", before each sublayer and once behind each stack instead of after each sum (Xiong and
            others, 2020), or "learned positions" in the place of the waves (§3.5).
    """
    VARIANTS[variant](model)
    return model.train(model.training).to(_device(model))
