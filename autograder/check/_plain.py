"""The statement about what is no tensor: lists, pairs, numbers and texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.check._causes import is_trying, named
from autograder.check._compare import about, kind, values_when, versus
from autograder.check._errors import CheckFailed

MOST_SHOWN = 100  # characters of a value that is shown as a whole


def same(name: str, got: object, expected: object, *, mistakes: Mapping[str, object] | None = None) -> None:
    """`got`, made of lists, pairs, numbers and texts, equals `expected`; a tuple is as good as a list.

    Args:
        mistakes: the values that each known slip would give, by the sentence that completes "… when".
    """
    wanted, plain = _plain(expected), _plain(got)
    if got is None:
        raise CheckFailed(
            about(name, "is None", "There is only None for"), slip="Is there a `return` at the end of your function?"
        )
    if type(plain) is not type(wanted):
        a_kind = {"list": "a list", "str": "a text", "int": "a whole number"}[type(wanted).__name__]
        raise CheckFailed(about(name, f"should be {a_kind}", f"There should be {a_kind} for"), [f"got  {kind(got)}"])

    def is_it(value: object) -> bool:
        return bool(_plain(value) == plain)

    if is_trying(name, is_it, mistakes) or plain == wanted:
        return
    mistake = named(name, is_it, mistakes)
    text = about(name, "is not what it should be", "This is not what it should be:")
    slip = values_when(mistake, is_one=not isinstance(wanted, list))
    shown = (wanted, plain) if not _holds_tuples(expected) else (_with_tuples(wanted), _with_tuples(plain))
    raise CheckFailed(text, _difference(*shown), slip, mistake=mistake)


def _holds_tuples(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, tuple) for item in value)


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
