"""Lesson 5 over generated inputs: the stacks of encoder and decoder layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.generated.inputs import DTYPES, sizes, tensors

Model = Callable[..., Any]  # a learner's class
IN_TRAINING: Any = {
    "when": "it is in train mode, its parts without dropout",
    "slip": "Nothing but the dropout of the parts may act in training alone.",
}
FUTURE = "The future leaks: an earlier position sees what comes after it."


def encoder_layers(answer: Model, *, seed: int = 0) -> None:
    """`Encoder` has the layers, heads and rates asked for, each layer with parameters of its own."""
    _layers("Encoder", answer, parts.Encoder, parts.EncoderLayer, seed)


def decoder_layers(answer: Model, *, seed: int = 0) -> None:
    """`Decoder` has the layers, heads and rates asked for, each layer with parameters of its own."""
    _layers("Decoder", answer, parts.Decoder, parts.DecoderLayer, seed)


def _layers(name: str, answer: Model, right: Model, of: type[nn.Module], seed: int) -> None:
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


def encoder_values(answer: Model, *, seed: int = 0) -> None:
    """Outputs of stacks of any depth, with a mask and without, in training and after, and their gradients."""
    for index, size in enumerate(_stacks(seed, batch=(1, 4), src_len=(1, 9))):
        num_layers, batch, src_len = size.values()
        dtype = DTYPES[index % 2]
        stack = still(data.randomized(answer(num_layers, 8, 2, 6, dropout=0.5), seed=index), "layers").to(dtype)
        check.layers("encoder.layers", stack.layers, parts.EncoderLayer)
        twin = parts.stack_twin(stack.layers)
        (x,) = tensors((batch, src_len, 8), seed=31 * seed + index, dtype=dtype)
        real = _real(batch, src_len, seed + index)
        for mask in (None, real[:, None, None, :]):
            expected = twin(x, src_key_padding_mask=None if mask is None else ~real)
            name = f"encoder(x{'' if mask is None else ', mask'})"
            with check.case(num_layers=num_layers, x=x, mask=mask), check.unchanged(x=x):
                output = stack.eval()(x, mask)
                check.dtype(name, output, dtype)
                check.close(name, output, expected)
                check.mode(name, stack, False)
                check.stays(name, stack.train()(x, mask), expected, **IN_TRAINING)
                check.mode(name, stack, True)
        with check.case(num_layers=num_layers, x=x):
            stack.train(bool(index % 2))
            _learns("encoder", stack, (mask,), twin(x.requires_grad_(), src_key_padding_mask=~real), x=x)


def decoder_values(answer: Model, *, seed: int = 0) -> None:
    """Outputs of stacks of any depth, with any of the two masks, in training and after, and their gradients."""
    for index, size in enumerate(_stacks(seed, batch=(1, 3), tgt_len=(1, 6), src_len=(1, 7))):
        num_layers, batch, tgt_len, src_len = size.values()
        dtype = DTYPES[index % 2]
        stack = still(data.randomized(answer(num_layers, 8, 2, 6, dropout=0.5), seed=index), "layers").to(dtype)
        check.layers("decoder.layers", stack.layers, parts.DecoderLayer)
        twin = parts.stack_twin(stack.layers)
        shapes = (batch, tgt_len, 8), (batch, src_len, 8)
        x, memory = tensors(*shapes, seed=31 * seed + index, dtype=dtype)
        for turn, (masks, hidden) in enumerate(_pairs_of_masks(batch, tgt_len, src_len, seed + index)):
            memory = 1 - memory if turn else memory
            expected = twin(x, memory, **hidden)
            name = f"decoder(x, memory{''.join(f', {mask}' for mask in masks)})"
            shown = {"num_layers": num_layers, "x": x, "memory": memory, **masks}
            with check.case(**shown), check.unchanged(x=x, memory=memory):
                if list(masks) == ["tgt_mask"]:
                    _sees_no_future(name, stack.train(bool(index % 2)), x, memory, masks)
                check.close(name, stack.eval()(x, memory, **masks), expected)
                check.mode(name, stack, False)
                check.stays(name, stack.train()(x, memory, **masks), expected, **IN_TRAINING)
                check.mode(name, stack, True)
        with check.case(num_layers=num_layers, x=x, memory=memory):
            stack.train(bool(index % 2))
            expected = twin(x.requires_grad_(), memory.requires_grad_(), **hidden)
            _learns("decoder", stack, tuple(masks.values()), expected, x=x, memory=memory)


def _sees_no_future(name: str, stack: nn.Module, x: Tensor, memory: Tensor, masks: dict[str, Tensor]) -> None:
    """Another last position of x (batch, tgt_len, d_model) changes no output before it."""
    if x.size(1) < 2:
        return
    before, after = stack(x, memory, **masks), stack(torch.cat([x[:, :-1], -x[:, -1:]], dim=1), memory, **masks)
    name = f"{name}[:, :{x.size(1) - 1}]"
    check.stays(name, after[:, :-1], before[:, :-1], when="only the last position of x does", slip=FUTURE)


def _pairs_of_masks(
    batch: int, tgt_len: int, src_len: int, seed: int
) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
    """The masks of a decoder, none to both, and the same as PyTorch's stack takes them."""
    real, target = _real(batch, src_len, seed), _real(batch, tgt_len, seed + 1)
    past = parts.causal_mask(tgt_len)
    source = {"src_mask": real[:, None, None, :]}, {"memory_key_padding_mask": ~real}
    both = past & target[:, None, None, :]
    causal = {"tgt_mask": both}, {"tgt_mask": ~past, "tgt_key_padding_mask": ~target}
    yield {}, {}
    yield source
    yield causal
    yield source[0] | causal[0], source[1] | causal[1]


def _stacks(seed: int, **ranges: tuple[int, int]) -> Iterator[dict[str, int]]:
    """Draw sizes of stacks and of their inputs; the last have the largest, once for a batch of one sentence."""
    largest = {name: high for name, (_, high) in ranges.items()}
    yield from sizes(seed, 0, num_layers=(1, 4), **ranges)
    yield {"num_layers": 2} | largest | {"batch": 1}


def _real(batch: int, seq_len: int, seed: int) -> Tensor:
    """Draw which tokens are real (batch, seq_len): the first always, the last of a longer first row never."""
    drawn = torch.rand(batch, seq_len, generator=torch.Generator().manual_seed(seed)) < 0.6
    drawn[0, -1] = False
    return drawn | (torch.arange(seq_len) == 0)


def still(model: Any, *names: str) -> Any:
    """The model, its parts of these names without dropout: what else drops out is the learner's."""
    for name in names:
        for part in model.get_submodule(name).modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0
            if isinstance(part, nn.MultiheadAttention):
                part.dropout = 0.0
    return model


def _learns(name: str, stack: Any, masks: tuple[Tensor | None, ...], expected: Tensor, **inputs: Tensor) -> None:
    """The gradients of a stack in its inputs are those of what is expected, and every layer has one."""
    output = stack(*inputs.values(), *masks)
    call = f"{name}{'.train()' if stack.training else ''}({', '.join(inputs)}, …)"
    check.gradients_agree(call, output, expected, **inputs)
    check.gradients_reach(one_of_each(f"{name}.layers", stack.layers), output)


def one_of_each(name: str, layers: nn.ModuleList) -> dict[str, Tensor]:
    """A trainable parameter of each layer, by the name of the layer."""
    found = {f"{name}[{i}]": [p for p in layer.parameters() if p.requires_grad][:1] for i, layer in enumerate(layers)}
    return {key: parameters[0] for key, parameters in found.items() if parameters}
