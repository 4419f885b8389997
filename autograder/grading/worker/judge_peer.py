"""The judge's end of the connection to a student's process, and where checks then find the answers."""

import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from autograder import check, lessons
from autograder.check import _backend
from autograder.check._errors import CheckFailed
from autograder.check._forbidden import finished_part
from autograder.grading.rpc.channel import Channel, malformed
from autograder.grading.rpc.decoder import Decoder
from autograder.grading.rpc.messages import Message, Rule
from autograder.grading.rpc.peer import Peer
from autograder.grading.rpc.proxies import RemoteClass, RemoteFunction, RemoteModule
from autograder.grading.rpc.registry import DTYPES
from autograder.grading.worker.messages import Operation

# What runs none of an answer: an error of these is one of the protocol.
_NEVER_FAIL = frozenset({Operation.RUN_CELL, Operation.LOOK_UP_NAMES})
OVERWRITTEN = "Your code changes a tensor that it was given in an earlier call. Compute a new one instead."
_DEFAULTS_OF_A_CHECK = torch.float32, check.SEED
MOST_HELD = 2**30  # bytes that one student's process may make the judge hold: half of what a judge may allocate
UNWATCHED = 2**20  # bytes that come in between two looks at what is held: a look takes as long as a third of a message


def held_bytes() -> int:
    """The memory that is this process's own, no file's; 0 where nobody knows."""
    with suppress(OSError):
        _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
        return (resident - shared) * mmap.PAGESIZE
    return 0


class JudgePeer(Peer, _backend.Backend):
    """The judge's side of the bridge, which checks ask while the answers are in a student's process.

    Attributes:
        defaults: PyTorch's default dtype and seed in the student's process, as its last answer says.
        processor_seconds: how much processor time that process has taken.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, judge=True)
        self.defaults: tuple[torch.dtype, int] = _DEFAULTS_OF_A_CHECK
        self.processor_seconds: Callable[[], float] = lambda: 0.0
        self._given: dict[str, object] | None = None  # of an exercise that has begun without the student's process
        self._has_ended = False  # so has an exercise
        self._held_before, self._received_before = held_bytes(), 0

    def _receive(self) -> tuple[Message, Decoder]:
        try:
            if self.channel.received > self._received_before + UNWATCHED:
                self._received_before = self.channel.received
                if held_bytes() > self._held_before + MOST_HELD:
                    raise MemoryError
            return super()._receive()
        except MemoryError:
            raise malformed("too much is asked for") from None

    def take(self, message: Message) -> None:
        """Print what an answer has printed, and take down PyTorch's default dtype and seed over there."""
        if message.output:
            print(message.output, end="")
        state = message.global_state
        if state is None or state.dtype not in DTYPES:
            raise malformed("no defaults")
        self.defaults = DTYPES[state.dtype], state.seed

    def call(self, number: int, method: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Call an answer; it must not hand out a finished part of ours as its own, nor change what it had earlier."""
        value, called = super().call(number, method, args, kwargs), self.state.objects.get(number)
        if self.state.overwritten:
            raise CheckFailed(OVERWRITTEN)
        if isinstance(called, RemoteClass):
            module, finished = lessons.finished(called.__name__) or ("", None)
            if isinstance(finished, type) and isinstance(value, finished):
                raise finished_part(called.__name__, module)
        return value

    def request(self, operation: str, *payload: object) -> Any:
        """Ask the student's process, and tell it what has begun and ended since."""
        given, has_ended, self._given, self._has_ended = self._given, self._has_ended, None, False
        try:
            if given is not None:
                return super().request(Operation.BEGIN_EXERCISE, given, str(operation), *payload)
            if has_ended and operation not in _NEVER_FAIL:
                return super().request(Operation.END_EXERCISE, str(operation), *payload)
            return super().request(operation, *payload)
        except Exception as error:
            if operation not in _NEVER_FAIL:
                raise
            raise malformed(f"{operation}: {error}") from None

    @contextmanager
    def exercise(self, given: Mapping[str, object]) -> Iterator[None]:
        """While a check runs, the answers over there see `given` and a random state of the check's.

        The next request tells that it has begun, or ended, which saves one.
        """
        self._given, self.defaults = dict(given), _DEFAULTS_OF_A_CHECK
        try:
            yield
        finally:
            self._given, self._has_ended = None, True

    def shared_state(self) -> _backend.SharedState:
        """What the answers share with all of their PyTorch."""
        self.let_go()  # nothing of the exercise comes after this
        return _backend.SharedState(torch.is_grad_enabled(), *self.defaults)

    @contextmanager
    def without(self, names: Sequence[str], instead: str) -> Iterator[None]:
        """The answers call none of PyTorch's ready parts of these names."""
        self.rules.append(Rule(list(names), instead))
        try:
            yield
        finally:
            self.rules.pop()

    def has(self, *things: object) -> bool:
        """One of these is an answer, or made by one."""
        return any(isinstance(thing, RemoteFunction | RemoteClass | RemoteModule) for thing in things)

    def ask(self, statement: Callable[..., None], *arguments: Any) -> None:
        """Let a statement be judged over there."""
        self.request(Operation.ASK, statement.__name__, arguments)
