"""Fingerprints: the values that known slips would produce, by the sentence that names the slip.

Each function takes what a check gave to the answer and returns `{slip: values}` for `mistakes=` of `check.close`,
`check.equal` and `check.shape`; a slip completes "These are the values you get when …". A slip that could not show on
these inputs is left out.
"""

from autograder.mistakes.attention import (
    attention_dropout,
    attention_mask,
    attention_output,
    attention_weights,
    causal_mask,
    decoder_mask,
    one_query,
    padding_mask,
)
from autograder.mistakes.blocks import add_norm, decoder_layer, encoder_layer, feed_forward, layer_norm
from autograder.mistakes.decoding import cache, cached_attention, exact_match, greedy_decode, next_tokens
from autograder.mistakes.model import decoder, encoder, transformer, transformer_future, transformer_padding
from autograder.mistakes.multi_head import merge_heads, multi_head_attention, split_heads
from autograder.mistakes.position import (
    dropout_of_sum,
    encoding_angle,
    positional_encoding,
    shifted,
    sinusoidal_encoding,
    token_embedding,
)
from autograder.mistakes.training import (
    decoder_input,
    evaluated_accuracy,
    evaluated_loss,
    label_smoothed_loss,
    labels,
    learning_rate,
    step_loss,
)

__all__ = [
    "add_norm",
    "attention_dropout",
    "attention_mask",
    "attention_output",
    "attention_weights",
    "cache",
    "cached_attention",
    "causal_mask",
    "decoder",
    "decoder_input",
    "decoder_layer",
    "decoder_mask",
    "dropout_of_sum",
    "encoder",
    "encoder_layer",
    "encoding_angle",
    "evaluated_accuracy",
    "evaluated_loss",
    "exact_match",
    "feed_forward",
    "greedy_decode",
    "label_smoothed_loss",
    "labels",
    "layer_norm",
    "learning_rate",
    "merge_heads",
    "multi_head_attention",
    "next_tokens",
    "one_query",
    "padding_mask",
    "positional_encoding",
    "shifted",
    "sinusoidal_encoding",
    "split_heads",
    "step_loss",
    "token_embedding",
    "transformer",
    "transformer_future",
    "transformer_padding",
]
