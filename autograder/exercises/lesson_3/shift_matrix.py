"""Exercise `shift_matrix`: its cases and its slips."""

import random
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_3.shared import DOUBLED, HALVED, RIGHT_POWER, interleaved, made_anew
from autograder.exercises.shared import some


def cases(answer: Callable[[int, int], Tensor], *, seed: int = 0) -> None:
    """Matrices for offsets forward, backward and 0, each its own."""
    check.close("shift_matrix(0, 8)", answer(0, 8), torch.eye(8))
    generator = random.Random(seed)
    drawn = [(generator.randint(-8, 8), 2 * pairs) for pairs in (1, 2, 3, 5, 8)]
    fixed = (0, 2), (1, 2), (-1, 2), (2, 4), (-5, 8)
    for offset, d_model in some(seed, (*fixed, *drawn, (11, 12), (-7, 6), (5, 32), (150, 6))):
        length = 40 + abs(offset)
        allowed = 3e-5 if abs(offset) < 100 else 1e-3  # powers of a matrix lose digits
        further = parts.sinusoidal_encoding(length + abs(offset), d_model)
        encoding, start, stop = further[:length], max(0, -offset), length - max(0, offset)
        call = f"shift_matrix({offset}, {d_model})"
        matrix = answer(offset, d_model)
        check.shape(call, matrix, rows=d_model, columns=d_model)
        check.true(not matrix.requires_grad, f"`{call}` asks for gradients.")
        answer(offset + 1, d_model)
        moved, wanted = encoding[start:stop] @ matrix.float().T, encoding[start + offset : stop + offset]
        slips = {"a negative offset moves forward": further[start - offset : stop - offset]} if offset < 0 else {}
        check.close(f"{call} @ encoding[pos]", moved, wanted, mistakes=slips, atol=allowed)
        sines, cosines = encoding[abs(offset), 0::2], encoding[abs(offset), 1::2]
        sines = sines if offset > 0 else -sines
        even, expected = torch.arange(0, d_model, 2), torch.zeros(d_model, d_model)
        expected[even, even] = expected[even + 1, even + 1] = cosines
        expected[even, even + 1], expected[even + 1, even] = sines, -sines  # no other matrix does so however far
        check.close(call, matrix.float(), expected, atol=2 * allowed)
        made_anew(call, partial(answer, offset, d_model), expected)


def slips(encoding: Tensor, offset: int) -> dict[str, Tensor]:
    """Where wrong shift matrices take the rows of a sinusoidal `encoding` (max_len, d_model), offset > 0.

    Returns:
        (max_len − offset, d_model) for each slip, beside `encoding[offset:]` for the right matrix.
    """
    start = encoding[: len(encoding) - offset]
    sine, cosine = start[:, 0::2], start[:, 1::2]
    speed = torch.pow(10000.0, -torch.arange(0, encoding.size(1), 2) / encoding.size(1))
    turn, pair = offset * speed, torch.arange(encoding.size(1) // 2)
    own_sine, own_cosine = turn.sin(), turn.cos()

    def turned(angle: Tensor) -> Tensor:
        return interleaved(angle.cos() * sine + angle.sin() * cosine, angle.cos() * cosine - angle.sin() * sine)

    right = turned(turn)
    new_sine, new_cosine = own_cosine * sine + own_sine * cosine, own_cosine * cosine - own_sine * sine
    return {
        "the rotation turns the wrong way: the minus sign belongs to the other sine, or the angle has the wrong sign": (
            turned(-turn)
        ),
        "nothing is shifted": start,
        "`encoding_angle` is given column and offset, in this order": turned(
            2 * pair / 10000.0 ** ((offset - offset % 2) / encoding.size(1))
        ),
        "the angles are in degrees": turned(turn.rad2deg()),
        "only the last 2 × 2 matrix is filled": right * (pair == pair[-1]).repeat_interleave(2),
        "the last 2 × 2 matrix is not filled": right * (pair != pair[-1]).repeat_interleave(2),
        "only the first pair turns": turned(turn * (pair == 0)),
        "the rotations are added to the identity instead of to zeros": right + start,
        "a 2 × 2 matrix is written at every column, where pairs begin at every second one": start
        @ _written(turn.repeat_interleave(2)[:-1], encoding.size(1)).mT,
        "the identity's rows are rolled, which moves columns, not positions": start.roll(offset, dims=1),
        "the 2 × 2 matrix of each pair stands in the rows of every pair": interleaved(
            *(part.sum(1, keepdim=True).expand_as(sine) for part in (new_sine, new_cosine))
        ),
        "every pair turns at the speed of the first": turned(torch.full_like(turn, float(offset))),
        f"{HALVED}: {RIGHT_POWER}": turned(offset * speed**0.5),
        "the base is 1000 instead of 10000": turned(offset * speed**0.75),
        "`encoding_angle` is given the number of the pair, i, where a column belongs, 2i": turned(
            offset * torch.pow(10000.0, -(pair - pair % 2) / encoding.size(1))
        ),
        "the offset does not enter the angle": turned(speed),
        f"{DOUBLED}: {RIGHT_POWER}": turned(offset * speed**2),
        f"{HALVED}, and the rotation turns the wrong way": turned(-offset * speed**0.5),
        f"{DOUBLED}, and the rotation turns the wrong way": turned(-offset * speed**2),
        "every pair turns at the speed of the first, and the wrong way": turned(torch.full_like(turn, -float(offset))),
        "only the diagonal is filled: the sines are missing": start * own_cosine.repeat_interleave(2),
        "the 2 × 2 matrices overlap: the one of pair i starts in row and column 2i, not i": (
            start @ _written(turn, encoding.size(1)).mT
        ),
        "both sines have the same sign": interleaved(new_sine, own_cosine * cosine + own_sine * sine),
        "the second cosine of each rotation is missing": interleaved(new_sine, -own_sine * sine),
        "sine and cosine are swapped in each rotation": interleaved(
            own_sine * sine + own_cosine * cosine, own_sine * cosine - own_cosine * sine
        ),
        "the rotations stand for halves, but the encoding alternates sine and cosine": start @ _halves(turn).mT,
    }


def _written(angles: Tensor, width: int) -> Tensor:
    """A matrix of rotations, each written one row and one column further on than the one before, over its end."""
    matrix = torch.zeros(width, width)
    for column, angle in enumerate(angles):
        cosine, sine = angle.cos(), angle.sin()
        matrix[column : column + 2, column : column + 2] = torch.stack([cosine, sine, -sine, cosine]).view(2, 2)
    return matrix


def _halves(turn: Tensor) -> Tensor:
    """The rotations of an encoding that had all its sines first and all its cosines after them."""
    cosine, sine = torch.diag(turn.cos()), torch.diag(turn.sin())
    return torch.cat([torch.cat([cosine, sine], dim=1), torch.cat([-sine, cosine], dim=1)])
