"""Exercise `rotate`: its cases and its slips."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.lesson_9.shared import turned
from autograder.exercises.shared import DTYPES, device, few, possible, sizes, strided, tensors

Rotate = Callable[..., Tensor]
BASE = 100.0  # so that the angles of a wrong rate stay small, too: those of thousands of turns are hardly right
FARTHEST = 60  # an angle in float32 is right to 60 · 6e-8


def cases(answer: Rotate, *, seed: int = 0) -> None:
    """Values and gradients for any leading dimensions, layout and dtype, any positions and any base."""
    check.defaults("rotate", answer, base=10000.0)
    ranges = {"batch": (1, 3), "num_heads": (1, 4), "seq_len": (1, 9), "pairs": (1, 8)}
    for index, size in enumerate(sizes(seed, 5, **ranges)):
        batch, num_heads, seq_len, pairs = size.values()
        shape = ((seq_len, 2 * pairs), (batch, seq_len, 2 * pairs), (batch, num_heads, seq_len, 2 * pairs))[index % 3]
        (x,) = tensors(shape, seed=31 * seed + index, dtype=DTYPES[index % 2])
        x = strided(x) if x.dim() > 2 and index % 2 else x
        x.requires_grad_()
        start = (index * 7 + seed) % FARTHEST
        ordered = torch.arange(start, start + seq_len)
        for places in (ordered, ordered.flip(0), 3 * (ordered % 5)):
            for base in (10000.0, 100.0 + few(seed)):
                expected = turned(x, places, base=base)
                options = {} if base == 10000.0 else {"base": base}
                name = "rotate(x, positions)" if base == 10000.0 else f"rotate(x, positions, base={base:g})"
                with check.case(x=x, positions=places), check.unchanged(x=x, positions=places):
                    output = answer(x, places, **options)
                    check.dtype(name, output, x.dtype)
                    check.close(name, output, expected.detach(), rtol=1e-4, atol=2e-4)
        check.gradients_agree(name, output, expected, x=x)
    _is_a_new_tensor(answer, x.detach(), places)
    device(seed, "rotate(x, positions)", answer, x.detach(), places)


def _is_a_new_tensor(answer: Rotate, x: Tensor, positions: Tensor) -> None:
    """What is written into the result is not in x, not even where nothing is turned."""
    for places in (positions, torch.zeros_like(positions)):
        given = x.clone()
        with check.case(x=given, positions=places):
            answer(given, places).fill_(7.0)
            verdict = "What is written into `rotate(x, positions)` changes `x`: the two share their numbers."
            check.true(torch.equal(given, x), verdict, "Return a new tensor, also where nothing is turned.")


def distance_cases(answer: Rotate, *, seed: int = 0) -> None:
    """A score does not change when both positions move by the same, and does when one of them does."""
    for index, size in enumerate(sizes(seed, 3, pairs=(1, 8), distance=(1, 9))):
        d_k, distance = 2 * size["pairs"], size["distance"]
        query, key = tensors((1, d_k), (1, d_k), seed=31 * seed + index)
        (query, key), many = (query.expand(9, d_k), key.expand(9, d_k)), 4 * torch.arange(9)
        length = query.norm(dim=-1)
        with check.case(query=query[:1], key=key[:1], distance=distance), check.unchanged(query=query, key=key):
            scores = (answer(query, many + distance, BASE) * answer(key, many, BASE)).sum(-1)
            told = score_slips(query, key, many, distance)
            check.close(
                f"the scores at a distance of {distance}",
                scores,
                scores[:1].expand(9).detach(),
                atol=2e-3,
                mistakes=told,
            )
            lengths = answer(query, many, BASE).norm(dim=-1)
            name = "the length of each turned vector"
            check.close(name, lengths, length, atol=1e-3)


def slips(x: Tensor, positions: Tensor, base: float = 10000.0) -> dict[str, Tensor]:
    """Values for x (…, seq_len, d_k) at `positions` (seq_len,)."""
    d_k = x.size(-1)
    pair = torch.arange(d_k // 2, dtype=torch.float64)
    first, second = x[..., 0::2], x[..., 1::2]
    angles = positions.double().unsqueeze(-1) * base ** (-2 * pair / d_k)
    cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    def paired(left: Tensor, right: Tensor) -> Tensor:
        return torch.stack((left, right), -1).flatten(-2)

    def turn(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        return first * cosines - second * sines, first * sines + second * cosines

    left, right = turn(first, second)
    at = functools.partial(turned, x, positions)
    count = torch.arange(x.size(-2))
    slips = {
        "column j is paired with column j + d_k/2, not with its neighbour": at(base=base, halves=True),
        "the pairs are taken from the two halves of the columns, and put back as neighbours": paired(
            *turn(*x.chunk(2, dim=-1))
        ),
        "the pairs are neighbours, and are put back as two halves": torch.cat([left, right], dim=-1),
        "the vectors are turned the other way round": turned(x, -positions, base=base),
        "the exponent is −i / d_k: pair i has 2i in it": at(rates=base ** (-pair / d_k)),
        "the exponent is −4i / d_k, not −2i / d_k": at(rates=base ** (-4 * pair / d_k)),
        "the exponent is positive: the angles grow from pair to pair": at(rates=base ** (2 * pair / d_k)),
        "all pairs are turned by the same angle": at(rates=torch.ones_like(pair)),
        "`positions` is not used: they are counted from 0": turned(x, count, base=base),
        "the positions are counted from 1": turned(x, positions + 1, base=base),
        "only the first position is used, and counted on from": turned(x, positions[:1] + count, base=base),
        "`base` is not used: it stays at 10000": at(),
        "sine and cosine are exchanged": paired(first * sines - second * cosines, first * cosines + second * sines),
        "the first of a pair (a, b) becomes a cos α + b sin α, not a cos α − b sin α": paired(
            first * cosines + second * sines, right
        ),
        "the second of a pair (a, b) becomes b cos α − a sin α, not a sin α + b cos α": paired(
            left, second * cosines - first * sines
        ),
        "the second of a pair is made from the first as it has already been turned": paired(
            left, left * sines + second * cosines
        ),
        "only the cosines are used": paired(first * cosines, second * cosines),
        "the wave is added, as in lesson 3": x + paired(sines, cosines),
        "nothing is turned": x,
    }
    return possible(slips, paired(left, right))


def score_slips(query: Tensor, key: Tensor, positions: Tensor, distance: int) -> dict[str, Tensor]:
    """Scores (count,) of one query and one key (count, d_k), `distance` apart, that depend on more than that."""
    slips = {
        "the wave is added to the vectors instead of turning them": (
            (query + _wave(query, positions + distance)) * (key + _wave(key, positions))
        ).sum(-1),
        "columns are paired in one way and the angles in another: both conventions in one": (
            (_in_both(query, positions + distance) * _in_both(key, positions)).sum(-1)
        ),
    }
    return {slip: value for slip, value in slips.items() if (value - value[:1]).abs().max() > 0.05}


def _wave(x: Tensor, positions: Tensor) -> Tensor:
    ones = torch.tensor([0.0, 1.0]).repeat(x.size(-1) // 2).expand_as(x)
    return turned(ones, -positions, base=BASE)


def _in_both(x: Tensor, positions: Tensor) -> Tensor:
    """Halves are paired, and every two neighbouring columns have one angle."""
    d_k = x.size(-1)
    angles = positions.double().unsqueeze(-1) * BASE ** (-torch.arange(0, d_k, 2) / d_k)
    angles = angles.repeat_interleave(2, dim=-1).to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()
