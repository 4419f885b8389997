"""Exercise `Encoder`: its cases and its slips."""

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.lesson_5 import shared
from autograder.exercises.shared import DTYPES, tensors


def layer_cases(answer: shared.Model, *, seed: int = 0) -> None:
    """`Encoder` has the layers, heads and rates asked for, each layer with parameters of its own."""
    shared.require_layers("Encoder", answer, parts.Encoder, parts.EncoderLayer, seed)


def value_cases(answer: shared.Model, *, seed: int = 0) -> None:
    """Outputs of stacks of any depth, with a mask and without, in training and after, and their gradients."""
    for index, size in enumerate(shared.stacks(seed, batch=(1, 4), src_len=(1, 9))):
        num_layers, batch, src_len = size.values()
        dtype = DTYPES[index % 2]
        stack = shared.still(data.randomized(answer(num_layers, 8, 2, 6, dropout=0.5), seed=index), "layers").to(dtype)
        check.layers("encoder.layers", stack.layers, parts.EncoderLayer)
        twin = parts.stack_twin(stack.layers)
        (x,) = tensors((batch, src_len, 8), seed=31 * seed + index, dtype=dtype)
        real = shared.real_tokens(batch, src_len, seed + index)
        for mask in (None, real[:, None, None, :]):
            expected = twin(x, src_key_padding_mask=None if mask is None else ~real)
            name = f"encoder(x{'' if mask is None else ', mask'})"
            with check.case(num_layers=num_layers, x=x, mask=mask), check.unchanged(x=x):
                output = stack.eval()(x, mask)
                check.dtype(name, output, dtype)
                check.close(name, output, expected)
                check.mode(name, stack, False)
                check.stays(name, stack.train()(x, mask), expected, **shared.IN_TRAINING)
                check.mode(name, stack, True)
        with check.case(num_layers=num_layers, x=x):
            stack.train(bool(index % 2))
            shared.learns("encoder", stack, (mask,), twin(x.requires_grad_(), src_key_padding_mask=~real), x=x)


@torch.no_grad()
def slips(layers: nn.ModuleList, x: Tensor, mask: Tensor | None) -> dict[str, Tensor]:
    """Outputs of a badly wired stack of the learner's own `layers`, for x (batch, src_len, d_model)."""
    slips = {
        "the mask is not handed to the layers": shared.through(layers, x, lambda y, layer: layer(y)),
        "the mask is handed to the first layer only": shared.through(
            layers[1:], layers[0](x, mask), lambda y, layer: layer(y)
        ),
    }
    if mask is not None:
        slips["all rows get the mask of the first"] = shared.through(layers, x, lambda y, layer: layer(y, mask[:1]))
    return shared.stack(layers, x, lambda y, layer: layer(y, mask), slips)
