"""What check cells call: a small vocabulary of statements about an answer, each with a message of its own.

Every statement names the learner's own expression as text first, then takes the value, then what is wanted. It
returns nothing when the statement holds and raises `CheckFailed` when it does not.

Tolerances: two correct float32 programs that add in another order differ by about 1e-6 on the course's inputs, and
every known slip by more than 1e-2, so 1e-4 stands well between the two. In float64 a constant that was made in float32,
right to 6e-8, is no slip, so 1e-5.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from types import ModuleType

import numpy as np
import torch
from torch import Tensor

from autograder.check import _backend, _panel
from autograder.check import _progress as runs
from autograder.check._compare import (
    audit,
    first_true,
    index_of,
    kind,
    proved_mistake,
    require_distinguishable,
    require_same_device,
    require_same_shape,
    require_tensor,
    shape_when,
    two_numbers,
    values_when,
    versus,
    within,
    wrong_values,
)
from autograder.check._errors import CheckFailed, NotWritten, from_exception
from autograder.check._forbidden import require_written_by_hand, without
from autograder.check._modules import buffer, defaults, device, layers, mode, parameters, separate
from autograder.check._progress import progress

__all__ = [
    "CheckFailed",
    "NotWritten",
    "audit",
    "buffer",
    "close",
    "defaults",
    "device",
    "differs",
    "dropout",
    "dtype",
    "equal",
    "exercise",
    "gradient_reaches",
    "gradients_agree",
    "gradients_reach",
    "layers",
    "mode",
    "number",
    "numbers",
    "parameters",
    "progress",
    "python_number",
    "raises",
    "returns",
    "separate",
    "shape",
    "true",
    "unchanged",
    "without",
]

SEED = 20170612
_SETUP_NAMES = ("F", "data", "math", "mistakes", "nn", "parts", "torch")
_TOLERANCES = {torch.float64: (1e-5, 1e-6), torch.float32: (1e-4, 1e-5), torch.bfloat16: (4e-2, 2e-2)}


def exercise(name: str, *, given: Mapping[str, object] | None = None) -> Callable[[Callable[[], None]], None]:
    """Run the decorated check at once, and print one line when it passes.

    The function's name is the rule it proves, `each_row_sums_to_one`. The check runs with its own random state, and
    what the answer writes to stderr goes to stdout, so that a warning costs nothing.

    Args:
        name: the exercise, as its heading names it.
        given: right neighbours that stand in for the learner's own functions while the check runs, so that one
            mistake is not paid for twice.

    Raises:
        CheckFailed: what is wrong, in the learner's words.
        NotWritten: the answer is still its stub.
    """

    def run(check: Callable[[], None]) -> None:
        rule, failed = check.__name__.replace("_", " "), None
        try:
            _course_names_stand(check.__globals__)
            require_written_by_hand(name.split()[-1], check.__globals__)
            with _quiet(), _replaced(check.__globals__, given or {}), _backend.home.exercise(given or {}):
                check()
                _nothing_left_behind()
        except Exception as error:
            failed = error if isinstance(error, CheckFailed) else from_exception(error, check)
        if failed is None:
            runs.record(name, rule, runs.PASSED)
            print(f"✓ {name}: {rule}.")
            return
        unwritten = isinstance(failed, NotWritten)
        runs.record(name, rule, runs.UNWRITTEN if unwritten else runs.FAILED)
        failed.exercise, failed.rule = name, None if unwritten else rule
        # Neither the frames of the check nor the error that a verdict was made of: both hold tensors.
        failed.__context__, failed.__traceback__ = None, None
        try:
            raise failed from None
        finally:
            del failed

    return run


@contextmanager
def _quiet() -> Iterator[None]:
    dtype, python, numpy = torch.get_default_dtype(), random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), redirect_stderr(sys.stdout):
        seed_all()
        torch.set_default_dtype(torch.float32)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            torch.set_default_dtype(dtype), random.setstate(python), np.random.set_state(numpy)


def seed_all() -> None:
    """Seed PyTorch, Python and NumPy as every check does."""
    random.seed(SEED), np.random.seed(SEED)
    if torch.cuda.is_initialized() or torch.backends.mps.is_available():
        torch.manual_seed(SEED)
    else:  # a tenth of the time: no seed has to be kept for devices that nobody uses
        torch.default_generator.manual_seed(SEED)


def _nothing_left_behind() -> None:
    """The answer has changed nothing that all of PyTorch shares."""
    enabled, dtype, seed = _backend.home.shared_state()
    if not enabled:
        raise CheckFailed("Your code switches gradients off for everybody.", slip="Use `with torch.no_grad():`.")
    if dtype != torch.float32:
        raise CheckFailed("Your code changes PyTorch's default dtype for everybody.")
    if seed != SEED:
        slip = "Who calls your code decides about that, once."
        raise CheckFailed("Your code seeds PyTorch's random numbers.", slip=slip)


def _course_names_stand(scope: Mapping[str, object]) -> None:
    for name in _SETUP_NAMES:
        if name in scope and not isinstance(scope[name], ModuleType):
            raise CheckFailed(
                f"`{name}` is no longer the module that the checks use.",
                slip="Give your own variable another name, run the setup cell, then this one again.",
            )


@contextmanager
def _replaced(scope: dict, given: Mapping[str, object]) -> Iterator[None]:
    before = {name: scope[name] for name in given if name in scope}
    scope.update(given)
    try:
        yield
    finally:
        for name in given:
            scope.pop(name, None)
        scope.update(before)


def returns(call: str, result: object, *names: str) -> tuple[Tensor, ...]:
    """Hand back the tensors that a call returned, having made sure that there are as many as `names`."""
    several = _several(call, result, names, "tensors")
    for name, value in zip(names, several, strict=True):
        require_tensor(name, value)
    return several


def numbers(call: str, result: object, *names: str) -> tuple[Tensor, ...]:
    """Hand back the Python numbers that a call returned, each as a float32 tensor without dimensions."""
    several = _several(call, result, names, "numbers")
    converted = tuple(number(name, value) for name, value in zip(names, several, strict=True))
    for name, value in zip(names, several, strict=True):
        python_number(name, value)
    return converted


def python_number(name: str, got: object) -> None:
    """`got` is a plain number, a Python or NumPy one: a tensor would keep the graph it came from alive."""
    if isinstance(got, Tensor):
        raise CheckFailed(f"`{name}` is a tensor, not a Python number.", slip="`.item()` makes it one.")


def _several(call: str, result: object, names: Sequence[str], what: str) -> tuple:
    wanted = f"{len(names)} {what}, ({', '.join(names)})"
    if not isinstance(result, tuple | list) or len(result) != len(names):
        count = f"a {type(result).__name__} of {len(result)}" if isinstance(result, tuple | list) else kind(result)
        raise CheckFailed(f"`{call}` should return {wanted}.", [f"got  {count}"])
    return tuple(result)


def number(name: str, got: object) -> Tensor:
    """Hand back one number, a Python, NumPy or torch one, as a float32 tensor without dimensions."""
    if isinstance(got, str) or (isinstance(got, Tensor) and got.numel() != 1):
        raise CheckFailed(f"`{name}` should be one number.", [f"got  {kind(got)}"])
    try:
        return torch.tensor(float(got))
    except (TypeError, ValueError):
        slip = "Is there a `return` at the end of your function?" if got is None else None
        raise CheckFailed(f"`{name}` should be one number.", [f"got  {kind(got)}"], slip) from None


def shape(name: str, got: Tensor, *, mistakes: Mapping[str, Sequence[int]] | None = None, **dims: int) -> None:
    """`got` has the dimensions given by name and size, in this order.

    Args:
        mistakes: the shape that each known slip would give, by the sentence that completes "… when".
    """
    require_tensor(name, got)
    wanted = tuple(dims.values())
    if tuple(got.shape) == wanted:
        return
    lines = versus(f"{wanted}  ({', '.join(dims)})", tuple(got.shape))
    found = [mistake for mistake, value in (mistakes or {}).items() if tuple(value) == tuple(got.shape)]
    mistake = found[0] if len(found) == 1 else None
    picture = _panel.sizes(wanted, got.shape, tuple(dims))
    slip = shape_when(mistake)
    raise CheckFailed(f"`{name}` has the wrong shape.", lines, slip, mistake=mistake, picture=picture)


def dtype(name: str, got: Tensor, expected: torch.dtype) -> None:
    """`got` holds elements of the type `expected`."""
    require_tensor(name, got)
    if got.dtype != expected:
        raise CheckFailed(f"`{name}` has the wrong dtype.", versus(expected, got.dtype))


def close(
    name: str,
    got: Tensor,
    expected: Tensor,
    *,
    mistakes: Mapping[str, Tensor] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """`got` equals `expected` up to rounding.

    Args:
        mistakes: the values that each known slip would give, by the sentence that completes "… when".
        rtol, atol: tolerances; by default 1e-4 and 1e-5 in float32, 1e-5 and 1e-6 in float64.
    """
    default_rtol, default_atol = _TOLERANCES[expected.dtype]
    rtol, atol = default_rtol if rtol is None else rtol, default_atol if atol is None else atol
    require_distinguishable(expected, mistakes, rtol, atol)
    require_tensor(name, got)
    require_same_device(name, got, expected)
    if got.shape == expected.shape:
        distance = (got.detach().double() - expected.detach().double()).abs()
        if not got.isnan().any() and within(distance, atol + rtol * expected.detach().double().abs()):
            return
    mistake = proved_mistake(got, mistakes, rtol, atol)
    require_same_shape(name, got, expected, mistake)
    if got.isnan().any():
        place = first_true(got.isnan())
        lines = [f"first at index {place}"] if got.dim() else []
        picture = _panel.values(expected, got, place, rtol=rtol, atol=atol)
        slip = values_when(mistake)
        raise CheckFailed(f"`{name}` contains NaN.", lines, slip, mistake=mistake, picture=picture)
    place = index_of(distance.argmax(), got)
    most, allowed = ", where they differ most", {"rtol": rtol, "atol": atol}
    raise wrong_values(name, got.detach(), expected.detach(), place, most, mistake, **allowed)


def equal(name: str, got: Tensor, expected: Tensor, *, mistakes: Mapping[str, Tensor] | None = None) -> None:
    """`got` equals `expected` in every entry; a mask of 0 and 1 equals one of False and True.

    Args:
        mistakes: the values that each known slip would give, by the sentence that completes "… when".
    """
    require_distinguishable(expected, mistakes, 0.0, 0.0)
    require_tensor(name, got)
    require_same_device(name, got, expected)
    if got.shape == expected.shape and not (wrong := got != expected).any():
        return
    mistake = proved_mistake(got, mistakes, 0.0, 0.0) if got.isfinite().all() else None
    require_same_shape(name, got, expected, mistake)
    count = f", one of {int(wrong.sum())} entries that differ" if wrong.sum() > 1 else ""
    raise wrong_values(name, got, expected, first_true(wrong), count, mistake)


def differs(name: str, got: Tensor, other: Tensor, *, when: str) -> None:
    """`got` and `other` are two values of one expression that must not be the same, since `when` holds."""
    require_tensor(name, got)
    require_same_shape(name, got, other, None)
    if torch.allclose(got.detach(), other.detach(), rtol=1e-4, atol=1e-5):
        raise CheckFailed(f"`{name}` stays the same when {when}.")


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
    wanted = expected[0] if isinstance(expected, tuple) else expected
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
        lines = versus(f"{wanted.__name__}, because {because}", f"{type(error).__name__}: {error}")
        raise CheckFailed(f"`{call}` raises the wrong error.", lines) from None
    else:
        raise CheckFailed(f"`{call}` should raise {wanted.__name__}, because {because}.")


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
    kept = before / (1 - p)
    zeros = (got == 0).float().mean().item()
    if torch.allclose(got, kept) or torch.allclose(got, before):
        raise CheckFailed(f"In training, no entry of `{name}` is dropped at dropout={p}.")
    slips = [
        slip
        for slip, values in (mistakes or {}).items()
        if all(torch.isclose(got, v).any() for v in values)
        and torch.stack([torch.isclose(got, v, rtol=1e-4, atol=1e-5) for v in values]).any(dim=0).all()
    ]
    slip = f"These are the values you get when {slips[0]}." if len(slips) == 1 else None
    strange = (got != 0) & ~torch.isclose(got, kept, rtol=1e-4, atol=1e-5)
    if strange.any():
        place = first_true(strange)
        wanted, found = two_numbers(kept[place].item(), got[place].item())
        lines = versus(f"0 or {wanted}  at index {place}, at dropout={p}", found)
        raise CheckFailed(f"In training, `{name}` has the wrong values.", lines, slip)
    if got.dim() > 2 and len(got) > 1 and ((got == 0) == (got[:1] == 0)).all():
        raise CheckFailed(f"In training, every sentence drops the same entries of `{name}`.")
    if abs(zeros - p) > 5 * (p * (1 - p) / got.numel()) ** 0.5:
        raise CheckFailed(f"In training, {zeros:.0%} of the entries of `{name}` are dropped at dropout={p}.")
    if ((got == 0).all(dim=-1) | (got != 0).all(dim=-1)).all():
        raise CheckFailed(f"In training, whole rows of `{name}` are dropped instead of single entries.")


@contextmanager
def unchanged(**tensors: Tensor) -> Iterator[None]:
    """What runs inside leaves these tensors as they were."""
    before = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    yield
    for name, tensor in tensors.items():
        if not torch.equal(tensor.detach().nan_to_num(), before[name].nan_to_num()):
            raise CheckFailed(
                f"Your code changes `{name}`, which belongs to the caller.",
                slip="Compute a new tensor instead of writing into this one (`x = x + y`, not `x += y`).",
            )


def gradient_reaches(name: str, source: Tensor, output: Tensor) -> None:
    """Changing `source` a little changes `output`, as far as autograd knows."""
    gradients_reach({name: source}, output)


def gradients_reach(sources: Mapping[str, Tensor], output: Tensor) -> None:
    """Changing each of `sources` a little changes `output`, as far as autograd knows, in one backward pass."""
    if not isinstance(output, Tensor):
        raise CheckFailed(f"The result is no tensor, so nothing could learn from it: {kind(output)}.")
    gradients: Sequence[Tensor | None] = [None] * len(sources)
    if output.requires_grad:
        weights = torch.linspace(-1.0, 1.0, output.numel(), dtype=output.dtype).reshape(output.shape)
        gradients = torch.autograd.grad(
            output, list(sources.values()), weights.to(output.device), allow_unused=True, retain_graph=True
        )
    for name, gradient in zip(sources, gradients, strict=True):
        if gradient is None or not gradient.any():
            raise CheckFailed(
                f"No gradient flows back to `{name}`, so nothing there could learn.",
                slip="Something on the way cuts the graph (`detach`, `.data`, `.item()`, NumPy, `torch.no_grad`) "
                "or leaves it out.",
            )


def gradients_agree(name: str, output: Tensor, expected: Tensor, **sources: Tensor) -> None:
    """The gradients of `output`, called `name`, in each of `sources` are those of `expected`, a right answer's."""
    gradients_reach(sources, output)
    got, wanted = (
        torch.autograd.grad(y.pow(3).sum(), list(sources.values()), retain_graph=True) for y in (output, expected)
    )
    for key, one, other in zip(sources, got, wanted, strict=True):
        close(f"the gradient of {name} in {key}", one, other, rtol=1e-3, atol=1e-4)
