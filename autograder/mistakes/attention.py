"""Slips of lesson 1: attention for one query, scaled dot-product attention, masks."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.mistakes.orientation import possible


def one_query(query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Outputs for query (d_k,), key (key_len, d_k), value (key_len, d_v)."""
    products = torch.mv(key, query)
    weights = products.softmax(dim=0)
    return {
        "the scores weight the values without a softmax": products @ value,
        "the exponentials are not divided by their sum": products.exp() @ value,
        "the scores are divided by their sum instead of going through a softmax": (products / products.sum()) @ value,
        "every value counts the same": value.mean(dim=0),
        "only the best-matching value is taken": value[products.argmax()],
        "the values are summed without their weights": value.sum(dim=0),
        "the scores are divided by √d_k, which comes in the next exercise": (
            (products / math.sqrt(query.numel())).softmax(dim=0) @ value
        ),
        "the weighted sum is divided by the number of keys once more": weights @ value / len(value),
        "a sigmoid is used instead of the softmax": products.sigmoid() @ value,
        "the softmax is taken of minus the scores": (-products).softmax(dim=0) @ value,
        "the function returns inside the loop, after the first value": weights[0] * value[0],
        "only the last value counts: the loop overwrites the sum": weights[-1] * value[-1],
        "the softmax is taken of the products, before they are added up to scores": (
            (query * key).softmax(dim=0).sum(dim=1) @ value
        ),
        "the sum over the keys is missing": weights[:, None] * value,
        "the sum runs over the columns of the values instead of the keys": (weights[:, None] * value).sum(dim=1),
        "everything is summed, the columns of the values too": (weights @ value).sum(),
        "the weights average the keys instead of the values": weights @ key,
        "the weights are returned instead of the average": weights,
        "a dimension of size 1 for the query is left over": (weights @ value)[None],
        "the exponentials are divided by the sum of the scores": (products.exp() / products.sum()) @ value,
    }


def attention_weights(query: Tensor, key: Tensor, value: Tensor | None = None) -> dict[str, Tensor]:
    """Weights for query (…, query_len, d_k) and key (…, key_len, d_k), without a mask.

    Args:
        value: (…, key_len, d_v), whose width somebody may divide by.
    """
    products = torch.einsum("...qd,...kd->...qk", query, key)
    scores = products / math.sqrt(query.size(-1))
    right = scores.softmax(dim=-1)
    slips = _wrong_weights(query, key) | {
        "the softmax is missing": scores,
        "the scale and the softmax are both missing": products,
        "`log_softmax` is used instead of the softmax": scores.log_softmax(dim=-1),
        "every key gets the same weight, whatever the scores": torch.full_like(right, 1 / key.size(-2)),
    }
    if value is not None and value.size(-1) != query.size(-1):
        slips["the scores are divided by √d_v instead of √d_k"] = (products / math.sqrt(value.size(-1))).softmax(-1)
    return slips


def attention_sums(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    """Sums over the keys of `attention_weights`, (…, query_len), where they are not 1."""
    sums = {slip: weights.sum(dim=-1) for slip, weights in attention_weights(query, key).items()}
    return {slip: total for slip, total in sums.items() if not torch.allclose(total, torch.ones_like(total), atol=1e-3)}


def overflowing(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    """Weights by a softmax written out, for scores so large that only some rows survive it."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
    powers, shifted = scores.exp(), (scores - scores.max()).exp()
    return {
        "`exp` of a large score overflows to ∞, and ∞/∞ is NaN: subtract each row's largest score first, or use "
        "`torch.softmax`": powers / powers.sum(dim=-1, keepdim=True),
        "the largest score of all is subtracted: in a row far below it every `exp` is 0, and 0/0 is NaN. Subtract each "
        "row's own, or use `torch.softmax`": shifted / shifted.sum(dim=-1, keepdim=True),
    }


def attention_output(query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Outputs for query (…, query_len, d_k), key (…, key_len, d_k), value (…, key_len, d_v), without a mask."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
    right = scores.softmax(dim=-1)
    return {slip: weights @ value for slip, weights in _wrong_weights(query, key).items()} | {
        "the weights average the keys instead of the values": right @ key,
        "the scores weight the values without a softmax": scores @ value,
        "every value counts the same": value.mean(dim=-2, keepdim=True).expand_as(right @ value),
    }


def attention_mask(query: Tensor, key: Tensor, mask: Tensor, free: Tensor) -> dict[str, Tensor]:
    """Weights for wrong uses of `mask`, bool (…, query_len, key_len), True = may attend.

    Args:
        free: (…, query_len, key_len), the answer's own weights without a mask, which may be wrong in themselves.
    """
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
    slips = {
        "the mask is not used": free,
        "the mask is read the wrong way round (True = may attend)": free * ~mask / (free * ~mask).sum(-1, keepdim=True),
        "a blocked score becomes 0, or nearly 0, and exp(0) = 1 still is a weight": (scores * mask).softmax(dim=-1),
        "the mask is added to the scores as 0 and 1": (scores + mask.to(scores)).softmax(dim=-1),
        "blocked scores get −1 instead of a large negative number": torch.where(mask, scores, -1.0).softmax(dim=-1),
        "blocked scores get −10 instead of a large negative number": torch.where(mask, scores, -10.0).softmax(dim=-1),
        "blocked weights are set to 0 after the softmax, so that a row no longer sums to 1": free * mask,
        "blocked weights are set to 0 after the softmax, and then each row is divided by its sum: where a blocked key "
        "scores far higher than the others, these are 0 already, and 0/0 is NaN": free
        * mask
        / (free * mask).sum(-1, keepdim=True),
    }
    slips["blocked weights become −∞ after the softmax, where a score should"] = free.masked_fill(~mask, -torch.inf)
    lowered = "blocked scores are lowered by too little: in a trained model scores lie more than 100 apart"
    slips[lowered] = (scores - 50 * mask.logical_not()).softmax(dim=-1)
    return possible(slips, scores.masked_fill(mask.logical_not(), -torch.inf).softmax(dim=-1))


def attention_dropout(
    query: Tensor, key: Tensor, value: Tensor, weights: Tensor, dropout: Callable[[Tensor], Tensor]
) -> dict[str, dict[str, Tensor]]:
    """Slips of `dropout`, for both results: {"weights": {slip: values}, "output": {slip: values}}.

    Args:
        weights: (…, query_len, key_len), the answer's own without dropout.
    """
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
    early = dropout(scores).softmax(dim=-1)
    never, before = "dropout is not applied to them", "dropout acts on the scores, before the softmax"
    twice, again = "dropout is applied twice", "the weights are divided by their sum once more after dropout"
    shared = dropout(weights) / dropout(weights).sum(dim=-1, keepdim=True)
    return {
        "weights": {never: weights, before: early, twice: dropout(dropout(weights)), again: shared},
        "output": {
            "the output is made from the weights before dropout": weights @ value,
            "dropout acts on the output instead of the weights": dropout(weights @ value),
            before: early @ value,
            twice: dropout(dropout(weights)) @ value,
            again: shared @ value,
        },
    }


def _wrong_weights(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    products = torch.einsum("...qd,...kd->...qk", query, key)
    scores = products / math.sqrt(query.size(-1))
    slips = {slip: (products * scale).softmax(dim=-1) for slip, scale in _wrong_scales(query, key).items()}
    slips["the softmax runs over the queries instead of the keys"] = scores.softmax(dim=-2)
    slips["the exponentials are not divided by their sum"] = scores.exp()
    slips["all exponentials are divided by one sum, over every row and sentence, instead of their own row's"] = (
        scores.flatten().softmax(dim=0).reshape(scores.shape)
    )
    slips["a sigmoid is used instead of the softmax"] = scores.sigmoid()
    slips["the softmax is taken of minus the scores"] = (-scores).softmax(dim=-1)
    slips["the softmax is taken twice"] = scores.softmax(dim=-1).softmax(dim=-1)
    best = scores.argmax(dim=-1)
    slips["each query takes its best-matching key alone, without a softmax"] = F.one_hot(best, key.size(-2)).to(scores)
    slips["the scores are not scaled, and the softmax runs over the queries"] = products.softmax(dim=-2)
    cosines = torch.einsum("...qd,...kd->...qk", F.normalize(query, dim=-1), F.normalize(key, dim=-1))
    slips["the scores are cosines: query and key are divided by their lengths"] = cosines.softmax(dim=-1)
    if query.dim() > 2:
        slips["the softmax runs over the first dimension, the batch"] = scores.softmax(dim=0)
    if query.dim() > 3:
        slips["the softmax runs over the heads instead of the keys"] = scores.softmax(dim=1)
    return slips


def _wrong_scales(query: Tensor, key: Tensor) -> dict[str, float]:
    d_k = query.size(-1)
    scales = {
        "the scores are not divided by √d_k": 1.0,
        "the scores are divided by d_k instead of √d_k": 1 / d_k,
        "the scores are multiplied by √d_k instead of divided": math.sqrt(d_k),
        "the root is written `d_k ** 1 / 2`, which is d_k / 2": 2 / d_k,
        "the scores are divided by √key_len instead of √d_k": 1 / math.sqrt(key.size(-2)),
        "the scores are divided by √query_len instead of √d_k": 1 / math.sqrt(query.size(-2)),
        "the root is taken twice: the scores are divided by √(√d_k)": d_k**-0.25,
    }
    if query.dim() > 2:
        scales["the scores are divided by the root of the batch size instead of √d_k"] = 1 / math.sqrt(query.size(0))
    for squared in (64, 8):
        if not any(math.isclose(scale, squared**-0.5) for scale in scales.values()):
            scales[f"the scores are divided by a fixed number, √{squared}, instead of √d_k"] = squared**-0.5
    return {slip: scale for slip, scale in scales.items() if not math.isclose(scale, 1 / math.sqrt(d_k))}


def padding_mask(tokens: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Masks for tokens (batch, seq_len) as (batch, 1, 1, seq_len)."""
    right = torch.ne(tokens, pad_id)[:, None, None, :]
    slips = {
        "True marks the padding instead of the real tokens": ~right,
        "every row uses the mask of the first": right[:1].expand_as(right),
        "nothing is masked": torch.ones_like(right),
    }
    if pad_id != 0:
        slips["the pad id is taken to be 0 instead of `pad_id`"] = torch.ne(tokens, 0)[:, None, None, :]
        slips["an id counts as real when it is greater than `pad_id`"] = torch.gt(tokens, pad_id)[:, None, None, :]
    return possible(slips, right)


def causal_mask(size: int) -> dict[str, Tensor]:
    """Masks of (size, size)."""
    everything = torch.ones(size, size, dtype=torch.bool)
    right = everything.tril()
    slips = {
        "True marks the future, which must be blocked (True = may attend)": ~right,
        "the triangle is upside down: position i sees itself and the future": right.mT,
        "a position does not see itself": everything.tril(-1),
        "a position sees one token into the future": everything.tril(1),
        "a position sees only itself": torch.eye(size, dtype=torch.bool),
        "a position sees only itself and the one before it": right.triu(-1),
        "nothing is masked": everything,
        "it holds what is added to scores, 0 and −∞, instead of True and False": (
            torch.zeros(size, size).masked_fill(right.logical_not(), -torch.inf)
        ),
    }
    return possible(slips, right)


def decoder_mask(tokens: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Masks for tokens (batch, seq_len) as (batch, 1, seq_len, seq_len).

    Rows of padding queries are free, as long as each allows some key.
    """
    real = torch.ne(tokens, pad_id)
    past = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()
    right = real[:, None, None, :] & past
    slips = {
        "either rule is enough (`or`) instead of both (`and`)": real[:, None, None, :] | past,
        "only the padding is masked": real[:, None, None, :] & torch.ones_like(past),
        "the padding mask is turned round": real.logical_not()[:, None, None, :] & past,
        "only the future is blocked; padding may not be seen either, whether or not it also blocks its own rows": (
            past.expand_as(right)
        ),
        "True marks what is blocked (True = may attend)": ~right,
        "the triangle is upside down: position i sees itself and the future": real[:, None, None, :] & past.mT,
        "a position does not see itself": real[:, None, None, :] & past.tril(-1),
        "every row uses the padding of the first": right[:1].expand_as(right),
    }
    if pad_id != 0:
        slips["the pad id is taken to be 0 instead of `pad_id`"] = torch.ne(tokens, 0)[:, None, None, :] & past
    return possible(slips, right)


def nearby_attention(x: Tensor) -> dict[str, Tensor]:
    """Causal weights for x (seq_len, d) that lose, besides the bug, what was right in the hunt's code."""
    places = torch.arange(len(x)).to(x)
    distance = places[:, None] - places
    products = torch.einsum("qd,kd->qk", x, x)
    scores, near = products / math.sqrt(x.size(1)), distance / 4
    slips = {
        "the distance is added instead of subtracted, so that far words count more": scores + near,
        "the distance is no longer subtracted": scores,
        "the whole distance is subtracted instead of a quarter": scores - distance,
        "the scores are no longer divided by √d": products - near,
    }
    future = distance < 0
    slips = {slip: values.masked_fill(future, -torch.inf).softmax(dim=1) for slip, values in slips.items()}
    scores = scores - near
    down = scores.masked_fill(future, -torch.inf).softmax(dim=0)
    backward = scores.masked_fill(distance > 0, -torch.inf)
    return slips | {
        "the softmax still runs down the columns, over the queries": down,
        "the softmax still runs down the columns, and the rows are divided by their sums afterwards": (
            down / down.sum(dim=1, keepdim=True)
        ),
        "no future word is hidden": scores.softmax(dim=1),
        "the distance has lost its sign, so that `distance < 0` hides nothing": (
            (products / math.sqrt(x.size(1)) - near.abs()).softmax(dim=1)
        ),
        "a word does not see itself, so that the first sees nothing": (
            scores.masked_fill(distance <= 0, -torch.inf).softmax(dim=1)
        ),
        "the future is hidden after the softmax instead of before it": scores.softmax(dim=1).masked_fill(future, 0.0),
        "the future's scores become 0, and exp(0) = 1 still is a weight": scores.masked_fill(future, 0.0).softmax(
            dim=1
        ),
        "the distance is turned round: the key's place minus the query's": (
            (scores + 2 * near).masked_fill(distance > 0, -torch.inf).softmax(dim=1)
        ),
        "the softmax still runs over the queries, and the weights are transposed": down.T,
        "the past is hidden instead of the future": backward.softmax(dim=1),
        "the past is hidden instead of the future, and the softmax still runs over the queries": backward.softmax(0),
    }


def nearby_leaks(x: Tensor, right: Tensor) -> dict[str, Tensor]:
    """The first outputs for x (seq_len, d), as many as are `right`, with the slips of `nearby_attention`."""
    outputs = {slip: (weights @ x)[: len(right)] for slip, weights in nearby_attention(x).items()}
    return possible(outputs, right)
