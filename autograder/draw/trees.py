"""How a beam search branches."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from autograder.colours import INK, OTHER, OWN, PAPER
from autograder.draw.picture import Picture, sheet, styled

Beginning = tuple[str, ...]
_GROUND = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
_BEST, _GREEDY, _LIVES, _DROPPED = OWN, OTHER, INK, "#9AA0A6"


def beam(steps: Sequence[Mapping[Beginning, float]], *, greedy: Sequence[str] = (), begin: str = "BOS") -> Picture:
    """The beginnings that a beam keeps, a column a step and the best on top, each with its probability.

    Blue leads to what is written at the end, orange to what greedy decoding writes; pale ones lead nowhere.

    Args:
        steps: for each step beginning → probability, the best first; one that has ended stays as it is.
        greedy: the pieces that greedy decoding writes; it is drawn as far as the beam keeps them.
        begin: what stands before all of them.

    Raises:
        ValueError: there are no steps, or a beginning goes on from none.
    """
    rows = max(map(len, steps), default=0)
    if not rows:
        raise ValueError("There are no steps to draw.")
    best, other = next(iter(steps[-1])), tuple(greedy)
    places: dict[Beginning, tuple[int, int]] = {(): (0, 0)}  # the column and the row of each beginning
    with styled():
        figure, ((axes,),) = sheet(0.6 * rows + 0.2)
        _write(axes, 0, 0, begin, _BEST, bold=True)
        for column, kept in enumerate(steps, start=1):
            for row, (beginning, probability) in enumerate(kept.items()):
                stays = beginning in places
                if (parent := beginning if stays else beginning[:-1]) not in places:
                    raise ValueError(f"{' '.join(beginning)} goes on from nothing that was kept before.")
                colour = _colour(beginning, best, other, steps[-1])
                way = zip(places[parent], (column, row), strict=True)
                width, bold = (2.5, True) if colour in (OWN, OTHER) else (1.0, False)
                axes.plot(*way, color=colour, linewidth=width, linestyle=":" if stays else "-", zorder=1)
                _write(axes, column, row, "" if stays else beginning[-1], colour, bold=bold)
                shown = f"{probability:.2f}" if probability >= 0.005 else "<.01"
                axes.text(column, row + 0.34, shown, ha="center", va="center", color=colour, fontsize=8.5, bbox=_GROUND)
                places[beginning] = column, row
        for row, ended in enumerate(steps[-1]):
            said = "beam" if ended == best else "greedy" if ended == other else ""
            colour = _colour(ended, best, other, steps[-1])
            axes.text(len(steps) + 0.42, row, said, va="center", color=colour, fontsize=11, fontweight="bold")
        axes.set(xlim=(-0.4, len(steps) + 0.4), ylim=(rows - 0.5, -0.4))
        axes.set_axis_off()
    said = "; ".join(
        f"step {step}: " + ", ".join(f"{' '.join(one)} {probability:.2f}" for one, probability in kept.items())
        for step, kept in enumerate(steps, start=1)
    )
    by_greedy = f"; greedy decoding writes {' '.join(other)}" if other else ""
    return Picture(figure, f"what a beam keeps, {said}; at the end it writes {' '.join(best)}{by_greedy}")


def _colour(beginning: Beginning, best: Beginning, greedy: Beginning, ended: Mapping[Beginning, float]) -> str:
    """Say where a beginning leads."""
    for whole, colour in ((best, _BEST), (greedy, _GREEDY)):
        if whole[: len(beginning)] == beginning:
            return colour
    return _LIVES if any(whole[: len(beginning)] == beginning for whole in ended) else _DROPPED


def _write(axes: Axes, x: int, y: int, piece: str, colour: str, *, bold: bool) -> None:
    """A piece on the paper's ground, where the lines to and from it end."""
    axes.text(
        x,
        y,
        f" {'␣' if piece == ' ' else piece} " if piece else "",
        ha="center",
        va="center",
        color=colour,
        fontsize=13 if len(piece) < 3 else 10,
        family="monospace",
        fontweight="bold" if bold else "normal",
        bbox=_GROUND,
    )
