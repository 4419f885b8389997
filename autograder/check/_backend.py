"""Where the answers are that checks are about: in this process, unless a judge has them in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch


class Here:
    """The answers are names of this process, as in a student's own notebook."""

    @contextmanager
    def exercise(self, given: Mapping[str, object]) -> Iterator[None]:
        """While a check runs, the answers see the right neighbours in `given` and a random state of the check's."""
        yield

    def shared_state(self) -> tuple[bool, torch.dtype, int]:
        """What the answers share with all of PyTorch: gradients on or off, the default dtype, the seed."""
        return torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed()

    @contextmanager
    def without(self, names: Sequence[str], instead: str) -> Iterator[None]:
        """The answers call none of PyTorch's ready parts of these names; here the caller sees to that itself."""
        yield

    def has(self, *things: object) -> bool:
        """One of these is an answer, or made by one, in another process."""
        return False

    def ask(self, statement: Callable[..., None], *arguments: Any) -> None:
        """Let a statement be judged where the answers are."""
        statement(*arguments)


home = Here()
