"""What exercises of lesson 7 share."""

from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts

SCRIPT = [5, 6, 2, 0, 0], [7, 8, 4, 5, 2]  # whose rows end, for the sources
SOURCES = [3, 8, 5], [4, 7, 6]


def require_model_kept(model: parts.ScriptedModel, training: bool, tokens: Any, words: Tensor) -> None:
    """The encoder ran once, nothing in train mode or with gradients, and the model is in its mode again.

    Args:
        tokens: (batch, length), which are what the model said, as far as `words` (batch, 1), their first ones, show.
    """
    check.true(model.encoded == 1, f"The encoder runs {model.encoded} times for one batch.")
    in_training = any(mode for mode, _ in model.modes)
    check.true(not in_training, "The model, or a part of it, runs in train mode, with dropout.")
    check.true(not any(enabled for _, enabled in model.modes), "The model runs with gradients enabled.")
    right = isinstance(tokens, Tensor) and tokens.dim() == 2 and len(tokens) == len(words)
    said = right and bool((tokens == words).any(dim=1).all())
    verdict = "The tokens that come back are not those that the model says, or are no tensor (batch, length)."
    check.true(said, verdict, "If the check of the tokens fails too, start there.")
    mode, restored = "train" if training else "eval", {part.training for part in model.modules()} == {training}
    check.true(restored, f"A model that was in {mode} mode is not, or not as a whole, in it afterwards.")


def small_transformer(
    vocab_size: int, seed: int, src: Tensor, d_model: int = 8, num_heads: int = 2, num_layers: int = 1
) -> Any:
    """A model for sources and targets of any ids below `vocab_size`, without dropout."""
    words = max(vocab_size, int(src.max()) + 1)
    model = parts.Transformer(
        words, vocab_size, d_model=d_model, num_heads=num_heads, num_layers=num_layers, d_ff=6, dropout=0.0, max_len=40
    )
    return data.randomized(model, seed=seed).eval()


def sources(script: Tensor, src_len: int, pad_id: int, seed: int) -> Tensor:
    """Sources (batch, src_len) for the rows of a script, in any order, with padding at the end of some."""
    generator = torch.Generator().manual_seed(seed)
    first = 3 + torch.randperm(len(script), generator=generator)
    src = torch.randint(3, 9, (len(script), src_len), generator=generator)
    ends = torch.randint(1, src_len + 1, (len(script), 1), generator=generator)
    src = src.masked_fill(torch.arange(src_len) >= ends, pad_id)
    return torch.cat([first[:, None], src[:, 1:]], dim=1)
