"""Calls that can be differentiated: each a node in the caller's graph, whose backward asks the other side."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.grading.rpc.channel import malformed
from autograder.grading.rpc.encoder import MOST_DEPTH
from autograder.grading.rpc.proxies import Caller


class RemoteCall:
    """A call of the other side that may be differentiated; once nothing refers to it, the other side may forget it.

    Args:
        number: how the other side knows the call.
        places: which of its outputs have a gradient that comes through here.
        outputs, sources: how many of them there are.
        ended: where to say that the call is of no more use.
    """

    def __init__(
        self, caller: Caller, number: int, places: list[int], outputs: int, sources: int, ended: list[int]
    ) -> None:
        self._caller, self._number, self._ended = caller, number, ended
        self._places, self._outputs, self._sources = places, outputs, sources

    def backward(self, gradients: tuple[Tensor | None, ...], wanted: list[int]) -> list[Tensor | None]:
        """The gradients by the sources that are wanted, given those by each output."""
        by_output = dict(zip(self._places, gradients, strict=True))
        answer = self._caller.request("backward", self._number, tuple(map(by_output.get, range(self._outputs))), wanted)
        if not isinstance(answer, tuple) or len(answer) != len(wanted):
            raise malformed("no gradients")
        return [*map(dict(zip(wanted, answer, strict=True)).get, range(self._sources))]

    def __del__(self) -> None:
        self._ended.append(self._number)


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
    elif isinstance(value, Mapping) and depth < MOST_DEPTH:
        for item in value.values():
            yield from leaves(item, depth + 1)
    elif isinstance(value, tuple | list) and depth < MOST_DEPTH:
        for item in value:
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
