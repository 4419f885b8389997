"""Finished building blocks with the interfaces of the course, made by adapting PyTorch's own.

A lesson takes what earlier lessons built from here, so that a mistake in lesson 1 costs nothing in lesson 5; each
part shows at the same time how the course's names map to those of `torch.nn`. Masks are boolean, True = may attend.
Oracles, PyTorch's own layers with a learner's weights copied in, are what checks compare with (`…_twin`).
"""

from collections.abc import Callable
from typing import Any

from autograder.parts.attention import (
    MultiHeadAttention,
    causal_mask,
    decoder_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from autograder.parts.blocks import AddNorm, DecoderLayer, EncoderLayer, FeedForward
from autograder.parts.decoding import (
    CachedDecoder,
    cached_greedy_decode,
    decode_in_steps,
    exact_match,
    greedy_decode,
    next_tokens,
)
from autograder.parts.gpt import (
    GPT,
    GPTBlock,
    GroupedQueryAttention,
    RMSNorm,
    SwiGLU,
    bits_per_character,
    generate,
    kept_chances,
    rotate,
    sample,
)
from autograder.parts.model import Decoder, Encoder, Transformer, initialize_parameters
from autograder.parts.oracles import decoder_layer_twin, encoder_layer_twin, parameters_of, stack_twin, transformer_twin
from autograder.parts.position import PositionalEncoding, TokenEmbedding, encoding_angle, sinusoidal_encoding
from autograder.parts.removals import without
from autograder.parts.scripted import NextByHistory, NextByTable, NextToken, ScriptedModel
from autograder.parts.training import evaluate, fit, label_smoothed_loss, learning_rate, teacher_forcing, train_step
from autograder.parts.translation.beams import beam_search, beam_steps, best_candidates, sequence_scores
from autograder.parts.translation.text import Tokenizer, learn_merges, make_batches, merge_pair, words_of
from autograder.parts.translation.translator import translator

__all__ = [
    "AddNorm",
    "CachedDecoder",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "GPT",
    "GPTBlock",
    "GroupedQueryAttention",
    "MultiHeadAttention",
    "NextByHistory",
    "NextByTable",
    "NextToken",
    "PositionalEncoding",
    "RMSNorm",
    "ScriptedModel",
    "SwiGLU",
    "TokenEmbedding",
    "Tokenizer",
    "Transformer",
    "beam_search",
    "beam_steps",
    "best_candidates",
    "bits_per_character",
    "cached_greedy_decode",
    "causal_mask",
    "decode_in_steps",
    "decoder_layer_twin",
    "decoder_mask",
    "encoder_layer_twin",
    "encoding_angle",
    "evaluate",
    "exact_match",
    "fit",
    "generate",
    "greedy_decode",
    "initialize_parameters",
    "kept_chances",
    "label_smoothed_loss",
    "learn_merges",
    "learning_rate",
    "make_batches",
    "merge_heads",
    "merge_pair",
    "next_tokens",
    "of_lesson",
    "padding_mask",
    "parameters_of",
    "rotate",
    "sample",
    "scaled_dot_product_attention",
    "sequence_scores",
    "sinusoidal_encoding",
    "split_heads",
    "stack_twin",
    "teacher_forcing",
    "train_step",
    "transformer_twin",
    "translator",
    "without",
    "words_of",
]

_GIVEN = {
    1: (padding_mask, causal_mask),
    2: (scaled_dot_product_attention, split_heads, merge_heads),
    3: (encoding_angle, sinusoidal_encoding),
    4: (MultiHeadAttention, FeedForward, AddNorm),
    5: (padding_mask, decoder_mask, TokenEmbedding, PositionalEncoding, EncoderLayer, DecoderLayer, Encoder, Decoder),
    6: (teacher_forcing, label_smoothed_loss, train_step),
    7: (next_tokens,),
    8: (merge_pair, sequence_scores, best_candidates),
    9: (RMSNorm, SwiGLU, rotate, GroupedQueryAttention, GPTBlock, sample),
}


def of_lesson(number: int, *names: str) -> dict[str, Callable[..., Any]]:
    """The right neighbours for the checks of a lesson's later exercises, by name (`given=` of `check.exercise`).

    Args:
        names: only these; all of the lesson's when left out.
    """
    return {part.__name__: part for part in _GIVEN[number] if not names or part.__name__ in names}
