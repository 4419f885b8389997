"""Slips of lesson 6 in a step of training: its loss, and the clipping of its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.mistakes.blocks import possible
from autograder.parts.attention import TensorFunction


def step_loss(model: TensorFunction, src: Tensor, tgt: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
    """Losses of one step of training of a model without dropout, for src (batch, src_len) and tgt (batch, tgt_len)."""

    def loss(given: Tensor, labels: Tensor, pad_id: int = pad_id, smoothing: float = smoothing) -> Tensor:
        logits = model(src, given).movedim(-1, 1)
        return F.cross_entropy(logits, labels, ignore_index=pad_id, label_smoothing=smoothing)

    given, labels = tgt[:, :-1], tgt[:, 1:]
    with torch.no_grad():
        return possible(
            {
                "nothing is shifted: the whole target is both decoder input and labels": loss(tgt, tgt),
                "decoder input and labels are exchanged": loss(labels, given),
                "the labels are not shifted: they are the decoder input": loss(given, given),
                "the decoder input is not shifted: it is the labels": loss(labels, labels),
                "`smoothing` is not passed on, and 0.1 is used": loss(given, labels, smoothing=0.1),
                "the labels are not smoothed": loss(given, labels, smoothing=0.0),
                "padding counts as a label": loss(given, labels, pad_id=-100),
                "`pad_id` is not passed on, and 0 is used": loss(given, labels, pad_id=0),
                "neither `pad_id` nor `smoothing` is passed on": loss(given, labels, pad_id=0, smoothing=0.1),
                "the source is learned instead of the target": loss(src[:, :-1], src[:, 1:]),
                "a softmax comes before the loss, which brings its own": F.cross_entropy(
                    model(src, given).softmax(-1).movedim(-1, 1),
                    labels,
                    ignore_index=pad_id,
                    label_smoothing=smoothing,
                ),
                "the loss is multiplied by the number of real tokens": loss(given, labels) * (labels != pad_id).sum(),
            },
            loss(given, labels),
        )


def clipped(free: Tensor, sizes: Sequence[int], max_grad_norm: float) -> dict[str, Tensor]:
    """Lengths of a step whose gradients are to be clipped.

    Args:
        free: the step without clipping, all parameters in one row.
        sizes: how many numbers each parameter has, in this order: a matrix, another in a group with the rest, a vector.
    """
    one, *others = torch.split(free, list(sizes))

    def length(*steps: Tensor) -> Tensor:
        return torch.cat(steps).square().sum().sqrt()

    def within(step: Tensor) -> Tensor:
        shorter: Tensor = step * (max_grad_norm / length(step)).clamp(max=1.0)
        return shorter

    vector = others[1]
    is_vector = torch.cat([torch.full((size,), size == len(vector)) for size in sizes])
    return possible(
        {
            "the gradients are not clipped before the optimizer uses them": length(free),
            "each parameter is clipped by itself": length(within(one), *map(within, others)),
            "each group of the optimizer is clipped by itself": length(within(one), within(torch.cat(others))),
            "only the first group of the optimizer is clipped": length(within(one), *others),
            "vectors are not clipped": length(within(free[~is_vector]), free[is_vector]),
            "each number is clipped by itself (`clip_grad_value_`)": length(free.clamp(-max_grad_norm, max_grad_norm)),
            "the largest gradient, not the length of all, is brought to `max_grad_norm`": length(
                free * max_grad_norm / free.abs().max()
            ),
            "`max_grad_norm` is not used, and the gradients are clipped to 1.0": length(free / free.norm()),
            "`max_grad_norm` is not used, and the gradients are clipped to 10.0": length(10 * free / free.norm()),
        },
        torch.tensor(max_grad_norm),
    )
