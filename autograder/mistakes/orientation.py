"""Slips of lesson 0: dot products of pairs, hidden entries, groups moved forward, a scale that counts."""

from __future__ import annotations

from torch import Tensor


def pairwise_dots(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Dot products of the rows of x (n, d) and y (m, d), as (n, m)."""
    dots = x @ y.mT
    return {
        "x and y are exchanged": dots.mT,
        "the products are divided by √d, which comes in lesson 1": dots / x.shape[-1] ** 0.5,
        "the rows are brought to length 1 first": dots / (x.norm(dim=-1)[:, None] * y.norm(dim=-1)),
        "the distance of the rows is taken": (x[:, None] - y).norm(dim=-1),
        "it is a softmax of the products": dots.softmax(dim=-1),
    }


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
