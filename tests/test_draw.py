"""Figures: every one becomes a PNG with a sentence, and refuses what it cannot draw."""

from __future__ import annotations

import matplotlib.pyplot
import pytest
import torch

from autograder import data, draw, parts

WEIGHTS = data.normal((4, 5, 5)).softmax(-1)
TABLE = parts.sinusoidal_encoding(20, 8)
PICTURES = {
    "one attention map": lambda: draw.attention(WEIGHTS[0], list("abcde")),
    "four heads": lambda: draw.attention(WEIGHTS, list("abcde")),
    "six heads, two rows": lambda: draw.attention(data.normal((6, 3, 4)).softmax(-1)),
    "cross-attention": lambda: draw.attention(data.normal((2, 5)).softmax(-1), ["x", "y"], list("abcde")),
    "masks": lambda: draw.masks({"causal": parts.causal_mask(4), "all": torch.ones(4, 4)}, ["I", "like", "it", "."]),
    "bars": lambda: draw.bars({"one": torch.tensor([1.0, 2.0]), "two": torch.zeros(3)}, xlabel="key", ylabel="weight"),
    "heads": lambda: draw.heads({"split": torch.arange(12).reshape(2, 3, 2)}, ["a", "b", "c"]),
    "encoding": lambda: draw.encoding(TABLE),
    "waves": lambda: draw.waves(TABLE, [0, 1, 6]),
    "rotation": lambda: draw.rotation(8, [0, 3], start=2, offset=5),
    "masks of different sizes": lambda: draw.masks({"square": torch.ones(6, 6), "wide": torch.ones(4, 6)}),
    "architecture": lambda: draw.architecture(),
    "lines": lambda: draw.lines({"y": (torch.arange(3), torch.ones(3, requires_grad=True))}, xlabel="x", ylabel="y"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_every_figure_is_a_small_png_that_says_what_it_shows(name: str) -> None:
    """A picture is a PNG no wider than a notebook and under 150 kB, reproducible, with a sentence as its text."""
    picture = PICTURES[name]()
    png, described = picture._repr_png_()
    assert described == {"alt": picture.alt}
    assert png.startswith(b"\x89PNG") and len(png) < 150_000
    assert int.from_bytes(png[16:20], "big") <= 800
    assert repr(picture).startswith("[figure: ") and len(picture.alt) > 20
    assert png == PICTURES[name]().png


@pytest.mark.parametrize("name", PICTURES)
def test_every_axis_has_a_name(name: str) -> None:
    """Each panel that shows numbers along an axis names that axis, or shares the name of the figure."""
    figure = PICTURES[name]().figure
    shown = [axes for axes in figure.axes if axes.axison]
    named = not shown or bool(figure.get_supxlabel()) or any(axes.get_xlabel() for axes in shown) or name == "heads"
    assert named and all(axes.get_ylabel() or axes.get_title() or figure.get_supylabel() for axes in shown)


def test_drawing_leaves_no_open_figures() -> None:
    """However often a notebook draws, no figure stays open."""
    before = matplotlib.pyplot.get_fignums()
    for make in PICTURES.values():
        make().png  # noqa: B018 (drawing happens here)
    assert matplotlib.pyplot.get_fignums() == before


def test_what_has_too_many_dimensions_is_refused_in_words() -> None:
    """A batch of heads or of masks does not fit one figure, and the message says so."""
    with pytest.raises(ValueError, match="2 or 3 dimensions, not 4; choose one sentence"):
        draw.attention(WEIGHTS[None])
    with pytest.raises(ValueError, match="'batch' should have 2 dimensions, not 4"):
        draw.masks({"batch": torch.ones(2, 1, 3, 3)})


def test_two_attention_maps_are_both_described() -> None:
    """The text of a figure with two titled panels says where the rows of each look."""
    picture = draw.attention(torch.stack([torch.eye(3), torch.eye(3).flip(1)]), list("abc"), titles=["one", "two"])
    assert "in one the rows attend most to a, b, c; in two the rows attend most to c, b, a" in picture.alt


def test_the_architecture_names_every_part() -> None:
    """Its text follows the paper's figure 1 from bottom to top, decoder included."""
    text = draw.architecture().alt
    order = ["self-attention", "feed-forward", "memory", "masked self-attention", "output projection"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
