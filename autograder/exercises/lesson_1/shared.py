"""What exercises of lesson 1 share."""

from collections.abc import Callable

from torch import Tensor

from autograder import check

Attention = Callable[..., tuple[Tensor, Tensor]]


def attend(answer: Attention, *inputs: Tensor | None, **options: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """What attention returns, having made sure that it is two tensors."""
    output, weights = check.returns("scaled_dot_product_attention(…)", answer(*inputs, **options), "output", "weights")
    return output, weights
