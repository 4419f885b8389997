"""Exercise `PositionalEncoding`: its cases and its slips."""

import math
from functools import partial

import torch
from torch import Tensor, nn

from autograder import check, parts
from autograder.exercises.lesson_3 import sinusoidal_encoding
from autograder.exercises.lesson_3.shared import Layer, in_double, layers, same_shape, waves
from autograder.exercises.shared import device, few, rate_slips, rested, rests_at_any_rate, sizes, some, tensors

TOO_LONG = (ValueError, AssertionError)  # an `assert` refuses as well


def value_cases(answer: Layer, *, seed: int = 0) -> None:
    """In eval mode, x with the first rows of the sinusoidal encoding, for any x."""
    for layer, lengths, described, x_of in layers(answer, seed):
        encoding = parts.sinusoidal_encoding(described["max_len"], described["d_model"])
        for seq_len in lengths:
            x = x_of(seq_len)
            expected = x + encoding[:seq_len]
            with check.case(**described, x=x), check.unchanged(x=x):
                output = layer(x)
                same_shape("layer(x)", output, x)
                check.dtype("layer(x)", output, torch.float32)
                check.close("layer(x)", output, expected)
    table = getattr(layer.double(), "encoding", None)
    if isinstance(table, Tensor):  # whether it is there is asked elsewhere
        in_double(layer, x, table)


def length_cases(answer: Layer, *, seed: int = 0) -> None:
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
    check.defaults(getattr(answer, "__name__", "layer"), answer, max_len=5000)
    answer(4)(torch.zeros(1, 5000, 4))


def dropout_cases(answer: Layer, *, seed: int = 0) -> None:
    """In training, each entry of the sum is dropped or scaled up by chance: at any rate, anew each time, on its own."""
    check.defaults(getattr(answer, "__name__", "layer"), answer, dropout=0.1)
    for p in some(seed, (None, 0.25 + few(seed) / 1000, 0.4, 0.6)):
        layer, layer_p = answer(12, 40) if p is None else answer(12, 40, p), 0.1 if p is None else p
        (x,) = tensors((20, 30, 12), seed=seed + 6)
        with check.case(dropout=layer_p, x=x), check.unchanged(x=x):
            before, output = rested_and_trained(layer, x)
            rests_at_any_rate("layer(x)", lambda rate: answer(12, 40, rate), layer_p, x)
            check.dropout("layer(x)", output, before, p=layer_p)
            dropped = output.detach() == 0
            verdict = "In training, every position drops the same entries of `layer(x)`."
            check.true(not (dropped == dropped[:, :1]).all(), verdict)
            columns = dropped.float().mean(dim=(0, 1))
            whole = ((columns == 0) | (columns == 1)).all()
            check.true(not whole, "In training, whole columns of `layer(x)` are dropped.")
            again = layer(x).detach() == 0
            check.true(not torch.equal(dropped, again), "In training, every call drops the same entries of `layer(x)`.")
            with torch.no_grad():  # of its own values: whether they are right is asked elsewhere
                slope = layer.eval()(x + 1).clone() - layer(x)
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
        before = rested("layer(x)", layer, x).clone()
        same_shape("layer.eval()(x)", before, x)
        output = layer.train()(x).clone()
        same_shape("layer.train()(x)", output, x)
    return before, output


def buffer_cases(answer: Layer, *, seed: int = 0) -> None:
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


def dropout_slips(x: Tensor, encoding: Tensor, p: float) -> dict[str, tuple[Tensor, Tensor]]:
    """What dropout in the wrong place makes of x + encoding: for each slip (dropped entries, kept entries).

    Args:
        x: (batch, seq_len, d_model).
        encoding: (seq_len, d_model).
    """
    x = x.detach()
    return {
        "dropout acts on the input, before the encoding is added": (encoding.expand_as(x), x / (1 - p) + encoding),
        "dropout acts on the encoding only": (x, x + encoding / (1 - p)),
        **rate_slips(x + encoding, p),
    }


def sum_slips(x: Tensor, encoding: Tensor) -> dict[str, Tensor]:
    """Sums for x (batch, seq_len, d_model) and the table `encoding` (max_len, d_model)."""
    batch, seq_len, d_model = x.shape
    return {
        "the encoding is not added": x,
        "the encoding is returned without the input": encoding[:seq_len].expand_as(x),
        "the encoding is multiplied instead of added": x * encoding[:seq_len],
        "the input is multiplied by √d_model once more": x * math.sqrt(d_model) + encoding[:seq_len],
        "the row of the encoding is chosen by the place in the batch, not in the sequence": x + encoding[:batch, None],
        "every position gets the row of position 0": x + encoding[0],
        "every position gets the row of the last position": x + encoding[seq_len - 1],
        "every position gets the mean of the rows": x + encoding[:seq_len].mean(dim=0),
        "the rows are added in reverse order": x + encoding[:seq_len].flip(0),
        "every position gets the row of the sequence's length": x + encoding[seq_len],
        "the rows start at 1 instead of 0": x + encoding[1 : seq_len + 1],
        "the encoding is subtracted": x - encoding[:seq_len],
        "the last rows of the table are taken instead of the first": x + encoding[-seq_len:],
        "the input is added twice": 2 * x + encoding[:seq_len],
        "the encoding is added twice": x + 2 * encoding[:seq_len],
        "the encoding is multiplied by √d_model": x + math.sqrt(d_model) * encoding[:seq_len],
    }


def slips(x: Tensor, max_len: int) -> dict[str, Tensor]:
    """Sums for x (batch, seq_len, d_model) and a sinusoidal table of `max_len` rows, which may be wrong itself."""
    seq_len, d_model = x.shape[1:]
    sums = sum_slips(x, waves(max_len, torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)))
    for slip, table in sinusoidal_encoding.slips(max_len, d_model).items():
        output = x + table[:seq_len]
        if not any(torch.allclose(output, known) for known in sums.values()):
            sums[f"in the table {slip}"] = output
    return sums
