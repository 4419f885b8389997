"""Parts of lesson 9: what changed since 2017, a model that only writes, and how it is sampled and measured.

`F.rms_norm` came with PyTorch 2.4, and `enable_gqa` with 2.5; older ones, which the package allows, get them spelled
out here, and here alone.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.attention import TensorFunction
from autograder.parts.inputs import numbers_of, require_columns, require_tensors

KeyValues = tuple[Tensor, Tensor]
Module = TypeVar("Module", bound=nn.Module)
_HAS_GROUPS = "enable_gqa" in (inspect.getdoc(F.scaled_dot_product_attention) or "")


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """`F.rms_norm` over the last dimension, x (…, d_model) and weight (d_model,) (Zhang and Sennrich, 2019)."""
    if hasattr(F, "rms_norm"):
        return F.rms_norm(x, weight.shape, weight, eps)
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight


class RMSNorm(nn.Module):
    """`F.rms_norm` with a trained weight; `nn.RMSNorm` is the same with another default for eps."""

    __call__: TensorFunction

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, x: Tensor) -> Tensor:
        """(…, d_model) → the same shape."""
        require_tensors("RMSNorm", x=x)
        return rms_norm(x, self.weight, self.eps)


class SwiGLU(nn.Module):
    """The gated network of Shazeer (2020): `w_down`(silu(`w_gate` x) · `w_up` x)."""

    __call__: TensorFunction

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        up, down = (d_model, d_ff), (d_ff, d_model)
        self.w_gate, self.w_up, self.w_down = (nn.Linear(*sizes, bias=False) for sizes in (up, up, down))

    def forward(self, x: Tensor) -> Tensor:
        """(…, d_model) → the same shape."""
        require_tensors("SwiGLU", x=x)
        output: Tensor = self.w_down(torch.mul(self.w_up(x), F.silu(self.w_gate(x))))
        return output


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn neighbouring columns of x (…, seq_len, d_k), taken as complex numbers, by their positions (seq_len,).

    Pair (2i, 2i + 1) turns by position · base^(−2i / d_k), as in RoFormer (Su and others, 2021).
    """
    require_tensors("rotate", x=x, positions=positions)
    d_k = x.size(-1)
    rates = torch.exp(torch.arange(0, d_k, 2, device=x.device, dtype=x.dtype) * (-math.log(base) / d_k))
    angles = torch.outer(positions.to(x.dtype), rates)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], d_k // 2, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def attend_in_groups(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """`F.scaled_dot_product_attention(…, enable_gqa=True)`: query (batch, num_heads, …), the others num_kv_heads."""
    attend: Callable[..., Tensor] = F.scaled_dot_product_attention
    if _HAS_GROUPS:
        return attend(query, key, value, attn_mask=mask, enable_gqa=True)
    key, value = (x.repeat_interleave(query.size(1) // x.size(1), dim=1) for x in (key, value))
    return attend(query, key, value, attn_mask=mask)


class GroupedQueryAttention(nn.Module):
    """Causal self-attention with rotary positions, whose heads share keys and values in groups (Ainslie, 2023)."""

    __call__: Callable[..., tuple[Tensor, KeyValues]]

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        self.d_k, self.num_heads, self.num_kv_heads = d_model // num_heads, num_heads, num_kv_heads
        kept = num_kv_heads * self.d_k
        self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.w_k, self.w_v = (nn.Linear(d_model, kept, bias=False) for _ in range(2))

    def forward(self, x: Tensor, cache: KeyValues | None = None) -> tuple[Tensor, KeyValues]:
        """(batch, seq_len, d_model) → the same shape, and keys and values (batch, num_kv_heads, length, d_k)."""
        require_columns("GroupedQueryAttention", self.w_q.in_features, x=x)
        query, key, value = (
            layer(x).unflatten(-1, (-1, self.d_k)).movedim(1, 2) for layer in (self.w_q, self.w_k, self.w_v)
        )
        before = 0 if cache is None else cache[0].size(-2)
        places = torch.arange(before, before + x.size(1), device=x.device)
        query, key = rotate(query, places), rotate(key, places)
        if cache is not None:
            key, value = (torch.cat(pair, dim=-2) for pair in zip(cache, (key, value), strict=True))
        mask = places[:, None] >= torch.arange(key.size(-2), device=x.device)
        output: Tensor = self.w_o(attend_in_groups(query, key, value, mask).movedim(1, 2).flatten(2))
        return output, (key, value)


class GPTBlock(nn.Module):
    """A pre-norm block: attention and gated network, each added to what went in (Xiong and others, 2020)."""

    __call__: Callable[..., tuple[Tensor, KeyValues]]

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads=num_kv_heads)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, x: Tensor, cache: KeyValues | None = None) -> tuple[Tensor, KeyValues]:
        """(batch, seq_len, d_model) → the same shape, and what the attention keeps."""
        output, kept = self.attention(self.norm_1(x), cache)
        middle = torch.add(output, x)
        return torch.add(self.feed_forward(self.norm_2(middle)), middle), kept


class GPT(nn.Module):
    """A model that only writes: embedding, blocks, a last norm, and the embedding again as the output layer."""

    def __init__(
        self, vocab_size: int, d_model: int, num_layers: int, num_heads: int, num_kv_heads: int, d_ff: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        blocks = [GPTBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
        self.layers, self.norm = nn.ModuleList(blocks), RMSNorm(d_model)

    def forward(self, tokens: Tensor, cache: Sequence[KeyValues] | None = None) -> Any:
        """(batch, seq_len) → logits (batch, seq_len, vocab_size); with a cache, the longer cache as well."""
        require_tensors("GPT", tokens=tokens)
        x, kept = self.embedding(tokens), []
        for place, block in enumerate(self.layers):
            x, pair = block(x, cache[place] if cache else None)
            kept.append(pair)
        logits = torch.matmul(self.norm(x), self.embedding.weight.mT)
        return logits if cache is None else (logits, kept)


def twin(kind: Callable[..., Module], module: nn.Module, *sizes: int) -> Module:
    """One of the classes above, made of these sizes, with the weights of a course-built `module` copied in."""
    with torch.device("meta"):
        oracle = kind(*sizes)
    numbers = numbers_of(module, {name: value.shape for name, value in oracle.named_parameters()})
    oracle.load_state_dict(numbers, assign=True)
    return oracle


def bits_per_character(model: Callable[[Tensor], Tensor], tokens: Tensor, block_size: int) -> float:
    """Mean of −log₂ of the probability of each token (length,) but the first, from those before it in its block."""
    losses = []
    with torch.inference_mode():
        for block in torch.split(tokens.unfold(0, 2, 1), block_size):  # pairs (token, the next one)
            given, labels = block.unbind(dim=1)
            losses.append(F.cross_entropy(model(given.unsqueeze(0)).squeeze(0), labels, reduction="none"))
    return torch.cat(losses).double().mean().item() / math.log(2)


def kept_chances(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """The probabilities (batch, vocab_size) that `sample` draws from: 0 for what is cut off."""
    chances, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        chances = chances * (torch.arange(chances.size(-1), device=chances.device) < top_k)
        chances = F.normalize(chances, p=1.0, dim=-1)
    if top_p is not None:
        before = chances.cumsum(dim=-1) - chances
        chances = torch.where(before < top_p, chances, 0.0)
    chances = F.normalize(chances, p=1.0, dim=-1)
    return torch.zeros_like(chances).scatter(-1, order, chances)


def sample(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """(batch, vocab_size) → ids (batch,), drawn from the most probable tokens (Holtzman and others, 2020)."""
    require_tensors("sample", logits=logits)
    chances = kept_chances(logits, temperature, top_k, top_p)
    return chances.multinomial(1, generator=generator).flatten()


def generate(model: Callable[..., Any], tokens: Tensor, max_new: int, use_cache: bool = True, **options: Any) -> Tensor:
    """(batch, seq_len) → (batch, seq_len + max_new) tokens; `options` are those of `sample`."""
    written, cache = [tokens], cast(list[KeyValues], [])
    with torch.inference_mode():
        for _ in range(max_new):
            if use_cache:
                logits, cache = model(written[-1], cache)
            else:
                logits = model(torch.cat(written, dim=1))
            written.append(sample(logits.select(1, -1), **options).unsqueeze(1))
    return torch.cat(written, dim=1)
