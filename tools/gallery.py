"""Every figure of `autograder.draw` and every kind of failing check on one page, to be looked at after a change.

    PYTHONPATH=tests python tools/gallery.py   # writes build/gallery.html

The page is one file: it loads nothing and runs nothing, and its box for a dark page is CSS alone.
"""

import html
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from answers import WRONG, source
from support.classroom import classroom

from autograder import data, draw, parts
from autograder.check import CheckFailed, _panel

PAGE = Path(__file__).parent.parent / "build" / "gallery.html"
NO_FIGURES = {"Picture", "Explorer"}  # public names of `draw` that draw nothing by themselves
WORDS = ["the", "cat", "sat", "on", "the", "mat"]
NAMES = ["PAD", "BOS", "EOS", *map(str, range(3, 13))]


class Panel(NamedTuple):
    """A failing check that the page shows."""

    kind: str  # what kind of failure it stands for
    lesson: str
    exercise: str
    what: str = ""  # which wrong answer of `tests/answers` fails, unless `source` is one
    source: str = ""


ATTEND = ("01_attention", "scaled_dot_product_attention")
HEADS = ("02_multi_head_attention", "MultiHeadAttention")
NO_ARGUMENT = "def causal_mask():\n    return torch.ones(4, 4, dtype=torch.bool).tril()\n"
MISSPELT = "def causal_mask(size):\n    return torch.tril(torch.ones(size, size, dtype=torch.bool)) & allowed\n"
PANELS = (
    Panel("values, the slip proven", *ATTEND, "no scale"),
    Panel("values, no slip proven", *ATTEND, "identity attention"),
    Panel("a mask", "01_attention", "causal_mask", "one too far"),
    Panel("a mask for a batch", "01_attention", "decoder_mask", "or for and"),
    Panel("an encoding", "03_positional_encoding", "sinusoidal_encoding", "halves"),
    Panel("token ids", "07_greedy_decoding", "greedy_decode", "rows go on"),
    Panel("a single number", "07_greedy_decoding", "exact_match", "percent"),
    Panel("numbers in the wrong place", "02_multi_head_attention", "split_heads", "reshape without transpose"),
    Panel("shape", "01_attention", "padding_mask", "for query rows"),
    Panel("dtype", "01_attention", "padding_mask", "integers"),
    Panel("NaN", *ATTEND, "fills with +∞"),
    Panel("nothing returned", "01_attention", "attend_one_query", "returns nothing"),
    Panel("the wrong number of results", *ATTEND, "returns the output only"),
    Panel("not written yet", "04_encoder_decoder_blocks", "LayerNorm", source="stub"),
    Panel("an exception in the answer", *ATTEND, "transpose forgotten"),
    Panel("a name that is not defined", "01_attention", "causal_mask", source=MISSPELT),
    Panel("other arguments than given", "01_attention", "causal_mask", source=NO_ARGUMENT),
    Panel("an error that should be raised", *HEADS, "no error for a bad width"),
    Panel("a missing parameter", *HEADS, "other names"),
    Panel("a buffer", "03_positional_encoding", "PositionalEncoding", "a plain attribute"),
    Panel("no gradient", *ATTEND, "detached weights"),
    Panel("an input that was changed", "01_attention", "attend_one_query", "in place"),
    Panel("dropout", "04_encoder_decoder_blocks", "AddNorm", "no dropout"),
    Panel("train and eval mode", "06_training", "evaluate", "stays in eval mode"),
    Panel("a ready part of PyTorch", *ATTEND, "calls PyTorch's own"),
)


def cut(num_heads: int = 2) -> draw.Picture:
    """A sentence of six columns cut into heads, properly and by a reshape alone."""
    numbers = torch.arange(18).reshape(1, 3, 6)
    layouts = {"split": parts.split_heads(numbers, num_heads)[0], "reshape only": numbers.reshape(num_heads, 3, -1)}
    return draw.heads(layouts, WORDS[:3])


def figures() -> dict[str, list[Callable[[], draw.Picture]]]:
    """For each function of `draw` what it draws, most of it as the lessons do."""
    weights = data.normal((4, 5, 5), seed=13).mul(1.5).softmax(-1)
    table = parts.sinusoidal_encoding(60, 64)
    scores = torch.tensor([0.0, 2.0, 0.0, 1.0])
    shown = {"scores": scores, "weights = softmax(scores)": scores.softmax(0)}
    tokens, products = torch.tensor([1, 5, 9, 3, 12, 2]), {"sinusoidal": (torch.arange(60), table @ table[30])}
    next_ones = torch.full((5, 13), 0.07 / 12).scatter(1, tokens[1:, None], 0.93)
    described = torch.tensor([[0, 0, 0], [3, 0, 1], [1, 1, 3], [0, 2, 0], [0, 0, 0], [0, 3, 1.0]])
    scaled = data.normal((6, 64), seed=1) * torch.tensor([0.1, 0.5, 1, 2, 5, 0])[:, None] + 3
    steps = torch.arange(300)
    losses = {
        "with the causal mask": 2.3 + 1.1 * torch.exp(-steps / 15) + 0.01 * data.normal((300,)),
        "without it": 0.29 + 3 * torch.exp(-steps / 45),
    }
    rates = {
        f"d_model {d_model}, warm-up {warmup}": [parts.learning_rate(step, d_model, warmup) for step in range(1, 1001)]
        for d_model, warmup in ((64, 100), (64, 400), (256, 100))
    }
    masks = {"causal": parts.causal_mask(4), "one too far": torch.ones(4, 4).tril(1)}
    cross, read = (5 * torch.eye(5) + data.normal((5, 5))).softmax(-1), ["5", "9", "3", "12", "EOS"]
    kept = [
        {("3",): 0.5, ("0",): 0.4},
        {("0", "3"): 0.36, ("3", "1"): 0.25},
        {("0", "3", "EOS"): 0.36, ("3", "1", "EOS"): 0.25},
    ]
    shares = {
        "attention": [0.8, 0.9, 0.4, 0.4, 0.8, 0.6, 0.6, 0.3],
        "four heads": [1, 1, 0.4, 0.5, 1, 0.8, 0.6, 0.3],
    }
    dates = [("twaalf juni 2053", "2053-06-12"), ("10 novembre 1988", "1988-11-10")]
    date = parts.translator()("siebenundzwanzigster märz 2019")
    return {
        "attention": [
            lambda: draw.attention((described @ described.T / 3**0.5).softmax(-1), WORDS),
            lambda: draw.attention(weights, WORDS[:5]),
            lambda: draw.attention(data.normal((3, 1, 4)).softmax(-1), ["q"], ["k0", "k1", "k2", "k3"]),
        ],
        "masks": [
            lambda: draw.masks(masks, ["I", "like", "green", "tea"]),
            lambda: draw.masks({"encoder": torch.ones(6, 6).tril(3), "cross-attention": torch.ones(4, 6)}),
        ],
        "heads": [cut],
        "encoding": [lambda: draw.encoding(table)],
        "waves": [lambda: draw.waves(table, [0, 1, 12, 24])],
        "rotation": [lambda: draw.rotation(16, [0, 1, 2], start=3, offset=4)],
        "bars": [lambda: draw.bars(shown, xlabel="key", ylabel="score or weight")],
        "lines": [lambda: draw.lines(products, xlabel="position", ylabel="dot product with position 30")],
        "norms": [lambda: draw.norms({"before": scaled, "after layer norm": torch.nn.LayerNorm(64)(scaled)})],
        "schedule": [lambda: draw.schedule(rates)],
        "loss": [lambda: draw.loss(losses, tokens=10, ylabel="loss on random targets")],
        "decoding": [lambda: draw.decoding(tokens, next_ones, cross, vocabulary=NAMES, source=read)],
        "translation": [lambda: draw.translation(date.attention, written=date.text, source=[*date.source, "end"])],
        "beam": [lambda: draw.beam(kept, greedy=("3", "1", "EOS"))],
        "reading": [lambda: draw.reading(shares, dates, ["20550705", "19880218"], ["20550725", "19881118"])],
        "flow": [draw.flow],
        "since_2017": [draw.since_2017],
        "architecture": [draw.architecture, lambda: draw.architecture(lesson=1)],
        "explore": [lambda: draw.explore(cut, num_heads=(6, 3, 2, 1)).still],
    }


def error(shown: Panel) -> CheckFailed:
    """What the first check that students see says to the answer.

    Raises:
        ValueError: there is no such answer, or no check fails.
    """
    room = classroom(shown.lesson)
    answer = room.stubs[shown.exercise] if shown.source == "stub" else shown.source or _source(shown)
    for result in room.grade({shown.exercise: answer}, exercise=shown.exercise):
        if isinstance(result.error, CheckFailed) and result.seen:
            return result.error
    raise ValueError(f"No check of {shown.exercise} fails on {shown.what or shown.kind!r}; choose another answer.")


def _source(shown: Panel) -> str:
    found = [wrong for wrong in WRONG[shown.lesson] if (wrong.exercise, wrong.what) == (shown.exercise, shown.what)]
    if not found:
        raise ValueError(f"tests/answers has no answer {shown.what!r} to {shown.exercise}; choose another.")
    return source(found[0], classroom(shown.lesson).answers)


def page() -> str:
    """The whole page."""
    drawn = figures()
    sections = [_figure(name, makes) for name, makes in drawn.items()]
    panels = [_figure_of(shown) for shown in PANELS]
    return HEAD + "\n".join(sections) + MIDDLE + "\n".join(panels) + "\n</main>\n</body>\n</html>\n"


def _figure(name: str, makes: list[Callable[[], draw.Picture]]) -> str:
    about = _prose(inspect.getdoc(getattr(draw, name)).split("\n\n")[0].replace("\n", " "))
    shown = "".join(
        f"<figure>{picture.html}<figcaption>{html.escape(picture.alt)}</figcaption></figure>\n"
        for picture in (make() for make in makes)
    )
    return f'<section id="draw-{name}">\n<h3><code>draw.{name}</code></h3>\n<p>{about}</p>\n{shown}</section>'


def _figure_of(shown: Panel) -> str:
    answer = html.escape(f"{shown.exercise}: {shown.what or shown.kind}")
    return (
        f'<section id="panel-{anchor(shown.kind)}">\n<h3>{html.escape(shown.kind)}</h3>\n<p>{answer}</p>\n'
        f'<div class="output">{_panel.html(error(shown))}</div>\n</section>'
    )


def _prose(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def anchor(kind: str) -> str:
    """A kind of failure as the end of an id."""
    return re.sub(r"\W+", "-", kind.lower())


HEAD = """\
<!DOCTYPE html>
<!-- Made by tools/gallery.py; do not edit. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gallery: figures and failing checks</title>
<style>
body { margin: 0; color-scheme: light; background: #fff; color: #1b1b1b; font: 15px/1.5 system-ui, sans-serif; }
body:has(#dark:checked) { color-scheme: dark; background: #111; color: #e0e0e0; }
main { max-width: 800px; margin: 0 auto; padding: 1rem; }
label { position: fixed; top: 0.5rem; right: 1rem; padding: 0.2rem 0.6rem; border-radius: 4px; background: #8883; }
h1 { font-size: 1.6rem; } h2 { margin-top: 3rem; } h3 { margin: 2.5rem 0 0; font-size: 1.05rem; }
p { margin: 0.2rem 0 0.8rem; } figure { margin: 0 0 1.4rem; }
figure img { max-width: 100%; } figcaption { font-size: 0.85rem; opacity: 0.8; }
</style>
</head>
<body>
<label><input type="checkbox" id="dark"> dark page</label>
<main>
<h1>Gallery</h1>
<p>Every figure that the lessons can draw, with the words that stand for it where it cannot be seen, and every kind of
failing check, as a student sees it.
Where a notebook runs, buttons or a slider stand above the figure of <code>draw.explore</code>.</p>
<h2>Figures</h2>
"""
MIDDLE = """
<h2>Failing checks</h2>
<p>Under each kind the exercise and the wrong answer that it came from.</p>
"""


def write() -> str:
    """Make the page, keep it as a file, and return it."""
    text = page()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    write()
    print(f"{PAGE}: {len(figures())} functions, {len(PANELS)} failing checks, {PAGE.stat().st_size / 1e6:.1f} MB")
