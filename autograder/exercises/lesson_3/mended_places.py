"""Exercise `mended_places`: its cases and its slips."""

import math
from collections.abc import Callable

from torch import Tensor

from autograder import check
from autograder.exercises.lesson_3 import PositionalEncoding, TokenEmbedding
from autograder.exercises.lesson_3.shared import ids
from autograder.exercises.shared import device, each_smallest, tensors


def cases(answer: Callable[[Tensor, Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """Tokens, embeddings and tables of any sizes, also where two sizes are equal."""
    call = "mended_places(tokens, embedding, table)"
    ranges = {"batch": (1, 9), "seq_len": (1, 9), "d_model": (1, 40), "spare": (0, 12), "vocab_size": (2, 30)}
    for index, size in enumerate(each_smallest(seed, 5, **ranges)):
        batch, seq_len, d_model, spare, vocab_size = size.values()
        embedding, table = tensors((vocab_size, d_model), (seq_len + spare, 1, d_model), seed=31 * seed + index)
        tokens = ids(vocab_size, batch, seq_len, seed=31 * seed + index)
        expected = embedding[tokens] * d_model**0.5 + table[:seq_len, 0]
        inputs = {"tokens": tokens, "embedding": embedding, "table": table}
        with check.case(**inputs), check.unchanged(**inputs):
            check.close(call, answer(tokens, embedding, table), expected)
        embedding, table = embedding.requires_grad_(), table.requires_grad_()
        expected = embedding[tokens] * d_model**0.5 + table[:seq_len, 0]
        with check.case(**inputs):
            output = answer(tokens, embedding, table)
            check.gradients_agree(call, output / 4, expected / 4, embedding=embedding, table=table)
    device(seed, call, answer, tokens, embedding, table)


def slips(tokens: Tensor, embedding: Tensor, table: Tensor) -> dict[str, Tensor]:
    """Vectors for tokens (batch, seq_len), an embedding (vocab_size, d_model) and a table (max_len, 1, d_model)."""
    rows, encoding = embedding[tokens], table.squeeze(1)
    slips = PositionalEncoding.sum_slips(rows * math.sqrt(rows.size(-1)), encoding)
    del slips["the input is multiplied by √d_model once more"]  # said of the rows, below
    scaled = TokenEmbedding.slips(rows, len(embedding))
    return slips | {slip: words + encoding[: tokens.size(1)] for slip, words in scaled.items()}
