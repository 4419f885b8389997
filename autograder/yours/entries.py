"""What an entry to the leaderboard of lesson 9 is worth: bits a character, on text that it was not given.

The text is cut into pieces, and what follows is asked for one character at a time, so nothing of an answer has to be
believed: what comes next in a piece is not there yet when it is predicted, and no piece is shown twice.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from autograder import check, data

PARTS = 10  # of a training, after each of which the entry is measured on pieces for that alone
CONTEXT, REVEALED = 128, 16  # characters of a piece that are shown first, and those that are asked for after them
ROWS, LAST = 48, 10  # pieces at a time, and how many times so many for the last measurement
CHARACTERS = (PARTS - 1 + LAST) * ROWS * (CONTEXT + REVEALED)  # that a text must have


class Entry(Protocol):
    """What takes part."""

    def train(self) -> None:
        """Do a tenth of the training."""

    def predict(self, tokens: Tensor) -> Tensor:
        """Compute logits of what comes next: (batch, length) → (batch, vocab_size)."""


MakeEntry = Callable[[Tensor, int], Entry]  # of the tokens to learn from, (length,), and vocab_size


@functools.cache
def _ids() -> dict[str, int]:
    """The id of each character that the manual has, as in the lesson."""
    return {letter: number for number, letter in enumerate(sorted(set(data.manual())))}


def _tokens(text: str) -> Tensor:
    return torch.tensor([_ids()[letter] for letter in text if letter in _ids()])


def measure(make: MakeEntry, text: str, seconds: float, begin: float = 0.0, rows: int = ROWS) -> float:
    """Train an entry, measure it after each tenth of its training, and return its bits a character at the end.

    Args:
        text: what it has not seen, of at least `CHARACTERS`; those that the manual does not have are left out.
        seconds: the processor time that there is for everything that the entry's process does.
        begin: how much of it was used before that.
        rows: pieces at a time.

    Raises:
        CheckFailed: it takes more than that, or returns no logits, or the text is too short.
    """
    whole, length = _tokens(text), CONTEXT + REVEALED
    pieces = whole[: len(whole) // length * length].view(-1, length)
    if len(pieces) < (PARTS - 1 + LAST) * rows:
        raise check.CheckFailed(f"The text has {len(whole):,} characters that count, and needs {CHARACTERS:,}.")
    batches = [pieces[start : start + rows] for start in range(0, (PARTS - 1 + LAST) * rows, rows)]
    learned = _tokens(data.manual()[: len(data.manual()) * 9 // 10])  # the last tenth is held out, as in the lesson
    entry, bits = make(learned, len(_ids())), math.nan
    train, predict = entry.train, entry.predict
    for part in range(1, PARTS + 1):
        train()
        bits = _bits(predict, batches[PARTS - 1 :] if part == PARTS else batches[part - 1 : part])
        used = check.processor_seconds() - begin
        if used > seconds:
            verdict = f"`Entry` has used {used:.0f} processor seconds after {part} of {PARTS} parts of its training"
            raise check.CheckFailed(f"{verdict}; there are {seconds:g} for everything.", slip="Take fewer steps.")
        check.measured(used, bits)
    return bits


def _bits(predict: Callable[[Tensor], Tensor], batches: Sequence[Tensor]) -> float:
    """The mean of −log₂ p over the revealed characters of pieces, each shown once it was asked for."""
    total, count = 0.0, 0
    for batch in batches:
        for length in range(CONTEXT, CONTEXT + REVEALED):
            with torch.no_grad():
                logits = predict(batch[:, :length].clone())
            check.shape("entry.predict(tokens)", logits, batch=len(batch), vocab_size=len(_ids()))
            chances = logits.double().log_softmax(dim=-1)
            if not chances.isfinite().all():
                raise check.CheckFailed("`entry.predict(tokens)` holds numbers that are not finite.")
            total -= chances.gather(1, batch[:, length, None]).sum().item()
            count += len(batch)
    return total / count / math.log(2)


def board(make: MakeEntry, seconds: float = 60.0) -> None:
    """Measure an entry on the manual's held-out part, as the leaderboard will on a text that nobody has."""
    begin = check.processor_seconds()
    bits = measure(make, data.manual()[len(data.manual()) * 9 // 10 :], seconds, begin, rows=16)
    taken = check.processor_seconds() - begin
    print(f"{bits:.2f} bits a character of the manual's held-out part, after {taken:.0f} processor seconds here")
