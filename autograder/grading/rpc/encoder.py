"""Values on their way out: what crosses as plain data, and what has to be told beside it."""

import inspect
import itertools
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn, optim

from autograder.check._errors import CheckFailed, NotWritten
from autograder.grading.rpc import messages, registry
from autograder.grading.rpc.messages import Message, MirrorValue, NumberValue, SeveralValue, Simple, TensorValue, Value
from autograder.grading.rpc.modules import SIMPLE, attributes, methods_of
from autograder.grading.rpc.proxies import RemoteClass, RemoteFunction, RemoteIterator, RemoteObject
from autograder.grading.rpc.session import Session
from autograder.grading.rpc.tensors import ALIGNMENT, Raw, describe

MOST_ITEMS = 20_000
MOST_DEPTH = 12
ARRAY_TYPES = "?bhilqBefd"
DICTIONARIES = dict, OrderedDict, Counter, defaultdict  # an object of a class of the student's keeps its methods


class Encoder:
    """One message on its way out: its value, and all that has to be told so that the other side understands it.

    Args:
        frames: where in the answer an error came from.

    Attributes:
        blobs: the bytes of the message's tensors.
    """

    def __init__(self, state: Session, frames: Callable[[BaseException], list[messages.Frame]]) -> None:
        self._state, self._frames = state, frames
        self.blobs: list[Raw] = []
        self._items = 0
        self._tensors: list[messages.TensorContent] = []
        self._modules: list[tuple[int, messages.ModuleClass | None, messages.ModuleState]] = []
        self._visited: set[int] = set()

    def message(self, operation: str, number: int, value: Value) -> Message:
        """A message with an encoded value, and with all that is new, has changed, or is of no more use."""
        state, message = self._state, Message(operation, number, value, torch.is_grad_enabled())
        for root in state.active:
            self._module(root)
        for key, known in state.groups.items():
            if (groups := self._groups(cast(optim.Optimizer, state.objects[key]))) != known:
                state.groups[key] = groups
                message.optimizers.append((key, groups))
        for key, tensor in state.tensors.changed():
            if (raw := self._describe(key, tensor)) is not None:
                state.tensors.agree(key, tensor, raw)
        message.tensors, message.modules = self._tensors, self._modules
        message.unused = state.unused.copy()
        del state.unused[: len(message.unused)]  # more may be added at any moment
        return message

    def encode(self, value: Any, depth: int = 0) -> Value:
        """A value as a message holds it."""
        kind, simple = type(value), cast(Simple, value)
        if value is None or kind is bool:
            return simple
        if kind is float:
            return value if math.isfinite(value) else NumberValue("float", str(value))
        self._items += 1
        if depth > MOST_DEPTH or self._items > MOST_ITEMS:
            raise CheckFailed("What your code returns is nested too deeply, or holds too many things.")
        if (kind is int and abs(value) < 2**63) or (kind is str and len(value) <= messages.MOST_TEXT):
            return simple
        if issubclass(kind, Tensor):
            return self._tensor(value)
        if issubclass(kind, tuple):
            return self._several("tuple", tuple.__iter__(value), depth)
        if issubclass(kind, list):
            return self._several("list", list.__iter__(value), depth)
        if kind in DICTIONARIES:
            return self._several("dict", itertools.chain.from_iterable(value.items()), depth)
        if kind is set or kind is frozenset:
            return self._several("set", value, depth)
        if kind is slice:
            return self._several("slice", (value.start, value.stop, value.step), depth)
        return self._object(value, kind)

    def _several(self, kind: messages.Several, items: Iterable[Any], depth: int) -> SeveralValue:
        return SeveralValue(kind, [self.encode(item, depth + 1) for item in items])

    def _object(self, value: Any, kind: type) -> Value:
        name = registry.NAMES.get(id(value))
        if name is not None:
            return messages.CommonObject(name)
        if issubclass(kind, BaseException):
            return self._error(value)
        if issubclass(kind, nn.Module):
            return messages.HeldObject(self._module(value))
        if kind is torch.device:
            return messages.CommonObject(value.type if value.type in registry.DEVICES else "cpu")
        if issubclass(kind, np.generic) and value.dtype.char in ARRAY_TYPES:
            number = value.item()
            return NumberValue(value.dtype.char, number if math.isfinite(number) else str(number))
        if kind is np.ndarray and value.dtype.char in ARRAY_TYPES and value.nbytes < 2**26:
            tensor = self._tensor(torch.from_numpy(value.copy()))
            shape = list(value.shape)
            return messages.NumpyArray(value.dtype.char, shape, tensor) if isinstance(tensor, TensorValue) else tensor
        if (kind is Decimal or kind is Fraction) and len(text := str(value)) <= messages.MOST_DIGITS:
            return NumberValue(kind.__name__, text)
        if issubclass(kind, RemoteFunction | RemoteIterator | RemoteClass | RemoteObject | torch.Generator):
            number = self._state.number(value)
            if number is not None and number not in self._state.owned:
                return messages.HeldObject(number)
        if issubclass(kind, registry.OPTIMIZERS.get(kind.__name__, ())):
            return self._optimizer(value)
        if kind is torch.Generator and self._state.judge:
            return messages.GeneratorValue(self._state.hand_out(value), value.initial_seed())
        if hasattr(kind, "__next__") and self._state.judge:
            return MirrorValue("iterator", self._state.hand_out(value), "")
        if isinstance(value, type):
            return MirrorValue("class", self._state.hand_out(value), value.__name__[:200], "", _signature(value))
        if callable(value):
            title = str(getattr(value, "__name__", kind.__name__))[:200]
            return MirrorValue("function", self._state.hand_out(value), title, "", _signature(value))
        number = 0 if self._state.judge else self._state.hand_out(value)
        return MirrorValue("object", number, kind.__name__[:200], str(kind.__module__)[:200])

    # Tensors

    def _number(self, tensor: Tensor) -> int | None:
        """The number of a tensor, which the other side now knows; None for a kind that does not cross."""
        number = self._state.tensor_number(tensor)
        if number is None:
            number = self._state.new_number()
            raw = self._describe(number, tensor)
            if raw is None:
                return None
            self._state.tensors.add(tensor, number, raw)
        return number

    def _tensor(self, tensor: Tensor) -> TensorValue | MirrorValue:
        number = self._number(tensor)
        if number is None:
            return MirrorValue("object", 0, "Tensor", "torch")
        self._state.lend(tensor, number)
        return TensorValue(number)

    def _describe(self, number: int, tensor: Tensor) -> Raw | None:
        """Say all of a tensor, and return its bytes; None where it is of a kind that does not cross."""
        described = describe(number, tensor, strides=self._state.judge)
        if described is None:
            return None
        content, raw = described
        self._tensors.append(content)
        self.blobs.append(raw)
        if len(raw) % ALIGNMENT:
            self.blobs.append(bytes(-len(raw) % ALIGNMENT))
        return raw

    # Modules and optimizers

    def _module(self, module: nn.Module) -> int:
        """Say what has changed in a module and in its parts since both sides last agreed, and return its number."""
        state = self._state
        number = state.number(module)
        if number is not None and number in self._visited:
            return number
        kind = None
        if number is None:
            number = state.hand_out(module)
            of: type = type(module)
            layer, ancestor = registry.layer_name(module), registry.ancestor_name(of)
            kind = messages.ModuleClass(layer, of.__name__[:200], ancestor, methods_of(of))
        self._visited.add(number)
        content = self._module_state(module)
        if kind is not None or state.modules.get(number) != content:
            state.modules[number] = content
            self._modules.append((number, kind, content))
        return number

    def _module_state(self, module: nn.Module) -> messages.ModuleState:
        buffers, plain = module._buffers, attributes(module)
        if isinstance(module, registry.SECRETIVE):
            buffers, plain = {}, {}
        volatile = module._non_persistent_buffers_set
        return messages.ModuleState(
            bool(module.training),
            {name: self.encode(value) for name, value in plain.items()},
            {name: None if value is None else self._number(value) for name, value in module._parameters.items()},
            {name: self._buffer(value, name in volatile) for name, value in buffers.items()},
            {name: None if part is None else self._module(part) for name, part in module._modules.items()},
        )

    def _buffer(self, buffer: Any, is_volatile: bool) -> messages.Buffer | None:
        number = self._number(buffer) if isinstance(buffer, Tensor) else None
        return None if number is None else messages.Buffer(number, buffer.requires_grad, is_volatile)

    def _optimizer(self, optimizer: optim.Optimizer) -> messages.OptimizerValue:
        number, groups = self._state.hand_out(optimizer), self._groups(optimizer)
        self._state.groups[number] = groups
        return messages.OptimizerValue(number, type(optimizer).__name__, groups)

    def _groups(self, optimizer: optim.Optimizer) -> list[messages.OptimizerGroup]:
        groups = []
        for group in optimizer.param_groups:
            numbers = [self._number(parameter) for parameter in group["params"]]
            options = {key: value for key, value in group.items() if is_exact(value)}
            groups.append(messages.OptimizerGroup([number for number in numbers if number is not None], options))
        return groups

    # Errors

    def _error(self, error: BaseException) -> messages.Verdict | messages.ErrorValue:
        if isinstance(error, CheckFailed):
            details, slip = [str(line) for line in error.details], error.slip and str(error.slip)
            return messages.Verdict(isinstance(error, NotWritten), str(error.verdict), details, slip)
        kind = type(error)
        common = (above.__name__ for above in kind.__mro__ if registry.ERRORS.get(above.__name__) is above)
        base = next(common, "RuntimeError")
        try:
            text = str(error)[: messages.MOST_OF_ERROR]
        except Exception:
            text = ""
        text = text.encode("utf-8", "replace").decode()
        undefined = str(error.name)[:200] if isinstance(error, NameError) else None
        return messages.ErrorValue(base, kind.__name__[:200], text, self._frames(error), undefined)


def _signature(value: Callable[..., object]) -> list[messages.ParameterInfo] | None:
    try:
        parameters = inspect.signature(value).parameters.values()
    except Exception:
        return None
    if len(parameters) > 50:
        return None
    return [
        messages.ParameterInfo(parameter.name[:200], parameter.kind.value, _default(parameter))
        for parameter in parameters
    ]


def _default(parameter: inspect.Parameter) -> list[Simple]:
    if parameter.default is parameter.empty:
        return []
    is_short = not isinstance(parameter.default, str) or len(parameter.default) <= messages.MOST_TEXT
    return [parameter.default if is_short and is_exact(parameter.default) else "…"]


def is_exact(value: object) -> bool:
    """JSON knows a value just as it is."""
    return type(value) in SIMPLE and (type(value) is not float or math.isfinite(value))
