"""Exercise `split_heads`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_2.shared import learns, stays
from autograder.exercises.shared import DTYPES, columns, each_smallest, strided, tensors


def cases(answer: Callable[[Tensor, int], Tensor], *, seed: int = 0) -> None:
    """Heads of x (batch, seq_len, d_model) of any size, layout and dtype, with the gradient of x."""
    for index, size in enumerate(each_smallest(seed, 6, batch=(1, 5), num_heads=(1, 12), seq_len=(1, 9), d_k=(1, 16))):
        batch, num_heads, seq_len, d_k = size.values()
        (x,) = tensors((batch, seq_len, num_heads * d_k), seed=31 * seed + index, dtype=DTYPES[index % 2])
        x = strided(x) if index % 2 else x
        expected = parts.split_heads(x, num_heads)
        with check.case(x=x, num_heads=num_heads), check.unchanged(x=x):
            heads = answer(x, num_heads)
            check.shape("split_heads(x, num_heads)", heads, batch=batch, num_heads=num_heads, seq_len=seq_len, d_k=d_k)
            check.dtype("split_heads(x, num_heads)", heads, x.dtype)
            check.close("split_heads(x, num_heads)", heads, expected)
            learns("split_heads(x, num_heads)", answer, parts.split_heads, x, num_heads)
    one, two = tensors((2, 5, 12), (2, 5, 12), seed=seed)
    stays("split_heads(x, 3)", lambda x: answer(x, 3), lambda x: parts.split_heads(x, 3), one, two)


def slips(x: Tensor, num_heads: int) -> dict[str, Tensor]:
    """Heads of x (batch, seq_len, d_model) as (batch, num_heads, seq_len, d_k)."""
    batch, seq_len, d_model = x.shape
    d_k = d_model // num_heads
    return {
        "the tensor is reshaped straight to (batch, num_heads, seq_len, d_k), which cuts across tokens; "
        "give the heads their own dimension first, then transpose": x.reshape(batch, num_heads, seq_len, d_k),
        "head i takes every num_heads-th column instead of a block of d_k neighbours": (
            x.reshape(batch, seq_len, d_k, num_heads).permute(0, 3, 1, 2)
        ),
        "the sequence and the columns are exchanged before the columns are cut": (
            x.mT.reshape(batch, num_heads, seq_len, d_k)
        ),
        "the first head alone is filled": torch.stack(
            [x[..., :d_k], *[torch.zeros_like(x[..., :d_k])] * (num_heads - 1)], 1
        ),
        "the heads come in reverse order": columns(x, range(0, d_model, d_k)[::-1], d_k),
        "head i begins at column i · num_heads instead of column i · d_k": columns(
            x, range(0, num_heads**2, num_heads), d_k
        ),
        "head i begins at column i instead of column i · d_k": columns(x, range(num_heads), d_k),
        "the first head is never filled": torch.stack(
            [torch.zeros_like(x[..., :d_k]), *x.chunk(num_heads, dim=-1)[1:]], dim=1
        ),
        "the code is that of a tensor with the sequence before the batch": (
            x.reshape(seq_len, batch * num_heads, d_k).transpose(0, 1).reshape(batch, num_heads, seq_len, d_k)
        ),
        "every head gets the first d_k columns": columns(x, [0] * num_heads, d_k),
    }
