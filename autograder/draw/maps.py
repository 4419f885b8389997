"""Tables of numbers as pictures: attention weights, masks, heads, encodings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from autograder.colours import BLOCKED_ALLOWED, SIGNED, WEIGHTS
from autograder.draw.picture import PALETTE, WIDTH, Picture, crossings, styled, times


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
    with styled():
        figure, all_axes = _panels(len(panels), panels.size(1) / panels.size(2), keys)
        for axes, panel, title in zip(all_axes, panels, titles, strict=True):
            image = _heat_map(axes, panel, WEIGHTS, 0.0, 1.0, figure.get_figwidth() / min(len(panels), 4))
            _name_axes(axes, queries, keys, panel.shape)
            axes.set_title(title)
        figure.colorbar(image, ax=all_axes, label="weight", shrink=0.8)
    alt = f"attention weights, {panels.size(1)} queries (rows) by {panels.size(2)} keys (columns)"
    names = _names(keys, panels.size(2))
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
        alike = len(set(sizes)) == 1
        figure, all_axes = _panels(len(grids), sizes[0][0] / sizes[0][1], keys) if alike else _to_scale(sizes)
        for axes, (name, grid) in zip(all_axes, grids.items(), strict=True):
            axes.imshow(grid.numpy(), cmap=BLOCKED_ALLOWED, vmin=0, vmax=1)
            rows, columns = grid.nonzero(as_tuple=True)
            axes.plot(columns.numpy(), rows.numpy(), "o", color="white", markersize=4)
            _gridlines(axes, grid.shape)
            _name_axes(axes, queries, keys, grid.shape, queries_too=not alike)
            axes.set_title(name)
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
    many = num_heads > 3  # then a panel is too narrow for its title in one line
    with styled():
        height = (0.36 * seq_len + 0.55 + 0.15 * many) * len(layouts) + 0.3
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
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
                gap = "\n" if many else " "
                named = head == 0 or not many
                axes.set_yticks(range(seq_len), [f"row {t}" if named else "" for t in range(seq_len)])
                axes.set_title(f"{title}:{gap}head {head}")
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
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(table.numpy(), cmap=SIGNED, vmin=low, vmax=1, aspect="auto", interpolation="nearest")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        figure.colorbar(image, ax=axes, label="value")
    last = table.size(1) - 1
    changes = [f"{at} {times(crossings(table[:, at], (low + 1) / 2))}" for at in (0, last // 2, last)]
    return Picture(
        figure,
        f"heat map of values from {low} to 1: {xlabel} (0 to {last}) by {ylabel} (0 to {len(table) - 1}); from top to "
        f"bottom it changes its colour in {xlabel} {', in '.join(changes)}",
    )


def _panels(count: int, height_to_width: float, keys: Sequence[str] | None) -> tuple[Figure, Sequence[Axes]]:
    """A row of axes, neither a single one spread over the page nor many squeezed flat, with room for the keys."""
    columns = min(count, 4)
    rows = math.ceil(count / columns)
    width = min(WIDTH / columns, 4.2)
    names = 0.08 * max(map(len, keys)) if keys is not None else 0.0
    height = 0.85 * width * min(height_to_width, 1.4) + names + 0.6
    figure = Figure(figsize=(width * columns, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, list(axes[:count])


def _to_scale(sizes: Sequence[Sequence[int]]) -> tuple[Figure, Sequence[Axes]]:
    """A row of axes for grids of different sizes, all cells equally large."""
    rows, columns = max(size[0] for size in sizes), [size[1] for size in sizes]
    cell = min((WIDTH - 0.7 * len(sizes)) / sum(columns), 0.5)
    figure = Figure(figsize=(WIDTH, cell * rows + 1.0), layout="constrained")
    return figure, figure.subplots(1, len(sizes), width_ratios=columns)


def _heat_map(axes: Axes, values: Tensor, colours: str, low: float, high: float, width: float) -> AxesImage:
    """Draw `values`, with their numbers where a panel `width` inches wide leaves room for them."""
    image = axes.imshow(values.numpy(), cmap=colours, vmin=low, vmax=high)
    room = 0.7 * width / values.size(1)
    if room >= 0.3:
        for (row, column), value in _cells(values):
            dark = (float(value) - low) / (high - low) > 0.6
            colour = "white" if dark else "black"
            axes.text(column, row, f"{float(value):.2f}", ha="center", va="center", fontsize=8, color=colour)
    return image


def _cells(grid: Tensor) -> Iterator[tuple[tuple[int, int], Tensor]]:
    return (((row, column), grid[row, column]) for row in range(grid.size(0)) for column in range(grid.size(1)))


def _gridlines(axes: Axes, size: Sequence[int]) -> None:
    axes.set_xticks([x - 0.5 for x in range(1, size[1])], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, size[0])], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)


def _name_axes(
    axes: Axes,
    queries: Sequence[str] | None,
    keys: Sequence[str] | None,
    size: Sequence[int],
    *,
    queries_too: bool = False,
) -> None:
    """Name rows and columns; the queries only once, at the left, unless they are wanted everywhere."""
    place = axes.get_subplotspec()
    leftmost = queries_too or place is None or place.is_first_col()
    rows, columns = (_names(tokens, length) for tokens, length in zip((queries, keys), size, strict=True))
    axes.set_yticks(range(size[0]), rows if leftmost else [""] * size[0])
    axes.set_xticks(range(size[1]), columns)
    if keys is not None and max(map(len, keys)) > 2:
        axes.tick_params(axis="x", rotation=90 if size[1] > 4 else 45)
    if leftmost:
        axes.set_ylabel("query")
    axes.set_xlabel("key")


def _names(tokens: Sequence[str] | None, length: int) -> Sequence[str]:
    """The tokens on an axis, or their positions."""
    return tokens if tokens is not None else [str(position) for position in range(length)]
