"""Parts of lesson 7: the next token, greedy decoding, and decoding with a key-value cache."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.attention import (
    TensorFunction,
    merge_heads,
    padding_mask,
    projections,
    scaled_dot_product_attention,
    split_heads,
)

Cache = tuple[Tensor, Tensor]
Attend = Callable[[Tensor, Tensor, Tensor, Cache | None], tuple[Tensor, Cache]]


class EncoderDecoder(Protocol):
    """What decoding needs of a model, be it a learner's, this package's or a scripted one."""

    training: bool

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) token ids → memory (batch, src_len, d_model)."""

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len) token ids and the memory of `src` → logits (batch, tgt_len, tgt_vocab_size)."""

    def train(self, mode: bool = True) -> object:
        """Set the mode."""

    def eval(self) -> object:
        """Leave train mode."""


def next_tokens(model: EncoderDecoder, tokens: Tensor, memory: Tensor, src: Tensor) -> Tensor:
    """(batch, length) tokens so far → (batch,), the most probable token to follow in each row."""
    after_last = model.decode(tokens, memory, src).select(1, -1)
    return after_last.topk(1, dim=-1).indices.squeeze(-1)


def greedy_decode(
    model: EncoderDecoder, src: Tensor, max_len: int, bos_id: int = 1, eos_id: int = 2, pad_id: int = 0
) -> Tensor:
    """(batch, src_len) → (batch, ≤ max_len + 1): from BOS on, each time the most probable token, until EOS (§3)."""
    tokens = src.new_full((len(src), 1), bos_id)
    mode = model.training
    model.eval()
    try:
        with torch.inference_mode():
            memory = model.encode(src)
            running = src.new_ones(len(src), dtype=torch.bool)
            while running.any() and tokens.size(1) <= max_len:
                chosen = torch.where(running, next_tokens(model, tokens, memory, src), pad_id)
                tokens = torch.hstack([tokens, chosen.unsqueeze(1)])
                running = running & (chosen != eos_id)
    finally:
        model.train(mode)
    return tokens


def exact_match(predicted: Tensor, expected: Tensor, pad_id: int = 0) -> float:
    """The fraction of rows that agree to the last token, whatever the widths of the two."""
    width = max(rows.size(1) for rows in (predicted, expected))
    same = torch.eq(*(F.pad(tokens, (0, width - tokens.size(1)), value=pad_id) for tokens in (predicted, expected)))
    return same.all(dim=1).double().mean().item()


class Steps(NamedTuple):
    """How a sequence was written, step by step, as `draw.decoding` takes it."""

    tokens: Tensor  # (steps + 1,) ids, BOS included
    probabilities: Tensor  # (steps, tgt_vocab_size) of the token to come
    attention: Tensor  # (steps, src_len) weights of the last layer's cross-attention, the mean of its heads


def decode_in_steps(model: CachedModel, src: Tensor, max_len: int, bos_id: int = 1, eos_id: int = 2) -> Steps:
    """Decode a single source (1, src_len) greedily and keep what was seen on the way; the model is in eval mode."""
    tokens = src.new_full((1, 1), bos_id)
    probabilities: list[Tensor] = []
    attention: list[Tensor] = []
    with torch.no_grad():
        memory = model.encode(src)
        while len(probabilities) < max_len and tokens[0, -1] != eos_id:
            logits = model.decode(tokens, memory, src)[:, -1]
            probabilities.append(logits.softmax(dim=-1))
            attention.append(model.decoder.layers[-1].cross_attention.attention_weights[:, :, -1].mean(dim=1))
            tokens = torch.cat([tokens, logits.argmax(dim=-1, keepdim=True)], dim=1)
    return Steps(tokens[0], torch.cat(probabilities), torch.cat(attention))


class CachedModel(EncoderDecoder, Protocol):
    """What decoding with a cache needs of a model: names of the contract."""

    tgt_embedding: TensorFunction
    positional_encoding: TensorFunction
    output_projection: TensorFunction
    decoder: Any


class CachedDecoder:
    """The decoder of any model of the contract, one token at a time: what was computed for the past is kept.

    Its layers are copies of the model's, with attentions that keep keys and values; the model stays as it is. As in the
    model, each layer's `cross_attention` holds its last `attention_weights`, (batch, num_heads, 1, src_len).
    Of what was written nothing is hidden, not even padding, which a trained model does not write before its EOS.

    Args:
        model: in eval mode.
        src: (batch, src_len) token ids; the encoder runs here, and the memory is projected once for each layer.
        attend: `cached_attention` of lesson 7: query, key, value (batch, num_heads, 1, d_k) and the cache so far →
            output (batch, num_heads, 1, d_k) and the longer cache. A right one when left out.
    """

    def __init__(self, model: CachedModel, src: Tensor, attend: Attend | None = None, pad_id: int = 0) -> None:
        self.model, self.memory, self.length = model, model.encode(src), 0
        model.decode(src[:, :1], self.memory, src)  # after which every attention shows how many heads it has
        mask = padding_mask(src, pad_id)
        self.layers = [
            _with_caches(layer, attend or _attend_to_all, self.memory, mask) for layer in model.decoder.layers
        ]

    def run(self, x: Tensor) -> Tensor:
        """The newest position on its way through all layers, (batch, 1, d_model) → the same shape.

        Raises:
            ValueError: there are several positions, of which the older ones are in the caches already.
        """
        if x.size(1) != 1:
            raise ValueError(f"`run` takes one position, the newest, and got {x.size(1)}.")
        for layer in self.layers:
            x = layer(x, self.memory)
        return x

    def step(self, token: Tensor) -> Tensor:
        """(batch,) the token after those before → logits (batch, tgt_vocab_size) of the one that follows."""
        self.length += 1
        embedded = self.model.tgt_embedding(token.unsqueeze(1)).expand(-1, self.length, -1)
        placed = self.model.positional_encoding(embedded)[:, -1:]  # the same token everywhere: its place is the last
        return self.model.output_projection(self.run(placed)).squeeze(1)


def _with_caches(layer: Any, attend: Attend, memory: Tensor, mask: Tensor) -> Any:
    """A copy of a decoder layer, its two attentions replaced under whatever names it holds them."""
    stand_ins = {
        layer.self_attention: _SelfAttention(layer.self_attention, attend),
        layer.cross_attention: _CrossAttention(layer.cross_attention, memory, mask),
    }
    copied = copy.copy(layer)
    copied._modules = {name: stand_ins.get(part, part) for name, part in layer._modules.items()}
    return copied


def _attend_to_all(query: Tensor, key: Tensor, value: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    old_key, old_value = cache or (key[:, :, :0], value[:, :, :0])
    key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
    return scaled_dot_product_attention(query, key, value)[0], (key, value)


class _StandIn(nn.Module):
    """What is called in place of an attention, with the same weights; PyTorch's answers in pairs."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.num_heads = attention.attention_weights.size(1)
        self.answers_in_pairs = isinstance(attention, nn.MultiheadAttention)
        self.w_q, self.w_k, self.w_v, self.w_o = projections(attention)

    def forward(self, query: Tensor, *others: Any, **options: Any) -> Any:
        """(batch, 1, d_model) → the same shape; keys, values and masks are known already."""
        output = self.w_o(merge_heads(self.attend(query)))
        return (output, None) if self.answers_in_pairs else output

    def attend(self, x: Tensor) -> Tensor:
        """(batch, 1, d_model) → (batch, num_heads, 1, d_k)."""
        raise NotImplementedError


class _SelfAttention(_StandIn):
    def __init__(self, attention: Any, attend: Attend) -> None:
        super().__init__(attention)
        self._attend = attend
        self._cache: Cache | None = None

    def attend(self, x: Tensor) -> Tensor:
        """Attend to x and all that came before, by the learner's function."""
        query, key, value = (split_heads(project(x), self.num_heads) for project in (self.w_q, self.w_k, self.w_v))
        output, self._cache = self._attend(query, key, value, self._cache)
        return output


class _CrossAttention(_StandIn):
    def __init__(self, attention: Any, memory: Tensor, mask: Tensor) -> None:
        super().__init__(attention)
        self._key, self._value = (split_heads(project(memory), self.num_heads) for project in (self.w_k, self.w_v))
        self._mask = mask
        self.attention_weights: Tensor | None = None

    def attend(self, x: Tensor) -> Tensor:
        """Attend to the memory, which was projected once."""
        query = split_heads(self.w_q(x), self.num_heads)
        output, self.attention_weights = scaled_dot_product_attention(query, self._key, self._value, self._mask)
        return output


@torch.inference_mode()
def cached_greedy_decode(
    model: CachedModel, src: Tensor, max_len: int, attend: Attend, bos_id: int = 1, eos_id: int = 2, pad_id: int = 0
) -> Tensor:
    """`greedy_decode` without computing the past again, for a model in eval mode."""
    decoder = CachedDecoder(model, src, attend, pad_id)
    columns = [src.new_full((len(src),), bos_id)]
    running = src.new_ones(len(src), dtype=torch.bool)
    while running.any() and len(columns) <= max_len:
        chosen = torch.where(running, decoder.step(columns[-1]).argmax(dim=-1), pad_id)
        columns.append(chosen)
        running = running & (chosen != eos_id)
    return torch.stack(columns, dim=1)
