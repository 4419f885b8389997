"""Models that say what they were told to say, or that are tables, with the interface of `Transformer` or of `GPT`."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from autograder.data import FIRST_WORD

Kind = TypeVar("Kind", bound=nn.Module)

MOST_CALLS = 60
HISTORIES = 9973  # a prime: few histories meet


def remembering_copy(model: Kind, memo: dict[int, Any], *memories: object) -> Kind:
    """Return a deep copy of a model that writes into the same memories as the model itself."""
    copied = memo[id(model)] = model.__new__(type(model))
    copied.__dict__ = copy.deepcopy(vars(model), memo | {id(memory): memory for memory in memories})
    return copied


class ScriptedModel(nn.Module):
    """Predict a script: after `n` target tokens of a sentence its next one is `script[sentence, n − 1]`.

    A sentence is known by its first source token, `first_id` for the first row of the script, whatever its place in
    the batch. Logits are fixed noise, the script's token a little above all others; in training half of them are
    dropped. The memory matters: with any other than that from `encode` the model says token 0 only; and so does, if
    `begin` is given, what has been written: where it is not `begin` and then the script, the model says `begin`.

    Args:
        script: (sentences, steps) token ids; after the last step the model goes on with its last column.
        vocab_size: how many tokens there are.

    Attributes:
        encoded: how often `encode` ran; a deep copy shares what is remembered.
        lengths: the length of the target at every call of `decode`.
        modes: (training, gradients enabled) of this module and its parts at every call of `encode` and `decode`.

    Raises:
        RuntimeError: from `decode`, when it is asked so often that the loop around it cannot end.
        ValueError: from `decode`, when target and source differ in their number of rows.
    """

    script: Tensor
    noise: Tensor

    def __init__(self, script: Tensor, vocab_size: int, begin: int | None = None, first_id: int = 3) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.register_buffer("script", script)
        self.register_buffer("noise", torch.randn(*script.shape, vocab_size, generator=generator))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.layers = nn.ModuleList([nn.Sequential(nn.Dropout(0.5))])  # as deep as in a model
        self.first_id, self.begin = first_id, begin
        self.encodings: list[None] = []
        self.lengths: list[int] = []
        self.modes: set[tuple[bool, bool]] = set()

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptedModel:
        return remembering_copy(self, memo, self.encodings, self.lengths, self.modes)

    @property
    def dropout(self) -> nn.Dropout:
        """The one part that behaves otherwise in training."""
        (dropout,) = (part for part in self.modules() if isinstance(part, nn.Dropout))
        return dropout

    @property
    def encoded(self) -> int:
        """How often `encode` ran."""
        return len(self.encodings)

    def _remember(self) -> None:
        self.modes.update((module.training, torch.is_grad_enabled()) for module in self.modules())

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) → memory (batch, src_len, 1), which holds the source."""
        self.encodings.append(None)
        self._remember()
        return src.unsqueeze(-1) * self.scale

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len), the memory and its source → logits (batch, tgt_len, vocab_size)."""
        self._remember()
        self.lengths.append(tgt.size(1))
        if len(self.lengths) > MOST_CALLS:
            raise RuntimeError(f"The decoder has been asked {MOST_CALLS} times. Does your loop end?")
        if tgt.size(0) != src.size(0):
            raise ValueError(f"`src` has {src.size(0)} rows, but `tgt` has {tgt.size(0)}.")
        step = torch.arange(tgt.size(1), device=tgt.device).clamp(max=self.script.size(1) - 1)
        sentence = (src[:, 0] - self.first_id).clamp(0, len(self.script) - 1)
        wanted, noise = self.script[sentence][:, step], self.noise[sentence][:, step]
        if self.begin is not None:
            so_far = nn.functional.pad(wanted[:, :-1], (1, 0), value=self.begin)
            wanted = torch.where((tgt == so_far).cumprod(dim=1) == 1, wanted, self.begin)
        known = (memory[..., 0].round() == src).all(dim=1)
        wanted = torch.where(known[:, None], wanted, 0).unsqueeze(-1)
        best = noise.amax(dim=-1, keepdim=True) + 0.5
        logits = noise.scatter(-1, wanted, best).scatter(-1, (wanted + 1) % noise.size(-1), -best - 0.5)
        output: Tensor = self.dropout(self.scale * logits)
        return output

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, src_len) and (batch, tgt_len) → logits (batch, tgt_len, vocab_size)."""
        memory = self.encode(src)
        return self.decode(tgt, memory, src)


class NextToken(nn.Module):
    """Predict from the last token alone: its row of a table, times `scale`, holds the logits of the next.

    Args:
        table: (vocab_size, vocab_size), copied into a parameter.
        scale: makes the gradients longer.
    """

    def __init__(self, table: Tensor, scale: float = 1.0) -> None:
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.scale = scale

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, tgt_len) → logits (batch, tgt_len, vocab_size); the source plays no part."""
        return self.scale * self.table[tgt]


class NextByTable(nn.Module):
    """Decode from the last token alone: `table[sentence, token]` holds the logits of the next.

    A sentence is known by its first source token, `FIRST_WORD` for the first of the table.

    Args:
        table: (sentences, vocab_size, vocab_size).
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) → memory (batch, src_len, 1), which holds the source."""
        return src.unsqueeze(-1) * torch.ones_like(self.table[0, 0, 0])

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len), the memory and its source → logits (batch, tgt_len, vocab_size)."""
        sentence = memory[:, 0, 0].round().long() - FIRST_WORD
        return self.table[sentence[:, None], tgt]


class NextByHistory(nn.Module):
    """Predict from all tokens so far, with the interface of `GPT`: each history picks a row of a table of logits.

    With a cache it goes on from the history that the cache holds, so what is forgotten, or given twice, shows.

    Args:
        scale: of the logits, which are standard normal otherwise.

    Attributes:
        given: the tokens, at every call, copied.
        had_cache: whether there was one, at every call.
        enabled: whether gradients were, at any call; a deep copy shares what is remembered.

    Raises:
        RuntimeError: from `forward`, when it is asked so often that the loop around it cannot end.
    """

    table: Tensor

    def __init__(self, vocab_size: int, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.register_buffer("table", scale * torch.randn(HISTORIES, vocab_size, generator=generator))
        self.given: list[Tensor] = []
        self.had_cache: list[bool] = []
        self.enabled: set[bool] = set()

    def __deepcopy__(self, memo: dict[int, Any]) -> NextByHistory:
        return remembering_copy(self, memo, self.given, self.had_cache, self.enabled)

    @property
    def gradients(self) -> bool:
        """Whether they were enabled at any call."""
        return True in self.enabled

    def forward(self, tokens: Tensor, cache: Any = None) -> Any:
        """(batch, seq_len) → logits (batch, seq_len, vocab_size); with a cache, a list, the longer cache as well."""
        self.given.append(tokens.clone())
        self.had_cache.append(cache is not None)
        self.enabled.add(torch.is_grad_enabled())
        if len(self.given) > MOST_CALLS:
            raise RuntimeError(f"The model has been asked {MOST_CALLS} times. Does your loop end?")
        history, histories = cache[0] if cache else torch.zeros_like(tokens[:, 0]), []
        for column in tokens.unbind(dim=1):
            history = (31 * history + column + 1) % HISTORIES
            histories.append(history)
        logits = self.table[torch.stack(histories, dim=1)]
        return logits if cache is None else (logits, [history])
