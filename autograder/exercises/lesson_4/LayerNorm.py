"""Exercise `LayerNorm`: its cases and its slips."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_4.shared import Module, positions
from autograder.exercises.shared import DTYPES, device, possible, sizes, strided, tensors


def value_cases(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients for any leading dimensions, layout and dtype, in training and in evaluation."""
    for index, (x, d_model) in enumerate(positions(seed, 4, d_model=(3, 80), dtypes=DTYPES)):
        norm: Any = answer(d_model)
        check.parameters(f"LayerNorm({d_model})", norm, {"weight": (d_model,), "bias": (d_model,)})
        norm = data.randomized(norm.to(x.dtype), seed=seed)
        x = 3 * x + 1
        x.view(-1)[0] = 30.0  # far out
        x = strided(x) if index % 2 and x.dim() > 1 else x
        x.requires_grad_()
        with check.case(d_model=d_model, x=x):
            for given, mode in ((x, "train"), (2 - x, "train"), (x, "eval")):
                expected = F.layer_norm(given, (d_model,), norm.weight, norm.bias)
                with check.case(d_model=d_model, mode=mode, x=x), check.unchanged(weight=norm.weight, bias=norm.bias):
                    output = getattr(norm, mode)()(given)
                check.dtype("norm(x)", output, x.dtype)
                # In float64 as well: where eps is added is judged by itself.
                check.close("norm(x)", output, expected.detach(), rtol=1e-4, atol=1e-4)
                sources = {"x": x, "weight": norm.weight, "bias": norm.bias}
                check.gradients_agree("norm(x)", output, expected, **sources)
        # Where a mean of squares is too large for a variance to be left over; in float64, where float32 has no digits.
        near, lost = (
            (1000, "a mean of squares has no digits left for their variance")
            if x.dtype == torch.float32
            else (10**6, "in float32, no digits are left for what they differ by")
        )
        far = x.detach() / 10 + near
        expected = F.layer_norm(far.double(), (d_model,), norm.weight.double(), norm.bias.double()).to(x.dtype)
        with check.case(d_model=d_model, mode="eval", x=f"numbers near {near}: {lost}"), check.unchanged(x=far):
            check.close(f"norm(x / 10 + {near})", norm.eval()(far), expected.detach(), atol=2e-2)
    device(seed, "norm(x)", norm, far)
    check.separate("LayerNorm(40)", answer(40), answer(40))


def eps_cases(answer: Module, *, seed: int = 0) -> None:
    """Where x is small, eps makes the answer's own normalised values smaller by what the formula says."""
    check.defaults("LayerNorm", answer, eps=1e-5)
    for index, size in enumerate(sizes(seed, 3, rows=(2, 9), d_model=(4, 80))):
        eps = (1e-5, 1e-3, 1e-4)[index % 3]
        (x,) = tensors((size["rows"], size["d_model"]), seed=31 * seed + index)
        x = x / 100
        norm = answer(size["d_model"], eps)
        expected = small_norm(norm, x, eps)
        with check.case(d_model=size["d_model"], eps=eps, x=x):
            check.close("norm(x)", norm(x), expected)
        if eps == 1e-5:
            check.close("norm(x)", _plain(answer(size["d_model"]))(x), expected)
    # Here a mean that is rounded, by 1e-7, is divided by √eps.
    ones, name = torch.ones(2, 6), "norm(torch.ones(2, 6))"
    check.close(name, _plain(answer(6))(ones), torch.zeros(2, 6), atol=1e-3)


def _plain(norm: Any) -> Any:
    """The norm with a weight of 1 and a bias of 0, with which it should have begun."""
    with torch.no_grad():
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            if isinstance(getattr(norm, name, None), Tensor):
                getattr(norm, name).fill_(value)
    return norm


def small_norm(norm: Callable[[Tensor], Tensor], x: Tensor, eps: float) -> Tensor:
    """What this norm, given a weight of 1 and a bias of 0, should make of small values x (…, d_model).

    Its own values where x is large, and eps plays no part, tell by what it divides: another deviation than the right
    one is judged elsewhere.
    """
    _plain(norm)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    large = 1e4 * x
    right, output = F.layer_norm(large, x.shape[-1:], eps=0.0), norm(large)
    check.dtype("norm(10000 * x)", output, x.dtype)
    own = output.detach()
    check.true(own.shape == x.shape, "The shape of the output is not that of x.")
    scale = float(own.norm() / right.norm())
    check.true(
        0.5 < scale < 1.5 and torch.allclose(own, scale * right, rtol=1e-2, atol=1e-2),
        "Already where x is large, and eps plays no part, the values are wrong.",
        "If the check of the values fails too, start there.",
    )
    deviation: Tensor = (variance / scale**2 + eps).sqrt()
    return centred / deviation


UNBIASED = "the variance is divided by d_model − 1 instead of d_model (`correction=0` is wanted)"
BOTH = "both happen: d_model − 1 in the variance, and eps added to the standard deviation"


def value_slips(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> dict[str, Tensor]:
    """Normalised values of x (batch, seq_len, d_model), with the parameters `weight` and `bias` (d_model,)."""
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    squares, deviation = x.square().mean(-1, keepdim=True), (variance + eps).sqrt()
    centred, off_median = x - mean, x - x.median(-1, keepdim=True).values

    def over(*dims: int) -> Tensor:
        spread = (x.var(dims, correction=0, keepdim=True) + eps).sqrt()
        return weight * (x - x.mean(dims, keepdim=True)) / spread + bias

    def divided_by(divisor: Tensor, values: Tensor = centred) -> Tensor:
        return weight * values / divisor + bias

    slips = possible(
        {
            UNBIASED: divided_by((x.var(-1, keepdim=True) + eps).sqrt()),
            "eps is added to the standard deviation instead of the variance": divided_by(variance.sqrt() + eps),
            BOTH: divided_by(x.std(-1, keepdim=True) + eps),
            "`bias` is divided by the deviation, too": (weight * centred + bias) / deviation,
            "`bias` is multiplied by `weight`, too": weight * (centred / deviation + bias),
            "eps is left out": divided_by(variance.sqrt()),
            "the squares are summed instead of averaged in the variance": divided_by(
                (variance * x.size(-1) + eps).sqrt()
            ),
            "only the mean is divided by the deviation: x − mean needs parentheses": (
                weight * (x - mean / deviation) + bias
            ),
            "only the mean is divided, and only x multiplied by `weight`: x − mean needs parentheses": (
                weight * x - mean / deviation + bias
            ),
            "the root is taken of the standard deviation": divided_by((x.std(-1, keepdim=True) + eps).sqrt()),
            "the root of the variance is missing": divided_by(variance + eps),
            "the variance is squared instead of taking its root": divided_by((variance + eps) ** 2),
            "eps is fixed at 1e-5, whatever was asked for": divided_by((variance + 1e-5).sqrt()),
            "the mean is not subtracted": divided_by(deviation, x),
            "the mean is subtracted nowhere, as in RMSNorm": divided_by((squares + eps).sqrt(), x),
            "the squared mean is added to the mean of the squares instead of subtracted": divided_by(
                (squares + mean.square() + eps).sqrt()
            ),
            "the variance is taken around 0 instead of the mean": divided_by((squares + eps).sqrt()),
            "the median is used instead of the mean": divided_by(
                (off_median.square().mean(-1, keepdim=True) + eps).sqrt(), off_median
            ),
            "the mean of the absolute deviations is used instead of the standard deviation": divided_by(
                centred.abs().mean(-1, keepdim=True) + eps
            ),
            "the values are multiplied by their deviation instead of divided": weight * centred * deviation + bias,
            "the mean is that of each position, and the variance that of everything": divided_by(
                (x.var(correction=0) + eps).sqrt()
            ),
            "`weight` and `bias` are not used": centred / deviation,
            "`weight` and `bias` are exchanged": bias * centred / deviation + weight,
            "`bias` is not used": weight * centred / deviation,
            "`weight` is not used": centred / deviation + bias,
            "the values are not divided by their deviation": weight * centred + bias,
            "mean and variance are taken over the positions, not over the columns": over(1),
            "mean and variance are taken over the batch, not over the columns": over(0),
            "mean and variance are taken over batch and positions, as in batch normalisation": over(0, 1),
            "mean and variance are taken over positions and columns together": over(1, 2),
            "mean and variance are taken over everything": over(0, 1, 2),
        },
        F.layer_norm(x, x.shape[-1:], weight, bias, eps),
    )
    alone, both = (slips.get(slip) for slip in (UNBIASED, BOTH))
    if alone is not None and both is not None and torch.allclose(alone, both, atol=1e-3):
        del slips[BOTH]  # where eps does not show, what is true of both is said
    return slips


def eps_slips(norm: Callable[[Tensor], Tensor], x: Tensor, eps: float) -> dict[str, Tensor]:
    """Values for small x (…, d_model) of a norm whose weight is 1 and bias 0, with the variance that is its own."""
    centred = x - x.mean(-1, keepdim=True)
    large = 1e4 * centred
    own = (F.layer_norm(large, x.shape[-1:], eps=0.0).norm() / norm(1e4 * x).detach().norm()).square()
    variance = own * centred.square().mean(-1, keepdim=True)
    return possible(
        {
            "eps is added to the standard deviation instead of the variance": centred / (variance.sqrt() + eps),
            "eps is left out, or is but a lower limit, as by `clamp` or `max`": centred / variance.sqrt(),
            "eps is squared": centred / (variance + eps**2).sqrt(),
            "eps is fixed at 1e-5, whatever was asked for": centred / (variance + 1e-5).sqrt(),
            "x is normalised twice": centred / (variance + eps * (variance + eps)).sqrt(),
        },
        centred / (variance + eps).sqrt(),
    )
