"""Exercise `swap_groups`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import DTYPES, columns, sizes, strided, tensors


def cases(answer: Callable[[Tensor, int], Tensor], *, seed: int = 0) -> None:
    """Groups of x (batch, seq_len, groups · size) of any size, layout and dtype, with the gradient of x."""
    for index, each in enumerate(sizes(seed, 6, batch=(1, 5), groups=(1, 8), seq_len=(1, 9), size=(1, 9))):
        batch, groups, seq_len, size = each.values()
        (x,) = tensors((batch, seq_len, groups * size), seed=31 * seed + index, dtype=DTYPES[index % 2])
        x = strided(x) if index % 2 else x
        expected = torch.stack(x.chunk(groups, dim=-1), dim=1)
        with check.case(x=x, groups=groups), check.unchanged(x=x):
            swapped = answer(x, groups)
            check.shape("swap_groups(x, groups)", swapped, batch=batch, groups=groups, seq_len=seq_len, size=size)
            check.dtype("swap_groups(x, groups)", swapped, x.dtype)
            check.close("swap_groups(x, groups)", swapped, expected)
    x.requires_grad_()
    check.gradients_agree("swap_groups(x, groups)", answer(x, groups), torch.stack(x.chunk(groups, dim=-1), dim=1), x=x)


def slips(x: Tensor, groups: int) -> dict[str, Tensor]:
    """Groups of x (batch, seq_len, groups · size) as (batch, groups, seq_len, size)."""
    batch, seq_len, width = x.shape
    size = width // groups
    return {
        "the tensor is cut straight into (batch, groups, seq_len, size), which mixes the rows; "
        "give the groups their own dimension first, then swap": x.reshape(batch, groups, seq_len, size),
        "group i takes every groups-th column instead of `size` neighbours": (
            x.reshape(batch, seq_len, size, groups).permute(0, 3, 1, 2)
        ),
        "the sequence and the columns are swapped before the columns are cut": (
            x.mT.reshape(batch, groups, seq_len, size)
        ),
        "every group gets the first columns": columns(x, [0] * groups, size),
        "group i begins at column i · groups instead of column i · size": columns(x, range(0, groups**2, groups), size),
        "group i begins at column i instead of column i · size": columns(x, range(groups), size),
        "the groups come in reverse order": columns(x, range(0, width, size)[::-1], size),
        "the first group is never filled": torch.stack(
            [torch.zeros_like(x[..., :size]), *x.chunk(groups, dim=-1)[1:]], dim=1
        ),
    }
