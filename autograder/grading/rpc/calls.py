"""Calls that can be differentiated: each a node in the caller's graph, whose backward asks the other side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.grading.rpc.channel import malformed
from autograder.grading.rpc.encoder import MOST_DEPTH
from autograder.grading.rpc.proxies import Caller


@dataclass(eq=False)
class RemoteCall:
    """A call of the other side that may be differentiated; once nothing refers to it, the other side may forget it."""

    caller: Caller
    number: int  # by which the other side knows it
    places: list[int]  # of its outputs that have a gradient which comes through here
    outputs: int  # how many there are
    sources: int
    unused: list[int]  # where to say that it is of no more use

    def backward(self, gradients: tuple[Tensor | None, ...], wanted: list[int]) -> list[Tensor | None]:
        """The gradients by the sources that are wanted, given those by each output."""
        by_output = dict(zip(self.places, gradients, strict=True))
        answer = self.caller.request("backward", self.number, tuple(map(by_output.get, range(self.outputs))), wanted)
        if not isinstance(answer, tuple) or len(answer) != len(wanted):
            raise malformed("no gradients")
        return [*map(dict(zip(wanted, answer, strict=True)).get, range(self.sources))]

    def __del__(self) -> None:
        self.unused.append(self.number)


class Node(torch.autograd.Function):
    """A call as one node of the caller's graph, which goes from its outputs on to its sources."""

    @staticmethod
    def forward(ctx: Any, call: RemoteCall, outputs: list[Tensor], *sources: Tensor) -> tuple[Tensor, ...]:
        ctx.call = call
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        behind = [node for node, _ in ctx.next_functions]
        wanted = [i for i, node in enumerate(behind) if node is not None and torch._C._will_engine_execute_node(node)]
        return None, None, *ctx.call.backward(gradients, wanted)


def leaves(value: object, depth: int = 0) -> Iterator[Tensor | nn.Module]:
    """The tensors and modules in nested arguments or results."""
    if issubclass(type(value), Tensor | nn.Module):
        yield value  # type: ignore[misc]
    elif isinstance(value, Mapping | tuple | list) and depth < MOST_DEPTH:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(item, depth + 1)


def modules_in(value: object) -> list[nn.Module]:
    """The modules in nested arguments or results."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, nn.Module)]


def requiring_grad(value: object) -> list[Tensor]:
    """The tensors in nested arguments or results that gradients lead to, each as often as it is there."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor) and leaf.requires_grad]


def replaced(value: Any, others: Mapping[int, Tensor]) -> Any:
    """Nested arguments with other tensors in place of some, by their ids."""
    if isinstance(value, Tensor):
        return others.get(id(value), value)
    if type(value) in (tuple, list):
        return type(value)(replaced(item, others) for item in value)
    if type(value) is dict:
        return {key: replaced(item, others) for key, item in value.items()}
    return value
