"""Lesson 4 over generated inputs: layer norm, feed-forward network, add & norm, encoder and decoder layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder import check, data, mistakes
from autograder.generated.inputs import DTYPES, device, rested, sizes, strided, tensors, without_dropout

Module = Callable[..., Any]  # a class whose instances are modules
Stack = Callable[..., list[Tensor]]


def layer_norm(answer: Module, *, seed: int = 0) -> None:
    """Values and gradients for any leading dimensions, layout and dtype, in training and in evaluation."""
    for index, (x, d_model) in enumerate(_positions(seed, 4, d_model=(3, 80), dtypes=DTYPES)):
        norm: Any = answer(d_model)
        check.parameters(f"LayerNorm({d_model})", norm, {"weight": (d_model,), "bias": (d_model,)})
        norm = data.randomized(norm.to(x.dtype), seed=seed)
        x = 3 * x + 1
        x.view(-1)[0] = 30.0  # far out
        x = strided(x) if index % 2 and x.dim() > 1 else x
        x.requires_grad_()
        with check.case(d_model=d_model, x=x):
            for given, mode in ((x, "train"), (2 - x, "train"), (x, "eval")):
                expected = F.layer_norm(given, (d_model,), norm.weight, norm.bias)
                with check.case(d_model=d_model, mode=mode, x=x), check.unchanged(weight=norm.weight, bias=norm.bias):
                    output = getattr(norm, mode)()(given)
                check.dtype("norm(x)", output, x.dtype)
                # In float64 as well: where eps is added is judged by itself.
                check.close("norm(x)", output, expected.detach(), rtol=1e-4, atol=1e-4)
                sources = {"x": x, "weight": norm.weight, "bias": norm.bias}
                check.gradients_agree("norm(x)", output, expected, **sources)
        far = x.detach() / 10 + 1000  # where a mean of squares is too large for a variance to be left over
        expected = F.layer_norm(far.double(), (d_model,), norm.weight.double(), norm.bias.double()).to(x.dtype)
        near = "numbers near 1000: a mean of squares has no digits left for their variance"
        with check.case(d_model=d_model, mode="eval", x=near), check.unchanged(x=far):
            check.close("norm(x / 10 + 1000)", norm.eval()(far), expected.detach(), atol=2e-2)
    device(seed, "norm(x)", norm, far)
    check.separate("LayerNorm(40)", answer(40), answer(40))


def layer_norm_eps(answer: Module, *, seed: int = 0) -> None:
    """Where x is small, eps makes the answer's own normalised values smaller by what the formula says."""
    check.defaults("LayerNorm", answer, eps=1e-5)
    for index, size in enumerate(sizes(seed, 3, rows=(2, 9), d_model=(4, 80))):
        eps = (1e-5, 1e-3, 1e-4)[index % 3]
        (x,) = tensors((size["rows"], size["d_model"]), seed=31 * seed + index)
        x = x / 100
        norm = answer(size["d_model"], eps)
        expected = small_norm(norm, x, eps)
        with check.case(d_model=size["d_model"], eps=eps, x=x):
            check.close("norm(x)", norm(x), expected)
        if eps == 1e-5:
            check.close("norm(x)", _plain(answer(size["d_model"]))(x), expected)
    # Here a mean that is rounded, by 1e-7, is divided by √eps.
    ones, name = torch.ones(2, 6), "norm(torch.ones(2, 6))"
    check.close(name, _plain(answer(6))(ones), torch.zeros(2, 6), atol=1e-3)


def _plain(norm: Any) -> Any:
    """The norm with a weight of 1 and a bias of 0, with which it should have begun."""
    with torch.no_grad():
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            if isinstance(getattr(norm, name, None), Tensor):
                getattr(norm, name).fill_(value)
    return norm


def small_norm(norm: Callable[[Tensor], Tensor], x: Tensor, eps: float) -> Tensor:
    """What this norm, given a weight of 1 and a bias of 0, should make of small values x (…, d_model).

    Its own values where x is large, and eps plays no part, tell by what it divides: another deviation than the right
    one is judged elsewhere.
    """
    _plain(norm)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    large = 1e4 * x
    right, output = F.layer_norm(large, x.shape[-1:], eps=0.0), norm(large)
    check.dtype("norm(10000 * x)", output, x.dtype)
    own = output.detach()
    check.true(own.shape == x.shape, "The shape of the output is not that of x.")
    scale = float(own.norm() / right.norm())
    check.true(
        0.5 < scale < 1.5 and torch.allclose(own, scale * right, rtol=1e-2, atol=1e-2),
        "Already where x is large, and eps plays no part, the values are wrong.",
        "The check of the values says more: start there.",
    )
    deviation: Tensor = (variance / scale**2 + eps).sqrt()
    return centred / deviation


def feed_forward(answer: Module, *, seed: int = 0) -> None:
    """Values in eval mode, and in training without dropout, of any size; with gradients where there are many."""
    for index, (x, d_model, d_ff) in enumerate(_positions(seed, 4, d_model=(1, 12), d_ff=(1, 40))):
        network: Any = answer(d_model, d_ff, dropout=0.0)
        name = f"FeedForward({d_model}, {d_ff})"
        check.parameters(name, network, _network(d_model, d_ff))
        data.randomized(network, seed=seed + index)
        first, second = network.linear_1, network.linear_2
        with check.case(d_model=d_model, d_ff=d_ff, x=x):
            for given in (x, -20 * x):
                hidden = F.linear(given, first.weight, first.bias).clamp(min=0)
                expected = F.linear(hidden, second.weight, second.bias).detach()
                for training in (False, True):
                    with check.unchanged(**{"linear_1.weight": first.weight, "linear_2.weight": second.weight}):
                        output = network.train(training)(given)
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


def feed_forward_dropout(answer: Module, *, seed: int = 0) -> None:
    """In training single hidden values are dropped, at the rate that was asked for, or none at all."""
    network = answer(6, 6, dropout=0.5).train()
    check.parameters("FeedForward(6, 6)", network, _network(6, 6))
    still: Any = without_dropout(answer(6, 10, dropout=0.0))
    (x,) = tensors((2, 5, 6), seed=seed)
    slips, expected = mistakes.feed_forward(still, 3 * x), still.eval()(3 * x).detach()
    check.close("FeedForward(6, 10, dropout=0.0).train()(x)", still.train()(3 * x), expected, mistakes=slips)
    with torch.no_grad():  # 2x + 1 on the way up, + 5 on the way down
        network.linear_1.weight.copy_(2 * torch.eye(6)), network.linear_1.bias.fill_(1.0)
        network.linear_2.weight.copy_(torch.eye(6)), network.linear_2.bias.fill_(5.0)
    x = 0.1 + 0.4 * tensors((20, 30, 6), seed=seed)[0].abs()
    hidden, nothing = 2 * x + 1, torch.zeros_like(x)
    output = network(x)
    check.shape("network.train()(x)", output, batch=20, seq_len=30, d_model=6)
    output = output.detach()

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
    check.true(not of_x, "At dropout=0.5, x is dropped in training; only hidden values may be, after the ReLU.")
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


def add_norm(answer: Module, *, seed: int = 0) -> None:
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
    check.separate("AddNorm(4)", answer(4), answer(4))


def _is_norm(output: Tensor, x: Tensor, norm: Any) -> None:
    """What the answer's own norm makes of x (…, d_model) is about that of PyTorch's, however it treats eps."""
    about = F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)
    verdict = "`AddNorm(…).norm` itself gives other values than PyTorch's layer norm does by default."
    slip = "If it is your `LayerNorm`, see Exercise 4.1 first; if it is PyTorch's, make it as `nn.LayerNorm(d_model)`."
    check.true(x.size(-1) < 4 or torch.allclose(output, about, atol=0.1), verdict, slip)


def add_norm_dropout(answer: Module, *, seed: int = 0) -> None:
    """In training every entry is dropped by itself, what is kept grows, and the rate is the one asked for.

    The values are the answer's own in eval mode for what dropout leaves of `sublayer_output`.
    """
    x, sublayer_output = tensors((8, 20, 6), (8, 20, 6), seed=seed)
    kept = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 6)  # (64, 6): all there can be
    wrapper, drawn = answer(6, dropout=0.5), []
    rested("wrapper(x, sublayer_output)", wrapper, x, sublayer_output)
    for _ in range(2):
        with check.unchanged(x=x, sublayer_output=sublayer_output):
            output = wrapper.train()(x, sublayer_output)
        check.shape("wrapper(x, sublayer_output)", output, batch=8, seq_len=20, d_model=6)
        output = output.detach()
        for scale in (1.0, 2.0):  # without and with the division by 1 − 0.5
            left = scale * kept * sublayer_output[:, :, None]
            own = wrapper.eval()(x.repeat_interleave(64, 1), left.flatten(1, 2)).detach().view_as(left)
            distance = (output[:, :, None] - own).abs().amax(dim=-1)
            fits = (distance.amin(dim=-1) < 1e-3).all()
            if scale == 1.0:
                slip = "What is kept has to be divided by 1 − dropout, as `nn.Dropout` does."
                check.true(not fits, "In training at dropout=0.5, the kept entries do not grow.", slip)
        verdict = (
            "In training, the output is not what dropping entries of `sublayer_output` once, and no more, would give."
        )
        check.true(fits, verdict)
        drawn.append(kept[distance.argmin(dim=-1)])  # (8, 20, 6)
    sublayer_output.requires_grad_()
    check.gradient_reaches("sublayer_output", sublayer_output, wrapper.train()(x, sublayer_output))
    check.true(not torch.equal(drawn[0], drawn[1]), "Every call drops the same entries.")
    check.true(not torch.equal(*drawn[0][:2]), "Every sentence drops the same entries.")
    check.true(not torch.equal(drawn[0][:, 0], drawn[0][:, 1]), "Every position drops the same entries.")
    zeros, ones = torch.zeros(40, 50, 6), torch.ones(40, 50, 6)
    for wrapper, rate in [(answer(6, dropout=0.3), 0.3), (answer(6), 0.1)]:
        output = wrapper.train()(zeros, ones)  # a dropped entry falls below its row's mean
        lower = (output < -0.2).float().mean().item()
        verdict = f"With dropout={rate}, the output looks as if {lower:.0%} of the entries were dropped."
        check.true(abs(lower - rate) < 0.03, verdict)


def mended_stack(answer: Stack, *, seed: int = 0) -> None:
    """Every state, of any number of sub-layers, shape and dtype, with the gradient that flows through all of them."""
    for x, d_model, depth in _positions(seed, 3, d_model=(4, 12), depth=(1, 7), dtypes=DTYPES):
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


def _positions(
    seed: int, count: int, *, dtypes: tuple[torch.dtype, ...] = (torch.float32,), **ranges: tuple[int, int]
) -> Iterator[Any]:
    """Draw x with `d_model` columns and from none to three leading dimensions, and the sizes in `ranges`."""
    for index, size in enumerate(sizes(seed, count, batch=(1, 4), seq_len=(1, 9), **ranges)):
        batch, seq_len, *others = size.values()
        leading = ((), (batch,), (batch, seq_len), (2, batch, seq_len))[(index + seed) % 4]
        (x,) = tensors((*leading, size["d_model"]), seed=31 * seed + index, dtype=dtypes[index % len(dtypes)])
        yield x, *others


def drawn(name: str, module: nn.Module) -> None:
    """The matrices of a new module hold numbers that differ, and no two the same ones: alike, they learn alike."""
    seen: dict[str, Tensor] = {}
    for key, parameter in module.named_parameters():
        matrix = parameter.detach()
        if matrix.dim() < 2 or matrix.numel() < 2:
            continue
        slip = "Leave the first numbers to the layers themselves."
        check.true(matrix.min() < matrix.max(), f"In a new `{name}`, all numbers of `{key}` are the same.", slip)
        twin = next((other for other, held in seen.items() if torch.equal(held, matrix)), None)
        check.true(twin is None, f"In a new `{name}`, `{key}` starts with the same numbers as `{twin}`.", slip)
        seen[key] = matrix


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
