"""The date reader: one small model that lessons 1 to 4 make better, with the numbers it has reached so far."""

from __future__ import annotations  # a figure's class would import Matplotlib

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import trange

from autograder import data, draw
from autograder.yours import own, progress

STEPS, BATCH, PEAK = 400, 128, 3e-3
DATES = 2000  # held out
TOPIC = "reader"  # in the file of what is remembered
TAKEN = {  # the parts that a lesson's reader is made of, besides those of the lesson before
    0: (),
    1: ("scaled_dot_product_attention", "padding_mask"),
    2: ("MultiHeadAttention",),
    3: ("TokenEmbedding", "PositionalEncoding"),
    4: ("EncoderLayer",),
}


@dataclass(frozen=True)
class Reached:
    """What the reader of a lesson reached on dates that it had not seen."""

    title: str  # what is new in it
    whose: str  # whose parts it is made of
    digits: list[float]  # the share of digits that are right, by their place in a date
    exact: float  # the share of dates that are right to the last digit
    read: list[str]  # what it read in the first dates, eight digits each


_besides: dict[int, dict[str, Reached]] = {}  # lesson → title → what was tried in this session besides its reader


def train_reader(reader: nn.Module, title: str, *, lesson: int, steps: int = STEPS, kept: bool = True) -> draw.Picture:
    """Train a reader for some seconds, print what it reaches below what earlier lessons' readers reached, and draw it.

    Args:
        reader: letters (batch, seq_len) → scores of the digits (batch, 8, 10).
        title: what is new in it.
        steps: of training; how far a reader gets depends on them.
        kept: whether it is the lesson's reader; else it stands below that one and others that were tried in this
            session, and is not kept in the file.
    """
    train(reader, data.shortened(steps))
    reached = measured(reader, title, lesson)
    rows = [(number, row) for number, row in _kept().items() if number < lesson + (not kept)]
    before = rows[-1][1].read if rows else [""] * len(reached.read)
    if not kept:
        rows += [(lesson, row) for row in _besides.setdefault(lesson, {}).values() if row.title != title]
        _besides[lesson][title] = reached
    rows.append((lesson, reached))
    if kept:
        progress.keep(TOPIC, {str(lesson): asdict(reached)})
    print(f"\n{'':12}{'the reader':28}{'digits right':>14}{'dates right':>14}")
    for number, row in rows:
        share = sum(row.digits) / len(row.digits)
        name = f"lesson {number}" if number else "before"
        print(f"{name:12}{row.title:28}{share:>14.1%}{row.exact:>14.1%}   {row.whose}")
    dates = data.dates(len(reached.read), held_out=True, seed=7)
    return draw.reading({row.title: row.digits for _, row in rows}, dates, before, reached.read)


def train(reader: nn.Module, steps: int = STEPS) -> None:
    """Train a reader on batches that are the same each time."""
    letters, digits = data.date_digits(data.shortened(30_000), seed=1)
    optimizer = torch.optim.Adam(reader.parameters(), lr=PEAK)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / 60, (steps - step) / steps))
    generator = torch.Generator().manual_seed(0)
    reader.train()
    for _ in trange(steps, desc="training", leave=False, file=sys.stdout, mininterval=0.5):
        chosen = torch.randint(len(letters), (BATCH,), generator=generator)
        src = letters[chosen]
        scores = reader(src[:, : int((src != data.PAD).sum(dim=1).max())])
        optimizer.zero_grad()
        F.cross_entropy(scores.flatten(0, 1), digits[chosen].flatten()).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def measured(reader: nn.Module, title: str, lesson: int) -> Reached:
    """Let a trained reader read dates that it has not seen."""
    letters, digits = data.date_digits(data.shortened(DATES), held_out=True, seed=7)
    reader.eval()
    with torch.no_grad():
        read: Tensor = reader(letters).argmax(dim=-1)
    right = read == digits
    return Reached(
        title,
        _whose(lesson),
        right.float().mean(dim=0).tolist(),
        right.all(dim=1).float().mean().item(),
        ["".join(map(str, row)) for row in read[:5].tolist()],
    )


def _whose(lesson: int) -> str:
    """Whose parts the reader of a lesson is made of."""
    needed = {name for number, names in TAKEN.items() for name in names if number <= lesson}
    courses = needed - own.read().own
    return "" if not needed else "yours" if not courses else "the course's" if courses == needed else "partly yours"


def _kept() -> dict[int, Reached]:
    """What is remembered of earlier lessons, in their order; what is no such thing is left out."""
    kept = progress.read(TOPIC)
    return {number: reached for number in TAKEN if (reached := _checked(kept.get(str(number))))}


def _checked(value: object) -> Reached | None:
    """A row of the file, which somebody may have edited."""
    if not isinstance(value, Mapping):
        return None
    row: dict[str, Any] = {name: value.get(name) for name in Reached.__dataclass_fields__}
    if [type(entry) for entry in row.values()] != [str, str, list, float, list]:
        return None
    digits, read = row["digits"], row["read"]
    fits = [type(share) for share in digits] == [float] * 8 and [type(date) for date in read] == [str] * 5
    return Reached(**row) if fits and all(len(date) == 8 for date in read) else None
