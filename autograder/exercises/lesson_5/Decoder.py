"""Exercise `Decoder`: its cases and its slips."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.lesson_5 import shared
from autograder.exercises.shared import DTYPES, tensors


def layer_cases(answer: shared.Model, *, seed: int = 0) -> None:
    """`Decoder` has the layers, heads and rates asked for, each layer with parameters of its own."""
    shared.require_layers("Decoder", answer, parts.Decoder, parts.DecoderLayer, seed)


def value_cases(answer: shared.Model, *, seed: int = 0) -> None:
    """Outputs of stacks of any depth, with any of the two masks, in training and after, and their gradients."""
    for index, size in enumerate(shared.stacks(seed, batch=(1, 3), tgt_len=(1, 6), src_len=(1, 7))):
        num_layers, batch, tgt_len, src_len = size.values()
        dtype = DTYPES[index % 2]
        stack = shared.still(data.randomized(answer(num_layers, 8, 2, 6, dropout=0.5), seed=index), "layers").to(dtype)
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
                check.stays(name, stack.train()(x, memory, **masks), expected, **shared.IN_TRAINING)
                check.mode(name, stack, True)
        with check.case(num_layers=num_layers, x=x, memory=memory):
            stack.train(bool(index % 2))
            expected = twin(x.requires_grad_(), memory.requires_grad_(), **hidden)
            shared.learns("decoder", stack, tuple(masks.values()), expected, x=x, memory=memory)


def _sees_no_future(name: str, stack: nn.Module, x: Tensor, memory: Tensor, masks: dict[str, Tensor]) -> None:
    """Another last position of x (batch, tgt_len, d_model) changes no output before it."""
    if x.size(1) < 2:
        return
    before, after = stack(x, memory, **masks), stack(torch.cat([x[:, :-1], -x[:, -1:]], dim=1), memory, **masks)
    name = f"{name}[:, :{x.size(1) - 1}]"
    check.stays(name, after[:, :-1], before[:, :-1], when="only the last position of x does", slip=shared.FUTURE)


def _pairs_of_masks(
    batch: int, tgt_len: int, src_len: int, seed: int
) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
    """The masks of a decoder, none to both, and the same as PyTorch's stack takes them."""
    real, target = shared.real_tokens(batch, src_len, seed), shared.real_tokens(batch, tgt_len, seed + 1)
    past = parts.causal_mask(tgt_len)
    source = {"src_mask": real[:, None, None, :]}, {"memory_key_padding_mask": ~real}
    both = past & target[:, None, None, :]
    causal = {"tgt_mask": both}, {"tgt_mask": ~past, "tgt_key_padding_mask": ~target}
    yield {}, {}
    yield source
    yield causal
    yield source[0] | causal[0], source[1] | causal[1]


@torch.no_grad()
def slips(
    layers: nn.ModuleList, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None
) -> dict[str, Tensor]:
    """Outputs of a badly wired stack, for x (batch, tgt_len, d_model) and memory (batch, src_len, d_model)."""
    masked = {"src_mask": src_mask, "tgt_mask": tgt_mask}
    slips = {
        "no mask is handed to the layers, so that a position sees the ones after it": shared.through(
            layers, x, lambda y, layer: layer(y, memory)
        ),
        "`tgt_mask` is not handed to the layers, so that a position sees the ones after it": shared.through(
            layers, x, lambda y, layer: layer(y, memory, src_mask=src_mask)
        ),
        "the masks are handed to the first layer only": shared.through(
            layers[1:], layers[0](x, memory, **masked), lambda y, layer: layer(y, memory)
        ),
        "`src_mask` is not handed to the layers": shared.through(
            layers, x, lambda y, layer: layer(y, memory, tgt_mask=tgt_mask)
        ),
    }
    if src_mask is None:
        slips["the layers attend to the target instead of the memory"] = shared.through(
            layers, x, lambda y, layer: layer(y, y, tgt_mask=tgt_mask)
        )
    return shared.stack(layers, x, lambda y, layer: layer(y, memory, **masked), slips)
