"""What goes on while a model is trained: learning rates and losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from autograder.draw.picture import WIDTH, Picture, cycle, styled

DASHES = ("-", "--", "-.", ":")


def schedule(rates: Mapping[str, Sequence[float] | Tensor]) -> Picture:
    """Learning rates by step, with a dot at each peak, where a warm-up ends (§5.3).

    Args:
        rates: name → the rates of the steps 1, 2, ….

    Raises:
        ValueError: there are no rates.
    """
    curves = _by_step("rates", rates)
    with styled():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots()
        descriptions = []
        for i, ((name, values), colour) in enumerate(zip(curves.items(), cycle(len(curves)), strict=True)):
            axes.plot(_steps(values), values.numpy(), color=colour, linestyle=DASHES[i % 4], label=name)
            at, peak = int(values.argmax()) + 1, float(values.max())
            axes.plot(at, peak, "o", color=colour)
            axes.annotate(
                f"{peak:.3g} at step {at}", (at, peak), (6, 2), textcoords="offset points", color="#333333", fontsize=8
            )
            descriptions.append(f"{name} from {values[0]:.3g} up to {peak:.3g} at step {at}, then to {values[-1]:.3g}")
        _finish(axes, curves, "learning rate")
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
    with styled():
        figure = Figure(figsize=(WIDTH, 2.9 if rates is None else 4.2), layout="constrained")
        axes, *below = figure.subplots(1 if rates is None else 2, 1, sharex=True, squeeze=False)[:, 0]
        for i, ((name, values), colour) in enumerate(zip(curves.items(), cycle(len(curves)), strict=True)):
            axes.plot(_steps(values), values.numpy(), color=colour, linestyle=DASHES[i % 4], label=name)
        axes.axhline(guess, color="#555555", linewidth=1)
        beside = axes.get_yaxis_transform()
        axes.text(1.01, guess, f"a guess:\nlog {tokens} ≈ {guess:.2f}", transform=beside, va="center")
        _finish(axes, curves, ylabel)
        if rates is not None:
            axes.set_xlabel("")
            by_step = _by_step("rates", {"learning rate": rates})
            axes, values = below[0], by_step["learning rate"]
            axes.plot(_steps(values), values.numpy(), color="#555555")
            _finish(axes, by_step, "learning rate")
    courses = [f"{name} {_against(values, guess)}" for name, values in curves.items()]
    if rates is not None:
        peak, at = float(values.max()), int(values.argmax()) + 1
        courses.append(f"below it the learning rate, highest with {peak:.3g} at step {at}")
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


def _by_step(what: str, curves: Mapping[str, Sequence[float] | Tensor]) -> dict[str, Tensor]:
    kept = {name: torch.as_tensor(values).detach().cpu().double() for name, values in curves.items()}
    for name, values in kept.items():
        if values.dim() != 1 or not len(values):
            raise ValueError(f"{what}[{name!r}] should be one number for each step, not {tuple(values.shape)}.")
    if not kept:
        raise ValueError(f"There are no {what}; give a name and its numbers.")
    return kept


def _steps(values: Tensor) -> range:
    return range(1, len(values) + 1)


def _finish(axes: Axes, curves: Mapping[str, Tensor], ylabel: str) -> None:
    axes.set_xlabel("step")
    axes.set_ylabel(ylabel)
    axes.margins(y=0.08)
    axes.set_ylim(bottom=0)
    if len(curves) > 1:
        axes.legend(frameon=False)
