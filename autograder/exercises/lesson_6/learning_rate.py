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

    def rates(rate: Callable[[float], float]) -> Tensor:
        return torch.tensor([rate(float(step)) for step in steps])

    width: float = d_model**-0.5
    return {
        "`max` stands in the place of `min`": rates(lambda s: width * max(s**-0.5, s * warmup_steps**-1.5)),
        "warmup_steps has the exponent −0.5 instead of −1.5": rates(
            lambda s: width * min(s**-0.5, s * warmup_steps**-0.5)
        ),
        "the smaller of the two is not multiplied by d_model^−0.5": rates(
            lambda s: min(s**-0.5, s * warmup_steps**-1.5)
        ),
        "d_model has the exponent 0.5 instead of −0.5": rates(
            lambda s: d_model**0.5 * min(s**-0.5, s * warmup_steps**-1.5)
        ),
        "d_model has the exponent −1 instead of −0.5": rates(lambda s: min(s**-0.5, s * warmup_steps**-1.5) / d_model),
        "every step has the rate of step 1, as where the factor step is missing in the warm-up": rates(
            lambda s: width * min(s**-0.5, warmup_steps**-1.5)
        ),
        "warmup_steps has the exponent −1 instead of −1.5": rates(lambda s: width * min(s**-0.5, s / warmup_steps)),
        "warmup_steps is not used, and 4000 is": rates(lambda s: width * min(s**-0.5, s * 4000**-1.5)),
        "the whole has the factor 2": rates(lambda s: 2 * width * min(s**-0.5, s * warmup_steps**-1.5)),
        "step has the exponent −1 instead of −0.5": rates(lambda s: width * min(1 / s, s * warmup_steps**-1.5)),
        "the sign is wrong: `-d_model**0.5` is −√d_model, not 1/√d_model": rates(
            lambda s: -(d_model**0.5) * min(s**-0.5, s * warmup_steps**-1.5)
        ),
        "the two are added instead of taking the smaller one": rates(
            lambda s: width * (s**-0.5 + s * warmup_steps**-1.5)
        ),
        "there is no warm-up, as where warmup_steps has the exponent 1.5": rates(lambda s: width * s**-0.5),
        "the rate never falls again, as where step has the exponent 0.5": rates(
            lambda s: width * s * warmup_steps**-1.5
        ),
        "the rate stays at its peak after the warm-up": rates(
            lambda s: width * min(warmup_steps**-0.5, s * warmup_steps**-1.5)
        ),
        "steps are counted from 0: one is added to `step`": rates(
            lambda s: width * min((s + 1) ** -0.5, (s + 1) * warmup_steps**-1.5)
        ),
        "d_model^−0.5 multiplies the first of the two only": rates(
            lambda s: min(width * s**-0.5, s * warmup_steps**-1.5)
        ),
        "the product step · warmup_steps has the exponent −1.5, not warmup_steps alone": rates(
            lambda s: width * min(s**-0.5, (s * warmup_steps) ** -1.5)
        ),
        "the rate falls with 1 / step instead of its root": rates(
            lambda s: width * min(warmup_steps**0.5 / s, s * warmup_steps**-1.5)
        ),
    }
