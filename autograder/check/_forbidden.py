"""Whether an answer was written by hand: it is not the ready part of PyTorch's or of the course's, and calls none."""

import dis
import functools
import inspect
import itertools
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from types import CodeType, ModuleType, TracebackType
from typing import Any, Self

import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from autograder import lessons
from autograder.check import _backend
from autograder.check._errors import CheckFailed


def require_written_by_hand(name: str, scope: Mapping[str, object]) -> None:
    """The answer called `name` is not the finished part of that name, and does not call it."""
    answer, ready = scope.get(name), lessons.finished(name)
    if ready is None or answer is None:
        return
    module, finished = ready
    functions = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in functions if callable(function)]
    suspects = [code for code in filter(None, codes) if _may_call(code, name, finished, scope)]
    calls = any(_is_finished(*read, name, ready, scope) for code in suspects for read in _names_read(code))
    if answer is finished or calls or (isinstance(answer, type) and finished in answer.__mro__):
        raise finished_part(name, module)


def reads(code: CodeType, name: str) -> bool:
    """A function, or one inside it, reads a name."""
    return name in code.co_names or any(reads(inner, name) for inner in _inner_codes(code))


def finished_part(name: str, module: str) -> CheckFailed:
    """The verdict on an answer that is the course's own."""
    part, slip = f"{module.rpartition('.')[2]}.{name}", "Here the point is to write it yourself."
    return CheckFailed(f"`{name}` is, or calls, the course's own finished `{part}`.", slip=slip)


def _may_call(code: CodeType, name: str, finished: object, scope: Mapping[str, object]) -> bool:
    """The function, or one inside it, has a name for the finished part: a look that is quicker than to read it."""
    return (
        name in code.co_names
        or any(scope.get(used) is finished for used in code.co_names)
        or any(_may_call(inner, name, finished, scope) for inner in _inner_codes(code))
    )


def _is_finished(
    first: str | None, second: str | None, name: str, ready: tuple[str, object], scope: Mapping[str, object]
) -> bool:
    """A name, and what is read next, lead to the finished part: `parts.x`, `alias.x`, an import of x from the parts."""
    value, (module, finished) = scope.get(first) if first is not None else None, ready
    return (
        value is finished
        or (second == name and first in (module.rpartition(".")[2], module))
        or (second == name and isinstance(value, ModuleType) and getattr(value, name, None) is finished)
    )


@functools.cache
def _names_read(code: CodeType) -> tuple[tuple[str | None, str | None], ...]:
    """Each name that a function, or one inside it, reads, with what is read next: `parts.x` gives ("parts", "x")."""
    arguments = [instruction.argval for instruction in dis.get_instructions(code)]
    own = itertools.pairwise([*(name if isinstance(name, str) else None for name in arguments), None])
    return (*own, *(read for inner in _inner_codes(code) for read in _names_read(inner)))


def _inner_codes(code: CodeType) -> Iterator[CodeType]:
    """The functions that stand inside a function."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


# What the names of a ready part's functions have in common, those of PyTorch's dispatcher (`torch.ops`) included.
_READY = {
    "F.scaled_dot_product_attention": "scaled_dot_product",
    "nn.MultiheadAttention": "multi_head_attention",
    "nn.LayerNorm": "layer_norm",
    "nn.RMSNorm": "rms_norm",
    "nn.GroupNorm": "group_norm",
    "nn.InstanceNorm1d": "instance_norm",
    "nn.BatchNorm1d": "batch_norm",
}


@functools.cache
def _ready_part(function: Callable[..., object]) -> str:
    """The ready part that a function of PyTorch's belongs to; "" for one that belongs to none."""
    name = getattr(function, "__name__", "")
    return next((part for part, common in _READY.items() if common in name), "")


def _called(function: Callable[..., object], part: str) -> str:
    """What an answer called: the function itself, where it is one of `F`, or the ready part that calls it."""
    callers = (frame.f_globals for frame, _ in traceback.walk_stack(None) if frame.f_code.co_name == "forward")
    by_part = next(callers, {}).get("__name__", "").startswith("torch.nn.modules.")
    name = getattr(function, "__name__", "")
    return part if by_part or not hasattr(F, name) else f"F.{name}"


class without(TorchFunctionMode):
    """What runs inside writes its part by hand: it calls none of PyTorch's `ready` ones, under whatever name.

    Args:
        ready: "F.scaled_dot_product_attention", "nn.MultiheadAttention", "nn.LayerNorm", "nn.RMSNorm", "nn.GroupNorm",
            "nn.InstanceNorm1d", "nn.BatchNorm1d".
        instead: what to use in their place, as a phrase.
    """

    def __init__(self, *ready: str, instead: str) -> None:
        super().__init__()
        self.ready, self.instead = ready, instead
        self._backend = ExitStack()

    def __enter__(self) -> Self:
        self._backend.enter_context(_backend.current().without(self.ready, self.instead))
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        self._backend.__exit__(kind, error, trace)

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        if (part := _ready_part(function)) in self.ready:
            raise CheckFailed(
                f"Your answer calls PyTorch's ready `{_called(function, part)}`.",
                slip=f"Here the point is to write it yourself: {self.instead}.",
            )
        return function(*args, **(kwargs or {}))
