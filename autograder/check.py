"""What check cells call: a small vocabulary of statements about an answer, each with a message of its own.

Every statement names the learner's own expression as text first, then takes the value, then what is wanted. It
returns nothing when the statement holds and raises `CheckFailed` when it does not.

Tolerances: two correct float32 programs that add in another order differ by about 1e-6 on the course's inputs, and
every known slip by more than 1e-2, so 1e-4 stands well between the two.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from types import CodeType, ModuleType

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder import parts
from autograder.compare import (
    audit,
    first_true,
    index_of,
    kind,
    listing,
    named_slip,
    require_distinguishable,
    require_same_device,
    require_same_shape,
    require_tensor,
    two_numbers,
    unregistered,
    versus,
    wrong_values,
)
from autograder.verdict import CheckFailed, NotWritten, from_exception

__all__ = [
    "CheckFailed",
    "NotWritten",
    "audit",
    "buffer",
    "close",
    "differs",
    "dropout",
    "dtype",
    "equal",
    "exercise",
    "gradient_reaches",
    "layers",
    "number",
    "numbers",
    "parameters",
    "python_number",
    "raises",
    "returns",
    "shape",
    "true",
    "unchanged",
    "without",
]

_SETUP_NAMES = ("F", "data", "math", "mistakes", "nn", "parts", "torch")
_TOLERANCES = {torch.float64: (1e-7, 1e-8), torch.float32: (1e-4, 1e-5), torch.bfloat16: (4e-2, 2e-2)}


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
        rule = check.__name__.replace("_", " ")
        try:
            _course_names_stand(check.__globals__)
            _written_by_hand(name.split()[-1], check.__globals__)
            with _quiet(), _replaced(check.__globals__, given or {}):
                check()
        except Exception as error:
            verdict = error if isinstance(error, CheckFailed) else from_exception(error, check)
            if not isinstance(verdict, NotWritten):
                verdict.rule = rule
            raise verdict.with_traceback(None) from None
        print(f"✓ {name}: {rule}.")

    return run


@contextmanager
def _quiet() -> Iterator[None]:
    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), redirect_stderr(sys.stdout):
        torch.manual_seed(0)
        torch.set_default_dtype(torch.float32)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            torch.set_default_dtype(dtype)


def _course_names_stand(scope: Mapping[str, object]) -> None:
    for name in _SETUP_NAMES:
        if name in scope and not isinstance(scope[name], ModuleType):
            raise CheckFailed(
                f"`{name}` is no longer the module that the checks use.",
                slip="Give your own variable another name, run the setup cell, then this one again.",
            )


def _written_by_hand(name: str, scope: Mapping[str, object]) -> None:
    """The answer called `name` is not the finished part of that name, and does not call it."""
    answer, finished = scope.get(name), getattr(parts, name, None)
    if finished is None or answer is None:
        return
    functions = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    codes = [getattr(inspect.unwrap(each), "__code__", None) for each in functions if callable(each)]
    looked_up = [pair for code in filter(None, codes) for pair in _looked_up(code)]
    calls = any(pair == ("parts", name) or scope.get(pair[0]) is finished for pair in looked_up)
    if answer is finished or calls or (isinstance(answer, type) and finished in answer.__mro__):
        raise CheckFailed(
            f"`{name}` is, or calls, the course's own finished `parts.{name}`.",
            slip="Here the point is to write it yourself.",
        )


def _looked_up(code: CodeType) -> Iterator[tuple[object, object]]:
    """Each name that a function, or one inside it, reads, with what is read next: `parts.x` gives ("parts", "x")."""
    names = [each.argval for each in dis.get_instructions(code)]
    yield from itertools.pairwise([*(each if isinstance(each, str) else None for each in names), None])
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _looked_up(inner)


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
    slips = [slip for slip, value in (mistakes or {}).items() if tuple(value) == tuple(got.shape)]
    slip = f"This is the shape you get when {slips[0]}." if len(slips) == 1 else None
    raise CheckFailed(f"`{name}` has the wrong shape.", lines, slip)


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
        rtol, atol: tolerances; by default 1e-4 and 1e-5 in float32, 1e-7 and 1e-8 in float64.
    """
    default_rtol, default_atol = _TOLERANCES[expected.dtype]
    rtol, atol = default_rtol if rtol is None else rtol, default_atol if atol is None else atol
    require_distinguishable(expected, mistakes, rtol, atol)
    require_tensor(name, got)
    require_same_device(name, got, expected)
    slip = named_slip(got, mistakes, rtol, atol)
    require_same_shape(name, got, expected, slip)
    got = got.detach()
    if got.isnan().any():
        raise CheckFailed(f"`{name}` contains NaN.", [f"first at index {first_true(got.isnan())}"], slip)
    wrong = ~torch.isclose(got.to(expected.dtype), expected, rtol=rtol, atol=atol)
    if wrong.any():
        distance = (got.double() - expected.double()).abs().nan_to_num(nan=torch.inf, posinf=torch.inf)
        raise wrong_values(name, got, expected, index_of(distance.argmax(), got), ", where they differ most", slip)


def equal(name: str, got: Tensor, expected: Tensor, *, mistakes: Mapping[str, Tensor] | None = None) -> None:
    """`got` equals `expected` in every entry; a mask of 0 and 1 equals one of False and True.

    Args:
        mistakes: the values that each known slip would give, by the sentence that completes "… when".
    """
    require_distinguishable(expected, mistakes, 0.0, 0.0)
    require_tensor(name, got)
    require_same_device(name, got, expected)
    slip = named_slip(got, mistakes, 0.0, 0.0) if got.isfinite().all() else None
    require_same_shape(name, got, expected, slip)
    wrong = got != expected
    if wrong.any():
        count = f", one of {int(wrong.sum())} entries that differ" if wrong.sum() > 1 else ""
        raise wrong_values(name, got, expected, first_true(wrong), count, slip)


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
    gradient = None
    if not isinstance(output, Tensor):
        raise CheckFailed(f"The result is no tensor, so nothing could learn from it: {kind(output)}.")
    if output.requires_grad:
        weights = torch.linspace(-1.0, 1.0, output.numel(), dtype=output.dtype).reshape(output.shape)
        (gradient,) = torch.autograd.grad(
            output, source, weights.to(output.device), allow_unused=True, retain_graph=True
        )
    if gradient is None or not gradient.any():
        raise CheckFailed(
            f"No gradient flows back to `{name}`, so nothing there could learn.",
            slip="Something on the way cuts the graph (`detach`, `.data`, `.item()`, NumPy, `torch.no_grad`) "
            "or leaves it out.",
        )


def parameters(name: str, module: nn.Module, expected: Mapping[str, Sequence[int]]) -> None:
    """The trainable parameters of `module` are exactly those in `expected`: name → shape."""
    if not isinstance(module, nn.Module):
        raise CheckFailed(f"`{name}` should be an nn.Module.", [f"got  {kind(module)}"])
    # Under all their names: a part may stand in a container of the learner's own as well.
    known = {key: value for key, value in module.named_parameters(remove_duplicate=False) if value.requires_grad}
    found = {key: tuple(value.shape) for key, value in known.items()}
    taken: set[int] = set()
    for key, wanted in expected.items():
        if key not in found or id(known[key]) in taken:
            slip = unregistered(module, key)
            own = {key: tuple(value.shape) for key, value in module.named_parameters() if value.requires_grad}
            raise CheckFailed(f"`{name}` has no trainable parameter `{key}`.", listing(own), slip)
        if found[key] != tuple(wanted):
            raise CheckFailed(f"The parameter `{key}` has the wrong shape.", versus(tuple(wanted), found[key]))
        taken.add(id(known[key]))
    extra = [key for key, value in known.items() if id(value) not in taken]
    if extra:
        raise CheckFailed(f"`{name}` has a trainable parameter that it should not have: `{extra[0]}`.")


def layers(name: str, stack: nn.ModuleList, of: type[nn.Module], count: int) -> None:
    """`stack` is a list of `count` layers that PyTorch knows of, each of the class `of`."""
    if not isinstance(stack, nn.ModuleList | nn.Sequential):
        slip = "PyTorch finds no layers in a plain list." if isinstance(stack, list | tuple) else None
        raise CheckFailed(f"`{name}` should be an nn.ModuleList.", [f"got  {kind(stack)}"], slip)
    if len(stack) != count:
        raise CheckFailed(f"`{name}` has the wrong number of layers.", versus(count, len(stack)))
    strange = next((layer for layer in stack if not isinstance(layer, of)), None)
    if strange is not None:
        raise CheckFailed(f"`{name}` should hold layers of the class {of.__name__}.", [f"got  {kind(strange)}"])


def buffer(name: str, module: nn.Module, key: str) -> None:
    """`key` is a buffer of `module`: it moves with it from device to device and is never trained."""
    if key in dict(module.named_buffers()):
        return
    if key in dict(module.named_parameters()):
        raise CheckFailed(f"`{name}.{key}` is a parameter; what is never trained should be a buffer.")
    if key in module._buffers:
        raise CheckFailed(
            f"`{name}.{key}` is None.", slip="`register_buffer` returns nothing: call it, assign nothing."
        )
    if hasattr(module, key):
        raise CheckFailed(f"`{name}.{key}` is not registered as a buffer, so `.to(device)` leaves it behind.")
    raise CheckFailed(f"`{name}` has no `{key}`.")


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
        self.instead = instead

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in self.names:
            raise CheckFailed(
                f"Your answer calls PyTorch's ready `{self.names[function]}`.",
                slip=f"Here the point is to write it yourself: {self.instead}.",
            )
        return function(*args, **(kwargs or {}))
