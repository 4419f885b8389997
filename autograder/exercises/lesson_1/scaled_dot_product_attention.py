"""Exercise `scaled_dot_product_attention`: its cases and its slips."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, parts
from autograder.exercises.lesson_1.shared import Attention, attend, on_own_mask
from autograder.exercises.shared import DTYPES, few, masks, possible, sizes, some, strided, tensors

LEADING = (), (2,), (2, 3), (4, 4), (2, 1, 3), (2, 1, 1, 2)
DIVIDED_ANEW = (
    "blocked keys take part in the largest score that a softmax, yours or PyTorch's, subtracts, and are taken out "
    "afterwards: where one scores far higher than the others, their exponentials are 0 already, and 0/0 is NaN"
)
LOWERED = "blocked scores are lowered by too little: in a trained model scores lie more than 100 apart"
LOWERED_MORE = "blocked scores are lowered by too little: write −∞, or a very large negative number, in their place"
READY = "F.scaled_dot_product_attention", "nn.MultiheadAttention"


def shape_cases(answer: Attention, *, seed: int = 0) -> None:
    """The shapes of output and weights, for any leading dimensions and layout."""
    for query, key, value, _ in _queries(seed):
        leading, query_len = _named(query.shape[:-2]), query.size(-2)
        with check.case(query=query, key=key, value=value):
            output, weights = attend(answer, query, key, value)
            check.shape("output", output, mistakes=None, **leading, query_len=query_len, d_v=value.size(-1))
            check.shape("weights", weights, mistakes=None, **leading, query_len=query_len, key_len=key.size(-2))


def value_cases(answer: Attention, *, seed: int = 0) -> None:
    """Output and weights without a mask, of any shape, layout and dtype, and when scores are large."""
    for query, key, value, scale in _queries(seed, DTYPES):
        expected, expected_weights = parts.scaled_dot_product_attention(scale * query, key, value)
        tolerance = 1e-3 if scale > 1 else None  # large scores magnify the rounding of their products
        with check.case(query=query, key=key, value=value):
            output, weights = attend(answer, scale * query, key, value)
            check.dtype("output", output, value.dtype)
            check.dtype("weights", weights, value.dtype)
            slips = overflow_slips(scale * query, key) if scale > 1 else None
            check.close("weights", weights, expected_weights, rtol=tolerance, atol=tolerance, mistakes=slips)
            check.close("output", output, expected, rtol=tolerance, atol=tolerance)


def free_weights(answer: Attention, query: Tensor, key: Tensor, value: Tensor, *, without: str) -> Tensor:
    """The answer's own weights without a mask and without dropout, having made sure that they sum to 1 over the keys.

    Args:
        query, key, value: (batch, query_len, d_k), (batch, key_len, d_k), (batch, key_len, d_v).
        without: what is left out, as a phrase.
    """
    with check.unchanged(query=query, key=key, value=value):
        _, weights = attend(answer, query, key, value)
    check.shape("weights", weights, batch=len(query), query_len=query.size(1), key_len=key.size(1))
    verdict = f"Already without {without}, the weights do not sum to 1 over the keys."
    slip = "Fix that first; the checks of shapes and values say more."
    check.true(((weights.sum(dim=-1) - 1).abs() < 1e-4).all(), verdict, slip)
    return weights


def mask_cases(answer: Attention, *, seed: int = 0) -> None:
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
        _, free = attend(answer, query, key, value)
        for shape in dict.fromkeys(shapes):
            mask = masks(seed + index, *shape)
            expected = free * mask / (free * mask).sum(dim=-1, keepdim=True)
            wanted = expected @ value
            with check.case(query=query, key=key, value=value, mask=mask), check.unchanged(mask=mask):
                output, weights = attend(answer, query, key, value, mask)
                check.close("weights", weights, expected)
                check.close("output", output, wanted)
    _blocked_keys_get_nothing(answer, seed)


def _blocked_keys_get_nothing(answer: Attention, seed: int) -> None:
    """However low the other scores are, a blocked key has no weight, and however well it matches, it plays no part.

    So it is in bfloat16, where that works at all. In trained models scores of one row lie more than 100 apart.
    """
    mask = torch.tensor([[True, False, True]])
    (value,) = tensors((1, 3, 4), seed=seed)
    query = torch.tensor([[[1.0], [0.02]]]).expand(1, 2, 4)
    # Scores of 12, 80 and 150, twice that where they are not divided by √d_k; e^80 can still be written, e^150 cannot.
    for high, low in ((6.0, -1.0), (40.0, -25.0), (75.0 + few(seed), -1.0), (4000.0, -1.0)):
        key = torch.tensor([[[low], [high], [low - 0.5]]]).expand(1, 3, 4)
        free = mask * attend(answer, query, key[:, [0, 0, 2]], value)[1]
        expected = free / free.sum(dim=-1, keepdim=True)
        whole = attend(answer, query, key, value)[1]
        if whole.isnan().any():
            continue  # an `exp` that such scores break: the check of values says so
        slips = mask_slips(query, key, mask, whole)
        if high > 6:  # other slips were told before, and look alike here
            slips = {slip: values for slip, values in slips.items() if slip in (LOWERED, DIVIDED_ANEW)}
        if high > 50:  # where an `exp` of the answer's own may be the reason for NaN
            slips.pop(DIVIDED_ANEW, None)
        if high > 1000:
            scores = query @ key.mT / 2
            slips = {LOWERED_MORE: (scores - 1000 * mask.logical_not()).softmax(dim=-1)}
        _, weights = attend(answer, query, key, value, mask)
        name = f"`weights` where the blocked key's score is higher than the others (by {2 * (high - low):g})"
        check.close(name, weights, expected, mistakes=slips)
    for low in (-15.0 - few(seed), -60.0 - few(seed), -3e3):
        query, key = torch.ones(1, 2, 4), torch.tensor([[[low], [low - 1], [low - 0.5]]]).expand(1, 3, 4)
        if attend(answer, query, key[:, ::2], value[:, ::2])[1].isnan().any():
            continue  # a softmax that such scores break: the check of values says so
        _, weights = attend(answer, query, key, value, mask)
        verdict = f"Under a mask, `weights` contains NaN when all scores are about {2 * low:g}."
        check.true(not weights.isnan().any(), verdict)
        check.true((weights[..., 1] < 1e-6).all(), "A blocked key gets weight when the other scores are very low.")
    query, key = torch.zeros(1, 2, 4), torch.ones(1, 3, 4)
    alone, weights = (attend(answer, query, *kept)[1] for kept in ((key[:, ::2], value[:, ::2]), (key, value, mask)))
    evenly = torch.allclose(weights, mask * torch.full((1, 2, 1), 0.5), atol=1e-3)
    verdict = "Where all scores are 0, the allowed keys do not share the weight evenly under a mask."
    slip = "Ask the mask which keys are blocked, not the scores: an allowed key may have a score of 0, too."
    check.true(evenly or not torch.allclose(alone, torch.full((1, 2, 2), 0.5), atol=1e-3), verdict, slip)
    query, key, value = tensors((2, 3, 8), (2, 3, 8), (2, 3, 6), seed=seed, dtype=torch.bfloat16)
    try:
        _, weights = attend(answer, query, key, value, mask)
    except RuntimeError as error:  # to add a mask of float32 is a choice, to overflow is none
        refuses = "same dtype" in str(error) or "scalar type" in str(error)
        check.true(refuses, f"In bfloat16: {error}.")
        return
    check.true((weights[..., 1] == 0).all(), "In bfloat16 a blocked key gets some weight.")


def dropout_cases(answer: Attention, *, seed: int = 0) -> None:
    """Dropout acts once, on the answer's own weights, with a mask or without, and only while it is in train mode."""
    answer = on_own_mask(answer)
    for index, (query, key, value, _) in enumerate(_queries(seed)):
        mask = None if index % 2 else masks(seed + index, key.size(-2))
        _, before = attend(answer, query, key, value, mask)
        if mask is not None and not before.isfinite().all():
            continue  # the check of masks says so
        with check.case(query=query, key=key, value=value, mask=mask):
            output, weights = attend(answer, query, key, value, mask, dropout=lambda weights: 2 * weights)
            check.close("weights", weights, 2 * before)
            output, weights = attend(answer, query, key, value, mask, dropout=nn.Dropout(0.5))
            check.close("output", output, weights @ value)
            _, weights = attend(answer, query, key, value, mask, dropout=nn.Dropout(0.5).eval())
            check.close("`weights` under a dropout in eval mode", weights, before)
    query, key, value = (x.requires_grad_() for x in tensors((2, 3, 8), (2, 5, 8), (2, 5, 6), seed=seed))
    output, _ = attend(answer, query, key, value, dropout=lambda weights: 2 * weights)
    check.gradients_reach({"query": query, "key": key, "value": value}, output)
    with torch.no_grad():
        draws = [attend(answer, query, key, value, dropout=nn.Dropout(0.5))[1] for _ in range(2)]
    check.differs("weights", *draws, when="the dropout is drawn anew")
    dropped = torch.stack(draws) == 0  # (2, batch, query_len, key_len)
    for who, first in {"query": dropped[:, :, :1], "sentence": dropped[:, :1]}.items():
        check.true(not (dropped == first).all(), f"Under `nn.Dropout`, every {who} drops the same weights.")


def cases_by_hand(answer: Attention, *, seed: int = 0) -> None:
    """With a mask and without, nothing ready is called and the gradients are right."""
    answer = on_own_mask(answer)
    inputs = tensors((1, 2, 3), (1, 4, 3), (1, 4, 2), seed=seed, dtype=torch.float64)
    inputs = tuple(x.requires_grad_() for x in inputs)
    gradcheck = partial(torch.autograd.gradcheck, raise_exception=False, fast_mode=True)
    for mask in (None, torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1]]).bool().roll(seed, dims=-1)):
        with check.without(*READY, instead="products, a scale, a mask, a softmax"):
            output, _ = attend(answer, *inputs, mask)
        swapped = {"output and weights are swapped": (1, 2, 4)}
        check.shape("output", output, batch=1, query_len=2, d_v=2, mistakes=swapped)
        if mask is not None and output.isnan().any():
            continue  # the check of masks says so
        again, _ = attend(answer, *inputs, mask)
        verdict = "Two calls with the same inputs and without `dropout` give different outputs."
        check.true(torch.allclose(again, output), verdict, "Without `dropout`, nothing may be left to chance.")
        check.gradients_reach(dict(zip(("query", "key", "value"), inputs, strict=True)), output)
        steep = gradcheck(lambda *given, mask=mask: answer(*given, mask)[0], inputs, eps=1e-3, atol=5e-3, rtol=1e-2)
        verdict = "The gradient of `output` is not the slope that a small change of the inputs shows."
        right, _ = parts.scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask)
        is_right = torch.allclose(output, right, rtol=1e-9, atol=1e-9)  # so that the graph alone can be at fault
        check.true(steep, verdict, "Something on the way is detached from the graph." if is_right else None)


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


def weight_slips(query: Tensor, key: Tensor, value: Tensor | None = None) -> dict[str, Tensor]:
    """Weights for query (…, query_len, d_k) and key (…, key_len, d_k), without a mask.

    Args:
        value: (…, key_len, d_v), whose width somebody may divide by.
    """
    products, scores = _products(query, key), _scores(query, key)
    right = scores.softmax(dim=-1)
    slips = _wrong_weights(query, key) | {
        "the softmax is missing, or the scores are returned in place of the weights": scores,
        "the scale and the softmax are both missing": products,
        "the weights are divided by √d_k, after the softmax, instead of the scores before it": (
            products.softmax(dim=-1) / math.sqrt(query.size(-1))
        ),
        "later keys are hidden, as by a causal mask, though no mask is given": (
            scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf).softmax(dim=-1)
        ),
        "`log_softmax` is used instead of the softmax": scores.log_softmax(dim=-1),
        "every key gets the same weight, whatever the scores": torch.full_like(right, 1 / key.size(-2)),
    }
    if value is not None and value.size(-1) != query.size(-1):
        slips["the scores are divided by √d_v instead of √d_k"] = (products / math.sqrt(value.size(-1))).softmax(-1)
    return slips


def sum_slips(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    """Sums over the keys of `attention_weights`, (…, query_len), where they are not 1."""
    sums = {slip: weights.sum(dim=-1) for slip, weights in weight_slips(query, key).items()}
    return {slip: total for slip, total in sums.items() if not torch.allclose(total, torch.ones_like(total), atol=1e-3)}


def overflow_slips(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    """Weights by a softmax written out, for scores so large that only some rows survive it."""
    scores = _scores(query, key)
    powers, shifted = scores.exp(), (scores - scores.max()).exp()
    return {
        "`exp` of a large score overflows to ∞, and ∞/∞ is NaN: subtract each row's largest score first, or use "
        "`torch.softmax`": powers / powers.sum(dim=-1, keepdim=True),
        "large scores are cut off, as by `clamp`": scores.clamp(-50, 50).softmax(dim=-1),
        "the largest score of all is subtracted: in a row far below it every `exp` is 0, and 0/0 is NaN. Subtract each "
        "row's own, or use `torch.softmax`": shifted / shifted.sum(dim=-1, keepdim=True),
    }


def output_slips(query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Outputs for query (…, query_len, d_k), key (…, key_len, d_k), value (…, key_len, d_v), without a mask."""
    scores = _scores(query, key)
    right = scores.softmax(dim=-1)
    return {slip: weights @ value for slip, weights in _wrong_weights(query, key).items()} | {
        "the weights average the keys instead of the values": right @ key,
        "the scores weight the values without a softmax": scores @ value,
        "every value counts the same": value.mean(dim=-2, keepdim=True).expand_as(right @ value),
    }


def mask_slips(query: Tensor, key: Tensor, mask: Tensor, free: Tensor) -> dict[str, Tensor]:
    """Weights for wrong uses of `mask`, bool (…, query_len, key_len), True = may attend.

    Args:
        free: (…, query_len, key_len), the answer's own weights without a mask, which may be wrong in themselves.
    """
    scores = _scores(query, key)
    slips = {
        "the mask is not used": free,
        "the mask is read the wrong way round (True = may attend)": free * ~mask / (free * ~mask).sum(-1, keepdim=True),
        "a blocked score becomes 0, or nearly 0, and exp(0) = 1 still is a weight": (scores * mask).softmax(dim=-1),
        "the mask is added to the scores as 0 and 1": (scores + mask.to(scores)).softmax(dim=-1),
        "blocked scores get −1 instead of a large negative number": torch.where(mask, scores, -1.0).softmax(dim=-1),
        "blocked scores get −10 instead of a large negative number": torch.where(mask, scores, -10.0).softmax(dim=-1),
        "blocked weights are set to 0 after the softmax, so that a row no longer sums to 1": free * mask,
        DIVIDED_ANEW: free * mask / (free * mask).sum(-1, keepdim=True),
        LOWERED: (scores - 50 * mask.logical_not()).softmax(dim=-1),
    }
    if mask.logical_not().sum(dim=-1).max() > 1:  # a single one has all weight by other slips, too
        alone = "the blocked keys have all weight, in equal parts: their scores lie far above those of the allowed keys"
        slips[alone] = torch.where(mask, scores, 1e9).softmax(dim=-1)
    slips["blocked weights become −∞ after the softmax, where a score should"] = free.masked_fill(~mask, -torch.inf)
    return possible(slips, scores.masked_fill(mask.logical_not(), -torch.inf).softmax(dim=-1))


def dropout_slips(
    query: Tensor, key: Tensor, value: Tensor, weights: Tensor, dropout: Callable[[Tensor], Tensor]
) -> dict[str, dict[str, Tensor]]:
    """Slips of `dropout`, for both results: {"weights": {slip: values}, "output": {slip: values}}.

    Args:
        weights: (…, query_len, key_len), the answer's own without dropout.
    """
    scores = _scores(query, key)
    early = dropout(scores).softmax(dim=-1)
    never, before = "dropout is not applied to them", "dropout acts on the scores, before the softmax"
    twice, again = "dropout is applied twice", "the weights are divided by their sum once more after dropout"
    shared = dropout(weights) / dropout(weights).sum(dim=-1, keepdim=True)
    return {
        "weights": {never: weights, before: early, twice: dropout(dropout(weights)), again: shared},
        "output": {
            "the output is made from the weights before dropout": weights @ value,
            "the output is dropped as well as the weights": dropout(dropout(weights) @ value),
            "dropout acts on the output instead of the weights": dropout(weights @ value),
            before: early @ value,
            twice: dropout(dropout(weights)) @ value,
            again: shared @ value,
        },
    }


def _wrong_weights(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    products, scores = _products(query, key), _scores(query, key)
    slips = {slip: (products * scale).softmax(dim=-1) for slip, scale in _wrong_scales(query, key).items()} | {
        "the softmax runs over the queries instead of the keys": scores.softmax(dim=-2),
        "the exponentials are not divided by their sum": scores.exp(),
        "all exponentials are divided by one sum, over every row and sentence, instead of their own row's": (
            scores.flatten().softmax(dim=0).reshape(scores.shape)
        ),
        "a sigmoid is used instead of the softmax": scores.sigmoid(),
        "the softmax is taken of minus the scores": (-scores).softmax(dim=-1),
        "the softmax is taken twice": scores.softmax(dim=-1).softmax(dim=-1),
        "each query takes its best-matching key alone, without a softmax": (
            F.one_hot(scores.argmax(dim=-1), key.size(-2)).to(scores)
        ),
        "the scores are not scaled, and the softmax runs over the queries": products.softmax(dim=-2),
        "the scores are cosines: query and key are divided by their lengths": (
            _products(F.normalize(query, dim=-1), F.normalize(key, dim=-1)).softmax(dim=-1)
        ),
    }
    if query.dim() > 2:
        slips["the softmax runs over the first dimension, the batch"] = scores.softmax(dim=0)
    if query.dim() > 3:
        slips["the softmax runs over the heads instead of the keys"] = scores.softmax(dim=1)
    return slips


def _products(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("...qd,...kd->...qk", query, key)


def _scores(query: Tensor, key: Tensor) -> Tensor:
    return _products(query, key) / math.sqrt(query.size(-1))


def _wrong_scales(query: Tensor, key: Tensor) -> dict[str, float]:
    d_k = query.size(-1)
    scales = {
        "the scores are not divided by √d_k": 1.0,
        "the scores are divided by d_k instead of √d_k": 1 / d_k,
        "the scores are multiplied by √d_k instead of divided": math.sqrt(d_k),
        "the root is written `d_k ** 1 / 2`, which is d_k / 2": 2 / d_k,
        "the scores are divided by √key_len instead of √d_k": 1 / math.sqrt(key.size(-2)),
        "the scores are divided by √query_len instead of √d_k": 1 / math.sqrt(query.size(-2)),
        "the root of d_k is rounded down to a whole number": 1 / math.isqrt(d_k),
        "the root is taken twice: the scores are divided by √(√d_k)": d_k**-0.25,
    }
    if query.dim() > 2:
        scales["the scores are divided by the root of the batch size instead of √d_k"] = 1 / math.sqrt(query.size(0))
    for fixed, squared in (("√64", 64), ("√8", 8), ("2", 4)):
        if not any(math.isclose(scale, squared**-0.5) for scale in scales.values()):
            scales[f"the scores are divided by a fixed number, {fixed}, instead of √d_k"] = squared**-0.5
    return {slip: scale for slip, scale in scales.items() if not math.isclose(scale, 1 / math.sqrt(d_k))}
