"""The parts that a learner can keep, in the order of the lessons, each with a call that shows whether it still runs."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder import parts, random_state

_TOKENS, _TARGETS = torch.tensor([[5, 3, 2], [4, 2, 0]]), torch.tensor([[1, 5, 3, 2], [1, 4, 2, 0]])
_X, _HEADS = torch.ones(2, 3, 8), torch.ones(2, 2, 3, 4)
_TOTALS, _LENGTHS = -torch.ones(2, 3), torch.ones(2, 3, dtype=torch.long)
_SIZES = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12, "max_len": 9}


def _model() -> nn.Module:
    return parts.Transformer(9, 9, **_SIZES)  # type: ignore[arg-type]


def _gpt() -> nn.Module:
    return parts.GPT(9, 8, 1, 2, 1, 12)


def _steps(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1)


TRIALS: dict[str, Callable[[Any], object]] = {
    "scaled_dot_product_attention": lambda attend: attend(_HEADS, _HEADS, _HEADS, parts.causal_mask(3)),
    "padding_mask": lambda mask: mask(_TOKENS),
    "causal_mask": lambda mask: mask(3),
    "decoder_mask": lambda mask: mask(_TOKENS),
    "split_heads": lambda split: split(_X, 2),
    "merge_heads": lambda merge: merge(_HEADS),
    "MultiHeadAttention": lambda layer: layer(8, 2)(_X, _X, _X),
    "TokenEmbedding": lambda layer: layer(9, 8)(_TOKENS),
    "encoding_angle": lambda angle: angle(3, 1, 8),
    "sinusoidal_encoding": lambda table: table(5, 8),
    "PositionalEncoding": lambda layer: layer(8)(_X),
    "FeedForward": lambda layer: layer(8, 12)(_X),
    "AddNorm": lambda layer: layer(8)(_X, _X),
    "EncoderLayer": lambda layer: layer(8, 2, 12)(_X),
    "DecoderLayer": lambda layer: layer(8, 2, 12)(_X, _X),
    "Encoder": lambda stack: stack(1, 8, 2, 12)(_X),
    "Decoder": lambda stack: stack(1, 8, 2, 12)(_X, _X),
    "Transformer": lambda model: model(9, 9, **_SIZES)(_TOKENS, _TARGETS).sum().backward(),
    "initialize_parameters": lambda initialize: initialize(nn.Linear(3, 2)),
    "teacher_forcing": lambda shift: shift(_TARGETS),
    "label_smoothed_loss": lambda loss: loss(torch.zeros(2, 4, 9), _TARGETS),
    "learning_rate": lambda rate: rate(1, 8, 4),
    "train_step": lambda step: step(model := _model(), _steps(model), _TOKENS, _TARGETS),
    "fit": lambda fit: fit(model := _model(), [(_TOKENS, _TARGETS)], _steps(model)),
    "evaluate": lambda evaluate: evaluate(_model(), [(_TOKENS, _TARGETS)]),
    "next_tokens": lambda following: following(_model(), _TARGETS, torch.ones(2, 3, 8), _TOKENS),
    "greedy_decode": lambda decode: decode(_model(), _TOKENS, 4),
    "exact_match": lambda match: match(_TARGETS, _TARGETS),
    "merge_pair": lambda merge: merge(["a", "b"], ("a", "b")),
    "learn_merges": lambda learn: learn({"ab": 2}, 1),
    "Tokenizer": lambda tokenizer: tokenizer([("a", "b")], ["a", "b"]).encode("ab"),
    "make_batches": lambda batches: batches([([3, 2], [1, 2])], 4),
    "sequence_scores": lambda score: score(_TOTALS, _LENGTHS),
    "best_candidates": lambda best: best(torch.zeros(2, 3, 9), _TOTALS, _LENGTHS, _TOTALS > 0),
    "beam_search": lambda search: search(_model(), _TOKENS, 2, 3),
    "RMSNorm": lambda norm: norm(8)(_X),
    "SwiGLU": lambda network: network(8, 12)(_X),
    "rotate": lambda rotate: rotate(_HEADS, torch.arange(3)),
    "GroupedQueryAttention": lambda layer: layer(8, 4, 2)(_X[:, 2:], layer(8, 4, 2)(_X[:, :2])[1]),
    "GPTBlock": lambda block: block(8, 4, 2, 12)(_X),
    "GPT": lambda model: model(9, 8, 2, 4, 2, 12)(_TOKENS).sum().backward(),
    "bits_per_character": lambda bits: bits(_gpt(), _TOKENS[0], 2),
    "sample": lambda sample: sample(torch.zeros(2, 9), 0.7, 3, 0.9),
    "generate": lambda generate: generate(_gpt(), _TOKENS, 2, temperature=0.7),
}
# Lesson 8's and lesson 9's; the others are the model's own.
TRANSLATING = list(TRIALS)[list(TRIALS).index("merge_pair") : list(TRIALS).index("RMSNorm")]
WRITING = list(TRIALS)[list(TRIALS).index("RMSNorm") :]


def runs(name: str, part: object) -> str:
    """Try a part once, without what it prints; return what stops it, "" when nothing does."""
    with random_state.preserved(), torch.enable_grad(), contextlib.redirect_stdout(io.StringIO()):
        try:
            TRIALS[name](part)
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""
