"""Tables of numbers as pictures: attention weights, masks, heads, encodings."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from autograder.colours import BLOCKED_ALLOWED, INK, OTHER, OWN, PALETTE, PAPER, QUIET, SIGNED, WEIGHTS
from autograder.draw.looks import look
from autograder.draw.picture import WIDTH, Picture, crossings, entitle, sheet, styled, times


def attention(
    weights: Tensor,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    *,
    titles: Sequence[str] | None = None,
) -> Picture:
    """Maps of attention weights: a row a query, a column a key, dark where the query attends.

    A single query is drawn with lines to its keys instead, the wider the more it attends.

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
    names = _names(keys, panels.size(2))
    single, count = panels.size(1) == 1, len(panels)
    with styled():
        if single:
            beside = 2 if count == 4 else min(count, 3)
            figure, all_axes = _grid(count, beside, 0.3 * len(names) + 0.5, cell := WIDTH / beside)
        else:
            figure, all_axes, cell = _panels([panel.shape for panel in panels], names)
        entitle(all_axes, titles, figure.get_figwidth() / (beside if single else min(count, 4)))
        for axes, panel in zip(all_axes, panels, strict=True):
            if single:
                _single(axes, panel[0], _names(queries, 1)[0], names, cell)
                continue
            image = _tiles(axes, panel, cmap=WEIGHTS, vmin=0.0, vmax=1.0)
            written = _write(axes, panel, 72 * cell)
            _name_axes(axes, queries, keys, panel.shape, cell)
        if not single and not written:
            bar = figure.colorbar(image, ax=all_axes, shrink=0.7, aspect=14, ticks=[0, 0.5, 1], label="weight")
            bar.outline.set_visible(False)
    alt = f"attention weights, {panels.size(1)} queries (rows) by {panels.size(2)} keys (columns)"
    shown = list(zip(titles, panels, strict=True))[:4]
    description = "; ".join(f"in {title or 'it'} {_looks(panel, names)}" for title, panel in shown)
    return Picture(figure, f"{alt}; {description}")


def _looks(weights: Tensor, keys: Sequence[str]) -> str:
    """Where the rows look: all weights of a single one, the key with the largest of several."""
    if len(weights) == 1:
        return "the row has " + ", ".join(
            f"{weight:.2f} for {key}" for key, weight in zip(keys, weights[0].tolist(), strict=True)
        )
    return "the rows attend most to " + ", ".join(keys[int(key)] for key in weights.argmax(dim=-1))


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
    with styled():
        sizes = [grid.shape for grid in grids.values()]
        figure, all_axes, cell = _panels(sizes, _names(keys, max(size[1] for size in sizes)))
        entitle(all_axes, grids, min(cell * size[1] for size in sizes) + 0.3)
        for axes, grid in zip(all_axes, grids.values(), strict=True):
            _tiles(axes, grid, cmap=BLOCKED_ALLOWED, vmin=0, vmax=1)
            rows, columns = grid.nonzero(as_tuple=True)
            axes.plot(columns.numpy(), rows.numpy(), "o", color=PAPER, markersize=4)
            _name_axes(axes, queries, keys, grid.shape, cell, queries_too=len(set(sizes)) > 1)
    counts = ", ".join(f"{name}: {int(grid.sum())} of {grid.numel()} cells allowed" for name, grid in grids.items())
    return Picture(figure, f"masks, queries as rows and keys as columns; {counts}")


def heads(layouts: Mapping[str, Tensor], tokens: Sequence[str]) -> Picture:
    """Where each number of a sentence ends up when it is cut into heads; a colour for each token.

    Args:
        layouts: title → (num_heads, seq_len, d_k), holding t · d_model + c for what was token t's column c.
        tokens: seq_len names.
    """
    num_heads, seq_len, d_k = next(iter(layouts.values())).shape
    d_model = num_heads * d_k
    tints = ListedColormap([[1 - 0.35 * (1 - part) for part in to_rgb(colour)] for colour in PALETTE[:seq_len]])
    many = num_heads > 3  # then a panel is too narrow for its title in one line
    with styled():
        height = (0.36 * seq_len + 0.55 + 0.15 * many) * len(layouts) + 0.3
        figure, all_axes = sheet(height, len(layouts), num_heads)
        for row, (title, layout) in zip(all_axes, layouts.items(), strict=True):
            for head, axes in enumerate(row):
                origin = layout[head].cpu()
                _tiles(axes, origin // d_model, cmap=tints, vmin=-0.5, vmax=seq_len - 0.5)
                axes.set_aspect("auto")
                for (t, c), value in np.ndenumerate(origin.numpy()):
                    text = f"{tokens[int(value) // d_model]} {int(value) % d_model}"
                    axes.text(c, t, text, ha="center", va="center", fontsize=9)
                axes.set_xticks([])
                gap = "\n" if many else " "
                axes.set_yticks(range(seq_len), [f"row {t}" if head == 0 else "" for t in range(seq_len)])
                axes.set_title(f"{title}:{gap}head {head}", fontsize=9 if many else 10)
    description = "; ".join(
        f"{title}: row by row, head 0 holds {', '.join(_origins(layout[0], tokens, d_model))}"
        for title, layout in layouts.items()
    )
    return Picture(figure, f"which token and column each entry of {num_heads} heads comes from; {description}")


def _origins(head: Tensor, tokens: Sequence[str], d_model: int) -> list[str]:
    """For each row of a head, the tokens that its entries come from."""
    return [" and ".join(tokens[int(token)] for token in (row // d_model).unique()) for row in head.cpu()]


def encoding(table: Tensor, *, low: float = -1, xlabel: str = "column", ylabel: str = "position") -> Picture:
    """Heat map of a positional encoding (max_len, d_model): a row for each position.

    Args:
        table: values between `low` and 1.
    """
    table = table.detach().cpu().float()
    with styled():
        figure, ((axes,),) = sheet(3.4)
        image = axes.imshow(table.numpy(), cmap=SIGNED, vmin=low, vmax=1, aspect="auto", interpolation="nearest")
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.spines.bottom.set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        bar = figure.colorbar(image, ax=axes, shrink=0.7, aspect=14, ticks=[low, (low + 1) / 2, 1], label="value")
        bar.outline.set_visible(False)
    last = table.size(1) - 1
    changes = [f"{at} {times(crossings(table[:, at], (low + 1) / 2))}" for at in (0, last // 2, last)]
    return Picture(
        figure,
        f"heat map of values from {low} to 1: {xlabel} (0 to {last}) by {ylabel} (0 to {len(table) - 1}); from top to "
        f"bottom it changes its colour in {xlabel} {', in '.join(changes)}",
    )


def _panels(sizes: Sequence[Sequence[int]], keys: Sequence[str]) -> tuple[Figure, Sequence[Axes], float]:
    """Maps beside each other, four at most in a row where all are of one size, and how wide each cell of theirs is."""
    alike = len(set(sizes)) == 1
    beside = min(len(sizes), 4) if alike else len(sizes)
    columns = [size[1] for size in sizes[:beside]]
    width = WIDTH if sum(columns) > 8 else 3.9
    cell = min((width - 0.25 * beside - 0.9 * (1 if alike else beside / 2)) / sum(columns), 0.55)
    names = 0.085 * max(map(len, keys)) if _narrow(keys, cell) else 0.15
    height = cell * max(size[0] for size in sizes) + names + 0.75
    height += 0.2 * (not alike)  # their titles may need two lines
    return *_grid(len(sizes), beside, height, width / beside, width_ratios=columns), cell


def _grid(count: int, beside: int, height: float, width: float, **options: Any) -> tuple[Figure, Sequence[Axes]]:
    """So many axes, of this height and width, some of them beside each other."""
    rows = math.ceil(count / beside)
    figure, all_axes = sheet(rows * height, rows, beside, width=beside * width, **options)
    for axes in all_axes.ravel()[count:]:
        axes.set_axis_off()
    for axes in all_axes.ravel():
        axes.set_anchor("N")
    return figure, list(all_axes.ravel()[:count])


def _narrow(names: Sequence[str], cell: float) -> bool:
    """Whether names are wider than their cells."""
    return max(map(len, names)) > 14 * cell


def _single(axes: Axes, weights: Tensor, query: str, keys: Sequence[str], width: float) -> None:
    """One query and its keys with their weights, joined by lines."""
    middle = (len(keys) - 1) / 2
    size = 11 if width > 2 else 9
    right = 1 - 0.034 * size / 10 * (max(map(len, keys)) + 6) / (width / 2.4)
    left = 0.034 * size / 10 * (len(query) + 1) / (width / 2.4)
    look(axes, weights[None], [(left, middle)], [(right, i) for i in range(len(keys))])
    axes.text(left, middle, f"{query} ", color=OWN, ha="right", va="center", fontsize=size, fontweight="bold")
    for i, (key, weight) in enumerate(zip(keys, weights.tolist(), strict=True)):
        axes.text(right, i, f" {key}", color=OTHER, va="center", fontsize=size)
        axes.text(1, i, _short(weight), color=INK if weight else QUIET, ha="right", va="center", fontsize=size - 1)
    axes.set(xlim=(0, 1), ylim=(len(keys) - 0.5, -0.5))
    axes.set_axis_off()


def _write(axes: Axes, values: Tensor, room: float) -> bool:
    """Write each weight into its cell where `room` points are enough, and say whether they are."""
    size = min(9.0, room / 2.7)
    if size < 7:
        return False
    for (row, column), value in np.ndenumerate(values.numpy()):
        colour = PAPER if value > 0.6 else INK if value else "#858C93"
        axes.text(column, row, _short(float(value)), ha="center", va="center", fontsize=size, color=colour)
    return True


def _short(weight: float) -> str:
    """Two decimals, and a bare 0 for what is exactly that."""
    return f"{weight:.2f}" if weight else "0"


def _tiles(axes: Axes, values: Tensor, **colours: Any) -> QuadMesh:
    """A cell for each value, the first row on top, with gaps between them."""
    edges = [[at - 0.5 for at in range(length + 1)] for length in values.shape]
    axes.set(aspect="equal", ylim=(edges[0][-1], -0.5))
    axes.spines[:].set_visible(False)
    return axes.pcolormesh(
        edges[1], edges[0], values.numpy(), **colours, edgecolors=PAPER, linewidth=2 if len(values) <= 8 else 1
    )


def _name_axes(
    axes: Axes,
    queries: Sequence[str] | None,
    keys: Sequence[str] | None,
    size: Sequence[int],
    cell: float,
    *,
    queries_too: bool = False,
) -> None:
    """Keys above their columns, queries left of their rows; the queries only once unless they are wanted everywhere."""
    place = axes.get_subplotspec()
    leftmost = queries_too or place is None or place.is_first_col()
    rows, columns = (_names(tokens, length) for tokens, length in zip((queries, keys), size, strict=True))
    axes.set_xticks(range(size[1]), columns, color=OTHER, rotation=90 if _narrow(columns, cell) else 0)
    axes.set_yticks(range(size[0]), rows if leftmost else [""] * size[0], color=OWN)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("key", color=OTHER, labelpad=7)
    if leftmost:
        axes.set_ylabel("query", color=OWN)


def _names(tokens: Sequence[str] | None, length: int) -> Sequence[str]:
    """The tokens on an axis, or their positions."""
    return tokens if tokens is not None else [str(position) for position in range(length)]
