"""Beam search finds the best sequence there is where the beam has room for all, and greedy's where it has for one."""

from __future__ import annotations

import pytest
import torch

from autograder import data, parts
from autograder.exercises.lesson_7.shared import small_transformer
from autograder.exercises.lesson_8.beam_search import best_of_all


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(10))
def test_a_beam_with_room_for_all_finds_the_best(seed: int, length_penalty: float) -> None:
    """Of all sequences of three tokens out of five, tried one by one, for several sources at once."""
    src = data.tokens([2, 4, 3], vocab_size=5, seed=seed)
    model = small_transformer(5, seed, src)
    tokens, scores = parts.beam_search(model, src, 25, 3, length_penalty)
    expected, best = best_of_all(model, src, 3, length_penalty)
    assert torch.equal(torch.nn.functional.pad(tokens, (0, 4 - tokens.size(1))), expected)
    torch.testing.assert_close(scores, best)


@pytest.mark.parametrize("seed", range(10))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    """Token by token."""
    src = data.tokens([2, 6, 3], vocab_size=9, seed=seed)
    model = small_transformer(9, seed, src)
    assert torch.equal(parts.beam_search(model, src, 1, 8)[0], parts.greedy_decode(model, src, 8))


def test_without_a_penalty_a_wider_beam_here_is_never_worse() -> None:
    """The scores of beams of 1, 2, 4 and 8 rise, on average over many models."""
    means = []
    for beam_size in (1, 2, 4, 8):
        scores = []
        for seed in range(20):
            src = data.tokens([3, 4], vocab_size=8, seed=seed)
            scores.append(parts.beam_search(small_transformer(8, seed, src), src, beam_size, 5, 0.0)[1])
        means.append(torch.cat(scores).mean().item())
    assert means == sorted(means) and means[0] < means[-1]
