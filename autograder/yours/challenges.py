"""A challenge after the last ✓: one small change in the learner's own answer, and what comes of it."""

from __future__ import annotations

import contextlib
import ctypes
import io
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder import random_state
from autograder.changes import Mutant, mutants
from autograder.check import CheckFailed, _progress
from autograder.yours.source import newest

Answer = Callable[..., object]
SECONDS, SECONDS_IN_ALL = 3.0, 15.0  # for one change and all rules, and for all changes that are looked at
MOST_FAIR = 3  # changes among which the best is taken
MOST_NUMBERS, MOST_OPTIONS = 12, 4  # of a tensor that is shown; values to choose from


class _TooLongError(BaseException):
    """A changed answer comes to no end; no `Exception`, so that no answer keeps it to itself."""


class Call(NamedTuple):
    """Arguments small enough to be shown."""

    args: tuple[object, ...]
    kwargs: dict[str, object]

    def made(self, function: Answer) -> object:
        """What a function returns for them, the same at every call; an error is a value as well."""
        args = [value.detach().clone() if isinstance(value, Tensor) else value for value in self.args]
        try:
            with (
                random_state.preserved(),
                random_state.unset_memory_is_nan(),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                torch.manual_seed(0)
                return function(*args, **self.kwargs)
        except Exception as error:
            return type(error).__name__


@dataclass(frozen=True)
class Challenge:
    """A question about a changed answer.

    Attributes:
        is_right: whether what the learner says is so.
        truth: what is so.
        change: the learner's line before → after, and the first rule that it breaks.
    """

    question: str
    is_right: Callable[..., bool]
    truth: str
    change: str


@dataclass
class _Bench:
    """An answer of a notebook, and its rules, to be tried with other answers in its place."""

    exercise: str
    notebook: dict[str, Any]
    draw: random.Random
    rules: dict[str, Callable[[], None]] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = dict(_progress.rules(self.exercise))
        self.name = self.exercise.partition(" ")[2]
        self.own: Answer = self.notebook[self.name]

    def defined(self, mutant: Mutant) -> Answer | None:
        """The changed answer, among the names of the notebook; None where it cannot be defined."""
        names = dict(self.notebook)
        try:
            exec(mutant.code, names)
        except Exception:
            return None
        made: Answer = names[self.name]
        return made

    def first_broken(self, answer: Answer) -> tuple[str, Exception] | None:
        """The first rule that another answer breaks, with the error; None where it breaks none.

        Raises:
            _TooLongError: one of them comes to no end.
        """
        self.notebook[self.name] = answer
        try:
            with _within(SECONDS), random_state.preserved(), contextlib.redirect_stdout(io.StringIO()):
                for rule, attempt in self.rules.items():
                    try:
                        attempt()
                    except Exception as error:
                        return rule, error
        finally:
            self.notebook[self.name] = self.own
        return None

    def calls(self) -> list[Call]:
        """What the rules call the learner's own function with, where that can be shown."""
        found: list[Call] = []
        if isinstance(self.own, type):
            return found

        def noted(*args: object, **kwargs: object) -> object:
            call = Call(tuple(each.clone() if isinstance(each, Tensor) else each for each in args), kwargs)
            result = self.own(*args, **kwargs)
            if all(map(_is_small, (*args, *kwargs.values(), result))):
                found.append(call)
            return result

        with contextlib.suppress(_TooLongError):
            self.first_broken(noted)
        return found


def make(exercise: str, notebook: dict[str, Any], draw: random.Random) -> Challenge | None:
    """Change the answer to a solved exercise, and ask something that running it decides; None where no change is fair.

    A fair change breaks a rule by the values that the answer gives: neither a Python error nor, as far as can be seen,
    another shape or type tells where to look. Of several, the one is taken that gets furthest through the rules.

    Args:
        exercise: as its heading names it, "1.4 causal_mask"; all its checks have passed in this session.
        notebook: the names of the notebook.
    """
    bench, fair, deadline = _Bench(exercise, notebook, draw), list[_Fair](), time.monotonic() + SECONDS_IN_ALL
    changes = [mutant for mutant in mutants(newest(bench.name, notebook)) if len(set(mutant.change.split(" → "))) > 1]
    draw.shuffle(changes)
    calls = bench.calls()
    for change in changes:
        if time.monotonic() > deadline or len(fair) == MOST_FAIR:
            break
        with contextlib.suppress(_TooLongError):
            fair += _fair(bench, change, calls)
    if not fair:
        return None
    rules = list(bench.rules)
    best = max(fair, key=lambda each: rules.index(each.rule))
    with contextlib.suppress(_TooLongError), _within(SECONDS):
        match draw.choice(["value", "input"] * bool(best.telling) + ["rule"] * (len(rules) > 1)):
            case "value":
                others = filter(None, map(bench.defined, changes[: 3 * MOST_OPTIONS]))
                return _about_values(bench, best.telling[0], [best.changed, bench.own, *others], best.shown)
            case "input":
                return _about_inputs(bench, best.changed, best.telling[0], best.shown)
    return _about_rules(rules, best.rule, best.shown)


class _Fair(NamedTuple):
    """A change that may be asked about.

    Attributes:
        rule: the first one that it breaks.
        telling: calls for which the changed answer gives something else.
        shown: what was changed, and what breaks.
    """

    changed: Answer
    rule: str
    telling: list[Call]
    shown: str


def _fair(bench: _Bench, change: Mutant, calls: Sequence[Call]) -> Iterator[_Fair]:
    """The change, if it is fair and there is something to ask about it."""
    changed = bench.defined(change)
    broken = bench.first_broken(changed) if changed is not None else None
    if changed is None or broken is None:
        return
    rule, error = broken
    if not isinstance(error, CheckFailed):
        return
    with _within(SECONDS):
        pairs = [(call, call.made(bench.own), call.made(changed)) for call in calls]
    telling = [call for call, own, other in pairs if not same(own, other)]
    if all(_look_alike(own, other) for _, own, other in pairs) and (telling or len(bench.rules) > 1):
        shown = f"The change:  {change.change}\nThe first rule that it breaks is “{rule}”: {error.verdict}"
        yield _Fair(changed, rule, telling, shown)


def _about_rules(rules: list[str], first: str, shown: str) -> Challenge:
    right = rules.index(first) + 1
    question = "Which of its rules breaks first, in this order?\n" + _options(rules)
    return Challenge(question, lambda said=None: said == right, f"It is {right}.", shown)


def _about_values(bench: _Bench, call: Call, answers: Sequence[Answer], shown: str) -> Challenge:
    """What the first of these answers returns, among what the others do."""
    values: list[object] = []
    for value in (call.made(answer) for answer in answers):
        if _is_small(value) and not any(same(value, other) for other in values) and len(values) < MOST_OPTIONS:
            values.append(value)
    order = bench.draw.sample(range(len(values)), len(values))
    right = order.index(0) + 1
    options = _options([_text(values[place]) for place in order])
    question = f"What does the changed one make of\n{_shown(bench.name, call)}\n{options}"
    return Challenge(question, lambda said=None: said == right, f"It is {right}.", shown)


def _about_inputs(bench: _Bench, changed: Answer, call: Call, shown: str) -> Challenge:
    def is_right(*args: object, **kwargs: object) -> bool:
        own = Call(args, kwargs)
        with _within(SECONDS):
            return not same(own.made(bench.own), own.made(changed))

    question = f"Find an input on which the two differ: yours.answer(…), with what you would give `{bench.name}`."
    return Challenge(question, is_right, f"They differ on\n{_shown(bench.name, call)}", shown)


def same(one: object, other: object) -> bool:
    """Two values that nobody would tell apart: tensors up to rounding, everything else as Python compares it."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or one is other)


def _look_alike(one: object, other: object) -> bool:
    """Two results of one type and, if they are tensors, of one shape."""
    return type(one) is type(other) and getattr(one, "shape", None) == getattr(other, "shape", None)


def _is_small(value: object) -> bool:
    if isinstance(value, Tensor):
        return 0 < value.numel() <= MOST_NUMBERS
    return isinstance(value, int | float | str | None)


def _options(options: Sequence[str]) -> str:
    return "\n".join(f"  {number}  {option}" for number, option in enumerate(options, start=1))


def _text(value: object) -> str:
    if not isinstance(value, Tensor):
        return repr(value)
    numbers = value.detach().double().round(decimals=3).tolist() if value.is_floating_point() else value.tolist()
    return f"{numbers}"


def _shown(name: str, call: Call) -> str:
    given = [*map(_text, call.args), *(f"{key}={_text(value)}" for key, value in call.kwargs.items())]
    return f"    {name}({', '.join(given)})"


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """End what runs inside when its time is up.

    Raises:
        _TooLongError: it is.
    """
    thread, error = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(_TooLongError)
    timer = threading.Timer(seconds, lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
