"""Slips of lesson 8's second half: the scores of sequences, the candidates of a beam, the search."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.mistakes.blocks import possible


def sequence_scores(totals: Tensor, lengths: Tensor, length_penalty: float) -> dict[str, Tensor]:
    """Scores that sequences may get from their log-probabilities (batch, …) and lengths."""
    share = (5 + lengths) / 6
    slips = {
        "nothing is divided by": totals.clone(),
        "the score is the mean log-probability of a token": totals / lengths,
        "the length is not added to 5": totals / (lengths / 6) ** length_penalty,
        "the base is not divided by 6": totals / (5 + lengths) ** length_penalty,
        "it is multiplied by the penalty, not divided": totals * share**length_penalty,
        "α multiplies the base instead of being its exponent": totals / (share * length_penalty),
        "α is fixed at 0.6": totals / share**0.6,
        "α is left out": totals / share,
        "BOS counts as well": totals / ((6 + lengths) / 6) ** length_penalty,
        "the penalty is subtracted, not divided by": totals - share**length_penalty,
        "5 + length / 6 stands for (5 + length) / 6": totals / (5 + lengths / 6) ** length_penalty,
    }
    return possible(slips, totals / share**length_penalty)


def candidates(
    log_probs: Tensor, totals: Tensor, lengths: Tensor, ended: Tensor, length_penalty: float, pad_id: int
) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Parents, tokens and totals, each (batch, beam_size), that may be chosen."""
    beam_size, vocab_size = log_probs.shape[1:]
    padding = torch.full_like(log_probs, -torch.inf)
    padding[..., pad_id] = 0.0
    kept = torch.where(ended[..., None], padding, log_probs)

    def chosen(allowed: Tensor, grown: Tensor, before: Tensor = totals) -> tuple[Tensor, Tensor, Tensor]:
        sums = before[..., None] + allowed
        best = (sums / ((5 + grown) / 6) ** length_penalty).flatten(1).topk(beam_size).indices
        return best // vocab_size, best % vocab_size, sums.flatten(1).gather(1, best)

    grown = (lengths + (~ended).long())[..., None]
    right = chosen(kept, grown)
    scores = right[2] / ((5 + grown[..., 0].gather(1, right[0])) / 6) ** length_penalty
    slips = {
        "candidates are compared without their length penalty": chosen(kept, torch.ones_like(grown)),
        "the newest token is not counted in the length": chosen(kept, lengths[..., None]),
        "the length of a sequence that has ended grows": chosen(kept, (lengths + 1)[..., None]),
        "sequences that have ended go on": chosen(log_probs, (lengths + 1)[..., None]),
        "padding costs a sequence that has ended what the model says": chosen(
            torch.where((padding == 0) | ~ended[..., None], log_probs, padding), grown
        ),
        "the totals so far are left out": chosen(kept, grown, torch.zeros_like(totals)),
        "parents and tokens are exchanged": (right[1], right[0], right[2]),
        "the scores are returned, not the totals": (right[0], right[1], scores),
        "the index is divided by the size of the beam, not of the vocabulary": (
            (right[0] * vocab_size + right[1]) // beam_size,
            (right[0] * vocab_size + right[1]) % beam_size,
            right[2],
        ),
    }
    same = [all(torch.equal(one, other) for one, other in zip(values, right, strict=True)) for values in slips.values()]
    return {slip: values for (slip, values), is_right in zip(slips.items(), same, strict=True) if not is_right}
