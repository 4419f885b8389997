"""Exercise `learn_merges`: its cases and its slips."""

import random
from collections.abc import Callable, Mapping
from typing import Any

from autograder import check, parts
from autograder.exercises.lesson_8.shared import ALPHABETS, SIGNS, distinct, edited, of_words
from autograder.exercises.shared import sizes
from autograder.parts.translation.text import learn_merges


def cases(answer: Callable[..., object], *, seed: int = 0) -> None:
    """Words with counts, of few letters so that pairs tie and overlap, with more merges wanted than there are."""
    generator = random.Random(seed)
    for index, size in enumerate(sizes(seed, 10, num_words=(1, 8), length=(1, 9), num_merges=(0, 12))):
        letters = of_words(ALPHABETS[index % len(ALPHABETS)])
        drawn = [
            "".join(generator.choices(letters, k=generator.randint(1, size["length"])))
            for _ in range(size["num_words"])
        ]
        words = {word: generator.choice((1, 1, 2, 7)) for word in drawn}
        for num_merges in (size["num_merges"], 40):
            expected = parts.learn_merges(words, num_merges)
            with check.case(words=words, num_merges=num_merges):
                got = answer(dict(words), num_merges)
                told = "`learn_merges(…)` returns pairs that are lists, which no pair of `merge_pair` equals."
                are_lists = isinstance(got, list | tuple) and any(isinstance(pair, list) for pair in got)
                check.true(not are_lists, told, "Return tuples.")
                check.same("learn_merges(words, num_merges)", got, expected)
    for sign in SIGNS:
        one, other = generator.sample("abxyz", 2)
        words = {sign + one: 5, sign + one + other: 2, other + one + other: 3}
        with check.case(words=words, num_merges=6):
            check.same("learn_merges(words, num_merges)", answer(dict(words), 6), parts.learn_merges(words, 6))
    check.leaves_alone(
        "learn_merges(words, num_merges)", answer, {"words": {"ab": 2, "cab": 1, "a": 3}, "num_merges": 2}
    )


_RECUT = "pieces = {word: merge_pair(parts, merges[-1]) for word, parts in pieces.items()}"
_BEST = "min(pair for pair, count in pairs.items() if count == most)"
_MERGES: dict[str, dict[str, str]] = {
    "each word counts once, not as often as it occurs": {"+= count": "+= 1"},
    "a pair counts once for each word, not once for each place": {
        "in pairwise(pieces[word])": "in set(pairwise(pieces[word]))"
    },
    "the last pair of each word is not counted": {"in pairwise(pieces[word])": "in pairwise(pieces[word][:-1])"},
    "ties go to the pair that comes last in order": {_BEST: _BEST.replace("min", "max")},
    "ties go to the pair that was met first": {_BEST: "pairs.most_common(1)[0][0]"},
    "the least frequent pair is merged": {"max(pairs.values())": "min(pairs.values())"},
    "the same pair is found again and again, as where words are not cut anew": {_RECUT: "pass"},
    "the counts of earlier rounds are kept, and the new ones added to them": {
        "    merges: list[Pair] = []": "    merges, pairs = [], Counter()",
        "        pairs = Counter[Pair]()\n": "",
    },
    "pairs are counted once at the beginning, and words are not cut anew": {
        "    while": "    pairs = Counter(p for w, n in words.items() for p in list(pairwise(w)) * n)\n    while",
        "        pairs = Counter[Pair]()\n": "",
        "pairs[pair] += count": "pass",
        _RECUT: "del pairs[merges[-1]]",
    },
    "every round begins with letters, of which only the latest pair is joined": {
        _RECUT: "pieces = {word: merge_pair(list(word), merges[-1]) for word in words}"
    },
    "pairs that occur only once are not joined": {"if not pairs:": "if not pairs or max(pairs.values()) < 2:"},
    "words get a mark at their end": {"list(word) for": "[*word, '</w>'] for"},
    "words get a mark at their end, `_`": {"list(word) for": "[*word, '_'] for"},
    "there is one merge too many": {"< num_merges": "<= num_merges"},
    "there is one merge too few": {"< num_merges": "< num_merges - 1"},
    "the merged pieces are returned, not the pairs": {"return merges": "return list(map(''.join, merges))"},
    "the pairs come in the opposite order": {"return merges": "return merges[::-1]"},
}


def slips(words: Mapping[str, int], num_merges: int) -> dict[str, list[Any]]:
    """Lists of merges that may be learned from words with their counts."""
    slips = {slip: edited(learn_merges, *edits.items())(words, num_merges) for slip, edits in _MERGES.items()}
    return distinct(slips, learn_merges(words, num_merges))
