"""Lesson 5 over generated inputs: drawing parameters, counting them, what they compute, loading them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder import check, parts
from autograder.generated.inputs import few, sizes, tensors

Model = Callable[..., nn.Module]


def initialized(answer: Callable[[nn.Module], object], *, seed: int = 0) -> None:
    """Every matrix of any model is drawn as a whole, anew at every call, and all else stays as it was."""
    check.mode("initialize_parameters(model)", _initialized(answer, nn.Linear(30, 20).eval()), False)
    _every_matrix(answer, nn.Linear(40 + few(seed), 30))
    _every_matrix(answer, nn.Linear(40, 30 + few(seed)).double())
    _every_matrix(answer, nn.TransformerEncoderLayer(30, 3, 40))
    model = parts.Transformer(50, 40, d_model=24, num_heads=2, num_layers=1, d_ff=30, max_len=9)
    model.kept = nn.Parameter(torch.full((3, 4), 9.0), requires_grad=False)
    model.scale = nn.Parameter(torch.tensor(2.0))
    _every_matrix(answer, model)
    check.true(not model.kept.requires_grad, "A parameter that was frozen learns afterwards.")
    check.close("a parameter without dimensions", model.scale, torch.tensor(2.0))
    one, two = nn.Linear(40, 30), nn.Linear(40, 30)
    both = _initialized(answer, nn.ModuleList([one, two]))
    check.differs("the weight of a layer", one.weight, two.weight, when="another layer is drawn")
    before = one.weight.detach().clone()
    _initialized(answer, both)
    check.differs("the weight of a layer", one.weight, before, when="it is drawn once more")


def _initialized(answer: Callable[[nn.Module], object], model: nn.Module) -> nn.Module:
    answer(model)
    return model


def _every_matrix(answer: Callable[[nn.Module], object], model: nn.Module) -> None:
    """Its matrices are drawn from Xavier's distribution as a whole, its vectors stay, and so does its mode."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.constant_(parameter, 9.0)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    answer(model.train())
    check.mode("initialize_parameters(model)", model, True)
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        check.dtype(name, parameter, before[name].dtype)
        if parameter.dim() < 2:
            check.close(name, parameter, before[name])
        elif parameter.requires_grad:
            drawn, bound = parameter.detach(), math.sqrt(6 / sum(shape))
            most = drawn.abs().max()
            check.true(most <= bound, f"`{name}` {shape} holds {most:.6f}, but Xavier's bound is {bound:.6f}.")
            fits = most > 0.8 * bound and (drawn != 0).all() and abs(drawn.mean()) < 0.3 * bound
            check.true(fits, f"`{name}` {shape} is not drawn from Xavier's distribution as a whole.")
            steps = drawn.flatten().diff().abs()
            check.true(steps.std() > 0.1 * steps.mean(), f"The numbers of `{name}` are evenly spaced, not drawn.")
            check.true(len(set(map(tuple, drawn.tolist()))) == len(drawn), f"Rows of `{name}` are the same.")


def counted_parameters(answer: Callable[[nn.Module], object], *, seed: int = 0) -> None:
    """The count for layers of any kind and size, shared, frozen, nested, or none at all."""
    for size in sizes(seed, 3, rows=(1, 9), columns=(1, 9)):
        rows, columns = size.values()
        models = [nn.Linear(columns, rows), nn.Embedding(rows, columns), nn.Conv1d(rows, columns, 3)]
        models += [nn.MultiheadAttention(2 * columns, 2), nn.Linear(columns, rows).double()]
        models += [nn.Sequential(nn.LayerNorm(columns), nn.LayerNorm(columns))]  # alike, and yet two
        models += [nn.Sequential(nn.Sequential(nn.Linear(columns, rows)), nn.ReLU(), nn.Linear(rows, columns))]
        models += [nn.Identity(), nn.Linear(columns, rows).requires_grad_(False)]
        models.append(parts.Transformer(rows, rows, 2 * columns, 2, 1, 3, max_len=5, share_embeddings=True))
        for model in models:
            trainable = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
            expected = sum(parameter.numel() for parameter, learns in trainable if learns)
            with check.case(model=model if len(str(model)) < 70 else type(model).__name__):
                name = f"count_parameters({type(model).__name__})"
                check.close(name, check.number(name, answer(model)), torch.tensor(float(expected)))
                kept = all(parameter.requires_grad == learns for parameter, learns in trainable)
                check.true(kept, "A parameter is frozen, or learns again, after it has been counted.")


def parameters_by_sizes(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The number of parameters for sizes of every kind, from the smallest to what no memory holds."""
    ranges = {"vocab_size": (1, 99), "d_model": (1, 12), "num_layers": (1, 5), "d_ff": (1, 40)}
    for size in [*sizes(seed, 3, **ranges), dict(zip(ranges, (10**9, 10**8, 2 + seed % 2, 10**9), strict=True))]:
        vocab_size, d_model, num_layers, d_ff = size.values()
        with torch.device("meta"):
            model = parts.Transformer(
                vocab_size, vocab_size, d_model, 1, num_layers, d_ff, max_len=1, share_embeddings=True
            )
        _number("expected_parameters", answer, size, sum(parameter.numel() for parameter in model.parameters()))


def multiplications(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The number of multiplications for lengths and sizes of every kind, as PyTorch counts them."""
    ranges = {"src_len": (1, 9), "tgt_len": (1, 9), "vocab_size": (4, 50), "d_model": (1, 9), "num_layers": (1, 3)}
    for size in [
        *sizes(seed, 1, **ranges, d_ff=(1, 20)),
        dict(zip((*ranges, "d_ff"), (60, 70, 11, 4, 2, 5), strict=True)),
    ]:
        size["d_model"] *= 2  # for two heads
        _number("count_multiplications", answer, size, _multiplied(*size.values()))


@functools.cache
def _multiplied(src_len: int, tgt_len: int, vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    """What PyTorch counts while a model of these sizes runs."""
    from torch.utils.flop_counter import FlopCounterMode  # takes a while, and nothing else needs it

    model = parts.Transformer(vocab_size, vocab_size, d_model, 2, num_layers, d_ff, max_len=99)
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(1, src_len, dtype=torch.long), torch.ones(1, tgt_len, dtype=torch.long))
    return int(counter.get_total_flops()) // 2  # as many additions


def _number(name: str, answer: Callable[..., object], size: dict[str, int], expected: int) -> None:
    """One whole number for these sizes, given by position."""
    call = f"{name}({', '.join(map(str, size.values()))})"
    with check.case(**size):
        check.close(call, check.number(call, answer(*size.values())), torch.tensor(float(expected)))


def loaded(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Ends of any size, saved in any order, are loaded with one parameter for both, and `saved` stays as it is."""
    for index, size in enumerate(sizes(seed, 3, vocab_size=(1, 40), d_model=(1, 9))):
        vocab_size, d_model = size.values()
        table, bias = tensors((vocab_size, d_model), (vocab_size,), seed=31 * seed + index)
        saved = {"output.bias": bias, "output.weight": table.clone(), "embedding.weight": table}
        if index % 2:
            saved = dict(reversed(saved.items()))
        with check.case(**size), check.unchanged(**{name.replace(".", "_"): value for name, value in saved.items()}):
            check.leaves_alone("mended_load(saved, …)", answer, {"saved": dict(saved), **size})
            ends, others = (answer(dict(saved), vocab_size, d_model) for _ in range(2))
            one = ends.output.weight is ends.embedding.weight
            check.true(one, "`ends.output.weight` and `ends.embedding.weight` are not one parameter.")
            check.separate("mended_load(saved, …)", ends, others)
            check.close("ends.output.weight", ends.output.weight, table)
            check.close("ends.output.bias", ends.output.bias, bias)
            names = [name for name, value in ends.named_parameters() if value.requires_grad]
            check.true(len(names) == 2, f"{len(names)} parameters are trained; there should be two.")
