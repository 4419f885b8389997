"""Where the answers are that checks are about: in this process, unless a judge has them in another one."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from time import process_time
from typing import NamedTuple

import torch


class SharedState(NamedTuple):
    """What the answers share with all of PyTorch."""

    gradients_enabled: bool
    default_dtype: torch.dtype
    seed: int


class Backend:
    """A process that holds the answers: this one, where they are names of a student's own notebook.

    What a judge does for answers in another process, checks see to themselves in this one.
    """

    def exercise(self, given: Mapping[str, object]) -> AbstractContextManager[None]:
        """While a check runs, the answers see the right neighbours in `given` and a random state of the check's."""
        return nullcontext()

    def shared_state(self) -> SharedState:
        """What the answers have made of the state that they share with all of PyTorch."""
        return SharedState(torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed())

    def without(self, names: Sequence[str], instead: str) -> AbstractContextManager[None]:
        """The answers call none of PyTorch's ready parts of these names."""
        return nullcontext()

    def has(self, *values: object) -> bool:
        """One of these is an answer, or made by one, in another process."""
        return False

    def ask(self, statement: Callable[..., None], *arguments: object) -> None:
        """Let a statement be judged where the answers are."""
        statement(*arguments)

    def processor_seconds(self) -> float:
        """The processor time that this process has taken."""
        return process_time()


_current: ContextVar[Backend] = ContextVar("backend", default=Backend())  # noqa: B039


def current() -> Backend:
    """The process that checks ask now."""
    return _current.get()


def use(backend: Backend) -> None:
    """From now on, checks ask this process."""
    _current.set(backend)
