"""What the parts say when they are given something that they cannot work with."""

import functools
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from autograder.check import CheckFailed


class UnusableParameters(CheckFailed):
    """No twin of PyTorch's can be made of a module: the verdict says which of its parameters does not do."""

    def __init__(self, verdict: str) -> None:
        super().__init__(verdict, slip="If the check of the parts fails too, start there.")


def require_tensors(part: str, **inputs: object) -> None:
    """Every one of `inputs`, by name, is a tensor.

    Raises:
        TypeError: one is not; the message says what it is instead, and where that may come from.
    """
    for name, value in inputs.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{part} was given {_described(value)} as `{name}`, where it takes a tensor.{_hint(value)}")


def require_columns(part: str, columns: int, **inputs: Tensor) -> None:
    """Every one of `inputs`, by name, is (batch, length, columns), all of one batch.

    Raises:
        TypeError: one is not a tensor.
        ValueError: one has another shape, or the batches differ.
    """
    require_tensors(part, **inputs)
    for name, value in inputs.items():
        if value.dim() != 3 or value.size(-1) != columns:
            raise ValueError(
                f"{part} was given a `{name}` of shape {tuple(value.shape)}; it takes (batch, length, {columns})."
            )
    batches = {name: value.size(0) for name, value in inputs.items()}
    if len(set(batches.values())) > 1:
        listed = ", ".join(f"{count} in `{name}`" for name, count in batches.items())
        raise ValueError(f"{part} was given different numbers of sentences: {listed}.")


def require_mask(part: str, mask: Tensor | None, *wanted: int, name: str = "mask") -> None:
    """The mask, if there is one, is a tensor of booleans that broadcasts to `wanted`: (…, query_len, key_len).

    Raises:
        TypeError: it is no tensor, or one of numbers.
        ValueError: it does not broadcast.
    """
    if mask is None:
        return
    require_tensors(part, **{name: mask})
    if mask.dtype != torch.bool:
        raise TypeError(f"{part} was given a {name} of {mask.dtype}; it takes booleans, True where a key may be seen.")
    sizes = list(zip(reversed(mask.shape), reversed(wanted), strict=False))
    if mask.dim() <= len(wanted) and all(size in (1, full) for size, full in sizes):
        return
    query_len, key_len = wanted[-2:]
    does_not_fit = f"{part} was given a {name} of shape {tuple(mask.shape)}, which does not fit"
    if any(size not in (1, full) for size, full in sizes[:2]):
        raise ValueError(f"{does_not_fit} {query_len} queries and {key_len} keys.")
    raise ValueError(f"{does_not_fit} scores of shape {wanted}.")


def numbers_of(module: nn.Module, shapes: Mapping[str, Iterable[int]]) -> dict[str, Tensor]:
    """Copies of the parameters of `module` with these names, such as "w_q.weight", and these shapes.

    Raises:
        AttributeError: there is nothing of a name.
        UnusableParameters: PyTorch does not know of it as a parameter of `module`, it has another shape, or it is a
            matrix that holds one number everywhere: with that, right and wrong answers come to the same.
    """
    numbers = {name: _parameter(module, name).detach().clone() for name in shapes}
    for name, shape in shapes.items():
        matrix, wanted = numbers[name], tuple(shape)
        if matrix.shape != wanted:
            raise UnusableParameters(f"The layers do not go together: `{name}` has the shape {tuple(matrix.shape)}.")
        if matrix.dim() > 1 and matrix.numel() > 1 and matrix.min() == matrix.max():
            raise UnusableParameters(f"All numbers of `{name}` are the same.")
    return numbers


def size_of(module: nn.Module, name: str) -> int:
    """How many numbers a parameter of `module` holds, such as "w_o.bias"; errors as those of `numbers_of`."""
    return _parameter(module, name).numel()


def _parameter(module: nn.Module, name: str) -> nn.Parameter:
    own = dict(module.named_parameters(remove_duplicate=False))
    if name not in own:
        functools.reduce(getattr, name.split("."), module)
        raise UnusableParameters(f"There is no `{name}` among the parameters that PyTorch registers.")
    return own[name]


def _described(value: object) -> str:
    """What something is, in a few words."""
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, nn.Module):
        return f"the module {type(value).__name__} itself"
    return "None" if value is None else f"a {type(value).__name__}"


def _hint(value: object) -> str:
    """Where such a thing may come from, " " first; "" where that is not known."""
    if isinstance(value, tuple) and len(value) == 2:
        return " Take the two apart: one of them may be what belongs there."
    if isinstance(value, nn.Module):
        return " Is it in the right place? Where a tensor belongs, hand over what the module returns."
    return " Is a `return` missing, or do the arguments stand in another order?" if value is None else ""
