"""Exercise `GPTBlock`: its cases and its slips."""

from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_9.shared import Module, made, output_and_cache
from autograder.exercises.shared import device, possible, sizes, tensors
from autograder.parts.gpt import twin


def parameters(d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Name → shape of the parameters of a block."""
    return parts.parameters_of(
        norm_1=parts.RMSNorm(d_model),
        attention=parts.GroupedQueryAttention(d_model, num_heads, num_kv_heads),
        norm_2=parts.RMSNorm(d_model),
        feed_forward=parts.SwiGLU(d_model, d_ff),
    )


def cases(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients of blocks of any size, as a whole and in three pieces with the cache."""
    ranges = {"batch": (1, 3), "seq_len": (3, 7), "num_kv_heads": (1, 2), "groups": (1, 3), "pairs": (1, 3)}
    for index, size in enumerate(sizes(seed, 3, **ranges, d_ff=(1, 20))):
        batch, seq_len, num_kv_heads, groups, pairs, d_ff = size.values()
        given = groups * num_kv_heads * 2 * pairs, groups * num_kv_heads, num_kv_heads, d_ff
        block = made("GPTBlock", answer, *given, parameters=parameters(*given))
        data.randomized(block, seed=seed + index)
        (x,) = tensors((batch, seq_len, given[0]), seed=31 * seed + index)
        oracle, cut = twin(parts.GPTBlock, block, *given), 1 + index % (seq_len - 2)
        x.requires_grad_()
        expected, _ = oracle(x)
        with check.case(x=x, d_ff=d_ff):
            for mode in ("train", "eval"):
                with check.unchanged(x=x):
                    output, _ = output_and_cache("block(x)", getattr(block, mode)()(x), "keys", "values")
                check.close("the output", output, expected.detach(), rtol=1e-3, atol=1e-4)
            check.gradients_agree("the output", output / 4, expected / 4, x=x)
            one, two, three = (each.detach() for each in x.tensor_split((cut, cut + 1), dim=1))
            first, cache = output_and_cache("block(x)", block(one), "keys", "values")
            second, cache = output_and_cache("block(x, cache)", block(two, cache), "keys", "values")
            both, wanted = torch.cat([first, second], dim=1), expected.detach()
            check.close("the output in two pieces", both, wanted[:, : cut + 1], rtol=1e-3, atol=1e-4)
            third, _ = output_and_cache("block(x, cache)", block(three, cache), "keys", "values")
            told, name = third_slips(oracle, one, two, three), "the output of a third piece"
            check.close(name, third, wanted[:, cut + 1 :], rtol=1e-3, atol=1e-4, mistakes=told)
    check.gradients_reach(dict(block.named_parameters()), output)
    data.randomized(block, seed=seed + 51)
    expected, _ = twin(parts.GPTBlock, block, *given)(x)
    output, _ = output_and_cache("block(x)", block(x), "keys", "values")
    check.close("the output with other weights", output, expected.detach(), rtol=1e-3, atol=1e-4)
    device(seed, "block(x)", block, x.detach())
    check.separate("GPTBlock(8, 4, 2, 6)", answer(8, 4, 2, 6), answer(8, 4, 2, 6))


@torch.no_grad()
def slips(block: Any, x: Tensor) -> dict[str, Tensor]:
    """Outputs for x (batch, seq_len, d_model) of wrong wirings of the learner's own parts."""
    first, second, feed = block.norm_1, block.norm_2, block.feed_forward

    def attend(y: Tensor) -> Tensor:
        output: Tensor = block.attention(y)[0]
        return output

    def wired(norm: Any, one: Any, other_norm: Any, other: Any) -> Tensor:
        y = x + one(norm(x))
        total: Tensor = y + other(other_norm(y))
        return total

    normed = first(x)
    attention = attend(normed)
    y, plain, after = x + attention, x + attend(x), first(x + attend(x))
    right, from_norm, outside = y + feed(second(y)), second(normed + attention), x + first(attend(x))
    slips = {
        "the norms come after the sums, as in the paper (post-norm)": second(after + feed(after)),
        "the attention reads x without its norm": plain + feed(second(plain)),
        "the feed-forward network reads its input without its norm": y + feed(y),
        "neither part gets its input normalised": plain + feed(plain),
        "norm_1 and norm_2 are exchanged": wired(second, attend, first, feed),
        "norm_1 is used twice": wired(first, attend, first, feed),
        "norm_2 is used twice": wired(second, attend, second, feed),
        "the sum starts from norm(x) instead of x": from_norm + feed(from_norm),
        "nothing is added to the attention's output": attention + feed(second(attention)),
        "nothing is added to the feed-forward network's output": feed(second(y)),
        "nothing is added at all": feed(second(attention)),
        "the second sum starts from the block's input": x + feed(second(y)),
        "both parts read the block's input, side by side": x + attention + feed(second(x)),
        "the feed-forward network comes before the attention": wired(second, feed, first, attend),
        "the attention is left out": x + feed(second(x)),
        "the feed-forward network is left out": y,
        "the parts' outputs are normalised instead of their inputs": outside + second(feed(outside)),
        "the output is normalised once more": second(right),
        "x is added once more": x + right,
    }
    return possible(slips, right)


@torch.no_grad()
def cache_slips(block: Any, x: Tensor, cut: int) -> dict[str, Tensor]:
    """Outputs (batch, seq_len − cut, d_model) of the second piece of x, where the cache of the first is misused."""
    return possible({"the cache is not handed to the attention": block(x[:, cut:])[0]}, block(x)[0][:, cut:])


@torch.no_grad()
def third_slips(block: Any, one: Tensor, two: Tensor, three: Tensor) -> dict[str, Tensor]:
    """Outputs for a third piece of x, where the call on the second returned another cache than it should."""
    first, alone = block(one)[1], block(two)[1]
    kept = block(two, first)[1]
    newest = tuple(each[:, :, -two.size(1) :] for each in kept)
    slips = {
        "a call with a cache returns that cache, without what is new": block(three, first)[0],
        "a call with a cache returns what a call without one does": block(three, alone)[0],
        "a call with a cache returns the newest keys and values alone": block(three, newest)[0],
    }
    return possible(slips, block(three, kept)[0])
