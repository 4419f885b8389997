"""Calls of an answer, small enough to be shown, and those on which another answer gives something else."""

import contextlib
import ctypes
import functools
import io
import itertools
import json
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder import random_state

Answer = Callable[..., object]
SECONDS, MOST_NUMBERS = 3.0, 12  # for one change and all rules; of a tensor that is shown
SMALL, MOST_SIZES = (4, 3, 2, 1), 4  # what a dimension may shrink to; different sizes of dimensions in one call


class TooLongError(BaseException):
    """A changed answer comes to no end; no `Exception`, so that no answer keeps it to itself."""


class Call(NamedTuple):
    """Arguments small enough to be shown."""

    args: tuple[object, ...]
    kwargs: dict[str, object]

    def made(self, function: Answer) -> object:
        """What a function returns for them, the same at every call; an error is a value as well."""
        args = map(_copy, self.args)
        try:
            with (
                random_state.preserved(),
                random_state.unset_memory_is_nan(),
                contextlib.redirect_stdout(io.StringIO()),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                torch.manual_seed(0)
                return function(*args, **self.kwargs)
        except Exception as error:
            return type(error).__name__

    def of(self, name: str) -> str:
        """The call as it is written."""
        given = [*map(text_of, self.args), *(f"{key}={text_of(value)}" for key, value in self.kwargs.items())]
        return f"{name}({', '.join(given)})"


def noting(function: Answer, calls: list[Call]) -> Answer:
    """The same function, which notes what it is called with, or less of it, so that it and the result can be shown."""

    @functools.wraps(function)
    def noted(*args: object, **kwargs: object) -> object:
        call = Call(tuple(map(_copy, args)), kwargs)
        result = function(*args, **kwargs)
        if all(map(is_small, (*args, *kwargs.values(), result))):
            calls.append(call)
        elif smaller := _shrunk(call, function):
            calls.append(smaller)
        return result

    return noted


def _copy(value: object) -> object:
    """A value of its own, where it can be written into."""
    return value.detach().clone() if isinstance(value, Tensor) else list(value) if type(value) is list else value


def _shrunk(call: Call, function: Answer) -> Call | None:
    """A call like it whose tensors and result can be shown, as large as may be; None where there is none.

    Dimensions of one size shrink together, since the function may rely on that; numbers become small whole ones.
    """
    tensors = [each for each in call.args if isinstance(each, Tensor)]
    sizes = sorted({size for each in tensors for size in each.shape})
    if not all(isinstance(each, Tensor) or is_small(each) for each in (*call.args, *call.kwargs.values())):
        return None
    if not tensors or len(sizes) > MOST_SIZES:
        return None
    choices = itertools.product(*([n for n in SMALL if n <= size] for size in sizes))
    for chosen in sorted(choices, key=math.prod, reverse=True):
        to = dict(zip(sizes, chosen, strict=True))
        args = tuple(_cut(each, to) if isinstance(each, Tensor) else each for each in call.args)
        if all(map(is_small, args)):
            smaller = Call(args, call.kwargs)
            result = smaller.made(function)
            if not isinstance(result, str) and is_small(result):
                return smaller
    return None


def _cut(tensor: Tensor, to: Mapping[int, int]) -> Tensor:
    """The beginning of a tensor in all dimensions, and of floats small whole numbers in their place."""
    part = tensor.detach()[tuple(slice(to[size]) for size in tensor.shape)].clone()
    if part.is_floating_point():
        part.copy_((torch.arange(part.numel()) % 5).view(part.shape))
    return part


def same(one: object, other: object) -> bool:
    """Two values that nobody would tell apart: tensors up to rounding, everything else as Python compares it."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or one is other)


def look_alike(one: object, other: object) -> bool:
    """Two results of one type and, where they hold tensors, of their shapes."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(look_alike, one, other))
    return type(one) is type(other) and getattr(one, "shape", None) == getattr(other, "shape", None)


def is_small(value: object) -> bool:
    """Whether a value can be shown."""
    if isinstance(value, Tensor):
        return type(value) is Tensor and not value.is_meta and 0 < value.numel() <= MOST_NUMBERS
    if isinstance(value, int):
        return abs(value) < 1e12  # Python writes no number of more than 4,300 digits
    if isinstance(value, tuple | list):
        return len(value) <= MOST_NUMBERS and all(map(is_small, value))
    return isinstance(value, float | str | None)


def text_of(value: object) -> str:
    """A value as it is shown, a tensor as its numbers."""
    if isinstance(value, tuple | list):
        inside = ", ".join(map(text_of, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if not isinstance(value, Tensor):
        return repr(value)
    numbers = value.detach().double().round(decimals=3).tolist() if value.is_floating_point() else value.tolist()
    return f"{numbers}"


def telling(name: str, own: Any, cells: Sequence[str], calls: Sequence[Call]) -> str:
    """For each of these changed cells the first call that shows the change by its values, "" for none: a list as JSON.

    Args:
        name: what the cells call the answer.
        calls: those of the unchanged one, `own`.
    """
    return json.dumps([_first_telling(name, own, cell, calls) for cell in cells])


def _first_telling(name: str, own: Any, cell: str, calls: Sequence[Call]) -> str:
    try:
        with within(SECONDS), contextlib.redirect_stdout(io.StringIO()):
            exec(cell, names := {**own.__globals__})
            pairs = ((call, call.made(own), call.made(names[name])) for call in calls)
            return next(call.of(name) for call, one, other in pairs if look_alike(one, other) and not same(one, other))
    except (Exception, TooLongError):
        return ""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """End what runs inside when its time is up.

    Raises:
        TooLongError: it is.
    """
    thread, error = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TooLongError)
    timer = threading.Timer(seconds, lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
