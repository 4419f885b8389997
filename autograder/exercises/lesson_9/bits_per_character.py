"""Exercise `bits_per_character`: its cases and its slips."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.shared import few, sizes

Measure = Callable[..., object]
NAME = "bits_per_character(model, tokens, block_size)"


def cases(answer: Measure, *, seed: int = 0) -> None:
    """For texts and blocks of any lengths, whether or not the last block is full, and for any model."""
    for index, size in enumerate(sizes(seed, 5, length=(2, 40), block_size=(1, 50), vocab_size=(2, 20))):
        length, block_size, vocab_size = size.values()
        generator = torch.Generator().manual_seed(31 * seed + index)
        tokens = torch.randint(vocab_size, (length,), generator=generator)
        models: list[Any] = [parts.NextByHistory(vocab_size, scale=2.0, seed=seed + index) for _ in range(2)]
        if index % 3 == 2:
            models = [data.randomized(parts.GPT(vocab_size, 8, 1, 2, 1, 6), seed=seed + index)] * 2
        expected = torch.tensor(parts.bits_per_character(models[0], tokens, block_size))
        with check.case(tokens=tokens, block_size=block_size), check.unchanged(tokens=tokens):
            check.close(NAME, measured(answer, models[1], tokens, block_size), expected, rtol=1e-4, atol=1e-4)
    _predicts_a_last_one_alone(answer, seed)
    vocab_size = 5 + few(seed)
    tokens = torch.arange(30) % vocab_size
    knows_nothing = torch.tensor(math.log2(vocab_size))
    with check.case(model="one that holds every character for equally likely", vocab_size=vocab_size):
        model = parts.NextByHistory(vocab_size, scale=0.0)
        check.close(NAME, measured(answer, model, tokens, 8), knows_nothing, rtol=1e-4, atol=1e-4)


def _predicts_a_last_one_alone(answer: Measure, seed: int) -> None:
    """A last block in which one token is given, and one predicted."""
    block_size = 4 + few(seed) % 5
    tokens = torch.randint(9, (2 * block_size + 2,), generator=torch.Generator().manual_seed(seed))
    model, spare = (parts.NextByHistory(9, scale=2.0, seed=seed) for _ in range(2))
    expected, told = torch.tensor(parts.bits_per_character(spare, tokens, block_size)), slips(spare, tokens, block_size)
    with check.case(tokens=tokens, block_size=block_size):
        check.close(NAME, measured(answer, model, tokens, block_size), expected, rtol=1e-4, atol=1e-4, mistakes=told)


def measured(answer: Measure, model: Any, tokens: Tensor, block_size: int) -> Tensor:
    """What the answer says, a Python number; the model ran without gradients, and on no more than it may see."""
    calls = len(model.given) if hasattr(model, "given") else 0
    result = answer(model, tokens, block_size)
    number = check.number(NAME, result)
    check.python_number(NAME, result)
    if hasattr(model, "given"):
        longest = max((each.size(-1) for each in model.given[calls:]), default=0)
        verdict = f"The model is given {longest} tokens at once, and block_size={block_size} is the most."
        wholes = [[tokens[start : start + block_size + 1].tolist()] for start in range(0, len(tokens) - 1, block_size)]
        is_whole = [each.tolist() for each in model.given[calls:]] == wholes
        slip = "The last token of a block is only predicted, never given." if is_whole else None
        check.true(longest <= block_size, verdict, slip)
        check.true(not model.gradients, "The model runs with gradients enabled.")
    return number


def slips(model: Any, tokens: Tensor, block_size: int) -> dict[str, Tensor]:
    """Numbers for tokens (length,) that wrong ways to cut, to average and to convert would give."""
    ln2 = math.log(2)

    def losses(given: Tensor, labels: Tensor, twice: bool = False) -> Tensor:
        logits = model(given[None])[0].detach()
        return F.cross_entropy(logits.softmax(-1) if twice else logits, labels, reduction="none")

    def blocks(size: int, twice: bool = False) -> list[Tensor]:
        cut = [tokens[start : start + size] for start in range(0, len(tokens) - 1, block_size)]
        return [losses(block[:-1], block[1:], twice) for block in cut if len(block) > 1]

    right, apart = blocks(block_size + 1), torch.cat(blocks(block_size))
    full = [block for block in right if len(block) == block_size]
    every, predicted = torch.cat(right), len(tokens) - 1
    ends = range(2, len(tokens) + 1)
    overlapping = [tokens[max(0, end - block_size - 1) : end] for end in ends]
    same = torch.cat([losses(block, block) for block in torch.split(tokens[:-1], block_size)])
    nats = {
        "the loss is in nats: log₂ is ln divided by ln 2": every.mean() * ln2,
        "the loss is multiplied by ln 2 instead of divided": every.mean() * ln2**2,
        "the loss is divided by ln 10": every.mean() / math.log(10) * ln2,
        "the first character of each block but the first is never predicted": apart.mean(),
        "the first of each block is not predicted, and counted all the same": apart.sum() / predicted,
        "the mean of the blocks' means is taken, and the last block is shorter": (
            torch.stack([block.mean() for block in right]).mean()
        ),
        "the last block, which is not full, is left out": torch.cat(full).mean() if full else None,
        "the last block is left out, and counted all the same": torch.cat(full).sum() / predicted if full else None,
        "the sum is divided by all characters, though nothing predicts the first": every.sum() / len(tokens),
        "the sum is divided by the number of blocks": every.sum() / len(right),
        "the sum is not divided by the number of characters": every.sum(),
        "every character is predicted from the whole text before it, not from its block": (
            losses(tokens[:-1], tokens[1:]).mean()
        ),
        "the blocks overlap: every character is predicted from the `block_size` before it": (
            torch.stack([losses(block[:-1], block[1:])[-1] for block in overlapping]).mean()
        ),
        "each token's own logits are compared with itself, not with the next one": same.mean(),
        "softmax is applied before `F.cross_entropy`, which applies it itself": (
            torch.cat(blocks(block_size + 1, twice=True)).mean()
        ),
        "the perplexity is returned, 2 to the power of the bits": 2 ** (every.mean() / ln2) * ln2,
        "the probabilities are averaged, and then the logarithm taken": -(-every).exp().mean().log(),
        "the sign is wrong": -every.mean(),
    }
    bits = {slip: value / ln2 for slip, value in nats.items() if value is not None}
    return {slip: value for slip, value in bits.items() if not torch.isclose(value, every.mean() / ln2, 1e-3)}
