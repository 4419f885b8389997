"""Exercise `RMSNorm`: its cases and its slips."""

from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_4.shared import positions
from autograder.exercises.lesson_9.shared import Module, made
from autograder.exercises.shared import DTYPES, device, few, possible, strided
from autograder.parts.gpt import rms_norm


def cases(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients for any leading dimensions, layout and dtype, where eps matters and where it does not."""
    check.defaults("RMSNorm", answer, eps=1e-6)
    for index, (x, d_model) in enumerate(positions(seed, 4, d_model=(2, 80), dtypes=DTYPES)):
        norm = made("RMSNorm", answer, d_model, parameters={"weight": (d_model,)})
        data.randomized(norm.to(x.dtype), seed=seed)
        x = 3 * x + 1
        x = strided(x) if index % 2 and x.dim() > 1 else x
        x.requires_grad_()
        for mode, scale in (("train", 1.0), ("eval", 1000.0), ("eval", 1e-3)):
            expected = rms_norm(scale * x, norm.weight, 1e-6)
            with check.case(d_model=d_model, mode=mode, x=scale * x), check.unchanged(x=x, weight=norm.weight):
                output = getattr(norm, mode)()(scale * x)
                check.dtype("norm(x)", output, x.dtype)
                check.close("norm(x)", output, expected.detach(), rtol=1e-4, atol=1e-4)
            if scale == 1.0:
                check.gradients_agree("norm(x)", output, expected, x=x, weight=norm.weight)
    for eps in (1e-6, 1e-2 + few(seed) / 1e4):
        norm = answer(d_model, eps).to(x.dtype)
        small = x.detach() / 30
        with check.case(d_model=d_model, eps=eps, x=small):
            expected = rms_norm(small, norm.weight, eps).detach()
            check.close("norm(x)", norm(small), expected, rtol=1e-4, atol=1e-4)
    data.randomized(norm, seed=seed + 51)
    expected = rms_norm(small, norm.weight, eps).detach()
    check.close("`norm(x)` with other weights", norm(small), expected, rtol=1e-4, atol=1e-4)
    device(seed, "norm(x)", norm, small)
    check.separate("RMSNorm(40)", answer(40), answer(40))


def slips(x: Tensor, weight: Tensor, eps: float) -> dict[str, Tensor]:
    """Normalised values of x (batch, seq_len, d_model), with the parameter `weight` (d_model,)."""
    mean, square = x.mean(-1, keepdim=True), x.square().mean(-1, keepdim=True)
    variance, unbiased = (x.var(-1, correction=correction, keepdim=True) for correction in (0, 1))
    centred, root = x - mean, (square + eps).sqrt()

    def by(divisor: Tensor) -> Tensor:
        return x / divisor * weight

    def over(*dims: int) -> Tensor:
        return by((x.square().mean(dims, keepdim=True) + eps).sqrt())

    slips = {
        "the mean is subtracted first, as in layer norm": centred / (variance + eps).sqrt() * weight,
        "the mean is subtracted from x, and the squares are those of x": centred / root * weight,
        "x is divided by its standard deviation, for which a mean is subtracted": by((variance + eps).sqrt()),
        "x is divided by its standard deviation, made with d − 1": by((unbiased + eps).sqrt()),
        "x is divided by its standard deviation, made with d − 1, and eps is added behind the root": by(
            unbiased.sqrt() + eps
        ),
        "x is divided by its length: the squares are added up instead of averaged, and eps is left out": by(
            x.norm(dim=-1, keepdim=True)
        ),
        "the squares are added up instead of averaged": by((square * x.size(-1) + eps).sqrt()),
        "the root is missing": by(square + eps),
        "the mean of x is squared instead of averaging the squares": by((mean.square() + eps).sqrt()),
        "the absolute values are averaged instead of the squares": by(x.abs().mean(-1, keepdim=True) + eps),
        "x is multiplied by the root instead of divided": x * root * weight,
        "eps is added to the root instead of the mean of the squares": by(square.sqrt() + eps),
        "eps is left out": by(square.sqrt()),
        "eps is fixed at 1e-6, whatever was asked for": by((square + 1e-6).sqrt()),
        "eps is squared": by((square + eps**2).sqrt()),
        "`weight` is not used": x / root,
        "1 is added to `weight`, as where it starts at 0": x / root * (1 + weight),
        "`weight` is added instead of multiplied": x / root + weight,
        "`weight` is divided by, too": x / (root * weight),
        "nothing is divided": x * weight,
        "the mean is taken over the positions, not over the columns": over(1),
        "the mean is taken over the batch, not over the columns": over(0),
        "the mean is taken over positions and columns together": over(1, 2),
        "the mean is taken over everything": over(0, 1, 2),
    }
    return possible(slips, over(-1))
