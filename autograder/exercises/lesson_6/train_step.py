"""Exercise `train_step`: its cases and its slips."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, parts
from autograder.exercises.lesson_6 import shared
from autograder.exercises.shared import few, possible, sizes, some, without_dropout
from autograder.parts.attention import TensorFunction


class Tables(nn.Module):
    """Two matrices with the same gradient, a vector, and a parameter that is not used; its gradients are long.

    The first matrix is a part of its own, which has two names, as shared embeddings have.
    """

    def __init__(self, scale: float = 30.0) -> None:
        super().__init__()
        self.scale = scale
        self.first = self.same = nn.ParameterList([torch.zeros(9, 9)])
        self.others = nn.ParameterList([torch.zeros(9, 9), torch.zeros(9), torch.zeros(9)])

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(batch, tgt_len) → logits (batch, tgt_len, 9)."""
        one, two, bias, _ = self.parameters()
        return self.scale * (one[tgt] + two[tgt] + bias)


def loss_cases(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The loss that a step returns, for batches of any size, pad id and smoothing; the rate stays as it is."""
    for index, size in enumerate(sizes(seed, 4, batch=(1, 7), longest=(1, 80), vocab_size=(6, 30))):
        pad_id, smoothing = (0, 3, 4)[(index + seed) % 3], (0.1, 0.0, 0.3, 0.2)[index % 4]
        src, tgt = shared.batch_of(seed + index, **size, pad_id=pad_id)
        model = shared.next_token(size["vocab_size"], seed)
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
    deep = without_dropout(shared.Deep())
    src, tgt = shared.batch_of(seed, batch=3, longest=4, vocab_size=9, further=9)
    expected = parts.label_smoothed_loss(deep(src, tgt[:, :-1]).detach(), tgt[:, 1:])
    with check.case(src=src, tgt=tgt):
        loss = answer(deep, torch.optim.SGD(deep.parameters(), lr=0.1), src, tgt)
        name = "the loss of a model that is given source and decoder input"
        check.close(name, check.number("train_step(…)", loss), expected)
    model, tgt = shared.almost_sure(5), shared.one_word(5, 2, 4)
    expected = F.cross_entropy(model(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    loss = answer(model, torch.optim.SGD(model.parameters(), lr=0.1), tgt, tgt, smoothing=0.0)
    check.close(shared.SURE, check.number("train_step(…)", loss), expected, rtol=0.1, atol=0.0)


def move_cases(answer: Callable[..., float]) -> None:
    """The parameters are moved, and no others; a verdict says what is missing."""
    model = shared.Watched(shared.next_token(9, 3).table.detach())
    before = model.table.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    tgt = shared.one_word(5, 3, 6)
    answer(model, optimizer, tgt, tgt, max_grad_norm=1e9)
    after = model.table.detach()
    if not torch.equal(after, before):
        others = torch.arange(9) != 5
        check.equal("what the loss does not depend on", after[others], before[others])
        wanted, slips = _moved(before, tgt)
        check.close("the parameters after a step", after, wanted, mistakes=slips)
        return
    verdict = "A first step does not move the parameters"
    slip = "`loss.backward()` does that, of a loss that has come from the parameters."
    check.true(bool(model.gradients), f"{verdict}: no gradients are computed.", slip)
    slip = (
        "They are zero or not there when `optimizer.step()` is called, as before `backward()` and after `zero_grad()`; "
        "or it is not called at all."
    )
    check.true(False, f"{verdict}, though gradients are computed.", slip)


def _moved(table: Tensor, tgt: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The table after a step at the rate 1 on one word over and over, and after steps that are wrong."""

    def step(smoothing: float = 0.1, reduction: str = "mean") -> Tensor:
        rows = table.clone().requires_grad_()
        labels = tgt[:, 1:].flatten()
        loss = F.cross_entropy(rows[labels], labels, label_smoothing=smoothing, reduction=reduction)
        return -torch.autograd.grad(loss, rows)[0]

    right = step()
    slips = {
        "they are moved the wrong way": -right,
        "the step is twice as long, as where the optimizer takes it twice, or `backward` runs twice": 2 * right,
        "the labels are not smoothed": step(smoothing=0.0),
        "the loss is summed over the tokens instead of averaged": step(reduction="sum"),
    }
    return table + right, {slip: table + moved for slip, moved in slips.items()}


def update_cases(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The parameters after each of several steps; each batch is one word, so that shift and padding play no part.

    The gradients are shorter than 1, so that a mistake in the clipping plays none either.
    """
    for index, size in enumerate(sizes(seed, 2, batch=(1, 6), longest=(1, 12), vocab_size=(6, 30))):
        batch, longest, vocab_size = size.values()
        model, twin = (shared.next_token(vocab_size, seed, scale=0.3) for _ in range(2))
        optimizers = [shared.optimizer_of(each, index) for each in (model, twin)]
        for step in range(4):
            tgt = shared.one_word(3 + (index + step) % 3, batch, longest + 1)
            parts.train_step(twin, optimizers[1], tgt, tgt, max_grad_norm=1e9)
            with check.case(step=step + 1, tgt=tgt, optimizer=type(optimizers[0]).__name__):
                answer(model, optimizers[0], tgt, tgt, max_grad_norm=1e9)
                check.close("the parameters after the step", model.table.detach(), twin.table.detach())
    kinds = Tables, lambda: shared.small_transformer(9)  # in the latter, rows of padding and of BOS learn as well
    for make in kinds:
        models = make(), make()
        optimizers = [torch.optim.SGD(each.parameters(), lr=0.01) for each in models]
        for step in range(2):
            tgt = shared.one_word(3 + step, 2, 4)
            parts.train_step(models[1], optimizers[1], tgt, tgt, max_grad_norm=1e9)
            answer(models[0], optimizers[0], tgt, tgt, max_grad_norm=1e9)
            moved, wanted = (nn.utils.parameters_to_vector(each.parameters()).detach() for each in models)
            check.close(f"the parameters of a model with more than one, after step {step + 1}", moved, wanted)


def clipped_step(
    answer: Callable[..., float], max_grad_norm: float | None, scale: float = 30.0
) -> tuple[Tensor, Tensor]:
    """Take a step with the rate 1 on two tables, a vector and a parameter that is not used, in two groups.

    Args:
        scale: the gradients are as long as this, more or less.

    Returns:
        how far all parameters move (180,), for a mistake in the loss moves them as far; None clips by default.
    """
    moves = []
    for options in ({"max_grad_norm": 1e9}, {} if max_grad_norm is None else {"max_grad_norm": max_grad_norm}):
        model = Tables(scale)
        optimizer = torch.optim.SGD([{"params": part.parameters()} for part in model.children()], lr=1.0)
        src, tgt = shared.batch_of(7, batch=2, longest=4, vocab_size=9)
        answer(model, optimizer, src, tgt, **options)
        moves.append(torch.cat([each.detach().flatten() for each in model.parameters()]))
    return moves[0], moves[1]


def clipping_cases(answer: Callable[..., float], *, seed: int = 0) -> None:
    """A step is the answer's own step without clipping, made shorter where it is longer than `max_grad_norm`."""
    for max_grad_norm in some(seed, (0.0, 0.02 + few(seed) / 1000, 0.3, 1.7, 6.0 + few(seed) / 100, 11.0, 500.0)):
        with check.case(max_grad_norm=max_grad_norm):
            free, clipped = clipped_step(answer, max_grad_norm)
        _follows_gradients(free)
        with check.case(max_grad_norm=max_grad_norm):
            expected = free * min(1.0, max_grad_norm / max(free.norm().item(), 1e-9))
            check.close("the change of the parameters", clipped, expected, rtol=1e-3)
    free, clipped = clipped_step(answer, 0.5, scale=40_000.0)
    verdict = "Where the gradients are very long, a step does not move the parameters."
    check.true(bool(clipped.any()), verdict, "However long they are, they are scaled down, and the step is taken.")
    expected = free * (0.5 / free.norm())
    check.close("the change of the parameters under long gradients", clipped, expected, rtol=1e-3)


def _follows_gradients(step: Tensor) -> None:
    """The step (180,) of `clipped_step` goes along gradients, of whatever loss: those of the matrices are the same."""
    one, two, bias, idle = torch.split(step, [81, 81, 9, 9])
    alike = torch.allclose(one, two, atol=1e-4) and torch.allclose(one.view(9, 9).sum(dim=0), bias, atol=1e-3)
    check.true(bool(one.any()), "Without clipping, the step does not move the parameters at all.")
    verdict = (
        "At max_grad_norm = 1e9 the gradients are stretched to that length; longer ones should be shortened, no more."
    )
    check.true(not step.norm() > 1e6, verdict)
    check.true(alike and not idle.any(), "The step does not go along the gradients of the parameters.")


def mode_cases(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The model runs once in each step, all of it in train mode, whatever mode it or a part of it was in."""
    for index in some(seed, range(4)):
        model = shared.Deep().train(bool(index % 2))
        model.body[0].train(index > 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        before = model.source.weight.detach().clone()
        for step in (1, 2):
            with shared.left_alone("train_step", model):
                answer(model, optimizer, *shared.batch_of(seed + index + step, 2, 3, vocab_size=9))
            verdict = (
                f"`train_step` runs the model {len(model.dropped) - step + 1} times; every run drops out other parts."
            )
            check.true(len(model.dropped) == step, verdict, "Run it once, and learn from the loss that you return.")
            verdict = "The model, or a part of it, is in eval mode while it learns, so its dropout is off."
            slip = "Call `model.train()` first."
            check.true({training for training, _ in model.modes} == {True}, verdict, slip)
        verdict = "Two steps change no parameter of the model."
        check.true(not torch.equal(model.source.weight.detach(), before), verdict)
        verdict = "Two steps, one after the other, drop out the same numbers."
        slip = "Something sets the seed, or brings back an earlier state of it."
        check.true(not torch.equal(*model.dropped), verdict, slip)


def loss_slips(model: TensorFunction, src: Tensor, tgt: Tensor, pad_id: int, smoothing: float) -> dict[str, Tensor]:
    """Losses of one step of training of a model without dropout, for src (batch, src_len) and tgt (batch, tgt_len)."""

    def loss(
        given: Tensor, labels: Tensor, pad_id: int = pad_id, smoothing: float = smoothing, *, is_sure: bool = False
    ) -> Tensor:
        logits = model(src, given)
        logits = (logits.softmax(-1) if is_sure else logits).movedim(-1, 1)
        return F.cross_entropy(logits, labels, ignore_index=pad_id, label_smoothing=smoothing)

    given, labels = tgt[:, :-1], tgt[:, 1:]
    with torch.no_grad():
        slips = {
            "nothing is shifted: the whole target is both decoder input and labels": loss(tgt, tgt),
            "decoder input and labels are exchanged": loss(labels, given),
            "the labels are not shifted: they are the decoder input": loss(given, given),
            "the decoder input is not shifted: it is the labels": loss(labels, labels),
            "`smoothing` is not passed on, and 0.1 is used": loss(given, labels, smoothing=0.1),
            "the labels are not smoothed": loss(given, labels, smoothing=0.0),
            "padding counts as a label": loss(given, labels, pad_id=-100),
            "`pad_id` is not passed on, and 0 is used": loss(given, labels, pad_id=0),
            "neither `pad_id` nor `smoothing` is passed on": loss(given, labels, pad_id=0, smoothing=0.1),
            "the source is learned instead of the target": loss(src[:, :-1], src[:, 1:]),
            "a softmax comes before the loss, which brings its own": loss(given, labels, is_sure=True),
            "the loss is multiplied by the number of real tokens": loss(given, labels) * (labels != pad_id).sum(),
        }
        return possible(slips, loss(given, labels))


def clipping_slips(free: Tensor, sizes: Sequence[int], max_grad_norm: float) -> dict[str, Tensor]:
    """Lengths of a step whose gradients are to be clipped.

    Args:
        free: the step without clipping, all parameters in one row.
        sizes: how many numbers each parameter has, in this order: a matrix, another in a group with the rest, a vector.
    """
    one, *others = torch.split(free, list(sizes))

    def length(*steps: Tensor) -> Tensor:
        return torch.cat(steps).square().sum().sqrt()

    def within(step: Tensor) -> Tensor:
        shorter: Tensor = step * (max_grad_norm / length(step)).clamp(max=1.0)
        return shorter

    is_vector = torch.cat([torch.full((size,), size == len(others[1])) for size in sizes])
    slips = {
        "the gradients are not clipped before the optimizer uses them": length(free),
        "each parameter is clipped by itself": length(within(one), *map(within, others)),
        "each group of the optimizer is clipped by itself, or each part of the model": length(
            within(one), within(torch.cat(others))
        ),
        "only the first parameter is clipped, or the first part of the model, or the optimizer's first group": length(
            within(one), *others
        ),
        "vectors are not clipped": length(within(free[~is_vector]), free[is_vector]),
        "each number is clipped by itself (`clip_grad_value_`)": length(free.clamp(-max_grad_norm, max_grad_norm)),
        "the length of all is taken to be the sum of the parameters' lengths": (
            length(free) * max_grad_norm / sum(map(length, (one, *others)))
        ),
        "the length of all is taken to be its square, without the root": max_grad_norm / length(free),
        "the largest gradient, not the length of all, is brought to `max_grad_norm`": length(
            free * max_grad_norm / free.abs().max()
        ),
        "`max_grad_norm` is not used, and the gradients are clipped to 1.0": length(free / free.norm()),
        "`max_grad_norm` is not used, and the gradients are clipped to 10.0": length(10 * free / free.norm()),
    }
    return possible(slips, torch.tensor(max_grad_norm))
