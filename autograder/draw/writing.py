"""How a model writes: one token at a time."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from autograder.colours import WEIGHTS
from autograder.draw.picture import PALETTE, WIDTH, Picture, styled

LEFT, MIDDLE, RIGHT = "written so far", "probability of coming next", "cross-attention"


def decoding(
    tokens: Sequence[int] | Tensor,
    probabilities: Tensor,
    attention: Tensor,
    *,
    vocabulary: Sequence[str],
    source: Sequence[str],
) -> Picture:
    """Greedy decoding step by step: what is written, what may come next with the chosen token marked, and where the
    decoder looks meanwhile.

    Args:
        tokens: (steps + 1,) ids, the first token included; step i reads the first i + 1 and chooses the next.
        probabilities: (steps, vocab_size).
        attention: (steps, src_len) weights of the cross-attention.
        vocabulary: vocab_size names.
        source: src_len names.

    Raises:
        ValueError: the sizes do not belong together.
    """
    written = [vocabulary[int(token)] for token in tokens]
    chosen = [int(token) for token in tokens][1:]
    probabilities, attention = probabilities.detach().cpu().float(), attention.detach().cpu().float()
    _require("probabilities", probabilities, (len(chosen), len(vocabulary)), "steps, vocab_size")
    _require("attention", attention, (len(chosen), len(source)), "steps, src_len")
    descriptions = []
    with styled():
        figure = Figure(figsize=(WIDTH, 0.72 * len(chosen) + 0.9), layout="constrained")
        rows = figure.subplots(len(chosen), 3, width_ratios=[1.6, 3.2, 2.4], squeeze=False)
        for i, (row, token) in enumerate(zip(rows, chosen, strict=True)):
            so_far, name = " ".join(written[: i + 1]), vocabulary[token]
            row[0].text(0, 0.5, textwrap.fill(so_far, 24), transform=row[0].transAxes, va="center")
            row[0].set_axis_off()
            _distribution(row[1], probabilities[i], token, f"{name}: {probabilities[i, token]:.2f}")
            row[2].imshow(attention[i : i + 1].numpy(), cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
            row[2].set_yticks([])
            look = int(attention[i].argmax())
            descriptions.append(
                f"after {so_far} comes {name} ({probabilities[i, token]:.2f}), looking at {source[look]}"
            )
        for axes, title in zip(rows[0], (LEFT, MIDDLE, RIGHT), strict=True):
            axes.set_title(title, loc="left")
        for axes, names, label in ((rows[-1, 1], vocabulary, "token"), (rows[-1, 2], source, "source")):
            axes.set_xticks(range(len(names)), names, fontsize=8 if len(names) <= 10 else 7 if len(names) <= 14 else 6)
            axes.set_xlabel(label)
        for row in rows[:-1]:
            row[1].set_xticks([])
            row[2].set_xticks([])
    return Picture(figure, f"greedy decoding of {' '.join(source)}, step by step: {'; '.join(descriptions)}")


def _distribution(axes: Axes, probabilities: Tensor, chosen: int, label: str) -> None:
    """Bars for the vocabulary, the chosen one in another colour and with its name and number on it."""
    colours = [PALETTE[5] if token == chosen else PALETTE[0] for token in range(len(probabilities))]
    axes.bar(range(len(probabilities)), probabilities.tolist(), color=colours)
    axes.set(ylim=(0, 1), yticks=[0, 1])
    right = chosen > 0.7 * len(probabilities)
    axes.text(
        chosen + (-0.6 if right else 0.6),
        max(0.55, float(probabilities[chosen]) - 0.1),
        label,
        ha="right" if right else "left",
        va="center",
        color=PALETTE[5],
        fontweight="bold",
    )


def _require(name: str, values: Tensor, shape: tuple[int, int], dimensions: str) -> None:
    if values.shape != torch.Size(shape):
        raise ValueError(f"{name} should have the shape {shape} ({dimensions}), not {tuple(values.shape)}.")
