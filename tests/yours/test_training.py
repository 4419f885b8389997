"""A training is in sight, and what it has taught a model stays where somebody stops it."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from autograder import yours


def fit(model: nn.Module, batches: list[tuple[int, int]], *options: object) -> list[float]:
    """Lose a bit with each batch, talk about it, and be stopped at the fifth."""
    for batch, _ in batches:
        print("a bit")
        if batch == 5:
            raise KeyboardInterrupt
        with torch.no_grad():
            model.weight += 1
    return [1.0 / (batch + 1) for batch, _ in batches]


@pytest.mark.parametrize(("count", "taken"), [(3, 3), (9, 5)])
def test_an_interrupted_training_keeps_what_was_learned(count: int, taken: int, said: Callable[[], str]) -> None:
    """The losses and the weights are those of the steps that were taken, and only an interruption is spoken of."""
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.weight)
    batches = [(step, step) for step in range(count)]
    for given, steps in ((batches, None), (iter(batches), count)):
        losses = yours.train(fit, model, given, "optimizer", "schedule", steps=steps)
        assert losses == [1.0 / (step + 1) for step in range(taken)]
        assert (f"Stopped after {taken} of {count} steps" in (words := said())) == (taken < count)
        assert "training: " in words and "a bit" not in words
    assert model.weight.item() == 2 * taken
