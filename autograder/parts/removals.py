"""Models with one part taken away, to see what it was good for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Mask = Tensor | None


class _OtherMasks(nn.Module):
    """A layer that gets other masks than the model gives it: `change(x, src_mask, tgt_mask)` returns both."""

    def __init__(self, layer: nn.Module, change: Callable[[Tensor, Mask, Mask], tuple[Mask, Mask]]) -> None:
        super().__init__()
        self.layer, self.change = layer, change

    def forward(self, x: Tensor, memory: Mask = None, src_mask: Mask = None, tgt_mask: Mask = None) -> Any:
        """What the layer makes of them."""
        src_mask, tgt_mask = self.change(x, src_mask, tgt_mask)
        return self.layer(x, memory, src_mask, tgt_mask)


class _Unmasked(nn.Module):
    """An encoder layer that gets no mask."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, src_mask: Mask = None) -> Any:
        """What the layer makes of x alone."""
        return self.layer(x)


def _remask(model: Any, change: Callable[[Tensor, Mask, Mask], tuple[Mask, Mask]]) -> None:
    model.decoder.layers = nn.ModuleList(_OtherMasks(layer, change) for layer in model.decoder.layers)


def _encoder_layers(model: Any) -> None:
    model.encoder.layers = nn.ModuleList()


def _positions(model: Any) -> None:
    model.positional_encoding = nn.Identity()


def _decoder_self_attention(model: Any) -> None:
    _remask(model, lambda x, src_mask, _: (src_mask, torch.eye(x.size(1), dtype=torch.bool, device=x.device)))


def _source_padding_mask(model: Any) -> None:
    model.encoder.layers = nn.ModuleList(map(_Unmasked, model.encoder.layers))
    _remask(model, lambda _, src_mask, tgt_mask: (None, tgt_mask))


def _causal_mask(model: Any) -> None:
    def see_all(_: Tensor, src_mask: Mask, tgt_mask: Mask) -> tuple[Mask, Mask]:
        return src_mask, None if tgt_mask is None else tgt_mask.any(dim=-2, keepdim=True)

    _remask(model, see_all)


REMOVALS: dict[str, Callable[[Any], None]] = {
    "nothing": lambda model: None,
    "encoder layers": _encoder_layers,
    "decoder self-attention": _decoder_self_attention,
    "source padding mask": _source_padding_mask,
    "causal mask": _causal_mask,
    "positions": _positions,
}


def without(part: str, model: nn.Module) -> nn.Module:
    """Take a part out of an untrained model of the contract, in place, and return the model.

    Args:
        part: "nothing", "encoder layers", "decoder self-attention" (each position sees itself alone),
            "source padding mask", "causal mask" (padding stays hidden), "positions".
    """
    REMOVALS[part](model)
    return model
