"""Exercise `evaluate`: its cases and its slips."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_6.shared import SURE, Batch, Deep, almost_sure, batch_of, left_alone, one_word
from autograder.exercises.shared import possible, some
from autograder.parts.attention import TensorFunction


def value_cases(answer: Callable[..., tuple[float, float]], *, seed: int = 0) -> None:
    """Loss and accuracy over few batches and many, of any width, in a list or from a generator, for any pad id."""
    for index, count in some(seed, enumerate((1, 1 + seed % 3, 2, 2, 3, 12))):
        pad_id = (0, 3, 4)[(index + seed) % 3]
        widths = [1 + (3 * i + seed) % 7 for i in range(count)]
        batches = [batch_of(seed + i, 1 + i % 3, width, 7, pad_id, 4 * (i % 2)) for i, width in enumerate(widths)]
        if index == 4:
            batches.append(batch_of(seed, 40, 70, 7, pad_id))
        model = Deep(7, scale=100.0 if index == 3 else 1.0).eval()
        expected = _measured(model, batches, pad_id)
        given: Iterable[Batch] = iter(batches) if index % 2 else batches
        with check.case(batches=count, pad_id=pad_id):
            result = answer(model, given, pad_id) if pad_id else answer(model, given)
            got = check.numbers("evaluate(model, batches)", result, "loss", "accuracy")
            known = loss_slips(model, batches, pad_id), accuracy_slips(model, batches, pad_id)
            for name, value, wanted, slips in zip(("loss", "accuracy"), got, expected, known, strict=True):
                check.close(name, value, wanted, mistakes=slips)
    sure, tgt = almost_sure(5), one_word(5, 2, 4)
    wanted = F.cross_entropy(sure(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    loss = check.numbers("evaluate(model, batches)", answer(sure, [(tgt, tgt)]), "loss", "accuracy")[0]
    check.close(SURE, loss, wanted, rtol=0.1, atol=0.0)
    _measures_anew(answer, seed)


def _measured(model: Deep, batches: Sequence[Batch], pad_id: int = data.PAD) -> tuple[Tensor, Tensor]:
    """Loss and accuracy of a model in eval mode."""
    scores = torch.cat([model(src, tgt[:, :-1]).detach().flatten(0, 1) for src, tgt in batches])
    labels = torch.cat([tgt[:, 1:].flatten() for _, tgt in batches])
    scores, labels = scores[labels != pad_id], labels[labels != pad_id]
    return F.cross_entropy(scores, labels), (scores.argmax(-1) == labels).float().mean()


def _measures_anew(answer: Callable[..., tuple[float, float]], seed: int) -> None:
    """A model that has changed since it was measured is measured anew, on the same batches."""
    model, batches = Deep().eval(), [batch_of(seed + i, batch=2, longest=4, vocab_size=9) for i in range(2)]
    before, _ = _measured(model, batches)
    answer(model, batches)
    data.randomized(model, seed=seed + 1)
    wanted, _ = _measured(model, batches)
    told = possible({"the loss of an earlier call comes back, from before the parameters changed": before}, wanted)
    loss = check.numbers("evaluate(model, batches)", answer(model, batches), "loss", "accuracy")[0]
    check.close("the loss of a model that was measured before", loss, wanted, mistakes=told)


def mode_cases(answer: Callable[..., tuple[float, float]], *, seed: int = 0) -> None:
    """Modes, gradients and frozen parameters are afterwards what they were, also for a caller without gradients."""
    for index, training in some(seed, enumerate((True, False, True, False, False))):
        model = Deep().train(training)
        model.body[0].train(training or index == 4)
        model.source.weight.requires_grad_(index < 2).grad = torch.ones(9, 9)
        batches = [batch_of(seed + i, batch=2, longest=2 + i, vocab_size=9) for i in range(2)]
        with torch.set_grad_enabled(index % 2 == 0):
            with left_alone("evaluate", model):
                answer(model, iter(batches))
            verdict = "`evaluate` switches gradients on or off for its caller."
            check.true(torch.is_grad_enabled() == (index % 2 == 0), verdict)
        if index < 4:
            check.mode("evaluate(model, batches)", model, training)
        verdict = "`evaluate` clears or changes the gradients that the parameters have from before."
        check.true(model.source.weight.grad is not None and bool((model.source.weight.grad == 1).all()), verdict)
        verdict = "`evaluate` runs the model, or a part of it, in train mode or with gradients."
        check.true(model.modes == {(False, False)}, verdict)


def loss_slips(model: TensorFunction, batches: Sequence[tuple[Tensor, Tensor]], pad_id: int) -> dict[str, Tensor]:
    """Mean losses of a model, in eval mode, over batches of src (batch, src_len) and tgt (batch, tgt_len)."""
    labels = [tgt[:, 1:] for _, tgt in batches]
    with torch.no_grad():
        pairs = [(model(src, tgt[:, :-1]), tgt[:, 1:]) for src, tgt in batches]
        whole = [model(src, tgt).flatten(0, 1) for src, tgt in batches]
    unshifted = F.cross_entropy(torch.cat(whole), torch.cat([tgt.flatten() for _, tgt in batches]), ignore_index=pad_id)

    def losses(**options: Any) -> Tensor:
        options = {"ignore_index": pad_id} | options
        return torch.stack([F.cross_entropy(scores.movedim(-1, 1), wanted, **options) for scores, wanted in pairs])

    hits = torch.cat([(scores.argmax(-1) == wanted)[wanted != pad_id] for scores, wanted in pairs])
    counts = torch.tensor([float((wanted != pad_id).sum()) for wanted in labels])
    sizes = torch.tensor([float(len(wanted)) for wanted in labels])
    asked = torch.cat([wanted.flatten() for wanted in labels])
    real, not_zero, sentences = counts.sum(), (asked != 0).sum(), sizes.sum()
    is_given = torch.cat([tgt[:, :-1].flatten() for _, tgt in batches]) != pad_id
    each = F.cross_entropy(torch.cat([scores.flatten(0, 1) for scores, _ in pairs]), asked, reduction="none")
    sums, means = losses(reduction="sum"), losses()
    total, of_not_zero = sums.sum(), losses(reduction="sum", ignore_index=0).sum()
    with_padding = losses(reduction="sum", ignore_index=-100).sum()
    return possible(
        {
            "the batches are averaged, so that tokens of small batches weigh more": means.mean(),
            "the batches weigh as much as they have sentences, not as they have tokens": (
                (means * sizes).sum() / sentences
            ),
            "the labels are smoothed": losses(reduction="sum", label_smoothing=0.1).sum() / real,
            "the batches are averaged and the labels are smoothed": losses(label_smoothing=0.1).mean(),
            "padding counts as a label": with_padding / len(asked),
            "the sum is divided by the number of all positions": total / len(asked),
            "the loss on padding is added, though its tokens are not counted": with_padding / real,
            "the mean losses of the batches are added up and divided by the number of tokens": means.sum() / real,
            "the sum is divided by the number of batches": total / len(pairs),
            "the losses are summed, not averaged": total,
            "it is the perplexity, e to the power of the loss": (total / real).exp(),
            "BOS is counted as a token that was asked for": total / (real + sentences),
            "EOS is not counted, though its loss is added": total / (real - sentences),
            "the sum over real tokens is divided by the number of labels that are not 0": total / not_zero,
            "the sum is divided by the number of sentences": total / sentences,
            "the sum is divided by the tokens of the last batch alone": total / counts[-1],
            "the tokens that the model is given are counted, not those that it has to predict": total / is_given.sum(),
            "positions count at which the model is given a real token, not those at which it predicts one": (
                each[is_given].mean()
            ),
            "EOS is left out, as padding is": each[(asked != pad_id) & (asked != data.EOS)].mean(),
            "only the first batch counts": means[0],
            "only the last batch counts": means[-1],
            "the last batch is left out": sums[:-1].sum() / counts[:-1].sum() if len(labels) > 1 else None,
            "loss and accuracy are exchanged": hits.float().mean(),
            "the pad id is taken to be 0 instead of `pad_id`": of_not_zero / not_zero,
            "the loss takes padding to be 0 instead of `pad_id`, though its tokens are counted right": of_not_zero
            / real,
            "`pad_id` is not handed on to the mean loss of each batch, which leaves out labels that are 0": (
                (losses(ignore_index=0) * counts).sum() / real
            ),
            "the mean losses of the batches are summed": means.sum(),
            "the labels are not shifted: they are what the model is given": unshifted,
        },
        total / real,
    )


def accuracy_slips(model: TensorFunction, batches: Sequence[tuple[Tensor, Tensor]], pad_id: int) -> dict[str, Tensor]:
    """Accuracies of a model, in eval mode, over batches of src (batch, src_len) and tgt (batch, tgt_len)."""
    labels = [tgt[:, 1:] for _, tgt in batches]
    with torch.no_grad():
        choices = [model(src, tgt[:, :-1]).argmax(-1) for src, tgt in batches]
    hits = [(chosen == wanted).float() for chosen, wanted in zip(choices, labels, strict=True)]
    real = [wanted != pad_id for wanted in labels]
    counted = [hit[keep] for hit, keep in zip(hits, real, strict=True)]
    all_counted = torch.cat(counted)
    right, total, count = all_counted.mean(), all_counted.sum(), len(all_counted)
    whole = [(hit.bool() | ~keep).all(-1).float() for hit, keep in zip(hits, real, strict=True)]
    every, asked, chosen = (torch.cat([each.flatten() for each in values]) for values in (hits, labels, choices))
    given = torch.cat([tgt[:, :-1].flatten() for _, tgt in batches])
    return possible(
        {
            "the batches are averaged, so that tokens of small batches weigh more": torch.stack(
                [hit.mean() for hit in counted]
            ).mean(),
            "padding counts as a label": every.mean(),
            "the hits are divided by the number of all positions": total / len(every),
            "hits on padding count as hits, though its tokens are not counted": every.sum() / count,
            "BOS is counted as a token that was asked for": total / (count + sum(map(len, labels))),
            "whole sentences are counted, not tokens": torch.cat(whole).mean(),
            "the hits are counted, not their fraction": total,
            "it is a percentage, not a fraction": 100 * right,
            "only the first batch counts": counted[0].mean(),
            "only the last batch counts": counted[-1].mean(),
            "the last batch is left out": torch.cat(counted[:-1]).mean() if len(counted) > 1 else None,
            "the tokens that the model is given are counted, not those that it has to predict": (
                total / (given != pad_id).sum()
            ),
            "positions count at which the model is given a real token, not those at which it predicts one": (
                every[given != pad_id].mean()
            ),
            "EOS is left out, as padding is": every[(asked != pad_id) & (asked != data.EOS)].mean(),
            "what the model predicts is compared with what it is given": (chosen == given)[asked != pad_id]
            .float()
            .mean(),
            "errors are counted instead of hits": 1 - right,
            "the hits of the last batch alone are divided by the tokens of all": counted[-1].sum() / count,
        },
        right,
    )
