"""Statements about what is no tensor: lists, pairs, numbers and texts, and what belongs to the caller."""

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograder.check import _backend
from autograder.check._causes import is_trying, named
from autograder.check._compare import NO_RESULT, about, kind, values_when, versus
from autograder.check._errors import CheckFailed

MOST_SHOWN = 100  # characters of a value that is shown as a whole


def same(name: str, got: object, expected: object, *, mistakes: Mapping[str, object] | None = None) -> None:
    """`got`, made of lists, pairs, numbers and texts, equals `expected`; a tuple is as good as a list."""
    wanted, plain = _plain(expected), _plain(got)
    if got is None:
        raise CheckFailed(about(name, "is None", "There is only None for"), slip=NO_RESULT)
    if type(plain) is not type(wanted):
        a_kind = {"list": "a list", "str": "a text", "int": "a whole number"}[type(wanted).__name__]
        raise CheckFailed(about(name, f"should be {a_kind}", f"There should be {a_kind} for"), [f"got  {kind(got)}"])

    def is_it(value: object) -> bool:
        return bool(_plain(value) == plain)

    if is_trying(name, is_it, expected, mistakes) or plain == wanted:
        return
    mistake = named(name, is_it, mistakes)
    text = about(name, "is not what it should be", "This is not what it should be:")
    slip = values_when(mistake, is_one=not isinstance(wanted, list))
    shown = wanted, plain
    if isinstance(expected, list) and any(isinstance(item, tuple) for item in expected):
        shown = _with_tuples(wanted), _with_tuples(_as_it_is(got))
    elif not (isinstance(wanted, list) and any(isinstance(item, list) for item in wanted)):
        shown = wanted, _as_it_is(got)
    raise CheckFailed(text, _difference(*shown), slip, mistake=mistake)


def all_same(rows: Iterable[tuple[str, object, object, Mapping[str, object]]]) -> None:
    """As `same` for several calls of one answer: name, what it gives, what is expected, and what slips would give.

    A slip that gives what is expected may be left out of a row. It is named when it alone gives what the answer gives
    in every one of them, so that two that coincide in one call are told apart by the others.
    """
    calls = list(rows)
    slips = dict.fromkeys(slip for *_, by_slip in calls for slip in by_slip)
    proved = [
        slip
        for slip in slips
        if all(_plain(by_slip.get(slip, expected)) == _plain(got) for _, got, expected, by_slip in calls)
    ]
    is_right = all(_plain(got) == _plain(expected) for _, got, expected, _ in calls)  # an audit looks at all slips
    for name, got, expected, by_slip in calls:
        told = {slip: value for slip, value in by_slip.items() if is_right or [slip] == proved}
        same(name, got, expected, mistakes=told)


def leaves_alone(
    call: str,
    function: Callable[..., Any],
    arguments: Mapping[str, object],
    methods: Mapping[str, object] | None = None,
) -> None:
    """`function` changes no list, dict or set that it is given, and leaves everybody's random numbers alone.

    What crosses to another process arrives there as a copy, so this is judged where the answer is.

    Args:
        arguments: given by position, in this order, each by what the exercise calls it.
        methods: what of the result is called as well, each with its one argument.
    """
    backend, methods = _backend.current(), methods or {}
    if backend.has(function, *arguments.values()):
        return backend.ask(leaves_alone, call, function, dict(arguments), dict(methods))
    given = {**arguments, **methods}
    before = {name: _held(value) for name, value in given.items()}
    random.seed(call), np.random.seed(len(call))  # an earlier call may have left the state that this one would
    state, numbers = random.getstate(), _held(np.random.get_state())
    result = function(*arguments.values())
    for method, argument in methods.items():
        getattr(result, method)(argument)
    for name, value in given.items():
        if _held(value) != before[name]:
            slip = "Make one of your own first, as `list(…)` or `dict(…)` does: whoever calls you still needs theirs."
            what = f"the argument of `{name}`" if name in methods else f"`{name}`"
            raise CheckFailed(f"`{call}` changes {what}, which belongs to the caller.", slip=slip)
    if state != random.getstate() or numbers != _held(np.random.get_state()):
        whose = "Python's" if state != random.getstate() else "NumPy's"
        slip = "`random.Random(seed)` makes a generator of your own, with `shuffle` and `sample`."
        raise CheckFailed(f"`{call}` seeds {whose} random numbers, or draws from them, for everybody.", slip=slip)


def _held(value: Any) -> Any:
    """What a container holds, all the way down; anything else is itself, as a tensor is, whatever its numbers."""
    if isinstance(value, Mapping):
        return [(key, _held(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_held(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return set(value) if isinstance(value, set) else value if isinstance(value, str | int | float) else id(value)


def _with_tuples(items: Any) -> Any:
    """A list of lists as the list of tuples that it stands for."""
    return [tuple(item) if isinstance(item, list) else item for item in items] if isinstance(items, list) else items


class _Other:
    """Something that is neither a list nor plain: it equals nothing, and shows as what it is."""

    def __init__(self, value: object) -> None:
        self._kind = kind(value)

    def __repr__(self) -> str:
        return f"<{self._kind}>"


def _plain(value: Any) -> Any:
    """A value with lists for tuples and Python's numbers for NumPy's."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    return value if type(value) in (str, int, float, bool, type(None)) else _Other(value)


def _as_it_is(value: Any) -> Any:
    """As `_plain`, with the tuples that stand within the value."""
    if not isinstance(value, list | tuple):
        return _plain(value)
    return [tuple(_as_it_is(item)) if isinstance(item, tuple) else _as_it_is(item) for item in value]


def _difference(wanted: Any, plain: Any) -> list[str]:
    """Both, as a whole or from the first place on where they differ."""
    texts = repr(wanted), repr(plain)
    if max(map(len, texts)) <= MOST_SHOWN:
        return versus(*texts)
    same_until = next(
        (place for place, (one, other) in enumerate(zip(wanted, plain, strict=False)) if one != other),
        min(len(wanted), len(plain)),
    )
    shown = [
        repr(value[same_until : same_until + 4]) + (" …" if len(value) > same_until + 4 else "")
        for value in (wanted, plain)
    ]
    shown[0] += f"  from place {same_until} on"
    if len(wanted) != len(plain):
        shown[1] += f"  ({len(plain)} in all, not {len(wanted)})"
    return versus(*shown)
