"""Modules that both sides of the bridge hold: what of them crosses, and what has changed since it did."""

import functools
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, TypeVar

from torch import nn

from autograder.grading.rpc import registry

Value = TypeVar("Value")
SIMPLE = (type(None), bool, int, float, str)
MOST_IN_TUPLE = 20


def attributes(module: nn.Module) -> dict[str, Any]:
    """The plain attributes that a module and its mirror have alike."""
    kind: type = type(module)
    return {
        name: value
        for name, value in vars(module).items()
        if name not in registry.OWN_OF_MODULES and is_plain(value) and registry.may_be_set(kind, name)
    }


def is_plain(value: object) -> bool:
    """A value that crosses as it is."""
    if type(value) is tuple:
        return len(value) < MOST_IN_TUPLE and all(type(item) in SIMPLE for item in value)
    return type(value) in SIMPLE or (id(value) in registry.NAMES and callable(value))


@functools.cache
def methods_of(kind: type) -> list[str]:
    """The public methods that a class adds to `nn.Module`'s."""
    classes = [parent for parent in kind.__mro__ if not parent.__module__.startswith("torch.")]
    names = {  # a dict, which keeps the order
        name: None
        for parent in classes
        for name, value in vars(parent).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    }
    return [name for name in names if name == "forward" or not hasattr(nn.Module, name)]


def parameters(roots: Iterable[nn.Module]) -> dict[int, nn.Parameter]:
    """The parameters of modules and of their parts, each once, by their ids."""
    seen: set[int] = set()
    found: dict[int, nn.Parameter] = {}
    left: list[nn.Module | None] = [*reversed([*roots])]
    while left:
        module = left.pop()
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        for parameter in module._parameters.values():
            if parameter is not None:
                found[id(parameter)] = parameter
        left += list(module._modules.values())[::-1]
    return found


def refill(held: dict[str, Value | None], content: Mapping[str, Value | None]) -> None:
    """Let a module's dict hold a content, in its order."""
    if list(held) != list(content) or any(held[name] is not content[name] for name in content):
        held.clear()
        held.update(content)
