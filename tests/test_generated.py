"""Which cases the checks over generated inputs draw, and that no answer changes them."""

import importlib
import pkgutil

import pytest
import torch

from autograder import exercises
from autograder.exercises.shared import each_smallest, sentences, sizes, some

RANGES = {"batch": (1, 4), "seq_len": (2, 9)}


def test_hidden_tests_draw_a_third_of_the_cases() -> None:
    """Students see all cases, from the smallest to the largest; with another seed come some, and no input twice."""
    assert list(some(0, "abcdefg")) == list("abcdefg") and list(some(7, "abcdefg")) == list("be")
    smallest, *between, largest = sizes(0, 3, **RANGES)
    assert (smallest, largest) == ({"batch": 1, "seq_len": 2}, {"batch": 4, "seq_len": 9}) and len(between) == 5
    for seed in range(1, 40):
        for drawn in (list(sizes(seed, 0, **RANGES)), list(sizes(seed, 3, **RANGES))):
            assert 1 <= len(drawn) <= 3
        assert 2 <= len(list(each_smallest(seed, 3, **RANGES))) <= 4
    visible, hidden = list(sentences(0)), list(sentences(5))
    assert 3 <= len(hidden) < len(visible) / 2
    assert not any(torch.equal(one, other) for one, _ in visible for other, _ in hidden if one.numel() > 3)


@pytest.mark.parametrize(
    "module", [each.name for each in pkgutil.walk_packages(exercises.__path__, "autograder.exercises.")]
)
def test_no_tensor_is_kept_that_an_answer_could_write_into(module: str) -> None:
    """What one attempt does to its inputs is gone at the next: they are made anew for each."""
    pending = [value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("__")]
    while pending:
        value = pending.pop()
        assert not isinstance(value, torch.Tensor)
        if isinstance(value, list | tuple | dict):
            pending += value.values() if isinstance(value, dict) else value
