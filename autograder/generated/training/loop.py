"""Lesson 6 over generated inputs: the loop around a step, measuring, a step in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.generated.inputs import few, sizes, some
from autograder.generated.training.batches import (
    Batch,
    Deep,
    Elsewhere,
    Factor,
    Watched,
    almost_sure,
    asked,
    batch_of,
    left_alone,
    next_token,
    one_word,
    optimizer_of,
    small_transformer,
)

SURE = "the loss of a model that is almost sure"


def fit_losses(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The losses of no batches, of few and of many, in a list or from a generator, with any optimizer."""
    for index, count in some(seed, enumerate((0, 1, 2, 5, 5, 104))):
        batches = [batch_of(seed + i, batch=1 + i % 4, longest=1 + (i + seed) % 6, vocab_size=12) for i in range(count)]
        model, twin = (small_transformer(12) if index == 3 else next_token(12, seed) for _ in range(2))
        optimizers = [optimizer_of(each, index) for each in (model, twin)]
        expected = torch.tensor(parts.fit(twin, batches, optimizers[1]))
        with check.case(batches=count):
            given = iter(batches) if index % 2 else batches
            result = answer(model, given, optimizers[0])
            check.close("losses", _losses(result, count), expected)
    _goes_on(answer, seed)


def _losses(result: object, count: int) -> Tensor:
    """As many losses as there were batches (count,)."""
    right = isinstance(result, list | tuple) and len(result) == count
    check.true(right, f"`fit` should return a list of as many losses as there are batches, {count}.")
    numbers = check.numbers("fit(model, batches, optimizer)", result, *(f"losses[{i}]" for i in range(count)))
    return torch.tensor(numbers)


def _goes_on(answer: Callable[..., Sequence[float]], seed: int) -> None:
    """Two calls come to the same as one, for the optimizer goes on; none ends at a loss that is NaN."""
    batches = [batch_of(seed + i, batch=2, longest=4, vocab_size=9) for i in range(5)]
    model, twin = next_token(9, seed), next_token(9, seed)
    optimizers = [torch.optim.Adam(each.parameters(), lr=0.1) for each in (model, twin)]
    expected = torch.tensor(parts.fit(twin, batches, optimizers[1]))
    losses = [_losses(answer(model, half, optimizers[0]), len(half)) for half in (batches[:2], batches[2:])]
    check.close("the losses of two calls in a row", torch.cat(losses), expected)
    broken = parts.NextToken(torch.full((9, 9), torch.nan))
    with check.case(losses="NaN"):
        _losses(answer(broken, batches, torch.optim.SGD(broken.parameters(), lr=0.1)), 5)


def fit_steps(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The parameters whenever a batch is asked for, and at the end."""
    for index, count in some(seed, enumerate((1, 2 + seed % 5, 4, 22))):
        batches = [batch_of(seed + i, batch=1 + i % 3, longest=1 + i % 5, vocab_size=9) for i in range(count)]
        model, twin = next_token(9, seed), next_token(9, seed)
        optimizers = [optimizer_of(each, index + 1) for each in (model, twin)]
        wanted: list[Tensor] = []
        parts.fit(twin, asked(twin, batches, wanted), optimizers[1])
        wanted.append(twin.table.detach().clone())
        with check.case(batches=count):
            found: list[Tensor] = []
            answer(model, asked(model, batches, found), optimizers[0])
            found.append(model.table.detach().clone())
            check.true(len(found) == count + 1, f"Of the {count} batches of a generator `fit` takes {len(found) - 1}.")
            for place, (table, expected) in enumerate(zip(found, wanted, strict=True)):
                check.close(f"the parameters after {place} batch{'es' * (place != 1)}", table, expected)
    deep = Deep().eval()
    with left_alone("fit", deep):
        answer(deep, batches[:1], torch.optim.SGD(deep.parameters(), lr=0.1))
    verdict = "The model, or a part of it, is in eval mode while `fit` trains it, so its dropout is off."
    check.true({training for training, _ in deep.modes} == {True}, verdict)


def fit_device(answer: Callable[..., Sequence[float]]) -> None:
    """Batches on the CPU go to where the model is, which stays there."""
    model = Elsewhere()
    batches = [(data.tokens([4, 3], vocab_size=9), data.targets([4, 3], vocab_size=9))]
    with suppress(Exception):  # there is no loss without numbers
        answer(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
    verdict = "`fit` leaves src or tgt on the CPU while the model is on another device."
    check.true("cpu" not in model.devices, verdict)
    verdict = "`fit` takes no step on a batch from the CPU when the model is on another device."
    check.true(len(model.devices) > 0, verdict, "Move src and tgt to where the model is; the model stays there.")


def rates_of_steps(answer: Callable[..., Sequence[float]], count: int, factor: float = 0.5) -> Tensor:
    """Let `fit` take steps with the rate 0.8, which a schedule multiplies by `factor`.

    The model has next to no gradients: its parameters shrink by weight decay alone, whatever the loss and the clipping.

    Returns:
        the rates that the steps were taken with, and the one that is left in the end (count + 1,).
    """
    model = parts.NextToken(torch.ones(9, 9), scale=1e-6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.8, weight_decay=0.5)
    schedule = Factor(optimizer, factor)
    batches = [batch_of(seed, batch=2, longest=4, vocab_size=9) for seed in range(count)]
    tables: list[Tensor] = []
    answer(model, asked(model, batches, tables), optimizer, schedule)
    tables.append(model.table.detach().clone())
    rates = [(1 - after.mean() / before.mean()) / 0.5 for before, after in pairwise(tables)]
    return torch.stack([*rates, torch.tensor(optimizer.param_groups[0]["lr"])])


def fit_schedule(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The rates of few steps and of many, with schedules that go down or up."""
    for count, factor in some(seed, ((1, 0.5), (2 + seed % 5, 1.25), (6, 0.7), (12, 0.9))):
        with check.case(batches=count, factor=factor):
            rates = rates_of_steps(answer, count, factor)
            check.shape("the rates at which the parameters move, and the one left", rates, rates=count + 1)
            check.close(
                "the rates at which the parameters move, and the one left",
                rates,
                0.8 * factor ** torch.arange(count + 1),
                rtol=1e-3,
            )
    model, batches = next_token(9, seed), 3 * [batch_of(seed, batch=2, longest=4, vocab_size=9)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
    optimizer.param_groups[0]["initial_lr"] = 0.7  # as a schedule of PyTorch leaves it
    schedule = Factor(optimizer, 0.5)
    for half in (batches[:2], batches[2:]):
        answer(model, half, optimizer, schedule, max_grad_norm=0.0)
    rate = optimizer.param_groups[0]["lr"]
    verdict = f"After 2 batches and 1 more, all of the same loss, the rate has come from 0.8 to {rate:g}, not to 0.1."
    check.true(rate == 0.1, verdict)


def fit_clipping(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """Steps as long as `max_grad_norm`, as the gradients are longer, and shorter ones left as they are."""
    for max_grad_norm in some(seed, (0.0, 0.02 + few(seed) / 1000, 0.4, 3.0, 1000.0)):
        batches = [batch_of(seed + i, batch=2, longest=3, vocab_size=9) for i in range(2)]
        model, twin = (parts.NextToken(torch.zeros(9, 9), scale=30.0) for _ in range(2))
        optimizers = [torch.optim.SGD(each.parameters(), lr=1.0) for each in (model, twin)]
        parts.fit(twin, batches, optimizers[1], max_grad_norm=max_grad_norm)
        with check.case(max_grad_norm=max_grad_norm):
            answer(model, batches, optimizers[0], max_grad_norm=max_grad_norm)
            check.close("the parameters after 2 batches", model.table.detach(), twin.table.detach(), rtol=1e-3)


def evaluated(answer: Callable[..., tuple[float, float]], *, seed: int = 0) -> None:
    """Loss and accuracy over few batches and many, of any width, in a list or from a generator, for any pad id."""
    for index, count in some(seed, enumerate((1, 1 + seed % 3, 2, 2, 3, 12))):
        pad_id = (0, 3, 4)[(index + seed) % 3]
        widths = [1 + (3 * i + seed) % 7 for i in range(count)]
        batches = [batch_of(seed + i, 1 + i % 3, width, 7, pad_id) for i, width in enumerate(widths)]
        model = Deep(7, scale=100.0 if index == 3 else 1.0).eval()
        scores = torch.cat([model(src, tgt[:, :-1]).detach().flatten(0, 1) for src, tgt in batches])
        labels = torch.cat([tgt[:, 1:].flatten() for _, tgt in batches])
        scores, labels = scores[labels != pad_id], labels[labels != pad_id]
        expected = F.cross_entropy(scores, labels), (scores.argmax(-1) == labels).float().mean()
        given: Iterable[Batch] = iter(batches) if index % 2 else batches
        with check.case(batches=count, pad_id=pad_id):
            result = answer(model, given, pad_id) if pad_id else answer(model, given)
            got = check.numbers("evaluate(model, batches)", result, "loss", "accuracy")
            for name, value, wanted in zip(("loss", "accuracy"), got, expected, strict=True):
                check.close(name, value, wanted)
    sure, tgt = almost_sure(5), one_word(5, 2, 4)
    wanted = F.cross_entropy(sure(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    loss = check.numbers("evaluate(model, batches)", answer(sure, [(tgt, tgt)]), "loss", "accuracy")[0]
    check.close(SURE, loss, wanted, rtol=0.1, atol=0.0)


def evaluated_mode(answer: Callable[..., tuple[float, float]], *, seed: int = 0) -> None:
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


def accumulated(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The loss and two steps of a model for batches of any size, cut into one piece up to as many as sentences."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 13), longest=(1, 10), num_pieces=(1, 12))):
        batch, longest, num_pieces = size.values()
        src, tgt = batch_of(seed + index, batch, longest, vocab_size=9)
        scale = (1.0, 100.0)[index % 2]
        twin = next_token(9, seed, scale)
        model = Watched(twin.table.detach(), scale)
        optimizers = [optimizer_of(each, index % 2) for each in (model, twin)]
        for step in (1, 2):
            loss = parts.label_smoothed_loss(twin(src, tgt[:, :-1]), tgt[:, 1:], smoothing=0.0)
            (twin.table.grad,) = torch.autograd.grad(loss, twin.table)
            optimizers[1].step()
            with check.case(src=src, tgt=tgt, num_pieces=num_pieces, step=step), check.unchanged(src=src, tgt=tgt):
                result = answer(model, optimizers[0], src, tgt, num_pieces)
                name = "mended_accumulation(…)"
                check.close(name, check.number(name, result), loss.detach())
                wanted = twin.table.detach()
                check.close("the parameters after the step", model.table.detach(), wanted, atol=1e-5 * scale)
                most, allowed = max(model.rows), len(tgt.chunk(num_pieces)[0])
                verdict = f"{most} sentences go through the model at once; a piece holds {allowed}."
                check.true(most <= allowed, verdict)
                verdict = "A piece goes through the model while another one still waits for `backward`."
                check.true(not model.waiting, verdict, "The memory has room for one piece at a time.")
    _accumulated_in_a_transformer(answer, seed)
    deep, sure, tgt = Deep(), almost_sure(5), one_word(5, 2, 4)
    with left_alone("mended_accumulation", deep):
        answer(deep, torch.optim.SGD(deep.parameters(), lr=0.1), *batch_of(seed, 3, 2, vocab_size=9), 2)
    check.true(deep.modes == {(True, True)}, "`mended_accumulation` takes a model in train mode out of it.")
    expected = F.cross_entropy(sure(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    result = answer(sure, torch.optim.SGD(sure.parameters(), lr=0.1), tgt, tgt, 2)
    check.close(SURE, check.number("mended_accumulation(…)", result), expected, rtol=0.1, atol=0.0)


def _accumulated_in_a_transformer(answer: Callable[..., float], seed: int) -> None:
    """Every parameter of a Transformer moves as in one piece."""
    src, tgt = batch_of(seed, batch=5, longest=6, vocab_size=9)
    for num_pieces in some(seed, (1, 3, 4)):  # in 4 pieces, `chunk` makes 3
        model = small_transformer(9)
        loss = parts.label_smoothed_loss(model(src, tgt[:, :-1]), tgt[:, 1:], smoothing=0.0)
        slopes = torch.autograd.grad(loss, list(model.parameters()))
        wanted = [each.detach() - slope for each, slope in zip(model.parameters(), slopes, strict=True)]
        with check.case(src=src, tgt=tgt, num_pieces=num_pieces):
            first, *others = model.parameters()
            optimizer = torch.optim.SGD([{"params": [first]}, {"params": others}], lr=1.0)
            result = answer(model, optimizer, src, tgt, num_pieces)
            check.close("the loss", check.number("mended_accumulation(…)", result), loss.detach())
            for parameter, expected in zip(model.parameters(), wanted, strict=True):
                check.close("a parameter after the step", parameter.detach(), expected)
