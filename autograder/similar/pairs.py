"""Which pairs of a class share so much of what is rare in it that chance would hardly bring it about.

A hand-in is compared by aspects that have little to do with each other: the code of each exercise, the names, the
words, the cells of their own. In each aspect it is counted how many pairs of the class share as much as this one, or
more: that is how rare it is, in bits. What a pair has in all aspects is added up, and held against what would come
about if the aspects had been dealt out among the pairs at random. So one aspect alone makes no pair, however rare, and
what is common in the class, or known from the course, counts nothing.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

ALLOWED = 0.05  # pairs that chance may bring about in a class; habits, which go through all aspects, bring more
LEAST_BITS = 3.0  # what one pair in eight shares, or more, counts nothing
EXACTNESS = 6  # how much more two short answers count that are alike in all than long ones that are so in part
STEP = 0.25  # bits
ROUNDS = 5  # in each of which the pairs found before hide no others
COMMON_SHARE = 0.25  # of a class; what more of them have is common
TINY = 1e-6

Numbers: TypeAlias = npt.NDArray[np.float32]
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Pair:
    """Two hand-ins to look at together.

    Attributes:
        first, second: their places in the class.
        aspects: those in which they share what is rare.
        by_chance: how many pairs like it, or more so, chance brings about in such a class.
    """

    first: int
    second: int
    aspects: tuple[str, ...]
    by_chance: float


def counts_of(class_: Sequence[Mapping[str, Collection[T]]], known: Collection[T]) -> dict[str, Counter[T]]:
    """Aspect → how many of the class have a trait, those that are known left out."""
    counts: dict[str, Counter[T]] = {}
    for hand_in in class_:
        for aspect, traits in hand_in.items():
            counts.setdefault(aspect, Counter()).update(trait for trait in traits if trait not in known)
    return counts


def is_rare(count: int, students: int) -> bool:
    """Whether so few of so many students have it that it is worth a look when two of them do."""
    return count <= max(2, COMMON_SHARE * students)


def tables_of(class_: Sequence[Mapping[str, Collection[T]]], known: Collection[T]) -> dict[str, Numbers]:
    """Aspect → a table of zeros and ones: a row for each hand-in, a column for each trait that is not known."""
    tables = {}
    for aspect, counts in counts_of(class_, known).items():
        columns = {trait: column for column, trait in enumerate(counts)}
        table = tables[aspect] = np.zeros((len(class_), len(columns)), np.float32)
        for row, hand_in in enumerate(class_):
            table[row, [columns[trait] for trait in hand_in.get(aspect, ()) if trait in columns]] = 1
    return tables


def pairs_of(tables: Mapping[str, Numbers]) -> list[Pair]:
    """Find the pairs of a class, those first that chance would bring about least.

    Args:
        tables: as `tables_of` makes them, all of the same class.
    """
    students = max((len(table) for table in tables.values()), default=0)
    if students < 2:
        return []
    firsts, seconds = np.triu_indices(students, 1)
    likenesses = {aspect: _likeness(table)[firsts, seconds] for aspect, table in tables.items()}
    chosen = np.zeros(len(firsts), bool)
    for _ in range(ROUNDS):
        bits = {aspect: _rarity(likeness, chosen) for aspect, likeness in likenesses.items()}
        by_chance = _by_chance([(bits[aspect], likeness >= 0) for aspect, likeness in likenesses.items()], chosen)
        if not (by_chance <= ALLOWED)[~chosen].any():
            break
        chosen |= by_chance <= ALLOWED
    return [
        Pair(
            int(firsts[at]),
            int(seconds[at]),
            tuple(aspect for aspect, rarity in bits.items() if rarity[at] >= LEAST_BITS),
            float(by_chance[at]),
        )
        for at in sorted(np.flatnonzero(chosen), key=lambda at: (by_chance[at], at))
    ]


def _likeness(table: Numbers) -> Numbers:
    """How much of what is rare two hand-ins share in one aspect, and how exactly; -1 where one of them has nothing."""
    students, counts = len(table), table.sum(axis=0)
    weights = np.log2(students / np.maximum(counts, 1)).astype(np.float32)
    wholes = table @ weights
    some = counts > 1
    both: Numbers = (table[:, some] * weights[some]) @ table[:, some].T
    either = wholes[:, None] + wholes[None, :] - both
    alike: Numbers = both * (both / np.maximum(either, TINY)) ** EXACTNESS
    tried = wholes > TINY
    return np.where(tried[:, None] & tried[None, :], alike, np.float32(-1))


def _rarity(likeness: Numbers, chosen: npt.NDArray[np.bool_]) -> Numbers:
    """In bits, how few pairs share as much in one aspect, of those who tried and are not chosen yet."""
    others = np.sort(likeness[(likeness >= 0) & ~chosen])
    as_much = len(others) - np.searchsorted(others, likeness * (1 - TINY), side="left")
    bits = np.log2(max(1, len(others)) / np.maximum(1, as_much))
    return np.where((likeness > 0) & (bits >= LEAST_BITS), bits, 0).astype(np.float32)


def _by_chance(
    aspects: Sequence[tuple[Numbers, npt.NDArray[np.bool_]]], chosen: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """For each pair how many a class has that reach as much, if the aspects have nothing to do with each other.

    Args:
        aspects: of each its bits, and which pairs tried; it is as if all pairs had tried all.
    """
    whole, chances = np.zeros(len(chosen), int), np.ones(1)
    for bits, tried in aspects:
        steps = (bits / STEP).astype(int)
        counts = np.bincount(steps[tried & ~chosen])
        if len(counts):
            whole += steps
            chances = np.convolve(chances, counts / counts.sum())
    reached = np.append(np.cumsum(chances[::-1])[::-1], 0)
    return np.asarray(len(whole) * reached[np.minimum(whole, len(reached) - 1)])
