"""Modules that both sides of the bridge hold: what of them crosses, and what has changed since it did."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from itertools import accumulate, chain
from operator import is_
from types import FunctionType
from typing import Any, NamedTuple

from torch import Tensor, nn

from autograder.grading.rpc import registry

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


class Tree:
    """A module with all its parts, as it was when both sides last agreed on it.

    Attributes:
        parameters: all of them, each once, by their ids.
    """

    __slots__ = ("_inside", "_modes", "_places", "_sizes", "_values", "_views", "parameters")

    def __init__(self, root: nn.Module) -> None:
        modules, self.parameters = _walk([root])
        held = [vars(module) for module in modules]
        self._views = [each.values() for each in held]
        self._views += [each[name].values() for each in held for name in ("_parameters", "_buffers", "_modules")]
        self._sizes = list(map(len, self._views))
        self._values = list(chain.from_iterable(self._views))
        begins = list(accumulate(self._sizes, initial=0))
        self._inside = begins[len(held)]  # where the parameters, buffers and parts begin
        places = [at + list(each).index("training") for each, at in zip(held, begins, strict=False)]
        self._modes = dict(zip(places, modules, strict=True))
        self._places = dict(zip(map(id, modules), places, strict=True))

    def agree(self, module: nn.Module, training: bool) -> None:
        """Both sides know a module's mode, if it is one of these."""
        place = self._places.get(id(module))
        if place is not None:
            self._values[place] = training

    def turned(self) -> list[nn.Module] | None:
        """The modules of another mode than before, of which it is agreed now; None where more has changed."""
        if list(map(len, self._views)) != self._sizes:
            return None
        now, before = list(chain.from_iterable(self._views)), self._values
        if all(map(is_, now, before)):
            return []
        found = []
        for place in (place for place, same in enumerate(map(is_, now, before)) if not same):
            if place in self._modes:
                found.append(self._modes[place])
            elif place >= self._inside or type(now[place]) is not Tensor or type(before[place]) is not Tensor:
                return None  # a tensor that a module only remembers is asked for when it is read
        self._values = now
        return found


def attributes(module: nn.Module) -> dict[str, Any]:
    """The plain attributes that a module and its mirror have alike."""
    kind = type(module)
    return {
        name: value
        for name, value in vars(module).items()
        if name not in registry.OWN_OF_MODULES and is_plain(value) and registry.may_be_set(kind, name)
    }


def is_plain(value: object) -> bool:
    """A value that crosses as it is."""
    if type(value) is tuple:
        return len(value) < MOST_IN_TUPLE and all(type(each) in SIMPLE for each in value)
    return type(value) in SIMPLE or (id(value) in registry.NAMES and callable(value))


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
    """The parameters of modules and of their parts, each once, by their ids."""
    return _walk(modules)[1]


def _walk(roots: Iterable[nn.Module]) -> tuple[list[nn.Module], dict[int, nn.Parameter]]:
    """Modules and their parts, and their parameters by their ids: each once, in PyTorch's order."""
    modules: dict[int, nn.Module] = {}
    found, left = {}, list(roots)[::-1]
    while left:
        module = left.pop()
        if module is None or id(module) in modules:
            continue
        modules[id(module)] = module
        held = vars(module)
        for each in held["_parameters"].values():
            if each is not None:
                found[id(each)] = each
        left += list(held["_modules"].values())[::-1]
    return list(modules.values()), found


def refill(held: dict, wanted: Mapping[str, Any]) -> None:
    """Let a module's dict hold what is wanted, in that order."""
    if not held:
        held.update(wanted)
    elif list(held) != list(wanted) or any(held[name] is not wanted[name] for name in wanted):
        held.clear()
        held.update(wanted)
