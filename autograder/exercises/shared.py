"""Inputs drawn from a seed: sizes from small to large, sentences of token ids, tensors in any layout and dtype."""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from autograder import check, data

PAD_IDS = 0, 1, 9, 300, 2048  # the last ones end in the same bits as smaller ids
DTYPES = torch.float32, torch.float64
VISIBLE = 0  # the seed of the cases that students see
Case = TypeVar("Case")


def each_smallest(seed: int, count: int, **ranges: tuple[int, int]) -> Iterator[dict[str, int]]:
    """Draw sizes as `sizes` does, and such in which one of them alone is at its smallest."""
    ordinary = dict(zip(ranges, range(2, 9), strict=False))
    drawn, alone = sizes(seed, count, **ranges), (ordinary | {name: low} for name, (low, _) in ranges.items())
    yield next(drawn)
    yield from some(seed, alone)
    yield from drawn


def some(seed: int, cases: Iterable[Case]) -> Iterator[Case]:
    """All cases for the seed that students see, every third one for another.

    What is wrong shows in the cases that they see; those of a hidden test ask whether an answer knows these by heart.
    """
    return islice(cases, 0 if seed == VISIBLE else 1, None, 1 if seed == VISIBLE else 3)


def few(seed: int) -> int:
    """What a seed, of any size, adds to a size or to a number: 0 where students see it, and at most 96."""
    return seed % 97


def rate_slips(values: Tensor, p: float) -> dict[str, tuple[Tensor, Tensor]]:
    """What dropping entries of values otherwise than at the rate `p` makes of them: (dropped entries, kept entries)."""
    nothing = torch.zeros_like(values)
    kept = {
        "dropout acts twice": (1 - p) ** 2,
        "the probability is 1 − dropout instead of dropout": p,
        "the probability is half of `dropout`": 1 - p / 2,
        "the probability is 0.5 instead of `dropout`": 0.5,
        "the probability is 0.1 instead of `dropout`": 0.9,
        "what is kept is not divided by 1 − dropout": 1.0,
    }
    return {slip: (nothing, values / divisor) for slip, divisor in kept.items()}


def device(seed: int, name: str, function: Callable[..., object], *inputs: object) -> None:
    """As `check.device`, for the seed that students see: where tensors are made does not depend on their numbers."""
    if seed == VISIBLE:
        check.device(name, function, *inputs)


def sizes(seed: int, count: int, **ranges: tuple[int, int]) -> Iterator[dict[str, int]]:
    """Draw sizes, each within its range (both ends included).

    Yields:
        `some` of these: all at their smallest, all as equal as the ranges let them be, twice; `count` drawn ones, the
        smaller first; all at their largest. Equal sizes are where dimensions are mistaken for each other, a repeated
        one is where an answer remembers the last, and the largest is beyond what somebody may have taken for the
        greatest.
    """
    generator = random.Random(seed)
    equal = max(low for low, _ in ranges.values()) + 1 + seed % 3
    drawn = [{name: generator.randint(low, high) for name, (low, high) in ranges.items()} for _ in range(count)]
    smallest = {name: low for name, (low, _) in ranges.items()}
    alike = {name: min(equal, high) for name, (_, high) in ranges.items()}
    largest = {name: high for name, (_, high) in ranges.items()}
    by_size = sorted(drawn, key=lambda size: math.prod(size.values()))
    yield from some(seed, [smallest, alike, alike, *by_size, largest])


def tensors(*shapes: Sequence[int], seed: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, ...]:
    """Draw standard normal tensors, one for each shape, however few there are."""
    drawn = data.normal(*shapes, seed=seed, dtype=dtype)
    return drawn if isinstance(drawn, tuple) else (drawn,)


def strided(x: Tensor) -> Tensor:
    """The same numbers in a memory where a dimension is not beside its neighbour, as after splitting heads."""
    return x.transpose(-2, -3 if x.dim() > 2 else -1).contiguous().transpose(-2, -3 if x.dim() > 2 else -1)


def columns(x: Tensor, starts: Iterable[int], size: int) -> Tensor:
    """Groups of x (batch, seq_len, d_model), each of `size` columns from its start: (batch, groups, seq_len, size)."""
    return torch.stack([x[..., start:][..., :size] for start in starts], dim=1)


def sentences(seed: int, *, longest: int = 100) -> Iterator[tuple[Tensor, int]]:
    """Draw token ids (batch, seq_len) with a pad id, `some` of many shapes, the smallest first.

    Padding stands anywhere in some rows, at the end in others, and not at all in others; every row has a real token.
    Ids reach over all that a pad id could be mistaken for: BOS and EOS, its neighbours, and ids that share its bits.
    """
    generator = random.Random(seed)
    shapes = [(1, 1), (1, 3), (3, 1), (2, 3), (2, 3), (3, 3), (4, 4), (2, 7), (5, 2), (1, longest), (2, longest)]
    for index, (batch, seq_len) in some(seed, enumerate(shapes)):
        pad_id = PAD_IDS[(3 * index + 1 + seed) % len(PAD_IDS)] if (index + 1) // 2 % 2 else 0
        others = [1, 2, 3, 4, 5, 44, 556, pad_id + 1, pad_id - 1, pad_id + 256, pad_id + 65536, 40000]
        words = [word for word in others if word != pad_id and word >= 0]
        rows = [[generator.choice(words) for _ in range(seq_len)] for _ in range(batch)]
        for row, words_of_row in enumerate(rows):
            wanted = (index + row) % 3  # none, at the end, anywhere
            if seq_len == 1 or not wanted:
                continue
            places = generator.sample(range(seq_len), generator.randint(1, seq_len - 1))
            if wanted == 1:
                places = list(range(seq_len - len(places), seq_len))
            for place in places:
                words_of_row[place] = pad_id
        yield torch.tensor(rows), pad_id


def masks(seed: int, *shape: int) -> Tensor:
    """Draw a mask of this shape, True = may attend, in which every row allows some key and most block some."""
    (drawn,) = tensors(shape, seed=seed)
    allowed = torch.arange(drawn.numel() // shape[-1]).reshape(*shape[:-1], 1) * 3 + seed
    return (drawn < 0.4) | (torch.arange(shape[-1]) == allowed % shape[-1])


def rested(name: str, module: nn.Module, *inputs: Tensor) -> Any:
    """What `module` makes of its inputs in eval mode, in which it stays, called `name`: the same at every call."""
    held = {key: value.detach().clone() for key, value in _state(module).items()}
    made = dict(module.named_parameters())
    output, again = (module.eval()(*(each.clone() for each in inputs)) for _ in range(2))
    if isinstance(output, Tensor) and isinstance(again, Tensor) and not _same(output, again):
        now = _state(module)
        anew = [key.partition(".")[0] for key, value in module.named_parameters() if value is not made.get(key)]
        verdict = f"Your code makes `{(anew or [''])[0]}` anew in `forward`, so two calls of `{name}` differ."
        check.true(not anew, verdict, "A part is made once, in `__init__`.")
        changed = next((key for key in held if key in now and not _same(now[key].detach(), held[key])), None)
        verdict = f"Your code changes `{changed}` in `forward`, so in eval mode two calls of `{name}` differ."
        slip = "`+=` and methods whose name ends in `_` write into a tensor, and so do options such as `max_norm`."
        check.true(changed is None, verdict, slip)
        verdict = (
            f"In eval mode, two calls of `{name}` differ: something still drops entries, draws anew, or changes from "
            "call to call."
        )
        slip = (
            "An `nn.Dropout` made in `__init__` knows the mode by itself; `F.dropout` needs `training=self.training`."
        )
        check.true(False, verdict, slip)
    return module(*inputs)


def rests_at_any_rate(name: str, answer: Callable[[float], nn.Module], p: float, *inputs: Tensor) -> None:
    """In eval mode, what `answer` makes for the dropout `p` gives what it gives without dropout.

    Two that are made alike, without dropout and with the same parameters and buffers, may differ all the same: then
    the rate proves nothing.

    Args:
        name: the call, as code.
        answer: makes a module of a rate.
    """
    made = [data.randomized(answer(rate)).eval() for rate in (0.0, 0.0, p)]
    with torch.no_grad():
        for module in made[1:]:
            own = _state(module)
            for key, value in _state(made[0]).items():
                if key in own and own[key].shape == value.shape:
                    own[key].copy_(value)
        before, again, after = (module(*(each.clone() for each in inputs)) for module in made)
    if isinstance(before, Tensor) and isinstance(again, Tensor) and not _same(before, again):
        return
    slip = "There dropout rests, neither dropping entries nor scaling them, and nothing else depends on its rate."
    check.stays(f"`{name}` in eval mode", after, before, when=f"dropout is {p} instead of 0", slip=slip)


def _state(module: nn.Module) -> dict[str, Tensor]:
    """The parameters of a module, frozen ones too, and its buffers."""
    return dict(module.named_parameters()) | dict(module.named_buffers())


def _same(one: Tensor, other: Tensor) -> bool:
    """Both hold the same numbers, up to rounding."""
    return one.shape == other.shape and torch.allclose(one, other, equal_nan=True)


def without_dropout(module: nn.Module) -> nn.Module:
    """The module without dropout, whoever was not told its rate."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
        elif isinstance(part, nn.MultiheadAttention):
            part.dropout = 0.0
    return module


def possible(slips: Mapping[str, Tensor | None], right: Tensor) -> dict[str, Tensor]:
    """Only the slips that show on these inputs; two that look the same there stay, and neither will be named."""
    return {
        slip: value
        for slip, value in slips.items()
        if value is not None
        and not (value.shape == right.shape and torch.allclose(value.double(), right.double(), rtol=1e-3, atol=1e-3))
    }
