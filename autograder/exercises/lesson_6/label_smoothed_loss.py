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
    vocab_size, real, flat = logits.size(-1), labels != pad_id, labels.flatten()
    log_probs = logits.log_softmax(-1)
    right_ones = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)

    def mean(losses: Tensor) -> Tensor:
        return losses[real].mean()

    def crossed(logits: Tensor, labels: Tensor = flat) -> Tensor:
        return F.cross_entropy(logits, labels, ignore_index=pad_id, label_smoothing=smoothing)

    confident, average, others = (1 - smoothing) * right_ones, log_probs.mean(-1), log_probs.sum(-1) - right_ones
    losses, share = -confident - smoothing * average, smoothing / vocab_size  # (batch, seq_len)
    not_pad = -confident - smoothing / (vocab_size - 2) * (others - log_probs[..., pad_id])
    right, positions = mean(losses), labels.numel()
    entropy = _entropy([1 - smoothing + share] + (vocab_size - 1) * [share])
    return possible(
        {
            "the labels are not smoothed": mean(-right_ones),
            "padding counts as a label": losses.mean(),
            "padding counts as a label, and nothing is smoothed": -right_ones.mean(),
            "the loss is summed instead of averaged": losses[real].sum(),
            "the sum over real tokens is divided by the number of all positions": losses[real].sum() / positions,
            "the sum over real tokens is divided by the number of sentences": losses[real].sum() / len(labels),
            "each sentence is averaged by itself first, so that words of short ones weigh more": torch.stack(
                [row[keep].mean() for row, keep in zip(losses, real, strict=True) if keep.any()]
            ).mean(),
            "the smoothing is spread over the wrong tokens only, smoothing / (vocab_size − 1) each": mean(
                -confident - smoothing / (vocab_size - 1) * others
            ),
            "the smoothing is spread over the wrong tokens but padding, smoothing / (vocab_size − 2) each": mean(
                not_pad
            ),
            "the right token is left without its own share, smoothing / vocab_size": mean(-confident - share * others),
            "the smoothing adds to 1: the right token keeps all its probability": mean(
                -right_ones - smoothing * average
            ),
            "`smoothing` and 1 − `smoothing` are exchanged": mean(-smoothing * right_ones - (1 - smoothing) * average),
            "the entropy of the smoothed labels is taken off (KL divergence instead of cross-entropy)": right - entropy,
            "a softmax comes before the cross-entropy, which brings its own": crossed(
                logits.softmax(-1).flatten(0, -2)
            ),
            "logits and labels are flattened in different orders": crossed(logits.transpose(0, 1).flatten(0, 1)),
            "vocabulary and positions are mixed up by a reshape": crossed(logits.mT.reshape(-1, vocab_size)),
            "a `view` puts the vocabulary second without moving it, so that it is mixed up with the positions": crossed(
                logits.reshape(len(logits), vocab_size, -1), labels
            ),
            "the sign is missing": -right,
            "it is the perplexity, e to the power of the loss": right.exp(),
            "the smoothed part is summed over the vocabulary, not averaged": mean(
                -confident - smoothing * log_probs.sum(-1)
            ),
            "the part of the right token has the wrong sign": mean(confident - smoothing * average),
            "the smoothed part has the wrong sign": mean(smoothing * average - confident),
            "it is the KL divergence from labels whose smoothing goes to all but the right token and padding": (
                mean(not_pad) - _entropy([1 - smoothing] + (vocab_size - 2) * [smoothing / (vocab_size - 2)])
            ),
            "`smoothing` is not used, and 0.1 is": mean(-0.9 * right_ones - 0.1 * average),
            "`pad_id` is not used, and 0 is": losses[labels != 0].mean(),
            "the entropy of the smoothed labels is taken off, and the sum is divided by the number of all positions": (
                (right - entropy) * real.sum() / positions
            ),
        },
        right,
    )


def _entropy(shares: Sequence[float]) -> float:
    return -sum(share * math.log(share) for share in shares if share)
