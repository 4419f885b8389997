"""Exercise `merge_pair`: its cases and its slips."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from autograder import check, parts
from autograder.exercises.lesson_8.shared import ALPHABETS, distinct
from autograder.exercises.shared import sizes
from autograder.parts.translation.text import Pair, merge_pair


def cases(answer: Callable[..., object], *, seed: int = 0) -> None:
    """Words of few different pieces, which hold the pair often, next to itself, at both ends or not at all."""
    generator = random.Random(seed)
    for index, size in enumerate(sizes(seed, 12, length=(1, 14), letters=(1, 3))):
        pieces = _pieces(generator, ALPHABETS[index % len(ALPHABETS)][: size["letters"]], size["length"])
        pairs = [(generator.choice(pieces), generator.choice(pieces)), (pieces[-1], pieces[0])]
        for pair in pairs:
            _require_merged(answer, pieces, pair)
    check.leaves_alone("merge_pair(pieces, pair)", answer, {"pieces": ["a", "b", "a", "b"], "pair": ("a", "b")})
    _require_merged(answer, [], ("a", "b"))
    _require_merged(answer, ["a", "b"], ("a", "b"))
    _require_merged(answer, ["a"], ("a", "a"))


def _require_merged(answer: Callable[..., object], pieces: list[str], pair: Pair) -> None:
    with check.case(pieces=pieces, pair=pair):
        expected = parts.merge_pair(pieces, pair)
        check.same("merge_pair(pieces, pair)", answer(list(pieces), pair), expected)


def _pieces(generator: random.Random, letters: str, length: int) -> list[str]:
    """Letters, and some pieces of two of them."""
    kinds = [*letters, *letters, letters[0] + letters[-1]]
    return [generator.choice(kinds) for _ in range(length)]


def slips(pieces: Sequence[str], pair: Pair) -> dict[str, list[str]]:
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
        "what is joined comes apart into letters, as with `extend` or `+=` in place of `append`": [
            each for piece in joined for each in (piece if piece == one + other else [piece])
        ],
        "the last piece comes once more where it has been joined": [*joined, *pieces[-1:]]
        if joined[-1:] != [*pieces[-1:]]
        else joined,
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
