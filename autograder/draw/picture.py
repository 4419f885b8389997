"""What every figure shares: how it is shown, its colours and its sizes."""

from __future__ import annotations

import io
from functools import cached_property

import matplotlib
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

WEIGHTS = "Blues"
SIGNED = "PuOr"
BLOCKED_ALLOWED = ListedColormap(["#ECECEC", "#0072B2"])
# Okabe and Ito's palette, made to be told apart by colour-blind readers.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
STYLE = {"font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False}
ARROW = {"arrowstyle": "-|>", "color": "#555555"}
WIDTH = 8.0  # inches, a notebook's text column


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
        with matplotlib.rc_context(STYLE):
            self.figure.savefig(buffer, format="png", dpi=96, facecolor="white", metadata={"Software": None})
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.png, {"alt": self.alt}

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"


def cycle(count: int) -> list[str]:
    return [PALETTE[i % len(PALETTE)] for i in range(count)]
