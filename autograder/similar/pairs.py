"""Which pairs of a class share what is rare in it, and in so many places that chance would hardly bring it about.

A hand-in is compared by aspects that have little to do with each other: the code of each exercise, the names, the
words, the cells of their own. In each aspect a pair shares so much, and so many pairs of the class share as much or
more: that is how rare it is, in bits. What a pair has in all aspects adds up, and is held against what would come
about if the aspects had been dealt out among the pairs at random. So nothing in one aspect alone makes a pair, however
rare, and what is common in the class, or known from the course, counts nothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np

ALLOWED = 0.01  # pairs that chance brings about, on average, in a class of students who share nothing
RARE_SHARE, RARE_MOST, RARE_LEAST = 0.1, 40, 2  # of a class, students; what more of them have is common
STEP = 0.25  # bits
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Pair:
    """Two hand-ins to look at together.

    Attributes:
        first, second: their places in the class.
        bits: aspect → how rare in the class it is to share as much; only those where they share something.
        by_chance: how many pairs like it, or more so, a class brings about by chance.
    """

    first: int
    second: int
    bits: Mapping[str, float]
    by_chance: float


def rare_in(class_: Sequence[Mapping[str, Collection[T]]], known: Collection[T]) -> dict[str, dict[T, int]]:
    """Aspect → what is rare in it, and how many of the class have it."""
    most = rare_most(len(class_))
    return {
        aspect: {trait: count for trait, count in counts.items() if count <= most}
        for aspect, counts in _counts(class_, known).items()
    }


def rare_most(students: int) -> int:
    """How many of so many students may have what is rare."""
    return max(RARE_LEAST, min(RARE_MOST, int(RARE_SHARE * students)))


def _counts(class_: Sequence[Mapping[str, Collection[T]]], known: Collection[T]) -> dict[str, Counter[T]]:
    counts: dict[str, Counter[T]] = defaultdict(Counter)
    for hand_in in class_:
        for aspect, traits in hand_in.items():
            counts[aspect].update(trait for trait in traits if trait not in known)
    return counts


def pairs_of(
    class_: Sequence[Mapping[str, Collection[T]]], known: Collection[T] = frozenset(), *, allowed: float = ALLOWED
) -> list[Pair]:
    """Find the pairs of a class, those first that share most.

    Args:
        class_: for each hand-in what it holds, by aspect.
        known: what counts nothing: the solution, the stub, what was given.
        allowed: how many pairs chance may bring about, on average.
    """
    bits: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    chances = []
    for aspect, counts in _counts(class_, known).items():
        rarities = _rarities([hand_in.get(aspect, ()) for hand_in in class_], counts)
        for pair, rarity in rarities.items():
            bits[pair][aspect] = rarity
        holders = sum(any(trait in counts for trait in hand_in.get(aspect, ())) for hand_in in class_)
        chances.append(_distribution(rarities.values(), math.comb(holders, 2)))
    everybody = math.comb(len(class_), 2)
    tail = _tail(chances)
    found = [
        Pair(*pair, rarities, everybody * tail[min(len(tail) - 1, sum(map(_steps, rarities.values())))])
        for pair, rarities in bits.items()
    ]
    chosen = [pair for pair in found if pair.by_chance <= allowed]
    return sorted(chosen, key=lambda pair: (-sum(pair.bits.values()), pair.first, pair.second))


def _rarities(hand_ins: Sequence[Collection[T]], counts: Mapping[T, int]) -> dict[tuple[int, int], float]:
    """Pair → in bits, how few pairs share as much in one aspect; only pairs that share what is rare."""
    students = len(hand_ins)
    weights = {trait: math.log2(students / count) for trait, count in counts.items()}
    most, holders = rare_most(students), defaultdict(list)
    wholes = [0.0] * students
    for place, traits in enumerate(hand_ins):
        for trait in traits:
            if trait in weights:
                wholes[place] += weights[trait]
                if 1 < counts[trait] <= most:
                    holders[trait].append(place)
    shared: dict[tuple[int, int], float] = defaultdict(float)
    for trait, places in holders.items():
        for pair in combinations(places, 2):
            shared[pair] += weights[trait]
    scores = {
        (one, other): both * both / (wholes[one] + wholes[other] - both) for (one, other), both in shared.items()
    }
    those_who_tried = math.comb(sum(whole > 0 for whole in wholes), 2)
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores.values(), reverse=True), 1):
        ranks[score] = rank  # of equal ones the last
    return {pair: math.log2(those_who_tried / ranks[score]) for pair, score in scores.items()}


def _steps(bits: float) -> int:
    return int(bits / STEP)


def _distribution(rarities: Collection[float], pairs: int) -> np.ndarray:
    """How likely each number of steps is for a pair, in one aspect."""
    counts = np.bincount([_steps(bits) for bits in rarities] or [0], minlength=1).astype(float)
    counts[0] += max(0, pairs - counts.sum())
    return counts / counts.sum()


def _tail(chances: Iterable[np.ndarray]) -> np.ndarray:
    """How likely so many steps or more are, in all aspects together, if they have nothing to do with each other."""
    whole = np.ones(1)
    for chance in chances:
        whole = np.convolve(whole, chance)
    return np.cumsum(whole[::-1])[::-1]
