"""Statements about what a call gives back, and what it does: tensors, numbers, errors.

Tolerances: two correct float32 programs that add in another order differ by about 1e-6 on the course's inputs, and
every known slip by more than 1e-2, so 1e-4 stands well between the two. In float64 a constant that was made in float32,
right to 6e-8, is no slip, so 1e-5.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor

from autograder.check import _panel
from autograder.check._causes import is_trying, named
from autograder.check._compare import (
    NO_RESULT,
    about,
    agrees,
    first_true,
    index_of,
    kind,
    phrase,
    require_same_device,
    require_same_shape,
    require_tensor,
    sentence_start,
    two_numbers,
    values_when,
    versus,
    within,
    wrong_shape,
    wrong_values,
)
from autograder.check._errors import CheckFailed

_TOLERANCES = {torch.float64: (1e-5, 1e-6), torch.float32: (1e-4, 1e-5), torch.bfloat16: (4e-2, 2e-2)}


def returns(call: str, result: object, *names: str) -> tuple[Tensor, ...]:
    """Hand back the tensors that a call returned, having made sure that there are as many as `names`."""
    values = _values(call, result, names, "tensors")
    return tuple(require_tensor(name, value) for name, value in zip(names, values, strict=True))


def numbers(call: str, result: object, *names: str) -> tuple[Tensor, ...]:
    """Hand back the Python numbers that a call returned, each as a float32 tensor without dimensions."""
    values = _values(call, result, names, "numbers")
    converted = tuple(number(name, value) for name, value in zip(names, values, strict=True))
    for name, value in zip(names, values, strict=True):
        python_number(name, value)
    return converted


def python_number(name: str, got: object) -> None:
    """`got` is a plain number, a Python or NumPy one: a tensor would keep the graph it came from alive."""
    if isinstance(got, Tensor):
        raise CheckFailed(f"`{name}` is a tensor, not a Python number.", slip="`.item()` makes it one.")


def _values(call: str, result: object, names: Sequence[str], kinds: str) -> tuple[object, ...]:
    if not isinstance(result, tuple | list) or len(result) != len(names):
        count = f"a {type(result).__name__} of {len(result)}" if isinstance(result, tuple | list) else kind(result)
        raise CheckFailed(f"`{call}` should return {len(names)} {kinds}, ({', '.join(names)}).", [f"got  {count}"])
    return tuple(result)


def number(name: str, got: Any) -> Tensor:
    """Hand back one number, a Python, NumPy or torch one, as a float32 tensor without dimensions."""
    is_complex = "complex" in str(getattr(got, "dtype", type(got)))
    if not (is_complex or isinstance(got, str) or (isinstance(got, Tensor) and got.numel() != 1)):
        with suppress(TypeError, ValueError):
            return torch.tensor(float(got))
    text, slip = (
        about(name, "should be one number", "There should be one number for"),
        NO_RESULT if got is None else None,
    )
    raise CheckFailed(text, [f"got  {kind(got)}"], slip)


def shape(name: str, got: Tensor, *, mistakes: Mapping[str, Sequence[int] | Tensor] | None = None, **dims: int) -> None:
    """`got` has the dimensions given by name and size, in this order.

    Args:
        mistakes: the shapes that known slips would give, or the values where the shape alone proves nothing.
    """
    require_tensor(name, got)
    expected = tuple(dims.values())

    def is_it(value: Sequence[int] | Tensor) -> bool:
        if isinstance(value, Tensor):
            return agrees(got, value, *_TOLERANCES[torch.float32])
        return tuple(value) == tuple(got.shape)

    if is_trying(name, is_it, expected, mistakes) or is_it(expected):
        return
    raise wrong_shape(name, got, expected, tuple(dims), named(name, is_it, mistakes))


def dtype(name: str, got: Tensor, expected: torch.dtype) -> None:
    """`got` holds elements of the type `expected`."""
    require_tensor(name, got)
    if got.dtype != expected:
        raise CheckFailed(about(name, "has the wrong dtype", "This is not the dtype of"), versus(expected, got.dtype))


def close(
    name: str,
    got: Tensor,
    expected: Tensor,
    *,
    mistakes: Mapping[str, Tensor] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """`got` equals `expected` up to rounding: as a rule 1e-4 and 1e-5 in float32, 1e-5 and 1e-6 in float64."""
    default_rtol, default_atol = _TOLERANCES[expected.dtype]
    rtol, atol = default_rtol if rtol is None else rtol, default_atol if atol is None else atol
    require_tensor(name, got)
    require_same_device(name, got, expected)

    def is_it(value: Tensor) -> bool:
        return agrees(got, value, rtol, atol)

    if is_trying(name, is_it, expected, mistakes):
        return
    if got.shape == expected.shape:
        # Beside an infinite value everything is within a fraction of it, and its distance from itself is NaN.
        ours, theirs = expected.detach().double(), got.detach().double()
        distance = torch.where(theirs == ours, 0.0, (theirs - ours).abs())
        if not got.isnan().any() and within(distance, atol + rtol * torch.where(ours.isinf(), 0.0, ours.abs())):
            return
    mistake = named(name, is_it, mistakes)
    require_same_shape(name, got, expected, mistake)
    if got.isnan().any():
        place = first_true(got.isnan())
        lines = [f"first at index {place}"] if got.dim() else []
        # What is expected may be the answer's own, and NaN as well.
        picture = None if expected.isnan().any() else _panel.values(expected, got, place, rtol=rtol, atol=atol)
        slip = values_when(mistake, is_one=not got.dim())
        text = about(name, "contains NaN", "There is NaN in")
        raise CheckFailed(text, lines, slip, mistake=mistake, picture=picture)
    place = index_of(distance.argmax(), got)
    most, allowed = ", where they differ most", {"rtol": rtol, "atol": atol}
    failed = wrong_values(name, got.detach(), expected.detach(), place, most, mistake, **allowed)
    if failed.slip is None and _is_dropped_of(got, expected):
        failed.slip = "Some entries are 0 and all others are too large by one factor, as dropout leaves them."
    raise failed


def _is_dropped_of(got: Tensor, expected: Tensor) -> bool:
    """Some entries are 0, and the others have grown by what makes up for these, up to chance."""
    ours, theirs = expected.detach().double(), got.detach().double()
    zero, told = (theirs == 0) & (ours != 0), (theirs != 0) & (ours.abs() > 0.01)
    if zero.sum() < 3 or told.sum() < 10:
        return False
    grown, kept = theirs[told] / ours[told], 1 - zero.double().mean()
    return bool(grown.std() < 0.01 and grown.mean() > 1.02 and 0.5 < grown.mean() * kept < 2)


def equal(name: str, got: Tensor, expected: Tensor, *, mistakes: Mapping[str, Tensor] | None = None) -> None:
    """`got` equals `expected` in every entry; a mask of 0 and 1 equals one of False and True."""
    require_tensor(name, got)
    require_same_device(name, got, expected)

    def is_it(value: Tensor) -> bool:
        return agrees(got, value, 0.0, 0.0)

    if is_trying(name, is_it, expected, mistakes):
        return
    if got.shape == expected.shape and not (wrong := got != expected).any():
        return
    mistake = named(name, is_it, mistakes) if not got.isnan().any() else None
    require_same_shape(name, got, expected, mistake)
    count = f", one of {int(wrong.sum())} entries that differ" if wrong.sum() > 1 else ""
    raise wrong_values(name, got, expected, first_true(wrong), count, mistake)


def differs(name: str, got: Tensor, other: Tensor, *, when: str) -> None:
    """`got` and `other` are two values of one expression that must not be the same, since `when` holds."""
    require_tensor(name, got)
    require_same_shape(name, got, other, None)
    if torch.allclose(got.detach(), other.detach(), rtol=1e-4, atol=1e-5):
        raise CheckFailed(f"{sentence_start(name)} stays the same when {when}.")


def stays(
    name: str, got: Tensor, before: Tensor, *, when: str, slip: str, mistakes: Mapping[str, Tensor] | None = None
) -> None:
    """`got` and `before` are two values of one expression that must be the same, though `when` holds.

    Args:
        slip: the sentence that says what it comes from if they are not, unless one of `mistakes` says more.
    """
    require_same_shape(name, require_tensor(name, got), before, None)
    try:
        close(name, got, before, mistakes=mistakes)
    except CheckFailed as error:
        if error.mistake is None and not got.isnan().any():
            raise CheckFailed(
                f"{sentence_start(name)} changes when {when}.", error.details, slip, picture=error.picture
            ) from None
        raise


def true(condition: bool | Tensor, verdict: str, slip: str | None = None) -> None:
    """`condition` holds; otherwise `verdict` says what is so, and `slip` what it comes from where that is proved."""
    if not condition:
        raise CheckFailed(verdict, slip=slip)


def raises(
    call: str,
    expected: type[Exception] | tuple[type[Exception], ...],
    run: Callable[[], object],
    *,
    because: str,
    mentions: Sequence[object] = (),
) -> None:
    """`run()` raises `expected`, and its message holds every one of `mentions`."""
    first = expected[0] if isinstance(expected, tuple) else expected
    try:
        run()
    except NotImplementedError:
        raise
    except expected as error:
        missing = [str(word) for word in mentions if str(word) not in str(error)]
        if missing:
            lines = versus(f"a message that holds {' and '.join(map(str, mentions))}", error)
            raise CheckFailed(f"The error of `{call}` does not say enough.", lines) from None
    except Exception as error:
        lines = versus(f"{first.__name__}, because {because}", f"{type(error).__name__}: {error}")
        raise CheckFailed(f"`{call}` raises the wrong error.", lines) from None
    else:
        raise CheckFailed(f"`{call}` should raise {first.__name__}, because {because}.")


def dropout(
    name: str, got: Tensor, before: Tensor, p: float, *, mistakes: Mapping[str, tuple[Tensor, Tensor]] | None = None
) -> None:
    """`got` is `before` with entries dropped at random: each is 0, with probability `p`, or `before` / (1 − p).

    Args:
        mistakes: for each known slip the values (of dropped entries, of kept ones) that it would give.
    """
    require_tensor(name, got)
    require_same_shape(name, got, before, None)
    got, before = got.detach(), before.detach()
    what = phrase(name)
    kept = before / (1 - p)
    zeros = (got == 0).float().mean().item()
    if torch.allclose(got, kept) or torch.allclose(got, before):
        raise CheckFailed(f"In training, no entry of {what} is dropped at dropout={p}.")
    proved = [
        mistake
        for mistake, values in (mistakes or {}).items()
        if all(torch.isclose(got, v).any() for v in values)
        and torch.stack([torch.isclose(got, v, rtol=1e-4, atol=1e-5) for v in values]).any(dim=0).all()
    ]
    mistake = proved[0] if len(proved) == 1 else None
    strange = (got != 0) & ~torch.isclose(got, kept, rtol=1e-4, atol=1e-5)
    if strange.any():
        place = first_true(strange)
        kept_text, got_text = two_numbers(kept[place].item(), got[place].item())
        lines = versus(f"0 or {kept_text}  at index {place}, at dropout={p}", got_text)
        wrong = f"{what} are not those of eval mode" if what == name else f"{what} is not its value in eval mode"
        raise CheckFailed(f"In training, {wrong} with entries dropped.", lines, values_when(mistake), mistake=mistake)
    if got.dim() > 2 and len(got) > 1 and ((got == 0) == (got[:1] == 0)).all():
        raise CheckFailed(f"In training, every sentence drops the same entries of {what}.")
    if abs(zeros - p) > 5 * (p * (1 - p) / got.numel()) ** 0.5:
        raise CheckFailed(f"In training, {zeros:.0%} of the entries of {what} are dropped at dropout={p}.")
    if ((got == 0).all(dim=-1) | (got != 0).all(dim=-1)).all():
        raise CheckFailed(f"In training, whole rows of {what} are dropped instead of single entries.")


@contextmanager
def unchanged(**tensors: Tensor) -> Iterator[None]:
    """What runs inside leaves these tensors as they were."""
    before = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    yield
    for name, tensor in tensors.items():
        if not torch.equal(tensor.detach().nan_to_num(), before[name].nan_to_num()):
            raise CheckFailed(
                f"Your code changes `{name}`, which it should leave as it is.",
                slip="Compute a new tensor: `x += y`, `x[…] = y` and methods whose name ends in `_` write into `x`, "
                "and so do options such as `inplace=True` and `max_norm`.",
            )
