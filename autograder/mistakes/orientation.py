"""Slips of lesson 0: dot products of pairs, hidden entries, groups moved forward, a scale that counts."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def possible(slips: Mapping[str, Tensor | None], right: Tensor) -> dict[str, Tensor]:
    """Only the slips that differ from what is right on this input."""
    return {
        slip: value
        for slip, value in slips.items()
        if value is not None
        and not (value.shape == right.shape and torch.allclose(value.double(), right.double(), rtol=1e-3, atol=1e-3))
    }


def pairwise_dots(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Dot products of the rows of x (…, n, d) and y (…, m, d), as (…, n, m)."""
    dots = x @ y.mT
    slips = {
        "x and y are exchanged": dots.mT,
        "the products are divided by √d, which comes in lesson 1": dots / x.shape[-1] ** 0.5,
        "the rows are brought to length 1 first": dots / (x.norm(dim=-1)[..., None] * y.norm(dim=-1)[..., None, :]),
        "the distance of the rows is taken": (x[..., None, :] - y[..., None, :, :]).norm(dim=-1),
        "it is a softmax of the products": dots.softmax(dim=-1),
        "`y` is reshaped instead of transposed": x @ y.reshape(*y.shape[:-2], y.shape[-1], y.shape[-2]),
    }
    if x.dim() > 2:
        slips |= {
            "all dimensions of `y` are reversed, as by `.T`; only the last two should be swapped": (
                _product(x, y.permute(*range(y.dim())[::-1]))
            ),
            "the first two dimensions of `y` are swapped instead of the last two": _product(x, y.transpose(0, 1)),
            "the entries of the first dimension are taken for the rows": _product(x.flatten(1), y.flatten(1).mT),
        }
    return possible(slips, dots)


def _product(x: Tensor, y: Tensor) -> Tensor | None:
    """x @ y, where the shapes allow it."""
    try:
        return x @ y
    except RuntimeError:
        return None


def hide(scores: Tensor, allowed: Tensor, value: float) -> dict[str, Tensor]:
    """Results for scores of any shape, where `allowed` broadcasts to it."""
    full = allowed.expand(scores.shape)
    return {
        "the allowed entries are hidden, and the others stay": scores.masked_fill(full, value),
        "nothing is hidden": scores,
        "the hidden entries become 0, whatever `value` is": scores.masked_fill(full.logical_not(), 0.0),
        "the hidden entries become −∞, whatever `value` is": scores.masked_fill(full.logical_not(), -float("inf")),
        "`value` is added to the hidden entries": scores + value * full.logical_not(),
        "the entries are multiplied by `value`": scores.where(full, scores * value),
    }


def swap_groups(x: Tensor, groups: int) -> dict[str, Tensor]:
    """Groups of x (batch, seq_len, groups · size) as (batch, groups, seq_len, size)."""
    batch, seq_len, width = x.shape
    size = width // groups
    return {
        "the tensor is cut straight into (batch, groups, seq_len, size), which mixes the rows; "
        "give the groups their own dimension first, then swap": x.reshape(batch, groups, seq_len, size),
        "group i takes every groups-th column instead of `size` neighbours": (
            x.reshape(batch, seq_len, size, groups).permute(0, 3, 1, 2)
        ),
        "the sequence and the columns are swapped before the columns are cut": (
            x.mT.reshape(batch, groups, seq_len, size)
        ),
    }


def scaled(x: Tensor, factor: Tensor, calls: int) -> dict[str, Tensor]:
    """Outputs for x (…, size) of a scale with `factor` (size,) in its call of that number."""
    return {
        "`factor` is added instead of multiplied by": x + factor,
        "`factor` is not used": x,
        "x is divided by `factor`": x / factor,
        "`factor` is used twice": x * factor * factor,
        "the output is multiplied by the count, too": x * factor * calls,
    }
