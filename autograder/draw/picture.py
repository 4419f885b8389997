"""What every figure shares: how it is shown, its paper and type, and what its colours mean."""

import base64
import html
import io
import os
import sys
import textwrap
from collections.abc import Container, Iterable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from torch import Tensor

from autograder.colours import FAINT, INK, PAPER, QUIET

WIDTH = 7.2  # inches, what Colab's column shows without making it smaller


class Picture:
    """A drawn figure that a notebook displays, with `alt`, what it shows in words.

    JupyterLab and Colab show a PNG without its words, so there it is an HTML image that has them. Where a program runs
    the notebook it is a PNG, which every viewer of a file can show, with the words in the output's metadata.

    Attributes:
        figure: the Matplotlib figure, free to be changed or saved, on light paper that reads on a dark page as well.
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        self.figure = figure
        self.alt = alt
        (width, height), corner = figure.get_size_inches(), 0.08
        shape = (corner, corner), width - 2 * corner, height - 2 * corner, f"round,pad={corner}"
        paper = FancyBboxPatch(*shape, facecolor=PAPER, linewidth=0, zorder=-9, transform=figure.dpi_scale_trans)
        figure.add_artist(paper).set_in_layout(False)

    @cached_property
    def png(self) -> bytes:
        """The image at a notebook's width, a few tens of kilobytes."""
        buffer = io.BytesIO()
        with styled():
            self.figure.savefig(buffer, format="png", dpi=96, facecolor="none", metadata={"Software": None})
        return buffer.getvalue()

    @property
    def html(self) -> str:
        """The image as an `img` element that holds everything it needs."""
        return f'<img alt="{html.escape(self.alt)}" src="data:image/png;base64,{self._base64}">'

    @property
    def _base64(self) -> str:
        return base64.b64encode(self.png).decode()

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if somebody_watches():
            return {"text/html": self.html, "text/plain": repr(self)}, {}
        return {"image/png": self._base64, "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"


def styled() -> AbstractContextManager[None]:
    """Draw in the course's look; a student's own plots keep theirs."""
    font = {"font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 10, "axes.titleweight": "bold"}
    colours = dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color"), QUIET) | {"text.color": INK}
    lines = dict.fromkeys(("axes.edgecolor", "grid.color"), FAINT) | {"lines.linewidth": 2, "axes.axisbelow": True}
    nothing = dict.fromkeys((f"axes.spines.{side}" for side in ("top", "right", "left")), False)
    ticks = {"xtick.labelsize": 9, "ytick.labelsize": 9, "xtick.major.size": 0, "ytick.major.size": 0}
    space = {f"figure.constrained_layout.{side}_pad": 0.12 for side in "wh"} | {"xtick.major.pad": 6}
    ground = {"axes.facecolor": "none", "axes.titlelocation": "left"}
    look: Any = font | colours | lines | nothing | ticks | space | ground
    return matplotlib.rc_context(look)


def sheet(
    height: float, rows: int = 1, columns: int = 1, *, width: float = WIDTH, **options: Any
) -> tuple[Figure, Any]:
    """A figure and its array of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def numbered(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Name both axes in words that need no turning of the head, with quiet lines to read heights from."""
    axes.set(xlabel=xlabel)
    axes.set_ylabel(ylabel, rotation=0, ha="left", va="bottom")
    axes.yaxis.set_label_coords(0, 1.03)
    axes.grid(axis="y")


def entitle(all_axes: Iterable[Axes], titles: Iterable[str], width: float) -> None:
    """Give axes their titles, which may be so many inches wide; all have two lines where one of them needs two."""
    fitting = max(int(11.5 * width), 6)
    long = any(len(title) > fitting for title in titles)
    for axes, title in zip(all_axes, titles, strict=False):
        parts = title.split(", ", 1) if long else [title]
        axes.set_title(",\n".join(textwrap.fill(part, fitting, break_on_hyphens=False) for part in parts))


def somebody_watches() -> bool:
    """Whether a person sees outputs as they come, in JupyterLab, Notebook or Colab, and no program runs the notebook.

    Jupyter's server names the session to the kernels that it starts for a page; nbconvert, nbval and nbgrader start
    theirs without it.
    """
    if "IPython" not in sys.modules or os.environ.get("NBGRADER_EXECUTION"):
        return False
    shell = sys.modules["IPython"].get_ipython()
    has_page = "JPY_SESSION_NAME" in os.environ or "google.colab" in sys.modules
    return has_page and getattr(shell, "kernel", None) is not None


def crossings(values: Tensor, level: float) -> int:
    """How often (n,) values pass from one side of a level to the other."""
    above = values > level
    return int((above[1:] != above[:-1]).sum())


def times(count: int) -> str:
    return "never" if count == 0 else "once" if count == 1 else f"{count} times"
