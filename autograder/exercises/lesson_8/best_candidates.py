"""Exercise `best_candidates`: its cases and its slips."""

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_8.shared import PENALTIES, Answer, edited
from autograder.exercises.shared import device, sizes, tensors
from autograder.parts.translation.beams import best_candidates


def cases(answer: Answer, *, seed: int = 0) -> None:
    """Parents, tokens and totals, for beams of any size with some that have ended, whatever the pad id."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 4), beam_size=(1, 5), vocab_size=(6, 12))):
        pad_id = (0, 3, 5)[index % 3]
        given = beam_drawn(seed + index, **size)
        for penalty in PENALTIES:
            with (
                check.case(beam_size=size["beam_size"], length_penalty=penalty, pad_id=pad_id),
                check.unchanged(**given),
            ):
                require_candidates(answer(*given.values(), penalty, pad_id), given, penalty, pad_id)
    with check.unchanged(**given):
        require_candidates(answer(**given), given, 0.6, 0)
    fresh = beam_drawn(seed, 2, 3, 7)
    fresh["totals"][:, 1:], fresh["lengths"][:], fresh["ended"][:] = -torch.inf, 0, False
    late = beam_drawn(seed, 4, 3, 7)
    late["totals"] -= 300.0 * ~late["ended"]  # what has ended is far better
    long = beam_drawn(seed, 4, 3, 9)
    long["ended"][:], long["lengths"][:], long["lengths"][:, 2] = False, 1, 30
    long["totals"] -= torch.tensor([0.0, 0.0, 20.0])  # by totals the last, by scores the first
    never = beam_drawn(seed, 1, 2, 5)
    never["log_probs"][..., [0, 4]], never["ended"][:] = -torch.inf, torch.tensor([False, True])  # no padding, no 4
    for given, penalty in ((fresh, 0.6), (late, 0.6), (long, 2.0), (never, 0.6)):
        with check.case(**given, length_penalty=penalty), check.unchanged(**given):
            require_candidates(answer(*given.values(), penalty), given, penalty, 0)
    device(seed, "best_candidates(…)", answer, *given.values())


def beam_drawn(seed: int, batch: int, beam_size: int, vocab_size: int) -> dict[str, Tensor]:
    """What `best_candidates` takes: sequences of different lengths, some of which have ended."""
    logits, drawn = tensors((batch, beam_size, vocab_size), (batch, beam_size), seed=seed)
    ended = drawn > 0.3
    row, step = torch.arange(batch)[:, None], 1 + torch.arange(batch)[:, None] * 5 % 11
    lengths = torch.where(ended, 1 + (torch.arange(beam_size) + row) % step, step)
    return {
        "log_probs": (2 * logits).log_softmax(dim=-1),
        "totals": -2 * drawn.abs() - torch.where(ended, 1.0, 0.2),
        "lengths": lengths,
        "ended": ended,
    }


def require_candidates(result: object, given: dict[str, Tensor], length_penalty: float, pad_id: int) -> None:
    """The three that `best_candidates` returns are right, in whatever order they stand in a row."""
    names = ("parents", "tokens", "totals")
    values = check.returns("best_candidates(…)", result, *names)
    right = parts.best_candidates(**given, length_penalty=length_penalty, pad_id=pad_id)
    for name, value, expected in zip(names, values, right, strict=True):
        check.shape(name, value, batch=expected.size(0), beam_size=expected.size(1))
        if name != "totals":
            check.dtype(name, value, torch.long)
    order, wanted = (_ordered(each) for each in (values, right))
    real = wanted[2] > -torch.inf
    slip = None
    if real.all() and not _agree(order, wanted):
        known = slips(**given, length_penalty=length_penalty, pad_id=pad_id)
        told = [slip for slip, each in known.items() if _agree(_ordered(each), order)]
        slip = told[0] if len(told) == 1 else None
    for place, name in ((2, "totals"), (0, "parents"), (1, "tokens")):
        value, expected = (each[place] * (1 if place == 2 else real) for each in (order, wanted))
        title = f"`{name}` of `best_candidates(…)`, sorted by total"
        proved = {slip: value} if slip and not torch.allclose(value, expected, rtol=1e-4, atol=1e-5) else {}
        (check.close if place == 2 else check.equal)(title, value, expected, mistakes=proved)


def _agree(one: tuple[Tensor, ...], other: tuple[Tensor, ...]) -> bool:
    """Parents, tokens and totals are the same; of a sequence that is impossible, only that it is."""
    real = other[2] > -torch.inf
    one, other = ((parents * real, tokens * real, totals) for parents, tokens, totals in (one, other))
    return all(torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5) for a, b in zip(one, other, strict=True))


def _ordered(values: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Parents, tokens and totals by total, and where totals are the same by parent and token."""
    for place, descending in ((1, False), (0, False), (2, True)):
        order = values[place].argsort(dim=1, descending=descending, stable=True)
        values = tuple(value.gather(1, order) for value in values)
    return values


_SCORES = "sequence_scores(candidates, (lengths + (~ended).long())[..., None], length_penalty)"
_KEPT = "log_probs.where(~ended[..., None], going_on)"
_CHOSEN = ".flatten(1).argsort(dim=1, descending=True)[:, :beam_size].sort(dim=1).values"
_TOTALS = "candidates.flatten(1).gather(1, best)"
_PARENTS, _NEWEST = 'best.div(vocab_size, rounding_mode="floor")', "best.remainder(vocab_size)"
_CANDIDATES: dict[str, dict[str, str]] = {
    "candidates are compared without their length penalty": {_SCORES: "candidates"},
    "`length_penalty` is not passed on, and 0.6 is used": {_SCORES: _SCORES.replace("length_penalty", "0.6")},
    "the newest token is not counted in the length": {"lengths + (~ended).long()": "lengths"},
    "the length of a sequence that has ended grows": {"lengths + (~ended).long()": "lengths + 1"},
    "the lengths of those that have ended grow, instead of the others": {"(~ended).long()": "ended.long()"},
    "sequences that have ended go on": {_KEPT: "log_probs", "lengths + (~ended).long()": "lengths + 1"},
    "sequences that have ended go on, though their length stays": {_KEPT: "log_probs"},
    "those go on that have ended, and the others get padding": {_KEPT: "log_probs.where(ended[..., None], going_on)"},
    "padding costs a sequence that has ended what the model says": {
        _KEPT: "log_probs.where(~ended[..., None] | is_padding, going_on)"
    },
    "a sequence that has ended may go on with any token, at no cost": {
        _KEPT: "log_probs.where(~ended[..., None], 0.0)"
    },
    "a sequence that has ended gets no candidate at all": {_KEPT: "log_probs.where(~ended[..., None], -math.inf)"},
    "padding costs nothing to any sequence": {_KEPT: "log_probs.where(~(ended[..., None] | is_padding), going_on)"},
    "every sequence gets nothing but padding": {_KEPT: "going_on.expand_as(log_probs)"},
    "`pad_id` is taken to be 0": {"== pad_id": "== 0"},
    "the totals so far are left out": {"totals[..., None] + ": ""},
    "parents and tokens are exchanged": {_PARENTS: "best % vocab_size", _NEWEST: "best // vocab_size"},
    "the scores are returned, not the totals": {_TOTALS: "scores.flatten(1).gather(1, best)"},
    "the log-probability of the newest token alone is returned": {_TOTALS: f"({_KEPT}).flatten(1).gather(1, best)"},
    "the totals before the newest token are returned": {_TOTALS: "totals.gather(1, best // vocab_size)"},
    "the totals come in the opposite order": {_TOTALS: _TOTALS + ".flip(1)"},
    "the index is divided by the size of the beam, not of the vocabulary": {
        _PARENTS: "best // beam_size",
        _NEWEST: "best % beam_size",
    },
    "the length penalty divides the newest log-probability alone": {
        _SCORES: "totals[..., None] + " + _SCORES.replace("candidates", _KEPT)
    },
    "the length penalty divides the newest log-probability alone, also in the totals": {
        _SCORES: "totals[..., None] + " + _SCORES.replace("candidates", _KEPT),
        _TOTALS: "scores.flatten(1).gather(1, best)",
    },
    "the totals so far are divided, and the newest log-probability is added to that": {
        _SCORES: _SCORES.replace("candidates", "totals[..., None]") + f" + {_KEPT}"
    },
    "each sequence goes on with its own best token, and none with two": {
        _CHOSEN: ".argmax(dim=2) + vocab_size * torch.arange(beam_size)"
    },
    "the lowest scores stay, not the highest": {"descending=True": "descending=False"},
}


def slips(
    log_probs: Tensor, totals: Tensor, lengths: Tensor, ended: Tensor, length_penalty: float, pad_id: int
) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """Parents, tokens and totals, each (batch, beam_size), that may be chosen."""
    beam, options = (log_probs, totals, lengths, ended), (length_penalty, pad_id)
    return {slip: edited(best_candidates, *edits.items())(*beam, *options) for slip, edits in _CANDIDATES.items()}
