"""Mirrors: what stands in one process for something that is in the other."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from torch import nn

from autograder.grading.rpc import registry

if TYPE_CHECKING:
    from autograder.grading.rpc.peer import Peer


class RemoteObject:
    """Something of the other side of which nothing is known but its class."""


class RemoteFunction:
    """A callable of the other side."""

    def __init__(self, peer: Peer, number: int, name: str, signature: Signature | None) -> None:
        self._peer, self._number, self.__name__ = peer, number, name
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._peer.call(self._number, None, args, kwargs)


class RemoteClass(type):
    """A class of the other side: to call it makes an object there."""

    def __call__(cls, *args: object, **kwargs: object) -> object:
        return cls._peer.call(cls._number, None, args, kwargs)


class RemoteIterator:
    """An iterator of the other side."""

    def __init__(self, peer: Peer, number: int) -> None:
        self._peer, self._number = peer, number

    def __iter__(self) -> RemoteIterator:
        return self

    def __next__(self) -> object:
        found = self._peer.request("next", self._number)
        if not found:
            raise StopIteration
        return found[0]


class RemoteModule(nn.Module):
    """A module of the other side, with parameters, buffers and parts of its own that are kept the same as there."""

    def forward(self, *args: object, **kwargs: object) -> object:
        """What the module over there returns."""
        return self._peer.call(self._number, None, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):
                raise
        return self._peer.get(self._number, name)

    def __deepcopy__(self, memo: dict) -> Any:
        memo[id(self)] = copied = self._peer.request("copy", self._number)
        return copied


def mirror_module(
    peer: Peer, number: int, layer: str | None, name: str, above: str, methods: Iterable[str]
) -> nn.Module:
    """A module for one of the other side, still empty: PyTorch's own layer, or a mirror of the class `name`."""
    if layer is not None:
        module = object.__new__(registry.OBJECTS[layer])
        nn.Module.__init__(module)
        return module
    module = object.__new__(_class_of_modules(name, above, tuple(methods)))
    nn.Module.__init__(module)
    module.__dict__ |= {"_peer": peer, "_number": number}
    return module


@functools.cache
def _class_of_modules(name: str, above: str, methods: tuple[str, ...]) -> type[RemoteModule]:
    parent = registry.OBJECTS.get(above, nn.Module)
    bases = (RemoteModule,) if parent is nn.Module else (RemoteModule, parent)
    return type(name, bases, {each: _method(each) for each in methods if each != "forward"})


def _method(name: str) -> Any:
    def method(self: RemoteModule, *args: object, **kwargs: object) -> object:
        return self._peer.call(self._number, name, args, kwargs)

    method.__name__ = name
    return method


def mirror_class(peer: Peer, number: int, name: str, above: Iterable[str], signature: Signature | None) -> RemoteClass:
    """A class for one of the other side."""
    bases = tuple(registry.OBJECTS[each] for each in above if isinstance(registry.OBJECTS.get(each), type))
    made = RemoteClass(name, (), {"_peer": peer, "_number": number, "known_bases": bases})
    if signature is not None:
        made.__signature__ = signature
    return made


def mirror_object(module: str, name: str) -> RemoteObject:
    """An object of a class that only the other side has."""
    return type(name, (RemoteObject,), {"__module__": module})()


def remote_error(kind: str, name: str, text: str, frames: list[tuple[str, int, str]]) -> Exception:
    """An exception of the other side, of the nearest class that both have.

    Args:
        frames: where in the answer it came from: function, line, source of the line.
    """
    base = registry.ERRORS.get(kind, RuntimeError)
    made = base if base.__name__ == name else type(name, (base,), {"__str__": lambda self: text})
    try:
        error = made(text)
    except TypeError:  # UnicodeDecodeError and the like want more than a text
        error = type(name, (RuntimeError,), {})(text)
    if isinstance(error, KeyError):
        error = type(name, (KeyError,), {"__str__": lambda self: text})(text)
    error.answer_frames = frames
    return error


def signature(described: object) -> Signature | None:
    """A signature from its description, pairs of name, kind, and the default in a list if there is one."""
    if not isinstance(described, list):
        return None
    try:
        return Signature(
            Parameter(name, list(_KINDS)[kind], default=default[0] if default else Parameter.empty)
            for name, kind, default in described
        )
    except (TypeError, ValueError, IndexError):
        return None


_KINDS = (
    Parameter.POSITIONAL_ONLY,
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.VAR_POSITIONAL,
    Parameter.KEYWORD_ONLY,
    Parameter.VAR_KEYWORD,
)
