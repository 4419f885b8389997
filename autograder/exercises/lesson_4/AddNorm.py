"""Exercise `AddNorm`: its cases and its slips."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_4.shared import Module
from autograder.exercises.shared import possible, rested, rests_at_any_rate, sizes, tensors, without_dropout
from autograder.parts.attention import TensorFunction


def value_cases(answer: Module, *, seed: int = 0) -> None:
    """The answer's own norm of the sum, of any size, in evaluation and in training without dropout."""
    for index, size in enumerate(sizes(seed, 4, batch=(1, 4), seq_len=(1, 9), d_model=(2, 40))):
        shape, d_model = tuple(size.values()), size["d_model"]
        x, sublayer_output = (each.requires_grad_() for each in tensors(shape, shape, seed=31 * seed + index))
        wrapper: Any = without_dropout(answer(d_model, dropout=0.0))  # whether it is told its rate is asked elsewhere
        check.parameters(f"AddNorm({d_model})", wrapper, {"norm.weight": (d_model,), "norm.bias": (d_model,)})
        data.randomized(wrapper, seed=seed)
        with check.case(d_model=d_model, x=x, sublayer_output=sublayer_output):
            for training in (True, False):
                for given in (x, 1 - x):
                    expected = wrapper.train(training).norm(given + sublayer_output)
                    _is_norm(expected, given + sublayer_output, wrapper.norm)
                    with check.unchanged(x=x, sublayer_output=sublayer_output):
                        output = wrapper(given, sublayer_output)
                    check.close("wrapper(x, sublayer_output)", output, expected.detach(), atol=1e-4)
                if d_model > 3:
                    name, sources = "wrapper(x, sublayer_output)", {"x": x, "sublayer_output": sublayer_output}
                    check.gradients_agree(name, output, expected, **sources)
    far = x.detach().double() + 1e6
    with check.case(x="numbers near 1000000: in float32, few digits are left for what they differ by"):
        expected, output = wrapper.double().norm(far + sublayer_output), wrapper(far, sublayer_output.double())
        check.dtype("wrapper(x, sublayer_output)", output, torch.float64)
        check.close("wrapper(x, sublayer_output)", output, expected, atol=1e-3)
    check.separate("AddNorm(4)", answer(4), answer(4))


def _is_norm(output: Tensor, x: Tensor, norm: Any) -> None:
    """What the answer's own norm makes of x (…, d_model) is about that of PyTorch's, however it treats eps."""
    about = F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)
    verdict = "`AddNorm(…).norm` itself gives other values than PyTorch's layer norm does by default."
    slip = "If it is your `LayerNorm`, see Exercise 4.1 first; if it is PyTorch's, make it as `nn.LayerNorm(d_model)`."
    check.true(x.size(-1) < 4 or torch.allclose(output, about, atol=0.1), verdict, slip)


def dropout_cases(answer: Module, *, seed: int = 0) -> None:
    """As `_dropout_cases`; where one of them fails, a norm that is wrong in itself is told first."""
    try:
        _dropout_cases(answer, seed=seed)
    except check.CheckFailed:
        norm: Any = getattr(answer(6), "norm", None)
        (x,) = tensors((2, 3, 6), seed=seed)
        if hasattr(norm, "weight") and hasattr(norm, "bias"):  # what else it may be is told elsewhere
            _is_norm(norm(x), x, norm)
        raise


def _dropout_cases(answer: Module, *, seed: int) -> None:
    """In training every entry is dropped by itself, what is kept grows, and the rate is the one asked for.

    The values are the answer's own in eval mode for what dropout leaves of `sublayer_output`.
    """
    check.defaults("AddNorm", answer, dropout=0.1)
    x, sublayer_output = tensors((8, 20, 6), (8, 20, 6), seed=seed)
    wrapper, drawn = answer(6, dropout=0.5), []
    with check.unchanged(x=x, sublayer_output=sublayer_output):
        still = rested("wrapper(x, sublayer_output)", wrapper, x, sublayer_output)
    call = "wrapper(x, sublayer_output)"
    rests_at_any_rate(call, lambda rate: answer(6, dropout=rate), 0.5, x, sublayer_output)
    without = wrapper(x, torch.zeros_like(x))
    check.differs(f"`{call}` in eval mode", still, without, when="`sublayer_output` is 0 instead")
    alone = wrapper(x[:, :1], sublayer_output[:, :1])
    slip = "Each position is normalised by itself."
    check.stays(f"{call}[:, :1]", alone, still[:, :1], when="the other positions are left out", slip=slip)
    for _ in range(2):
        with check.unchanged(x=x, sublayer_output=sublayer_output):
            output = wrapper.train()(x, sublayer_output).detach().clone()
        check.shape("wrapper(x, sublayer_output)", output, batch=8, seq_len=20, d_model=6)
        (plain, from_plain), (kept, from_grown) = (
            _kept(wrapper, output.detach(), x, scale * sublayer_output) for scale in (1.0, 2.0)
        )
        fits_plain, fits = (from_plain < 1e-3).all(), (from_grown < 1e-3).all()
        verdict = "In training at dropout=0.5, no entry of `sublayer_output` is dropped."
        check.true(not (fits_plain and plain.all()), verdict)
        slip = "What is kept has to be divided by 1 − dropout, as `nn.Dropout` does."
        check.true(fits or not fits_plain, "In training at dropout=0.5, the kept entries do not grow.", slip)
        verdict = "In training, the output is not that of eval mode for x and what dropout leaves of `sublayer_output`."
        check.true(fits, verdict)
        drawn.append(kept)
    sublayer_output.requires_grad_()
    check.gradient_reaches("sublayer_output", sublayer_output, wrapper.train()(x, sublayer_output))
    check.true(not torch.equal(drawn[0], drawn[1]), "Every call drops the same entries.")
    check.true(not torch.equal(*drawn[0][:2]), "Every sentence drops the same entries.")
    check.true(not torch.equal(drawn[0][:, 0], drawn[0][:, 1]), "Every position drops the same entries.")
    whole = (drawn[0] == drawn[0][..., :1]).all()
    check.true(not whole, "In training, whole rows are dropped instead of single entries.")
    x, sublayer_output = tensors((8, 100, 6), (8, 100, 6), seed=seed + 1)
    sublayer_output = sublayer_output.sign() + sublayer_output  # none near 0, where dropping would not show
    for wrapper, rate in [(answer(6, dropout=0.3), 0.3), (answer(6), 0.1)]:
        output = wrapper.train()(x, sublayer_output).detach().clone()
        share = 1 - _kept(wrapper, output, x, sublayer_output / (1 - rate))[0].mean().item()
        verdict = f"With dropout={rate}, the output looks as if {share:.0%} of the entries were dropped."
        check.true(abs(share - rate) < 0.04, verdict)


def of_x_alone(wrapper: Any, x: Tensor, output: object) -> Tensor:
    """What an output should be of which dropout has left x alone: the norm of x if it is that, else as in eval mode."""
    own: Tensor = wrapper.eval()(x, torch.zeros_like(x))
    right = wrapper.norm(x) if hasattr(wrapper, "norm") else own
    is_right = isinstance(output, Tensor) and output.shape == right.shape and torch.allclose(output, right, atol=1e-3)
    return right if is_right else own


def _kept(wrapper: Any, output: Tensor, x: Tensor, grown: Tensor) -> tuple[Tensor, Tensor]:
    """Which entries of `grown`, what dropout may leave of a sub-layer, an output (batch, seq_len, 6) was made of.

    Returns:
        1 for each that was kept and 0 for the others (batch, seq_len, 6), and how far the wrapper's own values in eval
        mode for just these are from the output (batch, seq_len).
    """
    every = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 6)  # (64, 6): all there can be
    left = every * grown[:, :, None]
    own = wrapper.eval()(x.repeat_interleave(64, 1), left.flatten(1, 2)).detach().view_as(left)
    distance, nearest = (output[:, :, None] - own).abs().amax(dim=-1).min(dim=-1)
    return every[nearest], distance


@torch.no_grad()
def slips(norm: TensorFunction, x: Tensor, sublayer_output: Tensor) -> dict[str, Tensor]:
    """Results for two tensors (batch, seq_len, d_model) and the learner's own `norm`."""
    return possible(
        {
            "the residual is missing: x is not added": norm(sublayer_output),
            "the two are multiplied instead of added": norm(x * sublayer_output),
            "x counts twice: it is added once more inside the norm, or what is added is halved": norm(
                2 * x + sublayer_output
            ),
            "the sub-layer's output is normalised before it is added": x + norm(sublayer_output),
            "x is normalised before the output is added": norm(x) + sublayer_output,
            "nothing is normalised": x + sublayer_output,
            "the output of the sub-layer is missing": norm(x),
            "x is added once more after the norm": x + norm(x + sublayer_output),
            "each of the two is normalised by itself": norm(x) + norm(sublayer_output),
            "the sum is normalised twice": norm(norm(x + sublayer_output)),
            "x is normalised before the sum is": norm(norm(x) + sublayer_output),
            "the output of the sub-layer is subtracted": norm(x - sublayer_output),
        },
        norm(x + sublayer_output),
    )
