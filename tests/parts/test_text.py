"""Text becomes ids and comes back, and merges are those that a well-known package learns."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer as Reference
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from autograder import data, exercises, parts
from autograder.parts.translation.text import Pair


@pytest.mark.parametrize("seed", range(50))
def test_any_text_comes_back(seed: int) -> None:
    """Letters of all planes of Unicode, spaces and signs: what was encoded is decoded, whatever the merges."""
    generator = random.Random(seed)
    alphabet = [chr(generator.choice((9, 10, 32, *range(33, 0xD800), *range(0xE000, 0x20000)))) for _ in range(20)]
    words = {"".join(generator.choices(alphabet, k=6)): generator.randint(1, 5) for _ in range(30)}
    tokenizer = parts.Tokenizer(parts.learn_merges(words, 40), sorted(set(alphabet)))
    for length in (0, 1, 2, 10, 200):
        text = "".join(generator.choices(alphabet, k=length))
        ids = tokenizer.encode(text)
        assert tokenizer.decode([1, *ids, 2, 0, 0]) == text
        assert all(3 < place < tokenizer.vocab_size for place in ids)


def test_merges_agree_with_a_well_known_trainer() -> None:
    """On the words of many dates the merges are the same until two pairs are equally frequent."""
    texts = [text for text, _ in data.dates(3000, seed=5)]
    words = parts.words_of(texts)
    unique = _until_a_tie(words, 200)
    assert len(unique) > 30
    reference = Reference(BPE())
    letters = sorted(set("".join(words)))
    trainer = BpeTrainer(vocab_size=len(letters) + len(unique), initial_alphabet=letters, show_progress=False)
    reference.train_from_iterator([word for word, count in words.items() for _ in range(count)], trainer)
    pieces = sorted(reference.get_vocab().items(), key=lambda entry: entry[1])[len(letters) :]
    assert [piece for piece, _ in pieces] == ["".join(pair) for pair in unique]


def _until_a_tie(words: Counter[str], num_merges: int) -> list[Pair]:
    """The first merges, as long as one pair is more frequent than every other."""
    cut = {word: list(word) for word in words}
    unique: list[Pair] = []
    for merge in parts.learn_merges(words, num_merges):
        counts = Counter[Pair]()
        for word, pieces in cut.items():
            for pair in pairwise(pieces):
                counts[pair] += words[word]
        (_, most), (_, second) = counts.most_common(2)
        if most == second:
            break
        unique.append(merge)
        cut = {word: parts.merge_pair(pieces, merge) for word, pieces in cut.items()}
    return unique


def test_batches_of_dates_hold_little_padding() -> None:
    """Three thousand dates are batched whole, with less than a fiftieth of padding."""
    pairs = [([5] * len(text), [1, *range(3, 13), 2]) for text, _ in data.dates(3000, seed=3)]
    batches = parts.make_batches(pairs, 1500, seed=2)
    exercises.make_batches.require_all(pairs, batches)
    exercises.make_batches.require_within(batches, 1500)
    padding = sum(int((src == 0).sum()) for src, _ in batches) / sum(src.numel() for src, _ in batches)
    assert padding < 0.02
