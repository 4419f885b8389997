"""Beam search finds the best sequence there is where the beam has room for all, and greedy's where it has for one."""

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


@pytest.mark.parametrize("seed", range(5))
def test_the_steps_of_a_beam_lead_to_what_the_search_finds(seed: int) -> None:
    """Each beginning goes on from one before, as probable as the model says, and the first of the last is the best."""
    src = data.tokens([4], vocab_size=7, seed=seed)
    model = small_transformer(7, seed, src)
    steps = parts.beam_steps(parts.best_candidates, model, src, 3, 5, "01E3456")
    tokens, _ = parts.beam_search(model, src, 3, 5)
    best = next(iter(steps[-1]))
    assert best == tuple("01E3456"[token] for token in tokens[0, 1 : len(best) + 1].tolist())
    for before, after in zip([{(): 1.0}, *steps], steps, strict=False):
        assert 0 < len(after) <= 3 and all(one in before or one[:-1] in before for one in after)
    for beginning, probability in steps[-1].items():
        written = torch.tensor([[1, *("01E3456".index(piece) for piece in beginning)]])
        chances = model(src, written[:, :-1]).log_softmax(dim=-1).gather(-1, written[:, 1:, None])
        assert probability == pytest.approx(chances.sum().exp().item(), rel=1e-4)
