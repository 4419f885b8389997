"""A model with the interface of `Transformer` that says what it was told to say, and remembers how it was used."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ScriptedModel(nn.Module):
    """Predict a script: after `n` target tokens of a sentence its next one is `script[sentence, n − 1]`.

    A sentence is known by its first source token, `first_id` for the first row of the script, whatever its place in
    the batch. Logits are the script's plus fixed noise, so that no two tokens tie; in training half of them are
    dropped. The memory matters: with any other than that from `encode` the model says token 0 only.

    Args:
        script: (sentences, steps) token ids; after the last step the model goes on with its last column.
        vocab_size: how many tokens there are.

    Attributes:
        encoded: how often `encode` ran.
        lengths: the length of the target at every call of `decode`.
        modes: (training, gradients enabled) at every call of `encode` and `decode`.
    """

    def __init__(self, script: Tensor, vocab_size: int, first_id: int = 3) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.register_buffer("script", script)
        self.register_buffer("noise", torch.randn(*script.shape, vocab_size, generator=generator))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.dropout = nn.Dropout(0.5)
        self.first_id = first_id
        self.encoded = 0
        self.lengths: list[int] = []
        self.modes: set[tuple[bool, bool]] = set()

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) → memory (batch, src_len, 1), which holds the source."""
        self.encoded += 1
        self.modes.add((self.training, torch.is_grad_enabled()))
        return src.unsqueeze(-1) * self.scale

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len), the memory and its source → logits (batch, tgt_len, vocab_size)."""
        self.modes.add((self.training, torch.is_grad_enabled()))
        self.lengths.append(tgt.size(1))
        step = torch.arange(tgt.size(1), device=tgt.device).clamp(max=self.script.size(1) - 1)
        sentence = (src[:, 0] - self.first_id).clamp(0, len(self.script) - 1)
        wanted, noise = self.script[sentence][:, step], self.noise[sentence][:, step]
        known = (memory[..., 0].round() == src).all(dim=1)
        wanted = torch.where(known[:, None], wanted, 0)
        chosen = nn.functional.one_hot(wanted, noise.size(-1))
        return self.dropout(self.scale * (noise + 8 * chosen))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, src_len) and (batch, tgt_len) → logits (batch, tgt_len, vocab_size)."""
        return self.decode(tgt, self.encode(src), src)
