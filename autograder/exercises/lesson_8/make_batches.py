"""Exercise `make_batches`: its cases and its slips."""

import copy
import functools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import Any

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import few, sizes, some
from autograder.parts.translation.text import IdPair

Batch = tuple[Tensor, Tensor]


def pair_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Each pair once, padded with 0 at its end, in batches of at most `max_tokens` cells on either side."""
    for index, size in enumerate(sizes(seed, 4, num_pairs=(1, 60), longest=(1, 20))):
        pairs = _pairs(random.Random(seed + index), size["num_pairs"], size["longest"])
        for max_tokens in (size["longest"], 3 * size["longest"] + 1, 1000):
            with check.case(num_pairs=size["num_pairs"], longest=size["longest"], max_tokens=max_tokens):
                require_within(_complete(answer, pairs, max_tokens, index), max_tokens)
    given = kept(pairs)
    require_all(given, batches_made(answer(pairs=list(pairs), max_tokens=90)))


def _complete(answer: Callable[..., Any], pairs: Sequence[IdPair], max_tokens: int, seed: int) -> list[Batch]:
    """The batches, having made sure that each pair is in one of them."""
    given = kept(pairs)
    made = answer(list(pairs), max_tokens, seed=seed)
    slip = "The lists of ids belong to the caller: pad copies of them."
    check.true(kept(pairs) == given, "`make_batches` changes the pairs it was given.", slip)
    batches = batches_made(made)
    require_all(given, batches)
    return batches


def kept(pairs: Sequence[IdPair]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs as they are now, whatever an answer writes into their lists."""
    return [(tuple(src), tuple(tgt)) for src, tgt in pairs]


def batches_made(batches: object) -> list[Batch]:
    """The batches as a list of two tensors each, having made sure that they are."""
    check.true(isinstance(batches, list | tuple), "`make_batches(…)` should return a list of batches.")
    made = []
    for batch in batches:  # type: ignore[attr-defined]
        src, tgt = check.returns("make_batches(…)[i]", batch, "src", "tgt")
        for name, ids in (("src", src), ("tgt", tgt)):
            check.dtype(name, ids, torch.long)
            check.true(ids.dim() == 2, f"`{name}` of a batch should have two dimensions, (batch, longest).")
            check.true(bool((ids != 0).any(dim=0).all()), f"`{name}` has a column of nothing but padding.")
        check.true(len(src) == len(tgt), "`src` and `tgt` of a batch have different numbers of rows.")
        made.append((src, tgt))
    return made


def require_all(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], batches: Sequence[Batch]) -> None:
    """Each pair stands in the batches as often as it was given."""
    rows = chain.from_iterable(zip(src.tolist(), tgt.tolist(), strict=True) for src, tgt in batches)
    found = Counter((_unpadded(src), _unpadded(tgt)) for src, tgt in rows)
    wanted = Counter((tuple(src), tuple(tgt)) for src, tgt in pairs)
    missing, extra = (wanted - found).total(), (found - wanted).total()
    strange = sum(count for pair, count in found.items() if pair not in wanted)
    slip = "Ids come first, in their order, padding (0) at the end; a source comes with its target, and before it."
    check.true(not strange, f"There are pairs of rows that were never given: {strange}.", slip)
    count = f"{missing} of the {len(pairs)} pairs {'is' if missing == 1 else 'are'} in no batch."
    check.true(bool(extra) or not missing, f"Some pairs are lost. {count}")
    verdict = f"Some pairs come more than once: {extra} rows too many."
    check.true(not extra, f"{verdict} {count}" if missing else verdict)


def _unpadded(row: list[int]) -> tuple[int, ...]:
    while row and row[-1] == 0:
        row = row[:-1]
    return tuple(row)


def require_within(batches: Sequence[Batch], max_tokens: int) -> None:
    """No batch has more than `max_tokens` cells on either side."""
    for name, place in (("src", 0), ("tgt", 1)):
        most = max((batch[place] for batch in batches), key=Tensor.numel)
        shape = f"{tuple(most.shape)}, {most.numel()} cells, padding included"
        check.true(most.numel() <= max_tokens, f"`{name}` of a batch is {shape}, more than max_tokens={max_tokens}.")


def length_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """There is hardly more padding, and there are hardly more batches, than when pairs are sorted by length.

    Where all targets are equally long, as dates are, the sources decide.
    """
    for index, most in some(seed, enumerate((1.5, 1.5, 3.0, 3.0))):
        pairs = _pairs(random.Random(seed + index), 400, 40)
        if index == 2:
            pairs = [(src, [5] * 12) for src, _ in pairs]
        elif index == 3:
            pairs = [([5], [6] * 200), *(([5, *src[:4]], [6, *tgt[:4]]) for src, tgt in pairs)]
        best = parts.make_batches(pairs, 600)
        batches = _complete(answer, pairs, 600, seed + index)
        padding, least = padding_of(batches), padding_of(best)
        verdict = f"{padding:.0%} of `src` is padding; with pairs of similar length it is {least:.0%}."
        check.true(padding <= most * least + 0.02, verdict)
        verdict = f"There are {len(batches)} batches where {len(best)} would do."
        slip = "A batch can grow until one more pair would take it above `max_tokens`."
        check.true(len(batches) <= 1.3 * len(best), verdict, slip)
    same = [([5] * 15, [6] * 15)] * 40
    count = len(_complete(answer, same, 600, seed))
    verdict = f"40 pairs of 15 ids each are 600 cells on a side, and make {count} batches with max_tokens=600."
    if count == 1:
        return
    slip = "A batch of exactly `max_tokens` cells is not too large."
    has_room = len(_complete(answer, same, 601, seed)) == 1
    check.true(False, verdict, slip if has_room else None)


def padding_of(batches: Sequence[Batch]) -> float:
    """The share of the cells of all sources that are padding."""
    cells = sum(src.numel() for src, _ in batches)
    return sum(int((src == 0).sum()) for src, _ in batches) / cells


def order_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Another seed gives other batches in another order, the same seed the same, and they do not grow in length."""
    pairs = _pairs(random.Random(seed), 200, 30)
    first = few(seed)
    made = {n: _complete(answer, pairs, 200, n) for n in range(first, first + 4)}
    again = batches_made(answer(list(pairs), 200, seed=first))
    given = {"pairs": list(reversed(pairs)), "max_tokens": 200, "seed": first}
    check.leaves_alone(f"make_batches(pairs, max_tokens=200, seed={first})", answer, given)
    check.true(_same(made[first], again), f"Two calls with seed={first} give different batches.")
    for other in range(first + 1, first + 4):
        differs = not _same(made[first], made[other])
        check.true(differs, f"The batches are the same for seed={first} and seed={other}.")
        check.true(len(made[other]) > 1, f"All {len(pairs)} pairs are in one batch, with max_tokens=200.")
        members = [{tuple(sorted(map(tuple, src.tolist()))) for src, _ in made[n]} for n in (first, other)]
        slip = "Let pairs of one length, too, come in another order before they are put into batches."
        check.true(members[0] != members[1], "For another seed, the same pairs are together in a batch.", slip)
    widths = {n: torch.tensor([src.size(1) for src, _ in batches]).float() for n, batches in made.items()}
    distances = {n: (each[:, None] - each).abs().mean() for n, each in widths.items()}
    for n, each in widths.items():
        slip = "Shuffle the batches at the end: training should not see all short pairs first."
        in_order = bool(each.diff().abs().mean() < 0.5 * distances[n])
        check.true(not in_order, f"With seed={n} the batches come in the order of their lengths.", slip)
    for n, other in combinations(widths, 2):
        if len(widths[n]) == len(widths[other]):
            alike = bool((widths[n] - widths[other]).abs().mean() < 0.2 * distances[n])
            verdict = f"Short batches and long ones come in the same order for seed={n} and seed={other}."
            check.true(not alike, verdict, "Let `seed` decide about the order of the batches as well.")


def _same(one: Sequence[Batch], other: Sequence[Batch]) -> bool:
    return len(one) == len(other) and all(
        torch.equal(a, b) for pair, twin in zip(one, other, strict=True) for a, b in zip(pair, twin, strict=True)
    )


def too_long_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """A pair that is longer than `max_tokens`, in its source or its target, is refused; one just as long is not."""
    for side in (0, 1):
        ids = [[3, 4], [5]]
        ids[side] = [5 + seed % 3] * (2011 + seed % 5)
        pair, longest = (ids[0], ids[1]), len(ids[side])
        call = f"make_batches(pairs, max_tokens={longest - 1})"
        why = f"the {'target' if side else 'source'} of one pair has {longest} ids"
        pairs = [([4, 4], [6, 6]), pair]
        given, refused = kept(pairs), functools.partial(answer, copy.deepcopy(pairs), longest - 1)
        check.raises(call, (ValueError, AssertionError), refused, because=why, mentions=(longest, longest - 1))
        require_all(given, batches_made(answer(pairs, longest)))


def _pairs(generator: random.Random, count: int, longest: int) -> list[IdPair]:
    """Pairs of ids, the target's length near the source's, many alike in length and some twice."""

    def ids(length: int) -> list[int]:
        return [generator.randint(1, 60) for _ in range(length)]

    lengths = [generator.randint(1, longest) for _ in range(count)]
    pairs: list[IdPair] = [
        (ids(length), ids(min(longest, max(1, length + generator.randint(-1, 1))))) for length in lengths
    ]
    return [*pairs[: count - count // 9], *pairs[: count // 9]]
