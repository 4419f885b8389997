"""Exercise `mended_accumulation`: its cases and its slips."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, parts
from autograder.exercises.lesson_6 import shared
from autograder.exercises.shared import possible, sizes, some


def cases(answer: Callable[..., float], *, seed: int = 0) -> None:
    """The loss and two steps of a model for batches of any size, cut into one piece up to as many as sentences."""
    for index, size in enumerate(sizes(seed, 5, batch=(1, 13), longest=(1, 10), num_pieces=(1, 12))):
        batch, longest, num_pieces = size.values()
        src, tgt = shared.batch_of(seed + index, batch, longest, vocab_size=9)
        scale = (1.0, 100.0)[index % 2]
        twin = shared.next_token(9, seed, scale)
        model = shared.Watched(twin.table.detach(), scale)
        optimizers = [shared.optimizer_of(each, index % 2) for each in (model, twin)]
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
                verdict = "The model runs more often in a step than there are pieces."
                check.true(len(model.rows) <= step * num_pieces, verdict)
                verdict = "A piece goes through the model while another one still waits for `backward`."
                check.true(not model.waiting, verdict, "The memory has room for one piece at a time.")
    _accumulated_in_a_transformer(answer, seed)
    deep, sure, tgt = shared.Deep(), shared.almost_sure(5), shared.one_word(5, 2, 4)
    with shared.left_alone("mended_accumulation", deep):
        answer(deep, torch.optim.SGD(deep.parameters(), lr=0.1), *shared.batch_of(seed, 3, 2, vocab_size=9), 2)
    check.true(deep.modes == {(True, True)}, "`mended_accumulation` takes a model in train mode out of it.")
    expected = F.cross_entropy(sure(tgt, tgt).flatten(0, 1), tgt.flatten()).detach()
    result = answer(sure, torch.optim.SGD(sure.parameters(), lr=0.1), tgt, tgt, 2)
    check.close(shared.SURE, check.number("mended_accumulation(…)", result), expected, rtol=0.1, atol=0.0)


def _accumulated_in_a_transformer(answer: Callable[..., float], seed: int) -> None:
    """Every parameter of a Transformer moves as in one piece."""
    src, tgt = shared.batch_of(seed, batch=5, longest=6, vocab_size=9)
    for num_pieces in some(seed, (1, 3, 4)):  # in 4 pieces, `chunk` makes 3
        model = shared.small_transformer(9)
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


def slips(table: Tensor, src: Tensor, tgt: Tensor, num_pieces: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Losses and gradients of a batch in pieces, for a model that predicts from the last token by a table.

    Args:
        table: (vocab_size, vocab_size), logits of the next token.
        src: (batch, src_len), padded with 0.
        tgt: (batch, tgt_len), padded with 0.

    Returns:
        Losses and gradients, each by the slip that they come of.
    """
    pieces = tgt.chunk(num_pieces)
    real = [int((piece[:, 1:] != 0).sum()) for piece in pieces]
    rows = table.detach().clone().requires_grad_()

    def summed(tgt: Tensor, table: Tensor = rows, ignored: int = 0, smoothing: float = 0.0) -> Tensor:
        scores, labels = table[tgt[:, :-1]].movedim(-1, 1), tgt[:, 1:]
        return F.cross_entropy(scores, labels, ignore_index=ignored, reduction="sum", label_smoothing=smoothing)

    sums = [summed(piece) for piece in pieces]
    means = [total / count for total, count in zip(sums, real, strict=True)]
    whole, tokens, positions = sum(sums), sum(real), tgt[:, 1:].numel()
    padded, smoothed = summed(tgt, ignored=-100), summed(tgt, smoothing=0.1)
    slips = {
        "the mean losses of the pieces are averaged, so that tokens of short pieces weigh more": sum(means)
        / len(means),
        "the mean losses of the pieces are added up": sum(means),
        "the losses are added up and not divided": whole,
        "each piece weighs as much as it has sentences, whatever their length": sum(
            mean * len(piece) / len(tgt) for mean, piece in zip(means, pieces, strict=True)
        ),
        "the sum is divided by the number of sentences": whole / len(tgt),
        "the sum is divided by all positions, padding included": whole / positions,
        "BOS is counted as a token that has to be predicted": whole / (tokens + len(tgt)),
        "the sum is divided by one token less for each sentence, as where words are counted without EOS": (
            whole / (tokens - len(tgt))
        ),
        "the tokens that the decoder is given are counted, not those that it has to predict": (
            whole / (tgt[:, :-1] != 0).sum()
        ),
        "the real tokens of the source are counted, not those of the target": whole / (src != 0).sum(),
        "padding counts as a label, though its tokens are not counted": padded / tokens,
        "padding counts as a label": padded / positions,
        "the labels are smoothed": smoothed / tokens,
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
            loss = summed(piece, moved) / tokens
            gradient = torch.autograd.grad(loss, moved)[0] + (0 if is_cleared else gradient)
            moved = (moved - gradient).detach().requires_grad_()
        gradients[slip] = (table - moved).detach()
    losses = {slip: torch.as_tensor(loss).detach() for slip, loss in slips.items()}
    return possible(losses, torch.as_tensor(whole).detach() / tokens), possible(gradients, right)
