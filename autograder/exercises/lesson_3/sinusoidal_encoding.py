"""Exercise `sinusoidal_encoding`: its cases and its slips."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_3.shared import DOUBLED, HALVED, RIGHT_POWER, interleaved, made_anew, waves
from autograder.exercises.shared import few, sizes, some


def cases(answer: Callable[[int, int], Tensor], *, seed: int = 0) -> None:
    """Tables of any size, each its own, made without a thought to training."""
    drawn = [(size["max_len"], 2 * size["pairs"]) for size in sizes(seed, 4, max_len=(1, 40), pairs=(1, 16))]
    for max_len, d_model in (drawn[0], (3, 2), *drawn[1:]):
        call, expected = f"sinusoidal_encoding({max_len}, {d_model})", parts.sinusoidal_encoding(max_len, d_model)
        wider = parts.sinusoidal_encoding(max_len, d_model + 2)
        first = answer(max_len, d_model)
        check.shape(call, first, max_len=max_len, d_model=d_model)
        check.close(call, first, expected, atol=2e-5)
        check.true(not first.requires_grad, f"`{call}` asks for gradients.")
        check.close(f"sinusoidal_encoding({max_len}, {d_model + 2})", answer(max_len, d_model + 2), wider, atol=2e-5)
        answer(max_len, d_model)
        check.close(f"`{call}` kept while others are made", first, expected, atol=2e-5)
        made_anew(call, partial(answer, max_len, d_model), expected)
    # Whole tables are made up to here and beyond; rounding the angle in float32 costs up to 1e-4.
    for max_len, d_model in some(seed, ((1000, 32), (2100 + 7 * few(seed), 4))):
        call, expected = f"sinusoidal_encoding({max_len}, {d_model})", parts.sinusoidal_encoding(max_len, d_model)
        check.close(call, answer(max_len, d_model), expected, atol=2e-3)


def slips(max_len: int, d_model: int) -> dict[str, Tensor]:
    """Tables of (max_len, d_model)."""
    column = torch.arange(0, d_model, 2, dtype=torch.float64)  # the paper's 2i
    pair, even = torch.arange(d_model // 2), torch.arange(0, d_model, 2)
    rate = torch.pow(10000.0, -column / d_model)
    longer = torch.pow(10000.0, -column / max(d_model - 2, 1))  # tensor2tensor's
    own = torch.pow(10000.0, -(column + 1) / d_model)  # of the odd columns
    place, fractions = torch.arange(max_len)[:, None], torch.outer(torch.linspace(0, 1, max_len).double(), rate)
    even_row, slow = place % 2 == 0, torch.pow(10000.0, -(place - place % 2) / d_model)

    def at(rate: Tensor) -> Tensor:
        return waves(max_len, rate)

    def in_halves(table: Tensor) -> Tensor:
        return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)

    right, later = at(rate), waves(max_len + 1, rate)[1:]
    sine, cosine = right[:, 0::2], right[:, 1::2]
    nothing, angle = torch.zeros_like(sine), place.double() * rate
    return {
        f"{DOUBLED}: {RIGHT_POWER}": at(rate**2),
        f"{HALVED}: {RIGHT_POWER}": at(rate**0.5),
        f"{DOUBLED}, and each column takes its own number instead of its pair's even one": interleaved(
            at(rate**2)[:, 0::2], at(own**2)[:, 1::2]
        ),
        "the cosine takes the speed of its own column instead of its pair's": interleaved(sine, at(own)[:, 1::2]),
        "`encoding_angle` is given the number of the pair, i, where a column belongs, 2i": at(
            torch.pow(10000.0, -(pair - pair % 2) / d_model)
        ),
        "the exponent is divided by d_model − 2 instead of d_model": at(longer),
        "all sines come before all cosines, and the exponent is divided by d_model − 2": in_halves(at(longer)),
        "all angles are as good as 0: `10000 ** 2 * i / d_model`, for example, needs parentheses": interleaved(
            nothing, torch.ones_like(cosine)
        ),
        "the division by d_model stands outside the exponent (parentheses)": at(torch.pow(10000.0, -column) / d_model),
        "only the first pair has a speed: the others are cut to 0, or divided with `//`": at((column == 0).double()),
        "all sines come first and all cosines after them, instead of alternating": in_halves(right),
        "sine and cosine are swapped: sine belongs on the even columns": interleaved(cosine, sine),
        "every column is a sine": interleaved(sine, sine),
        "the odd columns stay 0: the cosine is missing": interleaved(sine, nothing),
        "the odd columns stay 0: the cosine is written over the sine": interleaved(cosine, nothing),
        "the sines and cosines are joined row by row and reshaped, so that they do not alternate": torch.cat(
            [sine, cosine]
        ).reshape(max_len, d_model),
        "every column is a cosine": interleaved(cosine, cosine),
        "row 0 is all 0, never filled or written over": torch.cat([torch.zeros(1, d_model), right[1:]]),
        "the positions run from 0 to 1": interleaved(fractions.sin(), fractions.cos()),
        "sine and cosine alternate from row to row, not from column to column": interleaved(
            *[torch.where(even_row, sine, cosine)] * 2
        ),
        "`encoding_angle` is given column and position, in this order": interleaved(
            (column * slow).sin(), ((column + 1) * slow).cos()
        ),
        "all sines come first and all cosines after them, and positions start at 1": in_halves(later),
        "positions start at 1 instead of 0": later,
        # In float32 as an answer would be: these angles are so large that rounding shows.
        "the position is multiplied by 10000^(2i / d_model) instead of divided": at(10000.0 ** (even / d_model)),
        "the exponent lacks its minus sign, so that later pairs turn faster": at(
            torch.exp(even * (math.log(10000.0) / d_model))
        ),
        "the exponent lacks its minus sign, and later pairs turn faster": at(  # as above, rounded in another order
            torch.exp(even * math.log(10000.0) / d_model)
        ),
        "the frequencies run from slow to fast": at(rate.flip(0)),
        "the base is 1000 instead of 10000": at(torch.pow(1000.0, -column / d_model)),
        "the base is 100000 instead of 10000": at(torch.pow(100000.0, -column / d_model)),
        "the base is e instead of 10000": at(torch.exp(-column / d_model)),
        "every pair has the speed of the first: the exponent is 0, as `//` makes it, or there is none": at(
            torch.ones_like(rate)
        ),
        "sine and cosine are multiplied by √d_model, which belongs to the embedding": math.sqrt(d_model) * right,
        "the angle is divided by 2π": at(rate / (2 * math.pi)),
        "it is the angle itself: sine and cosine are missing": interleaved(angle, angle),
    }
