"""Parts of lesson 8: from text to ids and back, and batches of similar length."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

Pair = tuple[str, str]
IdPair = tuple[Sequence[int], Sequence[int]]
SPECIAL = ("", "", "", "\N{REPLACEMENT CHARACTER}")  # what PAD, BOS, EOS and UNK are read as
UNK = 3


def merge_pair(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Join each neighbouring `pair` of the pieces of a word, from the left; no piece is used twice."""
    merged: list[str] = []
    rest = list(reversed(pieces))
    while rest:
        piece = rest.pop()
        merged.append(piece + rest.pop() if rest and (piece, rest[-1]) == pair else piece)
    return merged


def learn_merges(words: Mapping[str, int], num_merges: int) -> list[Pair]:
    """Byte-pair merges of words with their counts (Sennrich and others, 2016), ties by the pair's order."""
    pieces = {word: list(word) for word in words}
    merges: list[Pair] = []
    while len(merges) < num_merges:
        pairs = Counter[Pair]()
        for word, count in words.items():
            for pair in pairwise(pieces[word]):
                pairs[pair] += count
        if not pairs:
            break
        most = max(pairs.values())
        merges.append(min(pair for pair, count in pairs.items() if count == most))
        pieces = {word: merge_pair(parts, merges[-1]) for word, parts in pieces.items()}
    return merges


class Tokenizer:
    """Text to ids and back: letters from id 4 on, then one id a merge; what is in neither is UNK.

    Attributes:
        vocab_size: one more than the largest id.
    """

    def __init__(self, merges: Sequence[Pair], alphabet: Sequence[str]) -> None:
        self._merges = [(one, other) for one, other in merges]
        self._pieces = [*SPECIAL, *alphabet, *(one + other for one, other in merges)]
        self._ids = {piece: place for place, piece in reversed(list(enumerate(self._pieces))) if piece}
        self.vocab_size = len(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Cut into letters, then join pairs in the order in which they were learned."""
        pieces = [letter if letter in self._ids else SPECIAL[UNK] for letter in text]
        for pair in self._merges:
            pieces = merge_pair(pieces, pair)
        return [self._ids.get(piece, UNK) for piece in pieces]

    def decode(self, ids: Sequence[int]) -> str:
        """Join the pieces again; PAD, BOS and EOS are nothing to read."""
        return "".join(self._pieces[place] for place in ids)


def words_of(texts: Sequence[str]) -> Counter[str]:
    """How often each word, a run of letters, stands in the texts; digits and signs stay single."""
    return Counter(chain.from_iterable(re.findall(r"[^\W\d_]+", text) for text in texts))


def make_batches(pairs: Sequence[IdPair], max_tokens: int, seed: int = 0) -> list[tuple[Tensor, Tensor]]:
    """Pad pairs of similar length into batches (src, tgt), of `max_tokens` cells each at most.

    Raises:
        ValueError: one pair alone is longer than `max_tokens`.
    """
    generator = random.Random(seed)
    shuffled = sorted(pairs, key=lambda _: generator.random())
    if longest := [max(map(len, pair)) for pair in shuffled if max(map(len, pair)) > max_tokens]:
        raise ValueError(f"A pair has {longest[0]} tokens, more than max_tokens={max_tokens}.")
    batches: list[list[IdPair]] = []
    for pair in sorted(shuffled, key=lambda pair: (len(pair[0]), len(pair[1]))):
        grown = [*batches[-1], pair] if batches else []
        widest = max((len(ids) for each in grown for ids in each), default=0)
        if not grown or len(grown) * widest > max_tokens:
            batches.append([pair])
        else:
            batches[-1].append(pair)
    generator.shuffle(batches)
    return [tuple(_padded(side) for side in zip(*batch, strict=True)) for batch in batches]  # type: ignore[misc]


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True)
