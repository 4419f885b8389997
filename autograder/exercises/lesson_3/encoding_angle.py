"""Exercise `encoding_angle`: its cases and its slips."""

import math
import random
from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_3.shared import DOUBLED, HALVED, RIGHT_POWER
from autograder.exercises.shared import some


def cases(answer: Callable[[int, int, int], float], *, seed: int = 0) -> None:
    """Angles for positions near and far, every kind of column, and widths from 2 to 512."""
    generator = random.Random(seed)
    drawn = []
    for furthest, widest in ((3, 3), (9, 8), (30, 16), (300, 64), (2000, 256)):
        d_model = 2 * generator.randint(2, widest)
        drawn += [(generator.randint(1, furthest), column, d_model) for column in generator.sample(range(d_model), 3)]
    fixed = (0, 0, 2), (1, 1, 2), (0, 3, 6), (7, 2, 4), (7, 3, 4), (2, 7, 8), (12, 9, 16)
    for position, column, d_model in some(seed, (*fixed, *drawn, (1000, 1, 8), (1000, 15, 16), (5, 511, 512))):
        call = f"encoding_angle({position}, {column}, {d_model})"
        expected = torch.tensor(parts.encoding_angle(position, column, d_model))
        angle = check.number(call, answer(position, column, d_model))
        check.close(call, angle, expected, rtol=8e-6, atol=1e-7)


def slips(position: int, column: int, d_model: int) -> dict[str, Tensor]:
    """Angles () for one position and column."""
    even = column - column % 2

    def turned(exponent: float) -> Tensor:
        return torch.tensor(position / 10000.0**exponent)

    right = turned(even / d_model)
    slips = {
        f"{DOUBLED}: {RIGHT_POWER}": turned(2 * even / d_model),
        "the pair is numbered by a remainder, `column % 2`, instead of `column // 2`": turned(
            2 * (column % 2) / d_model
        ),
        "the pair is numbered by a remainder, `column % (d_model // 2)`, instead of `column // 2`": turned(
            2 * (column % (d_model // 2)) / d_model
        ),
        "the position is left out, so that the angle is the pair's speed": right / position,
        f"each column takes its own number, and {DOUBLED}: {RIGHT_POWER}": turned(2 * column / d_model),
        f"{HALVED}: {RIGHT_POWER}": turned(even / 2 / d_model),
        "the position is multiplied by 10000^(2i / d_model) instead of divided": turned(-even / d_model),
        "the exponent is missing its division by d_model": turned(even),
        "an odd column uses its own number instead of its pair's even one": turned(column / d_model),
        "an odd column takes the angle of the next pair": turned((column + column % 2) / d_model),
        "the exponent is divided by d_model − 2 instead of d_model": turned(even / max(d_model - 2, 1)),
        "the division by d_model stands outside the exponent (parentheses)": turned(even) / d_model,
        "10000 is squared first, as in `10000 ** 2 * i / d_model`: the exponent needs parentheses": torch.tensor(
            position / 10000.0**2 * (even / 2) / d_model
        ),
        "positions are counted from 1 instead of 0": right * (position + 1) / position,
        "the exponent is 0, as `//` makes it, so that every pair turns at the speed of the first": turned(0.0),
        "the base is 1000 instead of 10000": torch.tensor(position / 1000.0 ** (even / d_model)),
        "the base is e instead of 10000": torch.tensor(position / math.exp(even / d_model)),
        "position and column are exchanged": torch.tensor(column / 10000.0 ** ((position - position % 2) / d_model)),
        "position / 10000 is raised to the power, not 10000 alone (parentheses)": torch.tensor(
            (position / 10000.0) ** (even / d_model)
        ),
        "it is the angle in degrees": torch.rad2deg(right),
        "it is the sine of the angle": right.sin(),
        "it is the cosine of the angle": right.cos(),
        "it is the sine or cosine already, whichever stands in the column": (
            right.cos() if column % 2 else right.sin()
        ),
        "the fraction is turned upside down": torch.tensor(10000.0 ** (even / d_model) / position),
        "the angle is multiplied by 2π": 2 * math.pi * right,
        "whole turns of 2π are taken away": right % (2 * math.pi),
    }
    apart = {slip: angle for slip, angle in slips.items() if not torch.isclose(angle, right, rtol=1e-2)}
    return {slip: angle for slip, angle in apart.items() if angle != 0}  # 0 proves nothing
