"""What both sides know of each other: tensors, modules, functions and calls, each by one number."""

import weakref
from collections.abc import Iterator

from torch import Tensor, nn

from autograder.grading.rpc.channel import malformed
from autograder.grading.rpc.messages import ModuleState, OptimizerGroup
from autograder.grading.rpc.tensors import SharedTensors

# The other side's modules that may pile up before those that nobody holds are let go of: all their tensors are looked
# at before each message. Without, the student's process of lesson 2 takes a tenth more processor time.
MOST_KEPT = 12


class Session:
    """What one side knows of all that has crossed, until it forgets it.

    Args:
        numbers: where new numbers come from; it outlives the session, so that none is ever given twice.
        judge: whether this is the side that believes nothing, and that decides how long a tensor is of use.

    Attributes:
        tensors: those that both sides hold.
        aliases: what stands in for a tensor during a call, and that tensor's number, by the stand-in's id.
        objects: modules, functions, classes, iterators and optimizers of both sides, by their numbers.
        owned: the numbers of the objects that this side has handed out.
        modules: the states of modules, as both sides know them.
        groups: the groups of optimizers, as both sides know them.
        active: modules whose state goes with every message.
        calls: the outputs and the sources of those of this side that can be differentiated.
        unused: tensors, modules and calls of the other side that nobody here needs any more, which it has to be told.
        overwritten: whether the other side wrote into a tensor that it was lent for an earlier request.
    """

    def __init__(self, numbers: Iterator[int], *, judge: bool) -> None:
        self._numbers, self.judge = numbers, judge
        self._sign = 1 if judge else -1
        self._object_numbers: dict[int, int] = {}  # by the object's id
        self.unused: list[int] = []
        self.tensors = SharedTensors(self.unused, keep=not judge)
        self.aliases: dict[int, tuple[Tensor, int]] = {}
        self.objects: dict[int, object] = {}
        self.owned: set[int] = set()
        self.modules: dict[int, ModuleState] = {}
        self.groups: dict[int, list[OptimizerGroup]] = {}
        self.active: list[nn.Module] = []
        self.calls: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._lent: dict[int, int] = {}  # this side's tensors that are no parameters: the last request that held them
        self._request = 0
        self._taken_modules = 0  # of the other side, since some were last let go of
        self.overwritten = False

    def begin_request(self) -> None:
        """What was lent for earlier requests is no longer the other side's to write into."""
        self._request += 1
        if self.judge and self._taken_modules > MOST_KEPT:
            self.let_go()

    def lend(self, tensor: Tensor, number: int) -> None:
        """A request holds a tensor of this side."""
        if number * self._sign > 0 and not isinstance(tensor, nn.Parameter):
            self._lent[number] = self._request

    def may_write(self, number: int) -> bool:
        """Whether the other side may write into a tensor now; what it was never lent as such, modules hold."""
        return self._lent.get(number, self._request) == self._request

    def new_number(self) -> int:
        """A number that is not in use; those of the two sides never meet."""
        return next(self._numbers) * self._sign

    def require_foreign(self, number: int) -> None:
        """A new number that the other side has given is one of its own.

        Raises:
            Lost: it is not.
        """
        if number * self._sign >= 0:
            raise malformed("a number that is not its own")

    def tensor_number(self, tensor: Tensor) -> int | None:
        """How both sides know this tensor; None when only this one does."""
        alias = self.aliases.get(id(tensor))
        return alias[1] if alias is not None else self.tensors.number(tensor)

    def number(self, value: object) -> int | None:
        """How both sides know this object; None when only this one does."""
        return self._object_numbers.get(id(value))

    def hand_out(self, value: object) -> int:
        """The number of an object that is here."""
        number = self.number(value)
        if number is None:
            number = self.new_number()
            self.owned.add(number)
            self.take(value, number)
        return number

    def take(self, value: object, number: int) -> None:
        """Know an object as `number`."""
        self.objects[number], self._object_numbers[id(value)] = value, number
        if number not in self.owned and isinstance(value, nn.Module):
            self._taken_modules += 1

    def own(self, number: object) -> object:
        """What this side has handed out as `number`.

        Raises:
            Lost: it has handed out nothing of the kind.
        """
        if not isinstance(number, int) or number not in self.owned:
            raise malformed("an unknown number")
        return self.objects[number]

    def held(self, number: int) -> object:
        """What this side has handed out, or the other side's module, as `number`.

        Raises:
            Lost: it is neither.
        """
        return self.objects[number] if number in self.owned else self.module(number)

    def module(self, number: int) -> nn.Module:
        """The module of either side that is known as `number`.

        Raises:
            Lost: there is none.
        """
        module = self.objects.get(number)
        if not isinstance(module, nn.Module):
            raise malformed("no module")
        return module

    def let_go(self) -> None:
        """Forget the other side's modules that nobody here holds any more; the next message says so."""
        self._taken_modules = 0
        foreign = {
            number: (weakref.ref(value), id(value))
            for number, value in self.objects.items()
            if number not in self.owned and isinstance(value, nn.Module)
        }
        for number in foreign:
            del self.objects[number]
        for number, (reference, key) in foreign.items():
            module = reference()
            if module is not None:
                self.objects[number] = module
            else:
                del self._object_numbers[key]
                self.modules.pop(number, None)
                self.unused.append(number)

    def drop(self, number: int) -> None:
        """The other side has no use for a tensor, or for a call or a module of this side, any more."""
        self.calls.pop(number, None)
        if number not in self.owned:
            self.tensors.drop(number)
        elif not self.judge:
            del self._object_numbers[id(self.objects.pop(number))]
            self.owned.remove(number)
            self.modules.pop(number, None)
