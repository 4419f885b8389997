"""Keep the random state of PyTorch, Python and NumPy, and put it back; show memory that nobody has written to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class RandomState:
    """Where the generators of PyTorch (on the CPU), Python and NumPy stand."""

    torch: Tensor
    python: tuple[Any, ...]
    numpy: Any

    @classmethod
    def capture(cls) -> RandomState:
        """Read the state of all three."""
        return cls(torch.get_rng_state(), random.getstate(), np.random.get_state())

    def restore(self) -> None:
        """Make it the state of all three again."""
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        np.random.set_state(self.numpy)


@contextmanager
def preserved() -> Iterator[None]:
    """Leave the random state as it was before what runs inside."""
    state = RandomState.capture()
    try:
        yield
    finally:
        state.restore()


@contextmanager
def unset_memory_is_nan() -> Iterator[None]:
    """Memory that nobody has written to (`torch.empty`) holds NaN, not the zeros that are often there by chance."""
    was, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(was, warn_only=warned)
