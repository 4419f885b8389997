"""What the two sides say to each other, declared: msgspec turns it into JSON and checks whatever comes in."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct
from torch import Tensor

from autograder.grading.rpc.channel import malformed

MOST_DIMENSIONS = 16
MOST_METHODS = 200
MOST_TEXT = 100_000
MOST_DIGITS = 200  # of an exact number
MOST_OF_ERROR = 2000  # letters of its text that are shown
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Name = Annotated[str, Meta(max_length=1000)]
Simple = bool | int | float | Text | None
Size = Annotated[int, Meta(ge=0, lt=2**40)]
Shape = Annotated[list[Size], Meta(max_length=MOST_DIMENSIONS)]
Several = Literal["tuple", "list", "set", "dict", "slice"]
Frame = tuple[Text, int, Text]  # function, line, source of the line
Declared = TypeVar("Declared")


class _Row(Struct, array_like=True, forbid_unknown_fields=True):
    """A JSON list with a fixed place for each field."""


# Values. The tag is the first item of the list; None, truth values, numbers and texts cross as themselves.


class SeveralValue(_Row, tag="s"):
    """What holds other values: those of a dict are its keys and items in turn, those of a slice its three numbers."""

    kind: Several
    items: list[Value]


class TensorValue(_Row, tag="T"):
    number: int


class NumberValue(_Row, tag="number"):
    """A number that JSON does not know: NumPy's, by the letter of its dtype, one that is exact, or not finite."""

    kind: Name  # a dtype's letter, "Decimal", "Fraction", "float"
    value: bool | int | float | Annotated[str, Meta(max_length=MOST_DIGITS)]


class NumpyArray(_Row, tag="array"):
    char: Name
    shape: Shape
    data: TensorValue


class GeneratorValue(_Row, tag="generator"):
    """A generator of random numbers, with the seed that it began with."""

    number: int
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class CommonObject(_Row, tag="known"):
    """What both sides hold under one name."""

    name: Name


class HeldObject(_Row, tag="m"):
    """What the receiver has handed out itself, or a module that it was told of."""

    number: int


class ParameterInfo(NamedTuple):
    """A parameter of a signature: its kind as `inspect` counts them, its default in a list if it has one."""

    name: Name
    kind: Annotated[int, Meta(ge=0, le=4)]
    default: Annotated[list[Simple], Meta(max_length=1)]


class MirrorValue(_Row, tag="mirror"):
    """Something that the other side does not have, and reaches by its number; an object may have none: 0."""

    kind: Literal["function", "class", "iterator", "object"]
    number: int
    name: Name
    module: Name = ""  # of an object's class
    signature: list[ParameterInfo] | None = None


class OptimizerGroup(NamedTuple):
    """One of an optimizer's groups: the numbers of its parameters, and its plain options."""

    parameters: list[int]
    options: dict[Name, Simple]


class OptimizerValue(_Row, tag="optimizer"):
    number: int
    kind: Name
    groups: Annotated[list[OptimizerGroup], Meta(min_length=1)]


class Verdict(_Row, tag="verdict"):
    """A check that has failed."""

    is_unwritten: bool
    verdict: Text
    details: list[Text]
    slip: Text | None


class ErrorValue(_Row, tag="error"):
    """An exception: the nearest class that both sides have, its own class's name, and where in the answer it arose."""

    kind: Name
    name: Name
    text: Text
    frames: list[Frame]
    undefined: Name | None  # the name that a NameError is about


Numbered = TensorValue | HeldObject | MirrorValue | GeneratorValue | OptimizerValue
Value: TypeAlias = Simple | SeveralValue | NumberValue | NumpyArray | CommonObject | Numbered | Verdict | ErrorValue


class TensorContent(_Row):
    """All of a tensor but its bytes, which follow the header in the order of these."""

    number: int
    dtype: Name
    shape: Shape
    strides: list[int] | None
    requires_grad: bool
    is_parameter: bool
    is_meta: bool


class Buffer(NamedTuple):
    """A module's buffer: its tensor's number, whether it needs gradients, and whether no state_dict has it."""

    number: int
    requires_grad: bool
    is_volatile: bool


class ModuleClass(_Row):
    """What the mirror of a module is made from: PyTorch's own layer, or a class below the nearest that both have."""

    layer: Name | None  # the layer's registered name; None for a class of the course's or the student's
    name: Name
    ancestor: Name  # the registered name of the nearest common class; empty for `nn.Module`
    methods: Annotated[list[Name], Meta(max_length=MOST_METHODS)]  # the public methods that the class adds


class ModuleState(_Row):
    """What stands in a module, its tensors and parts by their numbers."""

    training: bool
    attributes: dict[Name, Value]
    parameters: dict[Name, int | None]
    buffers: dict[Name, Buffer | None]
    parts: dict[Name, int | None]


class GlobalState(NamedTuple):
    """What the answers share with all of PyTorch: its default dtype and its seed."""

    dtype: Name
    seed: int


class Message(Struct, omit_defaults=True):
    """One message: a request with its arguments, or the answer "ok" or "error" to the one of the same number."""

    operation: Name
    number: int
    value: Value
    grad_enabled: bool  # PyTorch's switch on the sender's side
    global_state: GlobalState | None = None
    output: str = ""  # what has been printed there
    tensors: list[TensorContent] = []  # those that are new or have changed
    # those that are new, with their class, or have changed
    modules: list[tuple[int, ModuleClass | None, ModuleState]] = []
    optimizers: list[tuple[int, list[OptimizerGroup]]] = []
    unused: list[int] = []  # tensors, modules and calls that the sender does not need any more


# What requests and their results hold once they are decoded.


class Rule(NamedTuple):
    """PyTorch's finished parts that an answer must not call, and what to use instead."""

    names: list[Name]
    instead: Text


class CallRequest(NamedTuple):
    """Call an object, or its method."""

    number: int
    method: Name | None
    args: tuple[Any, ...]
    kwargs: dict[Name, Any]
    sources: tuple[Tensor, ...]  # the tensors among the arguments that gradients lead to, each once
    are_leaves: list[bool]  # which of them are leaves of the caller's graph
    rules: list[Rule]


class CallResult(NamedTuple):
    """What came of a call."""

    value: Any
    call: int  # its number, by which gradients are asked for
    outputs: tuple[Tensor, ...]  # the tensors in the value that can be differentiated
    parameters: tuple[Tensor, ...]  # those that the call may have used


class BackwardRequest(NamedTuple):
    """The gradients by the outputs of a call, and the places of the sources whose gradients are asked for."""

    call: int
    gradients: tuple[Tensor | None, ...]
    wanted: list[int]


def checked(kind: type[Declared], value: object) -> Declared:
    """A decoded value as what it has to be.

    Raises:
        Lost: it is not.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise malformed(f"{kind.__name__}: {error}") from None
