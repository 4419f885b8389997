"""Models with one part taken away, to see what it was good for."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Mask = Tensor | None


class _Remasked(nn.Module):
    """A layer that gets other arguments after x than the model gives it: those that `change` makes of all."""

    def __init__(self, layer: nn.Module, change: Callable[..., tuple[Mask, ...]]) -> None:
        super().__init__()
        self.layer, self.change = layer, change

    def forward(self, x: Tensor, *others: Mask, **masks: Mask) -> Any:
        """What the layer makes of them."""
        return self.layer(x, *self.change(x, *others, **masks))


def _remask(stack: Any, change: Callable[..., tuple[Mask, ...]]) -> None:
    stack.layers = nn.ModuleList(_Remasked(layer, change) for layer in stack.layers)


def _see_itself(x: Tensor, memory: Mask, src_mask: Mask = None, tgt_mask: Mask = None) -> tuple[Mask, ...]:
    return memory, src_mask, torch.eye(x.size(1), dtype=torch.bool, device=x.device)


def _see_future(x: Tensor, memory: Mask, src_mask: Mask = None, tgt_mask: Mask = None) -> tuple[Mask, ...]:
    return memory, src_mask, None if tgt_mask is None else tgt_mask.any(dim=-2, keepdim=True)


def _see_padding(x: Tensor, memory: Mask, src_mask: Mask = None, tgt_mask: Mask = None) -> tuple[Mask, ...]:
    return memory, None, tgt_mask


def _source_padding_mask(model: Any) -> None:
    _remask(model.encoder, lambda x, src_mask=None: ())
    _remask(model.decoder, _see_padding)


REMOVALS: dict[str, Callable[[Any], None]] = {
    "nothing": lambda model: None,
    "encoder layers": lambda model: setattr(model.encoder, "layers", nn.ModuleList()),
    "decoder self-attention": lambda model: _remask(model.decoder, _see_itself),
    "source padding mask": _source_padding_mask,
    "causal mask": lambda model: _remask(model.decoder, _see_future),
    "positions": lambda model: setattr(model, "positional_encoding", nn.Identity()),
}


def without(part: str, model: nn.Module) -> nn.Module:
    """Take a part out of an untrained model of the contract, in place, and return the model.

    Args:
        part: "nothing", "encoder layers", "decoder self-attention" (each position sees itself alone),
            "source padding mask", "causal mask" (padding stays hidden), "positions".
    """
    REMOVALS[part](model)
    return model
