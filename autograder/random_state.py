"""Keep the random state of PyTorch, Python and NumPy and PyTorch's defaults, and put them back.

Show memory that nobody has written to.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

CPU = torch.device("cpu")


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


@dataclass(frozen=True)
class Defaults:
    """The dtype and the device of tensors for which nobody chooses one."""

    dtype: torch.dtype = torch.float32
    device: torch.device = CPU

    @classmethod
    def capture(cls) -> Defaults:
        """Read both."""
        return cls(torch.get_default_dtype(), torch.get_default_device())

    def restore(self) -> None:
        """Make them the defaults again."""
        torch.set_default_dtype(self.dtype)
        if torch.get_default_device() != self.device:  # the CPU by name would slow down every call of PyTorch
            torch.set_default_device(None if self.device.type == "cpu" else self.device)


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
