"""Exercise `padding_mask`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import possible, sentences


def cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Masks of sentences with padding anywhere, for any pad id."""
    for tokens, pad_id in sentences(seed):
        expected = parts.padding_mask(tokens, pad_id)
        with check.case(tokens=tokens, pad_id=pad_id), check.unchanged(tokens=tokens):
            mask = answer(tokens, pad_id) if pad_id else answer(tokens)
            check.shape("the mask", mask, batch=len(tokens), num_heads=1, query_len=1, key_len=tokens.size(1))
            check.equal("the mask", mask, expected, mistakes=place_slips(tokens, pad_id))


def slips(tokens: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Masks for tokens (batch, seq_len) as (batch, 1, 1, seq_len)."""
    right = torch.ne(tokens, pad_id)[:, None, None, :]
    slips = {
        "True marks the padding instead of the real tokens": ~right,
        "every row uses the mask of the first": right[:1].expand_as(right),
        "nothing is masked": torch.ones_like(right),
    }
    if pad_id != 0:
        slips["the pad id is taken to be 0 instead of `pad_id`"] = torch.ne(tokens, 0)[:, None, None, :]
        slips["an id counts as real when it is greater than `pad_id`"] = torch.gt(tokens, pad_id)[:, None, None, :]
        slips["0 is taken for padding, too"] = (tokens.ne(pad_id) & tokens.ne(0))[:, None, None, :]
    return possible(slips, right)


def place_slips(tokens: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Masks that are right as long as padding stands at the end, for tokens (batch, seq_len)."""
    right = torch.ne(tokens, pad_id)[:, None, None, :]
    slips = {
        "everything after the first padding is hidden": right.int().cumprod(dim=-1).bool(),
        "the padding is taken to stand at the end": torch.arange(tokens.size(1)) < right.sum(dim=-1, keepdim=True),
    }
    return possible(slips, right)
