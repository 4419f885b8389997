"""What flows where."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from autograder.colours import INK, OTHER, OWN, QUIET
from autograder.draw.picture import Picture, sheet, styled

STREAM, SUBLAYER, NORM = "#D3D6D9", "#DCEAF4", "#FBEBC8"  # what passes by, what is added, and the sum
COLOURS = {"1, 2": "#CFE3F2", "3": "#D8EBE1", "4": NORM, "5": "#F1DCE7"}  # by lesson
_FLOOR = 2.6  # the height of a sub-layer with its add & norm
_PORTS = {"query": 0.0, "key": 0.85, "value": 1.7}  # how far from its stream's side each enters an attention


def flow() -> Picture:
    """What flows where in an encoder and a decoder layer (§3.1): queries, keys, values, residuals and the memory."""
    encoder = ("self-attention", "src_mask"), ("feed-forward", "")
    decoder = ("masked self-attention", "tgt_mask"), ("cross-attention", "src_mask"), ("feed-forward", "")
    right, between = 9.4, 4.7
    with styled():
        figure, ((axes,),) = sheet(6.4)
        for title, x, inwards, source, layer in (
            ("encoder layer", 0.0, 1, "source x", encoder),
            ("decoder layer", right, -1, "target x", decoder),
        ):
            top = _FLOOR * len(layer)
            axes.text(x, -0.7, source, ha="center", va="top", color=OWN, fontweight="bold")
            for floor, (name, mask) in enumerate(layer):
                _sublayer(axes, x, inwards, _FLOOR * floor, name, mask, f"add & norm {floor + 1}")
            _arrow(axes, STREAM, (x, top - 0.2), (x, top + 0.65), width=7)
            axes.text(x, top + 0.75, "to the next layer", ha="center", va="bottom", color=QUIET)
            axes.text(x + 1.3 * inwards, top + 1.45, title, ha="center", fontsize=12, fontweight="bold")
        axes.text(-0.22, 0.75, "residual", rotation=90, ha="right", va="center", color=QUIET, fontsize=9)
        out, entry = _FLOOR * 2 + 0.15, _FLOOR + 0.2
        for name in ("value", "key"):
            port = right - 1.35 - _PORTS[name]
            way = (0.0, out), (between, out), (between, entry), (port, entry), (port, _FLOOR + 0.72)
            _arrow(axes, OTHER, *way)
        axes.text(between + 0.12, out, "memory,\nfrom the last layer", va="center", color=OTHER, fontweight="bold")
        axes.set(xlim=(-1.2, right + 1.2), ylim=(-1.1, _FLOOR * 3 + 1.6))
        axes.set_axis_off()
    names = (", then ".join(name for name, _ in layer) for layer in (encoder, decoder))
    description = "encoder layer: {}; decoder layer: {}; each followed by add & norm".format(*names)
    return Picture(
        figure,
        f"{description}, into which its own input passes as well; the query of the cross-attention comes from the "
        "add & norm below it, key and value from the memory, the output of the last encoder layer",
    )


def _sublayer(axes: Axes, x: float, inwards: int, bottom: float, name: str, mask: str, norm: str) -> None:
    """A sub-layer beside its stream, what it reads from there, and what it adds to it."""
    _arrow(axes, STREAM, (x, bottom - 0.55), (x, bottom + 1.74), width=7)
    middle = x + 2.2 * inwards
    ports = [x + (1.35 + at) * inwards for at in _PORTS.values()] if mask else [middle]
    for port in ports[:1] if name.startswith("cross") else ports:
        _arrow(axes, OWN, (x, bottom + 0.2), (port, bottom + 0.2), (port, bottom + 0.72))
    for port, reads in zip(ports, _PORTS if mask else (), strict=False):
        axes.text(port + 0.08, bottom + 0.46, reads, va="center", fontsize=8.5, color=QUIET)
    _arrow(axes, INK, (middle, bottom + 1.42), (middle, bottom + 2.0), (x + 0.95 * inwards, bottom + 2.0))
    _box(axes, middle, bottom + 1.1, 2.9, 0.7, f"{name}\nmask: {mask}" if mask else name, SUBLAYER)
    _box(axes, x, bottom + 2.0, 1.8, 0.5, norm, NORM)


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, fill: str, colour: str = INK) -> None:
    """A name in a box with round corners."""
    corner = x - width / 2, y - height / 2
    axes.add_patch(FancyBboxPatch(corner, width, height, "round,pad=0,rounding_size=0.12", fc=fill, lw=0, zorder=2))
    axes.text(x, y, text, ha="center", va="center", color=colour, linespacing=1.25, fontsize=9)


def _arrow(axes: Axes, colour: str, *way: tuple[float, float], width: float = 1.6) -> None:
    """A line through some points, with its head at the last."""
    axes.plot(*zip(*way, strict=True), color=colour, linewidth=width, solid_joinstyle="round", zorder=1)
    head = {"arrowstyle": "-|>", "mutation_scale": 8 + 3 * width, "color": colour, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", way[-1], way[-2], arrowprops=head, zorder=1)


def architecture(num_layers: int = 6, *, lesson: int | None = None) -> Picture:
    """Draw the whole Transformer (§3, figure 1): encoder left, decoder right, and the lesson that builds each part.

    Args:
        lesson: the one whose parts keep their colour while the others turn grey, in a smaller figure.
    """
    embedded = [("token embedding, × √d_model", "3"), ("+ positional encoding", "3")]
    norm, feed = ("add & norm", "4"), ("feed-forward", "4")
    encoder = [*embedded, ("self-attention", "1, 2"), norm, feed, norm]
    decoder = [*embedded, ("masked self-attention", "1, 2"), norm, ("cross-attention", "1, 2"), norm, feed, norm]
    decoder.append(("output projection", "5"))
    right = 6.1
    with styled():
        figure, ((axes,),) = sheet(6.0 if lesson is None else 4.8)
        _column(axes, 0.0, -1, encoder, "source", lesson)
        _column(axes, right, 1, decoder, "target so far (shifted right, lesson 6)", lesson)
        _arrow(axes, INK, (right, 8.3), (right, 8.9))
        axes.text(right, 8.95, "next token (lesson 7)", ha="center", va="bottom")
        for x, outwards, boxes, name in ((0.0, -1, 4, "encoder"), (right, 1, 6, "decoder")):
            frame = (x - 2.45 + 0.2 * outwards, 1.36), 4.9, boxes + 0.08
            axes.add_patch(FancyBboxPatch(*frame, "round,pad=0,rounding_size=0.15", fc="none", ec=QUIET, ls=":"))
            side = {"x": x + 3.0 * outwards, "y": 1.5 + boxes / 2, "rotation": 90, "fontweight": "bold"}
            axes.text(s=f"{name}, {num_layers} layers", ha="center", va="center", **side)
        _arrow(axes, OTHER, (0, 5.32), (0, 6.0), (3.1, 6.0), (3.1, 4.0), (right - 2.1, 4.0), width=2.2)
        axes.text(0.1, 6.1, "memory", va="bottom", color=OTHER, fontweight="bold")
        axes.set(xlim=(-3.2, right + 3.2), ylim=(-1.1, 9.4))
        axes.set_axis_off()
    read, written = (", ".join(f"{name} ({lesson})" for name, lesson in boxes) for boxes in (encoder, decoder))
    description = f"encoder: {read}; its output, the memory, goes to the cross-attention of the decoder: {written}"
    if lesson is not None:
        description += f"; the parts of lesson {lesson} are marked"
    return Picture(figure, f"the Transformer, each part with its lesson; {description}")


CHANGES = {"stays": STREAM, "is another": COLOURS["1, 2"], "goes": "#FFFFFF"}  # from a decoder of 2017 to a GPT
_SINCE = (
    ("+ positional encoding", "goes", "", ""),
    ("", "", "RMSNorm", "is another"),
    ("masked self-attention", "is another", "causal self-attention,\nrotary, grouped", "is another"),
    ("add & norm", "is another", "add", "stays"),
    ("cross-attention", "goes", "", ""),
    ("add & norm", "goes", "RMSNorm", "is another"),
    ("feed-forward", "is another", "SwiGLU", "is another"),
    ("add & norm", "is another", "add", "stays"),
    ("", "", "RMSNorm, once at the end", "is another"),
    ("output projection", "goes", "embedding, used again", "is another"),
)


def since_2017() -> Picture:
    """Draw the decoder of 2017 beside a GPT of today, floor by floor: what goes, what stays, and what is another."""
    right, described = 5.4, []
    with styled():
        figure, ((axes,),) = sheet(5.6)
        for x, title in ((0.0, "decoder, 2017"), (right, "your GPT")):
            axes.text(x, len(_SINCE) + 0.75, title, ha="center", fontsize=12, fontweight="bold")
            _arrow(axes, INK, (x, -0.7), (x, len(_SINCE) + 0.6), width=1.2)
            _box(axes, x, 0, 4.2, 0.66, "token embedding", CHANGES["stays"])
        for y, (old, fate, new, is_new) in enumerate(_SINCE, start=1):
            for x, name, kind in ((0.0, old, fate), (right, new, is_new)):
                if name:
                    colour, height = (QUIET if kind == "goes" else INK), 0.78 if "\n" in name else 0.66
                    _box(axes, x, y, 4.2, height, name + ", goes" * (kind == "goes"), CHANGES[kind], colour)
            described.append(f"{old or 'nothing'} → {new or 'nothing'}".replace("\n", " "))
        for x, floors in ((0.0, (1.5, 8.5)), (right, (1.3, 8.5))):
            frame = (x - 2.3, floors[0]), 5.0 if x else 4.6, floors[1] - floors[0]
            axes.add_patch(FancyBboxPatch(*frame, "round,pad=0,rounding_size=0.15", fc="none", ec=QUIET, ls=":"))
        for bottom, top in ((1.5, 4.35), (5.5, 8.35)):
            side = right + 2.45
            _arrow(
                axes, STREAM, (right, bottom), (side, bottom), (side, top - 0.35), (right + 2.1, top - 0.35), width=2.2
            )
        axes.set(xlim=(-2.5, right + 2.7), ylim=(-0.9, len(_SINCE) + 1.3))
        axes.set_axis_off()
    return Picture(figure, f"a decoder of 2017 beside a GPT, from the token embedding upwards: {'; '.join(described)}")


def _column(
    axes: Axes, x: float, outwards: int, boxes: Sequence[tuple[str, str]], source: str, marked: int | None
) -> None:
    """Boxes above each other, joined by arrows, coloured by lesson; with one marked, the others are grey."""
    axes.text(x, -0.85, source, ha="center", va="top")
    for y, (name, lesson) in enumerate(boxes):
        plain = marked is not None and str(marked) not in lesson
        _arrow(axes, INK, (x, y - 0.8 if y == 0 else y - 0.7), (x, y - 0.3))
        if name == "add & norm":
            beside = x + 2.38 * outwards
            _arrow(axes, STREAM, (x, y - 1.5), (beside, y - 1.5), (beside, y), (x + 2.1 * outwards, y), width=2.2)
        fill, colour = ("#F0F1F1", "#72787F") if plain else (COLOURS[lesson], INK)
        _box(axes, x, y, 4.2, 0.6, f"{name}  ({lesson})", fill, colour)
