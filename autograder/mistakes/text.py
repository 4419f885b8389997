"""Slips of lesson 8's first half: merging pairs, learning merges, ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from autograder.parts.translation.text import Pair, merge_pair

Choose = Callable[[Counter[Pair]], Pair]


def merged(pieces: Sequence[str], pair: Pair) -> dict[str, list[str]]:
    """What may be made of the pieces of a word."""
    one, other = pair
    at = [place for place, found in enumerate(pairwise(pieces)) if found == pair]
    first = at[:1]
    slips = {
        "a piece is used in two pairs": _twice(pieces, pair),
        "pairs are joined from the right": _from_the_right(pieces, pair),
        "only the first pair is joined": [
            *pieces[: first[0]],
            one + other,
            *pieces[first[0] + 2 :],
        ]
        if first
        else [],
        "pieces are joined that are spelled like the pair, whatever they are": _spelled(pieces, one + other),
        "the last piece is lost where it belongs to no pair": merge_pair(pieces, pair)[:-1]
        if not at or at[-1] < len(pieces) - 2
        else [],
        "nothing is joined": list(pieces),
        "what is joined gets lost": [piece for piece in merge_pair(pieces, pair) if piece != one + other],
        "the two pieces of a pair are joined the wrong way round": [
            other + one if piece == one + other else piece for piece in merge_pair(pieces, pair)
        ],
    }
    return distinct(slips, merge_pair(pieces, pair))


def _twice(pieces: Sequence[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    for place, piece in enumerate(pieces):
        if tuple(pieces[place : place + 2]) == pair:
            joined.append("".join(pair))
        elif place == 0 or tuple(pieces[place - 1 : place + 1]) != pair:
            joined.append(piece)
    return joined


def _from_the_right(pieces: Sequence[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    rest = list(pieces)
    while rest:
        count = 2 if tuple(rest[-2:]) == pair else 1
        joined.insert(0, "".join(rest[-count:]))
        del rest[-count:]
    return joined


def _spelled(pieces: Sequence[str], text: str) -> list[str]:
    joined: list[str] = []
    rest = list(pieces)
    while rest:
        count = next((n for n in range(1, len(rest) + 1) if "".join(rest[:n]) == text), 1)
        joined.append("".join(rest[:count]))
        rest = rest[count:]
    return joined


def distinct(slips: Mapping[str, Any], right: object) -> dict[str, Any]:
    """Those that differ from what is right, and hold something."""
    return {slip: value for slip, value in slips.items() if value != right and value}


def merges(words: Mapping[str, int], num_merges: int) -> dict[str, list[Any]]:
    """Lists of merges that may be learned from words with their counts."""

    def learned(choose: Choose, **ways: Any) -> list[Pair]:
        return _learned(words, num_merges, choose, **ways)

    def first(counts: Counter[Pair]) -> Pair:
        return min(counts, key=lambda pair: (-counts[pair], pair))

    once = _counted({word: list(word) for word in words}, words, pairwise)
    slips = {
        "each word counts once, not as often as it occurs": learned(first, weigh=lambda count: 1),
        "a pair counts once for each word, not once for each place": learned(first, pairs_of=_different_pairs),
        "ties go to the pair that comes last in order": learned(
            lambda counts: max(counts, key=lambda pair: (counts[pair], pair))
        ),
        "ties go to the pair that was met first": learned(lambda counts: counts.most_common(1)[0][0]),
        "the least frequent pair is merged": learned(lambda counts: min(counts, key=lambda pair: (counts[pair], pair))),
        "pairs are counted once at the beginning, and words are not cut anew": sorted(
            once, key=lambda pair: (-once[pair], pair)
        )[:num_merges],
        "words are not cut anew, so that the same pair is found again and again": [first(once)] * num_merges
        if once
        else [],
        "the merged pieces are returned, not the pairs": ["".join(pair) for pair in learned(first)],
        "there is one merge too few": learned(first)[:-1],
    }
    return distinct(slips, learned(first))


def _different_pairs(pieces: Sequence[str]) -> Iterable[Pair]:
    return sorted(set(pairwise(pieces)))


def _counted(
    cut: Mapping[str, Sequence[str]],
    words: Mapping[str, int],
    pairs_of: Callable[[Sequence[str]], Iterable[Pair]],
    weigh: Callable[[int], int] = lambda count: count,
) -> Counter[Pair]:
    counts = Counter[Pair]()
    for word, pieces in cut.items():
        for pair in pairs_of(pieces):
            counts[pair] += weigh(words[word])
    return counts


def _learned(
    words: Mapping[str, int],
    num_merges: int,
    choose: Choose,
    weigh: Callable[[int], int] = lambda count: count,
    pairs_of: Callable[[Sequence[str]], Iterable[Pair]] = pairwise,
) -> list[Pair]:
    cut, found = {word: list(word) for word in words}, list[Pair]()
    while len(found) < num_merges and (counts := _counted(cut, words, pairs_of, weigh)):
        found.append(choose(counts))
        cut = {word: merge_pair(pieces, found[-1]) for word, pieces in cut.items()}
    return found


def encoded(merges: Sequence[Pair], alphabet: Sequence[str], text: str) -> dict[str, list[int]]:
    """Ids that a text may get."""
    pieces = [*alphabet, *map("".join, merges)]
    ids = {piece: 4 + place for place, piece in enumerate(pieces)}
    letters = [letter if letter in alphabet else "" for letter in text]

    def cut(order: Iterable[Pair]) -> list[str]:
        parts = list(letters)
        for pair in order:
            parts = merge_pair(parts, pair)
        return parts

    def numbered(parts: Iterable[str], shift: int = 0) -> list[int]:
        return [ids[part] + shift if part else 3 for part in parts]

    right = numbered(cut(merges))
    in_order = {piece: 4 + place for place, piece in enumerate([*sorted(alphabet), *map("".join, merges)])}
    slips = {
        "the longest piece that fits is taken, instead of the merges in their order": numbered(_longest(letters, ids)),
        "the merges are applied from the last to the first": numbered(cut(list(merges)[::-1])),
        "no merge is applied": numbered(letters),
        "only the first merge is applied": numbered(cut(merges[:1])),
        "ids begin at 0, where PAD, BOS, EOS and UNK belong": [place - 4 if place != 3 else 3 for place in right],
        "ids begin at 3, which is UNK": [place - 1 if place != 3 else 3 for place in right],
        "the letters are sorted, not in the order of the alphabet": [
            in_order[part] if part else 3 for part in cut(merges)
        ],
        "letters that are not in the alphabet are left out": [place for place in right if place != 3],
        "BOS and EOS are added": [1, *right, 2],
        "EOS is added": [*right, 2],
    }
    return distinct(slips, right)


def _longest(letters: Sequence[str], ids: Mapping[str, int]) -> list[str]:
    parts: list[str] = []
    rest = list(letters)
    while rest:
        counts = range(len(rest), 0, -1)
        count = next((n for n in counts if all(rest[:n]) and "".join(rest[:n]) in ids), 1)
        parts.append("".join(rest[:count]))
        rest = rest[count:]
    return parts
