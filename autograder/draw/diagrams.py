"""What flows where."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from autograder.draw.picture import ARROW, PALETTE, WIDTH, Picture, styled

_FLOOR = 2.7  # the height of a sub-layer with its add & norm
_PORT = 0.85  # how far to the left value enters an attention, and to the right the query; the key in the middle
_PORTS = {"value": -_PORT, "key": 0.0, "query": _PORT}


def flow() -> Picture:
    """What flows where in an encoder and a decoder layer (§3.1): queries, keys, values, residuals and the memory."""
    encoder = ("self-attention", "src_mask"), ("feed-forward", "")
    decoder = ("masked self-attention", "tgt_mask"), ("cross-attention", "src_mask"), ("feed-forward", "")
    left, right, between = 0.0, 6.6, 3.3
    with styled():
        figure = Figure(figsize=(WIDTH, 6.6), layout="constrained")
        axes = figure.subplots()
        for title, middle, source, layer in (
            ("encoder layer", left, "source x", encoder),
            ("decoder layer", right, "target x", decoder),
        ):
            axes.text(middle, -0.4, source, ha="center", va="top")
            for floor, (name, mask) in enumerate(layer):
                _sublayer(axes, middle, floor, name, mask)
            top = _FLOOR * len(layer)
            _arrow(axes, "#555555", (middle, top - 0.35), (middle, top + 0.45))
            axes.text(middle, top + 0.5, "to the next layer", ha="center", va="bottom")
            axes.text(middle, _FLOOR * 3 + 1.15, title, ha="center", fontsize=11, fontweight="bold")
        out, entry = _FLOOR * 2 + 0.05, _FLOOR + 0.45
        for port in (right - _PORT, right):
            way = (left, out), (between, out), (between, entry), (port, entry), (port, _FLOOR + 0.8)
            _arrow(axes, PALETTE[5], *way)
        axes.text(between, out + 0.08, "memory, from the last layer", ha="center", va="bottom", color=PALETTE[5])
        axes.set(xlim=(-1.7, right + 2.2), ylim=(-0.8, _FLOOR * 3 + 1.6))
        axes.set_axis_off()
    names = (", then ".join(name for name, _ in layer) for layer in (encoder, decoder))
    description = "encoder layer: {}; decoder layer: {}; each followed by add & norm".format(*names)
    return Picture(
        figure,
        f"{description}, into which its own input passes as well; the query of the cross-attention comes from the "
        "add & norm below it, key and value from the memory, the output of the last encoder layer",
    )


def _sublayer(axes: Axes, middle: float, floor: int, name: str, mask: str) -> None:
    """A sub-layer, what it reads from below, its add & norm, and the residual that passes it by."""
    bottom, grey, light = _FLOOR * floor, "#555555", "#BBBBBB"
    ports = {"": 0.0} if not mask else {"query": _PORT} if name.startswith("cross") else _PORTS
    start, fork = (middle, bottom - 0.35), (middle, bottom + 0.2)
    beside = middle + 1.8
    _arrow(axes, light, fork, (beside, fork[1]), (beside, bottom + 2.1), (middle + 0.9, bottom + 2.1))
    for port in ports.values():
        _arrow(axes, grey, start, fork, (middle + port, fork[1]), (middle + port, bottom + 0.8))
    for reads, place in _PORTS.items() if mask else ():
        axes.text(middle + place + 0.06, bottom + 0.6, reads, va="center", fontsize=7.5)
    _arrow(axes, grey, (middle, bottom + 1.5), (middle, bottom + 1.85))
    for y, width, height, colour in ((1.15, 2.5, 0.7, "#BFDDF0"), (2.1, 1.8, 0.5, "#FFE3A8")):
        corner = middle - width / 2, bottom + y - height / 2
        axes.add_patch(FancyBboxPatch(corner, width, height, "round,pad=0,rounding_size=0.1", fc=colour, lw=0))
    axes.text(middle, bottom + (1.27 if mask else 1.15), name, ha="center", va="center")
    axes.text(middle, bottom + 2.1, f"add & norm {floor + 1}", ha="center", va="center")
    if mask:
        axes.text(middle, bottom + 0.98, f"mask: {mask}", ha="center", va="center", fontsize=7.5)


def _arrow(axes: Axes, colour: str, *way: tuple[float, float]) -> None:
    """A line through some points, with its head at the last."""
    axes.plot(*zip(*way, strict=True), color=colour, linewidth=1.4, solid_joinstyle="round", zorder=1)
    axes.annotate("", way[-1], way[-2], arrowprops=ARROW | {"color": colour, "shrinkA": 0, "shrinkB": 0})


def architecture(num_layers: int = 6, *, lesson: int | None = None) -> Picture:
    """Draw the whole Transformer (§3, figure 1): encoder left, decoder right, and the lesson that builds each part.

    Args:
        lesson: the one whose parts keep their colour while the others turn grey, in a smaller figure.
    """
    encoder = [
        ("token embedding, × √d_model", "3"),
        ("+ positional encoding", "3"),
        ("self-attention", "1, 2"),
        ("add & norm", "4"),
        ("feed-forward", "4"),
        ("add & norm", "4"),
    ]
    decoder = [
        *encoder[:2],
        ("masked self-attention", "1, 2"),
        ("add & norm", "4"),
        ("cross-attention", "1, 2"),
        ("add & norm", "4"),
        ("feed-forward", "4"),
        ("add & norm", "4"),
        ("output projection", "5"),
    ]
    with styled():
        figure = Figure(figsize=(WIDTH, 6.2 if lesson is None else 4.8), layout="constrained")
        axes = figure.subplots()
        right = 5.2
        _column(axes, 0.0, encoder, "source", "", lesson)
        _column(axes, right, decoder, "target so far (shifted right, lesson 6)", "next token (lesson 7)", lesson)
        for x, boxes, name, side in ((0.0, 4, "encoder", -2.2), (right, 6, "decoder", 2.2)):
            frame = FancyBboxPatch((x - 1.9, 1.55), 3.8, boxes - 0.1, fc="none", ec="#999999", ls="--")
            frame.set_boxstyle("round", pad=0.05)
            axes.add_patch(frame)
            axes.text(x + side, 1.5 + boxes / 2, f"{name}, {num_layers} layers", rotation=90, ha="center", va="center")
        axes.plot([0, 0, 2.6, 2.6], [5.3, 6.1, 6.1, 4.0], color=PALETTE[5])
        axes.annotate("", (right - 0.98, 4.0), (2.57, 4.0), arrowprops=ARROW | {"color": PALETTE[5]})
        axes.text(1.3, 6.2, "memory", ha="center", va="bottom", color=PALETTE[5])
        axes.set(xlim=(-2.6, right + 2.6), ylim=(-1.0, 9.4))
        axes.set_axis_off()
    read, written = (", ".join(f"{name} ({lesson})" for name, lesson in boxes) for boxes in (encoder, decoder))
    description = f"encoder: {read}; its output, the memory, goes to the cross-attention of the decoder: {written}"
    if lesson is not None:
        description += f"; the parts of lesson {lesson} are marked"
    return Picture(figure, f"the Transformer, each part with its lesson; {description}")


def _column(
    axes: Axes, x: float, boxes: Sequence[tuple[str, str]], source: str, result: str, marked: int | None
) -> None:
    """Boxes above each other, joined by arrows, coloured by lesson; with one marked, the others are grey."""
    colours = {"1, 2": "#BFDDF0", "3": "#D5EBDD", "4": "#FFE3A8", "5": "#F3D3E4"}
    axes.text(x, -0.75, source, ha="center", va="top")
    axes.annotate("", (x, -0.2), (x, -0.75), arrowprops=ARROW)
    for y, (name, lesson) in enumerate(boxes):
        plain = marked is not None and str(marked) not in lesson
        box = {"boxstyle": "round,pad=0.35", "linewidth": 0, "facecolor": "#F2F2F2" if plain else colours[lesson]}
        colour = "#777777" if plain else "black"
        axes.text(x, y, f"{name}  ({lesson})", ha="center", va="center", bbox=box, color=colour)
        if name == "add & norm":
            axes.plot([x, x - 1.55, x - 1.55], [y - 1.62, y - 1.62, y], color="#BBBBBB", linewidth=1)
            axes.annotate("", (x - 0.7, y), (x - 1.56, y), arrowprops=ARROW | {"color": "#BBBBBB"})
        if y + 1 < len(boxes) or result:
            axes.annotate("", (x, y + 0.75), (x, y + 0.28), arrowprops=ARROW)
    if result:
        axes.text(x, len(boxes) - 0.2, result, ha="center", va="bottom")
