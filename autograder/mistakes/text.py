"""Slips of lesson 8's first half: merging pairs, learning merges, ids."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from autograder.parts.translation.text import Pair, learn_merges, merge_pair


def merged(pieces: Sequence[str], pair: Pair) -> dict[str, list[str]]:
    """What may be made of the pieces of a word."""
    (one, other), joined = pair, merge_pair(pieces, pair)
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
        else joined,
        "pieces are joined that are spelled like the pair, whatever they are": _spelled(pieces, one + other),
        "the last piece is lost where it belongs to no pair": joined[:-1] if joined[-1:] == [*pieces[-1:]] else joined,
        "the word is cut into single letters": list("".join(pieces)),
        "nothing is joined": list(pieces),
        "what is joined gets lost": [piece for piece in joined if piece != one + other],
        "the two pieces of a pair are joined the wrong way round": [
            other + one if piece == one + other else piece for piece in joined
        ],
        "the two pieces stay a pair, and are not joined to one text": [
            [one, other] if piece == one + other else piece for piece in joined
        ],
        "the second piece of a pair comes once more, as the loop goes on by one place": _overlapping(pieces, pair),
        "the second piece of a pair comes once more, and the last piece is lost": _overlapping(pieces, pair)[:-1],
        "the piece behind a pair is passed over: the loop goes on by three places": _passing_over(pieces, pair),
        "pairs are looked for at every other place only": _passing_over(pieces, pair, 2, 2),
    }
    return distinct(slips, joined)


def _overlapping(pieces: Sequence[str], pair: Pair) -> list[str]:
    neighbours = [*pairwise(pieces), ("", "")]
    return ["".join(pair) if two == pair else piece for piece, two in zip(pieces, neighbours, strict=False)]


def _passing_over(pieces: Sequence[str], pair: Pair, joined: int = 3, alone: int = 1) -> list[str]:
    merged, place = list[str](), 0
    while place < len(pieces):
        is_pair = tuple(pieces[place : place + 2]) == pair
        merged.append("".join(pair) if is_pair else pieces[place])
        place += joined if is_pair else alone
    return merged


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
    """Those that differ from what is right."""
    return {slip: value for slip, value in slips.items() if value != right}


@functools.cache
def edited(function: Callable[..., Any], *edits: tuple[str, str]) -> Callable[..., Any]:
    """A function of `parts` as somebody may write it by mistake: with other texts in its source."""
    source, names = inspect.getsource(function), dict(vars(sys.modules[function.__module__]))
    for old, new in edits:
        if old not in source:
            raise ValueError(f"{function.__name__} does not hold {old!r}.")
        source = source.replace(old, new)
    exec(source, names)
    edited: Callable[..., Any] = names[function.__name__]
    return edited


_RECUT = "pieces = {word: merge_pair(parts, merges[-1]) for word, parts in pieces.items()}"
_BEST = "min(pair for pair, count in pairs.items() if count == most)"
_MERGES: dict[str, tuple[tuple[str, str], ...]] = {
    "each word counts once, not as often as it occurs": (("+= count", "+= 1"),),
    "a pair counts once for each word, not once for each place": (
        ("in pairwise(pieces[word])", "in set(pairwise(pieces[word]))"),
    ),
    "ties go to the pair that comes last in order": ((_BEST, _BEST.replace("min", "max")),),
    "ties go to the pair that was met first": ((_BEST, "pairs.most_common(1)[0][0]"),),
    "the least frequent pair is merged": (("max(pairs.values())", "min(pairs.values())"),),
    "the same pair is found again and again, as where words are not cut anew": ((_RECUT, "pass"),),
    "the counts of earlier rounds are kept, and the new ones added to them": (
        ("    merges: list[Pair] = []", "    merges, pairs = [], Counter()"),
        ("        pairs = Counter[Pair]()\n", ""),
    ),
    "pairs are counted once at the beginning, and words are not cut anew": (
        (
            "    while len",
            "    pairs = Counter(p for w, n in words.items() for p in list(pairwise(w)) * n)\n    while len",
        ),
        ("        pairs = Counter[Pair]()\n", ""),
        ("pairs[pair] += count", "pass"),
        (_RECUT, "del pairs[merges[-1]]"),
    ),
    "every round begins with letters, of which only the latest pair is joined": (
        (_RECUT, "pieces = {word: merge_pair(list(word), merges[-1]) for word in words}"),
    ),
    "pairs that occur only once are not joined": (("if not pairs:", "if not pairs or max(pairs.values()) < 2:"),),
    "words get a mark at their end": (("list(word) for", "[*word, '</w>'] for"),),
    "words get a mark at their end, `_`": (("list(word) for", "[*word, '_'] for"),),
    "there is one merge too many": (("< num_merges", "<= num_merges"),),
    "there is one merge too few": (("< num_merges", "< num_merges - 1"),),
    "the merged pieces are returned, not the pairs": (("return merges", "return list(map(''.join, merges))"),),
    "the pairs come in the opposite order": (("return merges", "return merges[::-1]"),),
}


def merges(words: Mapping[str, int], num_merges: int) -> dict[str, list[Any]]:
    """Lists of merges that may be learned from words with their counts."""
    slips = {slip: edited(learn_merges, *edits)(words, num_merges) for slip, edits in _MERGES.items()}
    return distinct(slips, learn_merges(words, num_merges))


def encoded(merges: Sequence[Pair], alphabet: Sequence[str], text: str) -> dict[str, list[Any]]:
    """Ids that a text may get."""
    pieces = [*alphabet, *map("".join, merges)]
    ids = {piece: 4 + place for place, piece in enumerate(pieces)}
    letters = [letter if letter in alphabet else "" for letter in text]

    def cut(order: Iterable[Pair], letters: Sequence[str] = letters) -> list[str]:
        parts = list(letters)
        for pair in order:
            parts = merge_pair(parts, pair)
        return parts

    def numbered(parts: Iterable[str]) -> list[int]:
        return [ids[part] if part else 3 for part in parts]

    right, joined = numbered(cut(merges)), [one + other for one, other in merges]
    orders = {
        "the letters are sorted, not in the order of the alphabet": [*sorted(alphabet), *joined],
        "the pieces of the merges are sorted, not in the order of the merges": [*alphabet, *sorted(joined)],
        "letters and the pieces of merges are sorted together": sorted([*alphabet, *joined]),
        "the merges get their ids before the letters": [*joined, *alphabet],
    }
    at_ends = slice(len(text) - len(text.lstrip()), len(text.rstrip()))
    words = [numbered(cut(merges, list(word))) for word in text.split()] if all(letters) else [right]
    lower = [letter if letter in alphabet else "" for letter in text.lower()]
    slips = {
        "the longest piece that fits is taken, instead of the merges in their order": numbered(_longest(letters, ids)),
        "the merges are applied from the last to the first": numbered(cut(list(merges)[::-1])),
        "no merge is applied": numbered(letters),
        "only the first merge is applied": numbered(cut(merges[:1])),
        "only the last merge is applied, to single letters": numbered(cut(merges[-1:])),
        "pairs are joined as they come in the text, not in the order of the merges": numbered(
            _as_they_come(letters, merges)
        ),
        "the text is gone through once, so that what was joined is not joined again": numbered(
            _as_they_come(letters, merges, step=1)
        ),
        "two neighbours are joined wherever they make a piece, by whatever merge": numbered(
            _as_they_come(letters, [(piece[:i], piece[i:]) for piece in joined for i in range(1, len(piece))], step=0)
        ),
        "the letters are made small": numbered(cut(merges, lower)),
        "spaces are lost": [place for place in right if place != ids.get(" ")],
        "spaces are taken out first, so that words run together": numbered(
            cut(merges, [letter for letter in letters if letter != " "])
        ),
        "spaces at the ends are lost, as by `strip`": numbered(cut(merges, letters[at_ends])),
        "each word is encoded by itself, and the spaces between them are lost": list(chain.from_iterable(words)),
        "ids begin at 0, where PAD, BOS, EOS and UNK belong": [place - 4 if place != 3 else 3 for place in right],
        "ids begin at 3, which is UNK": [place - 1 if place != 3 else 3 for place in right],
        "letters that are not in the alphabet are left out": [place for place in right if place != 3],
        "a letter that is not in the alphabet becomes 0, which is PAD": [place if place != 3 else 0 for place in right],
        "BOS and EOS are added": [1, *right, 2],
        "EOS is added": [*right, 2],
        "pieces are returned, not ids": cut(merges),
    }
    for slip, order in orders.items():
        slips[slip] = [4 + order.index(part) if part else 3 for part in cut(merges)]
    return distinct(slips, right)


def _as_they_come(letters: Sequence[str], merges: Sequence[Pair], step: int | None = None) -> list[str]:
    """The pieces of a text whose first pair that is a merge is joined everywhere, and then the next one.

    Args:
        step: go through the text once, join a pair where it stands, and go on by so many places.
    """
    parts, place = list(letters), 0
    while place < len(parts) - 1:
        if (pair := (parts[place], parts[place + 1])) not in merges:
            place += 1
        elif step is None:
            parts, place = merge_pair(parts, pair), 0
        else:
            parts[place : place + 2] = ["".join(pair)]
            place += step
    return parts


def _longest(letters: Sequence[str], ids: Mapping[str, int]) -> list[str]:
    parts: list[str] = []
    rest = list(letters)
    while rest:
        counts = range(len(rest), 0, -1)
        count = next((n for n in counts if all(rest[:n]) and "".join(rest[:n]) in ids), 1)
        parts.append("".join(rest[:count]))
        rest = rest[count:]
    return parts


def decoded(merges: Sequence[Pair], alphabet: Sequence[str], ids: Sequence[int]) -> dict[str, str]:
    """Texts that ids may become."""
    pieces = ["", "", "", "\N{REPLACEMENT CHARACTER}", *alphabet, *map("".join, merges)]
    right = [pieces[place] for place in ids]
    in_order = [*pieces[:4], *sorted(alphabet), *map("".join, merges)]
    slips = {
        "the pieces are joined with spaces between them": " ".join(right),
        "the pieces of words are joined with spaces between them": " ".join(filter(None, right)),
        "UNK is nothing, too": "".join(pieces[place] for place in ids if place != 3),
        "spaces are lost": "".join(right).replace(" ", ""),
        "what stands behind the first EOS is left out": "".join(pieces[place] for place in ids[: [*ids, 2].index(2)]),
        "the letters are sorted, not in the order of the alphabet": "".join(in_order[place] for place in ids),
        "the text comes back in the opposite order": "".join(right[::-1]),
    }
    return distinct(slips, "".join(right))
