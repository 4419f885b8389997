"""Which known mistake a failing check names: the one that explains every value of the kind that failed.

One value proves little: on small inputs two mistakes often give the same, and so may two made together. So where a
value is the one that a mistake would give, the check runs once more to its end, and a mistake is dropped that would
give other values than the answer does in any later comparison.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from enum import Enum, auto
from typing import Any, NamedTuple, TypeVar

from autograder.check._errors import CheckFailed

SECONDS = 5.0  # of a failing check, beyond which nothing is tried again

Value = TypeVar("Value")


class _Stage(Enum):
    LOOKING = auto()
    TRYING = auto()
    DECIDED = auto()


class _Inquiry:
    """What one failing check finds out about its cause.

    Attributes:
        name: what was wrong, as the check calls it, without its arguments.
        suspects: the mistakes that explain it.
    """

    def __init__(self) -> None:
        self.stage, self.name, self.suspects = _Stage.LOOKING, "", set[str]()
        self.begin = time.monotonic()

    @property
    def is_late(self) -> bool:
        return time.monotonic() - self.begin > SECONDS


class Compared(NamedTuple):
    """A comparison: of what, up to its arguments, and the values that known mistakes would give."""

    name: str
    mistakes: Mapping[str, Any]


class _OutOfTimeError(Exception):
    """The check has been tried for long enough."""


_inquiry: ContextVar[_Inquiry | None] = ContextVar("inquiry", default=None)
_audited: ContextVar[list[Compared] | None] = ContextVar("audited", default=None)


@contextmanager
def audit() -> Iterator[list[Compared]]:
    """Test the checks themselves on right answers, and collect their comparisons.

    Only here, because what a check expects may be made from the answer's own values, which a wrong answer can turn
    into anything.

    Raises:
        ValueError: a mistake gives what is expected.
    """
    comparisons: list[Compared] = []
    token = _audited.set(comparisons)
    try:
        yield comparisons
    finally:
        _audited.reset(token)


def run(check: Callable[[], None]) -> None:
    """Run a check; when it fails, its error names the one mistake that explains all of its values, or none."""
    inquiry = _Inquiry()
    token = _inquiry.set(inquiry)
    try:
        try:
            check()
            return
        except CheckFailed as error:
            if not inquiry.suspects or inquiry.is_late:
                raise
            failed = error
        inquiry.stage, inquiry.begin = _Stage.TRYING, time.monotonic()
        with suppress(Exception, KeyboardInterrupt):  # what follows a wrong value may end in anything
            check()
        if inquiry.suspects != {failed.mistake}:
            inquiry.stage = _Stage.DECIDED
            check()
        raise failed
    finally:
        _inquiry.reset(token)


def named(name: str, is_it: Callable[[Value], bool], mistakes: Mapping[str, Value] | None) -> str | None:
    """The one mistake whose values these are; None when there is none, or two would give the same.

    Args:
        is_it: whether the values are those that a mistake would give.
    """
    found, inquiry = [mistake for mistake, value in (mistakes or {}).items() if is_it(value)], _inquiry.get()
    if inquiry is not None and inquiry.stage is _Stage.LOOKING:
        inquiry.name, inquiry.suspects = _without_arguments(name), set(found)
    elif inquiry is not None:
        found = [mistake for mistake in found if mistake in inquiry.suspects]
    return found[0] if len(found) == 1 else None


def is_trying(name: str, is_it: Callable[[Value], bool], expected: Value, mistakes: Mapping[str, Value] | None) -> bool:
    """A check runs again for the sake of its mistakes alone: this comparison only drops those that it disproves.

    A mistake that is left out, of some or of all, would give what is expected there, and explains nothing else.
    """
    inquiry, audited = _inquiry.get(), _audited.get()
    if audited is not None:
        audited.append(Compared(_without_arguments(name), mistakes or {}))
        for mistake, value in (mistakes or {}).items():
            if is_it(value):
                raise ValueError(f"This check cannot tell the right answer from the mistake {mistake!r} on its inputs.")
    if inquiry is None or inquiry.stage is not _Stage.TRYING:
        return False
    if inquiry.is_late:
        raise _OutOfTimeError
    if inquiry.name == _without_arguments(name):
        known = {mistake: value for mistake, value in (mistakes or {}).items() if mistake in inquiry.suspects}
        inquiry.suspects -= {mistake for mistake, value in known.items() if not is_it(value)}
        if (known or mistakes == {}) and not is_it(expected):
            inquiry.suspects &= known.keys()
    return True


def _without_arguments(name: str) -> str:
    """What is compared, whatever it was called with."""
    return name.partition("(")[0]
