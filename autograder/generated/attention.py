"""Lesson 1 over generated inputs: attention for one query, scaled dot-product attention, masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, mistakes, parts
from autograder.generated.inputs import DTYPES, device, few, masks, sentences, sizes, some, strided, tensors

Attention = Callable[..., tuple[Tensor, Tensor]]
LEADING = (), (2,), (2, 3), (4, 4), (2, 1, 3), (2, 1, 1, 2)
READY = "F.scaled_dot_product_attention", "nn.MultiheadAttention"


def attend_one_query(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Output (d_v,) for query (d_k,), key (key_len, d_k), value (key_len, d_v) of any sizes."""
    for index, size in enumerate(sizes(seed, 5, d_k=(1, 20), key_len=(1, 80), d_v=(1, 6))):
        d_k, key_len, d_v = size.values()
        shapes = (d_k,), (key_len, d_k), (key_len, d_v)
        query, key, value = tensors(*shapes, seed=31 * seed + index, dtype=DTYPES[index % 2])
        expected = F.scaled_dot_product_attention(query[None], key, value, scale=1.0)[0]
        with check.case(query=query, key=key, value=value), check.unchanged(query=query, key=key, value=value):
            output = answer(query, key, value)
            check.shape("output", output, d_v=d_v)
            check.close("output", output, expected)


def attention_shapes(answer: Attention, *, seed: int = 0) -> None:
    """The shapes of output and weights, for any leading dimensions and layout."""
    for query, key, value, _ in _queries(seed):
        leading, query_len = _named(query.shape[:-2]), query.size(-2)
        with check.case(query=query, key=key, value=value):
            output, weights = _attend(answer, query, key, value)
            check.shape("output", output, mistakes=None, **leading, query_len=query_len, d_v=value.size(-1))
            check.shape("weights", weights, mistakes=None, **leading, query_len=query_len, key_len=key.size(-2))


def attention_values(answer: Attention, *, seed: int = 0) -> None:
    """Output and weights without a mask, of any shape, layout and dtype, and when scores are large."""
    for query, key, value, scale in _queries(seed, DTYPES):
        expected, expected_weights = parts.scaled_dot_product_attention(scale * query, key, value)
        tolerance = 1e-3 if scale > 1 else None  # large scores magnify the rounding of their products
        with check.case(query=query, key=key, value=value):
            output, weights = _attend(answer, scale * query, key, value)
            check.dtype("output", output, value.dtype)
            check.dtype("weights", weights, value.dtype)
            slips = mistakes.overflowing(scale * query, key) if scale > 1 else None
            check.close("weights", weights, expected_weights, rtol=tolerance, atol=tolerance, mistakes=slips)
            check.close("output", output, expected, rtol=tolerance, atol=tolerance)


def free_weights(answer: Attention, query: Tensor, key: Tensor, value: Tensor, *, without: str) -> Tensor:
    """The answer's own weights without a mask and without dropout, having made sure that they sum to 1 over the keys.

    Args:
        query, key, value: (batch, query_len, d_k), (batch, key_len, d_k), (batch, key_len, d_v).
        without: what is left out, as a phrase.
    """
    with check.unchanged(query=query, key=key, value=value):
        _, weights = _attend(answer, query, key, value)
    check.shape("weights", weights, batch=len(query), query_len=query.size(1), key_len=key.size(1))
    check.true(
        ((weights.sum(dim=-1) - 1).abs() < 1e-4).all(),
        f"Already without {without}, the weights do not sum to 1 over the keys.",
        "Fix that first; the checks of shapes and values say more.",
    )
    return weights


def attention_mask(answer: Attention, *, seed: int = 0) -> None:
    """With a mask of any shape that broadcasts, the answer's own weights are shared out among the allowed keys."""
    for index, (query, key, value, _) in enumerate(_queries(seed)):
        *leading, query_len, key_len = *query.shape[:-1], key.size(-2)
        batch = leading[:1] if leading else []
        shapes = [
            (key_len,),
            (query_len, key_len),
            (*leading, query_len, key_len),
            (*leading[1:], query_len, key_len),
            (*batch, *(1 for _ in leading[1:]), 1, key_len),
            (*(1 for _ in leading), query_len, key_len),
        ]
        _, free = _attend(answer, query, key, value)
        for shape in dict.fromkeys(shapes):
            mask = masks(seed + index, *shape)
            expected = free * mask / (free * mask).sum(dim=-1, keepdim=True)
            with check.case(query=query, key=key, value=value, mask=mask), check.unchanged(mask=mask):
                output, weights = _attend(answer, query, key, value, mask)
                check.close("weights", weights, expected)
                check.close("output", output, expected @ value)
    _blocked_keys_get_nothing(answer, seed)


def _blocked_keys_get_nothing(answer: Attention, seed: int) -> None:
    """However low the other scores are, a blocked key has no weight, and however well it matches, it plays no part.

    So it is in bfloat16, where that works at all. In trained models scores of one row lie more than 100 apart.
    """
    mask = torch.tensor([[True, False, True]])
    (value,) = tensors((1, 3, 4), seed=seed)
    query = torch.tensor([[[1.0], [0.02]]]).expand(1, 2, 4)
    for high in (6.0, 75.0 + few(seed)):  # scores of 12 and 150, or of 24 and 300 where they are not divided by √d_k
        key = torch.tensor([[[-1.0], [high], [-1.5]]]).expand(1, 3, 4)
        free = mask * _attend(answer, query, key[:, [0, 0, 2]], value)[1]
        expected = free / free.sum(dim=-1, keepdim=True)
        slips = mistakes.attention_mask(query, key, mask, _attend(answer, query, key, value)[1])
        _, weights = _attend(answer, query, key, value, mask)
        name = f"`weights` where the blocked key's score is {2 * high + 2:g} higher than the others"
        check.close(name, weights, expected, mistakes=slips)
    for low in (-15.0 - few(seed), -60.0 - few(seed), -3e3):
        query, key = torch.ones(1, 2, 4), torch.tensor([[[low], [low - 1], [low - 0.5]]]).expand(1, 3, 4)
        if _attend(answer, query, key[:, ::2], value[:, ::2])[1].isnan().any():
            continue  # a softmax that such scores break: the check of values says so
        _, weights = _attend(answer, query, key, value, mask)
        check.true(
            not weights.isnan().any(), f"Under a mask, `weights` contains NaN when all scores are about {2 * low:g}."
        )
        check.true((weights[..., 1] < 1e-6).all(), "A blocked key gets weight when the other scores are very low.")
    query, key, value = tensors((2, 3, 8), (2, 3, 8), (2, 3, 6), seed=seed, dtype=torch.bfloat16)
    try:
        output, weights = _attend(answer, query, key, value, mask)
    except RuntimeError as error:  # to add a mask of float32 is a choice, to overflow is none
        refuses = "same dtype" in str(error) or "scalar type" in str(error)
        check.true(refuses, f"In bfloat16: {error}.")
        return
    check.dtype("output", output, torch.bfloat16)
    check.true((weights[..., 1] == 0).all(), "In bfloat16 a blocked key gets some weight.")


def attention_dropout(answer: Attention, *, seed: int = 0) -> None:
    """Dropout acts once, on the answer's own weights, with a mask or without, and only while it is in train mode."""
    for index, (query, key, value, _) in enumerate(_queries(seed)):
        mask = None if index % 2 else masks(seed + index, key.size(-2))
        _, before = _attend(answer, query, key, value, mask)
        if mask is not None and not before.isfinite().all():
            continue  # the check of masks says so
        with check.case(query=query, key=key, value=value, mask=mask):
            output, weights = _attend(answer, query, key, value, mask, dropout=lambda weights: 2 * weights)
            check.close("weights", weights, 2 * before)
            output, weights = _attend(answer, query, key, value, mask, dropout=nn.Dropout(0.5))
            check.close("output", output, weights @ value)
            _, weights = _attend(answer, query, key, value, mask, dropout=nn.Dropout(0.5).eval())
            check.close("`weights` under a dropout in eval mode", weights, before)
    query, key, value = (x.requires_grad_() for x in tensors((2, 3, 8), (2, 5, 8), (2, 5, 6), seed=seed))
    output, _ = _attend(answer, query, key, value, dropout=lambda weights: 2 * weights)
    check.gradients_reach({"query": query, "key": key, "value": value}, output)
    with torch.no_grad():
        draws = [_attend(answer, query, key, value, dropout=nn.Dropout(0.5))[1] for _ in range(2)]
    check.differs("weights", *draws, when="the dropout is drawn anew")


def attention_by_hand(answer: Attention, *, seed: int = 0) -> None:
    """With a mask and without, nothing ready is called and the gradients are right."""
    inputs = tensors((1, 2, 3), (1, 4, 3), (1, 4, 2), seed=seed, dtype=torch.float64)
    inputs = tuple(x.requires_grad_() for x in inputs)
    for mask in (None, torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1]]).bool().roll(seed, dims=-1)):
        with check.without(*READY, instead="products, a scale, a mask, a softmax"):
            output, _ = _attend(answer, *inputs, mask)
        if mask is not None and output.isnan().any():
            continue  # the check of masks says so
        check.gradients_reach(dict(zip(("query", "key", "value"), inputs, strict=True)), output)
        steep = torch.autograd.gradcheck(
            lambda *given, mask=mask: answer(*given, mask)[0],
            inputs,
            eps=1e-3,
            atol=5e-3,
            rtol=1e-2,
            raise_exception=False,
            fast_mode=True,
        )
        verdict = "The gradient of `output` is not the slope that a small change of the inputs shows."
        check.true(steep, verdict, "Something on the way is detached from the graph.")


def padding_mask(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Masks of sentences with padding anywhere, for any pad id."""
    for tokens, pad_id in sentences(seed):
        expected = parts.padding_mask(tokens, pad_id)
        with check.case(tokens=tokens, pad_id=pad_id), check.unchanged(tokens=tokens):
            mask = answer(tokens, pad_id) if pad_id else answer(tokens)
            check.shape("the mask", mask, batch=len(tokens), num_heads=1, query_len=1, key_len=tokens.size(1))
            check.equal("the mask", mask, expected)


def causal_mask(answer: Callable[[int], Tensor], *, seed: int = 0) -> None:
    """Masks of sizes from 1 to beyond a thousand."""
    more = few(seed)
    for size in some(seed, (1, 2, 3, 5 + more, 9 + more, 17, 65 + more, 300 + more, 1100 + 7 * more, 3)):
        expected = parts.causal_mask(size)
        mask = answer(size)
        check.shape(f"causal_mask({size})", mask, query_len=size, key_len=size)
        check.equal(f"causal_mask({size})", mask, expected)


def decoder_mask(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Masks of sentences with padding anywhere, for any pad id; rows of padding only have to allow some key."""
    for tokens, pad_id in sentences(seed, longest=140):
        batch, seq_len = tokens.shape
        real_queries = (tokens != pad_id)[:, None, :, None]
        expected = parts.decoder_mask(tokens, pad_id) & real_queries
        with check.case(tokens=tokens, pad_id=pad_id), check.unchanged(tokens=tokens):
            mask = answer(tokens, pad_id) if pad_id else answer(tokens)
            check.shape("the mask", mask, batch=batch, num_heads=1, query_len=seq_len, key_len=seq_len)
            check.equal("the mask in rows of real tokens", mask.bool() & real_queries, expected)
            some_key("the mask", mask, tokens, pad_id)


def some_key(name: str, mask: Tensor, tokens: Tensor, pad_id: int) -> None:
    """Every query with a real token at or before its place may see some key in the mask (batch, 1, seq_len, seq_len).

    A row that allows nothing is 0/0, and the next layer spreads its NaN over the sentence: 0 · NaN is NaN.
    """
    empty = parts.decoder_mask(tokens, pad_id).any(dim=-1) & mask.logical_not().all(dim=-1)
    if empty.any():
        sentence, _, row = empty.nonzero()[0].tolist()
        raise check.CheckFailed(
            f"In sentence {sentence}, row {row} of {name} allows no key.",
            slip="A softmax of nothing is 0/0 = NaN, and NaN spreads through the next layer, for 0 · NaN is NaN. "
            "Let padding see the real tokens before it.",
        )


def nearby_attention(answer: Attention, *, seed: int = 0) -> None:
    """Output and weights of the hunt's attention for x of any size, with its gradient and on its device."""
    for index, size in enumerate(sizes(seed, 3, seq_len=(1, 40), d=(1, 6))):
        seq_len, d = size.values()
        (x,) = tensors((seq_len, d), seed=31 * seed + index)
        places = torch.arange(float(seq_len))
        bias = (places - places[:, None]) / 4 + torch.full((seq_len, seq_len), -torch.inf).triu(1)
        expected = F.scaled_dot_product_attention(x, x, torch.eye(seq_len), attn_mask=bias)
        with check.case(x=x), check.unchanged(x=x):
            output, weights = _attend(answer, x.clone().requires_grad_())
            check.close("weights", weights, expected)
            check.close("output", output, expected @ x)
    (x,) = tensors((4, 3), seed=seed)
    x.requires_grad_()
    check.gradients_reach({"x": x}, _attend(answer, x)[0])
    device(seed, "mended_nearby_attention(x)", answer, torch.ones(3, 2))


def _attend(answer: Attention, *inputs: Tensor | None, **options: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """What attention returns, having made sure that it is two tensors."""
    output, weights = check.returns("scaled_dot_product_attention(…)", answer(*inputs, **options), "output", "weights")
    return output, weights


def _queries(
    seed: int, dtypes: Sequence[torch.dtype] = (torch.float32,)
) -> Iterator[tuple[Tensor, Tensor, Tensor, float]]:
    """Draw query, key and value, with a number to multiply the query by: large scores come last."""
    ranges = {"query_len": (1, 9), "key_len": (1, 12), "d_k": (1, 20), "d_v": (1, 9)}
    drawn = [tuple(size.values()) for size in sizes(seed, 6, **ranges)]
    long = some(seed, [(66 + seed % 9, 2, 3, 2), (2, 140 + few(seed), 3, 2)])
    for index, (query_len, key_len, d_k, d_v) in enumerate([*drawn, *long]):
        leading = LEADING[(index + seed) % len(LEADING)] if index < len(drawn) else ()
        shapes = [(*leading, query_len, d_k), (*leading, key_len, d_k), (*leading, key_len, d_v)]
        query, key, value = tensors(*shapes, seed=31 * seed + index, dtype=dtypes[index % len(dtypes)])
        if index % 2:
            query, key, value = strided(query), strided(key), strided(value)
        yield query, key, value, 1.0
    query, key, value = tensors((2, 3, 8), (2, 5, 8), (2, 5, 6), seed=seed)
    yield query, key, value, 1000.0


def _named(leading: torch.Size) -> dict[str, int]:
    """Names for leading dimensions."""
    return dict(zip(("batch", "num_heads", "group", "subgroup")[: len(leading)], leading, strict=True))
