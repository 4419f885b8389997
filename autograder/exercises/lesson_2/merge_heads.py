"""Exercise `merge_heads`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_2.shared import learns, stays
from autograder.exercises.shared import DTYPES, each_smallest, strided, tensors


def cases(answer: Callable[[Tensor], Tensor], *, seed: int = 0) -> None:
    """Rows of x (batch, num_heads, seq_len, d_k) of any size, layout and dtype, with the gradient of x."""
    for index, size in enumerate(each_smallest(seed, 6, batch=(1, 5), num_heads=(1, 12), seq_len=(1, 9), d_k=(1, 16))):
        batch, num_heads, seq_len, d_k = size.values()
        (x,) = tensors((batch, num_heads, seq_len, d_k), seed=31 * seed + index, dtype=DTYPES[index % 2])
        expected = parts.merge_heads(x)
        for layout in (x, strided(x), x.permute(3, 1, 2, 0).contiguous().permute(3, 1, 2, 0)):
            with check.case(x=x), check.unchanged(x=layout):
                merged = answer(layout)
                check.shape("merge_heads(x)", merged, batch=batch, seq_len=seq_len, d_model=num_heads * d_k)
                check.dtype("merge_heads(x)", merged, x.dtype)
                check.close("merge_heads(x)", merged, expected)
        with check.case(x=x):
            learns("merge_heads(x)", answer, parts.merge_heads, x)
    one, two = tensors((2, 3, 5, 4), (2, 3, 5, 4), seed=seed)
    stays("merge_heads(x)", answer, parts.merge_heads, one, two)


def slips(x: Tensor) -> dict[str, Tensor]:
    """Columns put back from x (batch, num_heads, seq_len, d_k) as (batch, seq_len, d_model)."""
    batch, num_heads, seq_len, d_k = x.shape
    shape = batch, seq_len, num_heads * d_k
    return {
        "the tensor is reshaped before the heads are moved back, which mixes tokens; transpose first": (
            x.reshape(shape)
        ),
        "the sequence and the columns of each head are swapped instead of the heads and the sequence": (
            x.transpose(2, 3).reshape(shape)
        ),
        "the columns of the heads are interleaved instead of side by side": x.permute(0, 2, 3, 1).flatten(2),
        "the columns of each head stand before the heads, and the rows are cut from that": (
            x.permute(0, 3, 1, 2).reshape(shape)
        ),
        "the heads come in reverse order": torch.cat(x.unbind(dim=1)[::-1], dim=-1),
    }
