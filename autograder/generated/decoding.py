"""Lesson 7 over generated inputs: the next token, greedy decoding, exact match, the mended hunt."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.generated.inputs import DTYPES, PAD_IDS, device, sizes, some, tensors

Decode = Callable[..., Tensor]
ROOM = 9  # `max_len` where rows end by themselves
MODES = {True: "train mode", False: "eval mode"}
MAX_LENGTHS = (0, 1), (1, 1), (1, 3), (2, 2), (4, 3), (9, 3), (14, 4), (28, 2), (50, 1)  # with the number of rows
ALIKE = (  # rows that only look alike: as text, without padding before them, in few bits
    ([1, 12], [11, 2]),
    ([5, 10], [5, 1]),
    ([0, 5, 2], [5, 2, 0]),
    ([5, 261], [5, 5]),
    ([14, 1], [1, 2]),
    ([5, 1], [1, 2]),
    ([30000, 30011], [30001, 30011]),
)


def next_tokens(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """The most probable token behind what has been written, of any length, with padding in it, by any model."""
    ranges = {"batch": (1, 9), "length": (1, 20), "vocab_size": (4, 40), "src_len": (1, 6)}
    for index, size in enumerate(sizes(seed, 3, **ranges)):
        batch, length, vocab_size, src_len = size.values()
        generator = torch.Generator().manual_seed(31 * seed + index)
        script = torch.randint(vocab_size, (batch, length), generator=generator)
        tokens = torch.randint(min(vocab_size, 5), (batch, length), generator=generator)
        tokens[:, 0] = 1  # who has seen nothing but padding knows nothing
        src = _sources(script, src_len, 0, seed + index)
        padding = ", some of them padding" * bool((tokens == 0).any())
        name = f"`next_tokens(…)` after {length} token{'s' * (length > 1)}{padding}"
        for model in (parts.ScriptedModel(script, vocab_size).eval(), small_transformer(vocab_size, seed + index, src)):
            model.train(index % 2 == 1 and isinstance(model, parts.Transformer))
            training = model.training
            memory = model.encode(src)
            expected = model.decode(tokens, memory, src)[:, -1].argmax(dim=-1)
            with check.case(tokens=tokens, src=src, vocab_size=vocab_size), check.unchanged(tokens=tokens, src=src):
                result = answer(model, tokens, memory, src)
                check.equal(name, result, expected)
                check.dtype(name, result, torch.long)
                check.mode(name, model, training)
    device(seed, "next_tokens(model, tokens, memory, src)", answer, model, tokens, memory, src)


def greedy_tokens(answer: Decode, *, seed: int = 0) -> None:
    """Rows end with an EOS of their own, for which there is room, whatever the special tokens, model and device."""
    for script, src, special in _ending_scripts(seed):
        models = [_scripted(script, special.get("bos_id", 1)) for _ in range(2)]
        expected = parts.greedy_decode(models[0], src, ROOM, **special)
        with check.case(said=script, src=src), check.unchanged(src=src):
            _require_written(answer(models[1], src, ROOM, **special), expected, special)
    model, src, special = _ending_model(seed)
    expected = parts.greedy_decode(model, src, ROOM, **special)
    with check.case(src=src):
        _require_written(answer(model, src, ROOM, **special), expected, special)
    if _comes_to_an_end(answer):
        device(seed, "greedy_decode(model, src, max_len=3)", answer, model, src, 3)


def _comes_to_an_end(answer: Decode) -> bool:
    """The loop ends where no row does: if not, that is told where lengths are checked."""
    script = torch.tensor([[5, 6]])
    try:
        answer(_scripted(script), torch.tensor([[3, 4]]), 3)
    except RuntimeError:
        return False
    return True


def _require_written(tokens: Tensor, expected: Tensor, special: dict[str, int]) -> None:
    """Tokens (batch, length) are those expected; columns of padding behind them do no harm."""
    name = f"greedy_decode({', '.join(['model, src, max_len=9', *(f'{key}={id}' for key, id in special.items())])})"
    check.dtype(name, tokens, torch.long)
    check.true(tokens.dim() == 2, "The tokens do not have two dimensions, (batch, length).")
    width, pad_id = expected.size(1), special.get("pad_id", 0)
    if tokens.size(1) > width and len(tokens) == len(expected):
        check.equal(f"{name}[:, :{width}]", tokens[:, :width], expected)
        padded = bool((tokens[:, width:] == pad_id).all())
        check.true(padded, f"After the ends there is something other than pad_id={pad_id}.")
        return
    check.equal(name, tokens, expected)


def words_written(name: str, tokens: Tensor) -> Tensor:
    """The columns (batch, words) of tokens (batch, length) in which there is more than BOS and padding."""
    (tokens,) = check.returns(name, [tokens], name)
    tokens = tokens if tokens.dim() > 1 else tokens.reshape(1, -1)
    return tokens[:, (tokens > 1).any(dim=0)] if tokens.dim() == 2 else tokens


def greedy_length(answer: Decode, *, seed: int = 0) -> None:
    """Without an EOS, `max_len` tokens follow BOS, none at all where it is 0, however long the sources are."""
    for index, (most, batch) in some(seed, enumerate(MAX_LENGTHS)):
        max_len = most - min(seed % 5, most // 3)
        generator = torch.Generator().manual_seed(31 * seed + index)
        script = 3 + torch.randint(6, (batch, max(max_len, 1)), generator=generator)
        src = _sources(script, (8, 1, 3)[index % 3], 0, seed)
        name = f"greedy_decode(model, src, max_len={max_len})"
        with check.case(src=src):
            tokens = answer(_scripted(script), src, max_len)
            words = words_written(name, tokens)
            check.true(not (tokens == 2).any(), f"The model never says EOS, and `{name}` holds one.")
            check.shape(f"the words in `{name}`", words, batch=batch, words=max_len)


def greedy_mode(answer: Decode, *, seed: int = 0) -> None:
    """Afterwards a model is as it was, in either mode, whether rows end by themselves, at `max_len` or at once."""
    script = torch.tensor([[5, 6, 2, 0, 0], [7, 8, 4, 5, 2]]).roll(seed % 2, 0)
    src = torch.tensor([[3, 8, 5], [4, 7, 6]])
    for training, max_len in some(seed, itertools.product((True, False), (7, 2, 3, 5))):
        model = parts.ScriptedModel(script, vocab_size=9, begin=1).train(training)
        model.scale.requires_grad_(max_len > 2)
        with check.case(max_len=max_len):
            tokens = answer(model, src, max_len)
            _require_decoded_once(model)
            require_words(tokens, script[:, :1])
            restored = {part.training for part in model.modules()} == {training}
            check.true(restored, f"A model that was in {MODES[training]} is not, or not as a whole, in it afterwards.")
            carries = isinstance(tokens, Tensor) and tokens.requires_grad
            check.true(not carries, "The tokens that come back carry gradients.")
            trained = {True: "frozen", False: "no longer frozen"}[max_len > 2]
            check.true(model.scale.requires_grad == (max_len > 2), f"Afterwards the model's parameters are {trained}.")
            check.true(model.dropout.p == 0.5, "Afterwards the model's dropout has a different rate.")
            with torch.no_grad():
                answer(model, src, max_len)
                check.true(not torch.is_grad_enabled(), "Gradients are switched on for the caller.")
            check.true(model.encoded == 2, f"In two calls the encoder runs {model.encoded} times.")


def require_words(tokens: Any, words: Tensor) -> None:
    """Tokens (batch, length) are what the model said, as far as `words` (batch, 1), their first ones, show."""
    right = isinstance(tokens, Tensor) and tokens.dim() == 2 and len(tokens) == len(words)
    said = right and bool((tokens == words).any(dim=1).all())
    check.true(said, "What comes back is not what the model says.", "The check of the tokens says more: start there.")


def _require_decoded_once(model: parts.ScriptedModel) -> None:
    """The encoder ran once, and nothing ran in train mode or with gradients."""
    check.true(model.encoded == 1, f"The encoder runs {model.encoded} times for one batch.")
    in_training = any(training for training, _ in model.modes)
    check.true(not in_training, "The model, or a part of it, runs in train mode, with dropout.")
    check.true(not any(enabled for _, enabled in model.modes), "The model runs with gradients enabled.")


def exact_match(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The fraction of equal rows, for any widths and pad id, whichever of the two is the prediction."""
    for one, other, pad_id in _pairs(seed):
        for predicted, expected in ((one, other), (other, one), (one, one)):
            fraction = torch.tensor(parts.exact_match(predicted, expected, pad_id))
            given = {"predicted": predicted, "expected": expected}
            name = (
                f"exact_match(predicted, expected, pad_id={pad_id})" if pad_id else "exact_match(predicted, expected)"
            )
            with check.case(**given), check.unchanged(**given):
                result = answer(predicted, expected, pad_id=pad_id) if pad_id else answer(predicted, expected)
                with_zeros = torch.tensor(parts.exact_match(predicted, expected, 0))
                slips = {"`pad_id` is taken to be 0": with_zeros} if with_zeros != fraction else {}
                check.close(name, check.number(name, result), fraction, mistakes=slips)


def mended_next(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
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
            check.equal("mended_next(model, run, tokens)", result, chosen)
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


def _scripted(script: Tensor, begin: int | None = None) -> parts.ScriptedModel:
    """A model that says the script in either mode."""
    model = parts.ScriptedModel(script, vocab_size=9, begin=begin).eval()
    model.dropout.p = 0.0
    return model


def small_transformer(
    vocab_size: int, seed: int, src: Tensor, d_model: int = 8, num_heads: int = 2, num_layers: int = 1
) -> Any:
    """A model for sources and targets of any ids below `vocab_size`, without dropout."""
    words = max(vocab_size, int(src.max()) + 1)
    model = parts.Transformer(
        words, vocab_size, d_model=d_model, num_heads=num_heads, num_layers=num_layers, d_ff=6, dropout=0.0, max_len=40
    )
    return data.randomized(model, seed=seed).eval()


def _sources(script: Tensor, src_len: int, pad_id: int, seed: int) -> Tensor:
    """Sources (batch, src_len) for the rows of a script, in any order, with padding at the end of some."""
    generator = torch.Generator().manual_seed(seed)
    first = 3 + torch.randperm(len(script), generator=generator)
    src = torch.randint(3, 9, (len(script), src_len), generator=generator)
    ends = torch.randint(1, src_len + 1, (len(script), 1), generator=generator)
    src = src.masked_fill(torch.arange(src_len) >= ends, pad_id)
    return torch.cat([first[:, None], src[:, 1:]], dim=1)


def _ending_scripts(seed: int) -> Iterator[tuple[Tensor, Tensor, dict[str, int]]]:
    """Scripts (batch, steps) of any ids below 9, in which every row has an EOS, with sources and special tokens."""
    generator = random.Random(seed)
    for index, size in enumerate(sizes(seed, 8, batch=(1, 4), steps=(1, 7))):
        batch, steps = size.values()
        bos_id, eos_id, pad_id = generator.sample(range(9), 3) if index % 3 else (1, 2, 0)
        pad_id = eos_id if index % 6 == 5 else pad_id
        words = [word for word in range(9) if word != eos_id]
        rows = [[generator.choice(words) for _ in range(steps)] for _ in range(batch)]
        for row in rows:
            row[generator.randrange(steps)] = eos_id
        script = torch.tensor(rows)
        special = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id} if index % 3 else {}
        yield script, _sources(script, 4 + index % 4, pad_id, seed + index), special


def _ending_model(seed: int) -> tuple[parts.Transformer, Tensor, dict[str, int]]:
    """A model, sources of several lengths that matter to it as a whole, and an EOS that every row writes in time."""
    for attempt in itertools.count(seed + 4):  # ends at once for the seeds that the notebook uses
        src = data.tokens([2, 6, 5], vocab_size=9, seed=attempt)
        model = small_transformer(9, attempt, src)
        rows = parts.greedy_decode(model, src, ROOM - 1, eos_id=-1)[:, 2:].tolist()
        for eos_id in set.intersection(*map(set, rows)) - {0, 1}:
            written, of_less = (parts.greedy_decode(model, x, ROOM, eos_id=eos_id) for x in (src, src[:, :2]))
            if not torch.equal(written, of_less):
                return model, src, {"eos_id": eos_id}
    raise AssertionError("Some model ends.")


def _pairs(seed: int) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Two tables of rows (batch, …) that are equal, or nearly so, and their pad id, the smallest first."""
    generator = random.Random(seed)
    yield torch.tensor([[1, 5, 2, 9], [1, 2, 9, 9], [1, 4, 4, 2]]), torch.tensor([[1, 5, 2], [1, 2, 0], [1, 4, 4]]), 9
    for one, other in some(seed, ALIKE):
        yield torch.tensor([one]), torch.tensor([other]), 0
    for index, size in enumerate(sizes(seed, 8, batch=(1, 7), width=(1, 7))):
        batch, width = size.values()
        pad_id = PAD_IDS[(index + seed) % len(PAD_IDS)] if index % 2 else 0
        words = [word for word in (1, 2, 3, 5, 12, pad_id + 1, pad_id + 256) if word != pad_id]
        base = [[generator.choice(words) for _ in range(generator.randint(1, width))] for _ in range(3)]
        rows = [generator.choice(base) for _ in range(batch)]
        others = [_changed(generator, row, pad_id) for row in rows]
        yield _table(rows, pad_id, index % 3), _table(others, pad_id, (index + 1) % 3), pad_id


def _changed(generator: random.Random, row: list[int], pad_id: int) -> list[int]:
    """A row, as it is half of the time."""
    changed = [*row, row[0]], row[:-1], row[::-1], [pad_id, *row], [row[0] + 256, *row[1:]], [*row[:-1], row[-1] + 1]
    return row if generator.random() < 0.5 else generator.choice(changed)


def _table(rows: list[list[int]], pad_id: int, extra: int) -> Tensor:
    """Rows as (batch, …), with columns of padding at the end."""
    width = max(1, *map(len, rows)) + extra if len(rows) > 1 else max(1, len(rows[0])) + extra
    return torch.tensor([row + [pad_id] * (width - len(row)) for row in rows])
