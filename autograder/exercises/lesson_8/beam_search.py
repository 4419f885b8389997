"""Exercise `beam_search`: its cases and its slips."""

import copy
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_7.shared import SCRIPT, SOURCES, require_model_kept, small_transformer
from autograder.exercises.lesson_8.shared import PENALTIES, Answer, edited
from autograder.exercises.shared import VISIBLE, device, sizes, some, tensors
from autograder.parts.translation.beams import best_candidates, search

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


def token_cases(answer: Answer, *, seed: int = 0) -> None:
    """The best sequences and their scores, by any model, for beams of any size and sources of any lengths."""
    for each in _searches(seed):
        model, src, beam_size, max_len, penalty = copy.deepcopy(each[:5])
        expected = parts.beam_search(*each)
        call = f"beam_search(model, src, beam_size={beam_size}, max_len={max_len}, length_penalty={penalty}, …)"
        with check.case(src=src, **each.special), check.unchanged(src=src):
            found = answer(model, src, beam_size, max_len, penalty, **each.special)
            require_found(call, found, expected, each.special, answer)
    expected = parts.beam_search(copy.deepcopy(each.model), each.src, 4, 5)
    model, src = copy.deepcopy(each[:2])
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
        each = _clear(each, Search(each.model, each.src, 4, 5, 0.6, 1, 2, 0))  # it is asked without options, too
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


class _NextByPlace(parts.NextByTable):
    """A table whose order of tokens matters a little, too."""

    def __init__(self, table: Tensor, places: Tensor) -> None:
        super().__init__(table)
        self.places = places

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """As in the table, with `places` (places, vocab_size) added."""
        return super().decode(tgt, memory, src) + self.places[: tgt.size(1)]


def _clear(each: Search, *others: Search) -> Search:
    """A search for the sources where no two orders of the same pairs of tokens tie, so that rounding would choose."""
    is_clear = torch.ones(len(each.src), dtype=torch.bool)
    (places,) = tensors((9, each.model.table.size(-1)), seed=0)
    for way in (each, *others):
        models = (_NextByPlace(each.model.table.detach(), scale * places) for scale in (1e-3, -1e-3))
        one, other = (parts.beam_search(*way._replace(model=model))[0] for model in models)
        width = max(one.size(1), other.size(1))
        same = _widened(one, width, way.pad_id) == _widened(other, width, way.pad_id)
        is_clear &= same.all(dim=1)
    return each._replace(src=each.src[is_clear])


def _search_in_tables(seed: int) -> Search:
    """Many sentences at once, in a model that is quick to ask."""
    vocab_size = 6 + seed % 3
    bos_id, eos_id, pad_id = ((1, 2, 0), (4, 3, 5))[seed % 2]
    (table,) = tensors((40, vocab_size, vocab_size), seed=seed)
    table[..., eos_id] += EAGERNESS[seed % len(EAGERNESS)]
    src = torch.stack([torch.arange(3, 43), torch.full((40,), 3)], dim=1)
    penalty = PENALTIES[seed % len(PENALTIES)]
    return _clear(Search(parts.NextByTable(table), src, 2 + seed % 3, 6, penalty, bos_id, eos_id, pad_id))


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
    return slips(found, _searches(VISIBLE))


def wide_cases(answer: Answer, *, seed: int = 0) -> None:
    """A beam with room for all sequences finds the best there is; a beam of one is greedy."""
    endless = parts.ScriptedModel(torch.tensor([[5, 6, 7]]), vocab_size=9).eval()  # which counts its calls
    answer(endless, torch.tensor([[3, 4]]), 2, 4)
    for index, penalty in some(seed, enumerate((0.6, 0.0))):
        src = data.tokens([2, 3], vocab_size=5, seed=seed + index)
        model: Any = small_transformer(5, 11 * seed + 3 + index, src)
        best, greedy = best_of_all(model, src, 3, penalty), parts.greedy_decode(model, src, 6)
        with check.case(src=src, length_penalty=penalty):
            call = f"beam_search(model, src, beam_size=25, max_len=3, length_penalty={penalty})"
            require_found(call, answer(model, src, 25, 3, penalty), best, {}, answer)
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


def mode_cases(answer: Answer, *, seed: int = 0) -> None:
    """Afterwards a model is as it was; the encoder runs once, and nothing in train mode or with gradients."""
    script = torch.tensor(SCRIPT).roll(seed % 2, 0)
    modes = itertools.product((True, False), ((1, 7, 2), (3, 4, 2), (2, 5, 1)))
    for training, (beam_size, max_len, rows) in some(seed, modes):
        src = torch.tensor(SOURCES[:rows])
        model, twin = (parts.ScriptedModel(script, vocab_size=9).train(training) for _ in range(2))
        expected, _ = parts.beam_search(twin, src, beam_size, max_len)
        with check.case(beam_size=beam_size, max_len=max_len):
            tokens, _ = check.returns("beam_search(…)", answer(model, src, beam_size, max_len), "tokens", "scores")
            require_model_kept(model, training, tokens, expected[:, 1:2])
            calls = len(model.lengths)
            verdict = f"For {max_len} tokens of {len(src)} sources the decoder runs {calls} times."
            check.true(calls <= max_len * len(src), verdict, "Once for each token is enough.")


_ENDS, _COUNTS = "ended = ended | (newest == eos_id)", "lengths = lengths + (~ended).long()"
_LENGTHS, _ENDED = "lengths = lengths[rows[:, None], parents]", "ended = ended[rows[:, None], parents]"
_TOKENS, _BEST = "tokens[rows[:, None], parents]", "scores.argmax(dim=1)"
_RETURN = "tokens[rows, best], scores[rows, best]"
_CHOICE, _FINALLY = "ended, length_penalty, pad_id)", "sequence_scores(sums, lengths, length_penalty)"
_FINALLY_06 = "sequence_scores(sums, lengths, 0.6)"
_SEARCHES: dict[str, dict[str, str]] = {
    "decoding is greedy: all sequences of a beam are there at the beginning and stay the same, or there is one": {
        "-math.inf)\n            sums[:, 0] = 0.0": "0.0)"
    },
    "the search stops as soon as one sequence has ended": {"ended.all()": "ended.any()"},
    "the search stops as soon as one sequence of each beam has ended": {"ended.all()": "ended.any(dim=1).all()"},
    "the tokens are not those of the parents": {_TOKENS: "tokens"},
    "`ended` is not that of the parents": {_ENDED: "pass"},
    "`lengths` are not those of the parents": {_LENGTHS: "pass"},
    "`lengths` and `ended` are not those of the parents": {_LENGTHS: "pass", _ENDED: "pass"},
    "the newest tokens are picked by the parents as well, as where they are appended before that": {
        f"[{_TOKENS}, newest[..., None]], dim=2)": "[tokens, newest[..., None]], dim=2)[rows[:, None], parents]"
    },
    "the newest tokens are picked by the parents as well, also where EOS is looked for": {
        _CHOICE: _CHOICE + "\n                newest = newest[rows[:, None], parents]"
    },
    "the model is given the newest token alone": {"(tokens.flatten(0, 1)": "(tokens[..., -1:].flatten(0, 1)"},
    "nothing is taken from the parents": {_LENGTHS: "pass", _ENDED: "pass", _TOKENS: "tokens"},
    "the parents are looked up among the rows of all sources": {_TOKENS: "tokens.flatten(0, 1)[parents]"},
    "the length of a sequence that has ended grows": {"(~ended).long()": "1"},
    "EOS does not count in the length": {
        _COUNTS: _ENDS,
        _ENDS + "\n            scores": _COUNTS + "\n            scores",
    },
    "EOS counts twice in the length": {_COUNTS: _COUNTS + " + (newest == eos_id).long()"},
    "the lengths stay 0": {_COUNTS: "pass"},
    "BOS counts in the length": {"torch.zeros_like(sums).long()": "torch.ones_like(sums).long()"},
    "it is forgotten which sequences ended earlier": {_ENDS: "ended = newest == eos_id"},
    "no sequence is ever noted as ended": {_ENDS: "pass"},
    "`eos_id` is taken to be 2": {"== eos_id": "== 2"},
    "`pad_id` is not passed on to `best_candidates`, and 0 is used": {_CHOICE: "ended, length_penalty, 0)"},
    "`length_penalty` is not passed on to `best_candidates`, and 0.6 is used": {_CHOICE: "ended, 0.6, pad_id)"},
    "neither `length_penalty` nor `pad_id` is passed on to `best_candidates`": {_CHOICE: "ended, 0.6, 0)"},
    "`length_penalty` is not passed on to `sequence_scores`, and 0.6 is used": {_FINALLY: _FINALLY_06},
    "`length_penalty` is never passed on, and 0.6 is used": {_FINALLY: _FINALLY_06, _CHOICE: "ended, 0.6, pad_id)"},
    "the best sequence is chosen by its log-probability, and that is returned": {_FINALLY: "sums"},
    "the log-probability of the best sequence is returned, not its score": {"scores[rows, best]": "sums[rows, best]"},
    "the best sequence is chosen by its log-probability, not by its score": {_BEST: "sums.argmax(dim=1)"},
    "the first sequence of each beam is returned, whatever its score": {_BEST: "torch.zeros_like(rows)"},
    "the last sequence of each beam is returned, whatever its score": {_BEST: "torch.full_like(rows, beam_size - 1)"},
    "the first sequence of each beam is returned, with the best score": {_RETURN: "tokens[:, 0], scores[rows, best]"},
    "the sequence with the lowest score is returned": {_BEST: "scores.argmin(dim=1)"},
    "the best sequence is looked up among the rows of all sources": {
        _RETURN: "tokens.flatten(0, 1)[best], scores[rows, best]"
    },
    "all sequences are scored as if they were as long as the longest": {
        _FINALLY: "sequence_scores(sums, torch.full_like(lengths, tokens.size(2) - 1), length_penalty)"
    },
    "probabilities are added up, not their logarithms": {"log_softmax": "softmax"},
    "logits are added up, without a log-softmax": {".log_softmax(dim=-1)": ""},
    "the log-softmax goes over the sequences of a beam, not over the vocabulary": {
        "log_softmax(dim=-1).view(len(src), beam_size, -1)": "view(len(src), beam_size, -1).log_softmax(dim=1)"
    },
    "the log-softmax goes over all rows, not over the vocabulary": {"log_softmax(dim=-1)": "log_softmax(dim=0)"},
    "the first position is looked at, not the last": {"[:, -1]": "[:, 0]"},
    "the sources are mixed with the sequences of their beams, as by a wrong `view`": {
        ".view(len(src), beam_size, -1)": ".view(beam_size, len(src), -1).transpose(0, 1)"
    },
    "the totals so far are added once more": {
        "parents, newest, sums =": "before = sums\n                parents, newest, sums =",
        _LENGTHS: "sums = sums + before[rows[:, None], parents]\n                " + _LENGTHS,
    },
    "the totals are divided by the length penalty in every step": {
        _ENDS: f"{_ENDS}\n                sums = {_FINALLY}"
    },
    "BOS is left out": {_RETURN: "tokens[rows, best][:, 1:], scores[rows, best]"},
    "a sequence that has not ended can never win": {_FINALLY: _FINALLY + ".masked_fill(~ended, -math.inf)"},
    "one step is missing: BOS counts as one of the `max_len` tokens": {"<= max_len": "< max_len"},
    "one step too many is taken": {"<= max_len": "<= max_len + 1"},
}


def slips(found: Sequence[tuple[Tensor, Tensor]], searches: Sequence[tuple[Any, ...]]) -> str | None:
    """The one slip with which all searches end in what was found, tokens (batch, length) and scores (batch,)."""

    def agrees(slip: str) -> bool:
        wrong = edited(search, *_SEARCHES[slip].items())
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
