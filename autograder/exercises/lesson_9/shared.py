"""What exercises of lesson 9 share."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder import check

Module = Callable[..., Any]  # a class whose instances are modules


def made(name: str, answer: Module, *given: int, parameters: dict[str, tuple[int, ...]]) -> Any:
    """A module that the answer, called `name`, makes of the sizes `given`; it has these parameters and no others."""
    module = answer(*given)
    check.parameters(f"{name}({', '.join(map(str, given))})", module, parameters)
    return module


def attention_parameters(d_model: int, num_heads: int, num_kv_heads: int) -> dict[str, tuple[int, ...]]:
    """Name → shape of the parameters of a grouped-query attention."""
    kept = num_kv_heads * (d_model // num_heads)
    shapes = {"w_q": (d_model, d_model), "w_k": (kept, d_model), "w_v": (kept, d_model), "w_o": (d_model, d_model)}
    return {f"{layer}.weight": shape for layer, shape in shapes.items()}


def output_and_cache(call: str, result: Any, *names: str) -> tuple[Tensor, Any]:
    """The output of a call that should return it with what it keeps: a pair of tensors, called `names`."""
    pair = isinstance(result, tuple | list) and len(result) == 2
    check.true(pair, f"`{call}` should return two things, the output and the cache.")
    output, kept = result
    if names:
        check.returns(f"{call}[1]", kept, *names)
    return output, kept


def turned(
    x: Tensor, positions: Tensor, *, base: float = 10000.0, halves: bool = False, rates: Tensor | None = None
) -> Tensor:
    """x (…, seq_len, d_k) turned by its positions, by tables of sines and cosines.

    Args:
        halves: column j goes with column j + d_k / 2, not with its neighbour.
        rates: (d_k / 2,) radians a position, where they are not those of RoFormer.
    """
    d_k = x.size(-1)
    if rates is None:
        rates = base ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
    angles = positions.double().unsqueeze(-1) * rates
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1) if halves else (x[..., 0::2], x[..., 1::2])
    left, right = first * cosines - second * sines, first * sines + second * cosines
    return torch.cat([left, right], dim=-1) if halves else torch.stack([left, right], dim=-1).flatten(-2)


def attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    is_causal: bool = True,
    interleaved: bool = True,
    scale: float | None = None,
) -> Tensor:
    """Attention (batch, heads, length, d_k) whose keys and values, fewer heads, are shared by groups of queries.

    Args:
        interleaved: neighbouring heads share; otherwise every num_kv_heads-th does.
        scale: of the scores, 1 / √d_k where there is none.
    """
    groups = query.size(1) // key.size(1)
    if interleaved:
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    else:
        key, value = (x.repeat(1, groups, 1, 1) for x in (key, value))
    scores = query @ key.mT * (scale or 1 / math.sqrt(query.size(-1)))
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + scores.size(-1) - scores.size(-2))
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(-1) @ value
