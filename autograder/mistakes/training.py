"""Slips of lesson 6: the shift, the loss, the schedule, a step of training, measuring."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.mistakes.blocks import possible
from autograder.parts.attention import TensorFunction


def decoder_input(tgt: Tensor) -> dict[str, Tensor]:
    """Decoder inputs for tgt (batch, tgt_len)."""
    return {
        "the decoder is given the tokens that it has to predict": tgt[:, 1:],
        "the last token is not taken off": tgt,
        "BOS is missing: the first token is taken off, and the last one, too": tgt[:, 1:-1],
    }


def labels(tgt: Tensor) -> dict[str, Tensor]:
    """Labels for tgt (batch, tgt_len)."""
    return {
        "the labels are the tokens that are given, not those that follow": tgt[:, :-1],
        "BOS is not taken off": tgt,
        "the labels are shifted by two": tgt[:, 2:],
        "the first token comes round again at the end": tgt.roll(-1, dims=1),
    }


def label_smoothed_loss(logits: Tensor, labels: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
    """Losses of logits (batch, seq_len, vocab_size) for labels (batch, seq_len)."""
    vocab_size, real = logits.size(-1), labels != pad_id
    log_probs = logits.log_softmax(-1)
    right_ones = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    losses = -(1 - smoothing) * right_ones - smoothing * log_probs.mean(-1)  # (batch, seq_len)
    others = log_probs.sum(-1) - right_ones
    not_pad = others - log_probs[..., pad_id]
    right = losses[real].mean()
    confident, rest = 1 - smoothing + smoothing / vocab_size, smoothing / vocab_size
    entropy = -(confident * math.log(confident) + (vocab_size - 1) * rest * math.log(rest)) if smoothing else 0.0
    return possible(
        {
            "the labels are not smoothed": -right_ones[real].mean(),
            "padding counts as a label": losses.mean(),
            "padding counts as a label, and nothing is smoothed": -right_ones.mean(),
            "the loss is summed instead of averaged": losses[real].sum(),
            "the sum over real tokens is divided by the number of all positions": losses[real].sum() / labels.numel(),
            "the sum over real tokens is divided by the number of sentences": losses[real].sum() / len(labels),
            "each sentence is averaged by itself first, so that words of short ones weigh more": torch.stack(
                [row[keep].mean() for row, keep in zip(losses, real, strict=True) if keep.any()]
            ).mean(),
            "the smoothing is spread over the wrong tokens only, smoothing / (vocab_size − 1) each": (
                -(1 - smoothing) * right_ones - smoothing / (vocab_size - 1) * others
            )[real].mean(),
            "the smoothing is spread over the wrong tokens but padding, smoothing / (vocab_size − 2) each": (
                -(1 - smoothing) * right_ones - smoothing / (vocab_size - 2) * not_pad
            )[real].mean(),
            "the smoothing adds to 1: the right token keeps all its probability": (
                -right_ones - smoothing * log_probs.mean(-1)
            )[real].mean(),
            "`smoothing` is the probability of the right token": (
                -smoothing * right_ones - (1 - smoothing) * log_probs.mean(-1)
            )[real].mean(),
            "the entropy of the smoothed labels is taken off (KL divergence instead of cross-entropy)": right - entropy,
            "a softmax comes before the cross-entropy, which brings its own": F.cross_entropy(
                logits.softmax(-1).flatten(0, -2),
                labels.flatten(),
                ignore_index=pad_id,
                label_smoothing=smoothing,
            ),
            "logits and labels are flattened in different orders": F.cross_entropy(
                logits.transpose(0, 1).flatten(0, 1),
                labels.flatten(),
                ignore_index=pad_id,
                label_smoothing=smoothing,
            ),
            "vocabulary and positions are mixed up by a reshape": F.cross_entropy(
                logits.transpose(-2, -1).reshape(-1, vocab_size),
                labels.flatten(),
                ignore_index=pad_id,
                label_smoothing=smoothing,
            ),
            "the sign is missing": -right,
        },
        right,
    )


def learning_rate(steps: Sequence[int], d_model: int, warmup_steps: int) -> dict[str, Tensor]:
    """Rates at these steps, each at least 1, float32."""

    def rates(rate: Callable[[float], float]) -> Tensor:
        return torch.tensor([rate(float(step)) for step in steps])

    width: float = d_model**-0.5
    return {
        "`max` stands in the place of `min`": rates(lambda s: width * max(s**-0.5, s * warmup_steps**-1.5)),
        "warmup_steps has the exponent −0.5 instead of −1.5": rates(
            lambda s: width * min(s**-0.5, s * warmup_steps**-0.5)
        ),
        "the factor d_model^−0.5 is missing": rates(lambda s: min(s**-0.5, s * warmup_steps**-1.5)),
        "d_model has the exponent 0.5 instead of −0.5": rates(
            lambda s: d_model**0.5 * min(s**-0.5, s * warmup_steps**-1.5)
        ),
        "d_model has the exponent −1 instead of −0.5": rates(lambda s: min(s**-0.5, s * warmup_steps**-1.5) / d_model),
        "the factor step is missing in the warm-up": rates(lambda s: width * min(s**-0.5, warmup_steps**-1.5)),
        "the two are added instead of taking the smaller one": rates(
            lambda s: width * (s**-0.5 + s * warmup_steps**-1.5)
        ),
        "there is no warm-up": rates(lambda s: width * s**-0.5),
        "the rate never falls again": rates(lambda s: width * s * warmup_steps**-1.5),
        "the rate stays at its peak after the warm-up": rates(
            lambda s: width * min(warmup_steps**-0.5, s * warmup_steps**-1.5)
        ),
        "steps are counted from 0: one is added to `step`": rates(
            lambda s: width * min((s + 1) ** -0.5, (s + 1) * warmup_steps**-1.5)
        ),
        "the rate falls with 1 / step instead of its root": rates(
            lambda s: width * min(warmup_steps**0.5 / s, s * warmup_steps**-1.5)
        ),
    }


def step_loss(model: TensorFunction, src: Tensor, tgt: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
    """Losses of one step of training of a model without dropout, for src (batch, src_len) and tgt (batch, tgt_len)."""

    def loss(given: Tensor, labels: Tensor, pad_id: int = pad_id, smoothing: float = smoothing) -> Tensor:
        logits = model(src, given).movedim(-1, 1)
        return F.cross_entropy(logits, labels, ignore_index=pad_id, label_smoothing=smoothing)

    given, labels = tgt[:, :-1], tgt[:, 1:]
    with torch.no_grad():
        return possible(
            {
                "the model is given the labels themselves": loss(tgt, tgt),
                "decoder input and labels are exchanged": loss(labels, given),
                "the decoder input is also used as the labels": loss(given, given),
                "the labels are also used as the decoder input": loss(labels, labels),
                "`smoothing` is not handed on, and 0.1 is used": loss(given, labels, smoothing=0.1),
                "the labels are not smoothed": loss(given, labels, smoothing=0.0),
                "padding counts as a label": loss(given, labels, pad_id=-100),
                "`pad_id` is not handed on, and 0 is used": loss(given, labels, pad_id=0),
                "neither `pad_id` nor `smoothing` is handed on": loss(given, labels, pad_id=0, smoothing=0.1),
                "the source is learned instead of the target": loss(src[:, :-1], src[:, 1:]),
                "a softmax comes before the loss, which brings its own": F.cross_entropy(
                    model(src, given).softmax(-1).movedim(-1, 1),
                    labels,
                    ignore_index=pad_id,
                    label_smoothing=smoothing,
                ),
                "the loss is multiplied by the number of real tokens": loss(given, labels) * (labels != pad_id).sum(),
            },
            loss(given, labels),
        )


def evaluated_loss(logits: Sequence[Tensor], labels: Sequence[Tensor], pad_id: int) -> dict[str, Tensor]:
    """Mean losses over batches of logits (batch, tgt_len, vocab_size) and labels (batch, tgt_len)."""

    pairs = list(zip(logits, labels, strict=True))

    def losses(**options: Any) -> Tensor:
        options = {"ignore_index": pad_id} | options
        return torch.stack([F.cross_entropy(scores.movedim(-1, 1), wanted, **options) for scores, wanted in pairs])

    hits = torch.cat([(scores.argmax(-1) == wanted)[wanted != pad_id] for scores, wanted in pairs])
    real = sum(int((wanted != pad_id).sum()) for wanted in labels)
    not_zero = sum(int((wanted != 0).sum()) for wanted in labels)
    positions = sum(wanted.numel() for wanted in labels)
    total, means = losses(reduction="sum").sum(), losses()
    with_padding = losses(reduction="sum", ignore_index=-100).sum()
    return possible(
        {
            "the batches are averaged, so that tokens of small batches weigh more": means.mean(),
            "the labels are smoothed": losses(reduction="sum", label_smoothing=0.1).sum() / real,
            "the batches are averaged and the labels are smoothed": losses(label_smoothing=0.1).mean(),
            "padding counts as a label": with_padding / positions,
            "the sum is divided by the number of all positions": total / positions,
            "the loss on padding is added, though its tokens are not counted": with_padding / real,
            "the mean losses of the batches are added up and divided by the number of tokens": means.sum() / real,
            "the sum is divided by the number of batches": total / len(pairs),
            "the losses are summed, not averaged": total,
            "it is the perplexity, e to the power of the loss": (total / real).exp(),
            "BOS is counted as a token that was asked for": total / (real + sum(map(len, labels))),
            "only the last batch counts": means[-1],
            "only the first batch counts": means[0],
            "loss and accuracy are exchanged": hits.float().mean(),
            "the pad id is taken to be 0 instead of `pad_id`": (
                losses(reduction="sum", ignore_index=0).sum() / not_zero
            ),
            "the mean losses of the batches are summed": means.sum(),
        },
        total / real,
    )


def evaluated_accuracy(logits: Sequence[Tensor], labels: Sequence[Tensor], pad_id: int) -> dict[str, Tensor]:
    """Accuracies over batches of logits (batch, tgt_len, vocab_size) and labels (batch, tgt_len)."""
    hits = [(scores.argmax(-1) == wanted).float() for scores, wanted in zip(logits, labels, strict=True)]
    real = [wanted != pad_id for wanted in labels]
    counted = [hit[keep] for hit, keep in zip(hits, real, strict=True)]
    right = torch.cat(counted).mean()
    whole = [(hit.bool() | ~keep).all(-1).float() for hit, keep in zip(hits, real, strict=True)]
    every = torch.cat([hit.flatten() for hit in hits])
    return possible(
        {
            "the batches are averaged, so that tokens of small batches weigh more": torch.stack(
                [hit.mean() for hit in counted]
            ).mean(),
            "padding counts as a label": every.mean(),
            "the hits are divided by the number of all positions": torch.cat(counted).sum() / len(every),
            "hits on padding count as hits, though its tokens are not counted": every.sum() / len(torch.cat(counted)),
            "BOS is counted as a token that was asked for": torch.cat(counted).sum()
            / (len(torch.cat(counted)) + sum(map(len, labels))),
            "whole sentences are counted, not tokens": torch.cat(whole).mean(),
            "the hits are counted, not their fraction": torch.cat(counted).sum(),
            "it is a percentage, not a fraction": 100 * right,
            "only the last batch counts": counted[-1].mean(),
            "only the first batch counts": counted[0].mean(),
            "errors are counted instead of hits": 1 - right,
        },
        right,
    )
