"""Attention as lines between words."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from torch import Tensor

from autograder.colours import OWN

Place = tuple[float, float]


def look(axes: Axes, weights: Tensor, starts: Sequence[Place], ends: Sequence[Place], *, upright: bool = False) -> None:
    """Join places by lines, the wider and darker the more weight; what has less than 3 % has none.

    Args:
        weights: (starts, ends).
        upright: the lines leave and arrive vertically.
    """
    t = np.linspace(0, 1, 40)[:, None]
    ease, ways, widths, colours = t**2 * (3 - 2 * t), [], [], []
    for i, j in sorted((weights >= 0.03).nonzero().tolist(), key=lambda pair: float(weights[tuple(pair)])):
        start, end, weight = np.array(starts[i]), np.array(ends[j]), float(weights[i, j])
        way = start + (end - start) * np.concatenate([ease, t] if upright else [t, ease], axis=1)
        ways.append(way)
        widths.append(0.6 + 5 * weight)
        colours.append(to_rgba(OWN, 0.15 + 0.75 * weight))
    axes.add_collection(LineCollection(ways, linewidths=widths, colors=colours, capstyle="round"), autolim=False)
