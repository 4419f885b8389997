"""Whether an answer was written by hand: it is not the ready part of PyTorch's or of the course's, and calls none."""

from __future__ import annotations

import dis
import inspect
import itertools
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from autograder import parts
from autograder.check import _backend
from autograder.check._errors import CheckFailed


def require_written_by_hand(name: str, scope: Mapping[str, object]) -> None:
    """The answer called `name` is not the finished part of that name, and does not call it."""
    answer, finished = scope.get(name), getattr(parts, name, None)
    if finished is None or answer is None:
        return
    functions = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    codes = [getattr(inspect.unwrap(each), "__code__", None) for each in functions if callable(each)]
    suspects = [code for code in filter(None, codes) if _may_call(code, name, finished, scope)]
    calls = any(_is_finished(pair, name, finished, scope) for code in suspects for pair in _looked_up(code))
    if answer is finished or calls or (isinstance(answer, type) and finished in answer.__mro__):
        raise finished_part(name)


def finished_part(name: str) -> CheckFailed:
    """The verdict on an answer that is the course's own."""
    slip = "Here the point is to write it yourself."
    return CheckFailed(f"`{name}` is, or calls, the course's own finished `parts.{name}`.", slip=slip)


def _may_call(code: CodeType, name: str, finished: object, scope: Mapping[str, object]) -> bool:
    """The function, or one inside it, has a name for the finished part: a look that is quicker than to read it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return (
        name in code.co_names
        or any(scope.get(each) is finished for each in code.co_names)
        or any(_may_call(each, name, finished, scope) for each in inner)
    )


def _is_finished(pair: tuple[object, object], name: str, finished: object, scope: Mapping[str, object]) -> bool:
    """A name, and what is read next, lead to the finished part: `parts.x`, `alias.x`, an import of x from the parts."""
    first, second = pair
    known = scope.get(first)
    return (
        known is finished
        or pair in (("parts", name), ("autograder.parts", name))
        or (second == name and isinstance(known, ModuleType) and getattr(known, name, None) is finished)
    )


def _looked_up(code: CodeType) -> Iterator[tuple[object, object]]:
    """Each name that a function, or one inside it, reads, with what is read next: `parts.x` gives ("parts", "x")."""
    names = [each.argval for each in dis.get_instructions(code)]
    yield from itertools.pairwise([*(each if isinstance(each, str) else None for each in names), None])
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _looked_up(inner)


_READY = {
    "F.scaled_dot_product_attention": (F.scaled_dot_product_attention,),
    "nn.MultiheadAttention": (F.multi_head_attention_forward, torch._native_multi_head_attention),
    "nn.LayerNorm": (F.layer_norm, torch.layer_norm, torch.native_layer_norm),
}


class without(TorchFunctionMode):
    """What runs inside writes its part by hand: it calls none of PyTorch's `ready` ones, under whatever name.

    Args:
        ready: "F.scaled_dot_product_attention", "nn.MultiheadAttention", "nn.LayerNorm".
        instead: what to use in their place, as a phrase.
    """

    def __init__(self, *ready: str, instead: str) -> None:
        super().__init__()
        self.names = {function: name for name in ready for function in _READY[name]}
        self.ready, self.instead = ready, instead

    def __enter__(self) -> without:
        self._elsewhere = _backend.home.without(self.ready, self.instead)
        self._elsewhere.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._elsewhere.__exit__(*error)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in self.names:
            raise CheckFailed(
                f"Your answer calls PyTorch's ready `{self.names[function]}`.",
                slip=f"Here the point is to write it yourself: {self.instead}.",
            )
        return function(*args, **(kwargs or {}))
