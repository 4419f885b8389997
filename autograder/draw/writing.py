"""How a model writes: one token at a time."""

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from torch import Tensor

from autograder.colours import INK, OTHER, OWN, PAPER, QUIET, WEIGHTS
from autograder.draw.looks import look
from autograder.draw.picture import Picture, sheet, styled

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
        figure, rows = sheet(0.55 * len(chosen) + 0.9, len(chosen), 3, width_ratios=[1.3, 3.7, 2.3])
        for i, (row, token) in enumerate(zip(rows, chosen, strict=True)):
            so_far, name = " ".join(written[: i + 1]), vocabulary[token]
            row[0].text(0, 0.5, textwrap.fill(so_far, 18), transform=row[0].transAxes, va="center", color=OWN)
            row[0].set_axis_off()
            _distribution(row[1], probabilities[i], token, f"{name}: {probabilities[i, token]:.2f}")
            row[2].imshow(attention[i : i + 1].numpy(), cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
            for place, (word, weight) in enumerate(zip(source, attention[i].tolist(), strict=True)):
                colour = PAPER if weight > 0.6 else OTHER
                row[2].text(place, 0, word, ha="center", va="center", color=colour, fontsize=min(9, 45 / len(source)))
            most = int(attention[i].argmax())
            descriptions.append(
                f"after {so_far} comes {name} ({probabilities[i, token]:.2f}), looking at {source[most]}"
            )
            row[2].spines.bottom.set_visible(False)
            for axes in row:
                axes.set(xticks=[], yticks=[])
        for axes, title in zip(rows[0], (LEFT, MIDDLE, RIGHT), strict=True):
            axes.set_title(title)
        rows[-1, 1].set_xticks(range(len(vocabulary)), vocabulary, fontsize=9 if len(vocabulary) <= 10 else 7.5)
        rows[-1, 1].set_xlabel("token")
        rows[-1, 2].set_xlabel("source", color=OTHER)
    return Picture(figure, f"greedy decoding of {' '.join(source)}, step by step: {'; '.join(descriptions)}")


def _distribution(axes: Axes, probabilities: Tensor, chosen: int, label: str) -> None:
    """Bars for the vocabulary, the chosen one in another colour and with its name and number beside it."""
    colours = [OWN if token == chosen else QUIET for token in range(len(probabilities))]
    axes.bar(range(len(probabilities)), probabilities.tolist(), color=colours, snap=False)
    axes.set(ylim=(0, 1), ylabel="")
    right = chosen > 0.7 * len(probabilities)
    place, side = (chosen - 0.6, "right") if right else (chosen + 0.6, "left")
    height = max(0.55, float(probabilities[chosen]) - 0.2)
    axes.text(place, height, label, ha=side, va="center", color=OWN, fontweight="bold")


def _require(name: str, values: Tensor, shape: tuple[int, int], dimensions: str) -> None:
    if values.shape != torch.Size(shape):
        raise ValueError(f"{name} should have the shape {shape} ({dimensions}), not {tuple(values.shape)}.")


def translation(weights: Tensor, *, written: Sequence[str], source: Sequence[str]) -> Picture:
    """Where a model looked for each piece that it wrote: lines from the pieces written, below, up to those of the
    source, the wider the more it looked; a piece of the source is dark where more than a fifth of a look went to it.

    Args:
        weights: (pieces written, pieces of the source), of the cross-attention.
        written: the pieces, each at the place of the step that wrote it.
        source: its pieces, letters perhaps.

    Raises:
        ValueError: the sizes do not belong together.
    """
    weights = weights.detach().cpu().float()
    _require("weights", weights, (len(written), len(source)), "pieces written, pieces of the source")
    pieces = ["␣" if piece == " " else piece for piece in source]
    with styled():
        figure, ((axes,),) = sheet(2.9)
        colours = [OTHER if most > 0.2 else QUIET for most in weights.amax(dim=0).tolist()]
        above, below = _spell(axes, 0.91, pieces, 15, colours), _spell(axes, 0.09, written, 17, [OWN] * len(written))
        look(axes, weights, [(x, 0.12) for x in below], [(x, 0.88) for x in above], upright=True)
        axes.text(0, 1.13, "what it reads", color=QUIET)
        axes.text(0, -0.14, "what it writes", color=QUIET)
        axes.set(xlim=(0, 1), ylim=(-0.16, 1.2))
        axes.set_axis_off()
    looks = (" and ".join(piece for piece, weight in zip(pieces, row, strict=True) if weight > 0.2) for row in weights)
    said = ", ".join(f"{piece} at {at or 'nothing much'}" for piece, at in zip(written, looks, strict=True))
    return Picture(figure, f"{''.join(source)} becomes {''.join(written)}; where it looks while it writes: {said}")


def _spell(axes: Axes, y: float, pieces: Sequence[str], largest: float, colours: Sequence[str]) -> list[float]:
    """Write pieces beside each other over the whole width, those that are not quiet in bold; return their middles."""
    widths = [len(piece) + 0.6 for piece in pieces]
    font: Any = {"family": "monospace", "fontsize": min(largest, 680 / sum(widths)), "ha": "center"}
    middles = [(end - width / 2) / sum(widths) for end, width in zip(itertools.accumulate(widths), widths, strict=True)]
    for x, piece, colour in zip(middles, pieces, colours, strict=True):
        weight = "normal" if colour == QUIET else "bold"
        axes.text(x, y, piece, va="bottom" if y > 0.5 else "top", color=colour, fontweight=weight, **font)
    return middles


def reading(
    reached: Mapping[str, Sequence[float]], dates: Sequence[tuple[str, str]], before: Sequence[str], now: Sequence[str]
) -> Picture:
    """How much of each digit of a date is read rightly by a row of models, and what the last two read in some dates.

    Args:
        reached: title → shares of (8,) digits that are right, the newest model last.
        dates: as they are written, and in ISO 8601.
        before, now: eight digits for each date, by the last model but one ("" where there is none) and the last.
    """
    shares = torch.tensor(list(reached.values()))
    with styled():
        heights = 0.3 * len(shares), 0.27 * len(dates) + 0.4
        figure, ((upper,), (lower,)) = sheet(sum(heights) + 1, 2, height_ratios=heights)
        upper.imshow(shares.numpy(), cmap=WEIGHTS, vmin=0, vmax=1.1, aspect="auto")
        for row, place in itertools.product(*map(range, shares.shape)):
            share = float(shares[row, place])
            upper.text(place, row, f"{share:.0%}", ha="center", va="center", color=PAPER if share > 0.6 else INK)
        upper.set_xticks(range(8), list("YYYYMMDD"), fontsize=11)
        upper.set_yticks(range(len(shares)), reached, color=INK)
        upper.get_yticklabels()[-1].set(fontweight="bold", color=OWN)
        upper.xaxis.tick_top()
        upper.spines[:].set_visible(False)
        upper.set_title("how often each digit is right", pad=9)
        lower.set_axis_off()
        lower.set(xlim=(0, 1), ylim=(len(dates) - 0.4, -1.4))
        titles = {0.0: "a date, as it is written", 0.56: "read before" if any(before) else "", 0.79: "read now"}
        for x, title in titles.items():
            lower.text(x, -0.9, title, fontweight="bold", va="center")
        for row, ((text, iso), *read) in enumerate(zip(dates, before, now, strict=True)):
            lower.text(0.0, row, textwrap.shorten(text, 40, placeholder="…"), va="center")
            for x, digits in zip((0.56, 0.79), read, strict=True):
                _marked(lower, x, row, digits, iso.replace("-", ""))
    levels = "; ".join(f"{title}: {', '.join(f'{share:.0%}' for share in shares)}" for title, shares in reached.items())
    read_now = ", ".join(f"{text} as {digits}" for (text, _), digits in zip(dates, now, strict=True))
    return Picture(figure, f"share of the digits YYYYMMDD that are right, {levels}; the last one read {read_now}")


def _marked(axes: Axes, x: float, y: float, digits: str, right: str) -> None:
    """Digits as a date, the wrong ones in another colour, bold and underlined."""
    for place, (digit, expected) in enumerate(zip(digits, right, strict=False)):
        colour, weight = (INK, "normal") if digit == expected else (OTHER, "bold")
        at = x + 0.018 * (place + 0.6 * ((place > 3) + (place > 5)))
        axes.text(at, y, digit, fontsize=11, family="monospace", color=colour, fontweight=weight, va="center")
        if digit != expected:
            axes.plot([at, at + 0.0135], [y + 0.33, y + 0.33], color=OTHER, linewidth=1.5)
