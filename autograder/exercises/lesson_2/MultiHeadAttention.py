"""Exercise `MultiHeadAttention`: its cases and its slips."""

import functools
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.exercises import shared
from autograder.parts.attention import LearnersAttention, TensorFunction

LAYERS = "w_q", "w_k", "w_v", "w_o"
REFUSED = ValueError, AssertionError
INSTEAD = "project, split, attend, merge, project"
WEIGHTS_ALONE = "Dropout belongs to the weights alone: hand it to the attention function."


def parameter_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """Four square layers with biases at every width, which no two modules share and no call adds to."""
    for size in shared.sizes(seed, 3, num_heads=(1, 6), d_k=(2, 8)):
        num_heads, d_model = size["num_heads"], size["num_heads"] * size["d_k"]
        expected: dict[str, tuple[int, ...]] = {f"{layer}.weight": (d_model, d_model) for layer in LAYERS}
        expected |= {f"{layer}.bias": (d_model,) for layer in LAYERS}
        call = f"MultiHeadAttention({d_model}, {num_heads})"
        attention, (x,) = answer(d_model, num_heads), shared.tensors((2, 3, d_model), seed=seed)
        check.parameters(call, attention, expected)
        check.separate(call, attention, answer(d_model=d_model, num_heads=num_heads))
        for layer in ("w_q", "w_k", "w_v"):
            weight, slip = getattr(attention, layer).weight, "Leave the first numbers to the layers themselves."
            verdict = f"In a new `{call}`, all numbers of `{layer}.weight` are the same."
            check.true(weight.min() < weight.max(), verdict, slip)
        before = {name for name, _ in attention.named_parameters()}
        saved = set(attention.state_dict())
        attention(x, x, x)
        more = {name for name, _ in attention.named_parameters()} - before
        check.true(not more, f"A call adds parameters: {sorted(more)}.")
        more = set(attention.state_dict()) - saved
        slip = "A new layer cannot load what is saved after a call."
        check.true(not more, f"A call adds to `state_dict()`: {sorted(more)}.", slip)


def error_cases(answer: Callable[[int, int], Any], *, seed: int = 0) -> None:
    """Every divisor of d_model is accepted as num_heads, and nothing else."""
    more = shared.few(seed)
    for d_model in shared.some(seed, (6, 12 + more, 15 + more, 1, 2, 64)):  # 64 / 63 is nearly whole
        small, large = range(1, min(d_model, 16)), (d_model - 1, d_model, d_model + 1, 2 * d_model)
        for num_heads in sorted({*small, *large} - {0}):
            with check.case(d_model=d_model, num_heads=num_heads):
                if d_model % num_heads == 0:
                    answer(d_model, num_heads)
                    continue
                call, because = f"MultiHeadAttention({d_model}, {num_heads})", f"{num_heads} does not divide {d_model}"
                check.raises(call, REFUSED, functools.partial(answer, d_model, num_heads), because=because)


def value_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """The output for one sequence at every size, in both dtypes and modes, with new weights and with large scores."""
    ranges = {"batch": (1, 4), "num_heads": (1, 6), "seq_len": (1, 9), "d_k": (2, 8)}
    for index, size in enumerate(shared.each_smallest(seed, 3, **ranges)):
        batch, num_heads, seq_len, d_k = size.values()
        d_model, dtype = num_heads * d_k, shared.DTYPES[index % 2]
        attention = answer(d_model, num_heads, dropout=0.0).to(dtype).train(index % 3 > 0)
        answer(2 * d_model, 2 * num_heads)  # another layer changes nothing
        (x,) = shared.tensors((batch, seq_len, d_model), seed=31 * seed + index, dtype=dtype)
        for weights_seed in (index, index + 1):
            data.randomized(attention, seed=weights_seed)
            twin = parts.MultiHeadAttention.twin_of(attention, num_heads)
            expected = twin(x, x, x)
            case = check.case(d_model=d_model, num_heads=num_heads, x=x, training=index % 3 > 0)
            with case, check.unchanged(x=x):
                output = attention(x, x, x)
                check.shape("attention(x, x, x)", output, batch=batch, query_len=seq_len, d_model=d_model)
                check.dtype("attention(x, x, x)", output, dtype)
                check.close("attention(x, x, x)", output, expected)
    large = 40 * x.double()  # in float32, large scores would magnify the rounding of their products
    expected = twin.double()(large, large, large)
    check.close("`attention(x, x, x)` with large scores", attention.double()(large, large, large), expected)


def cross_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """The output for query, key and value that differ, under masks of every shape that broadcasts, in both modes.

    One layer is called with every third of these masks, and then without one, so that what it keeps shows.
    """
    ranges = {"batch": (1, 3), "num_heads": (1, 5), "query_len": (1, 7), "key_len": (1, 9), "d_k": (2, 6)}
    for index, size in enumerate(shared.each_smallest(seed, 2, **ranges)):
        batch, num_heads, query_len, key_len, d_k = size.values()
        d_model = num_heads * d_k
        attention = _layer(answer, d_model, num_heads, seed=index, dropout=0.0)
        twin = parts.MultiHeadAttention.twin_of(attention, num_heads)
        every = enumerate(_masks(seed + index, batch, num_heads, query_len, key_len))
        for turn, mask in islice(every, index % 3, None, 3):
            shapes = (batch, query_len, d_model), (batch, key_len, d_model), (batch, key_len, d_model)
            query, key, value = shared.tensors(*shapes, seed=31 * seed + 7 * index + turn)
            value = key if turn % 2 else value
            training = (index + turn) % 3 > 0
            expected = twin(query, key, value, mask)
            case = check.case(num_heads=num_heads, query=query, key=key, mask=mask, training=training)
            with case, check.unchanged(query=query, key=key, value=value):
                output = _masked(attention.train(training), query, key, value, mask)
                check.close("attention(query, key, value, mask)", output, expected)
        _keeps_nothing(attention, twin, query, key)
    _hides_and_learns(_layer(answer, 12, 3, seed=seed, dropout=0.0), answer(12, 3).eval(), seed)


def _hides_and_learns(attention: Any, fresh: Any, seed: int) -> None:
    """The gradients under a mask, in both modes; what is blocked stays so when scores are large; all on one device."""
    call, drawn = "attention(query, key, value, mask)", shared.tensors((2, 9, 12), (2, 6, 12), (2, 6, 12), seed=seed)
    mask = (torch.arange(6) < 2).expand(9, 6)
    query, key, value = (x.requires_grad_() for x in drawn)
    twin = parts.MultiHeadAttention.twin_of(attention, 3)
    expected = twin(query, key, value, mask)
    for training in (False, True):
        output = attention.train(training)(query, key, value, mask)
        check.gradients_agree(call, output, expected, query=query, key=key, value=value)
    shared.device(seed, "attention(x, x, x)", fresh, *drawn[:1] * 3)
    shared.device(seed, call, fresh, *drawn, mask)
    large = 1e5 * query.detach().double(), key.detach().double(), value.detach().double()
    expected = twin.double()(*large, mask)
    check.close(f"`{call}` with large scores", attention.double()(*large, mask), expected)


def _masked(attention: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """The output, having made sure that the mask stays as it is."""
    given = {} if mask is None else {"mask": mask}
    with check.unchanged(**given):
        output: Tensor = attention(query, key, value, *given.values())
    return output


def _keeps_nothing(attention: Any, twin: parts.MultiHeadAttention, query: Tensor, key: Tensor) -> None:
    """The next call, with more queries, with one key less, or with other weights, is answered on its own terms."""
    longer, shorter = torch.cat([query, query], dim=1), key[:, 1:] if key.size(1) > 1 else key
    first, *others = (longer, key, key), (query, shorter, shorter), (key, key, 1 - key), (query, key, key)
    for inputs in (first, others[twin.num_heads % 3]):
        expected = twin(*inputs)
        with check.case(num_heads=twin.num_heads, query=inputs[0], key=inputs[1]):
            name = "`attention(query, key, value)` called after other inputs"
            check.close(name, attention(*inputs), expected)
    data.randomized(attention.eval(), seed=51)
    expected = parts.MultiHeadAttention.twin_of(attention, twin.num_heads)(query, key, key)
    check.close("`attention(query, key, value)` with other weights", attention(query, key, key), expected)


def _masks(seed: int, batch: int, num_heads: int, query_len: int, key_len: int) -> Iterator[Tensor | None]:
    """Draw masks of every shape that broadcasts to (batch, num_heads, query_len, key_len), and None among them."""
    full = batch, num_heads, query_len, key_len
    yield shared.masks(seed, batch, 1, 1, key_len)
    yield None
    yield shared.masks(seed + 1, batch, 1, 1, key_len)
    shapes = full[2:], full[1:], (1, 1, *full[2:]), (batch, 1, *full[2:]), full
    yield from (shared.masks(seed + 2, *shape) for shape in shapes)


def shown_weights(attention: Any, query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """Call a layer in such a way that its output shows the weights that made it, whatever the layer keeps.

    `w_v` and `w_o` are set to hand on what they get, and the values of a head are a turned identity; so there have to
    be as many keys as columns in a head: d_model = num_heads · key_len.

    Returns:
        (batch, num_heads, query_len, key_len), detached.
    """
    return _shown(attention, query, key, mask)[1]


def weights_behind(attention: Any, query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """Call a layer that drops nothing as `shown_weights` does, and say which weights it should have kept.

    Returns:
        those of attention with its layers, (batch, num_heads, query_len, key_len); where it keeps others, and its
        output shows that these are what it used, or weights, the ones it used: a slip before the softmax is told
        elsewhere.
    """
    right = _right_weights(attention, query, key, mask)
    used, kept = shown_weights(attention, query, key, mask), getattr(attention, "attention_weights", None)
    if _same_weights(right, kept, atol=1e-4) or not (_same_weights(used, kept, atol=1e-4) or _are_weights(used)):
        return right
    return used


def _right_weights(attention: Any, query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    """The weights that attention with the layer's own projections has; a head is as wide as there are keys."""
    twin = parts.MultiHeadAttention.twin_of(attention, key.size(2) // key.size(1))
    twin(query, key, key, mask)
    assert twin.attention_weights is not None
    return twin.attention_weights


def _are_weights(shown: Tensor) -> bool:
    """What an output shows are weights, none negative and 1 in sum; else something after the attention changes it."""
    return bool((shown > -1e-4).all() and ((shown.sum(dim=-1) - 1).abs() < 1e-3).all())


def _shown(attention: Any, query: Tensor, key: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The output of `shown_weights`, cut into heads, and the weights."""
    batch, key_len, d_model = key.shape
    with torch.no_grad():
        for layer in (attention.w_v, attention.w_o):
            layer.weight.copy_(torch.eye(d_model))
            layer.bias.copy_(torch.zeros(d_model))
    turned = torch.linalg.qr(shared.tensors((key_len, key_len), seed=key_len)[0])[0]
    value = turned.repeat(1, d_model // key_len).expand(batch, key_len, d_model)
    output = _masked(attention, query, key, value, mask)
    check.shape("attention(query, key, value)", output, batch=batch, query_len=query.size(1), d_model=d_model)
    heads = parts.split_heads(output.detach(), d_model // key_len)
    weights = heads @ turned.mT
    return heads, weights.where(weights.abs() > 1e-6, 0.0)


def weight_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """`attention_weights` are those that made the output of the last call: masked, and after dropout."""
    for index, (p, attention, query, key, mask) in enumerate(_layers(answer, seed)):
        other = answer(key.size(2), key.size(2) // key.size(1))
        for training in (False, True):
            for given in (mask, None):
                with check.case(query=query, key=key, mask=given, training=training):
                    used = weights_behind(attention.eval(), query + index, key, given)
                    last, latest = (shown_weights(attention, query + index, key, given) for _ in range(2))
                    if not torch.allclose(last, latest, atol=1e-5):
                        used = latest  # a dropout that never rests, as its own check says: what made this very output
                    if training:
                        free, kept = shown_weights(attention, query + index, key, given), attention.attention_weights
                        used = shown_weights(attention.train(), query + index, key, given)
                        if not torch.allclose(free, kept, atol=1e-4) or not _is_dropout(used, free, p):
                            continue  # this output does not show its weights, and another check says why
                    other(key, key, key)  # another layer keeps its own
                    kept = attention.attention_weights
                    told = "After a call there is no `attention.attention_weights`, or it is None."
                    check.true(kept is not None, told)
                    is_told = used.min() > -1e-3 or _same_weights(used, kept)  # else what the output shows are none
                    check.true(is_told, "The output is not made by `attention.attention_weights`.")
                    check.close("`attention.attention_weights`, held against the output", kept, used)
                    check.true(not kept.requires_grad, "`attention.attention_weights` asks for gradients.")


def shape_slips(attention: Any, query: Tensor, key: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """What wrong layers keep, under a mask (batch, 1, 1, key_len), in other shapes than they should."""
    right, twin = _right_weights(attention, query, key, mask), parts.MultiHeadAttention.twin_of(attention, 1)
    twin(query, key, key, mask)
    assert twin.attention_weights is not None
    return {
        "the heads have been averaged": right.mean(dim=1),
        "only the first head's weights are kept": right[:, 0],
        "only the last head's weights are kept": right[:, -1],
        "the heads were never split": twin.attention_weights[:, 0],
        "there is one head of width d_model": twin.attention_weights,
    }


def _is_dropout(used: Tensor, before: Tensor, p: float) -> bool:
    """Each weight is 0 or what dropping at the rate `p` makes of it."""
    return bool(((used == 0) | torch.isclose(used, before / (1 - p), rtol=1e-3, atol=1e-5)).all())


def dropout_cases(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """In training each weight is dropped with the probability given, on its own and anew in every call, and only it.

    The weights are read off the output, so that what a layer keeps, and how it projects, does not matter here.
    """
    check.defaults("MultiHeadAttention", answer, dropout=0.0)
    for p, attention, query, key, mask in _layers(answer, seed):
        for given in (None, mask):
            with check.case(query=query, key=key, mask=given):
                before, weights = _shown(attention.eval(), query, key, given)
                verdict = "In eval mode, two calls of `attention(query, key, value)` differ."
                check.true(torch.allclose(shown_weights(attention, query, key, given), weights, atol=1e-5), verdict)
                known = _right_weights(attention, query, key, given), getattr(attention, "attention_weights", None)
                if not any(_same_weights(weights, each) for each in known):
                    # These are not the weights under this mask, and the checks of values say so.
                    one, other = (_shown(attention.train(), query, key, given)[0] for _ in range(2))
                    verdict = f"In training, two calls of `attention(query, key, value)` are the same at dropout={p}."
                    check.true(not torch.equal(one, other), verdict)
                    if given is None:
                        _keeps_entries(one, before, p, None)
                    continue
                _is_dropped(attention.train(), p, before, weights, query, key, given)
    (x,) = shared.tensors((2, 8, 12), seed=seed)
    shared.rests_at_any_rate("attention(x, x, x)", lambda rate: answer(12, 3, dropout=rate), 0.4, x, x, x)
    for still in (answer(12, 3).train(), answer(12, 3, dropout=0.0).train()):
        same = torch.allclose(still(x, x, x), still(x, x, x), atol=1e-5)
        check.true(same, "In training, two calls of `attention(x, x, x)` differ at dropout=0.0.")


def _same_weights(weights: Tensor, others: object, atol: float = 1e-3) -> bool:
    return isinstance(others, Tensor) and weights.shape == others.shape and torch.allclose(weights, others, atol=atol)


def _is_dropped(
    attention: Any, p: float, before: Tensor, weights: Tensor, query: Tensor, key: Tensor, mask: Tensor | None
) -> None:
    """The weights of a layer in train mode are dropped; `before` and `weights` are what it shows in eval mode."""
    after, used = _shown(attention, query, key, mask)
    _keeps_entries(after, before, p, WEIGHTS_ALONE)
    kept = getattr(attention, "attention_weights", None)
    elsewhere = _same_weights(weights, kept, 1e-5) and not (
        _is_dropout(used, weights, p) or _same_weights(used, weights)
    )
    check.true(not elsewhere, "In training, no entry of the weights is dropped, but something else is.", WEIGHTS_ALONE)
    name = "the weights that make the output"
    seen = weights != 0
    if mask is not None or not seen.all():  # by this mask, or by one of the answer's own
        check.dropout(name, used[seen], weights[seen], p=p)
        return
    check.dropout(name, used, weights, p=p, mistakes=shared.rate_slips(weights, p))
    dropped, next_dropped = used == 0, shown_weights(attention, query, key) == 0
    check.true(not torch.equal(dropped, next_dropped), "In training, every call drops the same weights.")
    same = used.size(1) > 1 and torch.equal(dropped[:, 0], dropped[:, 1])
    same = same and not torch.allclose(weights[:, 0], weights[:, 1], atol=1e-4)
    check.true(not same, "In training, every head drops the same weights.")


def _keeps_entries(after: Tensor, before: Tensor, p: float, slip: str | None) -> None:
    """No entries of a layer's output in training are dropped at the rate `p`, of what it was in eval mode.

    Where heads are narrower than they should be, all weights of one may be dropped by chance, and fewer entries are 0.

    Args:
        slip: what it comes from, where the values in eval mode are right; else the weights may stand in the output.
    """
    zeroed = (after == 0) & (before != 0) & (after != 0).any(dim=-1, keepdim=True)
    verdict = "In training, entries of the output itself are dropped, or of the input of `w_o`."
    check.true(zeroed.float().mean() < p / 2, verdict, slip)


def _layers(answer: Callable[..., Any], seed: int) -> Iterator[tuple[float, Any, Tensor, Tensor, Tensor]]:
    """Draw layers that can show their weights: the rate of dropout, the layer, query, key and a mask."""
    shapes = (2, 3, 8, 8), (1, 2, 20, 6), (3, 1, 9, 9)
    for index, (batch, num_heads, query_len, key_len) in shared.some(seed, enumerate(shapes)):
        d_model = num_heads * key_len
        p = 0.6 if index == 2 else 0.25
        attention = _layer(answer, d_model, num_heads, seed=seed + index, dropout=p)
        parts.MultiHeadAttention.twin_of(attention, num_heads)  # says which layer is missing, or of another size
        answer(d_model, num_heads, dropout=0.4)  # another layer has its own rate
        query, key = shared.tensors((batch, query_len, d_model), (batch, key_len, d_model), seed=seed + index)
        yield p, attention, query, key, shared.masks(seed + index, batch, 1, 1, key_len)


def cases_by_hand(answer: Callable[..., Any], *, seed: int = 0) -> None:
    """With a mask and without, in both modes, nothing ready is called, and all layers and inputs get a gradient."""
    attention = _layer(answer, 12, 3, seed=seed)
    inputs = shared.tensors((2, 4, 12), (2, 6, 12), (2, 6, 12), seed=seed)
    for mask in (None, shared.masks(seed, 4, 6)):
        for training in (True, False):
            query, key, value = (x.clone().requires_grad_() for x in inputs)
            with check.without("nn.MultiheadAttention", instead=INSTEAD):
                output = _masked(attention.train(training), query, key, value, mask)
            sources = {f"{name}.weight": getattr(attention, name).weight for name in LAYERS}
            check.gradients_reach(sources | {"query": query, "key": key, "value": value}, output)


def _layer(answer: Callable[..., Any], d_model: int, num_heads: int, *, seed: int, **options: float) -> Any:
    """A layer with weights drawn from a seed."""
    return data.randomized(answer(d_model, num_heads, **options), seed=seed)


@torch.no_grad()
def slips(
    module: LearnersAttention, num_heads: int, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Outputs for query (batch, query_len, d_model), key and value (batch, key_len, d_model).

    Args:
        module: the learner's module; its layers `w_q, w_k, w_v, w_o` are used as they are.
    """

    def heads(x: Tensor) -> Tensor:
        return torch.stack(x.chunk(num_heads, dim=-1), dim=1)

    def side_by_side(x: Tensor) -> Tensor:
        return torch.cat(x.unbind(dim=1), dim=-1)

    def layer(
        q: Tensor | None = None,
        k: Tensor | None = None,
        v: Tensor | None = None,
        *,
        mask: Tensor | None = mask,
        scale: float | None = None,
        split: TensorFunction = heads,
        merge: TensorFunction = side_by_side,
    ) -> Tensor:
        q, k, v = (split(x if given is None else given) for x, given in zip(projected, (q, k, v), strict=True))
        output: Tensor = module.w_o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)))
        return output

    def reshaped(x: Tensor) -> Tensor:
        return x.reshape(x.size(0), num_heads, x.size(1), -1)

    def stacked(x: Tensor) -> Tensor:
        return x.reshape(x.size(0), x.size(2), -1)

    projected, swapped = (module.w_q(query), module.w_k(key), module.w_v(value)), module.w_o(value)
    d_model = query.size(-1)
    slips = {
        "the last layer, `w_o`, is left out": _without_last(module, layer),
        "the scores are divided by √d_model instead of √d_k": layer(scale=d_model**-0.5),
        "the scores are not divided by √d_k": layer(scale=1.0),
        "the heads are merged by a reshape without a transpose": layer(merge=stacked),
        "the heads are split by a reshape without a transpose": layer(split=reshaped, mask=None),
        "the heads are split and merged by reshapes without a transpose": layer(
            split=reshaped, merge=stacked, mask=None
        ),
        "the query is split by a reshape without a transpose": layer(q=side_by_side(reshaped(projected[0]))),
        "the heads are averaged instead of put side by side": layer(
            merge=lambda x: x.mean(dim=1).repeat(1, 1, num_heads)
        ),
        "a ReLU stands after `w_q`": layer(q=projected[0].relu()),
        "ReLUs stand after `w_q`, `w_k` and `w_v`": layer(*(x.relu() for x in projected)),
        "there is one head of width d_model": layer(split=lambda x: x.unsqueeze(1)),
        "the values are not projected by `w_v`": layer(v=value),
        "query and key are not projected": layer(q=query, k=key),
        "the query is not projected by `w_q`": layer(q=query),
        "the key is not projected by `w_k`": layer(k=key),
        "`w_v` projects the key instead of the value": layer(v=module.w_v(key)),
        "`w_k` projects the value instead of the key": layer(k=module.w_k(value)),
        "`w_k` projects the query instead of the key": layer(k=module.w_k(query)) if query.shape == key.shape else None,
        "queries and keys are swapped: `w_q` and `w_k`, or the attention's arguments": layer(
            q=module.w_k(query), k=module.w_q(key)
        ),
        "`w_k` projects the queries too": layer(q=module.w_k(query)),
        "the keys are made with `w_q`, or the queries serve as keys": layer(k=module.w_q(key)),
        "`w_q` projects all three": layer(k=module.w_q(key), v=module.w_q(value)),
        "query, key and value are not projected": layer(q=query, k=key, v=value),
        "keys and values are exchanged, or `w_k` and `w_v`": layer(k=projected[2], v=projected[1]),
        "`w_v` and `w_o` are swapped": module.w_v(_without_last(module, lambda: layer(v=swapped))),
        "the output goes through `w_o` twice": module.w_o(layer()),
        "an input is added to the output: the residual comes in lesson 4": query + layer(),
        "the scores are divided by √d_k twice": layer(scale=num_heads / d_model),
        "the scores are divided by a fixed number, √64, instead of √d_k": layer(scale=1 / 8),
        "the heads are put side by side in reverse order": layer(merge=lambda x: side_by_side(x.flip(1))),
        "the scores are divided by √d_k and by √d_model": layer(scale=(d_model * d_model / num_heads) ** -0.5),
        "a layer norm stands after `w_o`: it comes in lesson 4": F.layer_norm(layer(), (d_model,)),
        "a ReLU stands before `w_o`": module.w_o(_without_last(module, layer).relu()),
        "a ReLU stands after `w_o`": layer().relu(),
        "`num_heads` and d_k are exchanged, so that there are d_k heads": layer(
            split=lambda x: torch.stack(x.chunk(d_model // num_heads, dim=-1), dim=1)
        ),
    }
    for slip, dim in {"heads": 1, "queries": 2}.items():
        weights = (heads(projected[0]) @ heads(projected[1]).mT / (d_model / num_heads) ** 0.5).softmax(dim=dim)
        if mask is None:
            attended = side_by_side(weights @ heads(projected[2]))
            slips[f"the softmax runs over the {slip} instead of the keys"] = module.w_o(attended)
    if mask is None and query.shape == key.shape:
        slips["the future is hidden, though no mask is given"] = layer(
            mask=query.new_ones(query.size(1), key.size(1)).tril().bool()
        )
    if mask is not None:
        slips["the mask is not used"] = layer(mask=None)
        first = torch.arange(num_heads)[:, None, None] == 0
        slips["the mask reaches the first head only"] = layer(mask=mask | ~first)
        slips["the mask is read the wrong way round (True = may attend)"] = layer(mask=~mask)
    return shared.possible(slips, layer())


def _without_last(module: LearnersAttention, layer: TensorFunction) -> Tensor:
    """What reaches `w_o`, caught on its way in."""
    caught: list[Tensor] = []
    with module.w_o.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0])):
        layer()
    return caught[0]
