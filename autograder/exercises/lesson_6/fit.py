"""Exercise `fit`: its cases and its slips."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

import torch
from torch import Tensor, nn

from autograder import check, data, parts
from autograder.exercises.lesson_6 import shared
from autograder.exercises.shared import few, possible, some


def asked(model: parts.NextToken, batches: Iterable[shared.Batch], tables: list[Tensor]) -> Iterator[shared.Batch]:
    """The same batches, one by one; `tables` gets the model's table each time that one is asked for."""
    for batch in batches:
        tables.append(model.table.detach().clone())
        yield batch


class Elsewhere(parts.NextToken):
    """The same model on a device without numbers; it remembers the devices of its inputs."""

    def __init__(self) -> None:
        super().__init__(torch.zeros(9, 9, device="meta"))
        self.devices: list[str] = []

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, tgt_len) → logits (batch, tgt_len, vocab_size), without numbers."""
        self.devices += [src.device.type, tgt.device.type]
        return super().forward(src, tgt.to("meta"))


class Factor(nn.Module):
    """Stands in for a schedule of PyTorch: each step multiplies the rate by `factor`, or makes it that of a step."""

    def __init__(self, optimizer: torch.optim.Optimizer, factor: float) -> None:
        super().__init__()
        self._optimizer, self._factor = optimizer, factor
        self._first_rate = optimizer.param_groups[0]["lr"]

    def get_last_lr(self) -> list[float]:
        """The rate of the next step, as schedules of PyTorch say it."""
        return [self._optimizer.param_groups[0]["lr"]]

    def step(self, epoch: float | None = None) -> None:
        """Set the rate of the next step."""
        group = self._optimizer.param_groups[0]
        group["lr"] = group["lr"] * self._factor if epoch is None else self._first_rate * self._factor**epoch


def loss_cases(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The losses of no batches, of few and of many, in a list or from a generator, with any optimizer."""
    for index, count in some(seed, enumerate((0, 1, 2, 5, 5, 104))):
        batches = [
            shared.batch_of(seed + i, batch=1 + i % 4, longest=1 + (i + seed) % 6, vocab_size=12) for i in range(count)
        ]
        model, twin = (shared.small_transformer(12) if index == 3 else shared.next_token(12, seed) for _ in range(2))
        optimizers = [shared.optimizer_of(each, index) for each in (model, twin)]
        expected = torch.tensor(parts.fit(twin, batches, optimizers[1]))
        with check.case(number_of_batches=count):
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
    batches = [shared.batch_of(seed + i, batch=2, longest=4, vocab_size=9) for i in range(5)]
    model, twin = shared.next_token(9, seed), shared.next_token(9, seed)
    optimizers = [torch.optim.Adam(each.parameters(), lr=0.1) for each in (model, twin)]
    expected = torch.tensor(parts.fit(twin, batches, optimizers[1]))
    losses = [_losses(answer(model, half, optimizers[0]), len(half)) for half in (batches[:2], batches[2:])]
    check.close("the losses of two calls in a row", torch.cat(losses), expected)
    broken = parts.NextToken(torch.full((9, 9), torch.nan))
    with check.case(losses="NaN"):
        _losses(answer(broken, batches, torch.optim.SGD(broken.parameters(), lr=0.1)), 5)


def step_cases(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The parameters whenever a batch is asked for, and at the end."""
    for index, count in some(seed, enumerate((1, 2 + seed % 5, 4, 22))):
        batches = [shared.batch_of(seed + i, batch=1 + i % 3, longest=1 + i % 5, vocab_size=9) for i in range(count)]
        model, twin = shared.next_token(9, seed), shared.next_token(9, seed)
        optimizers = [shared.optimizer_of(each, index + 1) for each in (model, twin)]
        wanted: list[Tensor] = []
        parts.fit(twin, asked(twin, batches, wanted), optimizers[1])
        wanted.append(twin.table.detach().clone())
        with check.case(number_of_batches=count):
            found: list[Tensor] = []
            answer(model, asked(model, batches, found), optimizers[0])
            found.append(model.table.detach().clone())
            check.true(len(found) == count + 1, f"Of the {count} batches of a generator `fit` takes {len(found) - 1}.")
            for place, (table, expected) in enumerate(zip(found, wanted, strict=True)):
                check.close(f"the parameters after {place} batch{'es' * (place != 1)}", table, expected)
    deep = shared.Deep().eval()
    with shared.left_alone("fit", deep):
        answer(deep, batches[:1], torch.optim.SGD(deep.parameters(), lr=0.1))
    verdict = "The model, or a part of it, is in eval mode while `fit` trains it, so its dropout is off."
    check.true({training for training, _ in deep.modes} == {True}, verdict)


def device_cases(answer: Callable[..., Sequence[float]]) -> None:
    """Batches on the CPU go to where the model is, which stays there."""
    model = Elsewhere()
    batches = [(data.tokens([4, 3], vocab_size=9), data.targets([4, 3], vocab_size=9))]
    with suppress(Exception):  # there is no loss without numbers
        answer(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
    verdict = "`fit` leaves src or tgt on the CPU while the model is on another device."
    check.true("cpu" not in model.devices, verdict)
    verdict = "`fit` never calls the model with a batch from the CPU when the model is on another device."
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
    batches = [shared.batch_of(seed, batch=2, longest=4, vocab_size=9) for seed in range(count)]
    tables: list[Tensor] = []
    answer(model, asked(model, batches, tables), optimizer, schedule)
    tables.append(model.table.detach().clone())
    rates = [(1 - after.mean() / before.mean()) / 0.5 for before, after in pairwise(tables)]
    return torch.stack([*rates, torch.tensor(optimizer.param_groups[0]["lr"])])


def schedule_cases(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """The rates of few steps and of many, with schedules that go down or up."""
    for count, factor in some(seed, ((1, 0.5), (2 + seed % 5, 1.25), (6, 0.7), (12, 0.9))):
        with check.case(number_of_batches=count, factor=factor):
            rates = rates_of_steps(answer, count, factor)
            name = "the rates at which the parameters move until the next batch is asked for, and the one left"
            check.shape(name, rates, rates=count + 1)
            check.close(name, rates, 0.8 * factor ** torch.arange(count + 1), rtol=1e-3)
    model, batches = shared.next_token(9, seed), 3 * [shared.batch_of(seed, batch=2, longest=4, vocab_size=9)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
    optimizer.param_groups[0]["initial_lr"] = 0.7  # as a schedule of PyTorch leaves it
    schedule = Factor(optimizer, 0.5)
    for half in (batches[:2], batches[2:]):
        answer(model, half, optimizer, schedule, max_grad_norm=0.0)
    rate = optimizer.param_groups[0]["lr"]
    verdict = f"After 2 batches and 1 more, all of the same loss, the rate has come from 0.8 to {rate:g}, not to 0.1."
    check.true(rate == 0.1, verdict)


def clipping_cases(answer: Callable[..., Sequence[float]], *, seed: int = 0) -> None:
    """Steps as long as `max_grad_norm`, as the gradients are longer, and shorter ones left as they are."""
    for max_grad_norm in some(seed, (0.0, 0.02 + few(seed) / 1000, 0.4, 3.0, 1000.0)):
        batches = [shared.batch_of(seed + i, batch=2, longest=3, vocab_size=9) for i in range(2)]
        model, twin = (parts.NextToken(torch.zeros(9, 9), scale=30.0) for _ in range(2))
        optimizers = [torch.optim.SGD(each.parameters(), lr=1.0) for each in (model, twin)]
        parts.fit(twin, batches, optimizers[1], max_grad_norm=max_grad_norm)
        with check.case(max_grad_norm=max_grad_norm):
            answer(model, batches, optimizers[0], max_grad_norm=max_grad_norm)
            check.close("the parameters after 2 batches", model.table.detach(), twin.table.detach(), rtol=1e-3)


def slips(losses: Tensor, at_first: Tensor) -> dict[str, Tensor]:
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
            "the model hardly moves from batch to batch: no steps are taken, or at another rate": at_first,
            "every loss is that of the first batch": losses[:1].expand_as(losses),
            "every loss is that of the last batch": losses[-1:].expand_as(losses),
        },
        losses,
    )
