"""Numbers over positions and steps: bars, waves, dials, curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from autograder.draw.picture import PALETTE, WIDTH, Picture, crossings, cycle, styled, times

MOST_LABELLED = 24  # so many bars side by side leave room for a number above each


def bars(
    groups: Mapping[str, Tensor], *, xlabel: str, ylabel: str, rows: int = 1, names: Sequence[str] | None = None
) -> Picture:
    """Small bar charts with a shared vertical axis, their values above the bars where there is room.

    Args:
        groups: title → (n,) values.
        names: what stands below the bars; positions when left out.
    """
    groups = {title: values.detach().cpu() for title, values in groups.items()}
    with styled():
        columns = math.ceil(len(groups) / rows)
        figure = Figure(figsize=(WIDTH, 1.9 * rows + 0.4), layout="constrained")
        all_axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for i, (title, values) in enumerate(groups.items()):
            axes = all_axes[i // columns, i % columns]
            drawn = axes.bar(range(len(values)), values.tolist(), color=PALETTE[0])
            if columns * len(values) <= MOST_LABELLED:
                whole = bool((values == values.round()).all())
                axes.bar_label(drawn, fmt="{:.0f}" if whole else "{:.2f}", fontsize=7.5, padding=1)
                axes.margins(y=0.12)
            axes.set_title(title)
            axes.set_xticks(range(len(values)), names)
            axes.tick_params(axis="x", labelsize=9 if len(values) <= 10 else 7)
        for spare in all_axes.ravel()[len(groups) :]:
            spare.set_axis_off()
        figure.supxlabel(xlabel, fontsize=9)
        figure.supylabel(ylabel, fontsize=9)
    description = "; ".join(f"{title}: {_bars_in_words(values, names)}" for title, values in groups.items())
    return Picture(figure, f"bar charts of {ylabel} by {xlabel}; {description}")


def _bars_in_words(values: Tensor, names: Sequence[str] | None) -> str:
    """All bars that have names, the highest of others."""
    if names is not None:
        return ", ".join(f"{value:.2f} for {name}" for name, value in zip(names, values.tolist(), strict=True))
    return f"highest bar {float(values.max()):.2f}, at {int(values.argmax())}"


def norms(groups: Mapping[str, Tensor]) -> Picture:
    """Mean and standard deviation of each position: a dot, whiskers one deviation long, and its number.

    Args:
        groups: title → (seq_len, d_model) values, statistics over the columns.
    """
    groups = {title: values.detach().cpu().float() for title, values in groups.items()}
    descriptions = []
    with styled():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        all_axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
        for axes, (title, values) in zip(all_axes, groups.items(), strict=True):
            if values.dim() != 2:
                raise ValueError(f"{title!r} should have 2 dimensions, not {values.dim()}; choose one sentence first.")
            means, deviations = values.mean(dim=-1), values.std(dim=-1, correction=0)
            positions = range(len(values))
            axes.axhline(0, color="#BBBBBB", linewidth=1)
            axes.errorbar(
                positions, means.numpy(), deviations.numpy(), fmt="o", markersize=4, color=PALETTE[0], capsize=4
            )
            for position, mean, deviation in zip(positions, means.tolist(), deviations.tolist(), strict=True):
                place = (position, mean + deviation)
                axes.annotate(f"{deviation:.2f}", place, (0, 4), textcoords="offset points", ha="center", fontsize=8)
            axes.set_title(title)
            axes.set_xticks(positions)
            axes.margins(x=0.08, y=0.12)
            descriptions.append(
                f"{title}: means from {means.min():z.2f} to {means.max():z.2f}, "
                f"deviations {', '.join(f'{deviation:.2f}' for deviation in deviations)}"
            )
        figure.supxlabel("position", fontsize=9)
        figure.supylabel("mean ± standard deviation", fontsize=9)
    return Picture(figure, f"mean and standard deviation of the columns, for each position; {'; '.join(descriptions)}")


def waves(table: Tensor, columns: Sequence[int]) -> Picture:
    """Chosen columns of a positional encoding (max_len, d_model) as curves over the position."""
    table = table.detach().cpu().float()
    with styled():
        figure = Figure(figsize=(WIDTH, 1.0 * len(columns) + 0.7), layout="constrained")
        all_axes = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for axes, column, colour in zip(all_axes, columns, cycle(len(columns)), strict=True):
            axes.plot(table[:, column].numpy(), color=colour, marker="o", markersize=2.5, linewidth=1)
            axes.set_ylim(-1.2, 1.2)
            axes.set_ylabel(f"column {column}", rotation=0, ha="right", va="center")
        all_axes[-1].set_xlabel("position")
    description = ", ".join(f"column {column} {times(crossings(table[:, column], 0.0))}" for column in columns)
    return Picture(
        figure, f"columns of the encoding as waves over {len(table)} positions; through 0 goes {description}"
    )


def rotation(d_model: int, pairs: Sequence[int], *, start: int, offset: int) -> Picture:
    """Column pairs of the sinusoidal encoding as hands on a dial, and how far `offset` positions turn each (§3.5).

    Args:
        d_model: width of the encoding.
        pairs: which (sine, cosine) pairs: pair i is the columns 2i and 2i + 1.
        start: the position that the turn begins at.
        offset: how many positions further it ends.
    """
    angles = {pair: 10000.0 ** (-2 * pair / d_model) for pair in pairs}  # radians a position
    with styled():
        figure = Figure(figsize=(WIDTH, WIDTH / len(pairs) + 0.7), layout="constrained")
        all_axes = figure.subplots(1, len(pairs), squeeze=False)[0]
        for axes, (pair, angle) in zip(all_axes, angles.items(), strict=True):
            circle = torch.linspace(0, 2 * math.pi, 100)
            axes.plot(circle.sin().numpy(), circle.cos().numpy(), color="#BBBBBB", linewidth=1)
            for position, colour, marker in ((start, PALETTE[0], "o"), (start + offset, PALETTE[5], "s")):
                sine, cosine = math.sin(position * angle), math.cos(position * angle)
                axes.plot([0, sine], [0, cosine], color=colour, linewidth=2)
                axes.plot(sine, cosine, marker, color=colour, label=f"position {position}")
            turn = torch.linspace(start * angle, (start + offset) * angle, 200)
            axes.plot((0.45 * turn.sin()).numpy(), (0.45 * turn.cos()).numpy(), color="#555555", linewidth=1)
            before, tip = ((0.45 * turn.sin()[i].item(), 0.45 * turn.cos()[i].item()) for i in (-8, -1))
            axes.annotate("", tip, before, arrowprops={"arrowstyle": "-|>", "color": "#555555"})
            turned = math.degrees(offset * angle)
            steps = "1 position turns" if offset == 1 else f"{offset} positions turn"
            axes.set_title(f"pair {pair}, columns {2 * pair} and {2 * pair + 1}:\n{steps} it by {turned:.0f}°")
            axes.set_aspect("equal")
            axes.set_xlabel("sine")
        all_axes[0].set_ylabel("cosine")
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    turns = ", ".join(f"pair {pair} by {math.degrees(offset * angle):.0f}°" for pair, angle in angles.items())
    description = f"from position {start} to {start + offset}, {offset} further, turn {turns}, each on its own dial"
    return Picture(figure, description)


def lines(
    curves: Mapping[str, tuple[Tensor, Tensor]],
    *,
    xlabel: str,
    ylabel: str,
    log_x: bool = False,
    mark_lowest: bool = False,
) -> Picture:
    """Named curves in one plot, told apart by colour and by dash.

    Args:
        curves: name → (x, y), each (n,).
            A single point is a dot.
        log_x: an axis where each step doubles x, with a mark at every point.
        mark_lowest: put a dot at the lowest point of each curve, unless it is an end, and its x and y beside it.
    """
    dashes = ["-", "--", "-.", ":"]
    curves = {name: (x.detach().cpu(), y.detach().cpu()) for name, (x, y) in curves.items()}
    courses = []
    with styled():
        figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
        axes = figure.subplots()
        for i, ((name, (x, y)), colour) in enumerate(zip(curves.items(), cycle(len(curves)), strict=True)):
            axes.plot(
                x.numpy(),
                y.numpy(),
                color=colour,
                linestyle=dashes[i % 4],
                marker="o" if log_x or len(x) == 1 else "",
                label=name,
            )
            ends = f"{name} goes from {float(y[0]):.2g} to {float(y[-1]):.2g}"
            if mark_lowest and 0 < y.argmin() < len(y) - 1:
                at, least = float(x[y.argmin()]), float(y.min())
                text = f"lowest at {at:.2f}: {least:.2f}"
                axes.plot(at, least, "o", color=colour)
                axes.annotate(text, (at, least), (0, 7), textcoords="offset points", ha="center")
                ends += f", {text}"
            courses.append(ends)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if all(y.min() >= 0 for _, y in curves.values()):
            axes.set_ylim(bottom=0)
        if log_x:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(frameon=False)
    return Picture(figure, f"{ylabel} by {xlabel}: {'; '.join(courses)}")
