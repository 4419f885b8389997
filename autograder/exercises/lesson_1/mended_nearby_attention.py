"""Exercise `mended_nearby_attention`: its cases and its slips."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check
from autograder.exercises.lesson_1.shared import Attention, attend
from autograder.exercises.shared import device, possible, sizes, tensors


def cases(answer: Attention, *, seed: int = 0) -> None:
    """Output and weights of the hunt's attention for x of any size, with its gradient and on its device."""
    for index, size in enumerate(sizes(seed, 3, seq_len=(1, 40), d=(1, 6))):
        seq_len, d = size.values()
        (x,) = tensors((seq_len, d), seed=31 * seed + index)
        expected = _weights(x)
        with check.case(x=x), check.unchanged(x=x):
            output, weights = attend(answer, x.clone().requires_grad_())
            check.close("weights", weights, expected)
            check.close("output", output, expected @ x)
    (x,) = tensors((4, 3), seed=seed)
    x.requires_grad_()
    check.gradients_agree("output", attend(answer, x)[0], _weights(x) @ x, x=x)
    device(seed, "mended_nearby_attention(x)", answer, torch.ones(3, 2))


def _weights(x: Tensor) -> Tensor:
    """The right weights for x (seq_len, d)."""
    places = torch.arange(float(len(x)))
    bias = (places - places[:, None]) / 4 + torch.full((len(x), len(x)), -torch.inf).triu(1)
    return F.scaled_dot_product_attention(x, x, torch.eye(len(x)), attn_mask=bias)


def slips(x: Tensor) -> dict[str, Tensor]:
    """Causal weights for x (seq_len, d) that lose, besides the bug, what was right in the hunt's code."""
    places = torch.arange(len(x)).to(x)
    distance = places[:, None] - places
    products = torch.einsum("qd,kd->qk", x, x)
    scores, near = products / math.sqrt(x.size(1)), distance / 4
    future, right = distance < 0, scores - near
    of_scores = {
        "the distance is added instead of subtracted, so that far words count more": scores + near,
        "the distance is no longer subtracted": scores,
        "the whole distance is subtracted instead of a quarter": scores - distance,
        "half the distance is subtracted instead of a quarter": scores - distance / 2,
        "the scores are divided by √seq_len instead of √d": products / math.sqrt(len(x)) - near,
        "the scores are divided by d instead of √d": products / x.size(1) - near,
        "the scores are no longer divided by √d": products - near,
    }
    hidden = right.masked_fill(future, -torch.inf)
    down, backward = hidden.softmax(dim=0), right.masked_fill(distance > 0, -torch.inf)
    return {slip: values.masked_fill(future, -torch.inf).softmax(dim=1) for slip, values in of_scores.items()} | {
        "the softmax still runs down the columns, over the queries": down,
        "the softmax still runs down the columns, and the rows are divided by their sums afterwards": (
            down / down.sum(dim=1, keepdim=True)
        ),
        "no future word is hidden": right.softmax(dim=1),
        "the distance has lost its sign, so that `distance < 0` hides nothing": (scores - near.abs()).softmax(dim=1),
        "a word does not see itself, so that the first sees nothing": (
            right.masked_fill(distance <= 0, -torch.inf).softmax(dim=1)
        ),
        "the future is hidden after the softmax instead of before it": right.softmax(dim=1).masked_fill(future, 0.0),
        "the future's scores become 0, and exp(0) = 1 still is a weight": right.masked_fill(future, 0.0).softmax(dim=1),
        "the distance is turned round, the key's place minus the query's, or the softmax still runs over the queries, "
        "and the weights are transposed, which comes to the same": down.T,
        "the weights are those of the right rows, transposed": hidden.softmax(dim=1).T,
        "one softmax runs over all rows and columns": hidden.flatten().softmax(dim=0).view_as(scores),
        "the past is hidden instead of the future": backward.softmax(dim=1),
        "the past is hidden instead of the future, and the softmax still runs over the queries": backward.softmax(0),
    }


def leak_slips(x: Tensor, right: Tensor) -> dict[str, Tensor]:
    """The first outputs for x (seq_len, d), as many as are `right`, with the slips of `nearby_attention`."""
    outputs = {slip: (weights @ x)[: len(right)] for slip, weights in slips(x).items()}
    return possible(outputs, right)
