"""Exercise `SwiGLU`: its cases and its slips."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, data
from autograder.exercises.lesson_4.shared import drawn, positions
from autograder.exercises.lesson_9.shared import Module, made
from autograder.exercises.shared import DTYPES, device, few, possible


def parameters(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """Name → shape of the parameters."""
    return {"w_gate.weight": (d_ff, d_model), "w_up.weight": (d_ff, d_model), "w_down.weight": (d_model, d_ff)}


def cases(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients for any size, any leading dimensions and dtype, in both modes."""
    for index, (x, d_model, d_ff) in enumerate(positions(seed, 4, d_model=(1, 12), d_ff=(1, 40), dtypes=DTYPES)):
        network = made("SwiGLU", answer, d_model, d_ff, parameters=parameters(d_model, d_ff))
        data.randomized(network.to(x.dtype), seed=seed + index)
        x.requires_grad_()
        for mode, given in (("train", x), ("eval", x), ("eval", -8 * x)):
            expected = _formula(network, given)
            weights = {name: value for name, value in network.named_parameters()}
            with check.case(d_model=d_model, d_ff=d_ff, mode=mode, x=given), check.unchanged(x=x, **weights):
                output = getattr(network, mode)()(given)
                check.dtype("network(x)", output, x.dtype)
                check.close("network(x)", output, expected.detach(), rtol=1e-3, atol=1e-4)
            if mode == "train":
                check.gradients_agree("network(x)", output / 4, expected / 4, x=x, **weights)
    given = given.detach()
    network(given)
    data.randomized(network, seed=seed + 51)
    expected = _formula(network, given).detach()
    check.close("`network(x)` with other weights", network(given), expected, rtol=1e-3, atol=1e-4)
    device(seed, "network(x)", network, x.detach())
    check.separate("SwiGLU(6, 10)", answer(6, 10), answer(6, 10))
    drawn("SwiGLU(6, 10)", answer(6, 10))
    _matrices_are_apart(answer(6, 10 + few(seed)))


@torch.no_grad()
def _matrices_are_apart(network: Any) -> None:
    """What is written into one of the three is in no other."""
    names = "w_gate", "w_up", "w_down"
    for number, name in enumerate(names):
        getattr(network, name).weight.fill_(number)
    for number, name in enumerate(names):
        found = getattr(network, name).weight.unique().tolist()
        other = next((names[int(each)] for each in found if each != number), name)
        verdict = f"What is written into `{other}.weight` changes `{name}.weight`: the two share their numbers."
        check.true(other == name, verdict, "Each needs its own.")


def _formula(network: Any, x: Tensor) -> Tensor:
    gate, up, down = (getattr(network, name).weight for name in ("w_gate", "w_up", "w_down"))
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


@torch.no_grad()
def slips(network: Any, x: Tensor) -> dict[str, Tensor]:
    """Outputs for x (…, d_model), with the learner's own three layers."""
    gate, up, down = network.w_gate(x), network.w_up(x), network.w_down
    right, normed = down(F.silu(gate) * up), x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    slips = {
        "`w_gate` and `w_up` are exchanged: silu belongs to the gate": down(gate * F.silu(up)),
        "silu is left out, so that the gate is a plain product": down(gate * up),
        "silu is taken of the product instead of the gate": down(F.silu(gate * up)),
        "silu is taken of both": down(F.silu(gate) * F.silu(up)),
        "silu is taken of the output": F.silu(down(gate * up)),
        "silu is taken of the output as well": F.silu(right),
        "the gate is a sigmoid, as in the first gated networks": down(gate.sigmoid() * up),
        "the gate is a ReLU": down(gate.relu() * up),
        "the gate is GELU": down(F.gelu(gate) * up),
        "the gate is tanh": down(gate.tanh() * up),
        "the gate is a softmax": down(gate.softmax(-1) * up),
        "the two are added instead of multiplied": down(F.silu(gate) + up),
        "`w_up` is not used": down(F.silu(gate)),
        "`w_gate` is not used": down(F.silu(up)),
        "`w_gate` and `w_up` are one and the same: the gate reads what it gates": down(F.silu(up) * up),
        "the gate is multiplied by itself": down(F.silu(gate) * gate),
        "the input is added to the output, which is the block's job": x + right,
        "x is normalised first, which is the block's job": _formula(network, normed),
    }
    return possible(slips, right)
