"""Exercise `LearnedPositionalEncoding`: its cases and its slips."""

import torch

from autograder import check, data
from autograder.exercises.lesson_3.shared import Layer, in_double, layers, lengthened, rows_learn, same_shape
from autograder.exercises.shared import device


def cases(answer: Layer, *, seed: int = 0) -> None:
    """In eval mode, x with the first rows of the learned table, as they are now; what is used can learn."""
    for layer, lengths, described, x_of in layers(answer, seed):
        call = "LearnedPositionalEncoding(d_model, max_len)"
        check.parameters(call, layer, {"position.weight": (described["max_len"], described["d_model"])})
        check.separate(call, answer(**described), answer(**described))
        for index, seq_len in enumerate(lengths):
            data.randomized(layer, seed=index)
            x, table = x_of(seq_len), lengthened(layer.position.weight, index)
            expected = x + table[:seq_len]
            with check.case(**described, x=x):
                with check.unchanged(x=x, table=table):
                    output = layer(x)
                same_shape("layer(x)", output, x)
                check.dtype("layer(x)", output, torch.float32)
                check.close("layer(x)", output, expected)
                rows_learn("layer(x)", torch.arange(seq_len), output, expected, **{"position.weight": table})
    check.gradient_reaches("position.weight", layer.position.weight, layer.train()(x))
    in_double(data.randomized(layer.eval().double()), x, layer.position.weight)
    device(seed, "layer(x)", answer(6, 8).eval(), torch.zeros(2, 7, 6))
