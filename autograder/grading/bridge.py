"""The bridge: names of one process used in another, as if they were there.

Two peers, the judge and a student's process, hold one end of a channel each. What crosses is plain data: numbers,
texts, lists, and tensors as bytes. Functions, classes and objects stay where they are and cross as references, which
become mirrors on the other side; modules cross with their parameters, and PyTorch's own layers are rebuilt from theirs.
A tensor that has crossed is one tensor in two places: before each message a peer sends what has changed. A call whose
result can be differentiated becomes a node in the caller's graph, whose backward asks the other side.

The judge believes nothing: types, sizes and references are looked at before they are used, and a reference leads only
to what the judge itself handed out.
"""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from ctypes import string_at
from typing import Any

import torch
from torch import Tensor, nn

from autograder.grading import known
from autograder.grading.codec import MOST_DEPTH, Incoming, Outgoing, broken, methods_of
from autograder.grading.wire import Channel, Lost

MOST_COPIES = 200
SHADOWED = 65_536  # elements up to which a change behind autograd's back (`x.data`) is seen


class Shared:
    """A tensor that is on both sides, as it was when they last agreed."""

    def __init__(self, tensor: Tensor, keep: bool, gone: Callable[[Any], None]) -> None:
        self._held = tensor if keep else None
        self.reference = weakref.ref(tensor, None if keep else gone)
        self.agree(tensor)

    def agree(self, tensor: Tensor) -> None:
        """Both sides hold the same from here on."""
        self._version, self._place = _version(tensor), _place(tensor)
        self._dtype, self._shape = tensor.dtype, tensor.shape
        self.learns = tensor.requires_grad
        self._shadow: bytes | Tensor | None = None
        looked_at = self._held is not None or not isinstance(tensor, nn.Parameter)  # checks write into no parameter's
        if not looked_at or not 0 < tensor.numel() <= SHADOWED or not self._place:
            return
        is_plain = tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()
        self._shadow = string_at(self._place, tensor.nbytes) if is_plain else tensor.detach().clone()

    def changed(self, tensor: Tensor) -> bool:
        """The numbers, their type, their shape or where they are differ from what both sides knew."""
        if self._version != _version(tensor) or self._place != _place(tensor):
            return True
        if self._shape != tensor.shape or self._dtype is not tensor.dtype:
            return True
        if type(self._shadow) is bytes:
            return string_at(self._place, len(self._shadow)) != self._shadow
        return self._shadow is not None and not torch.equal(tensor, self._shadow)


def _version(tensor: Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # a tensor made in inference mode has none
        return -1


def _place(tensor: Tensor) -> int:
    """Where a tensor's numbers are in memory; 0 where they are not in this process's."""
    return tensor.data_ptr() if tensor.is_cpu and tensor.layout is torch.strided else 0


class Peer:
    """One side of the bridge.

    Args:
        judge: whether this is the side that believes nothing, and that decides how long a tensor is of use.
    """

    def __init__(self, channel: Channel, *, judge: bool) -> None:
        self.channel, self.judge = channel, judge
        self._numbers = itertools.count(1)
        self.operations: dict[str, Callable[..., object]] = {
            "call": self._called,
            "backward": self._went_back,
            "get": self._got,
            "next": self._next,
            "copy": self._copied,
        }
        self._waiting: list[Tensor | None] = []
        self.forget()

    def forget(self) -> None:
        """Let go of all that has crossed."""
        self.tensors: dict[int, Shared] = {}
        self._tensor_numbers: dict[int, int] = {}
        self._aliases: dict[int, tuple[Tensor, int]] = {}
        self.things: dict[int, object] = {}  # modules, functions, optimizers, objects by their reference
        self._thing_numbers: dict[int, int] = {}
        self.mine: set[int] = set()  # those of them that this side handed out
        self.states: dict[int, object] = {}  # of modules and optimizers, as both sides know them
        self.seen: dict[int, tuple] = {}  # what stood in a module when its state was last told
        self.active: list[nn.Module] = []  # modules whose state goes with every message
        self.calls: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._gates: dict[int, Tensor] = {}
        self._copies = 0
        self.unused: list[int] = []
        self.ended: list[int] = []

    def reference(self) -> int:
        """A new reference; those of the two sides never meet."""
        return next(self._numbers) * (1 if self.judge else -1)

    def heard(self, text: str) -> None:
        """The other side has printed something."""

    def said(self) -> str:
        """What this side has printed since it was last asked."""
        return ""

    def frames(self, error: BaseException) -> list[tuple[str, int, str]]:
        """Where in the answer an error came from: function, line, source of the line."""
        return []

    def run(self, thing: Callable, args: tuple, kwargs: dict, ready: list) -> object:
        """Call a thing of this side for the other one."""
        return thing(*args, **kwargs)

    # Messages

    def request(self, operation: str, *payload: object) -> Any:
        """Ask the other side, and answer what it asks in the meantime.

        Raises:
            Lost: there is no other side any more.
            Exception: what the other side raised.
        """
        outermost = not self._waiting
        if outermost:  # nothing may go while the other side can still speak of it
            self._waiting = [shared.reference() for shared in self.tensors.values()] or [None]
        try:
            number = self.reference()
            self._send(operation, number, payload)
            while True:
                incoming = self.receive()
                if incoming.operation not in ("ok", "error"):
                    self.answer(incoming)
                    continue
                if incoming.number != number:
                    raise broken("an answer to nothing")
                torch.set_grad_enabled(incoming.enabled)
                value = incoming.value()
                if incoming.operation == "error":
                    raise value if isinstance(value, Exception) else broken("no error")
                return value
        finally:
            if outermost:
                self._waiting = []

    def receive(self) -> Incoming:
        """Wait for the next message."""
        header, blob = self.channel.receive()
        try:
            return Incoming(self, header, blob)
        except Exception as error:  # whatever it is, it came from there
            raise broken(f"{type(error).__name__}: {error}") from error

    def answer(self, incoming: Incoming) -> None:
        """Do what is asked, and say what came of it."""
        operation = self.operations.get(incoming.operation)
        if operation is None:
            raise broken("no such operation")
        enabled, aliases, active = torch.is_grad_enabled(), dict(self._aliases), list(self.active)
        try:
            payload = incoming.value()
            if not isinstance(payload, tuple):
                raise broken("no arguments")
            torch.set_grad_enabled(incoming.enabled)
            result, kind = operation(*payload), "ok"
        except Lost:
            raise
        except BaseException as error:
            if self.judge and not isinstance(error, Exception):
                raise
            result, kind = error, "error"
        self._send(kind, incoming.number, result)
        torch.set_grad_enabled(enabled)
        self._aliases, self.active = aliases, active

    def _send(self, operation: str, number: int, value: object) -> None:
        with torch._C.DisableTorchFunctionSubclass():
            try:
                outgoing = Outgoing(self)
                encoded = outgoing.encode(value)
            except Exception as error:
                if operation != "ok":
                    raise
                operation, outgoing = "error", Outgoing(self)
                encoded = outgoing.encode(error)
            header = {"op": operation, "n": number, "v": encoded, "grad": torch.is_grad_enabled(), **outgoing.rest()}
        self.channel.send({**header, "out": self.said()}, outgoing.blobs)

    # Tensors

    def share(self, tensor: Tensor, number: int) -> None:
        """From now on both sides know `tensor` as `number`."""
        key = id(tensor)

        def gone(_: object) -> None:
            if self._tensor_numbers.get(key) == number:
                del self._tensor_numbers[key]
            if self.tensors.pop(number, None) is not None:
                self.unused.append(number)

        self.tensors[number] = Shared(tensor, not self.judge, gone)
        if self._waiting:
            self._waiting.append(tensor)
        self._tensor_numbers[key] = number

    def unshare(self, number: int) -> None:
        """The other side has no use for this tensor any more."""
        shared = self.tensors.pop(number, None)
        tensor = shared.reference() if shared is not None else None
        if tensor is not None and self._tensor_numbers.get(id(tensor)) == number:
            del self._tensor_numbers[id(tensor)]

    def tensor_number(self, tensor: Tensor) -> int | None:
        """How both sides know this tensor; None when only this one does."""
        if id(tensor) in self._aliases:
            return self._aliases[id(tensor)][1]
        number = self._tensor_numbers.get(id(tensor))
        shared = self.tensors.get(number) if number is not None else None
        return number if shared is not None and shared.reference() is tensor else None

    def tensor(self, number: object) -> Tensor:
        """The tensor that both sides know as `number`."""
        shared = self.tensors.get(number) if isinstance(number, int) else None
        tensor = shared.reference() if shared is not None else None
        if tensor is None:
            raise broken("an unknown tensor")
        return tensor

    # Things

    def hand_out(self, thing: object) -> int:
        """The reference of something that is here."""
        number = self.thing_number(thing)
        if number is None:
            number = self.reference()
            self.mine.add(number)
            self.take(thing, number)
        return number

    def take(self, thing: object, number: int) -> None:
        """Know `thing` as `number`."""
        self.things[number], self._thing_numbers[id(thing)] = thing, number

    def require_theirs(self, number: object) -> None:
        """A new reference that the other side has given is one of its own."""
        if not isinstance(number, int) or number * (1 if self.judge else -1) >= 0:
            raise broken("a reference that is not its own")

    def thing_number(self, thing: object) -> int | None:
        """The reference of something that has crossed."""
        return self._thing_numbers.get(id(thing))

    def own(self, number: object) -> Any:
        """What this side handed out as `number`."""
        if not isinstance(number, int) or number not in self.mine:
            raise broken("an unknown reference")
        return self.things[number]

    # Calls, from the caller's side

    def call(self, number: int, name: str | None, args: tuple, kwargs: dict) -> object:
        """Call what the other side knows as `number`, or its method `name`.

        Raises:
            Lost: there is no other side any more.
            Exception: what the call raised there.
        """
        before = list(self.active)
        modules = [each for each in _leaves((self.things.get(number), args, kwargs)) if isinstance(each, nn.Module)]
        self.active = before + modules
        try:
            sources = self._sources(modules, args, kwargs) if torch.is_grad_enabled() else []
            leaves = [each.is_leaf for each in sources]
            told = (number, name, args, dict(kwargs), tuple(sources), leaves, self.forbidden())
            result = self.request("call", *told)
        finally:
            self.active = before
        if not (isinstance(result, tuple) and len(result) == 4 and all(isinstance(each, list) for each in result[2:])):
            raise broken("no result")
        value, call, outputs, made = result
        if not all(isinstance(each, Tensor) for each in outputs + made):
            raise broken("no outputs")
        sources += [each for each in made if each.requires_grad]
        fresh = [each for each in outputs if not each.requires_grad and each.dtype.is_floating_point]
        if fresh and sources and torch.is_grad_enabled():
            places = [place for place, each in enumerate(outputs) if any(each is one for one in fresh)]
            crossing = _Call(self, call, places, len(outputs), len(sources))
            _Crossing.apply(crossing, fresh, *(self._gate(each) for each in sources))
        else:
            for each in fresh:
                each.requires_grad_()
        return value

    def get(self, number: int, name: str) -> object:
        """Read an attribute of a module of the other side; a tensor comes without what it was computed from."""
        found = self.request("get", number, name)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], list)):
            raise broken("no attribute")
        for each in found[1]:
            if isinstance(each, Tensor) and not each.requires_grad and each.dtype.is_floating_point:
                each.requires_grad_()
        return found[0]

    def forbidden(self) -> list:
        """PyTorch's ready parts that what is called must not call: their names, and what to use instead."""
        return []

    def _gate(self, source: Tensor) -> Tensor:
        """A node in front of a source, which tells whether its gradient is wanted at all."""
        gate = self._gates.get(id(source))
        if gate is None:
            gate = _Gate.apply(source)
            if isinstance(source, nn.Parameter):
                self._gates[id(source)] = gate
        return gate

    def _sources(self, modules: list[nn.Module], args: tuple, kwargs: dict) -> list[Tensor]:
        """What a result may be differentiated by: tensors among the arguments, parameters of the modules."""
        found = {id(each): each for each in _leaves((args, kwargs)) if isinstance(each, Tensor) and each.requires_grad}
        for module in modules:
            found |= {id(each): each for each in module.parameters() if each.requires_grad}
        return list(found.values())

    # Calls, from the other side

    def _called(
        self, number: object, name: object, args: object, kwargs: object, sources: object, leaves: object, ready: object
    ) -> tuple[object, int, list[Tensor], list[Tensor]]:
        thing = self.own(number)
        sound = isinstance(args, tuple) and isinstance(kwargs, dict) and isinstance(sources, tuple)
        if not (sound and isinstance(leaves, list) and len(leaves) == len(sources)):
            raise broken("no arguments")
        if not all(isinstance(each, Tensor) for each in sources):
            raise broken("no sources")
        if name is not None:
            thing = self._method(thing, name)
        self.active = [
            *self.active,
            *(e for e in _leaves((self.own(number), args, kwargs)) if isinstance(e, nn.Module)),
        ]
        fresh = [self._leaf(*each) for each in zip(sources, leaves, strict=True)]
        inside = {id(source): used for source, (_, used) in zip(sources, fresh, strict=True)}
        args, kwargs = _replaced(args, inside), _replaced(kwargs, inside)
        for source, (leaf, used) in zip(sources, fresh, strict=True):
            if leaf is not source:
                self._aliases[id(used)] = (used, self.tensor_number(source))
        value = self.run(thing, args, kwargs, ready)
        for source, (leaf, used) in zip(sources, fresh, strict=True):
            if used is not leaf and not used.is_inference() and used._version:  # written into, which its own copy took
                source.data = used.detach().clone()
        inputs = {id(each) for each in sources}
        outputs = [each for each in _leaves(value) if isinstance(each, Tensor) and each.requires_grad]
        outputs = [each for each in outputs if id(each) not in self._aliases and id(each) not in inputs]
        outputs = [each for each in outputs if not isinstance(each, nn.Parameter)]
        if not outputs:
            return value, 0, [], []
        made = self._sources([each for each in self.active if isinstance(each, nn.Module)], (), {})
        made = [each for each in made if id(each) not in inputs]  # parameters that the call itself has made
        call = self.reference()
        self.calls[call] = (outputs, [leaf for leaf, _ in fresh] + made)
        return value, call, outputs, made

    def _leaf(self, source: Tensor, is_leaf: bool) -> tuple[Tensor, Tensor]:
        """What to differentiate by in place of `source`, and what to compute with.

        The caller's graph goes on from there. What was no leaf there may be written into, so it is none here either.
        """
        if isinstance(source, nn.Parameter):
            return source, source
        if is_leaf and source.is_leaf:
            source.requires_grad_()
            return source, source
        leaf = source.detach().requires_grad_()
        with torch.enable_grad():
            return leaf, leaf.clone()

    def _method(self, thing: object, name: object) -> Callable:
        if not isinstance(name, str) or name not in methods_of(type(thing)):
            raise broken("an unknown method")
        return getattr(thing, name)

    def _went_back(self, call: object, gradients: object, wanted: object) -> tuple:
        outputs, sources = self.calls.get(call, ([], [])) if isinstance(call, int) else ([], [])
        if not isinstance(gradients, tuple) or len(gradients) != len(outputs) or not isinstance(wanted, list):
            raise broken("an unknown call")
        if not all(type(each) is int and 0 <= each < len(sources) for each in wanted):
            raise broken("an unknown source")
        sources = [sources[each] for each in wanted]
        given = [pair for pair in zip(outputs, gradients, strict=True) if isinstance(pair[1], Tensor)]
        if not given or not sources:
            return (None,) * len(sources)
        reached, pulled = zip(*given, strict=True)
        return torch.autograd.grad(reached, sources, pulled, allow_unused=True, retain_graph=True)

    # What else may be asked

    def _got(self, number: object, name: object) -> tuple[object, list[Tensor]]:
        thing = self.own(number)
        if not isinstance(name, str) or not isinstance(thing, nn.Module) or (self.judge and name.startswith("_")):
            raise broken("no attribute")
        hidden = self.judge and isinstance(thing, known.SECRETIVE)
        value = None if hidden else getattr(thing, name)
        if hidden or (self.judge and callable(value) and not isinstance(value, nn.Module)):
            raise AttributeError(f"'{type(thing).__name__}' object has no attribute '{name}'")
        self.active = [*self.active, thing]
        learning = [each for each in _leaves(value) if isinstance(each, Tensor) and each.requires_grad]
        return value, learning

    def _next(self, number: object) -> tuple:
        thing = self.own(number)
        if not hasattr(type(thing), "__next__"):
            raise broken("no iterator")
        return tuple(itertools.islice(thing, 1))

    def _copied(self, number: object) -> object:
        thing, self._copies = self.own(number), self._copies + 1
        if not isinstance(thing, nn.Module) or self._copies > MOST_COPIES:
            raise broken("no module")
        return copy.deepcopy(thing)


class _Call:
    """A call that may be differentiated; once nothing refers to it, the other side may forget it."""

    def __init__(self, peer: Peer, number: int, places: list[int], outputs: int, sources: int) -> None:
        self._peer, self._number, self._places, self._outputs, self._sources = peer, number, places, outputs, sources

    def back(self, gradients: tuple[Tensor | None, ...], wanted: list[int]) -> list[Tensor | None]:
        """The gradients by the sources that are wanted, given those by each output."""
        given: list[Tensor | None] = [None] * self._outputs
        for place, gradient in zip(self._places, gradients, strict=True):
            given[place] = gradient
        found = self._peer.request("backward", self._number, tuple(given), wanted)
        if not isinstance(found, tuple) or len(found) != len(wanted):
            raise broken("no gradients")
        whole: list[Tensor | None] = [None] * self._sources
        for place, gradient in zip(wanted, found, strict=True):
            whole[place] = gradient
        return whole

    def __del__(self) -> None:
        self._peer.ended.append(self._number)


class _Crossing(torch.autograd.Function):
    """A call as one node of the caller's graph."""

    @staticmethod
    def forward(ctx: Any, call: _Call, outputs: list[Tensor], *sources: Tensor) -> tuple[Tensor, ...]:
        ctx.call = call
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple:
        behind = [node for node, _ in ctx.next_functions]
        wanted = [i for i, node in enumerate(behind) if node is not None and torch._C._will_engine_execute_node(node)]
        return None, None, *ctx.call.back(gradients, wanted)


class _Gate(torch.autograd.Function):
    """A node that hands gradients on: PyTorch tells of such a one whether it will be run, of a leaf not."""

    @staticmethod
    def forward(ctx: Any, source: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)
        return source.new_empty(()).expand(source.shape)  # of its shape; the numbers are not looked at

    @staticmethod
    def backward(ctx: Any, gradient: Tensor | None) -> Tensor | None:
        return gradient


def _leaves(value: object, depth: int = 0) -> Iterator[Any]:
    """The tensors and modules in nested arguments or results."""
    if issubclass(type(value), Tensor | nn.Module):
        yield value
    elif isinstance(value, Mapping) and depth < MOST_DEPTH:
        for each in value.values():
            yield from _leaves(each, depth + 1)
    elif isinstance(value, tuple | list) and depth < MOST_DEPTH:
        for each in value:
            yield from _leaves(each, depth + 1)


def _replaced(value: Any, others: Mapping[int, Tensor]) -> Any:
    """Nested arguments with other tensors in place of some."""
    if isinstance(value, Tensor):
        return others.get(id(value), value)
    if type(value) in (tuple, list):
        return type(value)(_replaced(each, others) for each in value)
    if type(value) is dict:
        return {key: _replaced(each, others) for key, each in value.items()}
    return value
