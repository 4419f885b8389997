"""Figures: every one becomes a PNG with a sentence, and refuses what it cannot draw."""

import base64
import html
import re
import sys
from types import SimpleNamespace

import gallery
import ipywidgets
import matplotlib.pyplot
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from autograder import data, draw
from autograder.colours import INK
from autograder.draw import explorer

NAMES = ["BOS", "EOS", "a", "b"]
WEIGHTS = data.normal((4, 5, 5)).softmax(-1)


def dial(offset: int = 5) -> draw.Picture:
    """A figure with something to choose."""
    return draw.rotation(8, [0, 3], start=2, offset=offset)


SHOWN = {f"{name} {place}": make for name, makes in gallery.figures().items() for place, make in enumerate(makes)}
PICTURES = SHOWN | {  # and what the gallery does not show: other sizes, names and kinds of numbers
    "attention in two rows": lambda: draw.attention(data.normal((6, 3, 4)).softmax(-1)),
    "attention across": lambda: draw.attention(data.normal((2, 5)).softmax(-1), ["x", "y"], list("abcde")),
    "bars with names": lambda: draw.bars({"x": torch.ones(2)}, xlabel="key", ylabel="weight", names=["the", "cat"]),
    "bars of two lengths": lambda: draw.bars({"x": torch.ones(2), "y": torch.zeros(3)}, xlabel="key", ylabel="weight"),
    "schedule of a tensor": lambda: draw.schedule({"rate": [0.1, 0.3, 0.2], "half": torch.tensor([0.05, 0.15, 0.1])}),
    "loss of a list": lambda: draw.loss({"training loss": [3.0, 2.0, 0.5, 0.4]}, tokens=10),
    "lines with a gradient": lambda: draw.lines(
        {"y": (torch.arange(3), torch.ones(3, requires_grad=True))}, xlabel="x", ylabel="y"
    ),
}


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A kernel that JupyterLab has started for a page; what is displayed there is kept in `outputs`."""
    page = SimpleNamespace(kernel=object(), outputs=[], updates=[])

    def display(value: object, raw: bool = False, display_id: bool = False) -> SimpleNamespace:
        page.outputs.append(value)
        return SimpleNamespace(update=lambda value, raw=False: page.updates.append(value))

    monkeypatch.setattr("IPython.get_ipython", lambda: page)
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setenv("JPY_SESSION_NAME", "01_attention.ipynb")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return page


@pytest.fixture
def controls(monkeypatch: pytest.MonkeyPatch) -> list:
    """All controls that are made from now on."""
    controls, make = [], explorer._control
    monkeypatch.setattr(explorer, "_control", lambda *choices: controls.append(make(*choices)) or controls[-1])
    return controls


@pytest.mark.parametrize("name", PICTURES)
def test_every_figure_is_a_small_png_that_says_what_it_shows(name: str) -> None:
    """A picture is a PNG no wider than a notebook and under 150 kB, reproducible, with a sentence as its text."""
    picture = PICTURES[name]()
    shown, metadata = picture._repr_mimebundle_()
    assert metadata == {"image/png": {"alt": picture.alt}}
    assert set(shown) == {"image/png", "text/plain"} and base64.b64decode(shown["image/png"]) == picture.png
    png = picture.png
    assert png.startswith(b"\x89PNG") and len(png) < 150_000
    assert int.from_bytes(png[16:20], "big") <= 800
    assert repr(picture).startswith("[figure: ") and len(picture.alt) > 20
    assert png == PICTURES[name]().png


@pytest.mark.parametrize("name", PICTURES)
def test_where_somebody_watches_the_image_has_its_words(name: str, watched: SimpleNamespace) -> None:
    """On a page the one stored copy of the image is an HTML element whose alternative text is the sentence."""
    picture = PICTURES[name]()
    shown, _ = picture._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    element = re.fullmatch(r'<img alt="([^"<>]+)" src="data:image/png;base64,([\w+/=]+)">', shown["text/html"])
    assert html.unescape(element[1]) == picture.alt and base64.b64decode(element[2]) == picture.png


def test_ipython_formats_a_picture_as_files_hold_it() -> None:
    """IPython takes image, text and metadata of a picture from one place, and adds nothing."""
    formatter = DisplayFormatter()
    picture = PICTURES["masks 0"]()
    assert formatter.format(picture) == picture._repr_mimebundle_()
    explored = draw.explore(dial, offset=range(8))
    assert formatter.format(explored) == dial()._repr_mimebundle_()


@pytest.mark.parametrize("name", PICTURES)
def test_every_axis_has_a_name(name: str) -> None:
    """Each panel that shows numbers along an axis names that axis, or has a title, or shares that of its column."""
    figure = PICTURES[name]().figure
    shown = [axes for axes in figure.axes if axes.axison]
    columns = [axes.get_subplotspec().colspan for axes in shown if axes.get_title(loc="left")]
    named = not shown or any(axes.get_xlabel() for axes in shown) or name in ("heads 0", "explore 0", "reading 0")
    assert named and all(axes.get_ylabel() or axes.get_subplotspec().colspan in columns for axes in shown)


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


def test_a_single_lesson_can_be_marked() -> None:
    """With a lesson the architecture is smaller, its parts alone keep their colour, and its text says so."""
    picture = draw.architecture(lesson=1)
    assert picture.alt.endswith("the parts of lesson 1 are marked")
    assert picture.figure.get_figheight() < draw.architecture().figure.get_figheight()
    boxes = [text for text in picture.figure.axes[0].texts if "  (" in text.get_text()]
    dark = {text.get_text() for text in boxes if text.get_color() == INK}
    assert dark == {"self-attention  (1, 2)", "masked self-attention  (1, 2)", "cross-attention  (1, 2)"}


def test_few_bars_carry_their_numbers() -> None:
    """Bars have their values above them where there is room, whole numbers without decimals."""

    def numbers(values: torch.Tensor) -> list[str]:
        figure = draw.bars({"one": values}, xlabel="key", ylabel="weight").figure
        return [text.get_text() for text in figure.axes[0].texts]

    assert numbers(torch.tensor([0.0, 2.0])) == ["0", "2"]
    assert numbers(torch.tensor([0.125, 1.0])) == ["0.12", "1.00"]
    assert numbers(torch.ones(40)) == []
    named = draw.bars({"one": torch.tensor([0.5, 1.0])}, xlabel="key", ylabel="weight", names=["the", "cat"])
    assert "one: 0.50 for the, 1.00 for cat" in named.alt


def test_many_maps_and_single_rows_are_described() -> None:
    """Up to four maps are told, rows by the key that they attend to most, a single row by all its weights."""
    assert draw.attention(WEIGHTS, list("abcde")).alt.count("the rows attend most to") == 4
    one = draw.attention(torch.tensor([[[0.25, 0.75]], [[1.0, 0.0]]]), ["q"], ["k0", "k1"], titles=["x", "y"])
    assert "in x the row has 0.25 for k0, 0.75 for k1; in y the row has 1.00 for k0, 0.00 for k1" in one.alt


def test_the_words_of_an_encoding_say_where_it_is_fast() -> None:
    """Heat map and waves say how often a column changes its side."""
    waving = torch.tensor([[1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
    assert "in column 0 2 times, in 1 once, in 2 never" in draw.encoding(waving).alt
    assert "column 0 2 times, column 2 never" in draw.waves(waving, [0, 2]).alt


def test_the_words_of_cut_heads_say_which_tokens_are_mixed() -> None:
    """A head that holds entries of two tokens in one row is told."""
    mixed = torch.tensor([[[0, 1, 3], [2, 4, 5]]])  # two tokens of three columns in a single head
    assert "head 0 holds I and you, I and you" in draw.heads({"mixed": mixed}, ["I", "you"]).alt


def test_norms_are_those_of_the_columns() -> None:
    """Means and deviations are taken over the columns of each position, as layer norm does."""
    values = torch.tensor([[1.0, 3.0], [-2.0, 2.0]])
    assert draw.norms({"x": values}).alt.endswith("x: means from 0.00 to 2.00, deviations 1.00, 2.00")
    with pytest.raises(ValueError, match="'x' should have 2 dimensions, not 3"):
        draw.norms({"x": values[None]})


def test_a_schedule_says_where_its_peak_is() -> None:
    """Steps count from 1, and the peak is told and marked."""
    picture = draw.schedule({"rate": [0.1, 0.3, 0.2]})
    assert "rate from 0.1 up to 0.3 at step 2, then to 0.2" in picture.alt
    assert "0.3 at step 2" in [text.get_text() for text in picture.figure.axes[0].texts]


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([3.0, 2.0, 2.4, 1.0], "goes from 3.00 to 1.00, below the line from step 4 on"),
        ([3.0, 2.29], "goes from 3.00 to 2.29, on the line"),
        ([3.0, 2.6], "goes from 3.00 to 2.60, above the line"),
        ([1.0, 0.5], "below the line from step 1 on"),
    ],
)
def test_a_loss_is_told_against_a_guess(losses: list[float], words: str) -> None:
    """The line stands at log(tokens), named, and each loss is above it, on it or below it."""
    picture = draw.loss({"loss": losses}, tokens=10)
    assert "log 10 ≈ 2.30" in picture.alt and words in picture.alt
    assert picture.figure.axes[0].texts[0].get_text() == "a guess: log 10 ≈ 2.30"


def test_a_loss_can_stand_above_its_learning_rate() -> None:
    """Both are drawn over the same steps, and the description has the highest rate."""
    picture = draw.loss({"loss": [3.0, 2.0, 1.0]}, tokens=10, rates=[0.1, 0.3, 0.2])
    assert [axes.get_ylabel() for axes in picture.figure.axes] == ["loss", "learning rate"]
    assert "below it the learning rate, highest with 0.3 at step 2" in picture.alt


def test_the_lowest_point_of_a_curve_is_marked_unless_it_is_an_end() -> None:
    """A curve that goes down and up again has its lowest point named, one that only falls has not."""
    x = torch.tensor([0.0, 1.0, 2.0])
    curves = {"valley": (x, torch.tensor([2.0, 0.5, 1.0])), "slope": (x, torch.tensor([2.0, 1.0, 0.0]))}
    picture = draw.lines(curves, xlabel="x", ylabel="y", mark_lowest=True)
    said = [text.get_text() for text in picture.figure.axes[0].texts]
    assert sorted(said) == ["lowest at 1.00: 0.50", "slope", "valley"]
    assert picture.alt == "y by x: valley goes from 2 to 1, lowest at 1.00: 0.50; slope goes from 2 to 0"


@pytest.mark.parametrize("spoiled", [torch.nan, torch.inf])
def test_names_stand_beside_their_curves_and_cover_nothing(spoiled: float) -> None:
    """A name is nearer to its own curve than to the others and no two overlap, even where a number is not finite."""
    x = torch.linspace(0, 1, 50)
    curves = {"rising": (x, x), "falling": (x, 1 - x), "broken": (x, torch.where(x < 0.9, 2.0, spoiled))}
    axes = draw.lines(curves, xlabel="x", ylabel="y").figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert all(axes.get_window_extent().fully_contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)
    for box, own in zip(boxes, axes.lines, strict=True):
        ways = {line: axes.transData.transform(line.get_xydata()) for line in axes.lines}
        far = {
            line: np.nanmin(np.maximum(np.maximum(box.min - way, way - box.max), 0).sum(1))
            for line, way in ways.items()
        }
        assert 0 < far[own] == min(far.values())


def test_a_single_query_is_joined_to_its_keys_by_lines() -> None:
    """A line for each key that gets more than 3 % of the weight, the widest to the one that gets most."""
    axes = draw.attention(torch.tensor([[0.29, 0.7, 0.01, 0.0]]), ["q"], list("abcd")).figure.axes[0]
    (lines,) = axes.collections
    assert len(lines.get_paths()) == 2 and lines.get_linewidths()[-1] == max(lines.get_linewidths())
    assert lines.get_paths()[-1].vertices[-1][1] == 1  # the height of key b
    assert [text.get_text() for text in axes.texts if "." in text.get_text()] == ["0.29", "0.70", "0.01"]


def test_figures_look_the_same_and_leave_other_plots_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure has a legend or is wider than Colab's column, and Matplotlib's settings stay as they were."""
    before = dict(matplotlib.rcParams)
    monkeypatch.setitem(matplotlib.rcParams, "font.family", ["serif"])
    for make in PICTURES.values():
        figure = make().figure
        assert not any(axes.get_legend() for axes in figure.axes) and not figure.legends
        assert figure.get_figwidth() * 96 <= 700
        assert all(text.get_fontfamily() != ["serif"] for axes in figure.axes for text in axes.texts)
    monkeypatch.undo()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: draw.loss({}, tokens=10), "There are no losses"),
        (lambda: draw.loss({"x": []}, tokens=10), r"losses\['x'\] should be one number for each step"),
        (lambda: draw.loss({"x": [1.0]}, tokens=1), "tokens=1 leaves nothing to guess"),
        (lambda: draw.schedule({"x": torch.ones(2, 2)}), r"rates\['x'\] should be one number for each step"),
    ],
)
def test_what_is_no_curve_is_refused_in_words(refused, words: str) -> None:
    """No losses, no steps, tables and nothing to guess are refused, and the message says what is wanted."""
    with pytest.raises(ValueError, match=words):
        refused()


def test_decoding_tells_every_step() -> None:
    """Each step says what was written, what comes and where the decoder looks; sizes that do not fit are refused."""
    probabilities = torch.tensor([[0.0, 0.1, 0.9, 0.0], [0.3, 0.6, 0.0, 0.1]])
    looks = torch.tensor([[0.2, 0.8], [0.7, 0.3]])
    options = {"vocabulary": NAMES, "source": ["x", "y"]}
    alt = draw.decoding(torch.tensor([0, 2, 1]), probabilities, looks, **options).alt
    assert "after BOS comes a (0.90), looking at y; after BOS a comes EOS (0.60), looking at x" in alt
    with pytest.raises(ValueError, match=r"probabilities should have the shape \(1, 4\) \(steps, vocab_size\)"):
        draw.decoding([0, 2], probabilities, looks, **options)
    with pytest.raises(ValueError, match=r"attention should have the shape \(2, 2\) \(steps, src_len\), not \(1, 2\)"):
        draw.decoding([0, 2, 1], probabilities, looks[:1], **options)


def test_an_explored_figure_starts_with_the_defaults() -> None:
    """Where nothing can be moved, the figure is that of the defaults, or of the first choice where there is none."""
    assert draw.explore(dial, offset=range(8)).still.alt == dial().alt
    assert draw.explore(lambda offset: dial(offset), offset=(3, 4)).still.alt == dial(3).alt


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"angle": [1]}, "make takes no argument 'angle'; it takes offset"),
        ({"offset": []}, "offset has no values to choose from"),
        ({"offset": [1, 2]}, "offset=5, the default of make, is not among its choices"),
    ],
)
def test_choices_that_do_not_fit_are_refused_at_once(choices: dict, words: str) -> None:
    """An argument that is not there, no values, or a default that cannot be chosen are refused, and said to be."""
    with pytest.raises(ValueError, match=words):
        draw.explore(dial, **choices)


def test_controls_stand_above_the_figure_and_move_it(watched: SimpleNamespace, controls: list) -> None:
    """On a page a control for each argument comes first, then the figure, which follows the control."""
    draw.explore(dial, offset=range(8))._ipython_display_()
    above, figure = watched.outputs
    assert explorer.WIDGET in above and above["text/plain"] == "[controls, once this cell has run: offset]"
    assert figure.alt == dial().alt
    controls[0].value = 7
    assert [picture.alt for picture in watched.updates] == [dial(7).alt]


def test_an_error_in_a_moved_figure_is_said(watched: SimpleNamespace, controls: list) -> None:
    """When a choice cannot be drawn, the error stands in the place of the figure."""
    draw.explore(lambda x=1: dial(1 // x), x=[0, 1])._ipython_display_()
    controls[0].value = 0
    assert watched.updates == [{"text/plain": "ZeroDivisionError: integer division or modulo by zero"}]


@pytest.mark.parametrize(("choices", "control"), [(3, ipywidgets.ToggleButtons), (20, ipywidgets.SelectionSlider)])
def test_few_choices_are_buttons_and_many_a_slider(choices: int, control: type) -> None:
    """Each control has the name of its argument in words, and begins where the figure begins."""
    made = explorer._control(ipywidgets, "d_model_now", list(range(choices)), 2)
    assert type(made) is control and made.value == 2 and made.description == "d model now"


def test_without_ipywidgets_the_figure_is_shown_alone(
    watched: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where ipywidgets is not installed, IPython is told to show the figure, and nothing else happens."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(NotImplementedError):
        draw.explore(dial, offset=range(8))._ipython_display_()
    assert not watched.outputs


def test_programs_that_run_a_notebook_are_nobody_watching(
    watched: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel without a page, nbgrader's run and a shell that is no kernel get the file's form of a figure."""
    picture = PICTURES["masks 0"]()
    assert "text/html" in picture._repr_mimebundle_()[0]
    with monkeypatch.context() as without_page:
        without_page.delenv("JPY_SESSION_NAME")
        assert "image/png" in picture._repr_mimebundle_()[0]
    with monkeypatch.context() as graded:
        graded.setenv("NBGRADER_EXECUTION", "autograde")
        assert "image/png" in picture._repr_mimebundle_()[0]
    watched.kernel = None
    assert "image/png" in picture._repr_mimebundle_()[0]
