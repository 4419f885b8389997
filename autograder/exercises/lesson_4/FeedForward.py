"""Exercise `FeedForward`: its cases and its slips."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, data
from autograder.exercises.lesson_4.shared import Module, drawn, positions
from autograder.exercises.shared import DTYPES, device, possible, tensors, without_dropout
from autograder.parts.blocks import FeedForward


def value_cases(answer: Module, *, seed: int = 0) -> None:
    """Values in eval mode, and in training without dropout, of any size; with gradients where there are many."""
    for index, (x, d_model, d_ff) in enumerate(positions(seed, 4, d_model=(1, 12), d_ff=(1, 40), dtypes=DTYPES)):
        network: Any = answer(d_model, d_ff, dropout=0.0)
        name = f"FeedForward({d_model}, {d_ff})"
        check.parameters(name, network, _network(d_model, d_ff))
        data.randomized(network.to(x.dtype), seed=seed + index)
        first, second = network.linear_1, network.linear_2
        with check.case(d_model=d_model, d_ff=d_ff, x=x):
            for given in (x, -20 * x):
                hidden = F.linear(given, first.weight, first.bias).clamp(min=0)
                expected = F.linear(hidden, second.weight, second.bias).detach()
                for training in (False, True):
                    with check.unchanged(**{"linear_1.weight": first.weight, "linear_2.weight": second.weight}):
                        output = network.train(training)(given)
                    check.dtype("network(x)", output, x.dtype)
                    check.close("network(x)", output, expected, rtol=1e-3)
    x.requires_grad_()
    for training in (False, True):
        expected = F.linear(F.linear(x, first.weight, first.bias).clamp(min=0), second.weight, second.bias)
        output = network.train(training)(x)
        check.gradients_agree("network(x)", output / 4, expected / 4, x=x, **dict(network.named_parameters()))
    device(seed, "network(x)", network, x)
    check.separate(name, network, answer(d_model, d_ff))
    drawn("FeedForward(6, 10)", answer(6, 10))
    check.defaults("FeedForward", answer, dropout=0.1)


def dropout_cases(answer: Module, *, seed: int = 0) -> None:
    """In training single hidden values are dropped, at the rate that was asked for, or none at all."""
    network = answer(6, 6, dropout=0.5).train()
    check.parameters("FeedForward(6, 6)", network, _network(6, 6))
    still: Any = without_dropout(answer(6, 10, dropout=0.0))
    (x,) = tensors((2, 5, 6), seed=seed)
    told, expected = slips(still, 3 * x), still.eval()(3 * x).detach()
    check.close("FeedForward(6, 10, dropout=0.0).train()(x)", still.train()(3 * x), expected, mistakes=told)
    with torch.no_grad():  # 2x + 1 on the way up, + 5 on the way down
        network.linear_1.weight.copy_(2 * torch.eye(6)), network.linear_1.bias.fill_(1.0)
        network.linear_2.weight.copy_(torch.eye(6)), network.linear_2.bias.fill_(5.0)
    x = 0.1 + 0.4 * tensors((20, 30, 6), seed=seed)[0].abs()
    hidden, nothing = 2 * x + 1, torch.zeros_like(x)
    output = network(x)
    check.shape("network.train()(x)", output, batch=20, seq_len=30, d_model=6)
    output = output.detach()
    apart = torch.equal(network.linear_1.weight.detach(), 2 * torch.eye(6))
    verdict = "What is written into `linear_2.weight` changes `linear_1.weight`: the two share their numbers."
    check.true(apart, verdict, "Each needs its own.")

    def fits(*values: Tensor) -> bool:
        return bool(torch.stack([torch.isclose(output, each) for each in values]).any(dim=0).all())

    rates = {part.p for part in network.modules() if isinstance(part, nn.Dropout)}
    verdict = f"With dropout=0.5, the network drops out at {' and '.join(map(str, sorted(rates)))}."
    check.true(rates <= {0.5}, verdict, "Pass `dropout` on.")
    at_the_end = fits(nothing, 2 * hidden + 10) or fits(nothing, nothing + 10, 4 * hidden + 10)
    verdict = "At dropout=0.5, the output of `linear_2` is dropped in training."
    slip = "Add & norm drops it later; here, only the hidden values may be dropped."
    check.true(not at_the_end, verdict, slip)
    of_x = fits(nothing + 6, 2 * hidden + 4)
    verdict = (
        "At dropout=0.5, something before the ReLU is dropped in training: x, the weights of `linear_1`, or their "
        "product before the bias is added."
    )
    check.true(not of_x, verdict, "Only hidden values may be dropped, after the ReLU.")
    verdict = "At dropout=0.5, the output in training is not that of such a dropout after the ReLU."
    check.true(fits(hidden + 5) or fits(nothing + 5, 2 * hidden + 5), verdict)
    dropped = torch.isclose(output, nothing + 5)
    whole = {"position": dropped[:1, :1], "sentence": dropped[:1], "position of a sentence": dropped[:, :1]}
    for where, part in whole.items():
        check.true(not _alike(dropped, part), f"In training, every {where} drops the same values.")
    verdict = "In training, whole positions are dropped instead of single values."
    check.true(not _alike(dropped, dropped[..., :1]), verdict)
    rates = {part.p for part in answer(6, 10).modules() if isinstance(part, nn.Dropout)}
    check.true(rates <= {0.1}, f"By default the network drops out at {sorted(rates)}, not at 0.1.")


def _network(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Name → shape of the parameters of a feed-forward network."""
    return {
        "linear_1.weight": (d_ff, d_model),
        "linear_1.bias": (d_ff,),
        "linear_2.weight": (d_model, d_ff),
        "linear_2.bias": (d_model,),
    }


def _alike(dropped: Tensor, drawn: Tensor) -> bool:
    """What is dropped is nearly everywhere what `drawn`, a part of it, says; by chance it is one half of it."""
    return bool(dropped.any()) and bool((dropped == drawn).float().mean() > 0.98)


@torch.no_grad()
def slips(module: FeedForward, x: Tensor) -> dict[str, Tensor]:
    """Outputs for x (…, d_model), with the learner's own `linear_1` and `linear_2`."""
    first, second = module.linear_1, module.linear_2
    hidden = first(x)
    biases = [torch.zeros(()) if layer.bias is None else layer.bias for layer in (first, second)]
    return possible(
        {
            "there is no ReLU between the two layers": second(hidden),
            "the ReLU comes after the second layer": second(hidden).relu(),
            "there is a ReLU after both layers": second(hidden.relu()).relu(),
            "the ReLU comes before the first layer": second(first(x.relu())),
            "there is a ReLU before the first layer as well": second(first(x.relu()).relu()),
            "the bias of `linear_2` is left out": second(hidden.relu()) - biases[1],
            "the bias of `linear_1` is added after the ReLU": second((hidden - biases[0]).relu() + biases[0]),
            "the biases are left out": (hidden - biases[0]).relu() @ second.weight.mT,
            "the activation is GELU instead of ReLU": second(F.gelu(hidden)),
            "the activation is a sigmoid instead of ReLU": second(hidden.sigmoid()),
            "the activation is tanh instead of ReLU": second(hidden.tanh()),
            "the activation is a leaky ReLU, which lets some of the negative values through": second(
                F.leaky_relu(hidden)
            ),
            "negative hidden values lose their sign instead of becoming 0": second(hidden.abs()),
            "the positive hidden values become 0 instead of the negative ones": second(hidden.clamp(max=0)),
            "the activation is a softmax instead of ReLU": second(hidden.softmax(-1)),
            "the output is normalised, which is the next exercise's job": F.layer_norm(
                second(hidden.relu()), x.shape[-1:]
            ),
            "the input is added to the output, which is the next exercise's job": x + second(hidden.relu()),
            "the hidden values are averaged over the positions": second(
                hidden.relu().mean(-2, keepdim=True).expand_as(hidden)
            ),
        },
        second(hidden.relu()),
    )
