"""Modules that both sides of the bridge hold: what of them crosses, and what has changed since it did."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from operator import is_
from types import FunctionType
from typing import Any, NamedTuple

from torch import nn

from autograder.grading import known

SIMPLE = (type(None), bool, int, float, str)
MOST_IN_TUPLE = 20


class Contents(NamedTuple):
    """All that stands in a module: its mode, its other attributes, its parameters, buffers and parts."""

    training: object
    attributes: tuple
    parameters: tuple
    buffers: tuple
    parts: tuple


def contents(module: nn.Module) -> Contents | None:
    """What stands in a module; None for one that keeps its mode in an odd place."""
    held = vars(module)
    if next(iter(held), "") != "training":
        return None
    training, *others = held.values()
    inside = (held["_parameters"], held["_buffers"], held["_modules"])
    return Contents(training, tuple(others), *(tuple(each.values()) for each in inside))


def is_as_before(module: nn.Module, before: Contents | None) -> bool:
    """But for its mode, the very same objects stand in a module as did when `contents` was asked."""
    held = vars(module)
    if before is None or len(held) != len(before.attributes) + 1 or next(iter(held)) != "training":
        return False
    values = iter(held.values())
    next(values)
    return (
        all(map(is_, values, before.attributes))
        and _same(held["_parameters"], before.parameters)
        and _same(held["_buffers"], before.buffers)
        and _same(held["_modules"], before.parts)
    )


def _same(held: dict, before: tuple) -> bool:
    return len(held) == len(before) and all(map(is_, held.values(), before))


def attributes(module: nn.Module) -> dict[str, Any]:
    """The plain attributes that a module and its mirror have alike."""
    kind = type(module)
    return {
        name: value
        for name, value in vars(module).items()
        if name not in known.OWN_OF_MODULES and is_plain(value) and known.may_be_set(kind, name)
    }


def is_plain(value: object) -> bool:
    """A value that crosses as it is."""
    if type(value) is tuple:
        return len(value) < MOST_IN_TUPLE and all(type(each) in SIMPLE for each in value)
    return type(value) in SIMPLE or (id(value) in known.NAMES and callable(value))


@functools.cache
def methods_of(kind: type) -> list[str]:
    """The public methods that a class adds to `nn.Module`'s."""
    classes = [each for each in kind.__mro__ if not each.__module__.startswith("torch.")]
    found = {
        name: None
        for each in classes
        for name, value in vars(each).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    }
    return [name for name in found if name == "forward" or not hasattr(nn.Module, name)]


def parameters(modules: Iterable[nn.Module]) -> dict[int, nn.Parameter]:
    """The parameters of modules and of their parts that learn, each once, by their ids."""
    found, seen, left = {}, set(), list(modules)[::-1]
    while left:
        module = left.pop()
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        held = vars(module)
        for each in held["_parameters"].values():
            if each is not None and each.requires_grad:
                found[id(each)] = each
        left += list(held["_modules"].values())[::-1]
    return found


def refill(held: dict, wanted: Mapping[str, Any]) -> None:
    """Let a module's dict hold what is wanted, in that order."""
    if list(held) != list(wanted) or any(held[name] is not wanted[name] for name in wanted):
        held.clear()
        held.update(wanted)
