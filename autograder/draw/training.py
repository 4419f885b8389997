"""What goes on while a model is trained: learning rates and losses."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.colours import QUIET
from autograder.draw.curves import ceiling, draw_curves
from autograder.draw.picture import Picture, numbered, sheet, styled

Curves = dict[str, tuple[Tensor, Tensor]]


def schedule(rates: Mapping[str, Sequence[float] | Tensor]) -> Picture:
    """Learning rates by step, with a dot at each peak, where a warm-up ends (§5.3).

    Args:
        rates: name → the rates of the steps 1, 2, ….

    Raises:
        ValueError: there are no rates.
    """
    curves = _by_step("rates", rates)
    descriptions, peaks = [], {}
    for name, (steps, values) in curves.items():
        at, peak = int(steps[values.argmax()]), float(values.max())
        peaks[name] = at, peak, f"{peak:.3g} at step {at}"
        descriptions.append(f"{name} from {values[0]:.3g} up to {peaks[name][2]}, then to {values[-1]:.3g}")
    with styled():
        figure, ((axes,),) = sheet(2.9)
        numbered(axes, "step", "learning rate")
        axes.set_ylim(0, ceiling(values for _, values in curves.values()))
        draw_curves(axes, curves, peaks)
    return Picture(figure, f"learning rate by step: {'; '.join(descriptions)}")


def loss(
    losses: Mapping[str, Sequence[float] | Tensor],
    *,
    tokens: int,
    ylabel: str = "loss",
    rates: Sequence[float] | Tensor | None = None,
) -> Picture:
    """Losses by step, with a line at log(tokens): the loss of a guess.

    A model below that line has learned something, or has seen the answer.

    Args:
        losses: name → the losses of the steps 1, 2, ….
        tokens: how many tokens a guess chooses from.
        rates: the learning rates of the same steps, drawn below the losses.

    Raises:
        ValueError: there are no losses, or nothing to choose from.
    """
    if tokens < 2:
        raise ValueError(f"tokens={tokens} leaves nothing to guess; give the number of tokens to choose from.")
    curves, guess = _by_step("losses", losses), math.log(tokens)
    courses = [f"{name} {_against(values, guess)}" for name, (_, values) in curves.items()]
    with styled():
        heights = [2] if rates is None else [2, 1]
        figure, all_axes = sheet(1.2 + 0.9 * sum(heights), len(heights), sharex=True, height_ratios=heights)
        axes = all_axes[0, 0]
        numbered(axes, "" if rates is not None else "step", ylabel)
        axes.set_ylim(0, ceiling([torch.tensor([guess]), *(values for _, values in curves.values())]))
        draw_curves(axes, curves, {}, level=(guess, f"a guess: log {tokens} ≈ {guess:.2f}"))
        if rates is not None:
            below = all_axes[1, 0]
            ((steps, values),) = _by_step("rates", {"learning rate": rates}).values()
            numbered(below, "step", "learning rate")
            below.set_ylim(0, ceiling([values]))
            below.plot(steps.numpy(), values.numpy(), color=QUIET)
            courses.append(
                f"below it the learning rate, highest with {values.max():.3g} at step {int(steps[values.argmax()])}"
            )
    return Picture(
        figure,
        f"{ylabel} by step, with a line at log {tokens} ≈ {guess:.2f}, the loss of a guess: {'; '.join(courses)}",
    )


def _against(values: Tensor, guess: float) -> str:
    """How a loss goes, and on which side of a guess it ends; within 3 % of it is neither."""
    course = f"goes from {values[0]:.2f} to {values[-1]:.2f}"
    if values[-1] > 1.03 * guess:
        return f"{course}, above the line"
    if values[-1] > 0.97 * guess:
        return f"{course}, on the line"
    above = (values >= guess).nonzero()
    return f"{course}, below the line from step {int(above[-1]) + 2 if len(above) else 1} on"


def _by_step(what: str, curves: Mapping[str, Sequence[float] | Tensor]) -> Curves:
    kept = {name: torch.as_tensor(values).detach().cpu().double() for name, values in curves.items()}
    for name, values in kept.items():
        if values.dim() != 1 or not len(values):
            raise ValueError(f"{what}[{name!r}] should be one number for each step, not {tuple(values.shape)}.")
    if not kept:
        raise ValueError(f"There are no {what}; give a name and its numbers.")
    return {name: (torch.arange(1, len(values) + 1), values) for name, values in kept.items()}
