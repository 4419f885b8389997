"""Exercise `GroupedQueryAttention`: its cases and its slips."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises.lesson_4.shared import drawn
from autograder.exercises.lesson_9.shared import Module, attended, attention_parameters, made, output_and_cache, turned
from autograder.exercises.shared import device, possible, sizes, some, tensors
from autograder.parts.gpt import twin

CALL, CONTINUED = "attention(x)", "attention(x, cache)"
CLOSE: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-4}


def _made(answer: Module, seed: int, count: int) -> Iterator[tuple[Any, parts.GroupedQueryAttention, Tensor, int]]:
    """Layers of many sizes with an oracle, an x (batch, seq_len, d_model), and the number of heads that are kept."""
    ranges = {"batch": (1, 3), "seq_len": (1, 9), "num_kv_heads": (1, 3), "groups": (1, 3), "pairs": (1, 4)}
    for index, size in enumerate(sizes(seed, count, **ranges)):
        batch, seq_len, num_kv_heads, groups, pairs = size.values()
        given = groups * num_kv_heads * 2 * pairs, groups * num_kv_heads, num_kv_heads
        layer = made("GroupedQueryAttention", answer, *given, parameters=attention_parameters(*given))
        data.randomized(layer, seed=seed + index)
        (x,) = tensors((batch, seq_len, given[0]), seed=31 * seed + index)
        yield layer, twin(parts.GroupedQueryAttention, layer, *given), x, num_kv_heads


def value_cases(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients for layers of any size, in both modes; with as many heads for keys it is multi-head."""
    for layer, oracle, x, _ in _made(answer, seed, 4):
        x.requires_grad_()
        expected, _ = oracle(x)
        for mode in ("train", "eval"):
            with check.case(x=x, num_heads=oracle.num_heads, num_kv_heads=oracle.num_kv_heads, mode=mode):
                with check.unchanged(x=x):
                    output, _ = output_and_cache(CALL, getattr(layer, mode)()(x), "keys", "values")
                check.close("the output", output, expected.detach(), **CLOSE)
        if x.size(1) > 1:  # a token alone attends to itself, whatever its query is
            check.gradients_agree("the output", output / 4, expected / 4, x=x)
            check.gradients_reach(dict(layer.named_parameters()), output)
    data.randomized(layer, seed=seed + 51)
    expected, _ = twin(parts.GroupedQueryAttention, layer, x.size(-1), oracle.num_heads, oracle.num_kv_heads)(x)
    output, _ = output_and_cache(CALL, layer(x), "keys", "values")
    check.close("the output with other weights", output, expected.detach(), **CLOSE)
    device(seed, CALL, layer, x.detach())
    check.separate("GroupedQueryAttention(8, 4, 2)", answer(8, 4, 2), answer(8, 4, 2))
    drawn("GroupedQueryAttention(8, 4, 2)", answer(8, 4, 2))
    double = data.randomized(answer(8, 4, 2).double(), seed=seed)
    (x,) = tensors((2, 3, 8), seed=seed, dtype=torch.float64)
    output, _ = output_and_cache(CALL, double(x), "keys", "values")
    check.dtype("the output", output, torch.float64)


def future_cases(answer: Module, *, seed: int = 0) -> None:
    """Whatever comes later may change: what was said before stays the same."""
    for layer, _, x, _ in _made(answer, seed, 2):
        with check.case(x=x):
            output = output_and_cache(CALL, layer(x), "keys", "values")[0].clone()
            for _ in range(3):  # a small dropout may drop nothing, or the same
                again, _ = output_and_cache(CALL, layer(x), "keys", "values")
                slip = "Something is drawn anew in each call, or kept from one call to the next."
                check.stays("the output", again, output, when="the same input is given once more", slip=slip)
            for place in range(1, x.size(1)):
                other = torch.cat([x[:, :place], 5 - x[:, place:]], dim=1)
                after, _ = output_and_cache(CALL, layer(other), "keys", "values")
                name = f"the output before token {place}"
                slip = "A position may see itself and what came before it."
                check.stays(
                    name, after[:, :place], output[:, :place], when=f"the tokens from {place} on change", slip=slip
                )


def cache_cases(answer: Module, *, seed: int = 0) -> None:
    """In pieces of any lengths the outputs are those of the whole, and a cache can be used twice."""
    for layer, oracle, x, num_kv_heads in _made(answer, seed, 3):
        expected, _ = oracle(x)
        for lengths in some(seed, ([1] * x.size(1), [2, 1, 2, 4], [x.size(1) - 1, 1], [1, 3, 1, 1, 3])):
            cache: Any = None
            start = 0
            for length in lengths:
                piece, before = x[:, start : start + length], cache
                if not piece.size(1):
                    break
                with check.case(x=x, pieces=lengths):
                    output, cache = step(layer, piece, cache, start + piece.size(1), num_kv_heads)
                    check.close(
                        f"the output after {start} tokens", output, expected[:, start : start + length].detach()
                    )
                    if start:  # the same beginning, and something else
                        other = step(layer, 2 - piece, before, start + piece.size(1), num_kv_heads)[0]
                        wanted, _ = oracle(torch.cat([x[:, :start], 2 - piece], dim=1))
                        name = f"the output of other tokens after the same {start}"
                        check.close(name, other, wanted[:, start:].detach(), **CLOSE)
                start += piece.size(1)


def step(layer: Any, piece: Tensor, cache: Any, length: int, num_kv_heads: int) -> tuple[Tensor, Any]:
    """Output and cache of one piece; the cache has the form that it should, and the one before stays as it was."""
    before = {} if cache is None else dict(zip(("cached_keys", "cached_values"), cache, strict=True))
    with check.unchanged(x=piece, **before):
        result = layer(piece) if cache is None else layer(piece, cache)
    call = CALL if cache is None else CONTINUED
    output, kept = output_and_cache(call, result, "keys", "values")
    check.shape("the output", output, batch=len(piece), seq_len=piece.size(1), d_model=piece.size(-1))
    num_heads = layer_heads(layer, num_kv_heads)
    batch, d_k = len(piece), piece.size(-1) // num_heads
    for name, value in zip(("keys", "values"), kept, strict=True):
        told = {
            "every head of the queries has a copy of its own: what is kept should not be repeated": (
                (batch, num_heads, length, d_k)
            ),
            "only as many are kept as are new": (batch, num_kv_heads, piece.size(1), d_k),
        }
        right = batch, num_kv_heads, length, d_k
        told = {slip: shape for slip, shape in told.items() if shape != right}
        dims = dict(zip(("batch", "num_kv_heads", "length", "d_k"), right, strict=True))
        check.shape(f"the {name} in the cache", value, mistakes=told, **dims)
    return output, kept


def layer_heads(layer: Any, num_kv_heads: int) -> int:
    """How many heads the queries have, going by the widths of `w_q` and `w_k`."""
    return num_kv_heads * int(layer.w_q.weight.size(0) // layer.w_k.weight.size(0))


def _projected(layer: Any, x: Tensor, num_heads: int, num_kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (batch, num_heads, length, d_k), keys and values (batch, num_kv_heads, length, d_k) before any turn."""
    key, value = (parts.split_heads(project(x), num_kv_heads) for project in (layer.w_k, layer.w_v))
    return parts.split_heads(layer.w_q(x), num_heads), key, value


@torch.no_grad()
def slips(layer: Any, x: Tensor, num_heads: int, num_kv_heads: int) -> dict[str, Tensor]:
    """Outputs for x (batch, seq_len, d_model) of wrong wirings of the learner's own projections."""
    query, key, value = _projected(layer, x, num_heads, num_kv_heads)
    places, merge = torch.arange(x.size(1)), parts.merge_heads

    def turn(y: Tensor) -> Tensor:
        return turned(y, places)

    def out(attention: Tensor) -> Tensor:
        output: Tensor = layer.w_o(merge(attention))
        return output

    q, k = turn(query), turn(key)
    right = attended(q, k, value)
    whole_q = parts.split_heads(turn(layer.w_q(x)), num_heads)
    whole_k = parts.split_heads(turn(layer.w_k(x)), num_kv_heads)
    first = [y[:, :1].expand_as(y) for y in (k, value)]
    mean = [y.mean(1, keepdim=True).expand_as(y) for y in (k, value)]
    backwards = attended(q.flip(2), k.flip(2), value.flip(2)).flip(2)
    before = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril(-1)
    narrow, _ = parts.scaled_dot_product_attention(q, _shared(k, q), _shared(value, q), before)
    slips = {
        "head i uses the keys and values of head i mod num_kv_heads; neighbours share (`repeat_interleave`)": out(
            attended(q, k, value, interleaved=False)
        ),
        "the future is not hidden": out(attended(q, k, value, is_causal=False)),
        "the past is hidden instead of the future": out(backwards),
        "a token does not see itself": out(narrow),
        "nothing is rotated": out(attended(query, key, value)),
        "nothing is rotated, and the future is not hidden": out(attended(query, key, value, is_causal=False)),
        "only the queries are rotated": out(attended(q, key, value)),
        "only the keys are rotated": out(attended(query, k, value)),
        "the values are rotated, too": out(attended(q, k, turn(value))),
        "the rotation comes before the heads are split": out(attended(whole_q, whole_k, value)),
        "all heads share the first keys and values": out(attended(q, *first)),
        "all heads share the mean of the keys and values": out(attended(q, *mean)),
        "the keys stand in the place of the values": out(attended(q, k, k)),
        "keys and values are exchanged": out(attended(q, turn(value), key)),
        "the scores are not divided by √d_k": out(attended(q, k, value, scale=1.0)),
        "the scores are divided by d_k, not by √d_k": out(attended(q, k, value, scale=1 / q.size(-1))),
        "the scores are divided by √d_model, not by √d_k": out(attended(q, k, value, scale=x.size(-1) ** -0.5)),
        "`w_o` is not used": merge(right),
        "x is added to the output, which is the block's job": x + out(right),
        "the heads are merged without being put beside each other: `transpose` is missing": layer.w_o(
            right.reshape(*x.shape[:-1], -1)
        ),
    }
    return possible(slips, out(right))


@torch.no_grad()
def cache_slips(layer: Any, x: Tensor, num_heads: int, num_kv_heads: int, lengths: Sequence[int]) -> dict[str, Tensor]:
    """Outputs for x (batch, seq_len, d_model), given in pieces of these lengths, of layers that misuse their cache."""
    query, key, value = _projected(layer, x, num_heads, num_kv_heads)
    right = torch.arange(x.size(1))
    restarted = torch.cat([torch.arange(length) for length in lengths])
    counted = torch.cat([torch.full((length,), place) for place, length in enumerate(lengths)])

    def run(
        places: Tensor,
        visible: Callable[[int, int], Tensor],
        *,
        of_keys: Tensor | None = None,
        again: bool = False,
        newest_first: bool = False,
        exchanged: bool = False,
    ) -> Tensor:
        q, k = turned(query, places), key if again else turned(key, places if of_keys is None else of_keys)
        kept, start, outputs = [k[:, :, :0], value[:, :, :0]], 0, []
        for length in lengths:
            end = start + length
            both = zip(kept, (k[:, :, start:end], value[:, :, start:end]), strict=True)
            kept = [torch.cat((new, old) if newest_first else (old, new), dim=2) for old, new in both]
            kept[0] = turned(kept[0], right[:end]) if again else kept[0]
            allowed = visible(start, end)  # (length, end)
            scores = q[:, :, start:end] @ _shared(kept[0], q).mT / q.size(-1) ** 0.5
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
            outputs.append(layer.w_o(parts.merge_heads(weights @ _shared(kept[1], q))))
            kept, start = kept[::-1] if exchanged else kept, end
        return torch.cat(outputs, dim=1)

    def below(start: int, end: int, diagonal: int) -> Tensor:
        return torch.ones(end - start, end, dtype=torch.bool).tril(diagonal)

    def causal(start: int, end: int) -> Tensor:
        return below(start, end, start)

    def newest(start: int, end: int) -> Tensor:
        return causal(start, end) & (torch.arange(end) >= start)

    slips = {
        "new tokens are placed from 0 on, as if there were no cache": run(restarted, causal),
        "new tokens' queries are turned as if they stood from 0 on; their keys are not": run(
            restarted, causal, of_keys=right
        ),
        "new tokens' keys are turned as if they stood from 0 on; their queries are not": run(
            right, causal, of_keys=restarted
        ),
        "keys of the cache are turned once more in every call": run(right, causal, again=True),
        "new keys and values stand before those of the cache": run(right, causal, newest_first=True),
        "keys and values of the cache are exchanged: they come back in one order and are taken in the other": run(
            right, causal, exchanged=True
        ),
        "the cache is not attended to": run(right, newest),
        "a causal mask hides keys of the cache: it should begin behind what is kept (`tril(start)`)": run(
            right, lambda start, end: below(start, end, 0)
        ),
        "new tokens see those that come after them where there is a cache": run(
            right, lambda start, end: below(start, end, end if start else 0)
        ),
        "places are counted in calls, not in tokens": run(counted, causal),
        "new tokens do not see themselves": run(right, lambda start, end: below(start, end, start - 1 if start else 0)),
    }
    return possible(slips, run(right, causal))


def _shared(y: Tensor, query: Tensor) -> Tensor:
    """Keys or values, each as often as queries share it."""
    return y.repeat_interleave(query.size(1) // y.size(1), dim=1)
