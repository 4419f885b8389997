"""Exercise `mended_stack`: its cases and its slips."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from autograder import check, data
from autograder.exercises.lesson_4.shared import positions
from autograder.exercises.shared import DTYPES
from autograder.parts.attention import TensorFunction

Stack = Callable[..., list[Tensor]]


def cases(answer: Stack, *, seed: int = 0) -> None:
    """Every state, of any number of sub-layers, shape and dtype, with the gradient that flows through all of them."""
    for x, d_model, depth in positions(seed, 3, d_model=(4, 12), depth=(1, 7), dtypes=DTYPES):
        norms = [data.randomized(nn.LayerNorm(d_model, eps=0.1), seed=seed + place) for place in range(depth)]
        norms = [norm.to(x.dtype) for norm in norms]
        sublayers = [data.randomized(nn.Linear(d_model, d_model), seed=place).to(x.dtype) for place in range(depth)]
        x.requires_grad_()
        expected = [x]
        for sublayer, norm in zip(sublayers, norms, strict=True):
            expected.append(expected[-1] + sublayer(norm(expected[-1])))
        call, names = "mended_stack(x, sublayers, norms)", ("x", *(f"after {place + 1}" for place in range(depth)))
        with check.case(x=x, sublayers=depth), check.unchanged(x=x):
            states = check.returns(call, answer(x, sublayers, norms), *names)
            for place, (state, right) in enumerate(zip(states, expected, strict=True)):
                check.dtype(f"{call}[{place}]", state, x.dtype)
                check.close(f"{call}[{place}]", state, right.detach())
            for place, (state, right) in enumerate(zip(states, expected, strict=True)):
                check.gradients_reach({"x": x}, state)
                if x.dtype == torch.float64:  # in float32 the gradients of many layers are known less exactly
                    check.gradients_agree(f"{call}[{place}]", state, right, x=x)
            for part in (*norms, *sublayers):
                check.mode(call, part, True)


def slips(x: Tensor, sublayers: Sequence[TensorFunction], norms: Sequence[TensorFunction]) -> dict[str, list[Tensor]]:
    """States of wrong stacks: x (batch, seq_len, d_model) before the first sub-layer and after each of them."""
    first, start = norms[0], x
    steps: dict[str, Callable[[Tensor, TensorFunction, TensorFunction], Tensor]] = {
        "nothing is mended: the sum still starts from norm(x), so x itself is lost": lambda x, sublayer, norm: (
            norm(x) + sublayer(norm(x))
        ),
        "the norm comes after the addition, as in post-norm": lambda x, sublayer, norm: norm(x + sublayer(x)),
        "the sub-layer's output is normalised instead of its input": lambda x, sublayer, norm: x + norm(sublayer(x)),
        "nothing is normalised": lambda x, sublayer, norm: x + sublayer(x),
        "x is not added": lambda x, sublayer, norm: sublayer(norm(x)),
        "the first norm is used for every sub-layer": lambda x, sublayer, norm: x + sublayer(first(x)),
        "norm(x) is added as well": lambda x, sublayer, norm: x + norm(x) + sublayer(norm(x)),
        "every sum starts from the first x": lambda x, sublayer, norm: start + sublayer(norm(x)),
        "norm(x) is added to what the sub-layer makes of x itself": lambda x, sublayer, norm: norm(x) + sublayer(x),
        "the sum is normalised as well": lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
        "the output of the sub-layer is subtracted": lambda x, sublayer, norm: x - sublayer(norm(x)),
        "every state is made from the first x alone": lambda x, sublayer, norm: start + sublayer(norm(start)),
        "x is added twice": lambda x, sublayer, norm: x + x + sublayer(norm(x)),
        "every sub-layer reads the first x": lambda x, sublayer, norm: x + sublayer(norm(start)),
        "the sub-layer reads an x that is normalised twice": lambda x, sublayer, norm: x + sublayer(norm(norm(x))),
        "x is normalised twice": lambda x, sublayer, norm: norm(x) + sublayer(norm(norm(x))),
    }
    slips = {}
    for slip, step in steps.items():
        slips[slip] = [x]
        for sublayer, norm in zip(sublayers, norms, strict=True):
            slips[slip].append(step(slips[slip][-1], sublayer, norm).detach())
    states = [x]
    for sublayer, norm in zip(sublayers, norms, strict=True):
        states.append(states[-1] + sublayer(norm(states[-1])).detach())
    normed = [norm(state).detach() for state, norm in zip(states, norms, strict=False)]
    slips["the normalised x is put into the list instead of the sum"] = [x, *normed]
    added = [state - before for before, state in pairwise(states)]
    slips["what is added is put into the list instead of the sum"] = [x, *added]
    slips["every state is x as it came in"] = [x] * len(states)
    slips["each state is put into the list before its sub-layer is added"] = [x, *states[:-1]]
    return slips
