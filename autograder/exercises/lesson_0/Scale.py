"""Exercise `Scale`: its cases and its slips."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import sizes, tensors


def value_cases(answer: Callable[[int], Any], *, seed: int = 0) -> None:
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


def count_cases(answer: Callable[[int], Any], *, seed: int = 0) -> None:
    """The count grows by one a call in both modes, each module has its own, and it is saved and loaded."""
    size = 7 + seed % 3  # beside 4 rows and 5 positions, in 3 dimensions
    scale, other = answer(size), answer(size)
    (x,) = tensors((4, 5, size), seed=seed)
    _require_count("at first", scale, 0)
    for calls in range(1, 5 + seed % 3):
        scale.train(calls % 3 > 0)(x)
        counts = {
            "nothing is counted": 0,
            "the count is set to 1 instead of growing": 1,
            "a call counts twice": 2 * calls,
            "the rows of `x` are counted, not the calls": 4 * calls,
            "the number of columns is added at each call, not 1": size * calls,
            "a call in eval mode is not counted": calls - calls // 3,
            "only calls in eval mode are counted": calls // 3,
        }
        _require_count(f"(after {calls} call{'s' * (calls > 1)})", scale, calls, counts)
    unlearned = answer(size)
    with torch.no_grad():
        unlearned(x)
    uncounted = {"a call under `torch.no_grad()` is not counted": 0}
    _require_count("after a call under `torch.no_grad()`", unlearned, 1, uncounted)
    _require_count("in another scale, which was not called", other, 0)
    state = scale.state_dict()
    check.true("calls" in state, "`state_dict()` holds no `calls`, so the count is not saved.")
    check.separate(f"Scale({size})", scale, other)
    other.load_state_dict(state)
    _require_count("in a scale into which the saved state was loaded", other, calls)
    other(x)
    _require_count("in that scale after one more call", other, calls + 1)


def _require_count(when: str, scale: Any, calls: int, mistaken: Mapping[str, int] | None = None) -> None:
    check.buffer("scale", scale, "calls")
    slips = {slip: torch.tensor(float(count)) for slip, count in (mistaken or {}).items() if count != calls}
    count, expected = check.number("scale.calls", scale.calls), torch.tensor(float(calls))
    check.close(f"`scale.calls` {when}", count, expected, mistakes=slips)


def slips(x: Tensor, factor: Tensor, calls: int) -> dict[str, Tensor]:
    """Outputs for x (…, size) of a scale with `factor` (size,) in its call of that number."""
    return {
        "`factor` is added instead of multiplied by": x + factor,
        "`factor` is not used": x,
        "x is divided by `factor`": x / factor,
        "`factor` is used twice": x * factor * factor,
        "the output is multiplied by the count, too": x * factor * calls,
    }
