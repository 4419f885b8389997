"""Exercise `TokenEmbedding`: its cases and its slips."""

import math

import torch
from torch import Tensor, nn

from autograder import check, data
from autograder.exercises.lesson_3.shared import Layer, ids, lengthened, rows_learn
from autograder.exercises.shared import device, sizes, tensors


def cases(answer: Layer, *, seed: int = 0) -> None:
    """Each token's row times √d_model, in either mode, for any sizes, after the table has changed, in its dtype."""
    for index, size in enumerate(sizes(seed, 4, vocab_size=(2, 40), d_model=(1, 200), batch=(1, 5), seq_len=(1, 9))):
        vocab_size, d_model, *shape = size.values()
        call, embed = f"TokenEmbedding({vocab_size}, {d_model})", answer(vocab_size, d_model).train(index % 3 > 0)
        check.parameters(call, embed, {"embedding.weight": (vocab_size, d_model)})
        check.separate(call, embed, answer(vocab_size, d_model))
        answer(vocab_size + 3, d_model + 5)
        for step, dtype in enumerate((torch.float32, torch.float32, torch.float64)):
            tokens = ids(vocab_size, *shape, seed=31 * seed + index + step)
            tokens.view(-1)[0] = 0
            data.randomized(embed.to(dtype), seed=index + step)
            table = lengthened(embed.embedding.weight, step)
            expected = table[tokens] * d_model**0.5
            mode = "train" if embed.training else "eval"
            with check.case(vocab_size=vocab_size, d_model=d_model, tokens=tokens, mode=mode):
                with check.unchanged(tokens=tokens, **{"embedding.weight": table}):
                    output, again = embed(tokens), embed(tokens)
                verdict = f"In {mode} mode, two calls of `embed(tokens)` differ: something drops or draws."
                check.true(output.shape != again.shape or torch.equal(output, again), verdict)
                check.shape("embed(tokens)", output, batch=shape[0], seq_len=shape[1], d_model=d_model)
                check.dtype("embed(tokens)", output, dtype)
                check.close("embed(tokens)", output, expected)
                real = tokens.clamp(min=1)  # whether padding learns is free
                right = table[real] * d_model**0.5
                rows_learn("embed(tokens)", real, embed(real), right, **{"embedding.weight": table})
    _follows_its_table(answer, seed)
    device(seed, "embed(tokens)", answer(7, 6), torch.tensor([[0, 6, 2]]))


def _follows_its_table(answer: Layer, seed: int) -> None:
    """The same tokens get the rows of another table, also where it is another parameter, as a shared one is."""
    embed, tokens, tables = answer(7, 6), ids(7, 2, 5, seed=seed), tensors((7, 6), (7, 6), (7, 6), seed=seed)
    before, written, put = (table[tokens] * 6**0.5 for table in tables)
    with torch.no_grad():
        embed.embedding.weight.copy_(tables[0])
        embed(tokens)
        embed.embedding.weight.copy_(tables[1])
    told = {"the rows are those of an earlier call, from before the table changed": before}
    check.close("`embed(tokens)` with other numbers in the table", embed(tokens), written, mistakes=told)
    embed.embedding.weight = nn.Parameter(tables[2])
    told = {"the rows are those of the parameter that another has replaced, as lesson 5 does to share a table": written}
    name = "`embed(tokens)` with another parameter as `embedding.weight`"
    check.close(name, embed(tokens), put, mistakes=told)


def slips(lookup: Tensor, vocab_size: int) -> dict[str, Tensor]:
    """Embeddings for the rows that the table gives, `lookup` (batch, seq_len, d_model)."""
    d_model = lookup.size(-1)
    whole = math.isqrt(d_model)
    return {
        "the rows are taken as they are, not multiplied by √d_model": lookup,
        "the rows are multiplied by d_model / 2, which `d_model ** 1 / 2` is (parentheses)": lookup * d_model / 2,
        "√d_model is added to the rows instead of multiplied by": lookup + math.sqrt(d_model),
        "the rows are divided by √d_model instead of multiplied": lookup / math.sqrt(d_model),
        "the rows are multiplied by d_model instead of √d_model": lookup * d_model,
        f"the rows are multiplied by {whole}, which is √d_model rounded down": lookup * whole,
        "the rows are multiplied by √vocab_size instead of √d_model": lookup * math.sqrt(vocab_size),
        "the rows are multiplied by √seq_len instead of √d_model": lookup * math.sqrt(lookup.size(1)),
    }
