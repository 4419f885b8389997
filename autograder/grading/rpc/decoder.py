"""Messages that have come in, from a side that may say anything: their values, with every size and number looked at."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, optim

from autograder.check._errors import CheckFailed, NotWritten
from autograder.grading.rpc import messages, proxies, registry
from autograder.grading.rpc.channel import MOST_BYTES, malformed
from autograder.grading.rpc.encoder import ARRAY_TYPES, MOST_DEPTH, MOST_ITEMS
from autograder.grading.rpc.messages import Message, ModuleState, Value
from autograder.grading.rpc.modules import refill
from autograder.grading.rpc.session import Session
from autograder.grading.rpc.tensors import Blob, have_same_bits

_MODULE: type = nn.Module
Reader = Callable[["Decoder", Any], object]


class Decoder:
    """One message that has come in: what it tells is done at once, its value is read when asked for.

    Args:
        caller: the way to the other side, for the mirrors.
    """

    def __init__(self, state: Session, message: Message, blob: bytearray, caller: proxies.Caller) -> None:
        self._state, self._caller, self._items, self._array_bytes = state, caller, 0, 0
        self._message, self._blob = message, Blob(blob, strides=not state.judge)
        self._kept: list[Tensor] = []  # until the value has been read
        for content in message.tensors:
            self._take_tensor(content)
        for number, kind, _ in message.modules:
            self._take_module(number, kind)
        for number, _, told in message.modules:
            self._take_state(number, told)
        for number, groups in message.optimizers:
            self._take_options(number, groups)
        for number in message.unused:
            state.drop(number)

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
        if type(value) is messages.SeveralValue:
            return COLLECTIONS[value.kind]([self._decode(item, depth + 1) for item in value.items])
        reader = READERS.get(type(value))
        return value if reader is None else reader(self, value)

    def _number(self, value: messages.NumberValue) -> object:
        kind, number = value.kind, value.value
        if kind in ARRAY_TYPES:
            return np.dtype(kind).type(float(number) if isinstance(number, str) else number)
        is_endless = kind == "Fraction" and "e" in str(number).lower()  # as an exponent may make it
        if is_endless or not isinstance(number, str):
            raise malformed("no number")
        return NUMBERS[kind](number)

    def _numpy_array(self, value: messages.NumpyArray) -> object:
        if value.char not in ARRAY_TYPES:
            raise malformed("no array")
        tensor, dtype = self._state.tensors.get(value.data.number), np.dtype(value.char)
        self._array_bytes += tensor.numel() * dtype.itemsize  # of copies: one tensor may be asked for again and again
        if self._array_bytes > MOST_BYTES:
            raise malformed("too much")
        return tensor.numpy().astype(dtype).reshape(value.shape)

    def _mirror(self, told: messages.MirrorValue) -> object:
        if told.kind == "object" and not told.number:
            return proxies.mirror_object(self._caller, told)
        return self._taken(told.number, lambda: proxies.MIRRORS[told.kind](self._caller, told))

    def _generator(self, value: messages.GeneratorValue) -> object:
        return self._taken(value.number, lambda: torch.Generator().manual_seed(value.seed))

    def _taken(self, number: int, make: Callable[[], object]) -> object:
        self._state.require_foreign(number)
        mirror = self._state.objects.get(number)
        if mirror is None:
            mirror = make()
            self._state.take(mirror, number)
        return mirror

    def _optimizer(self, value: messages.OptimizerValue) -> object:
        state, optimizer = self._state, self._state.objects.get(value.number)
        if optimizer is None:
            state.require_foreign(value.number)
            groups = [
                {**group.options, "params": [state.tensors.get(number) for number in group.parameters]}
                for group in value.groups
            ]
            options = {name: option for name, option in value.groups[0].options.items() if name == "lr"}
            make: Callable[..., optim.Optimizer] = registry.OPTIMIZERS[value.kind]
            optimizer = make(groups, **options)
            state.take(optimizer, value.number)
            state.groups[value.number] = value.groups
        else:
            self._take_options(value.number, value.groups)
        return optimizer

    def _verdict(self, value: messages.Verdict) -> CheckFailed:
        kind = NotWritten if value.is_unwritten else CheckFailed
        return kind(value.verdict[:500], [line[:300] for line in value.details[:8]], value.slip and value.slip[:500])

    # What comes beside the value

    def _take_tensor(self, content: messages.TensorContent) -> None:
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

    def _take_options(self, number: int, groups: list[messages.OptimizerGroup]) -> None:
        """What has changed in the options of an optimizer."""
        optimizer = self._state.objects.get(number)
        if not isinstance(optimizer, optim.Optimizer) or len(optimizer.param_groups) != len(groups):
            raise malformed("no optimizer")
        self._state.groups[number] = groups
        for group, (_, options) in zip(optimizer.param_groups, groups, strict=True):
            group |= {name: option for name, option in options.items() if name in group and name != "params"}

    def _take_module(self, number: int, kind: messages.ModuleClass | None) -> None:
        """Make the module that is told of, where it is new."""
        state = self._state
        if number in state.objects:
            return
        state.require_foreign(number)
        if kind is None or (kind.layer is not None and kind.layer not in registry.LAYERS):
            raise malformed("an unknown module")
        if not all(registry.may_be_set(_MODULE, method) for method in kind.methods if method != "forward"):
            raise malformed("no method")
        state.take(proxies.mirror_module(self._caller, number, kind), number)

    def _take_state(self, number: int, told: ModuleState) -> None:
        state, module, before = self._state, self._state.module(number), self._state.modules.get(number)
        state.modules[number] = told
        vars(module)["training"] = told.training
        if isinstance(module, registry.SECRETIVE):
            return
        if before is not None and isinstance(module, proxies.RemoteModule):
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

    def _buffer(self, buffer: messages.Buffer) -> Tensor:
        tensor = self._state.tensors.get(buffer.number)
        if buffer.requires_grad and not tensor.requires_grad and tensor.dtype.is_floating_point:
            tensor.requires_grad_()
        return tensor


COLLECTIONS: dict[str, Callable[[list[Any]], object]] = {
    "tuple": tuple,
    "list": list,
    "set": set,
    "dict": lambda items: dict(zip(items[::2], items[1::2], strict=True)),
    "slice": lambda items: slice(*items),
}
NUMBERS: dict[str, Callable[[str], object]] = {"float": float, "Decimal": Decimal, "Fraction": Fraction}
READERS: dict[type, Reader] = {  # what is in none of these is None, a truth value, a number or a text
    messages.TensorValue: lambda decoder, value: decoder._state.tensors.get(value.number),
    messages.NumberValue: Decoder._number,
    messages.NumpyArray: Decoder._numpy_array,
    messages.CommonObject: lambda decoder, value: registry.OBJECTS[value.name],
    messages.HeldObject: lambda decoder, value: decoder._state.held(value.number),
    messages.MirrorValue: Decoder._mirror,
    messages.GeneratorValue: Decoder._generator,
    messages.OptimizerValue: Decoder._optimizer,
    messages.Verdict: Decoder._verdict,
    messages.ErrorValue: lambda decoder, value: proxies.mirror_error(value),
}
