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
from typing import Any

import torch
from torch import Tensor, nn, optim

from autograder.grading.rpc import registry
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.rpc.codec import MOST_DEPTH, Incoming, Outgoing
from autograder.grading.rpc.modules import Contents, Tree, methods_of, parameters
from autograder.grading.rpc.tensors import SharedTensors, broken

MOST_COPIES = 200


class Peer:
    """One side of the bridge.

    Args:
        judge: whether this is the side that believes nothing, and that decides how long a tensor is of use.
    """

    def __init__(self, channel: Channel, *, judge: bool) -> None:
        self.channel, self.judge = channel, judge
        self._numbers = itertools.count(1)
        self.tensors = SharedTensors(keep=not judge)
        self.operations: dict[str, Callable[..., object]] = {
            "call": self._called,
            "backward": self._went_back,
            "get": self._got,
            "next": self._next,
            "copy": self._copied,
        }
        self.forget()

    def forget(self) -> None:
        """Let go of all that has crossed."""
        self.tensors.clear()
        self.tensors = SharedTensors(keep=not self.judge)
        self._aliases: dict[int, tuple[Tensor, int]] = {}
        self.things: dict[int, object] = {}  # modules, functions, optimizers, objects by their reference
        self._thing_numbers: dict[int, int] = {}
        self.optimizers: dict[int, optim.Optimizer] = {}  # those of the things that are
        self.mine: set[int] = set()  # those of them that this side handed out
        self.states: dict[int, object] = {}  # of modules and optimizers, as both sides know them
        self.seen: dict[int, Contents | None] = {}  # what stood in a module when its state was last told
        self.trees: dict[int, Tree] = {}  # modules with all their parts, as their states were last told
        self.active: list[nn.Module] = []  # modules whose state goes with every message
        self.calls: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._gates: dict[int, Tensor] = {}
        self._copies = 0
        self.ended: list[int] = []
        self.unused: list[int] = []  # modules of the other side that nobody here holds any more

    def reference(self) -> int:
        """A new reference; those of the two sides never meet."""
        return next(self._numbers) * (1 if self.judge else -1)

    def heard(self, text: str) -> None:
        """The other side has printed something."""

    def said(self) -> str:
        """What this side has printed since it was last asked."""
        return ""

    def left(self) -> list:
        """What has become of PyTorch's defaults on this side."""
        return []

    def finds(self, left: list) -> None:
        """What has become of them on the other side."""

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
        tensors = self.tensors
        outermost = tensors.hold()
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
                tensors.release()

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
            header = {
                "op": operation,
                "n": number,
                "v": encoded,
                "grad": torch.is_grad_enabled(),
                **outgoing.rest(),
            }
        self.channel.send({**header, "left": self.left(), "out": self.said()}, outgoing.blobs)

    # Things

    def tensor_number(self, tensor: Tensor) -> int | None:
        """How both sides know this tensor; None when only this one does."""
        if id(tensor) in self._aliases:
            return self._aliases[id(tensor)][1]
        return self.tensors.number(tensor)

    def set_mode(self, number: int, training: bool) -> None:
        """Both sides know that a module is in training, or no longer."""
        self.states[number][0] = training
        for tree in self.trees.values():
            tree.agree(self.things[number], training)
        if (seen := self.seen.get(number)) is not None:
            self.seen[number] = seen._replace(training=training)

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
        if isinstance(thing, optim.Optimizer):
            self.optimizers[number] = thing

    def let_go(self) -> None:
        """Forget the other side's modules that nobody here holds any more; the next message says so."""
        theirs = {
            number: (weakref.ref(thing), id(thing))
            for number, thing in self.things.items()
            if number not in self.mine and isinstance(thing, nn.Module)
        }
        self._gates.clear(), self.trees.clear()
        for number in theirs:
            del self.things[number]
            self.seen.pop(number, None)
        for number, (reference, key) in theirs.items():
            module = reference()
            if module is not None:
                self.things[number] = module
            else:
                del self._thing_numbers[key]
                self.states.pop(number, None)
                self.unused.append(number)

    def drop(self, number: int) -> None:
        """The other side has no use for a tensor, or for a module of this side, any more."""
        if number not in self.mine:
            self.tensors.drop(number)
        elif not self.judge:
            del self._thing_numbers[id(self.things.pop(number))]
            self.mine.remove(number)
            self.states.pop(number, None), self.seen.pop(number, None), self.trees.clear()

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
            learning = _learning((args, kwargs)) if torch.is_grad_enabled() else []
            sources = list({id(each): each for each in learning}.values())
            leaves = [each.is_leaf for each in sources]
            told = (number, name, args, dict(kwargs), tuple(sources), leaves, self.forbidden())
            result = self.request("call", *told)
        finally:
            self.active = before
        if not (isinstance(result, tuple) and len(result) == 4 and all(isinstance(each, tuple) for each in result[2:])):
            raise broken("no result")
        value, call, outputs, inner = result
        if not all(isinstance(each, Tensor) for each in outputs + inner):
            raise broken("no outputs")
        sources += [each for each in inner if each.requires_grad]
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
        """A node in front of a source: PyTorch tells of such a one whether its gradient is wanted, of a leaf not."""
        gate = self._gates.get(id(source))
        if gate is None:
            gate = source.view_as(source)
            if isinstance(source, nn.Parameter):
                self._gates[id(source)] = gate
        return gate

    # Calls, from the other side

    def _called(
        self, number: object, name: object, args: object, kwargs: object, sources: object, leaves: object, ready: object
    ) -> tuple[object, int, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Call a thing: what it returns, how the call is known, its outputs, the parameters that it may have used."""
        thing = self.own(number)
        sound = isinstance(args, tuple) and isinstance(kwargs, dict) and isinstance(sources, tuple)
        if not (sound and isinstance(leaves, list) and len(leaves) == len(sources)):
            raise broken("no arguments")
        if not all(isinstance(each, Tensor) for each in sources):
            raise broken("no sources")
        if name is not None:
            thing = self._method(thing, name)
        inside = [each for each in _leaves((self.own(number), args, kwargs)) if isinstance(each, nn.Module)]
        self.active = [*self.active, *inside]
        used = self._parameters()
        fresh = [self._leaf(*each) for each in zip(sources, leaves, strict=True)]
        replaced = {id(source): other for source, (_, other) in zip(sources, fresh, strict=True)}
        args, kwargs = _replaced(args, replaced), _replaced(kwargs, replaced)
        for source, (leaf, other) in zip(sources, fresh, strict=True):
            if leaf is not source:
                self._aliases[id(other)] = (other, self.tensor_number(source))
        value = self.run(thing, args, kwargs, ready)
        for source, (leaf, other) in zip(sources, fresh, strict=True):
            if other is not leaf and not other.is_inference() and other._version:  # written into, the copy took it
                source.data = other.detach().clone()
        inputs = {id(each) for each in sources}
        outputs = [each for each in _learning(value) if id(each) not in self._aliases and id(each) not in inputs]
        outputs = [each for each in outputs if not isinstance(each, nn.Parameter)]
        if not outputs:
            return value, 0, (), ()
        used |= parameters(self.active)  # with those that the call itself has made
        inner = [each for each in used.values() if each.requires_grad and id(each) not in inputs]
        call = self.reference()
        self.calls[call] = (outputs, [leaf for leaf, _ in fresh] + inner)
        return value, call, tuple(outputs), tuple(inner)

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

    def _parameters(self) -> dict[int, nn.Parameter]:
        """The parameters of the active modules, as they were when both sides last agreed."""
        found: dict[int, nn.Parameter] = {}
        for module in self.active:
            tree = self.trees.get(self.thing_number(module))
            found |= tree.parameters if tree is not None else parameters([module])
        return found

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
        hidden = self.judge and isinstance(thing, registry.SECRETIVE)
        value = None if hidden else getattr(thing, name)
        if hidden or (self.judge and callable(value) and not isinstance(value, nn.Module)):
            raise AttributeError(f"'{type(thing).__name__}' object has no attribute '{name}'")
        self.active = [*self.active, thing]
        return value, _learning(value)

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


def _learning(value: object) -> list[Tensor]:
    """The tensors in nested arguments or results that gradients lead to, each as often as it is there."""
    return [each for each in _leaves(value) if isinstance(each, Tensor) and each.requires_grad]


def _replaced(value: Any, others: Mapping[int, Tensor]) -> Any:
    """Nested arguments with other tensors in place of some."""
    if isinstance(value, Tensor):
        return others.get(id(value), value)
    if type(value) in (tuple, list):
        return type(value)(_replaced(each, others) for each in value)
    if type(value) is dict:
        return {key: _replaced(each, others) for key, each in value.items()}
    return value
