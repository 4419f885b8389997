"""Exercise `cached_attention`: its cases and its slips."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_7.shared import small_transformer
from autograder.exercises.shared import DTYPES, device, possible, sizes, some, strided, tensors

Cache = tuple[Tensor, Tensor] | None


def cached_step(
    answer: Callable[..., Any], newest: Sequence[Tensor], cache: Cache
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Output, keys, values and the cache of one step, having made sure of their form and that the old ones stay."""
    query, key, value = newest
    old_keys, old_values = cache or (key[:, :, :0], value[:, :, :0])
    with check.unchanged(query=query, key=key, value=value, cached_keys=old_keys, cached_values=old_values):
        result = answer(query, key, value, cache)
    pair = isinstance(result, tuple | list) and len(result) == 2
    check.true(pair, "`cached_attention(…)` should return the output and the cache.")
    output, longer = result
    pair = isinstance(longer, tuple | list) and len(longer) == 2
    check.true(pair, "The cache that `cached_attention(…)` returns should be a pair, (keys, values).")
    keys, values = check.returns("cached_attention(…)[1]", longer, "keys", "values")
    return output, keys, values, longer


def cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Token by token it is causal attention, for any sizes; a cache can be used twice, and a model can use it."""
    ranges = {"batch": (1, 3), "num_heads": (1, 4), "length": (1, 20), "d_k": (1, 9)}
    for index, size in enumerate(sizes(seed, 4, **ranges)):
        batch, num_heads, length, d_k = size.values()
        shapes = [(batch, num_heads, length, d_k)] * 3
        query, key, value = tensors(*shapes, seed=31 * seed + index, dtype=DTYPES[index % 2])
        if index % 3 == 2:
            query, key, value = strided(query), strided(key), strided(value)
        expected, cache = F.scaled_dot_product_attention(query, key, value, is_causal=True), None
        all_keys, all_values = key.clone(), value.clone()
        with check.case(tokens=length, query=query[:, :, :1]):
            for t in range(length):
                newest = [x[:, :, t : t + 1] for x in (query, key, value)]
                output, keys, values, cache = cached_step(answer, newest, cache)
                check.dtype(f"the output of token {t}", output, value.dtype)
                check.close(f"the output of token {t}", output, expected[:, :, t : t + 1])
            check.close("the keys in the cache", keys, all_keys)
            check.close("the values in the cache", values, all_values)
    _caches_can_be_used_twice(answer, seed)
    _cached_scores_and_gradients(answer, seed)
    src = data.tokens([5, 3, 4], vocab_size=9, seed=seed)
    model = small_transformer(9, 81 + seed, src, num_layers=2)
    with torch.no_grad():
        model.output_projection.bias[0] = -1e9  # padding that is written would be hidden from what follows
    expected = parts.greedy_decode(model, src, max_len=6, eos_id=-1)
    with torch.no_grad():
        written = parts.cached_greedy_decode(model, src, 6, answer, eos_id=-1)
    check.equal("greedy decoding with the cache", written, expected)


def _cached_scores_and_gradients(answer: Callable[..., Any], seed: int) -> None:
    """Large scores neither overflow nor are cut, and gradients flow to the newest token and to those in the cache."""
    query, key, value = tensors(*[(1, 2, 3, 4)] * 3, seed=seed, dtype=torch.float64)
    for factor in (1.0, 1000.0):
        q, k, v = (x.detach().clone().requires_grad_() for x in (factor * query, key, value))
        expected, cache = F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, 2:], None
        for t in range(3):
            output, *_, cache = cached_step(answer, [x[:, :, t : t + 1] for x in (q, k, v)], cache)
        check.close("`output`, the scores being large" if factor > 1 else "output", output, expected.detach())
        if factor == 1:
            check.gradients_agree("output", output, expected, query=q, key=k, value=v)
    newest = [x[:, :, :1].float() for x in (query, key, value)]
    device(seed, "cached_attention(query, key, value)", answer, *newest)


def _caches_can_be_used_twice(answer: Callable[..., Any], seed: int) -> None:
    """Two ways to go on from the same beginning, which is not changed by either."""
    first = dict(zip(("query", "key", "value"), tensors(*[(1, 1, 1, 4)] * 3, seed=seed), strict=True))
    given = first | {"cache": cached_step(answer, [*first.values()], None)[-1]}
    check.leaves_alone("cached_attention(query, key, value, cache)", answer, given)
    for before in some(seed, (1, 2 + seed % 4, 5)):
        shapes = [(2, 2, before + 2, 6)] * 3
        query, key, value = tensors(*shapes, seed=seed + before)
        cache = None
        for t in range(before):
            *_, cache = cached_step(answer, [x[:, :, t : t + 1] for x in (query, key, value)], cache)
        for t in (before, before + 1):
            kept = [*range(before), t]
            newest = [x[:, :, t : t + 1] for x in (query, key, value)]
            expected = F.scaled_dot_product_attention(newest[0], key[:, :, kept], value[:, :, kept])
            output, *_ = cached_step(answer, newest, cache)
            check.close(f"the output of another token after the same {before} as before", output, expected)


def slips(query: Tensor, keys: Tensor, values: Tensor) -> dict[str, Tensor]:
    """Outputs for the last query (…, 1, d_k) and all keys and values so far (…, length, d_k), the newest last."""

    def attend(keys: Tensor, values: Tensor, scale: float | None = None) -> Tensor:
        return F.scaled_dot_product_attention(query, keys, values, scale=scale)

    newest_key, newest_value, past = keys[..., -1:, :], values[..., -1:, :], keys[..., :-1, :]
    of_keys = torch.cat([past, newest_value], dim=-2)
    slips = {
        "only the newest key is attended to": attend(newest_key, newest_value),
        "keys and values are not in the same order": attend(keys.roll(1, -2), values),
        "keys stand in the place of values": attend(keys, keys),
        "the scores are not divided by √d_k": attend(keys, values, scale=1.0),
        "the scores are divided by d_k, not by √d_k": attend(keys, values, scale=1 / keys.size(-1)),
        "all values are added up, each with the weight 1: the softmax goes over one key, or over another dimension": (
            values.sum(-2, keepdim=True)
        ),
        "`cache[0]`, the keys, stands where the values of the cache should": attend(keys, of_keys),
        "the keys of the cache stand where its values should, and its values where its keys should": attend(
            torch.cat([values[..., :-1, :], newest_key], dim=-2), of_keys
        ),
        "the query is added to the output": query + attend(keys, values),
    }
    if keys.size(-2) > 1:
        left_out = attend(past, values[..., :-1, :])
        slips["the newest key is not attended to (left out, or hidden by a causal mask)"] = left_out
    return possible(slips, attend(keys, values))


def cache_slips(kept: Tensor, others: Tensor) -> dict[str, Tensor]:
    """What may stand where `kept` (…, length, d_k), keys or values, should; `others` are the other ones of the two."""
    slips = {
        "keys and values are exchanged in the cache, or one of them stands for both": others,
        "the newest one is missing: the cache is the one that came": kept[..., :-1, :],
    }
    if kept.size(-2) > 1:
        slips["only the newest one is kept"] = kept[..., -1:, :]
        slips["the newest one stands first"] = kept.flip(-2)
    return slips
