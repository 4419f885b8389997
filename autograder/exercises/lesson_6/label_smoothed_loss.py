"""Exercise `label_smoothed_loss`: its cases and its slips."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check
from autograder.exercises.shared import DTYPES, possible, sizes, tensors


def value_cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Loss and gradient for logits (batch, tgt_len, vocab_size), any pad id and smoothing, large logits last."""
    for index, (logits, labels, pad_id) in enumerate(_logits(seed)):
        smoothing = (0.1, 0.0, 0.3, 0.8)[index % 4]
        expected = F.cross_entropy(logits.movedim(-1, 1), labels, ignore_index=pad_id, label_smoothing=smoothing)
        (slope,) = torch.autograd.grad(expected, logits)
        with check.case(logits=logits, labels=labels, pad_id=pad_id, smoothing=smoothing):
            result = answer(logits, labels, pad_id, smoothing)
            check.close("the loss", result, expected.detach())
            check.gradient_reaches("logits", logits, result)
            (got,) = torch.autograd.grad(result, logits)
            check.close("the gradient of the loss", got, slope)
    check.defaults("label_smoothed_loss", answer, pad_id=0, smoothing=0.1)


def padding_cases(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
    """Columns of padding leave the answer's own loss as it is, and get no gradient, whatever the pad id."""
    for index, (logits, labels, pad_id) in enumerate(_logits(seed, DTYPES[:1])):
        labels = torch.where(labels == pad_id, (labels + 1) % logits.size(-1), labels)
        count = index % 3 + 1
        (noise,) = tensors((len(labels), count, logits.size(-1)), seed=seed + index)
        longer = torch.cat([logits.detach(), 5 * noise], dim=1).requires_grad_()
        padded = F.pad(labels, (0, count), value=pad_id)
        with check.case(logits=longer, labels=padded, pad_id=pad_id):
            name = f"the loss with {count} columns of padding"
            before = check.number("the loss without padding", answer(logits.detach(), labels, pad_id))
            after = answer(longer, padded, pad_id)
            check.close(name, check.number(name, after), before)
            check.gradient_reaches("logits", longer, after)
            slope = torch.autograd.grad(after, longer)[0][:, -count:]
            check.close("the gradient where the label is padding", slope, torch.zeros_like(slope))


def _logits(seed: int, dtypes: Sequence[torch.dtype] = DTYPES) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Draw logits (batch, tgt_len, vocab_size), labels (batch, tgt_len), some of them padding, and the pad id."""
    drawn = [*sizes(seed, 5, batch=(1, 6), tgt_len=(1, 12), vocab_size=(3, 40))]
    large = {"batch": 2, "tgt_len": 4, "vocab_size": 9}
    for index, size in enumerate((*drawn, large)):
        shape, pad_id = tuple(size.values()), (0, 2, size["vocab_size"] - 1)[(index + seed) % 3]
        logits, noise = tensors(shape, shape, seed=31 * seed + index, dtype=dtypes[index % len(dtypes)])
        labels = noise.argmax(dim=-1)
        labels[torch.arange(shape[0] * shape[1]).reshape(shape[:2]) % 3 == 2] = pad_id
        labels[0, 0] = (pad_id + 1) % shape[2]
        scale = 2.0
        if index == len(drawn):
            scale, logits[0, 0, labels[0, 0]] = 1000.0, 9.0  # so sure of this one that its loss is 0
        yield (scale * logits).requires_grad_(), labels, pad_id


def slips(logits: Tensor, labels: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
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
    entropy = _entropy([confident] + (vocab_size - 1) * [rest])
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
            "it is the perplexity, e to the power of the loss": right.exp(),
            "the smoothed part is summed over the vocabulary, not averaged": (
                -(1 - smoothing) * right_ones - smoothing * log_probs.sum(-1)
            )[real].mean(),
            "the part of the right token has the wrong sign": (
                (1 - smoothing) * right_ones - smoothing * log_probs.mean(-1)
            )[real].mean(),
            "the smoothed part has the wrong sign": (-(1 - smoothing) * right_ones + smoothing * log_probs.mean(-1))[
                real
            ].mean(),
            "it is the KL divergence from labels whose smoothing goes to all but the right token and padding": (
                -(1 - smoothing) * right_ones - smoothing / (vocab_size - 2) * not_pad
            )[real].mean()
            - _entropy([1 - smoothing] + (vocab_size - 2) * [smoothing / (vocab_size - 2)]),
            "`smoothing` is not used, and 0.1 is": losses_with(0.1)[real].mean(),
            "`pad_id` is not used, and 0 is": losses[labels != 0].mean(),
            "the entropy of the smoothed labels is taken off, and the sum is divided by the number of all positions": (
                (right - entropy) * real.sum() / labels.numel()
            ),
        },
        right,
    )


def _entropy(shares: Sequence[float]) -> float:
    return -sum(share * math.log(share) for share in shares if share)
