"""What exercises of lesson 6 share."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.shared import tensors
from autograder.parts.scripted import remembering_copy

Batch = tuple[Tensor, Tensor]
SURE = "the loss of a model that is almost sure"


def batch_of(seed: int, batch: int, longest: int, vocab_size: int, pad_id: int = data.PAD, further: int = 0) -> Batch:
    """Draw src (batch, longest + further) and tgt (batch, longest + 2), padded; the first target is the longest."""
    generator = random.Random(seed)
    lengths = [longest, *(generator.randint(1, longest) for _ in range(batch - 1))]
    src = data.tokens([length + further for length in lengths[::-1]], vocab_size=vocab_size, pad_id=pad_id, seed=seed)
    tgt = data.targets(lengths, vocab_size=vocab_size, pad_id=pad_id, seed=seed + 1)
    if pad_id:
        tgt[0, 1] = 0  # an ordinary token, where padding is another
    return src, tgt


def one_word(word: int, batch: int, length: int) -> Tensor:
    """A target (batch, length) that is one word over and over: a shift changes nothing, and nothing is padding."""
    return torch.full((batch, length), word)


def next_token(vocab_size: int, seed: int, scale: float = 1.0) -> parts.NextToken:
    """Draw a model that predicts from the last token alone."""
    (table,) = tensors((vocab_size, vocab_size), seed=seed)
    return parts.NextToken(table, scale)


def small_transformer(vocab_size: int) -> parts.Transformer:
    """A Transformer without dropout, the same one every time; its gradients are too short to be clipped to 1."""
    model = parts.Transformer(
        vocab_size, vocab_size, d_model=8, num_heads=2, num_layers=1, d_ff=12, dropout=0.0, max_len=24
    )
    data.randomized(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.25)
    return model


def optimizer_of(model: nn.Module, index: int) -> torch.optim.Optimizer:
    """One of several optimizers, of which some remember earlier steps."""
    if index % 3 == 2:
        return torch.optim.Adam(model.parameters(), lr=0.05)
    return torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.6 * (index % 3))


def almost_sure(word: int) -> parts.NextToken:
    """A model that says that a word follows itself, and is so sure that its loss is 0 in four digits."""
    return parts.NextToken(12.1 * F.one_hot(torch.tensor(9 * [word]), 9))


class Watched(parts.NextToken):
    """The same model, which remembers how many sentences it was given, and which gradients came back.

    Attributes:
        rows: the number of sentences of each call.
        gradients: of the logits, one for each call that `backward` has reached.
        waits: how many calls waited for `backward` at each call; a deep copy shares what is remembered.
    """

    def __init__(self, table: Tensor, scale: float = 1.0) -> None:
        super().__init__(table, scale)
        self.rows: list[int] = []
        self.gradients: list[Tensor] = []
        self.waits = [0]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return remembering_copy(self, memo, self.rows, self.gradients, self.waits)

    @property
    def waiting(self) -> int:
        """How many calls waited for `backward` when there was another one, at most."""
        return max(self.waits)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, tgt_len) → logits (batch, tgt_len, vocab_size)."""
        self.waits.append(len(self.rows) - len(self.gradients))
        logits: Tensor = super().forward(src, tgt)
        if logits.requires_grad:
            self.rows.append(len(tgt))
            logits.register_hook(self.gradients.append)  # type: ignore[no-untyped-call]
        return logits


class Deep(nn.Module):
    """Predicts from the last token and the whole source; a part of a part is a dropout, and a parameter is frozen.

    Attributes:
        modes: (training, gradients enabled) of all parts, at every call.
        dropped: what the dropout left out, at every call.
    """

    def __init__(self, vocab_size: int = 9, scale: float = 3.0) -> None:
        super().__init__()
        self.source = nn.Embedding(vocab_size, vocab_size)
        self.body = nn.Sequential(nn.Sequential(nn.Embedding(vocab_size, vocab_size), nn.Dropout(0.5)))
        self.frozen = nn.Parameter(torch.tensor(scale), requires_grad=False)
        self.modes: set[tuple[bool, bool]] = set()
        self.dropped: list[Tensor] = []
        data.randomized(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return remembering_copy(self, memo, self.modes, self.dropped)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, src_len) and (batch, tgt_len) → logits (batch, tgt_len, vocab_size)."""
        self.modes.update((part.training, torch.is_grad_enabled()) for part in self.modules())
        kept = self.body(tgt)
        self.dropped.append(kept.detach() == 0)
        logits: Tensor = self.frozen * (kept + self.source(src).sum(dim=1, keepdim=True))
        return logits


@contextmanager
def left_alone(name: str, model: nn.Module) -> Iterator[None]:
    """The function `name` changes neither rates of dropout in the model nor which of its parameters are frozen."""

    def state() -> tuple[list[float], list[bool]]:
        rates = [part.p for part in model.modules() if isinstance(part, nn.Dropout)]
        return rates, [parameter.requires_grad for parameter in model.parameters()]

    before = state()
    yield
    rates, trained = state()
    check.true(rates == before[0], f"`{name}` changes the rate of a dropout in the model, or takes it out.")
    verdict = f"`{name}` freezes or unfreezes parameters: their `requires_grad` is another one afterwards."
    check.true(trained == before[1], verdict)
