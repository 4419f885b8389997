"""Exercise `count_parameters`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import nn

from autograder import check, parts
from autograder.exercises.lesson_5.shared import numbers
from autograder.exercises.shared import sizes


def cases(answer: Callable[[nn.Module], object], *, seed: int = 0) -> None:
    """The count for layers of any kind and size, shared, frozen, nested, or none at all, and on the device `meta`."""
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
        with torch.device("meta"):
            on_meta = parts.Transformer(rows, rows, 2 * columns, 2, 1, 3, max_len=5, share_embeddings=True)
        expected = sum(parameter.numel() for parameter in on_meta.parameters())
        *_, last = on_meta.parameters()
        by_address = {"parameters are told apart by their addresses, which are all 0 there": last.numel() - expected}
        name, mistakes = "the count for a Transformer on the device `meta`", numbers(by_address, expected)
        check.close(name, check.number(name, answer(on_meta)), torch.tensor(float(expected)), mistakes=mistakes)
