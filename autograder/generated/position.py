"""Lesson 3 over generated inputs: token embedding, angles, the table of waves, positions that are added, shifts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.generated.heads import each_smallest
from autograder.generated.inputs import device, few, rested, sizes, some, tensors

Layer = Callable[..., Any]  # makes a module whose parts have names of the exercise
TOO_LONG = (ValueError, AssertionError)  # an `assert` refuses as well


def token_embedding(answer: Layer, *, seed: int = 0) -> None:
    """Each token's row times √d_model, in either mode, for any sizes, after the table has changed, in its dtype."""
    for index, size in enumerate(sizes(seed, 4, vocab_size=(2, 40), d_model=(1, 200), batch=(1, 5), seq_len=(1, 9))):
        vocab_size, d_model, *shape = size.values()
        call, embed = f"TokenEmbedding({vocab_size}, {d_model})", answer(vocab_size, d_model).train(index % 3 > 0)
        check.parameters(call, embed, {"embedding.weight": (vocab_size, d_model)})
        check.separate(call, embed, answer(vocab_size, d_model))
        answer(vocab_size + 3, d_model + 5)
        for step, dtype in enumerate((torch.float32, torch.float32, torch.float64)):
            tokens = _ids(vocab_size, *shape, seed=31 * seed + index + step)
            tokens.view(-1)[0] = 0
            data.randomized(embed.to(dtype), seed=index + step)
            table = _lengthened(embed.embedding.weight, step)
            expected = table[tokens] * d_model**0.5
            described = {"vocab_size": vocab_size, "d_model": d_model, "tokens": tokens, "mode": _mode(embed)}
            with check.case(**described):
                with check.unchanged(tokens=tokens, **{"embedding.weight": table}):
                    output = embed(tokens)
                check.shape("embed(tokens)", output, batch=shape[0], seq_len=shape[1], d_model=d_model)
                check.dtype("embed(tokens)", output, dtype)
                check.close("embed(tokens)", output, expected)
                real = tokens.clamp(min=1)  # whether padding learns is free
                right = table[real] * d_model**0.5
                _rows_learn("embed(tokens)", real, embed(real), right, **{"embedding.weight": table})
    device(seed, "embed(tokens)", answer(7, 6), torch.tensor([[0, 6, 2]]))


def encoding_angle(answer: Callable[[int, int, int], float], *, seed: int = 0) -> None:
    """Angles for positions near and far, every kind of column, and widths from 2 to 512."""
    generator = random.Random(seed)
    drawn = []
    for furthest, widest in ((3, 3), (9, 8), (30, 16), (300, 64), (2000, 256)):
        d_model = 2 * generator.randint(2, widest)
        drawn += [(generator.randint(1, furthest), column, d_model) for column in generator.sample(range(d_model), 3)]
    fixed = (0, 0, 2), (1, 1, 2), (0, 3, 6), (7, 2, 4), (7, 3, 4), (2, 7, 8), (12, 9, 16)
    for position, column, d_model in some(seed, (*fixed, *drawn, (1000, 1, 8), (1000, 15, 16), (5, 511, 512))):
        call = f"encoding_angle({position}, {column}, {d_model})"
        expected = torch.tensor(parts.encoding_angle(position, column, d_model))
        angle = check.number(call, answer(position, column, d_model))
        check.close(call, angle, expected, rtol=8e-6, atol=1e-7)


def sinusoidal_encoding(answer: Callable[[int, int], Tensor], *, seed: int = 0) -> None:
    """Tables of any size, each its own, made without a thought to training."""
    drawn = [(size["max_len"], 2 * size["pairs"]) for size in sizes(seed, 4, max_len=(1, 40), pairs=(1, 16))]
    for max_len, d_model in (drawn[0], (3, 2), *drawn[1:]):
        call, expected = f"sinusoidal_encoding({max_len}, {d_model})", parts.sinusoidal_encoding(max_len, d_model)
        wider = parts.sinusoidal_encoding(max_len, d_model + 2)
        first = answer(max_len, d_model)
        check.shape(call, first, max_len=max_len, d_model=d_model)
        check.close(call, first, expected, atol=2e-5)
        check.true(not first.requires_grad, f"`{call}` asks for gradients.")
        check.close(f"sinusoidal_encoding({max_len}, {d_model + 2})", answer(max_len, d_model + 2), wider, atol=2e-5)
        answer(max_len, d_model)
        check.close(f"`{call}` kept while others are made", first, expected, atol=2e-5)
        _made_anew(call, partial(answer, max_len, d_model), expected)
    # Whole tables are made up to here and beyond; rounding the angle in float32 costs up to 1e-4.
    for max_len, d_model in some(seed, ((1000, 32), (2100 + 7 * few(seed), 4))):
        call, expected = f"sinusoidal_encoding({max_len}, {d_model})", parts.sinusoidal_encoding(max_len, d_model)
        check.close(call, answer(max_len, d_model), expected, atol=2e-3)


def positional_encoding(answer: Layer, *, seed: int = 0) -> None:
    """In eval mode, x with the first rows of the sinusoidal encoding, for any x."""
    for layer, lengths, described, x_of in _layers(answer, seed):
        encoding = parts.sinusoidal_encoding(described["max_len"], described["d_model"])
        for seq_len in lengths:
            x = x_of(seq_len)
            expected = x + encoding[:seq_len]
            with check.case(**described, x=x), check.unchanged(x=x):
                output = layer(x)
                _same_shape("layer(x)", output, x)
                check.dtype("layer(x)", output, torch.float32)
                check.close("layer(x)", output, expected)
    table = getattr(layer.double(), "encoding", None)
    if isinstance(table, Tensor):  # whether it is there is asked elsewhere
        _in_double(layer, x, table)


def learned_encoding(answer: Layer, *, seed: int = 0) -> None:
    """In eval mode, x with the first rows of the learned table, as they are now; what is used can learn."""
    for layer, lengths, described, x_of in _layers(answer, seed):
        call = "LearnedPositionalEncoding(d_model, max_len)"
        check.parameters(call, layer, {"position.weight": (described["max_len"], described["d_model"])})
        check.separate(call, answer(**described), answer(**described))
        for index, seq_len in enumerate(lengths):
            data.randomized(layer, seed=index)
            x, table = x_of(seq_len), _lengthened(layer.position.weight, index)
            expected = x + table[:seq_len]
            with check.case(**described, x=x):
                with check.unchanged(x=x, table=table):
                    output = layer(x)
                _same_shape("layer(x)", output, x)
                check.dtype("layer(x)", output, torch.float32)
                check.close("layer(x)", output, expected)
                _rows_learn("layer(x)", torch.arange(seq_len), output, expected, **{"position.weight": table})
    check.gradient_reaches("position.weight", layer.position.weight, layer.train()(x))
    _in_double(layer.eval().double(), x, layer.position.weight)
    device(seed, "layer(x)", answer(6, 8).eval(), torch.zeros(2, 7, 6))


def too_long(answer: Layer, *, seed: int = 0) -> None:
    """In either mode, a sequence longer than the table is refused with both lengths, and one that fits is not."""
    for max_len, excess in some(seed, ((1, 2), (4 + few(seed), 1), (13, 1), (13, 4), (20 + few(seed), 30))):
        layer, seq_len = answer(4, max_len), max_len + excess
        answer(4, max_len + 40), answer(4, 2)
        because = f"{seq_len} tokens are more than max_len = {max_len}"
        for training in (True, False):
            layer.train(training)
            for batch in (1, 2):
                fits, x = torch.zeros(2, max_len, 4), torch.zeros(batch, seq_len, 4)
                with check.case(max_len=max_len, x=fits):
                    layer(fits)
                with check.case(max_len=max_len, x=x):
                    mentions = seq_len, max_len
                    check.raises("layer(x)", TOO_LONG, partial(layer, x), because=because, mentions=mentions)
    check.defaults(_name(answer), answer, max_len=5000)
    answer(4)(torch.zeros(1, 5000, 4))


def dropout_of_the_sum(answer: Layer, *, seed: int = 0) -> None:
    """In training, each entry of the sum is dropped or scaled up by chance: at any rate, anew each time, on its own."""
    check.defaults(_name(answer), answer, dropout=0.1)
    for p in some(seed, (None, 0.25 + few(seed) / 1000, 0.4, 0.6)):
        layer, layer_p = answer(12, 40) if p is None else answer(12, 40, p), 0.1 if p is None else p
        (x,) = tensors((20, 30, 12), seed=seed + 6)
        with check.case(dropout=layer_p, x=x), check.unchanged(x=x):
            before, output = rested_and_trained(layer, x)
            check.dropout("layer(x)", output, before, p=layer_p)
            dropped = output.detach() == 0
            verdict = "In training, every position drops the same entries of `layer(x)`."
            check.true(not (dropped == dropped[:, :1]).all(), verdict)
            columns = dropped.float().mean(dim=(0, 1))
            check.true(
                not ((columns == 0) | (columns == 1)).all(), "In training, whole columns of `layer(x)` are dropped."
            )
            again = layer(x).detach() == 0
            check.true(not torch.equal(dropped, again), "In training, every call drops the same entries of `layer(x)`.")
            with torch.no_grad():
                slope = layer.eval()(x + 1) - layer(x)  # of its own values: whether they are right is asked elsewhere
            x.requires_grad_()
            for training in (True, False):
                output = layer.train(training)(x)
                check.gradient_reaches("x", x, output)
                (gradient,) = torch.autograd.grad(output.sum(), x)
                expected = slope * (output.detach() != 0) / (1.0 - layer_p * training)
                check.close("the gradient of `layer(x)` in `x`", gradient, expected)
    (x,) = tensors((2, 5, 12), seed=seed)
    before, output = rested_and_trained(answer(12, 40, 0.0), x)
    check.close("`layer(x)` at dropout=0.0", output, before)


def rested_and_trained(layer: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """What `layer` makes of x in eval mode, where nothing is dropped, and in train mode, in which it stays."""
    with torch.no_grad(), check.unchanged(x=x):
        before = rested("layer(x)", layer, x)
        _same_shape("layer.eval()(x)", before, x)
        output = layer.train()(x)
        _same_shape("layer.train()(x)", output, x)
    return before, output


def encoding_buffer(answer: Layer, *, seed: int = 0) -> None:
    """`encoding` is a buffer of max_len rows that goes where the layer goes, and what it holds is what is added."""
    for index, size in enumerate(sizes(seed, 3, max_len=(2, 20), pairs=(1, 8))):
        max_len, d_model = size["max_len"], 2 * size["pairs"]
        layer = answer(d_model, max_len).eval()
        (x,) = tensors((1, max_len, d_model), seed=index)
        with check.case(d_model=d_model, max_len=max_len):
            check.buffer("layer", layer, "encoding")
            shape, right = tuple(layer.encoding.shape), [(max_len, d_model), (1, max_len, d_model)]
            check.true(shape in right, f"`layer.encoding` has the shape {shape}, not ({max_len}, {d_model}).")
            check.true(not layer.encoding.requires_grad, "`layer.encoding` asks for gradients.")
            with torch.no_grad():
                before = layer(x).clone()
                layer.encoding.add_(1.0)
                check.differs("layer(x)", layer(x), before, when="1 is added to every number of the buffer `encoding`")
            check.true(tuple(layer.encoding.shape) == shape, "A call changes the shape of `layer.encoding`.")
    layer, x = answer(6, 8).eval(), torch.ones(2, 5, 6)
    device(seed, "layer(x)", layer, x)
    for dtype in (torch.float64, torch.bfloat16):
        check.dtype(f"`layer(x)` in {dtype}".replace("torch.", ""), layer.to(dtype)(x.to(dtype)), dtype)


def shift_matrix(answer: Callable[[int, int], Tensor], *, seed: int = 0) -> None:
    """Matrices for offsets forward, backward and 0, each its own."""
    check.close("shift_matrix(0, 8)", answer(0, 8), torch.eye(8))
    generator = random.Random(seed)
    drawn = [(generator.randint(-8, 8), 2 * pairs) for pairs in (1, 2, 3, 5, 8)]
    fixed = (0, 2), (1, 2), (-1, 2), (2, 4), (-5, 8)
    for offset, d_model in some(seed, (*fixed, *drawn, (11, 12), (-7, 6), (5, 32), (150, 6))):
        length = 40 + abs(offset)
        allowed = 3e-5 if abs(offset) < 100 else 1e-3  # powers of a matrix lose digits
        further = parts.sinusoidal_encoding(length + abs(offset), d_model)
        encoding, start, stop = further[:length], max(0, -offset), length - max(0, offset)
        call = f"shift_matrix({offset}, {d_model})"
        matrix = answer(offset, d_model)
        check.shape(call, matrix, rows=d_model, columns=d_model)
        check.true(not matrix.requires_grad, f"`{call}` asks for gradients.")
        answer(offset + 1, d_model)
        moved, wanted = encoding[start:stop] @ matrix.float().T, encoding[start + offset : stop + offset]
        slips = {"a negative offset moves forward": further[start - offset : stop - offset]} if offset < 0 else {}
        check.close(f"{call} @ encoding[pos]", moved, wanted, mistakes=slips, atol=allowed)
        sines, cosines = encoding[abs(offset), 0::2], encoding[abs(offset), 1::2]
        sines = sines if offset > 0 else -sines
        even, expected = torch.arange(0, d_model, 2), torch.zeros(d_model, d_model)
        expected[even, even] = expected[even + 1, even + 1] = cosines
        expected[even, even + 1], expected[even + 1, even] = sines, -sines  # no other matrix does so however far
        check.close(call, matrix.float(), expected, atol=2 * allowed)
        _made_anew(call, partial(answer, offset, d_model), expected)


def mended_places(answer: Callable[[Tensor, Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """Tokens, embeddings and tables of any sizes, also where two sizes are equal."""
    call = "mended_places(tokens, embedding, table)"
    ranges = {"batch": (1, 9), "seq_len": (1, 9), "d_model": (2, 40), "spare": (0, 12), "vocab_size": (1, 30)}
    for index, size in enumerate(each_smallest(seed, 5, **ranges)):
        batch, seq_len, d_model, spare, vocab_size = size.values()
        embedding, table = tensors((vocab_size, d_model), (seq_len + spare, 1, d_model), seed=31 * seed + index)
        tokens = _ids(vocab_size, batch, seq_len, seed=31 * seed + index)
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


def _layers(answer: Layer, seed: int) -> Iterator[tuple[Any, list[int], dict[str, int], Callable[[int], Tensor]]]:
    """Make layers in eval mode, with lengths to try one after the other and how to draw x (batch, length, d_model)."""
    ranges = {"batch": (1, 14), "seq_len": (1, 9), "pairs": (1, 8), "spare": (0, 20)}
    for index, size in enumerate(sizes(seed, 4, **ranges)):
        batch, seq_len, pairs, spare = size.values()
        described = {"d_model": 2 * pairs, "max_len": seq_len + (spare if index % 2 else 0)}
        layer = answer(**described, dropout=0.0).eval()
        answer(2 * pairs, 2), answer(2 * pairs + 2, described["max_len"] + 30)

        def x_of(length: int, batch: int = batch, d_model: int = 2 * pairs, index: int = index) -> Tensor:
            (x,) = tensors((batch, length, d_model), seed=31 * seed + index + length)
            x[:, -1] = 0.0
            return x

        yield layer, [seq_len, 1, described["max_len"], seq_len], described, x_of


def _rows_learn(call: str, rows: Tensor, output: Tensor, expected: Tensor, **tables: Tensor) -> None:
    """Each of the rows that were looked up gets its gradient, as Adam takes it."""
    ((name, table),) = tables.items()
    gradient = None
    if output.requires_grad:
        (gradient,) = torch.autograd.grad(output.sum(), table, allow_unused=True, retain_graph=True)
    if gradient is not None:
        slip = "Adam, which lesson 6 trains with, takes no sparse gradients."
        check.true(not gradient.is_sparse, f"The gradient of `{name}` is sparse.", slip)
        verdict = f"A row of `{name}` that is used gets no gradient."
        check.true(gradient[rows].any(dim=-1).all(), verdict)
    check.gradients_agree(call, output / 4, expected / 4, **tables)


def _lengthened(table: Tensor, turn: int) -> Tensor:
    """The table, its rows made a hundred times as long in every second turn."""
    with torch.no_grad():
        table.mul_(100.0 if turn % 2 else 1.0)
    return table


def _in_double(layer: Layer, x: Tensor, table: Tensor) -> None:
    """In float64, what is added to x is the table itself, to the last digits."""
    expected = x.double() + table.detach().reshape(-1, x.size(-1))[: x.size(1)]
    output = layer(x.double())
    check.dtype("`layer(x)` in float64", output, torch.float64)
    check.close("`layer(x)` in float64", output, expected, rtol=1e-9, atol=1e-9)


def _made_anew(call: str, answer: Callable[[], Tensor], expected: Tensor) -> None:
    """What is written into one result is not there in the next, and stays in the one."""
    one = answer().fill_(7.0)
    right = torch.allclose(answer().float(), expected, atol=1e-2) and bool((one == 7.0).all())
    slip = "Every call has to make a tensor of its own."
    check.true(right, f"Two results of `{call}` share their numbers: what is written into one changes the other.", slip)


def _same_shape(name: str, output: Tensor, x: Tensor) -> None:
    """The shape of the output is that of x (batch, seq_len, d_model)."""
    batch, seq_len, d_model = x.shape
    check.shape(name, output, batch=batch, seq_len=seq_len, d_model=d_model)


def _ids(vocab_size: int, *shape: int, seed: int) -> Tensor:
    """Draw ids of this shape, the largest one among them."""
    ids = torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(seed))
    ids.view(-1)[-1] = vocab_size - 1
    return ids


def _mode(layer: nn.Module) -> str:
    """The mode of a layer in a word."""
    return "train" if layer.training else "eval"


def _name(answer: Layer) -> str:
    """What a class is called."""
    return str(getattr(answer, "__name__", "layer"))
