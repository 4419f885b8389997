"""The colours of numbers in figures and in panels, by Matplotlib's names."""

from __future__ import annotations

from matplotlib.colors import ListedColormap

WEIGHTS = "Blues"
SIGNED = "PuOr"
BLOCKED_ALLOWED = ListedColormap(["#ECECEC", "#0072B2"])
