"""Parts of lesson 7: the next token, greedy decoding, and decoding with a key-value cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.parts.attention import padding_mask
from autograder.parts.blocks import DecoderLayer
from autograder.parts.model import Transformer

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


class CachedDecoder:
    """The decoder of `Transformer`, one token at a time: keys and values of what came before are kept.

    Args:
        model: in eval mode.
        src: (batch, src_len) token ids; the encoder runs here, and the memory is projected once for each layer.
        attend: `cached_attention` of lesson 7: query, key, value (batch, num_heads, 1, d_k) and the cache so far →
            output (batch, num_heads, 1, d_k) and the longer cache.
    """

    def __init__(self, model: Transformer, src: Tensor, attend: Attend) -> None:
        self.model, self.attend, self.position = model, attend, 0
        self.mask = padding_mask(src, model.pad_id)
        memory = model.encode(src)
        self.layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        self.sources = [_project(layer.multihead_attn, memory)[1:] for layer in self.layers]
        self.caches: list[Cache | None] = [None] * len(self.sources)

    def step(self, token: Tensor) -> Tensor:
        """(batch,) the token after those before → logits (batch, tgt_vocab_size) of the one that follows."""
        model = self.model
        x = model.tgt_embedding(token.unsqueeze(1)) + model.positional_encoding.encoding[self.position]
        for i, (layer, (source_key, source_value)) in enumerate(zip(self.layers, self.sources, strict=True)):
            query, key, value = _project(layer.self_attn, x)
            output, self.caches[i] = self.attend(query, key, value, self.caches[i])
            x = layer.norm1(x + _merge(layer.self_attn, output))
            query, *_ = _project(layer.multihead_attn, x)
            output = F.scaled_dot_product_attention(query, source_key, source_value, attn_mask=self.mask)
            x = layer.norm2(x + _merge(layer.multihead_attn, output))
            x = layer.norm3(x + layer.linear2(torch.relu(layer.linear1(x))))
        self.position += 1
        logits: Tensor = model.output_projection(x[:, 0])
        return logits


def _project(attention: nn.MultiheadAttention, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of every head, (batch, num_heads, seq_len, d_k) each."""
    projected = F.linear(x, attention.in_proj_weight, attention.in_proj_bias)
    heads = projected.unflatten(-1, (3, attention.num_heads, -1))  # type: ignore[no-untyped-call]
    query, key, value = heads.permute(2, 0, 3, 1, 4)
    return query, key, value


def _merge(attention: nn.MultiheadAttention, output: Tensor) -> Tensor:
    merged: Tensor = attention.out_proj(output.transpose(1, 2).flatten(2))
    return merged


@torch.inference_mode()
def cached_greedy_decode(
    model: Transformer, src: Tensor, max_len: int, attend: Attend, bos_id: int = 1, eos_id: int = 2, pad_id: int = 0
) -> Tensor:
    """`greedy_decode` without computing the past again, for this package's `Transformer` in eval mode."""
    decoder = CachedDecoder(model, src, attend)
    columns = [src.new_full((len(src),), bos_id)]
    running = src.new_ones(len(src), dtype=torch.bool)
    while running.any() and len(columns) <= max_len:
        chosen = torch.where(running, decoder.step(columns[-1]).argmax(dim=-1), pad_id)
        columns.append(chosen)
        running = running & (chosen != eos_id)
    return torch.stack(columns, dim=1)
