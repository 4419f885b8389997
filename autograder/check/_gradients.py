"""Statements about gradients: that they flow back, and which they are."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.check._compare import kind
from autograder.check._errors import CheckFailed
from autograder.check._tensors import close


def gradient_reaches(name: str, source: Tensor, output: Tensor) -> None:
    """Changing `source` a little changes `output`, as far as autograd knows."""
    gradients_reach({name: source}, output)


def gradients_reach(sources: Mapping[str, Tensor], output: Tensor) -> None:
    """Changing each of `sources` a little changes `output`, as far as autograd knows, in one backward pass."""
    if not isinstance(output, Tensor):
        raise CheckFailed(f"The result is no tensor, so nothing could learn from it: {kind(output)}.")
    for name, source in sources.items():
        if not source.requires_grad:
            raise CheckFailed(f"`{name}` is frozen, so it cannot learn: its `requires_grad` is False.")
    gradients: Sequence[Tensor | None] = [None] * len(sources)
    if output.requires_grad:
        weights = torch.linspace(-1.0, 1.0, output.numel(), dtype=output.dtype).reshape(output.shape)
        # Of a sum: where `grad` is given the weights themselves, PyTorch imports SymPy first, in a quarter of a second.
        total = (output * weights.to(output.device)).sum()
        gradients = torch.autograd.grad(total, list(sources.values()), allow_unused=True, retain_graph=True)
    for name, gradient in zip(sources, gradients, strict=True):
        if gradient is not None and gradient.isnan().any():
            raise CheckFailed(f"The gradient that flows back to `{name}` contains NaN.")
        if gradient is not None and not gradient.any():
            raise CheckFailed(
                f"The gradient that flows back to `{name}` is 0 everywhere, so nothing there could learn.",
                slip="The graph leads back to it, but a small change there changes nothing, as where a factor is 0, "
                "something is rounded, or a softmax gives all weight to one key or runs over a single one.",
            )
        if gradient is None:
            raise CheckFailed(
                f"No gradient flows back to `{name}`, so nothing there could learn.",
                slip="Something on the way cuts the graph (`detach`, `.data`, `.item()`, NumPy, `torch.no_grad`) "
                "or leaves it out.",
            )


def gradients_agree(name: str, output: Tensor, expected: Tensor, **sources: Tensor) -> None:
    """The gradients of `output`, called `name`, in each of `sources` are those of `expected`, a right answer's."""
    gradients_reach(sources, output)
    gradients, expected_gradients = (
        torch.autograd.grad(y.pow(3).sum(), list(sources.values()), retain_graph=True) for y in (output, expected)
    )
    for key, gradient, expected_gradient in zip(sources, gradients, expected_gradients, strict=True):
        close(f"the gradient of `{name}` in `{key}`", gradient, expected_gradient, rtol=1e-3, atol=1e-4)
