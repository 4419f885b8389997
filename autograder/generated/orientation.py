"""Lesson 0 over generated inputs: dot products of pairs, hidden entries, groups, a scale that counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from autograder import check, mistakes
from autograder.generated.inputs import DTYPES, few, masks, sizes, strided, tensors


def pairwise_dots(answer: Callable[[Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """Rows of any number and width, with leading dimensions and without, and the gradients of both."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 4), heads=(1, 3), n=(1, 9), m=(1, 9), d=(1, 12))):
        batch, heads, n, m, d = size.values()
        for leading in ((), (batch,), (batch, heads)):
            x, y = tensors((*leading, n, d), (*leading, m, d), seed=31 * seed + index, dtype=DTYPES[index % 2])
            x, y = (strided(x), strided(y)) if leading and index % 2 else (x, y)
            expected = torch.einsum("...nd,...md->...nm", x, y)
            with check.case(x=x, y=y), check.unchanged(x=x, y=y):
                dots = answer(x, y)
                check.close("pairwise_dots(x, y)", dots, expected, mistakes=mistakes.pairwise_dots(x, y))
                check.dtype("pairwise_dots(x, y)", dots, x.dtype)
    x.requires_grad_(), y.requires_grad_()
    expected = torch.einsum("...nd,...md->...nm", x, y)
    check.gradients_agree("pairwise_dots(x, y)", answer(x, y), expected, x=x, y=y)


def hide(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Scores of any shape and any value in place of them, for `allowed` of every shape that broadcasts to theirs."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 4), rows=(1, 6), columns=(1, 9))):
        batch, rows, columns = size.values()
        dtype = (*DTYPES, torch.bfloat16)[index % 3]
        scores = tensors((batch, rows, columns), seed=31 * seed + index)[0].to(dtype)
        scores = strided(scores) if index % 2 else scores
        for place, shape in enumerate(((batch, rows, columns), (rows, columns), (columns,), (batch, 1, 1), (rows, 1))):
            allowed = masks(seed + index + place, *shape)
            for value in islice((None, 0.0, -1e9, 2.5 + few(seed)), (index + place) % 2, None, 2):
                given = {"scores": scores, "allowed": allowed}
                expected = torch.where(allowed, scores, -torch.inf if value is None else value)
                shown = given if value is None else given | {"value": value}
                with check.case(**shown), check.unchanged(**given):
                    hidden = answer(scores, allowed) if value is None else answer(scores, allowed, value)
                    slip = "A product cannot hide anything: −∞ · 0 is NaN. Choose between two values instead."
                    multiplied = isinstance(hidden, Tensor) and bool(hidden.isnan().any())
                    check.true(not multiplied, "The result holds NaN.", slip)
                    check.dtype("hide(scores, allowed)", hidden, scores.dtype)
                    check.equal("hide(scores, allowed)", hidden, expected)


def hidden_copy(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Where nothing is hidden the result is another tensor as well, and gradients flow through what stays."""
    (scores,) = tensors((2, 3), seed=seed)
    before, everything = scores.clone(), torch.ones(2, 3, dtype=torch.bool)
    hidden = answer(scores, everything)
    hidden.zero_()
    verdict = "The result is no copy: when the check writes 0 into it, `scores` changes as well."
    check.true(torch.equal(scores, before), verdict)
    scores.requires_grad_()
    allowed = torch.tensor([True, False, True])
    hidden, expected = answer(scores, allowed, 0.0), scores.masked_fill(~allowed, 0.0)
    if torch.equal(hidden.nan_to_num(), expected):  # else the check of values says so
        check.gradients_agree("hide(scores, allowed, 0.0)", hidden, expected, scores=scores)


def swap_groups(answer: Callable[[Tensor, int], Tensor], *, seed: int = 0) -> None:
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


def scale_values(answer: Callable[[int], Any], *, seed: int = 0) -> None:
    """x times the factor, for any width and leading dimensions, in both modes, with the gradients of both."""
    for index, each in enumerate(sizes(seed, 4, batch=(1, 4), seq_len=(1, 5), size=(1, 9))):
        batch, seq_len, size = each.values()
        scale = answer(size)
        check.parameters(f"Scale({size})", scale, {"factor": (size,)})
        check.close(f"Scale({size}).factor", scale.factor.detach(), torch.ones(size))
        (factor,) = tensors((size,), seed=seed + index)
        with torch.no_grad():
            scale.factor.copy_(factor)
        for shape in ((size,), (seq_len, size), (batch, seq_len, size)):
            (x,) = tensors(shape, seed=31 * seed + index)
            for training in (True, False):
                with check.case(x=x), check.unchanged(x=x):
                    check.close("scale(x)", scale.train(training)(x), x * factor)
    x.requires_grad_()
    check.gradients_agree("scale(x)", scale(x), x * scale.factor, x=x, factor=scale.factor)


def scale_counts(answer: Callable[[int], Any], *, seed: int = 0) -> None:
    """The count grows by one a call in both modes, each module has its own, and it is saved and loaded."""
    scale, other = answer(3 + seed % 3), answer(3 + seed % 3)
    (x,) = tensors((3, 5, 3 + seed % 3), seed=seed)
    _require_count("at first", scale, 0)
    for calls in range(1, 5 + seed % 3):
        scale.train(calls % 3 > 0)(x)
        counts = {
            "nothing is counted": 0,
            "the count is set to 1 instead of growing": 1,
            "a call counts twice": 2 * calls,
            "the rows of `x` are counted, not the calls": 3 * calls,
        }
        counts |= {"a call in eval mode is not counted": calls - calls // 3}
        _require_count(f"after {calls} call" + "s" * (calls > 1), scale, calls, counts)
    _require_count("in another scale, which was not called", other, 0)
    state = scale.state_dict()
    check.true("calls" in state, "`state_dict()` holds no `calls`, so the count is not saved.")
    check.separate(f"Scale({3 + seed % 3})", scale, other)
    other.load_state_dict(state)
    _require_count("in a scale into which the saved state was loaded", other, calls)
    other(x)
    _require_count("in that scale after one more call", other, calls + 1)


def _require_count(when: str, scale: Any, calls: int, mistaken: Mapping[str, int] | None = None) -> None:
    check.buffer("scale", scale, "calls")
    slips = {slip: torch.tensor(float(count)) for slip, count in (mistaken or {}).items() if count != calls}
    count, expected = check.number("scale.calls", scale.calls), torch.tensor(float(calls))
    check.close(f"`scale.calls` {when}", count, expected, mistakes=slips)
