"""A right and a wrong answer to one exercise, for `autograder start` to see whether checks work where it runs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.check import CheckFailed
from autograder.exercises import pairwise_dots


def sample() -> str:
    """Try a right answer, then a wrong one; return what a check says to the wrong one.

    Raises:
        CheckFailed: a check does not accept the right one.
        RuntimeError: it accepts the wrong one.
    """
    pairwise_dots.cases(_answer("...nd,...md->...nm"))
    try:
        pairwise_dots.cases(_answer("...nd,...md->...mn"))
    except CheckFailed as failed:
        return failed.slip or failed.verdict
    raise RuntimeError("A wrong answer passed its check.")


def _answer(how: str) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda x, y: torch.einsum(how, x, y)
