"""Exercise `pairwise_dots`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import DTYPES, possible, sizes, strided, tensors


def cases(answer: Callable[[Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """Rows of any number and width, with leading dimensions and without, and the gradients of both.

    A batch has two entries at least: what becomes of one alone does not tell by which dimension it was taken.
    """
    for index, size in enumerate(sizes(seed, 5, batch=(2, 4), heads=(1, 3), n=(1, 9), m=(1, 9), d=(1, 12))):
        batch, heads, n, m, d = size.values()
        for leading in ((), (batch, heads), (batch,)):
            x, y = tensors((*leading, n, d), (*leading, m, d), seed=31 * seed + index, dtype=DTYPES[index % 2])
            x, y = (strided(x), strided(y)) if leading and index % 2 else (x, y)
            expected = torch.einsum("...nd,...md->...nm", x, y)
            with check.case(x=x, y=y), check.unchanged(x=x, y=y):
                dots = answer(x, y)
                check.close("pairwise_dots(x, y)", dots, expected, mistakes=slips(x, y))
                check.dtype("pairwise_dots(x, y)", dots, x.dtype)
    x.requires_grad_(), y.requires_grad_()
    expected = torch.einsum("...nd,...md->...nm", x, y)
    check.gradients_agree("pairwise_dots(x, y)", answer(x, y), expected, x=x, y=y)


def slips(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Dot products of the rows of x (…, n, d) and y (…, m, d), as (…, n, m)."""
    dots = x @ y.mT
    slips = {
        "x and y are exchanged": dots.mT,
        "the products are divided by √d, which comes in lesson 1": dots / x.shape[-1] ** 0.5,
        "the rows are brought to length 1 first": dots / (x.norm(dim=-1)[..., None] * y.norm(dim=-1)[..., None, :]),
        "the distance of the rows is taken": (x[..., None, :] - y[..., None, :, :]).norm(dim=-1),
        "the products are averaged over d instead of added up": dots / x.shape[-1],
        "it is a softmax of the products": dots.softmax(dim=-1),
        "`y` is reshaped instead of transposed": x @ y.reshape(*y.shape[:-2], y.shape[-1], y.shape[-2]),
    }
    if x.dim() > 2:
        slips |= {
            "the rows of all entries are paired, as by `torch.inner`, not those of the same entry": torch.inner(x, y),
            "all dimensions of `y` are reversed, as by `.T`; only the last two should be swapped": (
                _product(x, y.permute(*range(y.dim())[::-1]))
            ),
            "the first two dimensions of `y` are swapped instead of the last two": _product(x, y.transpose(0, 1)),
            "the first and the last dimension of `y` are swapped instead of the last two": (
                _product(x, y.transpose(0, -1))
            ),
            "the entries of the first dimension are taken for the rows": _product(x.flatten(1), y.flatten(1).mT),
        }
    return possible(slips, dots)


def sample() -> str:
    """Try a right and a wrong answer where the course was just installed, and return what is said to the wrong one."""
    cases(lambda x, y: torch.einsum("...nd,...md->...nm", x, y))
    try:
        cases(lambda x, y: torch.einsum("...nd,...md->...mn", x, y))
    except check.CheckFailed as failed:
        return failed.slip or failed.verdict
    raise RuntimeError("A wrong answer passed its check.")


def shape_slips(x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Results for the rows of x (n, d) and y (m, d) that have another shape than (n, m)."""
    products = x[:, None] * y
    return {
        "the products are not added up over d": products,
        "the products are added up over the rows of y instead of over d": products.sum(dim=1),
        "the products are added up over the rows of x instead of over d": products.sum(dim=0),
        "x is multiplied with itself": x @ x.mT,
        "y is multiplied with itself": y @ y.mT,
    }


def _product(x: Tensor, y: Tensor) -> Tensor | None:
    """x @ y, where the shapes allow it."""
    try:
        return x @ y
    except RuntimeError:
        return None
