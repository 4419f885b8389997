"""Exercise `count_multiplications`: its cases and its slips."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from autograder import parts
from autograder.exercises.lesson_5.shared import number, numbers
from autograder.exercises.shared import sizes


def cases(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The number of multiplications for lengths and sizes of every kind, as PyTorch counts them."""
    ranges = {"src_len": (1, 9), "tgt_len": (1, 9), "vocab_size": (4, 50), "d_model": (1, 9), "num_layers": (1, 3)}
    for size in [
        *sizes(seed, 1, **ranges, d_ff=(1, 20)),
        dict(zip((*ranges, "d_ff"), (60, 70, 11, 4, 2, 5), strict=True)),
    ]:
        size["d_model"] *= 2  # for two heads
        number("count_multiplications", answer, size, _multiplied(*size.values()), slips)


@functools.cache
def _multiplied(src_len: int, tgt_len: int, vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> int:
    """What PyTorch counts while a model of these sizes runs."""
    from torch.utils.flop_counter import FlopCounterMode  # takes a while, and nothing else needs it

    model = parts.Transformer(vocab_size, vocab_size, d_model, 2, num_layers, d_ff, max_len=99)
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(1, src_len, dtype=torch.long), torch.ones(1, tgt_len, dtype=torch.long))
    return int(counter.get_total_flops()) // 2  # as many additions


def slips(src_len: int, tgt_len: int, vocab_size: int, d_model: int, num_layers: int, d_ff: int) -> dict[str, Tensor]:
    """Wrong numbers of multiplications in the matrix products of one prediction."""

    def products(query_len: int, key_len: int) -> int:
        return query_len * key_len * d_model

    def projections(query_len: int, key_len: int) -> int:
        return 2 * (query_len + key_len) * d_model**2

    pairs = [(src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)]
    scores, linear = sum(products(*pair) for pair in pairs), sum(projections(*pair) for pair in pairs)
    crossing = projections(tgt_len, src_len) + 2 * products(tgt_len, src_len)
    own = projections(tgt_len, tgt_len) + 2 * products(tgt_len, tgt_len)
    forward, causal = 2 * (src_len + tgt_len) * d_model * d_ff, tgt_len * (tgt_len + 1) * d_model
    output, queries, longer = tgt_len * d_model * vocab_size, src_len + 2 * tgt_len, tgt_len - src_len
    layer = 2 * scores + linear + forward
    right = num_layers * layer + output
    of_layers = {  # what each layer lacks, or has too much
        "scores and weighted sums are left out": -2 * scores,
        "the weighted sums, or the scores, are left out": -scores,
        "the cross-attention is left out": -crossing,
        "the cross-attention takes its keys and values from the target": own - crossing,
        "in the cross-attention, w_k and w_v read the target instead of the source": 2 * longer * d_model**2,
        "w_q or w_o is left out": -queries * d_model**2,
        "a feed-forward network has one matrix": -forward // 2,
        "the decoder has no feed-forward networks": -2 * tgt_len * d_model * d_ff,
        "scores and weighted sums lack the factor d_model": 2 * (scores // d_model - scores),
        "the decoder has no self-attention": -own,
        "the feed-forward networks are left out": -forward,
        "the scores of the cross-attention are taken among the target's positions, not with the source's": (
            2 * longer * tgt_len * d_model
        ),
        "an attention has three projections, all of its queries": 3 * queries * d_model**2 - linear,
        "the scores that the causal mask hides are left out": causal - 2 * products(tgt_len, tgt_len),
        "scores and weighted sums are counted 8 times, once for each head": 7 * 2 * scores,
        "the biases of the feed-forward networks are counted": (src_len + tgt_len) * (d_ff + d_model),
    }
    differences = {slip: num_layers * difference for slip, difference in of_layers.items()} | {
        "the output layer scores a single position": -(tgt_len - 1) * d_model * vocab_size,
        "the output layer is left out": -output,
        "the output layer scores the source's positions, not the target's": -longer * d_model * vocab_size,
        "the output layer scores the source, too": src_len * d_model * vocab_size,
        "there is one layer in each stack": layer - num_layers * layer,
        "the output layer is counted once for each layer": (num_layers - 1) * output,
        "the additions are counted as well": right,
        "the embeddings are counted as matrix products": (src_len + tgt_len) * d_model * vocab_size,
    }
    return numbers(differences, right)
