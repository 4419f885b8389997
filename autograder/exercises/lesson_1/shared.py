"""What exercises of lesson 1 share."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check

Attention = Callable[..., tuple[Tensor, Tensor]]


def attend(answer: Attention, *inputs: Tensor | None, **options: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """What attention returns, having made sure that it is two tensors."""
    output, weights = check.returns("scaled_dot_product_attention(…)", answer(*inputs, **options), "output", "weights")
    return output, weights


def on_own_mask(answer: Attention) -> Attention:
    """The answer, called with a copy of each mask: whether it changes what it is given is told once, elsewhere."""

    def called(*inputs: Tensor | None, **options: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        copied = (each.clone() if each is not None and each.dtype == torch.bool else each for each in inputs)
        return answer(*copied, **options)

    return called
