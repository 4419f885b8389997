"""Exercise `next_tokens`: its cases and its slips."""

import random
from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_7.shared import small_transformer, sources
from autograder.exercises.shared import device, sizes


def cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """The most probable token behind what has been written, of any length, with padding in it, by any model."""
    ranges = {"batch": (1, 9), "length": (1, 20), "vocab_size": (4, 40), "src_len": (1, 6)}
    for index, size in enumerate(sizes(seed, 3, **ranges)):
        batch, length, vocab_size, src_len = size.values()
        generator = torch.Generator().manual_seed(31 * seed + index)
        script = torch.randint(vocab_size, (batch, length), generator=generator)
        tokens = torch.randint(min(vocab_size, 5), (batch, length), generator=generator)
        tokens[:, 0] = 1  # who has seen nothing but padding knows nothing
        src = sources(script, src_len, 0, seed + index)
        padding = ", some of them padding" * bool((tokens == 0).any())
        name = f"`next_tokens(…)` after {length} token{'s' * (length > 1)}{padding}"
        for model in (parts.ScriptedModel(script, vocab_size).eval(), small_transformer(vocab_size, seed + index, src)):
            model.train(index % 2 == 1 and isinstance(model, parts.Transformer))
            training = model.training
            memory = model.encode(src)
            expected = model.decode(tokens, memory, src)[:, -1].argmax(dim=-1)
            with check.case(tokens=tokens, src=src, vocab_size=vocab_size), check.unchanged(tokens=tokens, src=src):
                result = answer(model, tokens, memory, src)
                check.equal(name, result, expected)
                check.dtype(name, result, torch.long)
                check.mode(name, model, training)
    _require_close_ones_told_apart(answer, seed)
    device(seed, "next_tokens(model, tokens, memory, src)", answer, model, tokens, memory, src)


def _require_close_ones_told_apart(answer: Callable[..., Tensor], seed: int) -> None:
    """The most probable token is 0.0003 above the next one, which 32 bits can tell apart and 16 cannot."""
    one, other = sorted(random.Random(seed).sample(range(4), 2))
    logits = torch.full((2, 4), 6.0)
    logits[:, one], logits[:, other] = torch.tensor([9.001, 9.0013]), torch.tensor([9.0013, 9.001])
    model = parts.NextByTable(logits[:, None].expand(2, 4, 4)).eval()
    tokens, src = torch.tensor([[1, 3], [1, 2]]), torch.tensor([[3], [4]])
    memory = model.encode(src)
    with check.case(logits=logits):
        result = answer(model, tokens, memory, src)
        check.equal("`next_tokens(…)` where two tokens are nearly as probable", result, torch.tensor([other, one]))


def slips(logits: Tensor) -> dict[str, Tensor]:
    """Choices from the logits (batch, length, vocab_size) of all positions."""
    last = logits[:, -1]
    right = last.argmax(-1)
    slips = {
        "the prediction at the first position is taken, not the one at the last": logits[:, 0].argmax(-1),
        "the prediction at the last position but one is taken": logits[:, -2].argmax(-1),
        "the least probable token is taken, or the one with the largest logit without its sign": last.argmin(-1),
        "the predictions of all positions are returned, not the last one's": logits.argmax(-1),
        "the whole batch gets one token: `argmax` is not told the dimension": last.argmax(),
        "the last entry of the vocabulary is looked at, not the last position": logits[..., -1].argmax(-1),
        "`argmax` goes over the rows, not over the vocabulary": last.argmax(0),
        "the last row is taken, not the last position": logits[-1].argmax(-1),
        "a softmax goes over the positions, not over the vocabulary": logits.softmax(1)[:, -1].argmax(-1),
        "PAD, BOS and EOS are cut off, so that the first word gets the number 0": last[:, 3:].argmax(-1),
        "a dimension of size 1 is kept": last.argmax(-1, keepdim=True),
        "the largest logit is returned, not its place": last.max(-1).values,
        "every row gets the prediction of the first": right[:1].expand(len(logits)),
        "PAD, token 0, is never chosen": last[:, 1:].argmax(-1) + 1,
        "only 0 comes out; the model says that of any memory but the one that is given": torch.zeros_like(right),
    }
    return {slip: value for slip, value in slips.items() if not torch.equal(value, right)}
