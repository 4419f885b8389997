"""Verdicts: what a failing check says, and how an exception in an answer becomes one."""

from __future__ import annotations

import linecache
import re
import textwrap
from collections.abc import Iterable
from types import CodeType, FunctionType, TracebackType

from autograder.check import _panel
from autograder.stub import STUB_MESSAGE

MAX_DETAIL_LINES = 3
MAX_LINE_LENGTH = 160


class CheckFailed(AssertionError):
    """A failing check: a verdict, aligned details and, where the value proves it, the slip behind it.

    Args:
        verdict: one sentence about the learner's own expression.
        details: lines that stand indented below it, ready aligned.
        slip: a full sentence naming the likely cause or the next thing to do.
        mistake: the known mistake that the value proves, as the phrase that stands in `slip`; None where none is.
        picture: what a panel draws beside these words; it holds numbers, never a tensor.

    Attributes:
        rule: what the failing check stands for, the line it would have printed.
        exercise: whose check it is, as the exercise's heading names it.
    """

    def __init__(
        self,
        verdict: str,
        details: Iterable[str] = (),
        slip: str | None = None,
        *,
        mistake: str | None = None,
        picture: _panel.Picture | None = None,
    ) -> None:
        self.verdict = verdict
        self.details = tuple(details)
        self.slip = slip
        self.mistake = mistake
        self.picture = picture
        self.rule: str | None = None
        self.exercise: str | None = None
        self._shown = False
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The whole text a learner reads, at most eight lines."""
        parts = [f"✗ {self.verdict}"]
        if self.details:
            parts.append("\n".join(f"  {line}" for line in self.details))
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
        self._shown = self._shown or _panel.show(self)  # once: IPython asks again to keep the error in its history
        return [self.headline] if self._shown else self.message.splitlines()


class NotWritten(CheckFailed, NotImplementedError):
    """The verdict on an answer that still is the stub it started as."""


def from_exception(error: Exception, check: FunctionType) -> CheckFailed:
    """Turn an exception that escaped from an answer into a verdict that names the learner's line.

    Args:
        error: what was raised while the check ran.
        check: the check function; its own cell is not the learner's, its globals are those of the notebook.
    """
    notebook, own_cell = check.__globals__, check.__code__.co_filename
    frames = list(frames_of(error.__traceback__))
    own = getattr(error, "answer_frames", None)  # where the answers are in another process, it says so
    if own is None:
        own = [where(*frame[:2]) for frame in frames if frame[2] is notebook and frame[0].co_filename != own_cell]
    if isinstance(error, NotImplementedError) and str(error) in ("", STUB_MESSAGE):
        name = own[-1][0] if own else "this answer"
        return NotWritten(
            f"`{name}` is not written yet.",
            slip="Put your answer in place of the line that raises NotImplementedError, run that cell, "
            "then run this one again.",
        )
    if isinstance(error, NameError) and not own:
        return CheckFailed(f"`{error.name}` is not defined.", slip="Run the cell that defines it, then this one again.")
    if not own and (told := _misfit(error, notebook)):
        return told
    text = _shorten(str(error) or "It came without a message.")
    kind = type(error).__name__
    if not own:
        line = next((line for code, line, _ in reversed(frames) if code is check.__code__), None)
        return CheckFailed(f"Line {line} of this check raised {kind}.", text)
    owner, line, source = own[-1]
    place = f"in line {line} of its cell" + (f":  {source}" if source else "")
    return CheckFailed(f"`{owner}` raised {kind}.", [*text, place])


def where(code: CodeType, line: int) -> tuple[str, int, str]:
    """A place in a notebook: the function as a learner knows it, the line in its cell, and what stands there."""
    return _owner(code), line, linecache.getline(code.co_filename, line).strip()


def _misfit(error: Exception, notebook: dict) -> CheckFailed | None:
    """The verdict on an answer that has not the form that the check calls: its arguments or its attributes."""
    if isinstance(error, TypeError) and re.search(r"positional argument|keyword argument|multiple values", str(error)):
        slip = "Keep the arguments, their order and their defaults as they were given."
        return CheckFailed(
            "Your answer does not take the arguments that it is called with.", _shorten(str(error)), slip
        )
    missing = re.search(r"'(\w+)' object has no attribute '(\w+)'", str(error))
    if isinstance(error, AttributeError) and missing and missing[1] in notebook:
        return CheckFailed(f"Your `{missing[1]}` has no attribute `{missing[2]}`.")
    if isinstance(error, AttributeError) and missing:
        slip = "Every part needs the name, and is of the kind, that the exercise gives."
        return CheckFailed(f"A part of your answer, of the type {missing[1]}, has no `{missing[2]}`.", slip=slip)
    return None


def frames_of(trace: TracebackType | None) -> Iterable[tuple[CodeType, int, dict]]:
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lineno, trace.tb_frame.f_globals
        trace = trace.tb_next


def _owner(code: CodeType) -> str:
    """The name a learner knows: `MultiHeadAttention.forward`, never `split_heads.<locals>.<lambda>`."""
    return code.co_qualname.split(".<locals>")[0].removeprefix("<lambda>") or "your lambda"


def _shorten(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return [textwrap.shorten(line, MAX_LINE_LENGTH, placeholder=" …") for line in lines[:MAX_DETAIL_LINES]]
