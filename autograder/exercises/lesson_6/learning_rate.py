"""Exercise `learning_rate`: its cases and its slips."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import few, sizes

PAPER = {"d_model": 512, "warmup_steps": 4000}


def cases(answer: Callable[[int, int, int], float], *, seed: int = 0) -> None:
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


def slips(steps: Sequence[int], d_model: int, warmup_steps: int) -> dict[str, Tensor]:
    """Rates at these steps, each at least 1, float32."""

    step, width = torch.tensor(steps, dtype=torch.float64), d_model**-0.5
    falls, rises = step**-0.5, step * warmup_steps**-1.5
    lower = torch.minimum
    rates = {
        "`max` stands in the place of `min`": width * torch.maximum(falls, rises),
        "warmup_steps has the exponent −0.5 instead of −1.5": width * lower(falls, step * warmup_steps**-0.5),
        "the smaller of the two is not multiplied by d_model^−0.5": lower(falls, rises),
        "d_model has the exponent 0.5 instead of −0.5": d_model**0.5 * lower(falls, rises),
        "d_model has the exponent −1 instead of −0.5": lower(falls, rises) / d_model,
        "every step has the rate of step 1, as where the factor step is missing in the warm-up": (
            width * falls.clamp(max=warmup_steps**-1.5)
        ),
        "warmup_steps has the exponent −1 instead of −1.5": width * lower(falls, step / warmup_steps),
        "warmup_steps is not used, and 4000 is": width * lower(falls, step * 4000**-1.5),
        "the whole has the factor 2": 2 * width * lower(falls, rises),
        "step has the exponent −1 instead of −0.5": width * lower(1 / step, rises),
        "the sign is wrong: `-d_model**0.5` is −√d_model, not 1/√d_model": -(d_model**0.5) * lower(falls, rises),
        "the two are added instead of taking the smaller one": width * (falls + rises),
        "there is no warm-up, as where warmup_steps has the exponent 1.5": width * falls,
        "the rate never falls again, as where step has the exponent 0.5": width * rises,
        "the rate stays at its peak after the warm-up": width * rises.clamp(max=warmup_steps**-0.5),
        "steps are counted from 0: one is added to `step`": (
            width * lower((step + 1) ** -0.5, (step + 1) * warmup_steps**-1.5)
        ),
        "d_model^−0.5 multiplies the first of the two only": lower(width * falls, rises),
        "the product step · warmup_steps has the exponent −1.5, not warmup_steps alone": (
            width * lower(falls, (step * warmup_steps) ** -1.5)
        ),
        "the rate falls with 1 / step instead of its root": width * lower(warmup_steps**0.5 / step, rises),
    }
    return {slip: rate.float() for slip, rate in rates.items()}
