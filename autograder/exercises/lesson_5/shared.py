"""What exercises of lesson 5 share."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, parts
from autograder.exercises.shared import possible, sizes, without_dropout

Model = Callable[..., Any]  # a learner's class
IN_TRAINING: Any = {
    "when": "it is in train mode, its parts without dropout",
    "slip": "Nothing but the dropout of the parts may act in training alone.",
}
FUTURE = "The future leaks: an earlier position sees what comes after it."


def number(
    name: str,
    answer: Callable[..., object],
    size: dict[str, int],
    expected: int,
    slips: Callable[..., dict[str, Tensor]],
) -> None:
    """One whole number for these sizes, given by position, and those that slips make of the sizes."""
    call = f"{name}({', '.join(map(str, size.values()))})"
    with check.case(**size):
        count = check.number(call, answer(*size.values()))
        check.close(call, count, torch.tensor(float(expected)), mistakes=slips(*size.values()))


def require_layers(name: str, answer: Model, right: Model, of: type[nn.Module], seed: int) -> None:
    check.defaults(name, answer, dropout=0.1)
    ranges = {"num_layers": (1, 5), "num_heads": (1, 4), "d_k": (1, 4), "d_ff": (1, 9)}
    for index, size in enumerate(sizes(seed, 1, **ranges)):
        num_layers, num_heads, d_k, d_ff = size.values()
        wanted = num_layers, num_heads * d_k, num_heads, d_ff
        dropout = (index + seed) % 7 / 10
        with check.case(num_layers=num_layers, d_model=wanted[1], num_heads=num_heads, d_ff=d_ff, dropout=dropout):
            stack = answer(*wanted, dropout)
            check.layers(f"{name.lower()}.layers", stack.layers, of, num_layers)
            check.parameters(f"{name}{wanted}", stack, parts.parameters_of(layers=right(*wanted).layers))
            check.settings(name.lower(), stack, num_heads=num_heads, dropout=dropout)


def stacks(seed: int, **ranges: tuple[int, int]) -> Iterator[dict[str, int]]:
    """Draw sizes of stacks and of their inputs; the last have the largest, once for a batch of one sentence."""
    largest = {name: high for name, (_, high) in ranges.items()}
    yield from sizes(seed, 0, num_layers=(1, 4), **ranges)
    yield {"num_layers": 2} | largest | {"batch": 1}


def real_tokens(batch: int, seq_len: int, seed: int) -> Tensor:
    """Draw which tokens are real (batch, seq_len): the first always, the last of a longer first row never."""
    drawn = torch.rand(batch, seq_len, generator=torch.Generator().manual_seed(seed)) < 0.6
    drawn[0, -1] = False
    return drawn | (torch.arange(seq_len) == 0)


def still(model: Any, *names: str) -> Any:
    """The model, its parts of these names and all encodings without dropout: any other is the learner's."""
    encodings = [part for part in model.modules() if isinstance(part, parts.PositionalEncoding)]
    for part in (*map(model.get_submodule, names), *encodings):
        without_dropout(part)
    return model


def learns(name: str, stack: Any, masks: tuple[Tensor | None, ...], expected: Tensor, **inputs: Tensor) -> None:
    """The gradients of a stack in its inputs are those of what is expected, and every layer has one."""
    output = stack(*inputs.values(), *masks)
    call = f"{name}{'.train()' if stack.training else ''}({', '.join(inputs)}, …)"
    check.gradients_agree(call, output, expected, **inputs)
    check.gradients_reach(one_of_each(f"{name}.layers", stack.layers), output)


def one_of_each(name: str, layers: nn.ModuleList) -> dict[str, Tensor]:
    """A trainable parameter of each layer, by the name of the layer."""
    found = {f"{name}[{i}]": [p for p in layer.parameters() if p.requires_grad][:1] for i, layer in enumerate(layers)}
    return {key: parameters[0] for key, parameters in found.items() if parameters}


def stack(
    layers: nn.ModuleList, x: Tensor, step: Callable[[Tensor, nn.Module], Tensor], others: dict[str, Tensor]
) -> dict[str, Tensor]:
    right = through(layers, x, step)
    slips = {
        "only the last layer counts, as where every layer reads the input of the stack": step(x, layers[-1]),
        "only the first layer is used": step(x, layers[0]),
        "the first layer is used every time": through([layers[0]] * len(layers), x, step),
        "the layers run in reverse order": through(reversed(layers), x, step),
        "each layer's output is added to its input, which the layers do themselves": through(
            layers, x, lambda y, layer: y + step(y, layer)
        ),
        "there is one more norm at the end": F.layer_norm(right, right.shape[-1:]),
    }
    return possible(others | slips, right)


def through(layers: Iterable[nn.Module], x: Tensor, step: Callable[[Tensor, nn.Module], Tensor]) -> Tensor:
    for layer in layers:
        x = step(x, layer)
    return x


def numbers(differences: dict[str, int], right: int) -> dict[str, Tensor]:
    """What slips make of the right number, given by how much they add to it."""
    slips = {slip: torch.tensor(float(right + difference)) for slip, difference in differences.items()}
    return possible(slips, torch.tensor(float(right)))
