"""Lesson 2 over generated inputs: splitting and merging heads, and heads folded into the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from autograder import check, parts
from autograder.generated.inputs import DTYPES, device, masks, sizes, some, strided, tensors


def split_heads(answer: Callable[[Tensor, int], Tensor], *, seed: int = 0) -> None:
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
            _learns("split_heads(x, num_heads)", answer, parts.split_heads, x, num_heads)
    one, two = tensors((2, 5, 12), (2, 5, 12), seed=seed)
    _stays("split_heads(x, 3)", lambda x: answer(x, 3), lambda x: parts.split_heads(x, 3), one, two)


def merge_heads(answer: Callable[[Tensor], Tensor], *, seed: int = 0) -> None:
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
            _learns("merge_heads(x)", answer, parts.merge_heads, x)
    one, two = tensors((2, 3, 5, 4), (2, 3, 5, 4), seed=seed)
    _stays("merge_heads(x)", answer, parts.merge_heads, one, two)


def _stays(call: str, answer: Callable[[Tensor], Tensor], right: Callable[[Tensor], Tensor], *xs: Tensor) -> None:
    """A result is still what it was after a second call, and whole numbers stay whole."""
    one, two = xs
    expected, expected_of_two = right(one).clone(), right(two)
    first = answer(one)
    check.close(call, answer(two), expected_of_two)
    check.close(f"`{call}` kept while it is called again", first, expected)
    whole = (10 * one).long()
    heads = answer(whole)
    check.dtype(f"`{call}` of whole numbers", heads, whole.dtype)
    check.equal(f"`{call}` of whole numbers", heads, right(whole))


def _learns(call: str, answer: Callable[..., Tensor], right: Callable[..., Tensor], x: Tensor, *more: int) -> None:
    """The gradient of x is the right one."""
    x = x.detach().clone().requires_grad_()
    expected = right(x, *more)
    output = 1.0 * answer(x, *more)  # a view made without gradients looks as if it had some
    check.gradients_agree(call, output, expected, x=x)


def mended_weights(answer: Callable[[Tensor, Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """The weights of every sentence and head at every size, layout and dtype, with the gradients."""
    ranges = {"batch": (1, 4), "num_heads": (1, 5), "query_len": (1, 7), "key_len": (1, 9), "d_k": (1, 8)}
    for index, size in enumerate(each_smallest(seed, 4, **ranges)):
        batch, num_heads, query_len, key_len, d_k = size.values()
        shapes = (batch, num_heads, query_len, d_k), (batch, num_heads, key_len, d_k)
        query, key = tensors(*shapes, seed=31 * seed + index, dtype=DTYPES[index % 2])
        query, key = (strided(query), strided(key)) if index % 2 else (query, key)
        is_word = masks(seed + index, batch, key_len)
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        case = check.case(query=query, key=key, is_word=is_word)
        with case, check.unchanged(query=query, key=key, is_word=is_word):
            weights = answer(query, key, is_word)
            check.dtype("mended_weights(query, key, is_word)", weights, query.dtype)
            check.close("mended_weights(query, key, is_word)", weights, expected)
    call = "mended_weights(query, key, is_word)"
    for batch in (1, 2):
        query, key = (x.requires_grad_() for x in tensors((batch, 2, 3, 4), (batch, 2, 5, 4), seed=seed))
        is_word = masks(seed, batch, 5)
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        check.gradients_agree(call, answer(query, key, is_word), expected, query=query, key=key)
    device(seed, call, answer, query, key, is_word)
    for large in (30.0, 1e5):  # scores that overflow, or that a mask of −50 or −10,000 does not hide
        query, key = tensors((2, 3, 9, 4), (2, 3, 6, 4), seed=seed, dtype=torch.float64)
        query, is_word = large * query, torch.arange(6) < torch.tensor([[2], [3]])
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        check.close(f"`{call}` with large scores", answer(query, key, is_word), expected)


def each_smallest(seed: int, count: int, **ranges: tuple[int, int]) -> Iterator[dict[str, int]]:
    """Draw sizes as `sizes` does, and such in which one of them alone is at its smallest."""
    ordinary = dict(zip(ranges, range(2, 9), strict=False))
    drawn, alone = sizes(seed, count, **ranges), (ordinary | {name: low} for name, (low, _) in ranges.items())
    yield next(drawn)
    yield from some(seed, alone)
    yield from drawn
