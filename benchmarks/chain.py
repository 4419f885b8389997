"""The answers of all lessons in one namespace: the model that a student ends with, and the recipe that trains it."""

import math
import platform
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from autograder import data
from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"d_model": 64, "num_heads": 4, "num_layers": 1, "d_ff": 128, "dropout": 0.0}  # of lessons 6 and 7
VOCAB_SIZE = 13
WARMUP = 100
STEPS = 400
# What the head of a page says of where it was measured.
MACHINE = {
    "torch": torch.__version__.split("+")[0],
    "threads": torch.get_num_threads(),
    "machine": platform.machine(),
}


def answers() -> dict:
    """Run the answer cells of every lesson, in order, in one namespace, and return it."""
    scope: dict = {"__name__": "answers", "math": math, "torch": torch, "F": F, "nn": nn}
    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        for exercise in Lesson(path.stem, read_notebook(path)).exercises:
            exec(compile(exercise.answer.source, f"<{path.stem}: {exercise.name}>", "exec"), scope)
    return scope


def seeds() -> int:
    """How many seeds the last word of the command line asks for."""
    return int(sys.argv[-1]) if sys.argv[-1].isdigit() else 20


def spread(values: Iterable[float], digits: int, unit: str = "") -> str:
    """The mean of values, the lowest and the highest."""
    values = list(values)
    mean, least, most = (f"{each:.{digits}f}" for each in (statistics.mean(values), min(values), max(values)))
    return f"{mean}{unit} ({least} to {most})"


def train(scope: dict, seed: int, steps: int = STEPS) -> nn.Module:
    """Train the answers' model by the answers' functions, as lesson 6 does."""
    torch.manual_seed(seed)
    model = scope["Transformer"](VOCAB_SIZE, VOCAB_SIZE, **SIZES)
    scope["initialize_parameters"](model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: scope["learning_rate"](step + 1, SIZES["d_model"], WARMUP) * (1 - step / steps)
    )
    batches = data.copy_task(steps, batch_size=128, vocab_size=VOCAB_SIZE, seed=seed + 1)
    scope["fit"](model, batches, optimizer, schedule)
    return model


def copied(scope: dict, model: nn.Module, batches: int = 10, seed: int = 10**6) -> tuple[float, int]:
    """The fraction of held-out sequences that greedy decoding copies exactly, and how many there are."""
    held_out = data.copy_task(batches, vocab_size=VOCAB_SIZE, held_out=True, seed=seed)
    fractions = [scope["exact_match"](scope["greedy_decode"](model, src, 10), tgt) for src, tgt in held_out]
    return sum(fractions) / len(fractions), sum(len(tgt) for _, tgt in held_out)
