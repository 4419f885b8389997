"""Exercise `GPT`: its cases and its slips."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_9.GPTBlock import parameters as of_block
from autograder.exercises.lesson_9.shared import Module, made, output_and_cache
from autograder.exercises.shared import device, possible, sizes, some
from autograder.parts.gpt import twin

CACHED = "model(tokens, cache)"


def parameters(vocab_size: int, d_model: int, num_layers: int, *of_blocks: int) -> dict[str, tuple[int, ...]]:
    """Name → shape of the parameters; the output layer has none of its own."""
    expected: dict[str, tuple[int, ...]] = {"embedding.weight": (vocab_size, d_model), "norm.weight": (d_model,)}
    for place in range(num_layers):
        expected |= {f"layers.{place}.{name}": shape for name, shape in of_block(d_model, *of_blocks).items()}
    return expected


def cases(answer: Module, *, seed: int = 0) -> None:
    """Logits and gradients of models of any size, which see no future."""
    for model, oracle, tokens in _made(answer, seed, 3):
        expected = oracle(tokens)
        with check.case(tokens=tokens):
            for mode in ("train", "eval"):
                with check.unchanged(tokens=tokens):
                    logits = getattr(model, mode)()(tokens)
                check.close("model(tokens)", logits, expected.detach(), rtol=1e-3, atol=1e-3)
            other = torch.cat([tokens[:, :-1], (tokens[:, -1:] + 1) % model.embedding.weight.size(0)], dim=1)
            when, slip = "the last token changes", "A position may see itself and what came before it."
            before = model(other)[:, :-1]
            check.stays(
                "what the model says before the last token", before, logits[:, :-1].detach(), when=when, slip=slip
            )
        embedding, theirs = model.embedding.weight, oracle.embedding.weight
        check.gradients_reach(dict(model.named_parameters()), logits)
        gradients = [
            torch.autograd.grad(y.pow(2).mean(), weight, retain_graph=True)[0]
            for y, weight in ((logits, embedding), (expected, theirs))
        ]
        name = "the gradient of `model(tokens)` in `embedding.weight`"
        check.close(name, *gradients, rtol=1e-2, atol=1e-3)
    device(seed, "model(tokens)", model, tokens)
    new, name = answer(9, 8, 2, 4, 2, 6), "GPT(9, 8, 2, 4, 2, 6)"
    check.separate(name, new, answer(9, 8, 2, 4, 2, 6))
    table, verdict = new.embedding.weight, f"In a new `{name}`, all numbers of `embedding.weight` are the same."
    check.true(table.min() < table.max(), verdict, "Leave the first numbers to the layer itself.")


def cache_cases(answer: Module, *, seed: int = 0) -> None:
    """In pieces of any lengths the logits are those of the whole, and a cache can be used twice."""
    for model, oracle, tokens in _made(answer, seed, 2):
        expected, num_layers = oracle(tokens).detach(), len(oracle.layers)
        for lengths in some(seed, ([1] * tokens.size(1), [2, 1, 9], [1, 9])):
            cache: Any = []
            start = 0
            for length in lengths:
                piece, before = tokens[:, start : start + length], cache
                if not piece.size(1):
                    break
                with check.case(tokens=tokens, pieces=lengths):
                    logits, cache = step(model, piece, cache, num_layers)
                    name = f"the logits after {start} tokens"
                    check.close(name, logits, expected[:, start : start + length], rtol=1e-3, atol=1e-3)
                    again, _ = step(model, piece, before, num_layers)
                    check.close(
                        f"{name}, asked again", again, expected[:, start : start + length], rtol=1e-3, atol=1e-3
                    )
                start += piece.size(1)


def step(model: Any, tokens: Tensor, cache: Any, num_layers: int) -> tuple[Tensor, Any]:
    """Logits and cache of a piece of text; the cache has something for each layer."""
    logits, kept = output_and_cache(CACHED, model(tokens, cache))
    is_listed = isinstance(kept, list | tuple) and len(kept) == num_layers
    check.true(is_listed, f"The cache of `{CACHED}` should be a list with one entry for each of {num_layers} layers.")
    (logits,) = check.returns(CACHED, [logits], "the logits")
    return logits, kept


def _made(answer: Module, seed: int, count: int) -> Any:
    """Models of many sizes, each with an oracle and tokens (batch, seq_len)."""
    ranges = {"batch": (1, 3), "seq_len": (2, 6), "num_layers": (1, 3), "num_kv_heads": (1, 2), "groups": (1, 2)}
    for index, size in enumerate(sizes(seed, count, **ranges, pairs=(1, 3), vocab_size=(2, 30))):
        batch, seq_len, num_layers, num_kv_heads, groups, pairs, vocab_size = size.values()
        num_heads = groups * num_kv_heads
        given = vocab_size, num_heads * 2 * pairs, num_layers, num_heads, num_kv_heads, 5
        model = made("GPT", answer, *given, parameters=parameters(*given))
        data.randomized(model, seed=seed + index)
        generator = torch.Generator().manual_seed(31 * seed + index)
        tokens = torch.randint(vocab_size, (batch, seq_len), generator=generator)
        tokens[:, 1] = (tokens[:, 0] + 1) % vocab_size  # among equal tokens it does not matter which is attended to
        yield model, twin(parts.GPT, model, *given), tokens


@torch.no_grad()
def slips(model: Any, tokens: Tensor) -> dict[str, Tensor]:
    """Logits for tokens (batch, seq_len) of wrong wirings of the learner's own parts."""
    weight, blocks = model.embedding.weight.detach(), list(model.layers)
    embedded, width = weight[tokens], weight.size(1)

    def run(x: Tensor, through: Sequence[Any] = blocks) -> Tensor:
        for block in through:
            x, _ = block(x)
        return x

    def chained(x: Tensor, kept: Any = None) -> Tensor:
        for block in blocks:
            x, kept = block(x, kept)
        return x

    def said(x: Tensor, through: Sequence[Any] = blocks) -> Tensor:
        logits: Tensor = model.norm(run(x, through)) @ weight.mT
        return logits

    waves, x, right = parts.sinusoidal_encoding(tokens.size(1), width), run(embedded), said(embedded)
    slips = {
        "the last norm is left out": x @ weight.mT,
        "the embedding is multiplied by √d_model, as in the paper": said(embedded * width**0.5),
        "waves are added for the positions, which the attention has already": said(embedded + waves),
        "only the first block is used": said(embedded, blocks[:1]),
        "only the last block is used, or every block reads the embedding": said(embedded, blocks[-1:]),
        "the first block is used in the place of all": said(embedded, blocks[:1] * len(blocks)),
        "the blocks run in reverse order": said(embedded, blocks[::-1]),
        "what the blocks return is not used": said(embedded, []),
        "every block is handed the cache of the block before it": said(chained(embedded), []),
        "the norm comes before the blocks": run(model.norm(embedded)) @ weight.mT,
        "there is a norm before the blocks as well": said(model.norm(embedded)),
        "the logits are turned into probabilities: the loss does that": right.softmax(-1),
        "the logits are turned into logarithms of probabilities: the loss does that": right.log_softmax(-1),
        "the norm's output is returned, not yet compared with the embedding": model.norm(x),
        "the logits are divided by √d_model": right / width**0.5,
    }
    return possible(slips, right)


@torch.no_grad()
def cache_slips(model: Any, tokens: Tensor, cut: int) -> dict[str, Tensor]:
    """Logits of the second piece of tokens (batch, seq_len), where what the first has left is misused."""
    second, (_, kept) = tokens[:, cut:], model(tokens[:, :cut], [])
    slips = {
        "the blocks get no cache: it is not handed to them, or what they return is not kept": model(second),
        "every block gets the cache of the first": model(second, [kept[0]] * len(kept))[0],
        "every block gets the cache of the last": model(second, [kept[-1]] * len(kept))[0],
        "the caches are handed over in reverse order": model(second, kept[::-1])[0],
    }
    return possible(slips, model(tokens)[:, cut:])
