"""The bridge: names of one process used in another, as if they were there.

Two peers, the judge and a student's process, hold one end of a channel each. What crosses is plain data: numbers,
texts, lists, and tensors as bytes. Functions, classes and objects stay where they are and cross as numbers, which
become mirrors on the other side; modules cross with their parameters, and PyTorch's own layers are rebuilt from theirs.
A tensor that has crossed is one tensor in two places: before each message a peer sends what has changed. A call whose
result can be differentiated becomes a node in the caller's graph, whose backward asks the other side.

The judge believes nothing: types, sizes and numbers are looked at before they are used, and a number leads only to
what the judge itself handed out.
"""

import copy
import itertools
from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from autograder.grading.rpc import registry
from autograder.grading.rpc.calls import Node, RemoteCall, modules_in, replaced, requiring_grad
from autograder.grading.rpc.channel import Channel, Lost, malformed
from autograder.grading.rpc.decoder import Decoder
from autograder.grading.rpc.encoder import Encoder
from autograder.grading.rpc.messages import BackwardRequest, CallRequest, CallResult, Frame, Message, Rule, checked
from autograder.grading.rpc.modules import methods_of, parameters
from autograder.grading.rpc.session import Session

MOST_COPIES = 200


class Peer:
    """One side of the bridge.

    Args:
        judge: whether this is the side that believes nothing, and that decides how long a tensor is of use.

    Attributes:
        state: what both sides know of each other.
        rules: PyTorch's ready parts that what is called must not call now, each with what to use instead.
        operations: what the other side may ask for, by name.
    """

    def __init__(self, channel: Channel, *, judge: bool) -> None:
        self.channel, self.judge = channel, judge
        self._numbers = itertools.count(1)
        self.state = Session(self._numbers, judge=judge)
        self.rules: list[Rule] = []
        self._gates: dict[int, Tensor] = {}  # by the parameter's id
        self._copies = 0
        self.operations: dict[str, Callable[..., object]] = {
            "call": self._call,
            "backward": self._backward,
            "get": self._get,
            "next": self._next,
            "copy": self._copy,
        }

    def forget(self) -> None:
        """Let go of all that has crossed."""
        self.state.tensors.clear()
        self.state = Session(self._numbers, judge=self.judge)
        self._gates.clear()
        self._copies = 0

    def let_go(self) -> None:
        """Let go of the other side's modules that nobody here holds any more."""
        self._gates.clear()
        self.state.let_go()

    # What a side adds to messages and to calls

    def complete(self, message: Message) -> None:
        """Add to a message what this side has printed, and what has become of PyTorch's defaults here."""

    def take(self, message: Message) -> None:
        """Take what the other side has added to a message."""

    def frames(self, error: BaseException) -> list[Frame]:
        """Where in the answer an error came from."""
        return []

    def run(
        self, function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any], rules: list[Rule]
    ) -> object:
        """Call something of this side for the other one."""
        return function(*args, **kwargs)

    # Messages

    def request(self, operation: str, *payload: object) -> Any:
        """Ask the other side, and answer what it asks in the meantime.

        Raises:
            Lost: there is no other side any more.
            Exception: what the other side raised.
        """
        tensors = self.state.tensors
        outermost = tensors.hold()
        if outermost:
            self.state.begin_request()
        try:
            number = self.state.new_number()
            self._send(operation, number, payload)
            while True:
                message, decoder = self._receive()
                if message.operation not in ("ok", "error"):
                    self._answer(message, decoder)
                    continue
                if message.number != number:
                    raise malformed("an answer to nothing")
                torch.set_grad_enabled(message.grad_enabled)
                value = decoder.value()
                if message.operation == "error":
                    raise value if isinstance(value, Exception) else malformed("no error")
                return value
        finally:
            if outermost:
                tensors.release()

    def answer_next(self) -> None:
        """Wait for a request and answer it."""
        self._answer(*self._receive())

    def _receive(self) -> tuple[Message, Decoder]:
        message, blob = self.channel.receive(Message)
        self.take(message)
        try:
            return message, Decoder(self.state, message, blob, self)
        except Exception as error:  # whatever it is, it came from there
            raise malformed(f"{type(error).__name__}: {error}") from error

    def _answer(self, message: Message, decoder: Decoder) -> None:
        """Do what is asked, and say what came of it."""
        operation = self.operations.get(message.operation)
        if operation is None:
            raise malformed("no such operation")
        state, enabled = self.state, torch.is_grad_enabled()
        aliases, active = dict(state.aliases), list(state.active)
        try:
            payload = decoder.value()
            if not isinstance(payload, tuple):
                raise malformed("no arguments")
            torch.set_grad_enabled(message.grad_enabled)
            result, kind = operation(*payload), "ok"
        except Lost:
            raise
        except BaseException as error:
            if self.judge and not isinstance(error, Exception):
                raise
            result, kind = error, "error"
        self._send(kind, message.number, result)
        torch.set_grad_enabled(enabled)
        state.aliases, state.active = aliases, active

    def _send(self, operation: str, number: int, value: object) -> None:
        with torch._C.DisableTorchFunctionSubclass():
            encoder = Encoder(self.state, self.frames)
            try:
                encoded = encoder.encode(value)
            except Exception as error:
                if operation != "ok":
                    raise
                operation, encoder = "error", Encoder(self.state, self.frames)
                encoded = encoder.encode(error)
            message = encoder.message(operation, number, encoded)
        self.complete(message)
        self.channel.send(message, encoder.blobs)

    # Calls, from the caller's side

    def call(self, number: int, method: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Call what the other side knows as `number`, or its method.

        Raises:
            Lost: there is no other side any more.
            Exception: what the call raised there.
        """
        state = self.state
        before = list(state.active)
        state.active = before + modules_in((state.objects.get(number), args, kwargs))
        try:
            requiring = requiring_grad((args, kwargs)) if torch.is_grad_enabled() else []
            sources = list({id(tensor): tensor for tensor in requiring}.values())
            are_leaves = [tensor.is_leaf for tensor in sources]
            request = CallRequest(number, method, args, dict(kwargs), tuple(sources), are_leaves, self.rules)
            result = checked(CallResult, self.request("call", *request))
        finally:
            state.active = before
        sources += [tensor for tensor in result.parameters if tensor.requires_grad]
        fresh = [tensor for tensor in result.outputs if not tensor.requires_grad and tensor.dtype.is_floating_point]
        if fresh and sources and torch.is_grad_enabled():
            ids = {id(tensor) for tensor in fresh}
            places = [place for place, tensor in enumerate(result.outputs) if id(tensor) in ids]
            call = RemoteCall(self, result.call, places, len(result.outputs), len(sources), state.unused)
            Node.apply(call, fresh, *map(self._gate, sources))  # type: ignore[no-untyped-call]
        else:
            for tensor in fresh:
                tensor.requires_grad_()
        return result.value

    def get(self, number: int, name: str) -> object:
        """Read an attribute of an object of the other side; a tensor comes without what it was computed from."""
        result = checked(CallResult, self.request("get", number, name))
        for tensor in result.outputs:
            if not tensor.requires_grad and tensor.dtype.is_floating_point:
                tensor.requires_grad_()
        return result.value

    def _gate(self, source: Tensor) -> Tensor:
        """A node in front of a source: PyTorch tells of such a one whether its gradient is wanted, of a leaf not."""
        gate = self._gates.get(id(source))
        if gate is None:
            gate = source.view_as(source)
            if isinstance(source, nn.Parameter):
                self._gates[id(source)] = gate
        return gate

    # Calls, from the other side

    def _call(self, *payload: object) -> CallResult:
        """Call an object or its method."""
        state, request = self.state, checked(CallRequest, payload)
        sources = request.sources
        if not len(request.are_leaves) == len(sources) == len(set(map(id, sources))):  # of each one a copy may be made
            raise malformed("no sources")
        function = called = state.own(request.number)
        if request.method is not None:
            kind: type = type(called)
            if request.method not in methods_of(kind):
                raise malformed("an unknown method")
            function = getattr(called, request.method)
        state.active = [*state.active, *modules_in((called, request.args, request.kwargs))]
        used = parameters(state.active)
        pairs = [_stand_ins(source, is_leaf) for source, is_leaf in zip(sources, request.are_leaves, strict=True)]
        others = {id(source): other for source, (_, other) in zip(sources, pairs, strict=True)}
        for source, (leaf, other) in zip(sources, pairs, strict=True):
            if leaf is not source:
                state.aliases[id(other)] = (other, cast(int, state.tensor_number(source)))
        args, kwargs = replaced(request.args, others), replaced(request.kwargs, others)
        value = self.run(cast(Callable[..., object], function), args, kwargs, request.rules)
        for source, (leaf, other) in zip(sources, pairs, strict=True):
            if other is not leaf and not other.is_inference() and other._version:  # written into, the copy took it
                source.data = other.detach().clone()
        inputs = {id(source) for source in sources}
        outputs = [
            tensor
            for tensor in requiring_grad(value)
            if id(tensor) not in state.aliases and id(tensor) not in inputs and not isinstance(tensor, nn.Parameter)
        ]
        if not outputs:
            return CallResult(value, 0, (), ())
        used |= parameters(state.active)  # with those that the call itself has made
        inner = [tensor for tensor in used.values() if tensor.requires_grad and id(tensor) not in inputs]
        call = state.new_number()
        state.calls[call] = outputs, [*(leaf for leaf, _ in pairs), *inner]
        return CallResult(value, call, tuple(outputs), tuple(inner))

    def _backward(self, *payload: object) -> tuple[Tensor | None, ...]:
        request = checked(BackwardRequest, payload)
        call = self.state.calls.get(request.call)
        if call is None or len(request.gradients) != len(call[0]):
            raise malformed("an unknown call")
        outputs, sources = call
        if not all(0 <= place < len(sources) for place in request.wanted):
            raise malformed("an unknown source")
        wanted = [sources[place] for place in request.wanted]
        given = [(out, grad) for out, grad in zip(outputs, request.gradients, strict=True) if grad is not None]
        if not given or not wanted:
            return (None,) * len(wanted)
        used, gradients = zip(*given, strict=True)
        return torch.autograd.grad(used, wanted, gradients, allow_unused=True, retain_graph=True)

    # What else may be asked

    def _get(self, number: int, name: object) -> CallResult:
        owner = self.state.own(number)
        if not isinstance(name, str) or (self.judge and (name.startswith("_") or not isinstance(owner, nn.Module))):
            raise malformed("no attribute")
        hidden = self.judge and isinstance(owner, registry.SECRETIVE)
        value = None if hidden else getattr(owner, name)
        if hidden or (self.judge and callable(value) and not isinstance(value, nn.Module)):
            raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
        self.state.active = [*self.state.active, *modules_in(owner)]
        return CallResult(value, 0, tuple(requiring_grad(value)), ())

    def _next(self, number: int) -> tuple[object, ...]:
        iterator = self.state.own(number)
        if not hasattr(type(iterator), "__next__"):
            raise malformed("no iterator")
        return tuple(itertools.islice(cast(Any, iterator), 1))

    def _copy(self, number: int) -> object:
        module = self.state.own(number)
        self._copies += 1
        if not isinstance(module, nn.Module) or self._copies > MOST_COPIES:
            raise malformed("no module")
        return copy.deepcopy(module)


def _stand_ins(source: Tensor, is_leaf: bool) -> tuple[Tensor, Tensor]:
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
