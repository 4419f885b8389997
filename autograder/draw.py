"""The course's figures: one look, colours that colour-blind readers can tell apart, and a sentence for each picture.

Every function takes tensors and returns a `Picture`, which a notebook shows when it is the last line of a cell.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

WEIGHTS = "Blues"
SIGNED = "PuOr"
BLOCKED_ALLOWED = ListedColormap(["#ECECEC", "#0072B2"])
# Okabe and Ito's palette, made to be told apart by colour-blind readers.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
_STYLE = {"font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False}
_ARROW = {"arrowstyle": "-|>", "color": "#555555"}
_WIDTH = 8.0  # inches, a notebook's text column


class Picture:
    """A drawn figure that a notebook displays as a PNG, with `alt`, what it shows in words, as its plain text.

    Attributes:
        figure: the Matplotlib figure, free to be changed or saved.
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        self.figure = figure
        self.alt = alt

    @cached_property
    def png(self) -> bytes:
        """The image at a notebook's width, a few tens of kilobytes."""
        buffer = io.BytesIO()
        with matplotlib.rc_context(_STYLE):
            self.figure.savefig(buffer, format="png", dpi=96, facecolor="white", metadata={"Software": None})
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.png, {"alt": self.alt}

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"


def attention(
    weights: Tensor,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    *,
    titles: Sequence[str] | None = None,
) -> Picture:
    """Heat maps of attention weights: a row a query, a column a key, dark where the query attends.

    Args:
        weights: (query_len, key_len), or (panels, query_len, key_len) for several side by side.
        queries, keys: the tokens on the axes; positions when left out, and `keys` is `queries` when only that is.
        titles: one for each panel; "head 0", "head 1", … when left out.
    """
    weights = weights.detach().cpu().float()
    panels = weights.unsqueeze(0) if weights.dim() == 2 else weights
    if panels.dim() != 3:
        raise ValueError(f"weights should have 2 or 3 dimensions, not {weights.dim()}; choose one sentence first.")
    keys = keys if keys is not None or panels.size(1) != panels.size(2) else queries
    if titles is None:
        titles = [f"head {i}" for i in range(len(panels))] if weights.dim() == 3 else [""]
    with matplotlib.rc_context(_STYLE):
        figure, all_axes = _panels(len(panels), panels.size(1) / panels.size(2), keys)
        for axes, panel, title in zip(all_axes, panels, titles, strict=True):
            image = _heat_map(axes, panel, WEIGHTS, 0.0, 1.0, figure.get_figwidth() / min(len(panels), 4))
            _name_axes(axes, queries, keys, panel.shape)
            axes.set_title(title)
        figure.colorbar(image, ax=all_axes, label="weight", shrink=0.8)
    alt = f"attention weights, {panels.size(1)} queries (rows) by {panels.size(2)} keys (columns)"
    most = [[keys[int(i)] if keys is not None else str(int(i)) for i in panel.argmax(dim=-1)] for panel in panels]
    shown = zip(titles, most, strict=True) if len(panels) == 2 else [("the first panel", most[0])]
    told = "; ".join(
        f"in {title or 'the first panel'} the rows attend most to {', '.join(row)}" for title, row in shown
    )
    return Picture(figure, f"{alt}; {told}")


def masks(
    named: Mapping[str, Tensor], queries: Sequence[str] | None = None, keys: Sequence[str] | None = None
) -> Picture:
    """Boolean masks side by side: a blue cell with a dot may be attended to, an empty grey one may not.

    Args:
        named: title → mask (query_len, key_len), True = may attend.
    """
    grids = {name: mask.detach().cpu().bool() for name, mask in named.items()}
    for name, grid in grids.items():
        if grid.dim() != 2:
            raise ValueError(
                f"the mask {name!r} should have 2 dimensions, not {grid.dim()}; choose one sentence first."
            )
    keys = keys if keys is not None else queries
    with matplotlib.rc_context(_STYLE):
        first = next(iter(grids.values()))
        figure, all_axes = _panels(len(grids), first.size(0) / first.size(1), keys)
        for axes, (name, grid) in zip(all_axes, grids.items(), strict=True):
            axes.imshow(grid.numpy(), cmap=BLOCKED_ALLOWED, vmin=0, vmax=1)
            rows, columns = grid.nonzero(as_tuple=True)
            axes.plot(columns.numpy(), rows.numpy(), "o", color="white", markersize=4)
            _gridlines(axes, grid.shape)
            _name_axes(axes, queries, keys, grid.shape)
            axes.set_title(name)
    counts = ", ".join(f"{name}: {int(grid.sum())} of {grid.numel()} cells allowed" for name, grid in grids.items())
    return Picture(figure, f"masks, queries as rows and keys as columns; {counts}")


def bars(groups: Mapping[str, Tensor], *, xlabel: str, ylabel: str, rows: int = 1) -> Picture:
    """Small bar charts with a shared vertical axis, one for each title in `groups`: (n,) values."""
    groups = {title: values.detach().cpu() for title, values in groups.items()}
    with matplotlib.rc_context(_STYLE):
        columns = math.ceil(len(groups) / rows)
        figure = Figure(figsize=(_WIDTH, 1.9 * rows + 0.4), layout="constrained")
        all_axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for i, (title, values) in enumerate(groups.items()):
            axes = all_axes[i // columns, i % columns]
            axes.bar(range(len(values)), values.tolist(), color=PALETTE[0])
            axes.set_title(title)
            axes.set_xticks(range(len(values)))
        figure.supxlabel(xlabel, fontsize=9)
        figure.supylabel(ylabel, fontsize=9)
    peaks = "; ".join(f"{title}: highest bar {float(values.max()):.2f}" for title, values in groups.items())
    return Picture(figure, f"bar charts of {ylabel} by {xlabel}; {peaks}")


def heads(layouts: Mapping[str, Tensor], tokens: Sequence[str]) -> Picture:
    """Where each number of a sentence ends up when it is cut into heads; a colour for each token.

    Args:
        layouts: title → (num_heads, seq_len, d_k), holding t · d_model + c for what was token t's column c.
        tokens: seq_len names.
    """
    num_heads, seq_len, d_k = next(iter(layouts.values())).shape
    d_model = num_heads * d_k
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, (0.36 * seq_len + 0.55) * len(layouts) + 0.3), layout="constrained")
        all_axes = figure.subplots(len(layouts), num_heads, squeeze=False)
        for row, (title, layout) in zip(all_axes, layouts.items(), strict=True):
            for head, axes in enumerate(row):
                origin = layout[head].cpu()
                axes.imshow(
                    (origin // d_model).numpy(),
                    cmap=ListedColormap(PALETTE[:seq_len]),
                    vmin=-0.5,
                    vmax=seq_len - 0.5,
                    aspect="auto",
                    alpha=0.55,
                )
                for (t, c), value in _cells(origin):
                    text = f"{tokens[int(value) // d_model]} {int(value) % d_model}"
                    axes.text(c, t, text, ha="center", va="center", fontsize=8)
                _gridlines(axes, origin.shape)
                axes.set_xticks([])
                axes.set_yticks(range(seq_len), [f"row {t}" for t in range(seq_len)])
                axes.set_title(f"{title}: head {head}")
    return Picture(figure, f"which token and column each entry of each head comes from, for {', '.join(layouts)}")


def encoding(table: Tensor, *, low: float = -1, xlabel: str = "column", ylabel: str = "position") -> Picture:
    """Heat map of a positional encoding (max_len, d_model): a row for each position.

    Args:
        table: values between `low` and 1.
    """
    table = table.detach().cpu().float()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 3.4), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(table.numpy(), cmap=SIGNED, vmin=low, vmax=1, aspect="auto", interpolation="nearest")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        figure.colorbar(image, ax=axes, label="value")
    return Picture(
        figure,
        f"heat map of values from {low} to 1: {xlabel} (0 to {table.size(1) - 1}) by {ylabel} (0 to {len(table) - 1})",
    )


def waves(table: Tensor, columns: Sequence[int]) -> Picture:
    """Chosen columns of a positional encoding (max_len, d_model) as curves over the position."""
    table = table.detach().cpu().float()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 1.0 * len(columns) + 0.7), layout="constrained")
        all_axes = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for axes, column, colour in zip(all_axes, columns, _cycle(len(columns)), strict=True):
            axes.plot(table[:, column].numpy(), color=colour, marker="o", markersize=2.5, linewidth=1)
            axes.set_ylim(-1.2, 1.2)
            axes.set_ylabel(f"column {column}", rotation=0, ha="right", va="center")
        all_axes[-1].set_xlabel("position")
    return Picture(figure, f"columns {', '.join(map(str, columns))} of the encoding as waves over the position")


def rotation(d_model: int, pairs: Sequence[int], *, start: int, offset: int) -> Picture:
    """Column pairs of the sinusoidal encoding as hands on a dial, and how far `offset` positions turn each (§3.5).

    Args:
        d_model: width of the encoding.
        pairs: which (sine, cosine) pairs: pair i is the columns 2i and 2i + 1.
        start: the position that the turn begins at.
        offset: how many positions further it ends.
    """
    angles = {pair: 10000.0 ** (-2 * pair / d_model) for pair in pairs}  # radians a position
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, _WIDTH / len(pairs) + 0.7), layout="constrained")
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
            axes.set_title(
                f"pair {pair}, columns {2 * pair} and {2 * pair + 1}:\n{offset} positions turn it by {turned:.0f}°"
            )
            axes.set_aspect("equal")
            axes.set_xlabel("sine")
        all_axes[0].set_ylabel("cosine")
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    turns = ", ".join(f"pair {pair} by {math.degrees(offset * angle):.0f}°" for pair, angle in angles.items())
    return Picture(figure, f"{offset} positions further turn {turns}, each on its own dial")


def flow(layers: Mapping[str, Mapping[str, str]], *, ends: Mapping[str, tuple[str, str]]) -> Picture:
    """What flows where in a layer: sub-layers from bottom to top, each passed by an arrow into its add & norm (§3.1).

    Args:
        layers: name of the layer → name of the sub-layer → what else it takes, in words.
        ends: name of the layer → what goes in at the bottom and what comes out at the top.
    """
    most = max(map(len, layers.values()))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 1.5 * most + 0.7), layout="constrained")
        for axes, (name, sublayers) in zip(
            figure.subplots(1, len(layers), squeeze=False)[0], layers.items(), strict=True
        ):
            for i, (sublayer, beside) in enumerate(sublayers.items()):
                _sublayer(axes, 2.0 * i, i + 1, sublayer, beside)
            top = 2.0 * len(sublayers)
            axes.annotate("", (0, top + 0.35), (0, top - 0.25), arrowprops=_ARROW)
            axes.text(0, -0.62, ends[name][0], ha="center", va="top")
            axes.text(0, top + 0.4, ends[name][1], ha="center", va="bottom")
            axes.set(xlim=(-2.1, 2.3), ylim=(-0.9, 2.0 * most + 0.8), title=name)
            axes.set_axis_off()
    told = "; ".join(f"{name}: {', then '.join(sublayers)}" for name, sublayers in layers.items())
    return Picture(figure, f"{told}; each followed by add & norm, into which its own input passes as well")


def _sublayer(axes: Axes, bottom: float, number: int, name: str, beside: str) -> None:
    box = {"boxstyle": "round,pad=0.35", "linewidth": 0}
    axes.annotate("", (0, bottom + 0.25), (0, bottom - (0.6 if number == 1 else 0.36)), arrowprops=_ARROW)
    axes.annotate("", (0, bottom + 1.2), (0, bottom + 0.6), arrowprops=_ARROW)
    axes.plot([0, -1.35, -1.35], [bottom - 0.12, bottom - 0.12, bottom + 1.45], color=PALETTE[5])
    axes.annotate("", (-0.66, bottom + 1.45), (-1.37, bottom + 1.45), arrowprops=_ARROW | {"color": PALETTE[5]})
    axes.text(0, bottom + 0.42, name, ha="center", va="center", bbox=box | {"facecolor": "#BFDDF0"})
    axes.text(0, bottom + 1.45, f"add & norm {number}", ha="center", va="center", bbox=box | {"facecolor": "#FFE3A8"})
    if beside:
        axes.annotate(
            beside,
            (1.02 if len(name) > 16 else 0.72, bottom + 0.42),
            (1.35, bottom + 0.42),
            va="center",
            arrowprops=_ARROW,
        )


def lines(curves: Mapping[str, tuple[Tensor, Tensor]], *, xlabel: str, ylabel: str, log_x: bool = False) -> Picture:
    """Named curves in one plot, told apart by colour and by dash.

    Args:
        curves: name → (x, y), each (n,).
        log_x: an axis where each step doubles x, with a mark at every point.
    """
    dashes = ["-", "--", "-.", ":"]
    curves = {name: (x.detach().cpu(), y.detach().cpu()) for name, (x, y) in curves.items()}
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, 2.9), layout="constrained")
        axes = figure.subplots()
        for i, ((name, (x, y)), colour) in enumerate(zip(curves.items(), _cycle(len(curves)), strict=True)):
            axes.plot(
                x.numpy(), y.numpy(), color=colour, linestyle=dashes[i % 4], marker="o" if log_x else "", label=name
            )
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if all(y.min() >= 0 for _, y in curves.values()):
            axes.set_ylim(bottom=0)
        if log_x:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(frameon=False)
    ends = "; ".join(f"{name} goes from {float(y[0]):.2g} to {float(y[-1]):.2g}" for name, (_, y) in curves.items())
    return Picture(figure, f"{ylabel} by {xlabel}: {ends}")


def _panels(count: int, height_to_width: float, keys: Sequence[str] | None) -> tuple[Figure, Sequence[Axes]]:
    """A row of axes, neither a single one spread over the page nor many squeezed flat, with room for the keys."""
    columns = min(count, 4)
    rows = math.ceil(count / columns)
    width = min(_WIDTH / columns, 4.2)
    names = 0.08 * max(map(len, keys)) if keys is not None else 0.0
    height = 0.85 * width * min(height_to_width, 1.4) + names + 0.6
    figure = Figure(figsize=(width * columns, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes[:count]


def _heat_map(axes: Axes, values: Tensor, colours: str, low: float, high: float, width: float):
    """Draw `values`, with their numbers where a panel `width` inches wide leaves room for them."""
    image = axes.imshow(values.numpy(), cmap=colours, vmin=low, vmax=high)
    room = 0.7 * width / values.size(1)
    if room >= 0.3:
        for (row, column), value in _cells(values):
            dark = (float(value) - low) / (high - low) > 0.6
            colour = "white" if dark else "black"
            axes.text(column, row, f"{float(value):.2f}", ha="center", va="center", fontsize=8, color=colour)
    return image


def _cells(grid: Tensor):
    return (((row, column), grid[row, column]) for row in range(grid.size(0)) for column in range(grid.size(1)))


def _gridlines(axes: Axes, size: Sequence[int]) -> None:
    axes.set_xticks([x - 0.5 for x in range(1, size[1])], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, size[0])], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)


def _name_axes(axes: Axes, queries: Sequence[str] | None, keys: Sequence[str] | None, size: Sequence[int]) -> None:
    """Name rows and columns; the queries only once, at the left."""
    leftmost = axes.get_subplotspec().is_first_col()
    names = queries if queries is not None else range(size[0])
    axes.set_yticks(range(size[0]), names if leftmost else [""] * size[0])
    axes.set_xticks(range(size[1]), keys if keys is not None else range(size[1]))
    if keys is not None and max(map(len, keys)) > 2:
        axes.tick_params(axis="x", rotation=90 if size[1] > 4 else 45)
    if leftmost:
        axes.set_ylabel("query")
    axes.set_xlabel("key")


def _cycle(count: int) -> list[str]:
    return [PALETTE[i % len(PALETTE)] for i in range(count)]
