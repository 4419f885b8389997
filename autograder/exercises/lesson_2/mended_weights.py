"""Exercise `mended_weights`: its cases and its slips."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import device, each_smallest, masks, strided, tensors


def cases(answer: Callable[[Tensor, Tensor, Tensor], Tensor], *, seed: int = 0) -> None:
    """The weights of every sentence and head at every size and layout, with the gradients."""
    ranges = {"batch": (1, 4), "num_heads": (1, 5), "query_len": (1, 7), "key_len": (1, 9), "d_k": (1, 8)}
    for index, size in enumerate(each_smallest(seed, 4, **ranges)):
        batch, num_heads, query_len, key_len, d_k = size.values()
        shapes = (batch, num_heads, query_len, d_k), (batch, num_heads, key_len, d_k)
        query, key = tensors(*shapes, seed=31 * seed + index)
        query, key = (strided(query), strided(key)) if index % 2 else (query, key)
        is_word = masks(seed + index, batch, key_len)
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        case = check.case(query=query, key=key, is_word=is_word)
        with case, check.unchanged(query=query, key=key, is_word=is_word):
            weights = answer(query, key, is_word)
            check.close("mended_weights(query, key, is_word)", weights, expected)
    call = "mended_weights(query, key, is_word)"
    for batch in (1, 2):
        query, key = (x.requires_grad_() for x in tensors((batch, 2, 3, 4), (batch, 2, 5, 4), seed=seed))
        is_word = masks(seed, batch, 5) | (torch.arange(5) == (seed + 1) % 5)  # two words or more, with a gradient
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        check.gradients_agree(call, answer(query, key, is_word), expected, query=query, key=key)
    device(seed, call, answer, query, key, is_word)
    for large in (30.0, 1e5):  # scores that overflow, or that a mask of −50 or −10,000 does not hide
        query, key = tensors((2, 3, 9, 4), (2, 3, 6, 4), seed=seed, dtype=torch.float64)
        query, is_word = large * query, torch.arange(6) < torch.tensor([[2], [3]])
        _, expected = parts.scaled_dot_product_attention(query, key, key, is_word[:, None, None, :])
        check.close(f"`{call}` with large scores", answer(query, key, is_word), expected, rtol=1e-3, atol=1e-3)


def slips(query: Tensor, key: Tensor, is_word: Tensor) -> dict[str, Tensor]:
    """Weights of query and key (batch, num_heads, …, d_k) under is_word (batch, key_len), False = padding.

    The heads are meant to be folded into the batch, each with the mask of its own sentence.
    """
    batch, num_heads, _, d_k = query.shape
    own = is_word[:, None, None, :]  # (batch, 1, 1, key_len)

    def weights(allowed: Tensor | None, scale: float = d_k**-0.5, dim: int = -1) -> Tensor:
        scores = scale * query @ key.mT
        hidden = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
        return hidden.softmax(dim=dim)

    def apart(folded: Tensor) -> Tensor:
        return folded.reshape(num_heads, batch, query.size(2), -1).transpose(0, 1)

    in_turn = torch.cat([is_word] * num_heads).view(batch, num_heads, 1, -1)
    return {
        "some heads have the mask of another sentence": weights(in_turn),
        "the mask is not used": weights(None),
        "a blocked score becomes 0, and exp(0) = 1 still is a weight": (
            (d_k**-0.5 * query @ key.mT * own).softmax(dim=-1)
        ),
        "the padding is hidden after the softmax, so that a row no longer sums to 1": weights(None) * own,
        "the softmax runs over the queries": weights(own, dim=-2),
        "some heads have the mask of another sentence, and the softmax runs over the queries": weights(in_turn, dim=-2),
        "the mask is read the wrong way round": weights(~own),
        "every sentence gets the mask of the first": weights(own[:1]),
        "every sentence gets the mask of the last": weights(own[-1:]),
        "only what is a word in all sentences counts as one": weights(own.all(dim=0, keepdim=True)),
        "the scores are not divided by √d_k": weights(own, scale=1.0),
        "the weights come out with the heads before the batch": (
            weights(own).transpose(0, 1).reshape(*query.shape[:-1], -1)
        ),
        "the heads are folded in behind the batch, but taken apart as if they came before it": apart(weights(own)),
        "the heads are folded in behind the batch, but masks and result are treated as if they came before it": (
            apart(weights(in_turn))
        ),
    }
