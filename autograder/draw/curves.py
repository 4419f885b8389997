"""Numbers over positions and steps: bars, waves, dials, curves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from torch import Tensor

from autograder.colours import FAINT, OTHER, OWN, PALETTE, PAPER, QUIET
from autograder.draw.picture import WIDTH, Picture, crossings, entitle, numbered, sheet, styled, times

PALE = "#A9CBE2"
MOST_LABELLED = 24  # so many bars side by side leave room for a number above each
DASHES = ("-", "--", "-.", ":")
COLOURS = OWN, OTHER, PALETTE[2], PALETTE[3]


def bars(
    groups: Mapping[str, Tensor], *, xlabel: str, ylabel: str, rows: int = 1, names: Sequence[str] | None = None
) -> Picture:
    """Small bar charts with a shared vertical axis, the highest bars dark, their values above them where there is room.

    Args:
        groups: title → (n,) values.
        names: what stands below the bars; positions when left out.
    """
    groups = {title: values.detach().cpu() for title, values in groups.items()}
    with styled():
        columns = math.ceil(len(groups) / rows)
        figure, all_axes = sheet(1.6 * rows + 0.5, rows, columns, sharey=True)
        entitle(all_axes.ravel(), groups, WIDTH / columns)
        for axes, values in zip(all_axes.ravel(), groups.values(), strict=False):
            colours = [OWN if value > values.max() - 1e-6 else PALE for value in values]
            drawn = axes.bar(range(len(values)), values.tolist(), 0.72, color=colours)
            if (side_by_side := columns * len(values)) <= MOST_LABELLED:
                form = ".0f" if bool((values == values.round()).all()) else ".2f"
                crowded = side_by_side > 12
                said = ["" if crowded and value < 0.005 else f"{value:{form}}" for value in values.tolist()]
                axes.bar_label(drawn, said, fontsize=7.5 if crowded else 9, padding=1)
                axes.margins(y=0.15)
            axes.set_xticks(range(len(values)), names)
            axes.set_yticks([])
        for spare in all_axes.ravel()[len(groups) :]:
            spare.set_axis_off()
        for axes in all_axes[-1]:
            axes.set_xlabel(xlabel)
        figure.supylabel(ylabel, fontsize=10, color=QUIET)
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
        figure, all_axes = sheet(2.8, 1, len(groups), sharey=True)
        entitle(all_axes[0], groups, WIDTH / len(groups))
        for axes, (title, values) in zip(all_axes[0], groups.items(), strict=True):
            if values.dim() != 2:
                raise ValueError(f"{title!r} should have 2 dimensions, not {values.dim()}; choose one sentence first.")
            means, deviations = values.mean(dim=-1), values.std(dim=-1, correction=0)
            positions = range(len(values))
            axes.axhline(0, color=QUIET, linewidth=1)
            axes.errorbar(positions, means.numpy(), deviations.numpy(), fmt="o", color=OWN, capsize=4)
            for position, mean, deviation in zip(positions, means.tolist(), deviations.tolist(), strict=True):
                place = (position, mean + deviation)
                axes.annotate(f"{deviation:.2f}", place, (0, 5), textcoords="offset points", ha="center", fontsize=9)
            axes.set_xticks(positions)
            axes.set_xlabel("position")
            axes.grid(axis="y")
            axes.margins(x=0.08, y=0.12)
            descriptions.append(
                f"{title}: means from {means.min():z.2f} to {means.max():z.2f}, "
                f"deviations {', '.join(f'{deviation:.2f}' for deviation in deviations)}"
            )
        figure.supylabel("mean ± standard deviation", fontsize=10, color=QUIET)
    return Picture(figure, f"mean and standard deviation of the columns, for each position; {'; '.join(descriptions)}")


def waves(table: Tensor, columns: Sequence[int]) -> Picture:
    """Chosen columns of a positional encoding (max_len, d_model) as curves over the position."""
    table = table.detach().cpu().float()
    with styled():
        figure, all_axes = sheet(0.85 * len(columns) + 0.5, len(columns), 1, sharex=True)
        for axes, column in zip(all_axes[:, 0], columns, strict=True):
            axes.axhline(0, color=FAINT, linewidth=1)
            axes.plot(table[:, column].numpy(), "o-", color=OWN, markersize=3, linewidth=1.2)
            axes.set(ylim=(-1.2, 1.2), yticks=[-1, 1])
            axes.set_ylabel(f"column {column}", rotation=0, ha="right", va="center")
            axes.spines.bottom.set_visible(False)
            axes.margins(x=0.01)
        all_axes[-1, 0].set_xlabel("position")
    description = ", ".join(f"column {column} {times(crossings(table[:, column], 0.0))}" for column in columns)
    return Picture(
        figure, f"columns of the encoding as waves over {len(table)} positions; through 0 goes {description}"
    )


def rotation(d_model: int, pairs: Sequence[int], *, start: int, offset: int) -> Picture:
    """Column pairs of the sinusoidal encoding as hands of clocks, and how far `offset` positions turn each (§3.5).

    Args:
        d_model: width of the encoding.
        pairs: which (sine, cosine) pairs: pair i is the columns 2i and 2i + 1.
        start: the position that the turn begins at.
        offset: how many positions further it ends.
    """
    width = min(WIDTH / len(pairs), 2.6)
    angles = {pair: 10000.0 ** (-2 * pair / d_model) for pair in pairs}  # radians a position
    with styled():
        figure, all_axes = sheet(width + 0.3, 1, len(pairs), width=width * len(pairs))
        for axes, (pair, angle) in zip(all_axes[0], angles.items(), strict=True):
            axes.plot(*_at(torch.linspace(0, 2 * math.pi, 100)), color=FAINT, linewidth=1.5)
            for x, y, words in ((1, 0, "sine →"), (0, 1, "cosine ↑")):
                axes.plot([-x, x], [-y, y], color=FAINT, linewidth=1, zorder=0)
                axes.text(1.3 * (x - y), 1.3 * (y - x), words, color=QUIET, fontsize=9, ha="right" if x else "left")
            axes.plot(*_at(angle * torch.arange(start, start + offset + 1)), "o", color=QUIET, markersize=3)
            axes.plot(*(0.4 * _at(torch.linspace(start * angle, (start + offset) * angle, 200))), color=QUIET, lw=1.2)
            before, tip = (0.4 * _at(torch.tensor((start + offset) * angle + back)) for back in (-0.08, 0.0))
            axes.annotate("", tip, before, arrowprops={"arrowstyle": "-|>", "color": QUIET, "shrinkA": 0, "shrinkB": 0})
            for position, colour in ((start, OWN), (start + offset, OTHER)):
                x, y = _at(torch.tensor(position * angle)).tolist()
                axes.plot([0, x], [0, y], color=colour, linewidth=2.5, solid_capstyle="round")
                axes.plot(x, y, "o", color=colour, markersize=6)
                axes.text(1.17 * x, 1.17 * y, position, color=colour, fontweight="bold", ha="center", va="center")
            steps = "1 position turns" if offset == 1 else f"{offset} positions turn"
            turned = f"{steps} it by {math.degrees(offset * angle):.0f}°"
            axes.set_title(f"pair {pair}, columns {2 * pair} and {2 * pair + 1}:\n{turned}", loc="center")
            axes.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.4, 1.4))
            axes.set_axis_off()
    turns = ", ".join(f"pair {pair} by {math.degrees(offset * angle):.0f}°" for pair, angle in angles.items())
    description = f"from position {start} to {start + offset}, {offset} further, turn {turns}, each on its own dial"
    return Picture(figure, description)


def _at(turned: Tensor) -> np.ndarray:
    """Where a hand points that has turned so far from the top, clockwise."""
    return torch.stack([turned.sin(), turned.cos()]).numpy()


def lines(
    curves: Mapping[str, tuple[Tensor, Tensor]],
    *,
    xlabel: str,
    ylabel: str,
    log_x: bool = False,
    mark_lowest: bool = False,
) -> Picture:
    """Named curves in one plot, told apart by colour and by dash, their names beside them.

    Args:
        curves: name → (x, y), each (n,).
            A single point is a dot.
        log_x: an axis where each step doubles x, with a mark at every point.
        mark_lowest: put a dot at the lowest point of each curve, unless it is an end, and its x and y beside it.
    """
    curves = {name: (x.detach().cpu(), y.detach().cpu()) for name, (x, y) in curves.items()}
    with styled():
        figure, ((axes,),) = sheet(2.9)
        courses, marks = [], {}
        for name, (x, y) in curves.items():
            ends = f"{name} goes from {float(y[0]):.2g} to {float(y[-1]):.2g}"
            if mark_lowest and 0 < y.argmin() < len(y) - 1:
                at, least = float(x[y.argmin()]), float(y.min())
                marks[name] = at, least, f"lowest at {at:.2f}: {least:.2f}"
                ends += f", {marks[name][2]}"
            courses.append(ends)
        if log_x:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        if all(y.min() >= 0 for _, y in curves.values()):
            axes.set_ylim(0, ceiling(y for _, y in curves.values()))
        else:
            axes.margins(y=0.15)
        numbered(axes, xlabel, ylabel)
        draw_curves(axes, curves, marks, dots=log_x)
    return Picture(figure, f"{ylabel} by {xlabel}: {'; '.join(courses)}")


def ceiling(values: Iterable[Tensor]) -> float:
    """A height above all curves that leaves room for a name, and that a number which is not finite leaves alone."""
    heights = torch.cat([y.double().flatten() for y in values])
    return 1.14 * max(heights[heights.isfinite()].tolist(), default=0) or 1.0


def draw_curves(
    axes: Axes,
    curves: Mapping[str, tuple[Tensor, Tensor]],
    marks: Mapping[str, tuple[float, float, str]],
    *,
    dots: bool = False,
    level: tuple[float, str] | None = None,
) -> None:
    """Draw named curves, and dots with words on some of them, and put each name where it touches nothing.

    Args:
        curves: name → (x, y), each (n,).
        marks: name → x, y and what is said there.
        level: a height at which a line goes across, and what it is.
    """
    names = []
    if level:
        across = axes.axhline(level[0], color=QUIET, linewidth=1.2)
        names.append((across, axes.text(0, 0, level[1], color=QUIET, in_layout=False)))
    for i, (name, (x, y)) in enumerate(curves.items()):
        look: Any = {
            "color": COLOURS[i % 4],
            "linestyle": DASHES[(i + i // 4) % 4],
            "marker": "o" if dots or len(x) == 1 else "",
        }
        (line,) = axes.plot(x.numpy(), y.numpy(), **look, markersize=5, clip_on=False)
        if len(curves) > 1 or name != axes.get_ylabel():
            names.append((line, axes.text(0, 0, name, color=look["color"], fontweight="bold", in_layout=False)))
        if name in marks:
            *place, said = marks[name]
            (dot,) = axes.plot(*place, "o", color=look["color"], markersize=7)
            names.insert(0, (dot, axes.text(0, 0, said, fontsize=9, in_layout=False)))
    _place(axes, names)


def _place(axes: Axes, names: Sequence[tuple[Line2D, Text]]) -> None:
    """Put each name beside its curve or dot, where it covers nothing and the other curves are far."""
    cast(Figure, axes.figure).draw_without_rendering()
    frame, taken = axes.get_window_extent(), np.empty((0, 4))
    ways = {line: _dots(line) for line in axes.lines}
    dots = np.concatenate(list(ways.values()))
    curves = [line for line in ways if np.size(line.get_xdata()) > 2]
    for line, name in names:
        size = np.array(name.get_window_extent().size)
        steps = [(across, up) for up in (1, -1) for across in (0, 1, -1)]
        middles = np.concatenate([ways[line][::3] + (size / 2 + 5) * step for step in steps])
        low, high = middles - size / 2 - 2, middles + size / 2 + 2
        outside = (low < frame.min).any(axis=1) | (high > frame.max).any(axis=1)
        covered = ((dots >= low[:, None]) & (dots <= high[:, None])).all(axis=2).sum(axis=1)
        for box in taken:
            covered += 50 * ((low < box[2:]) & (high > box[:2])).all(axis=1)
        others = np.concatenate([np.full((1, 2), 1e6), *(ways[other] for other in curves if other is not line)])
        beside = np.maximum(np.maximum(low[:, None] - others, others - high[:, None]), 0)
        far = np.minimum(np.linalg.norm(beside, axis=2).min(axis=1), 60)
        best = (far + 30 * (middles[:, 0] - frame.x0) / frame.width - 100 * covered - 1e6 * outside).argmax()
        name.set(position=axes.transAxes.inverted().transform(middles[best]), ha="center", va="center")
        name.set(transform=axes.transAxes, path_effects=[withStroke(linewidth=3, foreground=PAPER)])
        taken = np.vstack([taken, [*low[best], *high[best]]])


def _dots(line: Line2D) -> np.ndarray:
    """Points on a line, four pixels apart, unless that were very many."""
    corners = line.get_transform().transform(line.get_xydata())
    corners = corners[np.isfinite(corners).all(axis=1)]
    if not len(corners):
        return np.zeros((1, 2))
    length = np.concatenate([[0], np.linalg.norm(np.diff(corners, axis=0), axis=1).cumsum()])
    steps = np.linspace(0, length[-1], min(int(length[-1] / 4) + 1, 400))
    return np.stack([np.interp(steps, length, corners[:, i]) for i in (0, 1)], axis=1)
