"""What flows where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from autograder.draw.picture import ARROW, PALETTE, WIDTH, Picture, styled


def flow(layers: Mapping[str, Mapping[str, str]], *, ends: Mapping[str, tuple[str, str]]) -> Picture:
    """What flows where in a layer: sub-layers from bottom to top, each passed by an arrow into its add & norm (§3.1).

    Args:
        layers: name of the layer → name of the sub-layer → what else it takes, in words.
        ends: name of the layer → what goes in at the bottom and what comes out at the top.
    """
    most = max(map(len, layers.values()))
    with styled():
        figure = Figure(figsize=(WIDTH, 1.5 * most + 0.7), layout="constrained")
        for axes, (name, sublayers) in zip(
            figure.subplots(1, len(layers), squeeze=False)[0], layers.items(), strict=True
        ):
            for i, (sublayer, beside) in enumerate(sublayers.items()):
                _sublayer(axes, 2.0 * i, i + 1, sublayer, beside)
            top = 2.0 * len(sublayers)
            axes.annotate("", (0, top + 0.35), (0, top - 0.25), arrowprops=ARROW)
            axes.text(0, -0.62, ends[name][0], ha="center", va="top")
            axes.text(0, top + 0.4, ends[name][1], ha="center", va="bottom")
            axes.set(xlim=(-2.1, 2.3), ylim=(-0.9, 2.0 * most + 0.8), title=name)
            axes.set_axis_off()
    description = "; ".join(f"{name}: {', then '.join(sublayers)}" for name, sublayers in layers.items())
    return Picture(figure, f"{description}; each followed by add & norm, into which its own input passes as well")


def _sublayer(axes: Axes, bottom: float, number: int, name: str, beside: str) -> None:
    box = {"boxstyle": "round,pad=0.35", "linewidth": 0}
    axes.annotate("", (0, bottom + 0.25), (0, bottom - (0.6 if number == 1 else 0.36)), arrowprops=ARROW)
    axes.annotate("", (0, bottom + 1.2), (0, bottom + 0.6), arrowprops=ARROW)
    axes.plot([0, -1.35, -1.35], [bottom - 0.12, bottom - 0.12, bottom + 1.45], color=PALETTE[5])
    axes.annotate("", (-0.66, bottom + 1.45), (-1.37, bottom + 1.45), arrowprops=ARROW | {"color": PALETTE[5]})
    axes.text(0, bottom + 0.42, name, ha="center", va="center", bbox=box | {"facecolor": "#BFDDF0"})
    axes.text(0, bottom + 1.45, f"add & norm {number}", ha="center", va="center", bbox=box | {"facecolor": "#FFE3A8"})
    if beside:
        axes.annotate(
            beside,
            (1.02 if len(name) > 16 else 0.72, bottom + 0.42),
            (1.35, bottom + 0.42),
            va="center",
            arrowprops=ARROW,
        )


def architecture(num_layers: int = 6) -> Picture:
    """Draw the whole Transformer (§3, figure 1): encoder left, decoder right, and the lesson that built each part."""
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
        figure = Figure(figsize=(WIDTH, 6.2), layout="constrained")
        axes = figure.subplots()
        right = 5.2
        _column(axes, 0.0, encoder, "source", "")
        _column(axes, right, decoder, "target so far (shifted right, lesson 6)", "next token (lesson 7)")
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
    return Picture(figure, f"the Transformer, each part with its lesson; {description}")


def _column(axes: Axes, x: float, boxes: Sequence[tuple[str, str]], source: str, result: str) -> None:
    """Boxes above each other, joined by arrows, each coloured by the lesson that built it."""
    colours = {"1, 2": "#BFDDF0", "3": "#D5EBDD", "4": "#FFE3A8", "5": "#F3D3E4"}
    axes.text(x, -0.75, source, ha="center", va="top")
    axes.annotate("", (x, -0.2), (x, -0.75), arrowprops=ARROW)
    for y, (name, lesson) in enumerate(boxes):
        box = {"boxstyle": "round,pad=0.35", "linewidth": 0, "facecolor": colours[lesson]}
        axes.text(x, y, f"{name}  ({lesson})", ha="center", va="center", bbox=box)
        if name == "add & norm":
            axes.plot([x, x - 1.55, x - 1.55], [y - 1.62, y - 1.62, y], color="#BBBBBB", linewidth=1)
            axes.annotate("", (x - 0.7, y), (x - 1.56, y), arrowprops=ARROW | {"color": "#BBBBBB"})
        if y + 1 < len(boxes) or result:
            axes.annotate("", (x, y + 0.75), (x, y + 0.28), arrowprops=ARROW)
    if result:
        axes.text(x, len(boxes) - 0.2, result, ha="center", va="bottom")
