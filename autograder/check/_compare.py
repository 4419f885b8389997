"""How a value is compared with what is expected, and how the difference is put into words.

The statements of `autograder.check` are made of these; a check cell never calls them itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import shorten

import numpy as np
import torch
from torch import Tensor

from autograder.check import _panel
from autograder.check._errors import CheckFailed

NO_RESULT = (
    "A function gives None where it reaches no `return` with a value, or returns what gives None itself, as `print(…)` "
    "and `list.append(…)` do."
)

_distances: ContextVar[list[float] | None] = ContextVar("distances", default=None)


@contextmanager
def margins() -> Iterator[list[float]]:
    """Collect, for each comparison inside, the greatest distance as a multiple of the distance that is allowed."""
    distances: list[float] = []
    token = _distances.set(distances)
    try:
        yield distances
    finally:
        _distances.reset(token)


def within(distance: Tensor, allowed: Tensor) -> bool:
    """No distance is greater than what is allowed there."""
    distances = _distances.get()
    if distances is not None and distance.numel():
        distances.append((distance / allowed).max().item())
    return not (distance > allowed).any()


def phrase(name: str) -> str:
    """What a value is called within a sentence: code in backticks, unless the name is words that hold code or none."""
    return name if "`" in name or name.startswith(("the ", "a ", "what ")) else f"`{name}`"


def sentence_start(name: str) -> str:
    """What a value is called where a sentence begins with it."""
    return phrase(name)[0].upper() + phrase(name)[1:]


def about(name: str, code: str, words: str) -> str:
    """A sentence about a value: the end of one where its name is code, else the beginning of one, for one or many."""
    what = phrase(name)
    return f"{words} {what}." if what == name else f"{what} {code}."


def require_tensor(name: str, value: object) -> Tensor:
    """Hand back the value, having made sure that it is a tensor."""
    if value is None:
        raise CheckFailed(about(name, "is None", "There is only None for"), slip=NO_RESULT)
    if not isinstance(value, Tensor):
        text = about(name, "should be a torch.Tensor", "There should be a torch.Tensor for")
        raise CheckFailed(text, [f"got  {kind(value)}"])
    if value.is_complex():
        raise CheckFailed(about(name, "holds complex numbers", "There are complex numbers in"))
    return value


def require_same_device(name: str, got: Tensor, expected: Tensor) -> None:
    """Both are on one device."""
    if got.device != expected.device:
        device = f"is on the device {got.device}, not on {expected.device}"
        raise CheckFailed(about(name, device, f"On the device {got.device}, not on {expected.device}, are"))


def require_same_shape(name: str, got: Tensor, expected: Tensor, mistake: str | None) -> None:
    """Both have one shape."""
    if got.shape != expected.shape:
        raise wrong_shape(name, got, expected.shape, (), mistake)


def wrong_shape(
    name: str, got: Tensor, expected: Sequence[int], names: Sequence[str], mistake: str | None
) -> CheckFailed:
    """The verdict on a shape, expected beside got, with the names of its dimensions where they are known."""
    sizes = f"{tuple(expected)}  ({', '.join(names)})" if names else tuple(expected)
    lines, picture = versus(sizes, tuple(got.shape)), _panel.sizes(expected, got.shape, names)
    slip = f"This is the shape you get when {mistake}." if mistake else None
    text = about(name, "has the wrong shape", "This is not the shape of")
    if name.startswith("`"):
        text = f"{name} has the wrong shape."
    return CheckFailed(text, lines, slip, mistake=mistake, picture=picture)


def agrees(got: Tensor, value: Tensor, rtol: float, atol: float) -> bool:
    """Both are the same up to rounding, whatever their dtypes, NaN included unless there is nothing else."""
    if got.shape != value.shape or got.device != value.device:
        return False
    some = not got.isnan().all()
    return torch.allclose(got.detach().double(), value.detach().double(), rtol=rtol, atol=atol, equal_nan=some)


def values_when(mistake: str | None, *, is_one: bool = False) -> str | None:
    """The sentence that names a mistake by its values, or by the one value there is."""
    values = "This is the value" if is_one else "These are the values"
    return f"{values} you get when {mistake}." if mistake else None


def wrong_values(
    name: str,
    got: Tensor,
    expected: Tensor,
    index: tuple[int, ...],
    where: str,
    mistake: str | None,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> CheckFailed:
    """The verdict on a value at `index`, expected beside got."""
    expected_text, got_text = _two_values(expected[index].item(), got[index].item(), is_one=not got.dim())
    place = f"  at index {index}{where}" if index else ""
    lines = versus(f"{expected_text}{place}", got_text)
    picture = _panel.values(expected, got, index, rtol=rtol, atol=atol)
    slip = values_when(mistake, is_one=not got.dim())
    text = about(name, "has the wrong values", "There are wrong values in")
    if not got.dim():
        text = f"{sentence_start(name)} has the wrong value."
    return CheckFailed(text, lines, slip, mistake=mistake, picture=picture)


def _two_values(expected: float | bool, got: float | bool, *, is_one: bool) -> tuple[str, str]:
    """Both numbers as text; a count, which is a whole number on its own, without decimals."""
    if is_one and not isinstance(expected, bool) and float(expected).is_integer() and float(got).is_integer():
        return str(int(expected)), str(int(got))
    return two_numbers(expected, got)


def two_numbers(expected: float | bool, got: float | bool) -> tuple[str, str]:
    """Both numbers with four decimals, or with as many as it takes to see that they differ."""
    if isinstance(expected, bool | int):
        return str(expected), str(got)
    for digits in (4, 6, 8):
        texts = _decimal(expected, digits), _decimal(got, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _decimal(number: float, digits: int) -> str:
    fits = number == 0 or 10.0**-digits <= abs(number) < 1e6
    return f"{number:.{digits}f}" if fits else f"{number:.{digits}g}"


def index_of(flat: Tensor, like: Tensor) -> tuple[int, ...]:
    """The index in a tensor shaped like `like` of an index into its flat form."""
    return tuple(int(i) for i in np.unravel_index(int(flat), tuple(like.shape)))  # torch's own imports for a second


def first_true(wrong: Tensor) -> tuple[int, ...]:
    """The first index at which `wrong` is True."""
    return tuple(int(i) for i in wrong.nonzero()[0])


def kind(value: object) -> str:
    """What a value is, in a word or two."""
    if isinstance(value, Tensor):
        return f"one tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")


def versus(expected: object, got: object) -> list[str]:
    """Two aligned lines."""
    return [f"expected  {_line(expected)}", f"got       {_line(got)}"]


def _line(value: object) -> str:
    """One line of text; two spaces between a shape and its names survive."""
    text = str(value)
    return text if len(text) <= 160 and "\n" not in text else shorten(text, 160, placeholder=" …")
