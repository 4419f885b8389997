"""Exercise `mended_next`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_7.shared import small_transformer
from autograder.exercises.shared import DTYPES, possible, sizes, tensors
from autograder.parts import sinusoidal_encoding


def cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """The newest token goes through the layers alone, at its own place, for any length and dtype."""
    ranges = {"batch": (1, 4), "length": (1, 30), "half": (1, 5), "vocab_size": (4, 20)}
    for index, size in enumerate(sizes(seed, 4, **ranges)):
        batch, length, half, vocab_size = size.values()
        tokens = torch.randint(vocab_size, (batch, length), generator=torch.Generator().manual_seed(31 * seed + index))
        model = small_transformer(vocab_size, seed + index, tokens, d_model=2 * half, num_heads=1).to(DTYPES[index % 2])
        model.train(index % 2 == 1)
        (after,) = tensors((batch, 1, 2 * half), seed=seed + index, dtype=DTYPES[index % 2])
        placed = model.positional_encoding(model.tgt_embedding(tokens))[:, -1:]
        chosen = model.output_projection(after)[:, -1].argmax(dim=-1)
        given: list[Tensor] = []

        def run(x: Tensor, after: Tensor = after, given: list[Tensor] = given) -> Tensor:
            given.append(x)
            return after

        with check.case(tokens=tokens), check.unchanged(tokens=tokens):
            result = answer(model, run, tokens)
            check.true(len(given) == 1, f"`run` is called {len(given)} times for one token.")
            name = f"what `run(…)` gets after {length} token{'s' * (length > 1)}"
            check.dtype(name, given[0], after.dtype)
            check.close(name, given[0], placed)
            others = {
                "what `run` returns is not used": placed,
                "what `run` gets is added to what it returns": placed + after,
            }
            told = {slip: model.output_projection(x)[:, -1].argmax(dim=-1) for slip, x in others.items()}
            check.equal("mended_next(model, run, tokens)", result, chosen, mistakes=possible(told, chosen))
            check.dtype("mended_next(model, run, tokens)", result, torch.long)
            check.mode("mended_next(model, run, tokens)", model, index % 2 == 1)
    src, tokens = (data.tokens(lengths, vocab_size=9, seed=seed) for lengths in ([5, 3, 4], [24] * 3))
    model = small_transformer(9, 81 + seed, src, num_layers=2)
    expected = model.decode(tokens, model.encode(src), src).argmax(dim=-1)
    decoder = parts.CachedDecoder(model, src)
    for t in range(24):
        following = answer(model, decoder.run, tokens[:, : t + 1])
        check.equal(
            f"`mended_next(…)` after {t + 1} token{'s' * (t > 0)}, with a real decoder", following, expected[:, t]
        )


def slips(embedded: Tensor) -> dict[str, Tensor]:
    """Where the last of the embedded tokens (batch, length, d_model) may be put, as (batch, 1, d_model)."""
    length, newest = embedded.size(1), embedded[:, -1:]
    encoding = sinusoidal_encoding(length + 2, embedded.size(2)).to(embedded)
    slips = {
        "the newest token is placed at position 0, whatever came before": newest + encoding[0],
        "the newest token is placed one position too far": newest + encoding[length],
        "the newest token is placed one position too early": newest + encoding[max(length - 2, 0)],
        "the newest token is not placed at all": newest,
        "it is the first token, not the newest": embedded[:, :1] + encoding[0],
        "the embedding of the newest token is in it twice": 2 * newest + encoding[length - 1],
        "the number of its position is added to every column": newest + encoding[0] + (length - 1),
        "the newest token is placed as if two had been written at most": newest + encoding[min(length - 1, 1)],
        "the embedding is multiplied by √d_model once more; it does that itself": (
            newest * embedded.size(2) ** 0.5 + encoding[length - 1]
        ),
        "only its position goes in, not the newest token": encoding[length - 1].expand_as(newest),
        "all tokens are added up": (embedded + encoding[:length]).sum(1, keepdim=True),
        "all tokens are averaged": (embedded + encoding[:length]).mean(1, keepdim=True),
        "the newest token is placed twice": newest + encoding[0] + encoding[length - 1],
    }
    return possible(slips, newest + encoding[length - 1])
