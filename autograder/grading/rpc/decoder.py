"""Messages that have come in, from a side that may say anything: their values, with every size and number looked at."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, optim

from autograder.check._errors import CheckFailed, NotWritten
from autograder.grading.rpc import registry
from autograder.grading.rpc.channel import MOST_BYTES, malformed
from autograder.grading.rpc.encoder import ARRAY_TYPES, MOST_DEPTH, MOST_ITEMS
from autograder.grading.rpc.messages import (
    Buffer,
    ClassValue,
    CommonObject,
    DeviceValue,
    DictValue,
    DtypeValue,
    ErrorValue,
    ExactNumber,
    FloatValue,
    FunctionValue,
    GeneratorValue,
    IteratorValue,
    ListValue,
    Message,
    ModuleContent,
    ModuleState,
    ModuleValue,
    NumpyArray,
    NumpyNumber,
    ObjectValue,
    OptimizerGroup,
    OptimizerValue,
    OwnObject,
    PythonModule,
    SetValue,
    SliceValue,
    TensorContent,
    TensorValue,
    TupleValue,
    Value,
    Verdict,
)
from autograder.grading.rpc.modules import refill
from autograder.grading.rpc.proxies import (
    Caller,
    RemoteFunction,
    RemoteIterator,
    RemoteModule,
    mirror_class,
    mirror_error,
    mirror_module,
    mirror_object,
    signature_of,
)
from autograder.grading.rpc.session import Session
from autograder.grading.rpc.tensors import Blob, have_same_bits

_MODULE: type = nn.Module
Reader = Callable[["Decoder", Any, int], object]


class Decoder:
    """One message that has come in: what it tells is done at once, its value is read when asked for.

    Args:
        caller: the way to the other side, for the mirrors.
    """

    def __init__(self, state: Session, message: Message, blob: bytearray, caller: Caller) -> None:
        self._state, self._caller, self._items, self._array_bytes = state, caller, 0, 0
        self._message, self._blob = message, Blob(blob, strides=not state.judge)
        self._kept: list[Tensor] = []  # until the value has been read
        for content in message.tensors:
            self._take_tensor(content)
        for number, requires_grad in message.requires_grad:
            state.tensors.get(number).requires_grad_(requires_grad)
            state.tensors.set_requires_grad(number, requires_grad)
        modules = [self._take_module(content) for content in message.modules]
        for module, module_content in zip(modules, message.modules, strict=True):
            self._take_state(module, module_content.number, module_content.state)
        for number, groups in message.optimizers:
            self._take_options(number, groups)
        for number in message.unused:
            state.drop(number)
        for number in message.ended:
            state.calls.pop(number, None)

    def value(self) -> Any:
        """The value of the message.

        Raises:
            Lost: it is none.
        """
        try:
            return self._decode(self._message.value, 0)
        except Exception as error:  # whatever it is, it came from there
            raise malformed(f"{type(error).__name__}: {error}") from None

    def _decode(self, value: Value, depth: int) -> Any:
        self._items += 1
        if depth > MOST_DEPTH + 2 or self._items > 4 * MOST_ITEMS:
            raise malformed("too much")
        reader = READERS.get(type(value))
        return value if reader is None else reader(self, value, depth + 1)

    def _several(self, values: list[Value], depth: int) -> list[Any]:
        return [self._decode(value, depth) for value in values]

    def _dict(self, value: DictValue, depth: int) -> dict[Any, Any]:
        return {self._decode(key, depth): self._decode(item, depth) for key, item in value.items}

    def _slice(self, value: SliceValue, depth: int) -> slice:
        return slice(*self._several([value.start, value.stop, value.step], depth))

    def _numpy_number(self, value: NumpyNumber, depth: int) -> object:
        if value.char not in ARRAY_TYPES:
            raise malformed("no number")
        return np.dtype(value.char).type(self._decode(value.value, depth))

    def _numpy_array(self, value: NumpyArray, depth: int) -> object:
        if value.char not in ARRAY_TYPES:
            raise malformed("no array")
        tensor, dtype = self._state.tensors.get(value.data.number), np.dtype(value.char)
        self._array_bytes += tensor.numel() * dtype.itemsize  # of copies: one tensor may be asked for again and again
        if self._array_bytes > MOST_BYTES:
            raise malformed("too much")
        return tensor.numpy().astype(dtype).reshape(value.shape)

    def _exact(self, value: ExactNumber, depth: int) -> Decimal | Fraction:
        if value.kind == "Decimal":
            return Decimal(value.text)
        if "e" in value.text.lower():  # an exponent may make it endless
            raise malformed("no number")
        return Fraction(value.text)

    def _function(self, value: FunctionValue, depth: int) -> object:
        signature = signature_of(value.signature)
        return self._mirror(value.number, lambda: RemoteFunction(self._caller, value.number, value.name, signature))

    def _class(self, value: ClassValue, depth: int) -> object:
        signature = signature_of(value.signature)
        return self._mirror(value.number, lambda: mirror_class(self._caller, value.number, value.name, signature))

    def _iterator(self, value: IteratorValue, depth: int) -> object:
        return self._mirror(value.number, lambda: RemoteIterator(self._caller, value.number))

    def _generator(self, value: GeneratorValue, depth: int) -> object:
        return self._mirror(value.number, lambda: torch.Generator().manual_seed(value.seed))

    def _other(self, value: ObjectValue, depth: int) -> object:
        number = value.number
        if number is None:
            return mirror_object(value.module, value.name)
        return self._mirror(number, lambda: mirror_object(value.module, value.name, self._caller, number))

    def _mirror(self, number: int, make: Callable[[], object]) -> object:
        self._state.require_foreign(number)
        mirror = self._state.objects.get(number)
        if mirror is None:
            mirror = make()
            self._state.take(mirror, number)
        return mirror

    def _optimizer(self, value: OptimizerValue, depth: int) -> object:
        state, optimizer = self._state, self._state.objects.get(value.number)
        state.groups[value.number] = value.groups
        if optimizer is not None:
            return optimizer
        state.require_foreign(value.number)
        groups = [
            {"params": [state.tensors.get(number) for number in group.parameters], **group.options}
            for group in value.groups
        ]
        options = {name: option for name, option in value.groups[0].options.items() if name == "lr"}
        make: Callable[..., optim.Optimizer] = registry.OPTIMIZERS[value.kind]
        optimizer = make(groups, **options)
        state.take(optimizer, value.number)
        return optimizer

    def _verdict(self, value: Verdict, depth: int) -> CheckFailed:
        kind = NotWritten if value.is_unwritten else CheckFailed
        return kind(value.verdict[:500], [line[:300] for line in value.details[:8]], value.slip and value.slip[:500])

    def _error(self, value: ErrorValue, depth: int) -> Exception:
        frames = [(owner[:200], line, source[:300]) for owner, line, source in value.frames[:20]]
        return mirror_error(value, frames)

    # What comes beside the value

    def _take_tensor(self, content: TensorContent) -> None:
        tensors, number = self._state.tensors, content.number
        fresh, raw = self._blob.take(content)
        requires_grad = content.requires_grad and (fresh.dtype.is_floating_point or fresh.dtype.is_complex)
        tensor = tensors.find(number)
        if tensor is None:
            self._state.require_foreign(number)
            tensor = nn.Parameter(fresh, requires_grad=requires_grad) if content.is_parameter else fresh
            tensors.add(tensor, number, raw)
            self._kept.append(tensor)
            return
        if self._state.judge and not self._state.may_write(number):
            self._state.overwritten |= not have_same_bits(tensor, fresh)
            return
        same = tensor.shape == fresh.shape and tensor.dtype == fresh.dtype and tensor.device == fresh.device
        if same and 0 not in tensor.stride():
            tensor.data.copy_(fresh)
        else:
            tensor.data = fresh
        if isinstance(tensor, nn.Parameter):
            tensor.requires_grad_(requires_grad)
        tensors.agree(number, tensor)

    def _take_options(self, number: int, groups: list[OptimizerGroup]) -> None:
        """What has changed in the options of an optimizer."""
        optimizer = self._state.optimizers.get(number)
        if optimizer is None or len(optimizer.param_groups) != len(groups):
            raise malformed("no optimizer")
        self._state.groups[number] = groups
        for group, (_, options) in zip(optimizer.param_groups, groups, strict=True):
            group |= {name: option for name, option in options.items() if name in group}

    def _take_module(self, content: ModuleContent) -> nn.Module:
        """The module that is told of, made where it is new."""
        state, number, kind = self._state, content.number, content.kind
        if number in state.objects:
            return state.module(number)
        state.require_foreign(number)
        if kind is None or (kind.layer is not None and kind.layer not in registry.LAYERS):
            raise malformed("an unknown module")
        if not all(registry.may_be_set(_MODULE, method) for method in kind.methods if method != "forward"):
            raise malformed("no method")
        module = mirror_module(self._caller, number, kind)
        state.take(module, number)
        return module

    def _take_state(self, module: nn.Module, number: int, told: ModuleState) -> None:
        state, before = self._state, self._state.modules.get(number)
        state.modules[number] = told
        vars(module)["training"] = told.training
        if isinstance(module, registry.SECRETIVE):
            return
        if before is not None and isinstance(module, RemoteModule):
            for name in before.attributes.keys() - told.attributes.keys():  # no longer plain: asked for when it is read
                vars(module).pop(name, None)
        kind: type = type(module)
        for name, attribute in told.attributes.items():
            value = self._decode(attribute, 1)
            if registry.may_be_set(kind, name):
                vars(module)[name] = value
        parameters = {name: None if key is None else self._parameter(key) for name, key in told.parameters.items()}
        refill(module._parameters, parameters)
        buffers = {name: None if buffer is None else self._buffer(buffer) for name, buffer in told.buffers.items()}
        refill(module._buffers, buffers)
        volatile = {name for name, buffer in told.buffers.items() if buffer is not None and buffer.is_volatile}
        module._non_persistent_buffers_set = volatile
        parts = {name: None if key is None else state.module(key) for name, key in told.parts.items()}
        refill(module._modules, parts)

    def _parameter(self, number: int) -> nn.Parameter:
        tensor = self._state.tensors.get(number)
        if not isinstance(tensor, nn.Parameter):
            raise malformed("no parameter")
        return tensor

    def _buffer(self, buffer: Buffer) -> Tensor:
        tensor = self._state.tensors.get(buffer.number)
        if buffer.requires_grad and not tensor.requires_grad and tensor.dtype.is_floating_point:
            tensor.requires_grad_()
        return tensor


READERS: dict[type, Reader] = {  # what is in none of these is None, a truth value, a number or a text
    TupleValue: lambda decoder, value, depth: tuple(decoder._several(value.items, depth)),
    ListValue: lambda decoder, value, depth: decoder._several(value.items, depth),
    SetValue: lambda decoder, value, depth: set(decoder._several(value.items, depth)),
    DictValue: Decoder._dict,
    TensorValue: lambda decoder, value, depth: decoder._state.tensors.get(value.number),
    FloatValue: lambda decoder, value, depth: float(value.text),
    SliceValue: Decoder._slice,
    NumpyNumber: Decoder._numpy_number,
    NumpyArray: Decoder._numpy_array,
    ExactNumber: Decoder._exact,
    DtypeValue: lambda decoder, value, depth: registry.DTYPES[value.name],
    DeviceValue: lambda decoder, value, depth: torch.device(
        value.kind if value.kind in ("cpu", "meta", "cuda") else "cpu"
    ),
    PythonModule: lambda decoder, value, depth: registry.MODULES[value.name],
    CommonObject: lambda decoder, value, depth: registry.OBJECTS[value.name],
    OwnObject: lambda decoder, value, depth: decoder._state.own(value.number),
    ModuleValue: lambda decoder, value, depth: decoder._state.module(value.number),
    FunctionValue: Decoder._function,
    ClassValue: Decoder._class,
    IteratorValue: Decoder._iterator,
    GeneratorValue: Decoder._generator,
    ObjectValue: Decoder._other,
    OptimizerValue: Decoder._optimizer,
    Verdict: Decoder._verdict,
    ErrorValue: Decoder._error,
}
