"""Exercise `merge_pair`: its cases and its slips."""

import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from autograder import check, parts
from autograder.exercises.lesson_8.shared import ALPHABETS, SIGNS, distinct, joined_where
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
    for sign in SIGNS:
        _require_merged(answer, [*_pieces(generator, "ab" + sign, 4), "b", "a", sign, "a", "b", sign, "a"], (sign, "a"))


def _require_merged(answer: Callable[..., object], pieces: list[str], pair: Pair) -> None:
    with check.case(pieces=pieces, pair=pair):
        expected = parts.merge_pair(pieces, pair)
        mistakes = _pattern_slips(pieces, pair)
        check.same("merge_pair(pieces, pair)", answer(list(pieces), pair), expected, mistakes=mistakes)


def _pattern_slips(pieces: Sequence[str], pair: Pair) -> dict[str, list[str]]:
    """What is made of pieces where a pair that begins with a dot is read as a regular expression."""
    if pair[0] != ".":
        return {}
    text = re.sub(rf"(?m)^.\n{pair[1]}$", "".join(pair), "\n".join(pieces))
    return {"`.` stands for any letter, as in a regular expression": text.split("\n")}


def _pieces(generator: random.Random, letters: str, length: int) -> list[str]:
    """Letters, and some pieces of two of them."""
    kinds = [*letters, *letters, letters[0] + letters[-1]]
    return [generator.choice(kinds) for _ in range(length)]


def slips(pieces: Sequence[str], pair: Pair) -> dict[str, list[str]]:
    """What may be made of the pieces of a word."""
    (one, other), joined = pair, merge_pair(pieces, pair)
    at = [place for place, found in enumerate(pairwise(pieces)) if found == pair]
    first = at[0] if at else len(pieces)
    mirrored = merge_pair([piece[::-1] for piece in pieces[::-1]], (other[::-1], one[::-1]))
    overlapping = [one + other if place in at else piece for place, piece in enumerate(pieces)]
    slips = {
        "a piece is used in two pairs": [
            piece for place, piece in enumerate(overlapping) if place in at or place - 1 not in at
        ],
        "pairs are joined from the right": [piece[::-1] for piece in mirrored[::-1]],
        "only the first pair is joined": [*overlapping[: first + 1], *pieces[first + 2 :]],
        "pieces are joined that are spelled like the pair, whatever they are": joined_where(
            pieces, lambda group: "".join(group) == one + other
        ),
        "the last piece is lost where it belongs to no pair": joined[:-1] if joined[-1:] == [*pieces[-1:]] else joined,
        "the word is cut into single letters": list("".join(pieces)),
        "nothing is joined": list(pieces),
        "what is joined comes apart into letters, as with `extend` or `+=` in place of `append`": [
            each for piece in joined for each in (piece if piece == one + other else [piece])
        ],
        "the last piece comes once more where it has been joined": (
            [*joined, *pieces[-1:]] if joined[-1:] != [*pieces[-1:]] else joined
        ),
        "what is joined gets lost": [piece for piece in joined if piece != one + other],
        "the two pieces of a pair are joined the wrong way round": [
            other + one if piece == one + other else piece for piece in joined
        ],
        "the two pieces stay a pair, and are not joined to one text": [
            [one, other] if piece == one + other else piece for piece in joined
        ],
        "the second piece of a pair comes once more, as the loop goes on by one place": overlapping,
        "the second piece of a pair comes once more, and the last piece is lost": overlapping[:-1],
        "the piece behind a pair is passed over: the loop goes on by three places": _passing_over(overlapping, at, 3),
        "pairs are looked for at every other place only": _passing_over(overlapping, at, 2, 2),
    }
    return distinct(slips, joined)


def _passing_over(overlapping: Sequence[str], at: Sequence[int], joined: int, alone: int = 1) -> list[str]:
    merged, place = list[str](), 0
    while place < len(overlapping):
        merged.append(overlapping[place])
        place += joined if place in at else alone
    return merged
