"""What crosses the bridge, as plain data: values to headers and bytes, and back with every size and type looked at."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn, optim

from autograder.check._errors import CheckFailed, NotWritten
from autograder.grading.rpc import registry
from autograder.grading.rpc.modules import SIMPLE, Tree, attributes, contents, is_as_before, methods_of, refill
from autograder.grading.rpc.proxies import (
    RemoteClass,
    RemoteFunction,
    RemoteIterator,
    RemoteModule,
    mirror_class,
    mirror_module,
    mirror_object,
    remote_error,
    signature,
)
from autograder.grading.rpc.tensors import ALIGNMENT, Blob, broken, describe

if TYPE_CHECKING:
    from autograder.grading.rpc.peer import Peer

MOST_ITEMS = 20_000
MOST_DEPTH = 12
MOST_TEXT = 100_000
_ARRAYS = "?bhilqBefd"


class Outgoing:
    """One message on its way out: its value, and all that has to be told so that the other side understands it."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.blobs: list[bytes | memoryview] = []
        self._items = 0
        self._tensors: list[list] = []
        self._modules: list[list] = []
        self._modes: list[list] = []
        self._told: set[int] = set()

    def rest(self) -> dict[str, list]:
        """What goes beside the value: tensors and modules that are new or have changed, and what is of no more use."""
        peer = self.peer
        told: list[list] = []
        for root in peer.active:
            self._look(root)
        for number, optimizer in peer.optimizers.items():
            if (groups := self._groups(optimizer)) != peer.states.get(number):
                peer.states[number] = groups
                told.append([number, groups])
        for number, tensor, whole in peer.tensors.changed():
            if not whole:
                peer.tensors.learns(number, tensor.requires_grad)
                self._tensors.append([number, None, tensor.requires_grad])
            elif (raw := self._describe(number, tensor)) is not None:
                peer.tensors.agree(number, tensor, raw)
        unused, peer.tensors.unused, peer.unused = peer.tensors.unused + peer.unused, [], []
        ended, peer.ended = peer.ended, []
        kinds = {"tensors": self._tensors, "modules": self._modules, "modes": self._modes, "optimizers": told}
        return {**kinds, "unused": unused, "ended": ended}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """A value as JSON's own types."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is float:
            return value if math.isfinite(value) else ["float", str(value)]
        is_several = kind is tuple and len(value) > 0 and all(issubclass(type(each), Tensor) for each in value)
        self._items += len(value) if is_several else 1
        if depth > MOST_DEPTH or self._items > MOST_ITEMS:
            raise CheckFailed("What your code returns is nested too deeply, or holds too many things.")
        if is_several:
            return self._several(value)
        if kind is int and abs(value) < 2**63:
            return value
        if kind is str and len(value) <= MOST_TEXT:
            return value
        if issubclass(kind, Tensor):
            return self._tensor(value)
        if kind in (tuple, list) or issubclass(kind, tuple | list):
            tag = "t" if issubclass(kind, tuple) else "l"
            return [tag, [self.encode(each, depth + 1) for each in (tuple if tag == "t" else list).__iter__(value)]]
        if kind is dict:
            return ["d", [[self.encode(key, depth + 1), self.encode(each, depth + 1)] for key, each in value.items()]]
        if kind is set or kind is frozenset:
            return ["set", [self.encode(each, depth + 1) for each in value]]
        return self._thing(value, kind, depth)

    def _thing(self, value: Any, kind: type, depth: int) -> Any:
        name = registry.NAMES.get(id(value))
        if name is not None:
            return ["known", name]
        if issubclass(kind, BaseException):
            return self._error(value)
        if issubclass(kind, nn.Module):
            return ["m", self._tell(value)]
        if kind is torch.dtype and value in registry.DTYPE_NAMES:
            return ["dtype", registry.DTYPE_NAMES[value]]
        if kind is torch.device:
            return ["device", value.type]
        if kind is slice:
            return ["slice", *(self.encode(each, depth + 1) for each in (value.start, value.stop, value.step))]
        if issubclass(kind, np.generic) and value.dtype.char in _ARRAYS:
            return ["number", value.dtype.char, self.encode(value.item(), depth + 1)]
        if kind is np.ndarray and value.dtype.char in _ARRAYS and value.nbytes < 2**26:
            return ["array", value.dtype.char, list(value.shape), self._tensor(torch.from_numpy(value.copy()))]
        if kind in (Decimal, Fraction):
            return ["exact", kind.__name__, str(value)[:200]]
        if registry.is_module(value):
            return ["python", value.__name__]
        if kind.__module__ == "autograder.grading.rpc.proxies" or kind is RemoteClass:
            number = self.peer.thing_number(value)
            if number is not None:
                return ["back", number]
        if isinstance(value, optim.Optimizer) and kind.__name__ in registry.OPTIMIZERS:
            return self._optimizer(value)
        if hasattr(kind, "__next__") and self.peer.judge:
            return ["next", self.peer.hand_out(value)]
        if isinstance(value, type):
            above = [registry.NAMES[id(each)] for each in value.__mro__ if id(each) in registry.NAMES]
            return ["class", self.peer.hand_out(value), value.__name__[:200], above, _described(value)]
        if callable(value):
            title = getattr(value, "__name__", kind.__name__)
            return ["f", self.peer.hand_out(value), str(title)[:200], _described(value)]
        return ["object", str(kind.__module__)[:200], kind.__name__[:200]]

    # Tensors

    def _tensor(self, tensor: Tensor) -> Any:
        number = self.peer.tensor_number(tensor)
        if number is None:
            number = self.peer.reference()
            raw = self._describe(number, tensor)
            if raw is None:
                return ["object", "torch", "Tensor"]
            self.peer.tensors.add(tensor, number, raw)
        return ["T", number]

    def _several(self, tensors: tuple[Tensor, ...]) -> list:
        told = [self._tensor(each) for each in tensors]
        return ["Ts", [each[1] for each in told]] if all(each[0] == "T" for each in told) else ["t", told]

    def _describe(self, number: int, tensor: Tensor) -> bytes | memoryview | None:
        """Say all of a tensor, and return its bytes; None where it is of a kind that does not cross."""
        described = describe(tensor, strides=self.peer.judge)
        if described is None:
            return None
        about, raw = described
        self._tensors.append([number, *about])
        self.blobs.append(raw)
        if len(raw) % ALIGNMENT:
            self.blobs.append(bytes(-len(raw) % ALIGNMENT))
        return raw

    # Modules and optimizers

    def _look(self, root: nn.Module) -> None:
        """Say what has changed in a module and in its parts since both sides last agreed on them."""
        tree = self.peer.trees.get(self.peer.thing_number(root))
        turned = tree.turned() if tree is not None else None
        if turned is None:
            self.peer.trees[self._tell(root)] = Tree(root)
        else:
            for module in turned:
                self._turn(module, self.peer.thing_number(module))

    def _turn(self, module: nn.Module, number: int) -> None:
        """Say that a module is in training now, or no longer."""
        if module.training is not self.peer.states[number][0]:
            self._modes.append([number, bool(module.training)])
            self.peer.set_mode(number, module.training)

    def _tell(self, module: nn.Module) -> int:
        """Say what has changed in a module and in its parts, and return its reference."""
        peer = self.peer
        number = peer.thing_number(module)
        if number in self._told:
            return number
        seen = peer.seen.get(number)
        if is_as_before(module, seen):
            self._told.add(number)
            self._turn(module, number)
            for each in seen.parts:
                if each is not None:
                    self._tell(each)
            return number
        inside, about = contents(module), None
        if number is None:
            number = peer.hand_out(module)
            kind = type(module)
            above = registry.NAMES.get(id(registry.ancestor(kind)), "")
            about = [registry.layer_name(module), kind.__name__[:200], above, methods_of(kind)]
        self._told.add(number)
        peer.seen[number] = inside
        buffers = {name: each if isinstance(each, Tensor) else None for name, each in module._buffers.items()}
        plain = attributes(module)
        if isinstance(module, registry.SECRETIVE):
            buffers, plain = {}, {}
        state = [
            module.training,
            {name: self.encode(value) for name, value in plain.items()},
            {name: None if each is None else self._tensor(each)[1] for name, each in module._parameters.items()},
            {name: None if each is None else self._buffer(module, name, each) for name, each in buffers.items()},
            {name: None if each is None else self._tell(each) for name, each in module._modules.items()},
        ]
        if about is not None or peer.states.get(number) != state:
            if about is None:
                peer.trees.clear()  # they know what it was before
            peer.states[number] = state
            self._modules.append([number, about, state])
        return number

    def _buffer(self, module: nn.Module, name: str, buffer: Tensor) -> list:
        passing = name in module._non_persistent_buffers_set  # which is not in the state_dict
        return [self._tensor(buffer)[1], buffer.requires_grad, passing]

    def _optimizer(self, optimizer: optim.Optimizer) -> Any:
        number = self.peer.hand_out(optimizer)
        told = ["optimizer", number, type(optimizer).__name__, self._groups(optimizer)]
        self.peer.states[number] = told[3]
        return told

    def _groups(self, optimizer: optim.Optimizer) -> list[list]:
        groups = []
        for group in optimizer.param_groups:
            options = {key: self.encode(each) for key, each in group.items() if type(each) in SIMPLE}
            groups.append([[self._tensor(each)[1] for each in group["params"]], options])
        return groups

    # Errors

    def _error(self, error: BaseException) -> Any:
        if isinstance(error, CheckFailed):
            told = [str(error.verdict), [str(line) for line in error.details], error.slip and str(error.slip)]
            return ["verdict", isinstance(error, NotWritten), *told]
        kind = type(error)
        base = next(
            (each.__name__ for each in kind.__mro__ if registry.ERRORS.get(each.__name__) is each), "RuntimeError"
        )
        try:
            text = str(error)[:2000]
        except Exception:
            text = ""
        text = text.encode("utf-8", "replace").decode()
        extra = [getattr(error, "name", None)] if isinstance(error, NameError) else []
        return ["error", base, str(kind.__name__)[:200], text, self.peer.frames(error), [self.encode(e) for e in extra]]


def _described(value: Any) -> list | None:
    try:
        parameters = inspect.signature(value).parameters.values()
    except Exception:
        return None
    if len(parameters) > 50:
        return None
    return [
        [
            each.name,
            int(each.kind),
            [] if each.default is each.empty else [each.default if _is_exact(each.default) else "…"],
        ]
        for each in parameters
    ]


def _is_exact(value: Any) -> bool:
    """JSON knows a value just as it is."""
    return type(value) in SIMPLE and (type(value) is not float or math.isfinite(value))


class Incoming:
    """One message that has come in: what it tells is done at once, its value is read when asked for."""

    def __init__(self, peer: Peer, header: Any, blob: bytearray) -> None:
        self.peer, self._items = peer, 0
        self._blob = Blob(blob, strides=not peer.judge)
        self._kept: list[Tensor] = []  # until the value has been read
        wanted = {"op": str, "n": int, "grad": bool, "out": str, "tensors": list, "modules": list}
        wanted |= dict.fromkeys(("modes", "optimizers", "unused", "ended", "left"), list)
        if not isinstance(header, dict) or any(type(header.get(key)) is not kind for key, kind in wanted.items()):
            raise broken("no message")
        self.operation, self.number, self.enabled = header["op"], header["n"], header["grad"]
        self._value = header.get("v")
        if header["out"]:
            peer.heard(header["out"])
        peer.finds(header["left"])
        for each in header["tensors"]:
            self._take_tensor(each)
        made = [(self._module(each), each) for each in header["modules"]]
        for module, each in made:
            self._state(module, each)
        for number, training in header["modes"]:
            self._mode(number, training)
        for number, groups in header["optimizers"]:
            self._options(number, groups)
        for each in header["unused"]:
            if isinstance(each, int):
                peer.drop(each)
        for each in header["ended"]:
            if isinstance(each, int):
                peer.calls.pop(each, None)

    def value(self) -> Any:
        """The value of the message."""
        return self._decode(self._value, 0)

    def _decode(self, value: Any, depth: int) -> Any:
        self._items += 1
        if depth > MOST_DEPTH + 2 or self._items > 4 * MOST_ITEMS:
            raise broken("too much")
        if not isinstance(value, list):
            if isinstance(value, dict):
                raise broken("an object")
            return value
        if not value or not isinstance(value[0], str):
            raise broken("no tag")
        reader = getattr(self, f"_read_{value[0]}", None)
        if reader is None:
            raise broken("an unknown tag")
        try:
            return reader(*value[1:], depth=depth + 1)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise broken(f"{value[0]}: {error}") from None

    def _read_t(self, items: list, *, depth: int) -> tuple:
        return tuple(self._decode(each, depth) for each in items)

    def _read_l(self, items: list, *, depth: int) -> list:
        return [self._decode(each, depth) for each in items]

    def _read_set(self, items: list, *, depth: int) -> set:
        return {self._decode(each, depth) for each in items}

    def _read_d(self, items: list, *, depth: int) -> dict:
        return {self._decode(key, depth): self._decode(each, depth) for key, each in items}

    def _read_T(self, number: int, *, depth: int) -> Tensor:
        return self.peer.tensors.get(number)

    def _read_Ts(self, numbers: list, *, depth: int) -> tuple[Tensor, ...]:
        return tuple(self.peer.tensors.get(each) for each in numbers)

    def _read_known(self, name: str, *, depth: int) -> object:
        return registry.OBJECTS[name]

    def _read_dtype(self, name: str, *, depth: int) -> torch.dtype:
        return registry.DTYPES[name]

    def _read_device(self, name: str, *, depth: int) -> torch.device:
        return torch.device(name if name in ("cpu", "meta", "cuda") else "cpu")

    def _read_slice(self, *parts: Any, depth: int) -> slice:
        return slice(*(self._decode(each, depth) for each in parts))

    def _read_float(self, text: str, *, depth: int) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise broken("no number")
        return float(text)

    def _read_number(self, char: str, told: Any, *, depth: int) -> np.generic:
        value = self._decode(told, depth)
        if char not in _ARRAYS or type(value) not in (bool, int, float):
            raise broken("no number")
        return np.dtype(char).type(value)

    def _read_exact(self, name: str, text: str, *, depth: int) -> Decimal | Fraction:
        if len(text) > 200 or (name != "Decimal" and "e" in text.lower()):
            raise broken("no number")
        return Decimal(text) if name == "Decimal" else Fraction(text)

    def _read_array(self, char: str, shape: list, data: list, *, depth: int) -> np.ndarray:
        if char not in _ARRAYS:
            raise broken("no array")
        return self._decode(data, depth).numpy().astype(np.dtype(char)).reshape(shape)

    def _read_python(self, name: str, *, depth: int) -> object:
        return registry.MODULES[name]

    def _read_back(self, number: int, *, depth: int) -> object:
        return self.peer.own(number)

    def _read_m(self, number: int, *, depth: int) -> nn.Module:
        module = self.peer.things.get(number)
        if not isinstance(module, nn.Module):
            raise broken("no module")
        return module

    def _read_f(self, number: int, name: str, described: Any, *, depth: int) -> object:
        return self._mirror(number, lambda: RemoteFunction(self.peer, number, str(name), signature(described)))

    def _read_class(self, number: int, name: str, above: list, described: Any, *, depth: int) -> object:
        return self._mirror(number, lambda: mirror_class(self.peer, number, str(name), above, signature(described)))

    def _read_next(self, number: int, *, depth: int) -> object:
        return self._mirror(number, lambda: RemoteIterator(self.peer, number))

    def _mirror(self, number: int, make: Any) -> object:
        self.peer.require_theirs(number)
        found = self.peer.things.get(number)
        if found is None:
            found = make()
            self.peer.take(found, number)
        return found

    def _read_object(self, module: str, name: str, *, depth: int) -> object:
        return mirror_object(str(module), str(name))

    def _read_optimizer(self, number: int, kind: str, groups: list, *, depth: int) -> object:
        found = self.peer.things.get(number)
        self.peer.states[number] = groups
        if found is not None:
            return found
        self.peer.require_theirs(number)
        made = [{"params": [self.peer.tensors.get(each) for each in ids], **options} for ids, options in groups]
        options = {key: each for key, each in groups[0][1].items() if key == "lr"}
        optimizer = registry.OPTIMIZERS[kind](made, **options)
        self.peer.take(optimizer, number)
        return optimizer

    def _read_verdict(
        self, unwritten: bool, verdict: str, details: list, slip: str | None, *, depth: int
    ) -> CheckFailed:
        lines = [str(line)[:300] for line in details[:8]]
        return (NotWritten if unwritten else CheckFailed)(str(verdict)[:500], lines, slip and str(slip)[:500])

    def _read_error(self, kind: str, name: str, text: str, frames: list, extra: list, *, depth: int) -> Exception:
        where = [(str(owner)[:200], int(line), str(source)[:300]) for owner, line, source in frames[:20]]
        error = remote_error(str(kind), str(name), str(text), where)
        if extra and isinstance(error, NameError):
            error.name = str(self._decode(extra[0], depth))
        return error

    # Tensors

    def _take_tensor(self, about: Any) -> None:
        peer = self.peer
        if not isinstance(about, list) or not about or type(about[0]) is not int:
            raise broken("no tensor")
        number = about[0]
        if len(about) == 3:
            peer.tensors.get(number).requires_grad_(bool(about[2]))
            peer.tensors.learns(number, bool(about[2]))
            return
        if len(about) != 7:
            raise broken("no tensor")
        _, name, shape, strides, learns, is_parameter, meta = about
        fresh, raw = self._blob.take(name, shape, strides, meta)
        learns = bool(learns) and (fresh.dtype.is_floating_point or fresh.dtype.is_complex)
        tensor = peer.tensors.find(number)
        if tensor is None:
            peer.require_theirs(number)
            tensor = nn.Parameter(fresh, requires_grad=learns) if is_parameter else fresh
            peer.tensors.add(tensor, number, raw)
            self._kept.append(tensor)
            return
        same = tensor.shape == fresh.shape and tensor.dtype == fresh.dtype and tensor.device == fresh.device
        if same and 0 not in tensor.stride():
            tensor.data.copy_(fresh)
        else:
            tensor.data = fresh
        if isinstance(tensor, nn.Parameter):
            tensor.requires_grad_(learns)
        peer.tensors.agree(number, tensor)

    # Modules and optimizers

    def _options(self, number: Any, groups: Any) -> None:
        """What has changed in the options of an optimizer."""
        optimizer = self.peer.things.get(number)
        if not isinstance(optimizer, optim.Optimizer) or len(optimizer.param_groups) != len(groups):
            raise broken("no optimizer")
        self.peer.states[number] = groups
        for group, (_, options) in zip(optimizer.param_groups, groups, strict=True):
            group |= {key: each for key, each in options.items() if key in group and type(each) in SIMPLE}

    def _module(self, about: Any) -> nn.Module:
        peer = self.peer
        if not (isinstance(about, list) and len(about) == 3 and type(about[0]) is int):
            raise broken("no module")
        number, described, _ = about
        found = peer.things.get(number)
        if found is None:
            peer.require_theirs(number)
            if not (isinstance(described, list) and len(described) == 4):
                raise broken("an unknown module")
            layer, name, above, methods = described
            texts = (name, above, *methods) if isinstance(methods, list) and len(methods) < 200 else (None,)
            if (layer is not None and layer not in registry.LAYERS) or not all(isinstance(each, str) for each in texts):
                raise broken("no module")
            if not all(registry.may_be_set(nn.Module, each) for each in methods if each != "forward"):
                raise broken("no method")
            found = mirror_module(peer, number, layer, name, above if above in registry.LAYERS else "", methods)
            peer.take(found, number)
        if not isinstance(found, nn.Module):
            raise broken("no module")
        return found

    def _mode(self, number: Any, training: Any) -> None:
        """A module is in training from here on, or no longer."""
        module = self.peer.things.get(number)
        if not isinstance(module, nn.Module) or type(training) is not bool:
            raise broken("no mode")
        vars(module)["training"] = training
        self.peer.set_mode(number, training)

    def _state(self, module: nn.Module, about: list) -> None:
        state = about[2]
        if not (isinstance(state, list) and len(state) == 5 and all(isinstance(each, dict) for each in state[1:])):
            raise broken("no state")
        training, plain, parameters, buffers, children = state
        kind, before = type(module), self.peer.states.get(about[0])
        if before is not None:
            self.peer.trees.clear()
        self.peer.states[about[0]] = state
        vars(module)["training"] = bool(training)
        if isinstance(module, registry.SECRETIVE):
            return
        if before is not None and isinstance(module, RemoteModule):
            for name in before[1].keys() - plain.keys():  # no longer plain: it is asked for when it is read
                vars(module).pop(name, None)
        for name, value in plain.items():
            value = self._decode(value, 1)
            if registry.may_be_set(kind, name):
                vars(module)[name] = value
        things = self.peer.things
        held = {name: None if each is None else self.peer.tensors.get(each) for name, each in parameters.items()}
        if not all(each is None or isinstance(each, nn.Parameter) for each in held.values()):
            raise broken("no parameter")
        refill(module._parameters, held)
        held = {name: None if each is None else self.peer.tensors.get(each[0]) for name, each in buffers.items()}
        for name, each in held.items():
            if each is not None and buffers[name][1] and not each.requires_grad and each.dtype.is_floating_point:
                each.requires_grad_()
        refill(module._buffers, held)
        module._non_persistent_buffers_set = {name for name, each in buffers.items() if each is not None and each[2]}
        parts = {name: None if each is None else things.get(each) for name, each in children.items()}
        if not all(each is None or isinstance(each, nn.Module) for each in parts.values()):
            raise broken("no part")
        refill(module._modules, parts)
        self.peer.seen[about[0]] = contents(module)
