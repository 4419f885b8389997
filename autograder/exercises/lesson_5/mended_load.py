"""Exercise `mended_load`: its cases and its slips."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import sizes, tensors


def cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Ends of any size, saved in any order, are loaded with one parameter for both, and `saved` stays as it is."""
    for index, size in enumerate(sizes(seed, 3, vocab_size=(1, 40), d_model=(1, 9))):
        vocab_size, d_model = size.values()
        table, bias = tensors((vocab_size, d_model), (vocab_size,), seed=31 * seed + index)
        saved = {"output.bias": bias, "output.weight": table.clone(), "embedding.weight": table}
        if index % 2:
            saved = dict(reversed(saved.items()))
        with check.case(**size), check.unchanged(**{name.replace(".", "_"): value for name, value in saved.items()}):
            check.leaves_alone("mended_load(saved, …)", answer, {"saved": dict(saved), **size})
            ends, others = (answer(dict(saved), vocab_size, d_model) for _ in range(2))
            one = ends.output.weight is ends.embedding.weight
            check.true(one, "`ends.output.weight` and `ends.embedding.weight` are not one parameter.")
            check.separate("mended_load(saved, …)", ends, others)
            check.close("ends.output.weight", ends.output.weight, table)
            check.close("ends.output.bias", ends.output.bias, bias)
            names = [name for name, value in ends.named_parameters() if value.requires_grad]
            check.true(len(names) == 2, f"{len(names)} parameters are trained; there should be two.")


def slips(table: Tensor, bias: Tensor, words: Tensor) -> dict[str, Tensor]:
    """Gradients of a matrix that embedding and output layer should share, each with one of its own instead.

    Args:
        table: (vocab_size, d_model), the numbers of both.
        words: (batch,), of which the logits' log-sum-exp is taken.
    """
    embedding, output = (table.clone().requires_grad_() for _ in range(2))
    total = (embedding[words] @ output.T + bias).logsumexp(-1).sum()
    first, second = torch.autograd.grad(total, (embedding, output))
    return {
        "the output layer keeps its part of the gradient to itself": first,
        "the embedding keeps its part of the gradient to itself": second,
    }
