"""Slips of lesson 8's second half: the scores of sequences, the candidates of a beam, the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.mistakes.blocks import possible
from autograder.mistakes.text import edited
from autograder.parts.translation.beams import best_candidates, search


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
        "the length itself has the exponent α, without 5 and 6": totals / lengths**length_penalty,
        "the quotient as a whole has the exponent α": (totals / share) ** length_penalty,
        "the power comes before the division by 6": totals / ((5 + lengths) ** length_penalty / 6),
        "it is divided by 6 as well as by (5 + length)^α": totals / (5 + lengths) ** length_penalty / 6,
        "one is taken off the length": totals / ((4 + lengths) / 6) ** length_penalty,
        "5 and 6 are exchanged": totals / ((6 + lengths) / 5) ** length_penalty,
        "`//` stands in the place of `/`": totals / ((5 + lengths) // 6) ** length_penalty,
        "probabilities are scored, not their logarithms": totals.exp() / share**length_penalty,
    }
    return possible(slips, totals / share**length_penalty)


_SCORES = "sequence_scores(candidates, (lengths + (~ended).long())[..., None], length_penalty)"
_KEPT = "log_probs.where(~ended[..., None], going_on)"
_TOTALS = "candidates.flatten(1).gather(1, best)"
_PARENTS, _NEWEST = 'best.div(vocab_size, rounding_mode="floor")', "best.remainder(vocab_size)"
_CANDIDATES: dict[str, tuple[tuple[str, str], ...]] = {
    "candidates are compared without their length penalty": ((_SCORES, "candidates"),),
    "`length_penalty` is not passed on, and 0.6 is used": ((_SCORES, _SCORES.replace("length_penalty", "0.6")),),
    "the newest token is not counted in the length": (("lengths + (~ended).long()", "lengths"),),
    "the length of a sequence that has ended grows": (("lengths + (~ended).long()", "lengths + 1"),),
    "the lengths of those that have ended grow, instead of the others": (("(~ended).long()", "ended.long()"),),
    "sequences that have ended go on": ((_KEPT, "log_probs"), ("lengths + (~ended).long()", "lengths + 1")),
    "sequences that have ended go on, though their length stays": ((_KEPT, "log_probs"),),
    "those go on that have ended, and the others get padding": (
        (_KEPT, "log_probs.where(ended[..., None], going_on)"),
    ),
    "padding costs a sequence that has ended what the model says": (
        (_KEPT, "log_probs.where(~ended[..., None] | is_padding, going_on)"),
    ),
    "a sequence that has ended may go on with any token, at no cost": (
        (_KEPT, "log_probs.where(~ended[..., None], 0.0)"),
    ),
    "a sequence that has ended gets no candidate at all": ((_KEPT, "log_probs.where(~ended[..., None], -math.inf)"),),
    "padding costs nothing to any sequence": ((_KEPT, "log_probs.where(~(ended[..., None] | is_padding), going_on)"),),
    "every sequence gets nothing but padding": ((_KEPT, "going_on.expand_as(log_probs)"),),
    "`pad_id` is taken to be 0": (("== pad_id", "== 0"),),
    "the totals so far are left out": (("totals[..., None] + ", ""),),
    "parents and tokens are exchanged": (
        (_PARENTS, "best % vocab_size"),
        (_NEWEST, "best // vocab_size"),
    ),
    "the scores are returned, not the totals": ((_TOTALS, "scores.flatten(1).gather(1, best)"),),
    "the log-probability of the newest token alone is returned": ((_TOTALS, f"({_KEPT}).flatten(1).gather(1, best)"),),
    "the totals before the newest token are returned": ((_TOTALS, "totals.gather(1, best // vocab_size)"),),
    "the totals come in the opposite order": ((_TOTALS, _TOTALS + ".flip(1)"),),
    "the index is divided by the size of the beam, not of the vocabulary": (
        (_PARENTS, "best // beam_size"),
        (_NEWEST, "best % beam_size"),
    ),
    "the length penalty divides the newest log-probability alone": (
        (_SCORES, "totals[..., None] + " + _SCORES.replace("candidates", _KEPT)),
    ),
    "the length penalty divides the newest log-probability alone, also in the totals": (
        (_SCORES, "totals[..., None] + " + _SCORES.replace("candidates", _KEPT)),
        (_TOTALS, "scores.flatten(1).gather(1, best)"),
    ),
    "the totals so far are divided, and the newest log-probability is added to that": (
        (_SCORES, _SCORES.replace("candidates", "totals[..., None]") + f" + {_KEPT}"),
    ),
    "each sequence goes on with its own best token, and none with two": (
        (
            ".flatten(1).argsort(dim=1, descending=True)[:, :beam_size].sort(dim=1).values",
            ".argmax(dim=2) + vocab_size * torch.arange(beam_size)",
        ),
    ),
    "the lowest scores stay, not the highest": (("descending=True", "descending=False"),),
}


def candidates(
    log_probs: Tensor, totals: Tensor, lengths: Tensor, ended: Tensor, length_penalty: float, pad_id: int
) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Parents, tokens and totals, each (batch, beam_size), that may be chosen."""
    before = log_probs, totals, lengths, ended
    return {
        slip: edited(best_candidates, *edits)(*before, length_penalty, pad_id) for slip, edits in _CANDIDATES.items()
    }


_ENDS, _COUNTS = "ended = ended | (newest == eos_id)", "lengths = lengths + (~ended).long()"
_LENGTHS, _ENDED = "lengths = lengths[rows[:, None], parents]", "ended = ended[rows[:, None], parents]"
_TOKENS, _BEST, _RETURN = (
    "tokens[rows[:, None], parents]",
    "scores.argmax(dim=1)",
    "tokens[rows, best], scores[rows, best]",
)
_CHOICE, _FINALLY = "ended, length_penalty, pad_id)", "sequence_scores(sums, lengths, length_penalty)"
_SEARCHES: dict[str, tuple[tuple[str, str], ...]] = {
    "decoding is greedy: all sequences of a beam are there at the beginning and stay the same, or there is one": (
        ("-math.inf)\n            sums[:, 0] = 0.0", "0.0)"),
    ),
    "the search stops as soon as one sequence has ended": (("ended.all()", "ended.any()"),),
    "the search stops as soon as one sequence of each beam has ended": (("ended.all()", "ended.any(dim=1).all()"),),
    "the tokens are not those of the parents": ((_TOKENS, "tokens"),),
    "`ended` is not that of the parents": ((_ENDED, "pass"),),
    "`lengths` are not those of the parents": ((_LENGTHS, "pass"),),
    "`lengths` and `ended` are not those of the parents": ((_LENGTHS, "pass"), (_ENDED, "pass")),
    "nothing is taken from the parents": ((_LENGTHS, "pass"), (_ENDED, "pass"), (_TOKENS, "tokens")),
    "the parents are looked up among the rows of all sources": ((_TOKENS, "tokens.flatten(0, 1)[parents]"),),
    "the length of a sequence that has ended grows": (("(~ended).long()", "1"),),
    "EOS does not count in the length": (
        (_COUNTS, _ENDS),
        (_ENDS + "\n            scores", _COUNTS + "\n            scores"),
    ),
    "EOS counts twice in the length": ((_COUNTS, _COUNTS + " + (newest == eos_id).long()"),),
    "the lengths stay 0": ((_COUNTS, "pass"),),
    "BOS counts in the length": (("torch.zeros_like(sums).long()", "torch.ones_like(sums).long()"),),
    "it is forgotten which sequences ended earlier": ((_ENDS, "ended = newest == eos_id"),),
    "no sequence is ever noted as ended": ((_ENDS, "pass"),),
    "`eos_id` is taken to be 2": (("== eos_id", "== 2"),),
    "`pad_id` is not passed on to `best_candidates`, and 0 is used": ((_CHOICE, "ended, length_penalty, 0)"),),
    "`length_penalty` is not passed on to `best_candidates`, and 0.6 is used": ((_CHOICE, "ended, 0.6, pad_id)"),),
    "neither `length_penalty` nor `pad_id` is passed on to `best_candidates`": ((_CHOICE, "ended, 0.6, 0)"),),
    "`length_penalty` is not passed on to `sequence_scores`, and 0.6 is used": (
        (_FINALLY, "sequence_scores(sums, lengths, 0.6)"),
    ),
    "`length_penalty` is never passed on, and 0.6 is used": (
        (_FINALLY, "sequence_scores(sums, lengths, 0.6)"),
        (_CHOICE, "ended, 0.6, pad_id)"),
    ),
    "the best sequence is chosen by its log-probability, and that is returned": ((_FINALLY, "sums"),),
    "the log-probability of the best sequence is returned, not its score": (
        ("scores[rows, best]", "sums[rows, best]"),
    ),
    "the best sequence is chosen by its log-probability, not by its score": ((_BEST, "sums.argmax(dim=1)"),),
    "the first sequence of each beam is returned, whatever its score": ((_BEST, "torch.zeros_like(rows)"),),
    "the last sequence of each beam is returned, whatever its score": (
        (_BEST, "torch.full_like(rows, beam_size - 1)"),
    ),
    "the first sequence of each beam is returned, with the best score": (
        (_RETURN, "tokens[:, 0], scores[rows, best]"),
    ),
    "the sequence with the lowest score is returned": ((_BEST, "scores.argmin(dim=1)"),),
    "the best sequence is looked up among the rows of all sources": (
        (_RETURN, "tokens.flatten(0, 1)[best], scores[rows, best]"),
    ),
    "all sequences are scored as if they were as long as the longest": (
        (_FINALLY, "sequence_scores(sums, torch.full_like(lengths, tokens.size(2) - 1), length_penalty)"),
    ),
    "probabilities are added up, not their logarithms": (("log_softmax", "softmax"),),
    "logits are added up, without a log-softmax": ((".log_softmax(dim=-1)", ""),),
    "the log-softmax goes over the sequences of a beam, not over the vocabulary": (
        ("log_softmax(dim=-1).view(len(src), beam_size, -1)", "view(len(src), beam_size, -1).log_softmax(dim=1)"),
    ),
    "the log-softmax goes over all rows, not over the vocabulary": (("log_softmax(dim=-1)", "log_softmax(dim=0)"),),
    "the first position is looked at, not the last": (("[:, -1]", "[:, 0]"),),
    "the sources are mixed with the sequences of their beams, as by a wrong `view`": (
        (".view(len(src), beam_size, -1)", ".view(beam_size, len(src), -1).transpose(0, 1)"),
    ),
    "the totals so far are added once more": (
        ("parents, newest, sums =", "before = sums\n                parents, newest, sums ="),
        (_LENGTHS, "sums = sums + before[rows[:, None], parents]\n                " + _LENGTHS),
    ),
    "the totals are divided by the length penalty in every step": (
        (_ENDS, f"{_ENDS}\n                sums = {_FINALLY}"),
    ),
    "one step is missing: BOS counts as one of the `max_len` tokens": (("<= max_len", "< max_len"),),
    "one step too many is taken": (("<= max_len", "<= max_len + 1"),),
}


def searched(found: Sequence[tuple[Tensor, Tensor]], searches: Sequence[tuple[Any, ...]]) -> str | None:
    """The one slip with which all searches end in what was found, tokens (batch, length) and scores (batch,)."""

    def agrees(slip: str) -> bool:
        wrong = edited(search, *_SEARCHES[slip])
        for each, (tokens, scores) in zip(searches, found, strict=True):
            try:
                others, theirs = wrong(best_candidates, *each)
            except (RuntimeError, IndexError):
                return False
            if others.shape != tokens.shape or not torch.equal(others, tokens):
                return False
            if not torch.allclose(theirs, scores, rtol=1e-4, atol=1e-5, equal_nan=True):
                return False
        return True

    named = [slip for slip in _SEARCHES if agrees(slip)]
    return named[0] if len(named) == 1 else None
