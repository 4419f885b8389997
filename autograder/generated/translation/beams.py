"""Lesson 8's second half over generated inputs: scores of sequences, candidates of a beam, the search."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder import check, data, mistakes, parts
from autograder.generated.decoding import MODES, require_words, small_transformer
from autograder.generated.inputs import DTYPES, VISIBLE, device, sizes, some, tensors
from autograder.parts.translation.beams import search

Answer = Callable[..., Any]
PENALTIES = 0.6, 0.0, 2.0, 0.3, 1.0
EAGERNESS = 0.0, 1.0, 2.0  # to end a sequence
SIZES = {"batch": (1, 4), "beam_size": (1, 5), "max_len": (1, 7)}
WRONG_CHOICES: tuple[Callable[..., tuple[Tensor, Tensor, Tensor]], ...] = (
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, torch.ones_like(lengths), e, alpha, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths + 1, e, alpha, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths - 1, e, alpha, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths, e, 0.0, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths, e, 0.6, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths, e, 2.0, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths, e, alpha + 1, pad),
    lambda p, t, lengths, e, alpha, pad: parts.best_candidates(p, t, lengths, e, alpha - 1, pad),
)


def sequence_scores(answer: Answer, *, seed: int = 0) -> None:
    """Scores of any shape, length and penalty."""
    for index, size in enumerate(sizes(seed, 4, batch=(1, 4), beam=(1, 5))):
        shape = (size["batch"], size["beam"], 7)[: 1 + index % 3]
        (drawn,) = tensors(shape, seed=seed + index, dtype=DTYPES[index % 2])
        totals, lengths = -5 * drawn.abs(), (30 * drawn.abs()).long() + 1
        for penalty in PENALTIES:
            expected = parts.sequence_scores(totals, lengths, penalty)
            with check.case(lengths=lengths, length_penalty=penalty), check.unchanged(totals=totals, lengths=lengths):
                slips = mistakes.sequence_scores(totals, lengths, penalty)
                name = "sequence_scores(totals, lengths, length_penalty)"
                check.close(name, answer(totals, lengths, penalty), expected, mistakes=slips)
    check.close("sequence_scores(totals, lengths)", answer(totals, lengths), parts.sequence_scores(totals, lengths))
    device(seed, "sequence_scores(totals, lengths)", answer, totals, lengths)


def best_candidates(answer: Answer, *, seed: int = 0) -> None:
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
    require_candidates(answer(**given), given, 0.6, 0)
    fresh = beam_drawn(seed, 2, 3, 7)
    fresh["totals"][:, 1:], fresh["lengths"][:], fresh["ended"][:] = -torch.inf, 0, False
    with check.case(**fresh):
        require_candidates(answer(*fresh.values()), fresh, 0.6, 0)
    device(seed, "best_candidates(…)", answer, *given.values())


def beam_drawn(seed: int, batch: int, beam_size: int, vocab_size: int) -> dict[str, Tensor]:
    """What `best_candidates` takes: sequences of different lengths, some of which have ended."""
    logits, drawn = tensors((batch, beam_size, vocab_size), (batch, beam_size), seed=seed)
    ended = drawn > 0.3
    lengths = torch.where(ended, 2 + torch.arange(beam_size) % 3, 6)
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
        slips = mistakes.candidates(**given, length_penalty=length_penalty, pad_id=pad_id)
        told = [slip for slip, each in slips.items() if _agree(_ordered(each), order)]
        slip = told[0] if len(told) == 1 else None
    for place, name in ((2, "totals"), (0, "parents"), (1, "tokens")):
        value, expected = (each[place] * (1 if place == 2 else real) for each in (order, wanted))
        title = f"`{name}` of `best_candidates(…)`, sorted by total"
        proved = {slip: value} if slip and not torch.allclose(value, expected, rtol=1e-4, atol=1e-5) else {}
        (check.close if place == 2 else check.equal)(title, value, expected, mistakes=proved)


def _agree(one: tuple[Tensor, ...], other: tuple[Tensor, ...]) -> bool:
    """Parents, tokens and totals are the same."""
    return all(torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5) for a, b in zip(one, other, strict=True))


def _ordered(values: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Parents, tokens and totals by total, and where totals are the same by parent and token."""
    for place, descending in ((1, False), (0, False), (2, True)):
        order = values[place].argsort(dim=1, descending=descending, stable=True)
        values = tuple(value.gather(1, order) for value in values)
    return values


def beam_tokens(answer: Answer, *, seed: int = 0) -> None:
    """The best sequences and their scores, by any model, for beams of any size and sources of any lengths."""
    for each in _searches(seed):
        model, src, beam_size, max_len, penalty = copy.deepcopy(each[:5])
        expected = parts.beam_search(*each)
        call = f"beam_search(model, src, beam_size={beam_size}, max_len={max_len}, length_penalty={penalty}, …)"
        with check.case(src=src, **each.special), check.unchanged(src=src):
            found = answer(model, src, beam_size, max_len, penalty, **each.special)
            require_found(call, found, expected, each.special, answer)
    expected = parts.beam_search(model, src, 4, 5)
    require_found("beam_search(model, src, 4, 5)", answer(model, src, beam_size=4, max_len=5), expected, {}, answer)
    device(seed, "beam_search(model, src, 2, 3)", answer, model, src, 2, 3)


class Search(NamedTuple):
    """What to look for, and in what: sequences end early, late or never."""

    model: Any
    src: Tensor
    beam_size: int
    max_len: int
    length_penalty: float
    bos_id: int
    eos_id: int
    pad_id: int

    @property
    def special(self) -> dict[str, int]:
        """The special tokens by their names."""
        return {"bos_id": self.bos_id, "eos_id": self.eos_id, "pad_id": self.pad_id}


@functools.cache
def _searches(seed: int) -> tuple[Search, ...]:
    """Searches of all sizes, and some of which each wrong way of choosing candidates makes something else."""
    drawn = [_search(seed + index, **size) for index, size in enumerate(sizes(seed, 4, **SIZES))]
    found = list(drawn)
    untold, attempts = list(some(seed, WRONG_CHOICES)), itertools.count(40 * seed)
    while untold:
        attempt = next(attempts)
        each = _search_in_tables(attempt)
        right, _ = parts.beam_search(*each)
        still = [wrong for wrong in untold if parts.exact_match(search(wrong, *each)[0], right, each.pad_id) == 1]
        if len(still) < len(untold):
            found.append(each)
        untold = still
    in_tables = found[len(drawn) :]
    alone = [each._replace(src=each.src[row : row + 1]) for each in in_tables for row in _ending_last(each)]
    return *found, *alone, _in_a_wide_beam(seed)


def _ending_last(each: Search) -> list[int]:
    """The sources whose best sequences end latest, when others in their beams have ended for long."""
    tokens, _ = parts.beam_search(*each)
    ends = (tokens == each.eos_id).long().argmax(dim=1)
    order: list[int] = ends.argsort(descending=True).tolist()
    return order[:4]


def _in_a_wide_beam(seed: int) -> Search:
    """A beam of six, which finds what one of four does not."""
    for attempt in itertools.count(seed):
        each = _search_in_tables(attempt)._replace(beam_size=6)
        narrow, wide = (parts.beam_search(*each._replace(beam_size=size))[0] for size in (4, 6))
        if parts.exact_match(narrow, wide, each.pad_id) < 1:
            return each
    raise AssertionError("Some beam of six finds more.")


def _search(seed: int, batch: int, beam_size: int, max_len: int) -> Search:
    vocab_size = 6 + seed % 3
    bos_id, eos_id, pad_id = ((1, 2, 0), (4, 3, 5))[seed % 2]
    src = data.tokens([1 + (seed + row) % 5 for row in range(batch)], vocab_size=vocab_size, seed=seed)
    model: Any = small_transformer(vocab_size, 7 * seed, src)
    with torch.no_grad():
        model.output_projection.bias[eos_id] += EAGERNESS[seed % len(EAGERNESS)]
    return Search(model, src, beam_size, max_len, PENALTIES[seed % len(PENALTIES)], bos_id, eos_id, pad_id)


def _search_in_tables(seed: int) -> Search:
    """Many sentences at once, in a model that is quick to ask."""
    vocab_size = 6 + seed % 3
    bos_id, eos_id, pad_id = ((1, 2, 0), (4, 3, 5))[seed % 2]
    (table,) = tensors((40, vocab_size, vocab_size), seed=seed)
    table[..., eos_id] += EAGERNESS[seed % len(EAGERNESS)]
    src = torch.stack([torch.arange(3, 43), torch.full((40,), 3)], dim=1)
    penalty = PENALTIES[seed % len(PENALTIES)]
    return Search(parts.NextByTable(table), src, 2 + seed % 3, 6, penalty, bos_id, eos_id, pad_id)


def require_found(
    call: str, result: object, expected: tuple[Tensor, Tensor], special: dict[str, int], answer: Answer
) -> None:
    """Tokens (batch, length) are those expected, columns of padding behind them aside, and so are the scores."""
    tokens, scores = check.returns(call, result, "tokens", "scores")
    check.dtype("tokens", tokens, torch.long)
    check.true(tokens.dim() == 2, "`tokens` do not have two dimensions, (batch, length).")
    wanted, pad_id = expected[0], special.get("pad_id", 0)
    width = max(tokens.size(1), wanted.size(1))
    wide, found = (_widened(each, width, pad_id) for each in (wanted, tokens))
    alike = scores.shape == expected[1].shape and torch.allclose(scores, expected[1], rtol=1e-4, atol=1e-5)
    slip = None if torch.equal(found, wide) and alike else _slip(answer)
    told = [
        {slip: value} if slip and not torch.equal(value, right) else {}
        for value, right in ((found, wide), (scores, expected[1]))
    ]
    check.equal(f"`tokens` of `{call}`", found, wide, mistakes=told[0])
    check.close(f"`scores` of `{call}`", scores, expected[1], mistakes=told[1])
    check.true(not scores.requires_grad, "The scores that come back carry gradients.")


def _widened(tokens: Tensor, width: int, pad_id: int) -> Tensor:
    """Tokens (batch, length) with columns of padding behind them, (batch, width)."""
    return torch.nn.functional.pad(tokens, (0, width - tokens.size(1)), value=pad_id)


def _slip(answer: Answer) -> str | None:
    """The slip in a search that is wrong, if just one known slip makes all that the answer makes."""
    found = []
    for each in _searches(VISIBLE):
        try:
            tokens, scores = check.returns("beam_search(…)", answer(*copy.deepcopy(each[:5]), **each.special), "", "")
        except Exception:
            return None
        found.append((tokens, scores.detach()))
    return mistakes.searched(found, _searches(VISIBLE))


def beam_of_all(answer: Answer, *, seed: int = 0) -> None:
    """A beam with room for all sequences finds the best there is; a beam of one is greedy."""
    endless = parts.ScriptedModel(torch.tensor([[5, 6, 7]]), vocab_size=9).eval()  # which counts its calls
    answer(endless, torch.tensor([[3, 4]]), 2, 4)
    for index, penalty in some(seed, enumerate((0.6, 0.0))):
        src = data.tokens([2, 3], vocab_size=5, seed=seed + index)
        model: Any = small_transformer(5, 11 * seed + 3 + index, src)
        with check.case(src=src, length_penalty=penalty):
            call = f"beam_search(model, src, beam_size=25, max_len=3, length_penalty={penalty})"
            require_found(call, answer(model, src, 25, 3, penalty), best_of_all(model, src, 3, penalty), {}, answer)
        greedy = parts.greedy_decode(model, src, 6)
        tokens, _ = check.returns("beam_search(model, src, 1, 6)", answer(model, src, 1, 6), "tokens", "scores")
        missing = max(0, greedy.size(1) - tokens.size(-1))  # columns of padding may be left out
        tokens = torch.nn.functional.pad(tokens, (0, missing))[:, : greedy.size(1)]
        check.equal("`tokens` with a beam of 1 (greedy decoding)", tokens, greedy)


def best_of_all(model: Any, src: Tensor, max_len: int, length_penalty: float) -> tuple[Tensor, Tensor]:
    """The sequence (batch, max_len + 1) with the highest score of all there are, by trying each of them."""
    memory = model.encode(src)
    vocab_size = model.decode(src[:, :1], memory, src).size(-1)
    rows, scores = [], []
    for words in itertools.product(range(vocab_size), repeat=max_len):
        end = words.index(2) + 1 if 2 in words else max_len
        if any(words[end:]):
            continue  # after its EOS there is padding
        row = torch.tensor([[1, *words]]).expand(len(src), -1)
        with torch.no_grad():
            log_probs = model.decode(row[:, :-1], memory, src).log_softmax(dim=-1)
        total = log_probs.gather(2, row[:, 1:, None]).squeeze(-1)[:, :end].sum(dim=1)
        rows.append(row)
        scores.append(total / ((5 + end) / 6) ** length_penalty)
    best = torch.stack(scores, dim=1).max(dim=1)
    return torch.stack(rows, dim=1)[torch.arange(len(src)), best.indices], best.values


def beam_mode(answer: Answer, *, seed: int = 0) -> None:
    """Afterwards a model is as it was; the encoder runs once, and nothing in train mode or with gradients."""
    script = torch.tensor([[5, 6, 2, 0, 0], [7, 8, 4, 5, 2]]).roll(seed % 2, 0)
    sources = torch.tensor([[3, 8, 5], [4, 7, 6]])
    modes = itertools.product((True, False), ((1, 7, 2), (3, 4, 2), (2, 5, 1)))
    for training, (beam_size, max_len, rows) in some(seed, modes):
        src = sources[:rows]
        model, twin = (parts.ScriptedModel(script, vocab_size=9).train(training) for _ in range(2))
        expected, _ = parts.beam_search(twin, src, beam_size, max_len)
        with check.case(beam_size=beam_size, max_len=max_len):
            tokens, _ = check.returns("beam_search(…)", answer(model, src, beam_size, max_len), "tokens", "scores")
            check.true(model.encoded == 1, f"The encoder runs {model.encoded} times for one batch.")
            in_training = any(mode for mode, _ in model.modes)
            check.true(not in_training, "The model, or a part of it, runs in train mode, with dropout.")
            check.true(not any(enabled for _, enabled in model.modes), "The model runs with gradients enabled.")
            require_words(tokens, expected[:, 1:2])
            restored = {part.training for part in model.modules()} == {training}
            check.true(restored, f"A model that was in {MODES[training]} is not, or not as a whole, in it afterwards.")
            calls = len(model.lengths)
            verdict = f"For {max_len} tokens of {len(src)} sources the decoder runs {calls} times."
            check.true(calls <= max_len * len(src), verdict, "Once for each token is enough.")
