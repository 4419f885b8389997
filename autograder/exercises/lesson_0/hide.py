"""Exercise `hide`: its cases and its slips."""

from collections.abc import Callable
from itertools import islice

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import DTYPES, few, masks, possible, sizes, strided, tensors


def value_cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Scores of any shape, some 0 or −∞, and any value, for `allowed` of every shape that broadcasts to theirs."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 4), rows=(1, 6), columns=(1, 9))):
        batch, rows, columns = size.values()
        dtype = (*DTYPES, torch.bfloat16)[index % 3]
        scores = tensors((batch, rows, columns), seed=31 * seed + index)[0].to(dtype)
        scores = scores.masked_fill(scores.abs() < 0.4, 0.0).masked_fill(scores > 1.5, -torch.inf)
        scores = strided(scores) if index % 2 else scores
        for place, shape in enumerate(((batch, rows, columns), (rows, columns), (columns,), (batch, 1, 1), (rows, 1))):
            allowed = masks(seed + index + place, *shape)
            for value in islice((None, 0.0, -1e9, 2.5 + few(seed)), (index + place) % 2, None, 2):
                given = {"scores": scores, "allowed": allowed}
                filled = -torch.inf if value is None else value
                expected = torch.where(allowed, scores, filled)
                told = {"a score of 0 is hidden where it is allowed, too": expected.masked_fill(scores == 0, filled)}
                shown = given if value is None else given | {"value": value}
                with check.case(**shown), check.unchanged(**given):
                    hidden = answer(scores, allowed) if value is None else answer(scores, allowed, value)
                    slip = "A product cannot hide anything: −∞ · 0 is NaN. Choose between two values instead."
                    multiplied = isinstance(hidden, Tensor) and bool(hidden.isnan().any())
                    check.true(not multiplied, "The result holds NaN.", slip)
                    check.dtype("hide(scores, allowed)", hidden, scores.dtype)
                    check.equal("hide(scores, allowed)", hidden, expected, mistakes=possible(told, expected))


def copy_cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Where nothing is hidden the result is another tensor as well, and gradients flow through what stays."""
    (scores,) = tensors((2, 3), seed=seed)
    before, everything = scores.clone(), torch.ones(2, 3, dtype=torch.bool)
    hidden = answer(scores, everything)
    hidden.zero_()
    verdict = "The result is no copy: when the check writes 0 into it, `scores` changes as well."
    check.true(torch.equal(scores, before), verdict)
    scores.requires_grad_()
    allowed = torch.tensor([True, False, True])
    hidden, expected = answer(scores, allowed, 0.0), scores.masked_fill(~allowed, 0.0)
    if torch.equal(hidden.nan_to_num(), expected):  # else the check of values says so
        check.gradients_agree("hide(scores, allowed, 0.0)", hidden, expected, scores=scores)


def slips(scores: Tensor, allowed: Tensor, value: float) -> dict[str, Tensor]:
    """Results for scores of any shape, where `allowed` broadcasts to it."""
    full = allowed.expand(scores.shape)
    return {
        "the allowed entries are hidden, and the others stay": scores.masked_fill(full, value),
        "nothing is hidden": scores,
        "the hidden entries become 0, whatever `value` is": scores.masked_fill(full.logical_not(), 0.0),
        "the hidden entries become −∞, whatever `value` is": scores.masked_fill(full.logical_not(), -float("inf")),
        "the hidden entries become −1e9, whatever `value` is": scores.masked_fill(full.logical_not(), -1e9),
        "`value` is added to the hidden entries": scores + value * full.logical_not(),
        "the entries are multiplied by `value`": scores.where(full, scores * value),
    }
