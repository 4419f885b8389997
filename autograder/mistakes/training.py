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
        "the input is not shifted: the decoder is given the tokens that it has to predict": tgt[:, 1:],
        "the last token is not taken off": tgt,
        "BOS is missing: the first token is taken off, and the last one, too": tgt[:, 1:-1],
        "the last sentence is taken off, not the last token": tgt[:-1],
    }


def labels(tgt: Tensor) -> dict[str, Tensor]:
    """Labels for tgt (batch, tgt_len)."""
    return {
        "what is returned second are the tokens that are given, not those that follow": tgt[:, :-1],
        "BOS is not taken off": tgt,
        "the labels are shifted by two": tgt[:, 2:],
        "the last token is taken off, too": tgt[:, 1:-1],
        "the first sentence is taken off, not the first token": tgt[1:],
        "the first token comes round again at the end": tgt.roll(-1, dims=1),
    }


def label_smoothed_loss(logits: Tensor, labels: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
    """Losses of logits (batch, seq_len, vocab_size) for labels (batch, seq_len)."""
    vocab_size, real = logits.size(-1), labels != pad_id
    log_probs = logits.log_softmax(-1)
    right_ones = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    def losses_with(smoothing: float) -> Tensor:
        return -(1 - smoothing) * right_ones - smoothing * log_probs.mean(-1)  # (batch, seq_len)

    losses = losses_with(smoothing)
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
            "the right token is left without its own share, smoothing / vocab_size": (
                -(1 - smoothing) * right_ones - smoothing / vocab_size * others
            )[real].mean(),
            "the smoothing adds to 1: the right token keeps all its probability": (
                -right_ones - smoothing * log_probs.mean(-1)
            )[real].mean(),
            "`smoothing` and 1 − `smoothing` are exchanged": (
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
            "a `view` puts the vocabulary second without moving it, so that it is mixed up with the positions": (
                F.cross_entropy(
                    logits.reshape(len(logits), vocab_size, -1),
                    labels,
                    ignore_index=pad_id,
                    label_smoothing=smoothing,
                )
            ),
            "the sign is missing": -right,
            "`smoothing` is not used, and 0.1 is": losses_with(0.1)[real].mean(),
            "`pad_id` is not used, and 0 is": losses[labels != 0].mean(),
            "the entropy of the smoothed labels is taken off, and the sum is divided by the number of all positions": (
                (right - entropy) * real.sum() / labels.numel()
            ),
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
        "there is no warm-up, as where warmup_steps has the exponent 1.5": rates(lambda s: width * s**-0.5),
        "the rate never falls again, as where step has the exponent 0.5": rates(
            lambda s: width * s * warmup_steps**-1.5
        ),
        "the rate stays at its peak after the warm-up": rates(
            lambda s: width * min(warmup_steps**-0.5, s * warmup_steps**-1.5)
        ),
        "steps are counted from 0: one is added to `step`": rates(
            lambda s: width * min((s + 1) ** -0.5, (s + 1) * warmup_steps**-1.5)
        ),
        "d_model^−0.5 multiplies the first of the two only": rates(
            lambda s: min(width * s**-0.5, s * warmup_steps**-1.5)
        ),
        "the product step · warmup_steps has the exponent −1.5, not warmup_steps alone": rates(
            lambda s: width * min(s**-0.5, (s * warmup_steps) ** -1.5)
        ),
        "the rate falls with 1 / step instead of its root": rates(
            lambda s: width * min(warmup_steps**0.5 / s, s * warmup_steps**-1.5)
        ),
    }


def evaluated_loss(model: TensorFunction, batches: Sequence[tuple[Tensor, Tensor]], pad_id: int) -> dict[str, Tensor]:
    """Mean losses of a model, in eval mode, over batches of src (batch, src_len) and tgt (batch, tgt_len)."""
    labels = [tgt[:, 1:] for _, tgt in batches]
    with torch.no_grad():
        pairs = [(model(src, tgt[:, :-1]), tgt[:, 1:]) for src, tgt in batches]
        whole = [(model(src, tgt).flatten(0, 1), tgt.flatten()) for src, tgt in batches]
    scores, wanted = (torch.cat([each[i] for each in whole]) for i in (0, 1))
    unshifted = F.cross_entropy(scores, wanted, ignore_index=pad_id)

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
            "the batches weigh as much as they have sentences, not as they have tokens": (
                means * torch.tensor([float(len(wanted)) for wanted in labels])
            ).sum()
            / sum(map(len, labels)),
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
            "only the first batch counts": means[0],
            "only the last batch counts": means[-1],
            "the last batch is left out": losses(reduction="sum")[:-1].sum()
            / sum(int((wanted != pad_id).sum()) for wanted in labels[:-1]),
            "loss and accuracy are exchanged": hits.float().mean(),
            "the pad id is taken to be 0 instead of `pad_id`": (
                losses(reduction="sum", ignore_index=0).sum() / not_zero
            ),
            "the loss takes padding to be 0 instead of `pad_id`, though its tokens are counted right": (
                losses(reduction="sum", ignore_index=0).sum() / real
            ),
            "the mean losses of the batches are summed": means.sum(),
            "the labels are not shifted: they are what the model is given": unshifted,
        },
        total / real,
    )


def evaluated_accuracy(
    model: TensorFunction, batches: Sequence[tuple[Tensor, Tensor]], pad_id: int
) -> dict[str, Tensor]:
    """Accuracies of a model, in eval mode, over batches of src (batch, src_len) and tgt (batch, tgt_len)."""
    labels = [tgt[:, 1:] for _, tgt in batches]
    with torch.no_grad():
        logits = [model(src, tgt[:, :-1]) for src, tgt in batches]
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
            "only the first batch counts": counted[0].mean(),
            "only the last batch counts": counted[-1].mean(),
            "the last batch is left out": torch.cat(counted[:-1]).mean(),
            "errors are counted instead of hits": 1 - right,
        },
        right,
    )


def losses_of_batches(losses: Tensor, at_first: Tensor) -> dict[str, Tensor]:
    """What a loop returns in place of the losses of its batches, in order.

    Args:
        at_first: the losses of the same batches before the first step.
    """
    count = torch.arange(1, len(losses) + 1)
    return possible(
        {
            "the losses come in the opposite order": losses.flip(0),
            "each loss is the mean of all so far": losses.cumsum(0) / count,
            "each loss is the sum of all so far": losses.cumsum(0),
            "the model takes no step from batch to batch": at_first,
            "every loss is that of the first batch": losses[:1].expand_as(losses),
            "every loss is that of the last batch": losses[-1:].expand_as(losses),
        },
        losses,
    )


def accumulated(table: Tensor, tgt: Tensor, num_pieces: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Losses and gradients of a batch in pieces, for a model that predicts from the last token by a table.

    Args:
        table: (vocab_size, vocab_size), logits of the next token.
        tgt: (batch, tgt_len), padded with 0.

    Returns:
        Losses and gradients, each by the slip that they come of.
    """
    pieces = tgt.chunk(num_pieces)
    real = [int((piece[:, 1:] != 0).sum()) for piece in pieces]
    rows = table.detach().clone().requires_grad_()
    sums = [
        F.cross_entropy(rows[piece[:, :-1]].flatten(0, 1), piece[:, 1:].flatten(), ignore_index=0, reduction="sum")
        for piece in pieces
    ]
    means = [total / count for total, count in zip(sums, real, strict=True)]
    whole, tokens = sum(sums), sum(real)
    slips = {
        "the mean losses of the pieces are averaged, so that tokens of short pieces weigh more": sum(means)
        / len(means),
        "the mean losses of the pieces are added up": sum(means),
        "the losses are added up and not divided": whole,
        "each piece weighs as much as it has sentences, whatever their length": sum(
            mean * len(piece) / len(tgt) for mean, piece in zip(means, pieces, strict=True)
        ),
        "the sum is divided by the number of sentences": whole / len(tgt),
        "the sum is divided by all positions, padding included": whole / tgt[:, 1:].numel(),
        "BOS is counted as a token that has to be predicted": whole / (tokens + len(tgt)),
        "the number of words is divided by, without EOS, as a source has it": whole / (tokens - len(tgt)),
        "only the last piece counts": sums[-1] / tokens,
        "the loss is divided by the number of pieces once more": whole / tokens / len(pieces),
    }
    gradients = {
        slip: torch.autograd.grad(torch.as_tensor(loss), rows, retain_graph=True)[0] for slip, loss in slips.items()
    }
    del gradients["only the last piece counts"]  # which is told in other words below
    (right,) = torch.autograd.grad(torch.as_tensor(whole), rows, retain_graph=True)
    right = right / tokens
    gradients["the parameters are not moved at all"] = torch.zeros_like(right)
    gradients["only the last piece counts, as where the gradients are cleared before each piece"] = (
        torch.autograd.grad(sums[-1], rows)[0] / tokens
    )
    for slip, is_cleared in (
        ("the optimizer takes a step after each piece", False),
        ("the optimizer takes a step after each piece, and the gradients are cleared before the next", True),
    ):
        moved, gradient = table.detach().clone().requires_grad_(), torch.zeros_like(right)
        for piece in pieces:
            scores, wanted = moved[piece[:, :-1]].flatten(0, 1), piece[:, 1:].flatten()
            loss = F.cross_entropy(scores, wanted, ignore_index=0, reduction="sum") / tokens
            gradient = torch.autograd.grad(loss, moved)[0] + (0 if is_cleared else gradient)
            moved = (moved - gradient).detach().requires_grad_()
        gradients[slip] = (table - moved).detach()
    losses = {slip: torch.as_tensor(loss).detach() for slip, loss in slips.items()}
    return possible(losses, torch.as_tensor(whole).detach() / tokens), possible(gradients, right)
