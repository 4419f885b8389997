"""Exercise `causal_mask`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import few, possible, some


def cases(answer: Callable[[int], Tensor], *, seed: int = 0) -> None:
    """Masks of sizes from 1 to beyond a thousand."""
    more = few(seed)
    for size in some(seed, (1, 2, 3, 5 + more, 9 + more, 17, 65 + more, 300 + more, 1100 + 7 * more, 3)):
        expected = parts.causal_mask(size)
        mask = answer(size)
        check.shape(f"causal_mask({size})", mask, query_len=size, key_len=size)
        check.equal(f"causal_mask({size})", mask, expected)


def slips(size: int) -> dict[str, Tensor]:
    """Masks of (size, size)."""
    everything = torch.ones(size, size, dtype=torch.bool)
    right = everything.tril()
    slips = {
        "the mask is upside down": right.flip(0),
        "True marks the future, which must be blocked (True = may attend)": ~right,
        "the triangle is upside down: position i sees itself and the future": right.mT,
        "a position does not see itself": everything.tril(-1),
        "a position sees one token into the future": everything.tril(1),
        "a position sees only itself": torch.eye(size, dtype=torch.bool),
        "a position sees only itself and the one before it": right.triu(-1),
        "nothing is masked": everything,
        "the first row is all False, as where a loop begins at 1": right & (torch.arange(size) > 0)[:, None],
        "the last row is all False, as where a loop ends too early": right & (torch.arange(size) < size - 1)[:, None],
        "a position sees everything but itself": ~torch.eye(size, dtype=torch.bool),
        "it holds what is added to scores, 0 and −∞, instead of True and False": (
            torch.zeros(size, size).masked_fill(right.logical_not(), -torch.inf)
        ),
    }
    return possible(slips, right)
