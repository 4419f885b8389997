"""What exercises of lesson 2 share."""

from collections.abc import Callable

from torch import Tensor

from autograder import check


def stays(call: str, answer: Callable[[Tensor], Tensor], right: Callable[[Tensor], Tensor], *xs: Tensor) -> None:
    """A result is still what it was after a second call, and whole numbers stay whole."""
    one, two = xs
    expected, expected_of_two = right(one).clone(), right(two)
    first = answer(one)
    check.close(call, answer(two), expected_of_two)
    check.close(f"`{call}` kept while it is called again", first, expected)
    whole = (10 * one).long()
    heads = answer(whole)
    check.dtype(f"`{call}` of whole numbers", heads, whole.dtype)
    check.equal(f"`{call}` of whole numbers", heads, right(whole))


def learns(call: str, answer: Callable[..., Tensor], right: Callable[..., Tensor], x: Tensor, *more: int) -> None:
    """The gradient of x is the right one."""
    x = x.detach().clone().requires_grad_()
    expected = right(x, *more)
    output = 1.0 * answer(x, *more)  # a view made without gradients looks as if it had some
    check.gradients_agree(call, output, expected, x=x)
