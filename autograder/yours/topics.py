"""What the questions at a lesson's beginning are about, and how one is drawn: the numbers are new, PyTorch answers."""

import random
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import exercises, parts, random_state
from autograder.random_state import Defaults

OPTIONS, APART, WIDTH = 3, 0.5, 88  # slips to choose from; by how much their values differ; of a line on Colab
# For each kind what it asks about a line of code, and what is so, given what the line makes.
KINDS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "shape": ("What is the shape of this?", lambda value: tuple(value.shape)),
    "hidden": (
        "Which places does this mask hide, counted from 0? False hides.",
        lambda mask: (~mask).nonzero().flatten().tolist(),
    ),
    "parameters": (
        "How many numbers are trained in this?",
        lambda module: sum(parameter.numel() for parameter in module.parameters()),
    ),
    # Of ones with ones: each multiplication adds 1 to an entry of the product.
    "multiplications": ("How many multiplications is this? Write the number.", lambda product: int(product.sum())),
}
SLIP = "Somebody's version of this gives the entries below. Which slip is it, 1, 2 or 3?"
# Topic → its kind, and lines of code, each behind the number of the exercise that teaches it.
TOPICS: dict[str, tuple[str, ...]] = {
    "shapes of products": (
        "shape",
        "0.1 torch.ones({a}, {b}) @ torch.ones({b}, {c})",
        "0.1 torch.ones({a}, {b}, {c}) @ torch.ones({c}, {d})",
        "1.2 torch.ones({a}, {b}, {d}) @ torch.ones({a}, {c}, {d}).transpose(-2, -1)",
        "1.2 F.scaled_dot_product_attention(torch.ones({a}, {d}), torch.ones({b}, {d}), torch.ones({b}, {c}))",
        "2.3 MultiHeadAttention({even}, 2)(torch.ones({b}, {c}, {even}), *[torch.ones({b}, {d}, {even})] * 2)",
        "3.1 TokenEmbedding({a}, {b})(torch.ones({c}, {d}, dtype=torch.long))",
        "4.5 DecoderLayer({even}, 2, {b})(torch.ones({a}, {c}, {even}), torch.ones({a}, {d}, {even}))",
    ),
    "sizes that stretch": (
        "shape",
        "0.2 torch.ones({a}, 1) + torch.ones({b})",
        "0.2 torch.ones({a}, 1, {b}) * torch.ones({c}, 1)",
        "0.2 torch.ones({a}, {b}, 1) + torch.ones({b}, {c})",
        "1.5 padding_mask(torch.ones({a}, {b})) & causal_mask({b})",
        "3.4 torch.ones({a}, {b}, {even}) + sinusoidal_encoding({b}, {even})",
    ),
    "view and transpose": (
        "shape",
        "0.3 torch.ones({a}, {bc}).view({a}, {b}, {c}).transpose(0, 1)",
        "0.3 torch.ones({a}, {b}, {c}, {d}).transpose(1, 2).flatten(2)",
        "2.1 split_heads(torch.ones({a}, {d}, {bc}), {b})",
        "2.2 merge_heads(torch.ones({a}, {b}, {c}, {d}))",
    ),
    "what masks hide": (
        "hidden",
        "0.2 torch.arange({n}) <= {i}",
        "0.2 torch.tensor({row}) != 0",
        "1.4 causal_mask({n})[{i}]",
        "1.3 padding_mask(torch.tensor([{row}]))[0, 0, 0]",
        "1.5 decoder_mask(torch.tensor([{row}]))[0, 0, {i}]",
        "6.1 decoder_mask(teacher_forcing(torch.tensor([{row}]))[0])[0, 0, {i}]",
    ),
    "slips in masks": (
        "slip",
        "1.4 causal_mask({a})",
        "1.3 padding_mask(torch.tensor({rows}), 0)",
        "1.5 decoder_mask(torch.tensor([{row}]), 0)",
    ),
    "slips in tables": (
        "slip",
        "0.1 pairwise_dots(torch.tensor({matrix}), torch.tensor({other}))",
        "0.3 swap_groups(torch.arange(24).view(1, {p}, {qr}), {q})",
        "2.1 split_heads(torch.arange(24).view(1, {p}, {qr}), {q})",
        "2.2 merge_heads(torch.arange(24).view(1, {p}, {q}, {r}))",
        "3.3 sinusoidal_encoding({p}, 4)",
    ),
    "parameters": (
        "parameters",
        "0.4 nn.Linear({a}, {b})",
        "0.4 nn.Linear({a}, {b}, bias=False)",
        "2.3 MultiHeadAttention({even}, 2)",
        "3.1 TokenEmbedding({a}, {b})",
        "4.3 AddNorm({a})",
        "4.2 FeedForward({a}, {b})",
    ),
    "multiplications": (
        "multiplications",
        "0.1 torch.ones({a}, {b}) @ torch.ones({b}, {c})",
        "0.1 torch.ones({a}, {b}, {c}) @ torch.ones({c}, {d})",
        "5.5 torch.ones({a}, {b}, {d}) @ torch.ones({a}, {c}, {d}).transpose(-2, -1)",
        "5.5 torch.ones({a}, {b}, {c}, {d}) @ torch.ones({a}, {b}, {d}, {c})",
        "5.5 F.linear(torch.ones({a}, {b}), torch.ones({c}, {b}))",
    ),
}
NAMES = {name: getattr(parts, name) for name in parts.__all__} | {"torch": torch, "nn": nn, "F": F}
NAMES |= {"pairwise_dots": lambda x, y: x @ y.mT, "swap_groups": parts.split_heads}


class Question(NamedTuple):
    """A question that is asked."""

    text: str
    truth: object  # what is so, in numbers
    exercise: str  # the number of the exercise that teaches it


def known_before(lesson: int, topic: str) -> list[str]:
    """What may be asked about a topic in a lesson: the lines that earlier lessons teach."""
    return [line for line in TOPICS[topic][1:] if int(line.partition(".")[0]) < lesson]


def ask(topic: str, lesson: int, draw: random.Random) -> Question:
    """Draw a question about a topic, with what lessons before this one teach."""
    kind = TOPICS[topic][0]
    exercise, _, line = draw.choice(known_before(lesson, topic)).partition(" ")
    defaults = Defaults.capture()
    with random_state.preserved(), torch.no_grad():
        Defaults().restore()
        try:
            while True:
                code = line.format(**_numbers(draw))
                if made := _about_slips(code, draw) if kind == "slip" else _about(kind, code):
                    return Question(*made, exercise)
        finally:
            defaults.restore()


def _about(kind: str, code: str) -> tuple[str, object]:
    asks, truth = KINDS[kind]
    return f"{asks}\n   {code}", truth(eval(code, NAMES))


def _about_slips(code: str, draw: random.Random) -> tuple[str, object] | None:
    """What one of the slips that the exercise knows makes of some arguments; None where too few of them differ."""
    name, _, arguments = code.removesuffix(")").partition("(")
    slips = list(getattr(exercises, name).slips(*eval(f"({arguments},)", NAMES)).items())
    draw.shuffle(slips)
    values, chosen = [eval(code, NAMES)], list[str]()
    for slip, value in slips:
        if len(chosen) < OPTIONS and all(_is_apart(value, other) for other in values):
            values.append(value)
            chosen.append(slip)
    if len(chosen) < OPTIONS:
        return None
    right = draw.randrange(OPTIONS)
    options = (
        textwrap.fill(slip, WIDTH, initial_indent=f"   {number}  ", subsequent_indent=" " * 6)
        for number, slip in enumerate(chosen, start=1)
    )
    return "\n".join([f"{SLIP}\n   {code}", _table(values[right + 1]), *options]), right + 1


def _is_apart(one: Tensor, other: Tensor) -> bool:
    """Two tables that can be told apart without a calculator."""
    return one.shape == other.shape and bool((one.double() - other.double()).abs().max() > APART)


def _table(value: Tensor) -> str:
    entries = (value.int() if value.dtype == torch.bool else value).squeeze().numpy().round(2)
    return textwrap.indent(np.array2string(entries, precision=2, suppress_small=True), " " * 7)


def _numbers(draw: random.Random) -> dict[str, object]:
    """Sizes that differ, a row of words with padding at its end, and small matrices."""
    a, b, c, d = draw.sample(range(2, 7), 4)
    p, q, r = draw.choice([(2, 3, 4), (3, 2, 4), (4, 2, 3)])  # slips of heads want fewer of them than columns in each
    n = draw.randint(5, 6)
    rows = [[draw.randint(3, 9) for _ in range(n - padding)] + [0] * padding for padding in draw.sample((1, 2), 2)]
    matrix, other = ("[[{}., {}.], [{}., {}.]]".format(*draw.choices(range(1, 5), k=4)) for _ in range(2))
    sizes = {"a": a, "b": b, "c": c, "d": d, "bc": b * c, "even": 2 * a, "p": p, "q": q, "r": r, "qr": q * r}
    words = {"n": n, "i": draw.randint(1, n - 3), "row": rows[0], "rows": rows}
    return {**sizes, **words, "matrix": matrix, "other": other}
