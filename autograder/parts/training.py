"""Parts of lesson 6: shifting the target, the loss, the learning rate, a step of training, and measuring."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def teacher_forcing(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """(batch, tgt_len) → decoder input and labels, (batch, tgt_len − 1) each, one token apart (§3.1)."""
    size = tgt.size(1) - 1
    return tgt.narrow(1, 0, size), tgt.narrow(1, 1, size)


def label_smoothed_loss(logits: Tensor, labels: Tensor, pad_id: int = 0, smoothing: float = 0.1) -> Tensor:
    """`F.cross_entropy`, which wants the classes second: the mean over real tokens (§5.4)."""
    return F.cross_entropy(logits.movedim(-1, 1), labels, ignore_index=pad_id, label_smoothing=smoothing)


def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """The paper's schedule (§5.3), from its peak at `warmup_steps`: down with the root of the step, up in a line."""
    peak: float = (d_model * warmup_steps) ** -0.5
    progress = max(step, 1) / warmup_steps
    return peak * progress if progress < 1 else peak / progress**0.5


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_id: int = 0,
    smoothing: float = 0.1,
    max_grad_norm: float = 1.0,
) -> float:
    """Change the model once, with gradients no longer than `max_grad_norm`, and return the loss before."""
    given, labels = teacher_forcing(tgt)
    model.train().zero_grad()
    loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)
    optimizer.step()
    return float(loss.detach())


def fit(
    model: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler | None = None,
    max_grad_norm: float = 1.0,
) -> list[float]:
    """Train on each batch once, where the model is, and return the losses in order."""
    device = next(model.parameters()).device
    losses = []
    for batch in batches:
        src, tgt = (tokens.to(device) for tokens in batch)
        loss = train_step(model, optimizer, src, tgt, max_grad_norm=max_grad_norm)
        losses.append(loss)
        if schedule is not None:
            schedule.step()
    return losses


def evaluate(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], pad_id: int = 0) -> tuple[float, float]:
    """Mean loss per real token, without smoothing, and the fraction of real tokens predicted right."""
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        pairs = [(model(src, given), labels) for src, (given, labels) in ((s, teacher_forcing(t)) for s, t in batches)]
    model.train(was_training)
    logits, labels = (torch.cat([part.flatten(0, 1) for part in whole]) for whole in zip(*pairs, strict=True))
    logits, labels = logits[labels != pad_id], labels[labels != pad_id]
    return F.cross_entropy(logits, labels).item(), (logits.argmax(dim=-1) == labels).float().mean().item()
