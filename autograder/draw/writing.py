"""How a model writes: one token at a time."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
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


def translation(weights: Tensor, *, written: Sequence[str], source: Sequence[str]) -> Picture:
    """Where a model looked for each piece that it wrote: a row a piece, a column a piece of the source, dark where it
    looked, framed where more than a fifth of its attention went.

    Args:
        weights: (pieces written, pieces of the source), of the cross-attention.
        written: the pieces, each in the row of the step that wrote it.
        source: its pieces, letters perhaps.

    Raises:
        ValueError: the sizes do not belong together.
    """
    weights = weights.detach().cpu().float()
    _require("weights", weights, (len(written), len(source)), "pieces written, pieces of the source")
    framed = (weights > 0.2).nonzero().tolist()
    pieces = ["␣" if piece == " " else piece for piece in source]
    with styled():
        figure = Figure(figsize=(WIDTH, 0.27 * len(written) + 0.7), layout="constrained")
        axes = figure.subplots()
        axes.imshow(weights.numpy(), cmap=WEIGHTS, vmin=0, vmax=max(0.6, float(weights.max())), aspect="auto")
        for row, column in framed:
            frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=PALETTE[5], linewidth=1.8)
            axes.add_patch(frame)
        size = min(14.0, 440 / sum(max(len(piece), 1.3) for piece in pieces))
        axes.set_xticks(range(len(pieces)), pieces, fontsize=size, family="monospace")
        axes.set_yticks(range(len(written)), written, fontsize=14, family="monospace", fontweight="bold")
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set(xlabel="what it reads", ylabel="what it writes")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    looks = {row: [pieces[column] for at, column in framed if at == row] for row in range(len(written))}
    said = ", ".join(f"{piece} at {' and '.join(looks[row]) or 'nothing much'}" for row, piece in enumerate(written))
    return Picture(figure, f"{''.join(source)} becomes {''.join(written)}; where it looks while it writes: {said}")


def reading(
    reached: Mapping[str, Sequence[float]], dates: Sequence[tuple[str, str]], before: Sequence[str], now: Sequence[str]
) -> Picture:
    """How much of each digit of a date is read rightly by a row of models, and what the last two read in some dates.

    Args:
        reached: title → shares of (8,) digits that are right, the newest model last.
        dates: as they are written, and in ISO 8601.
        before, now: eight digits for each date, by the last model but one ("" where there is none) and the last.
    """
    with styled():
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
        for i, (title, shares) in enumerate(reached.items()):
            newest = i == len(reached) - 1
            colour = PALETTE[0] if newest else str(0.8 - 0.4 * i / len(reached))
            left.plot(range(8), shares, "o-", color=colour, linewidth=2.5 if newest else 1.5, label=title)
        left.set_xticks(range(8), list("YYYYMMDD"))
        left.set(ylim=(0, 1.03), xlabel="digit of the date", ylabel="share that is right")
        left.legend(fontsize=7.5, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22))
        right.set_axis_off()
        right.set(xlim=(0, 1), ylim=(len(dates) + 0.2, -0.8))
        for x, title in ((0.0, "written"), (0.56, "before" if any(before) else ""), (0.79, "now")):
            right.text(x, -0.5, title, fontweight="bold")
        for row, ((text, iso), *read) in enumerate(zip(dates, before, now, strict=True)):
            right.text(0.0, row + 0.3, textwrap.shorten(text, 34, placeholder="…"), fontsize=8.5)
            for x, digits in zip((0.56, 0.79), read, strict=True):
                _marked(right, x, row + 0.3, digits, iso.replace("-", ""))
    levels = "; ".join(f"{title}: {', '.join(f'{share:.0%}' for share in shares)}" for title, shares in reached.items())
    read_now = ", ".join(f"{text} as {digits}" for (text, _), digits in zip(dates, now, strict=True))
    return Picture(figure, f"share of the digits YYYYMMDD that are right, {levels}; the last one read {read_now}")


def _marked(axes: Axes, x: float, y: float, digits: str, right: str) -> None:
    """Digits as a date, the wrong ones in another colour and bold."""
    for place, (digit, expected) in enumerate(zip(digits, right, strict=False)):
        colour, weight = ("#333333", "normal") if digit == expected else (PALETTE[5], "bold")
        gaps = (place > 3) + (place > 5)
        at = x + 0.019 * (place + 0.6 * gaps)
        axes.text(at, y, digit, fontsize=9, family="monospace", color=colour, fontweight=weight)
