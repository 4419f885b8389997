"""Verdicts: what a failing check says, and the inputs with which it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import shorten
from typing import Protocol

import torch
from torch import Tensor

MOST_NUMBERS = 12  # of a tensor of whole numbers that is shown as it is
LONGEST_LINE = 2000  # letters: what an answer returns, and how it is named, may be of any length


class Picture(Protocol):
    """What a panel draws beside the words of a verdict; it holds numbers, never a tensor."""

    def html(self) -> str:
        """The picture as plain HTML."""


@dataclass(frozen=True)
class ExerciseName:
    """An exercise as its heading names it, "1.2 causal_mask": its number, "" for none, and its answer."""

    number: str
    answer: str

    @classmethod
    def parse(cls, heading: str) -> ExerciseName:
        """Split a heading into its number and the answer's name."""
        number, _, answer = heading.rpartition(" ")
        return cls(number, answer)

    def __str__(self) -> str:
        return f"{self.number} {self.answer}".lstrip()


class CheckFailed(AssertionError):
    """A failing check: a verdict, aligned details and, where the value proves it, the slip behind it.

    Args:
        verdict: one sentence about the learner's own expression.
        details: lines that stand indented below it, ready aligned.
        slip: a full sentence naming the likely cause or the next thing to do.
        mistake: the known mistake that the value proves, as the phrase that stands in `slip`; None where none is.
        picture: what a panel draws beside these words.

    Attributes:
        case: the inputs with which it failed, of the many that were tried; "" where there is one.
        rule: what the failing check stands for, the line it would have printed.
        exercise: whose check it is.
        missing: the name that is not defined, where that is why; "" as a rule.
        display: shows the error in a notebook, and says whether it could; None where plain text has to do.
    """

    def __init__(
        self,
        verdict: str,
        details: Iterable[str] = (),
        slip: str | None = None,
        *,
        mistake: str | None = None,
        picture: Picture | None = None,
    ) -> None:
        self.verdict = verdict[:LONGEST_LINE]
        self.details = tuple(line[:LONGEST_LINE] for line in details)
        self.slip = slip and slip[:LONGEST_LINE]
        self.mistake = mistake
        self.picture = picture
        self.case = ""
        self.missing = ""
        self.rule: str | None = None
        self.exercise: ExerciseName | None = None
        self.display: Callable[[CheckFailed], bool] | None = None
        self._is_displayed = False
        super().__init__(self.message)

    @property
    def lines(self) -> tuple[str, ...]:
        """What stands indented: the details, and the case behind them."""
        return (*self.details, f"with      {self.case}") if self.case else self.details

    @property
    def message(self) -> str:
        """The whole text a learner reads, at most nine lines, the empty ones counted."""
        parts = [f"✗ {self.verdict}"]
        if self.lines:
            parts.append("\n".join(f"  {line}" for line in self.lines))
        if self.slip:
            parts.append(self.slip)
        if self.rule:
            parts.append(f"Rule: {self.rule}.")
        return "\n\n".join(parts)

    @property
    def headline(self) -> str:
        """The one line that stands for the error where a panel says the rest."""
        return f"✗ {self.exercise}" if self.exercise else "✗ The check failed."

    def __str__(self) -> str:
        return self.message

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a stack trace: the message, or one line below the panel that holds it."""
        if not self._is_displayed and self.display is not None:  # once: IPython asks again for its history
            self._is_displayed = self.display(self)
        return [self.headline] if self._is_displayed else self.message.splitlines()


class NotWritten(CheckFailed, NotImplementedError):
    """The verdict on an answer that still is the stub it started as."""


class CheckBroken(CheckFailed):
    """The verdict on a check that is wrong itself, whatever the answer: a mistake of the course."""


@contextmanager
def case(**inputs: object) -> Iterator[None]:
    """What runs inside is tried with these inputs, by name; a verdict that comes from it shows them."""
    shown = ", ".join(_shown(*each) for each in inputs.items())  # now: what runs may change them
    try:
        yield
    except Exception as error:
        vars(error)["case"] = shorten(shown, 150, placeholder=" …")
        raise


def case_of(error: BaseException) -> str:
    """The inputs with which an error came, as text; "" where none were named."""
    return str(vars(error).get("case", ""))


def _shown(name: str, value: object) -> str:
    """An input in a few words: small whole numbers as they are, other tensors by shape and dtype."""
    if isinstance(value, str) and (not value or value != value.strip()):
        return f"{name} = {value!r}"
    if not isinstance(value, Tensor):
        return f"{name} = {str(value).removeprefix('torch.')}"
    if value.numel() <= MOST_NUMBERS and not value.is_floating_point():
        return f"{name} = {value.tolist()}"
    dtype = (
        "" if value.dtype in (torch.float32, torch.int64, torch.bool) else f" in {value.dtype}".replace("torch.", "")
    )
    return f"{name} {tuple(value.shape)}{dtype}"
