"""Mirrors: what stands in one process for something that is in the other."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, Protocol

from torch import nn

from autograder.grading.rpc import registry
from autograder.grading.rpc.messages import MOST_OF_ERROR, ErrorValue, MirrorValue, ModuleClass, ParameterInfo

PARAMETER_KIND: Any = type(Parameter.KEYWORD_ONLY)  # an enum, which `inspect` keeps to itself


class Caller(Protocol):
    """What a mirror needs to reach the other side."""

    def call(self, number: int, method: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Call what the other side knows as `number`, or its method."""

    def get(self, number: int, name: str) -> object:
        """Read an attribute of a module of the other side."""

    def request(self, operation: str, *payload: object) -> Any:
        """Ask the other side."""


class RemoteObject:
    """Something of the other side of which nothing is known but its class; its attributes are asked for."""

    _caller: Caller
    _number: int

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self._caller.get(self._number, name)


class RemoteFunction:
    """A callable of the other side."""

    def __init__(self, caller: Caller, told: MirrorValue) -> None:
        self._caller, self._number, self.__name__ = caller, told.number, told.name
        self.__signature__ = signature_of(told.signature)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._caller.call(self._number, None, args, kwargs)


class RemoteClass(type):
    """A class of the other side: to call it makes an object there."""

    _caller: Caller
    _number: int

    def __call__(cls, *args: object, **kwargs: object) -> object:
        return cls._caller.call(cls._number, None, args, kwargs)


class RemoteIterator(Iterator[object]):
    """An iterator of the other side."""

    def __init__(self, caller: Caller, told: MirrorValue) -> None:
        self._caller, self._number = caller, told.number

    def __next__(self) -> object:
        items = self._caller.request("next", self._number)
        if not items:
            raise StopIteration
        return items[0]


class RemoteModule(nn.Module):
    """A module of the other side, with parameters, buffers and parts of its own that are kept the same as there."""

    _caller: Caller
    _number: int

    def forward(self, *args: object, **kwargs: object) -> object:
        """What the module over there returns."""
        return self._caller.call(self._number, None, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):
                raise
        return self._caller.get(self._number, name)

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        memo[id(self)] = copied = self._caller.request("copy", self._number)
        return copied


def mirror_module(caller: Caller, number: int, kind: ModuleClass) -> nn.Module:
    """A module for one of the other side, still empty: PyTorch's own layer, or a mirror of its class."""
    if kind.layer is not None:
        return _empty(registry.LAYERS[kind.layer])
    module = _empty(_class_of_modules(kind.name, kind.ancestor, tuple(kind.methods)))
    vars(module).update(_caller=caller, _number=number)
    return module


def _empty(kind: type[nn.Module]) -> nn.Module:
    module: nn.Module = object.__new__(kind)
    nn.Module.__init__(module)
    return module


@functools.cache
def _class_of_modules(name: str, ancestor: str, methods: tuple[str, ...]) -> type[RemoteModule]:
    parent = registry.LAYERS.get(ancestor)
    bases = (RemoteModule,) if parent is None else (RemoteModule, parent)
    return type(name, bases, {method: _method(method) for method in methods if method != "forward"})


def _method(name: str) -> Callable[..., object]:
    def method(self: RemoteModule, *args: object, **kwargs: object) -> object:
        return self._caller.call(self._number, name, args, kwargs)

    method.__name__ = name
    return method


def mirror_class(caller: Caller, told: MirrorValue) -> RemoteClass:
    """A class for one of the other side."""
    own = {"_caller": caller, "_number": told.number, "__signature__": signature_of(told.signature)}
    return RemoteClass(told.name, (), own)


def mirror_object(caller: Caller, told: MirrorValue) -> object:
    """An object of a class that only the other side has; without a number, one without attributes."""
    own = {"_caller": caller, "_number": told.number} if told.number else {}
    return type(told.name, (RemoteObject,) if own else (), {"__module__": told.module, **own})()


MIRRORS: dict[str, Callable[[Caller, MirrorValue], object]] = {
    "function": RemoteFunction,
    "class": mirror_class,
    "iterator": RemoteIterator,
    "object": mirror_object,
}


def mirror_error(told: ErrorValue) -> Exception:
    """An exception of the other side, of the nearest class that both have."""
    text, base = told.text[:MOST_OF_ERROR], registry.ERRORS.get(told.kind, RuntimeError)
    kind: type[Exception] = base
    if base.__name__ != told.name or base is KeyError:
        kind = type(told.name, (base,), {"__str__": lambda self: text})
    try:
        error = kind(text)
    except TypeError:  # UnicodeDecodeError and the like want more than a text
        error = type(told.name, (RuntimeError,), {})(text)
    if isinstance(error, NameError) and told.undefined is not None:
        error.name = told.undefined
    vars(error)["answer_frames"] = [(owner[:200], line, source[:300]) for owner, line, source in told.frames[:20]]
    return error


def signature_of(parameters: Iterable[ParameterInfo] | None) -> Signature | None:
    """A signature from its description; None where there is none, or it cannot be."""
    if parameters is None:
        return None
    try:
        return Signature(
            [
                Parameter(name, PARAMETER_KIND(kind), default=default[0] if default else Parameter.empty)
                for name, kind, default in parameters
            ]
        )
    except (TypeError, ValueError):
        return None
