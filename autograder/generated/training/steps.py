"""Lesson 6 over generated inputs: the shift, the loss, the learning rate, a step of training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data, parts
from autograder.generated.inputs import DTYPES, device, few, sizes, some, tensors
from autograder.generated.training.batches import (
    Deep,
    Tables,
    Watched,
    almost_sure,
    batch_of,
    left_alone,
    next_token,
    one_word,
    optimizer_of,
)

PAPER = {"d_model": 512, "warmup_steps": 4000}


def teacher_forcing(answer: Callable[[Tensor], Sequence[Tensor]], *, seed: int = 0) -> None:
    """Decoder input and labels for targets of any size, with an EOS and without, padded or not."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 6), longest=(1, 40))):
        tgt = batch_of(seed + index, **size, vocab_size=50_000)[1]
        if index % 3 == 1:
            tgt = F.pad(tgt, (0, 2))
        elif index % 3 == 2:
            tgt = torch.where(tgt < data.FIRST_WORD, data.FIRST_WORD, tgt)  # words only
            tgt[:, 0] = data.BOS
        labels = tgt[:, 1:].clone()
        expected = tgt[:, :-1] * (labels != 0)  # the input where the label is padding does not matter
        with check.case(tgt=tgt), check.unchanged(tgt=tgt):
            given, got = check.returns("teacher_forcing(tgt)", answer(tgt), "decoder_input", "labels")
            check.equal("labels", got, labels)
            check.shape("decoder_input", given, batch=len(tgt), length=tgt.size(1) - 1)
            check.equal("decoder_input", given * (labels != 0), expected)
    device(seed, "teacher_forcing(tgt)", answer, tgt)


def smoothed_loss(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
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


def padded_loss(answer: Callable[..., Tensor], *, seed: int = 0) -> None:
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


def learning_rate(answer: Callable[[int, int, int], float], *, seed: int = 0) -> None:
    """Rates from step 0 to far behind the peak, for the paper's sizes and for any others."""
    others = sizes(seed, 5, d_model=(1, 2048), warmup_steps=(1, 9000))
    more = few(seed)
    for size in (PAPER, *others):
        warmup = size["warmup_steps"]
        steps = [0, 1, 2, 5 + more, warmup // 3, warmup - 1, warmup, warmup + 1, 2 * warmup, 30 * warmup + more]
        expected = torch.tensor([parts.learning_rate(step, **size) for step in steps])
        with check.case(step=f"each of {steps}", **size):
            got = [check.number("the rate", answer(step, *size.values())) for step in steps]
            check.close("the rates of these steps", torch.stack(got), expected, rtol=1e-4, atol=0.0)


def step_loss(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The loss that a step returns, for batches of any size, pad id and smoothing; the rate stays as it is."""
    for index, size in enumerate(sizes(seed, 4, batch=(1, 7), longest=(1, 80), vocab_size=(6, 30))):
        pad_id, smoothing = (0, 3, 4)[(index + seed) % 3], (0.1, 0.0, 0.3, 0.2)[index % 4]
        src, tgt = batch_of(seed + index, **size, pad_id=pad_id)
        model = next_token(size["vocab_size"], seed)
        scores = model(src, tgt[:, :-1]).detach()
        expected = parts.label_smoothed_loss(scores, tgt[:, 1:], pad_id, smoothing)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = {"src": src, "tgt": tgt}
        with check.case(**inputs, pad_id=pad_id, smoothing=smoothing), check.unchanged(**inputs):
            loss = answer(model, optimizer, src, tgt, pad_id=pad_id, smoothing=smoothing)
            check.close("the loss", check.number("train_step(…)", loss), expected)
            check.python_number("train_step(…)", loss)
            rate = optimizer.param_groups[0]["lr"]
            check.true(rate == 0.1, f"`train_step` changes the learning rate from 0.1 to {rate}.")
    model, tgt = almost_sure(5), one_word(5, 2, 4)
    expected = F.cross_entropy(model(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    loss = answer(model, torch.optim.SGD(model.parameters(), lr=0.1), tgt, tgt, smoothing=0.0)
    check.close(
        "the loss of a model that is almost sure", check.number("train_step(…)", loss), expected, rtol=0.1, atol=0.0
    )


def step_moves(answer: Callable[..., float]) -> None:
    """The parameters are moved, and no others; a verdict says what is missing."""
    model = Watched(next_token(9, 3).table.detach())
    before = model.table.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    tgt = one_word(5, 3, 6)
    answer(model, optimizer, tgt, tgt, max_grad_norm=1e9)
    if not torch.equal(model.table.detach(), before):
        others = torch.arange(9) != 5
        check.equal("what the loss does not depend on", model.table.detach()[others], before[others])
        return
    verdict = "The parameters are not moved at all"
    check.true(bool(model.gradients), f"{verdict}: no gradients are computed.", "`loss.backward()` does that.")
    slip = "They are zero when `optimizer.step()` is called, as after `zero_grad()`, or it is not called at all."
    check.true(False, f"{verdict}, though gradients are computed.", slip)


def step_update(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The parameters after each of several steps; each batch is one word, so that shift and padding play no part.

    The gradients are shorter than 1, so that a mistake in the clipping plays none either.
    """
    for index, size in enumerate(sizes(seed, 2, batch=(1, 6), longest=(1, 12), vocab_size=(6, 30))):
        batch, longest, vocab_size = size.values()
        model, twin = (next_token(vocab_size, seed, scale=0.3) for _ in range(2))
        optimizers = [optimizer_of(each, index) for each in (model, twin)]
        for step in range(4):
            tgt = one_word(3 + (index + step) % 3, batch, longest + 1)
            parts.train_step(twin, optimizers[1], tgt, tgt, max_grad_norm=1e9)
            with check.case(step=step + 1, tgt=tgt, optimizer=type(optimizers[0]).__name__):
                answer(model, optimizers[0], tgt, tgt, max_grad_norm=1e9)
                check.close("the parameters after the step", model.table.detach(), twin.table.detach())


def clipped_step(answer: Callable[..., float], max_grad_norm: float | None) -> tuple[Tensor, Tensor]:
    """Take a step with the rate 1 on two tables, a vector and a parameter that is not used, in two groups.

    Returns:
        how far all parameters move (180,), for a mistake in the loss moves them as far; None clips by default.
    """
    moves = []
    for options in ({"max_grad_norm": 1e9}, {} if max_grad_norm is None else {"max_grad_norm": max_grad_norm}):
        model = Tables()
        groups = [[model.one], [model.two, model.bias, model.idle]]
        optimizer = torch.optim.SGD([{"params": group} for group in groups], lr=1.0)
        src, tgt = batch_of(7, batch=2, longest=4, vocab_size=9)
        answer(model, optimizer, src, tgt, **options)
        moves.append(torch.cat([each.detach().flatten() for each in model.parameters()]))
    return moves[0], moves[1]


def step_clipping(answer: Callable[..., float], *, seed: int = 0) -> None:
    """A step is the answer's own step without clipping, made shorter where it is longer than `max_grad_norm`."""
    for max_grad_norm in some(seed, (0.0, 0.02 + few(seed) / 1000, 0.3, 1.7, 6.0 + few(seed) / 100, 11.0, 500.0)):
        with check.case(max_grad_norm=max_grad_norm):
            free, clipped = clipped_step(answer, max_grad_norm)
            _follows_gradients(free)
            expected = free * min(1.0, max_grad_norm / max(free.norm().item(), 1e-9))
            check.close("the change of the parameters", clipped, expected, rtol=1e-3)


def _follows_gradients(step: Tensor) -> None:
    """The step (180,) of `clipped_step` goes along gradients, of whatever loss: those of the matrices are the same."""
    one, two, bias, idle = torch.split(step, [81, 81, 9, 9])
    alike = torch.allclose(one, two, atol=1e-4) and torch.allclose(one.view(9, 9).sum(dim=0), bias, atol=1e-3)
    check.true(bool(one.any()), "Without clipping, the step does not move the parameters at all.")
    stretched = (
        "At max_grad_norm = 1e9 the gradients are stretched to that length; longer ones should be shortened, no more."
    )
    check.true(not step.norm() > 1e6, stretched)
    check.true(alike and not idle.any(), "The step does not go along the gradients of the parameters.")


def step_mode(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The model runs once in each step, all of it in train mode, whatever mode it or a part of it was in."""
    for index in some(seed, range(4)):
        model = Deep().train(bool(index % 2))
        model.body[0].train(index > 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        before = model.source.weight.detach().clone()
        for step in (1, 2):
            with left_alone("train_step", model):
                answer(model, optimizer, *batch_of(seed + index + step, 2, 3, vocab_size=9))
            verdict = (
                f"`train_step` runs the model {len(model.dropped) - step + 1} times; every run drops out other parts."
            )
            check.true(len(model.dropped) == step, verdict, "Run it once, and learn from the loss that you return.")
            verdict = "The model, or a part of it, is in eval mode while it learns, so its dropout is off."
            slip = "Call `model.train()` first."
            check.true({training for training, _ in model.modes} == {True}, verdict, slip)
        check.differs("what the model learns", model.source.weight.detach(), before, when="it takes two steps")
        verdict = "Two steps, one after the other, drop out the same numbers."
        slip = "Something sets the seed, or brings back an earlier state of it."
        check.true(not torch.equal(*model.dropped), verdict, slip)


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
        scale = 1000.0 if index == len(drawn) else 2.0
        yield (scale * logits).requires_grad_(), labels, pad_id
