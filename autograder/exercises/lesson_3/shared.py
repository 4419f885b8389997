"""What exercises of lesson 3 share."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder import check
from autograder.exercises.shared import sizes, tensors

Layer = Callable[..., Any]  # makes a module whose parts have names of the exercise


# Each says two mistakes that give the same values everywhere, as 100 = √10000.
HALVED = "the exponent is halved, or the base is 100"
DOUBLED = "the exponent is doubled, or the base is squared"
RIGHT_POWER = "it should be 10000^(2i / d_model), where an even column's number already is 2i"


def layers(answer: Layer, seed: int) -> Iterator[tuple[Any, list[int], dict[str, int], Callable[[int], Tensor]]]:
    """Make layers in eval mode, with lengths to try one after the other and how to draw x (batch, length, d_model)."""
    ranges = {"batch": (1, 14), "seq_len": (1, 9), "pairs": (1, 8), "spare": (0, 20)}
    for index, size in enumerate(sizes(seed, 4, **ranges)):
        batch, seq_len, pairs, spare = size.values()
        described = {"d_model": 2 * pairs, "max_len": seq_len + (spare if index % 2 else 0)}
        layer = answer(**described, dropout=0.0).eval()
        answer(2 * pairs, 2), answer(2 * pairs + 2, described["max_len"] + 30)

        def x_of(length: int, batch: int = batch, d_model: int = 2 * pairs, index: int = index) -> Tensor:
            (x,) = tensors((batch, length, d_model), seed=31 * seed + index + length)
            x[:, -1] = 0.0
            return x

        yield layer, [seq_len, 1, described["max_len"], seq_len], described, x_of


def rows_learn(call: str, rows: Tensor, output: Tensor, expected: Tensor, **tables: Tensor) -> None:
    """Each of the rows that were looked up gets its gradient, as Adam takes it."""
    ((name, table),) = tables.items()
    gradient = None
    if output.requires_grad:
        (gradient,) = torch.autograd.grad(output.sum(), table, allow_unused=True, retain_graph=True)
    if gradient is not None:
        slip = "Adam, which lesson 6 trains with, takes no sparse gradients."
        check.true(not gradient.is_sparse, f"The gradient of `{name}` is sparse.", slip)
        verdict = f"A row of `{name}` that is used gets no gradient."
        check.true(gradient[rows].any(dim=-1).all(), verdict)
    check.gradients_agree(call, output / 4, expected / 4, **tables)


def lengthened(table: Tensor, turn: int) -> Tensor:
    """The table, its rows made a hundred times as long in every second turn."""
    with torch.no_grad():
        table.mul_(100.0 if turn % 2 else 1.0)
    return table


def in_double(layer: Layer, x: Tensor, table: Tensor) -> None:
    """In float64, what is added to x is the table itself, to the last digits."""
    x = x.double() / 3
    expected = x + table.detach().reshape(-1, x.size(-1))[: x.size(1)]
    output = layer(x)
    check.dtype("`layer(x)` in float64", output, torch.float64)
    check.close("`layer(x)` in float64", output, expected, rtol=1e-9, atol=1e-9)


def made_anew(call: str, answer: Callable[[], Tensor], expected: Tensor) -> None:
    """What is written into one result is not there in the next, and stays in the one."""
    one = answer().fill_(7.0)
    right = torch.allclose(answer().float(), expected, atol=1e-2) and bool((one == 7.0).all())
    slip = "Every call has to make a tensor of its own."
    check.true(right, f"Two results of `{call}` share their numbers: what is written into one changes the other.", slip)


def same_shape(name: str, output: Tensor, x: Tensor) -> None:
    """The shape of the output is that of x (batch, seq_len, d_model)."""
    batch, seq_len, d_model = x.shape
    check.shape(name, output, batch=batch, seq_len=seq_len, d_model=d_model)


def ids(vocab_size: int, *shape: int, seed: int) -> Tensor:
    """Draw ids of this shape, the largest one among them."""
    ids = torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(seed))
    ids.view(-1)[-1] = vocab_size - 1
    return ids


def waves(max_len: int, rate: Tensor) -> Tensor:
    angle = torch.outer(torch.arange(max_len, dtype=rate.dtype), rate)
    return interleaved(angle.sin(), angle.cos())


def interleaved(even: Tensor, odd: Tensor) -> Tensor:
    return torch.stack([even, odd], dim=-1).flatten(1).float()
