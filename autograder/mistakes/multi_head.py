"""Slips of lesson 2: splitting and merging heads, multi-head attention, heads folded into the batch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.parts.attention import LearnersAttention, TensorFunction


def split_heads(x: Tensor, num_heads: int) -> dict[str, Tensor]:
    """Heads of x (batch, seq_len, d_model) as (batch, num_heads, seq_len, d_k)."""
    batch, seq_len, d_model = x.shape
    d_k = d_model // num_heads
    return {
        "the tensor is reshaped straight to (batch, num_heads, seq_len, d_k), which cuts across tokens; "
        "give the heads their own dimension first, then transpose": x.reshape(batch, num_heads, seq_len, d_k),
        "head i takes every num_heads-th column instead of a block of d_k neighbours": (
            x.reshape(batch, seq_len, d_k, num_heads).permute(0, 3, 1, 2)
        ),
        "the sequence and the columns are exchanged before the columns are cut": (
            x.mT.reshape(batch, num_heads, seq_len, d_k)
        ),
        "the heads come in reverse order": torch.stack(x.chunk(num_heads, dim=-1)[::-1], dim=1),
        "every head gets the first d_k columns": torch.stack([x[..., :d_k]] * num_heads, dim=1),
    }


def merge_heads(x: Tensor) -> dict[str, Tensor]:
    """Columns put back from x (batch, num_heads, seq_len, d_k) as (batch, seq_len, d_model)."""
    batch, num_heads, seq_len, d_k = x.shape
    return {
        "the tensor is reshaped before the heads are moved back, which mixes tokens; transpose first": (
            x.reshape(batch, seq_len, num_heads * d_k)
        ),
        "the sequence and the columns of each head are swapped instead of the heads and the sequence": (
            x.transpose(2, 3).reshape(batch, seq_len, num_heads * d_k)
        ),
        "the columns of the heads are interleaved instead of side by side": x.permute(0, 2, 3, 1).flatten(2),
        "the heads come in reverse order": torch.cat(x.unbind(dim=1)[::-1], dim=-1),
    }


def folded_weights(query: Tensor, key: Tensor, is_word: Tensor) -> dict[str, Tensor]:
    """Weights of query and key (batch, num_heads, …, d_k) under is_word (batch, key_len), False = padding.

    The heads are meant to be folded into the batch, each with the mask of its own sentence.
    """
    batch, num_heads, _, d_k = query.shape
    own = is_word[:, None, None, :]  # (batch, 1, 1, key_len)

    def weights(allowed: Tensor, scale: float = d_k**-0.5) -> Tensor:
        return (scale * query @ key.mT).masked_fill(torch.logical_not(allowed), -torch.inf).softmax(dim=-1)

    def apart(folded: Tensor) -> Tensor:
        return folded.reshape(num_heads, batch, query.size(2), -1).transpose(0, 1)

    in_turn = torch.cat([is_word] * num_heads).view(batch, num_heads, 1, -1)
    return {
        "some heads have the mask of another sentence": weights(in_turn),
        "the mask is not used": weights(torch.ones_like(own)),
        "the mask is read the wrong way round": weights(torch.logical_not(own)),
        "every sentence gets the mask of the first": weights(own[:1]),
        "every sentence gets the mask of the last": weights(own[-1:]),
        "only what is a word in all sentences counts as one": weights(own.all(dim=0, keepdim=True)),
        "the scores are not divided by √d_k": weights(own, scale=1.0),
        "the weights come out with the heads before the batch": weights(own)
        .transpose(0, 1)
        .reshape(*query.shape[:-1], -1),
        "the heads are folded in behind the batch, but taken apart as if they came before it": apart(weights(own)),
        "the heads are folded in behind the batch, but masks and result are treated as if they came before it": (
            apart(weights(in_turn))
        ),
    }


def multi_head_attention(
    module: LearnersAttention, num_heads: int, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> dict[str, Tensor]:
    """Outputs for query (batch, query_len, d_model), key and value (batch, key_len, d_model).

    Args:
        module: the learner's module; its layers `w_q, w_k, w_v, w_o` are used as they are.
    """
    with torch.no_grad():
        return _multi_head_attention(module, num_heads, query, key, value, mask)


def _multi_head_attention(
    module: LearnersAttention, num_heads: int, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> dict[str, Tensor]:
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
        "there is one head of width d_model": layer(split=lambda x: x.unsqueeze(1)),
        "the values are not projected by `w_v`": layer(v=value),
        "query and key are not projected": layer(q=query, k=key),
        "the query is not projected by `w_q`": layer(q=query),
        "the key is not projected by `w_k`": layer(k=key),
        "`w_v` projects the key instead of the value": layer(v=module.w_v(key)),
        "`w_k` projects the query instead of the key": layer(k=module.w_k(query)) if query.shape == key.shape else None,
        "`w_q` and `w_k` are swapped": layer(q=module.w_k(query), k=module.w_q(key)),
        "`w_q` projects the keys too": layer(k=module.w_q(key)),
        "`w_q` projects all three": layer(k=module.w_q(key), v=module.w_q(value)),
        "query, key and value are not projected": layer(q=query, k=key, v=value),
        "keys and values are exchanged, or `w_k` and `w_v`": layer(k=projected[2], v=projected[1]),
        "`w_v` and `w_o` are swapped": module.w_v(_without_last(module, lambda: layer(v=swapped))),
        "the output goes through `w_o` twice": module.w_o(layer()),
        "the query is added to the output: the residual comes in lesson 4": query + layer(),
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
    right = layer()
    return {
        slip: values
        for slip, values in slips.items()
        if values is not None and not torch.allclose(values, right, rtol=1e-3, atol=1e-3)
    }


def _without_last(module: LearnersAttention, layer: TensorFunction) -> Tensor:
    """What reaches `w_o`, caught on its way in."""
    caught: list[Tensor] = []
    hook = module.w_o.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
    layer()
    hook.remove()
    return caught[0]
