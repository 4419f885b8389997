"""Exercise `decoder_mask`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import possible, sentences


def cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Masks of sentences with padding anywhere, for any pad id; rows of padding only have to allow some key."""
    for tokens, pad_id in sentences(seed, longest=140):
        batch, seq_len = tokens.shape
        real_queries = (tokens != pad_id)[:, None, :, None]
        expected = parts.decoder_mask(tokens, pad_id) & real_queries
        given = tokens.clone()  # an answer may change the others
        with check.case(tokens=given, pad_id=pad_id), check.unchanged(tokens=tokens):
            mask = answer(tokens, pad_id) if pad_id else answer(tokens)
            check.shape("the mask", mask, batch=batch, num_heads=1, query_len=seq_len, key_len=seq_len)
            check.equal("the mask in rows of real tokens", mask.bool() & real_queries, expected)
            some_key("the mask", mask, given, pad_id)


def some_key(name: str, mask: Tensor, tokens: Tensor, pad_id: int) -> None:
    """Every query of a sentence that begins with a real token may see some key: mask (batch, 1, seq_len, seq_len).

    A row that allows nothing is 0/0, and the next layer spreads its NaN over the sentence: 0 · NaN is NaN.
    """
    empty = (tokens[:, :1] != pad_id)[:, None] & mask.logical_not().all(dim=-1)  # (batch, 1, seq_len)
    if empty.any():
        sentence, _, row = empty.nonzero()[0].tolist()
        raise check.CheckFailed(
            f"In sentence {sentence}, row {row} of {name} allows no key.",
            slip="A softmax of nothing is 0/0 = NaN, and NaN spreads through the next layer, for 0 · NaN is NaN. "
            "Let padding see the real tokens before it.",
        )


def slips(tokens: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Masks for tokens (batch, seq_len) as (batch, 1, seq_len, seq_len).

    Rows of padding queries are free, as long as each allows some key.
    """
    real = torch.ne(tokens, pad_id)
    past = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()
    right = real[:, None, None, :] & past
    slips = {
        "either rule is enough (`or`) instead of both (`and`)": real[:, None, None, :] | past,
        "exactly one of the rules has to hold (`^`) instead of both (`&`)": real[:, None, None, :] ^ past,
        "only the padding is masked": real[:, None, None, :] & torch.ones_like(past),
        "the padding mask is turned round": real.logical_not()[:, None, None, :] & past,
        "the future is blocked, but the columns of padding are not": past.expand_as(right),
        "True marks what is blocked (True = may attend)": ~right,
        "the triangle is upside down: position i sees itself and the future": real[:, None, None, :] & past.mT,
        "a position does not see itself": real[:, None, None, :] & past.tril(-1),
        "every row uses the padding of the first": right[:1].expand_as(right),
    }
    if pad_id == 0:
        at_the_end = torch.arange(tokens.size(1)) < real.sum(dim=1, keepdim=True)
        slips["the padding is taken to stand at the end"] = at_the_end[:, None, None, :] & past
    else:
        slips["the pad id is taken to be 0 instead of `pad_id`"] = torch.ne(tokens, 0)[:, None, None, :] & past
        slips["0 is taken for padding, too"] = right & torch.ne(tokens, 0)[:, None, None, :]
    return possible(slips, right)
