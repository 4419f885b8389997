"""Small inputs made from a seed; nothing is downloaded and the global random state stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

PAD, BOS, EOS = 0, 1, 2
FIRST_WORD = 3


def normal(*shapes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor | tuple[Tensor, ...]:
    """Standard normal tensors, one for each shape; a single tensor for a single shape.

    The same seed gives the same numbers whatever the global random state, the dtype's precision aside.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors = tuple(torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes)
    return tensors if len(tensors) != 1 else tensors[0]


def tokens(lengths: Sequence[int], *, vocab_size: int = 11, pad_id: int = PAD, seed: int = 0) -> Tensor:
    """A padded batch of token ids, (batch, longest), row i holding `lengths[i]` words and then `pad_id`.

    Words are drawn from `FIRST_WORD` up to `vocab_size` − 1, so that no word is PAD, BOS or EOS; `pad_id` itself is
    never drawn either.
    """
    generator = torch.Generator().manual_seed(seed)
    words = torch.tensor([word for word in range(FIRST_WORD, vocab_size) if word != pad_id])
    drawn = words[torch.randint(len(words), (len(lengths), max(lengths)), generator=generator)]
    real = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)  # (batch, longest)
    return torch.where(real, drawn, pad_id)


def randomized(module: nn.Module, *, seed: int = 0) -> nn.Module:
    """Draw every trainable parameter of `module` anew, in place, and return it.

    Matrices keep the size of their products, and no two biases or norms are alike, so that using one in the place of
    another shows.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in (each for each in module.parameters() if each.requires_grad):
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            scaled = drawn / parameter.size(-1) ** 0.5 if parameter.dim() > 1 else 0.5 * drawn + 1
            parameter.copy_(scaled.to(parameter))
    return module
