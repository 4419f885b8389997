"""Exercise `attend_one_query`: its cases and its slips."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check
from autograder.exercises.shared import DTYPES, possible, sizes, tensors


def cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Output (d_v,) for query (d_k,), key (key_len, d_k), value (key_len, d_v) of any sizes."""
    for index, size in enumerate(sizes(seed, 5, d_k=(1, 20), key_len=(1, 80), d_v=(1, 6))):
        d_k, key_len, d_v = size.values()
        shapes = (d_k,), (key_len, d_k), (key_len, d_v)
        query, key, value = tensors(*shapes, seed=31 * seed + index, dtype=DTYPES[index % 2])
        expected = F.scaled_dot_product_attention(query[None], key, value, scale=1.0)[0]
        with check.case(query=query, key=key, value=value), check.unchanged(query=query, key=key, value=value):
            output = answer(query, key, value)
            check.shape("output", output, d_v=d_v)
            check.close("output", output, expected)


def slips(query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Outputs for query (d_k,), key (key_len, d_k), value (key_len, d_v)."""
    products = torch.mv(key, query)
    weights, exponentials = products.softmax(dim=0), products.exp()

    def average(scores: Tensor) -> Tensor:
        return scores.softmax(dim=0) @ value

    slips = {
        "the scores weight the values without a softmax": products @ value,
        "the exponentials are not divided by their sum": exponentials @ value,
        "the scores are divided by their sum instead of going through a softmax": (products / products.sum()) @ value,
        "every value counts the same": value.mean(dim=0),
        "only the best-matching value is taken": value[products.argmax()],
        "every weight is 1, as without weights, by a summed softmax, or by a softmax over a dimension of size 1": (
            value.sum(dim=0)
        ),
        "the scores are divided by √d_k, which comes in the next exercise": average(
            products / math.sqrt(query.numel())
        ),
        "the weighted sum is divided by the number of keys once more": weights @ value / len(value),
        "a sigmoid is used instead of the softmax": products.sigmoid() @ value,
        "the softmax is taken of minus the scores": average(-products),
        "the function returns inside the loop, after the first value": weights[0] * value[0],
        "only the last value counts: the loop overwrites the sum": weights[-1] * value[-1],
        "the softmax is taken of the products, before they are added up to scores": (
            (query * key).softmax(dim=0).sum(dim=1) @ value
        ),
        "the softmax is taken twice": average(weights),
        "the scores are minus the squared distances of query and key": average(-(key - query).square().sum(dim=1)),
        "the scores lose their sign before the softmax": average(products.abs()),
        "the scores are cosines: query and key are divided by their lengths": average(
            torch.mv(F.normalize(key, dim=1), F.normalize(query, dim=0))
        ),
        "the first key is left out of the sum": weights[1:] @ value[1:],
        "the last key is left out of the sum": weights[:-1] @ value[:-1],
        "each exponential is divided by the sum so far, before the loop has added them all": (
            (exponentials / exponentials.cumsum(dim=0)) @ value
        ),
        "the exponentials are divided by the largest of them instead of their sum": weights / weights.max() @ value,
        "the scores are divided by the number of keys": average(products / len(key)),
        "the sum over the keys is missing": weights[:, None] * value,
        "the sum runs over the columns of the values instead of the keys": (weights[:, None] * value).sum(dim=1),
        "everything is summed, the columns of the values too": (weights @ value).sum(),
        "the weights average the keys instead of the values": weights @ key,
        "the weights are returned instead of the average": weights,
        "a dimension of size 1 for the query is left over": (weights @ value)[None],
        "the exponentials are divided by the sum of the scores": (exponentials / products.sum()) @ value,
    }
    return possible(slips, weights @ value)
