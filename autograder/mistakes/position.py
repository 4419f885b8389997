"""Slips of lesson 3: embeddings, the angle, sinusoidal and learned positions, the shift matrix."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def token_embedding(lookup: Tensor, vocab_size: int) -> dict[str, Tensor]:
    """Embeddings for the rows that the table gives, `lookup` (batch, seq_len, d_model)."""
    d_model = lookup.size(-1)
    return {
        "the rows are not multiplied by √d_model": lookup,
        "the rows are divided by √d_model instead of multiplied": lookup / math.sqrt(d_model),
        "the rows are multiplied by d_model instead of √d_model": lookup * d_model,
        "the rows are multiplied by √vocab_size instead of √d_model": lookup * math.sqrt(vocab_size),
        "the rows are multiplied by √seq_len instead of √d_model": lookup * math.sqrt(lookup.size(1)),
    }


def encoding_angle(position: int, column: int, d_model: int) -> dict[str, Tensor]:
    """Angles () for one position and column."""
    even = column - column % 2

    def turned(exponent: float) -> Tensor:
        return torch.tensor(position / 10000.0**exponent)

    slips = {
        "the exponent is doubled, as by 2 · column: an even column's number already is the paper's 2i": turned(
            2 * even / d_model
        ),
        "each column takes its own number, and doubles it; an even column's already is the paper's 2i": turned(
            2 * column / d_model
        ),
        "the number of the pair stands in the exponent: it should be twice that, 2i": turned(even / 2 / d_model),
        "the position is multiplied by 10000^(2i / d_model) instead of divided": turned(-even / d_model),
        "the exponent is missing its division by d_model": turned(even),
        "an odd column uses its own number instead of its pair's even one": turned(column / d_model),
        "an odd column takes the angle of the next pair": turned((column + column % 2) / d_model),
        "the exponent is divided by d_model − 2 instead of d_model": turned(even / max(d_model - 2, 1)),
        "the division by d_model stands outside the exponent (parentheses)": turned(even) / d_model,
        "10000 is squared first, as in `10000 ** 2 * i / d_model`: the exponent needs parentheses": torch.tensor(
            position / 10000.0**2 * (even / 2) / d_model
        ),
        "positions are counted from 1 instead of 0": turned(even / d_model) * (position + 1) / position,
        "the exponent is 0, as `//` makes it, so that every pair turns at the speed of the first": turned(0.0),
        "the base is 1000 instead of 10000": torch.tensor(position / 1000.0 ** (even / d_model)),
        "the base is e instead of 10000": torch.tensor(position / math.exp(even / d_model)),
        "position and column are exchanged": torch.tensor(column / 10000.0 ** ((position - position % 2) / d_model)),
        "position / 10000 is raised to the power, not 10000 alone (parentheses)": torch.tensor(
            (position / 10000.0) ** (even / d_model)
        ),
        "it is the angle in degrees": torch.rad2deg(turned(even / d_model)),
        "it is the sine of the angle": turned(even / d_model).sin(),
        "it is the cosine of the angle": turned(even / d_model).cos(),
    }
    right = turned(even / d_model)
    apart = {slip: angle for slip, angle in slips.items() if not torch.isclose(angle, right, rtol=1e-2)}
    return {slip: angle for slip, angle in apart.items() if angle != 0}  # 0 proves nothing


def sinusoidal_encoding(max_len: int, d_model: int) -> dict[str, Tensor]:
    """Tables of (max_len, d_model)."""
    column = torch.arange(0, d_model, 2, dtype=torch.float64)  # the paper's 2i
    rate = torch.pow(10000.0, -column / d_model)
    right = _waves(max_len, rate)
    sine, cosine = right[:, 0::2], right[:, 1::2]
    pair, longer = torch.arange(d_model // 2), torch.pow(10000.0, -column / max(d_model - 2, 1))  # tensor2tensor's
    own = torch.pow(10000.0, -(column + 1) / d_model)  # of the odd columns
    return {
        "the exponent is doubled: 0, 2, 4, … already is the paper's 2i": _waves(max_len, rate**2),
        "the exponent is halved: it is 2i / d_model, with i = 0, 1, 2, …": _waves(max_len, rate**0.5),
        "the exponent is doubled, and each column takes its own number instead of its pair's even one": _interleaved(
            _waves(max_len, rate**2)[:, 0::2], _waves(max_len, own**2)[:, 1::2]
        ),
        "the cosine takes the speed of its own column instead of its pair's": _interleaved(
            sine, _waves(max_len, own)[:, 1::2]
        ),
        "`encoding_angle` is given the number of the pair, i, where a column belongs, 2i": _waves(
            max_len, torch.pow(10000.0, -(pair - pair % 2) / d_model)
        ),
        "the exponent is divided by d_model − 2 instead of d_model": _waves(max_len, longer),
        "all sines come before all cosines, and the exponent is divided by d_model − 2": torch.cat(
            [_waves(max_len, longer)[:, 0::2], _waves(max_len, longer)[:, 1::2]], dim=1
        ),
        "all angles are as good as 0: `10000 ** 2 * i / d_model`, for example, needs parentheses": _interleaved(
            torch.zeros_like(sine), torch.ones_like(cosine)
        ),
        "the division by d_model stands outside the exponent (parentheses)": _waves(
            max_len, torch.pow(10000.0, -column) / d_model
        ),
        "the exponent is −1 or 0, as `//` makes it, and 10000 ** −1 is 0 in whole numbers": _waves(
            max_len, (column == 0).double()
        ),
        "all sines come first and all cosines after them, instead of alternating": torch.cat([sine, cosine], dim=1),
        "sine and cosine are swapped: sine belongs on the even columns": _interleaved(cosine, sine),
        "every column is a sine": _interleaved(sine, sine),
        "every column is a cosine": _interleaved(cosine, cosine),
        "positions start at 1 instead of 0": _waves(max_len + 1, rate)[1:],
        # In float32 as an answer would be: these angles are so large that rounding shows.
        "the position is multiplied by 10000^(2i / d_model) instead of divided": _waves(
            max_len, 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
        ),
        "the exponent lacks its minus sign, so that later pairs turn faster": _waves(
            max_len, torch.exp(torch.arange(0, d_model, 2) * (math.log(10000.0) / d_model))
        ),
        "the frequencies run from slow to fast": _waves(max_len, rate.flip(0)),
        "the base is 1000 instead of 10000": _waves(max_len, torch.pow(1000.0, -column / d_model)),
        "the base is 100000 instead of 10000": _waves(max_len, torch.pow(100000.0, -column / d_model)),
        "the base is e instead of 10000": _waves(max_len, torch.exp(-column / d_model)),
        "the exponent is 0, as `//` makes it, so that every pair has the speed of the first": _waves(
            max_len, torch.ones_like(rate)
        ),
        "sine and cosine are multiplied by √d_model, which belongs to the embedding": math.sqrt(d_model) * right,
        "the angle is divided by 2π": _waves(max_len, rate / (2 * math.pi)),
        "it is the angle itself: sine and cosine are missing": _interleaved(
            *[torch.arange(max_len, dtype=torch.float64)[:, None] * rate] * 2
        ),
    }


def _waves(max_len: int, rate: Tensor) -> Tensor:
    angle = torch.outer(torch.arange(max_len, dtype=rate.dtype), rate)
    return _interleaved(angle.sin(), angle.cos())


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    return torch.stack([even, odd], dim=-1).flatten(1).float()


def dropout_of_sum(x: Tensor, encoding: Tensor, p: float) -> dict[str, tuple[Tensor, Tensor]]:
    """What dropout in the wrong place makes of x + encoding: for each slip (dropped entries, kept entries).

    Args:
        x: (batch, seq_len, d_model).
        encoding: (seq_len, d_model).
    """
    x = x.detach()
    added, nothing = x + encoding, torch.zeros_like(x)
    return {
        "dropout acts on the input, before the encoding is added": (encoding.expand_as(x), x / (1 - p) + encoding),
        "dropout acts on the encoding only": (x, x + encoding / (1 - p)),
        "dropout is applied twice": (nothing, added / (1 - p) ** 2),
        "the probability is 1 − dropout instead of dropout": (nothing, added / p),
        "the probability is 0.5, whatever `dropout` says": (nothing, added / 0.5),
        "the probability is 0.1, whatever `dropout` says": (nothing, added / 0.9),
        "what is kept is not divided by 1 − dropout": (nothing, added),
    }


def positional_encoding(x: Tensor, encoding: Tensor) -> dict[str, Tensor]:
    """Sums for x (batch, seq_len, d_model) and the table `encoding` (max_len, d_model)."""
    batch, seq_len, d_model = x.shape
    return {
        "the encoding is not added": x,
        "the encoding is returned without the input": encoding[:seq_len].expand_as(x),
        "the encoding is multiplied instead of added": x * encoding[:seq_len],
        "the input is multiplied by √d_model once more": x * math.sqrt(d_model) + encoding[:seq_len],
        "the row of the encoding is chosen by the place in the batch, not in the sequence": (
            x + encoding[:batch].unsqueeze(1)
        ),
        "every position gets the row of position 0": x + encoding[0],
        "every position gets the row of the sequence's length": x + encoding[seq_len],
        "the rows start at 1 instead of 0": x + encoding[1 : seq_len + 1],
        "the encoding is subtracted": x - encoding[:seq_len],
        "the last rows of the table are taken instead of the first": x + encoding[-seq_len:],
        "the encoding is added twice": x + 2 * encoding[:seq_len],
        "the encoding is multiplied by √d_model": x + math.sqrt(d_model) * encoding[:seq_len],
    }


def sinusoidal_sum(x: Tensor, max_len: int) -> dict[str, Tensor]:
    """Sums for x (batch, seq_len, d_model) and a sinusoidal table of `max_len` rows, which may be wrong itself."""
    seq_len, d_model = x.shape[1:]
    sums = positional_encoding(x, _waves(max_len, torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)))
    for slip, table in sinusoidal_encoding(max_len, d_model).items():
        output = x + table[:seq_len]
        if not any(torch.allclose(output, known) for known in sums.values()):
            sums[f"in the table {slip}"] = output
    return sums


def places(tokens: Tensor, embedding: Tensor, table: Tensor) -> dict[str, Tensor]:
    """Vectors for tokens (batch, seq_len), an embedding (vocab_size, d_model) and a table (max_len, 1, d_model)."""
    rows, encoding = embedding[tokens], table.squeeze(1)
    slips = positional_encoding(rows * math.sqrt(rows.size(-1)), encoding)
    return slips | {"the rows of the embedding are not multiplied by √d_model": rows + encoding[: tokens.size(1)]}


def shifted(encoding: Tensor, offset: int) -> dict[str, Tensor]:
    """Where wrong shift matrices take the rows of a sinusoidal `encoding` (max_len, d_model), offset > 0.

    Returns:
        (max_len − offset, d_model) for each slip, beside `encoding[offset:]` for the right matrix.
    """
    start = encoding[: len(encoding) - offset]
    sine, cosine = start[:, 0::2], start[:, 1::2]
    speed = torch.pow(10000.0, -torch.arange(0, encoding.size(1), 2) / encoding.size(1))
    turn = offset * speed
    pair = torch.arange(encoding.size(1) // 2)

    def turned(angle: Tensor) -> Tensor:
        return _interleaved(angle.cos() * sine + angle.sin() * cosine, angle.cos() * cosine - angle.sin() * sine)

    return {
        "the rotation turns the wrong way: the minus sign belongs to the other sine": turned(-turn),
        "nothing is shifted": start,
        "every pair turns at the speed of the first": turned(torch.full_like(turn, float(offset))),
        "the exponent is halved: it is 2i / d_model, with i = 0, 1, 2, …": turned(offset * speed**0.5),
        "`encoding_angle` is given the number of the pair, i, where a column belongs, 2i": turned(
            offset * torch.pow(10000.0, -(pair - pair % 2) / encoding.size(1))
        ),
        "the offset does not enter the angle": turned(speed),
        "the exponent is doubled: 0, 2, 4, … already is the paper's 2i": turned(offset * speed**2),
        "the exponent is halved, and the rotation turns the wrong way": turned(-offset * speed**0.5),
        "the exponent is doubled, and the rotation turns the wrong way": turned(-offset * speed**2),
        "every pair turns at the speed of the first, and the wrong way": turned(torch.full_like(turn, -float(offset))),
        "only the diagonal is filled: the sines are missing": start * turn.cos().repeat_interleave(2),
        "the 2 × 2 matrices overlap: the one of pair i starts in row and column 2i, not i": (
            start @ _overlapping(turn).mT
        ),
        "both sines have the same sign": _interleaved(
            turn.cos() * sine + turn.sin() * cosine, turn.cos() * cosine + turn.sin() * sine
        ),
        "the second cosine of each rotation is missing": _interleaved(
            turn.cos() * sine + turn.sin() * cosine, -turn.sin() * sine
        ),
        "sine and cosine are swapped in each rotation": _interleaved(
            turn.sin() * sine + turn.cos() * cosine, turn.sin() * cosine - turn.cos() * sine
        ),
        "the rotations stand for halves, but the encoding alternates sine and cosine": start @ _halves(turn).mT,
    }


def _overlapping(turn: Tensor) -> Tensor:
    """The rotations, each written one row and one column further on than the one before, over its end."""
    matrix = torch.zeros(2 * len(turn), 2 * len(turn))
    for pair, angle in enumerate(turn):
        cosine, sine = angle.cos(), angle.sin()
        matrix[pair : pair + 2, pair : pair + 2] = torch.stack([cosine, sine, -sine, cosine]).view(2, 2)
    return matrix


def _halves(turn: Tensor) -> Tensor:
    """The rotations of an encoding that had all its sines first and all its cosines after them."""
    cosine, sine = torch.diag(turn.cos()), torch.diag(turn.sin())
    return torch.cat([torch.cat([cosine, sine], dim=1), torch.cat([-sine, cosine], dim=1)])
