"""Exercise `expected_parameters`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import parts
from autograder.exercises.lesson_5.shared import number, numbers
from autograder.exercises.shared import sizes


def cases(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The number of parameters for sizes of every kind, from the smallest to what no memory holds."""
    ranges = {"vocab_size": (1, 99), "d_model": (1, 12), "num_layers": (1, 5), "d_ff": (1, 40)}
    for size in [*sizes(seed, 3, **ranges), dict(zip(ranges, (10**9, 10**8, 2 + seed % 2, 10**9), strict=True))]:
        vocab_size, d_model, num_layers, d_ff = size.values()
        with torch.device("meta"):
            model = parts.Transformer(
                vocab_size, vocab_size, d_model, 1, num_layers, d_ff, max_len=1, share_embeddings=True
            )
        right = sum(parameter.numel() for parameter in model.parameters())
        number("expected_parameters", answer, size, right, slips)


def slips(vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> dict[str, Tensor]:
    """Wrong numbers of parameters of a Transformer whose embeddings are shared."""
    table, norm = vocab_size * d_model, 2 * d_model
    attention, feed_forward = 4 * (d_model**2 + d_model), 2 * d_model * d_ff + d_ff + d_model
    layers = num_layers * (3 * attention + 2 * feed_forward + 5 * norm)
    differences = {
        "the bias of the output layer is left out": -vocab_size,
        "the shared matrix is counted three times": 2 * table,
        "the shared matrix is counted twice": table,
        "the shared matrix is left out": -table,
        "a decoder layer has one attention": -num_layers * attention,
        "a layer has one norm too few, or two biases of d_model numbers are left out": -num_layers * norm,
        "a decoder layer is counted like an encoder layer": -num_layers * (attention + norm),
        "the bias of the output layer has d_model numbers instead of vocab_size": d_model - vocab_size,
        "both biases of a feed-forward network have d_ff numbers": num_layers * 2 * (d_ff - d_model),
        "both biases of a feed-forward network have d_model numbers": num_layers * 2 * (d_model - d_ff),
        "the first bias of the feed-forward networks is left out": -num_layers * 2 * d_ff,
        "a feed-forward network has one matrix": -num_layers * 2 * d_model * d_ff,
        "the decoder has no feed-forward networks": -num_layers * feed_forward,
        "a norm has one vector": -num_layers * 5 * d_model,
        "the norms are left out": -num_layers * 5 * norm,
        "the biases of the attention are left out": -num_layers * 12 * d_model,
        "the biases of the feed-forward networks are left out": -num_layers * 2 * (d_ff + d_model),
        "the biases of the layers are left out": -num_layers * (12 * d_model + 2 * (d_ff + d_model)),
        "an attention has one bias for its four matrices": -num_layers * 9 * d_model,
        "a feed-forward network has one matrix and its bias": -num_layers * 2 * (d_model * d_ff + d_model),
        "`num_layers` multiplies the layer of the encoder alone": (1 - num_layers)
        * (2 * attention + feed_forward + 3 * norm),
        "an attention has three matrices, without w_o": -num_layers * 3 * (d_model**2 + d_model),
        "there is one layer in each stack": layers // num_layers - layers,
        "`num_layers` is taken to count the layers of both stacks together": -layers // 2,
        "the positional encoding is counted, 5000 positions": 5000 * d_model,
        "the biases of the attention are counted once for each of 8 heads": num_layers * 7 * 12 * d_model,
        "each stack ends in one more norm": 2 * norm,
        "every head has matrices of the full size": num_layers * 6 * attention,
    }
    return numbers(differences, layers + table + vocab_size)
