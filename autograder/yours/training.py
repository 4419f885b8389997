"""Training in sight: a bar while it goes on, and what was learned stays where somebody stops it."""

import contextlib
import io
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn
from tqdm import tqdm

from autograder.yours.weights import while_finite


def train(
    fit: Callable[..., list[float]],
    model: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    *options: Any,
    steps: int | None = None,
) -> list[float]:
    """Give `fit` one batch after another, with a bar in place of its prints; interrupted, say so, and keep the model.

    Args:
        fit: the learner's or the course's, `fit(model, batches, *options)` → the losses.
        options: optimizer and schedule.
        steps: how many batches there are, where they do not say.

    Returns:
        the losses of the steps that were taken.
    """
    losses: list[float] = []
    total = steps or operator.length_hint(batches) or None
    with tqdm(total=total, desc="training", leave=False, file=sys.stdout, mininterval=0.5) as bar:
        try:
            for batch in while_finite(model, batches):
                with contextlib.redirect_stdout(io.StringIO()):  # once a batch would be too much
                    losses += fit(model, [batch], *options)
                bar.set_postfix(loss=f"{losses[-1]:.2f}", refresh=False)
                bar.update()
        except KeyboardInterrupt:
            bar.close()
            print(f"Stopped after {len(losses)} of {total} steps; the model keeps what it has learned in them.")
    return losses
