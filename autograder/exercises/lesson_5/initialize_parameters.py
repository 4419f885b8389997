"""Exercise `initialize_parameters`: its cases and its slips."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from autograder import check, parts
from autograder.exercises.shared import few


def cases(answer: Callable[[nn.Module], object], *, seed: int = 0) -> None:
    """Every matrix of any model is drawn as a whole, anew at every call, and all else stays as it was."""
    resting = nn.Linear(30, 20).eval()
    answer(resting)
    check.mode("initialize_parameters(model)", resting, False)
    _every_matrix(answer, nn.Linear(40 + few(seed), 30))
    _every_matrix(answer, nn.Linear(40, 30 + few(seed)).double())
    _every_matrix(answer, nn.TransformerEncoderLayer(30, 3, 40))
    _every_matrix(answer, nn.Conv1d(30 + few(seed), 40, 3))
    model = parts.Transformer(50, 40, d_model=24, num_heads=2, num_layers=1, d_ff=30, max_len=9)
    model.kept = nn.Parameter(torch.full((3, 4), 9.0), requires_grad=False)
    model.scale = nn.Parameter(torch.tensor(2.0))
    _every_matrix(answer, model)
    check.true(not model.kept.requires_grad, "A parameter that was frozen learns afterwards.")
    verdict = "A matrix that is frozen is not drawn: it holds the numbers it held before."
    check.true(bool((model.kept != 9).all()), verdict, "Every parameter with two dimensions or more is a matrix.")
    check.close("a parameter without dimensions", model.scale, torch.tensor(2.0))
    one, two = nn.Linear(40, 30), nn.Linear(40, 30)
    both = nn.ModuleList([one, two])
    answer(both)
    check.differs("the weight of a layer", one.weight, two.weight, when="another layer is drawn")
    before = one.weight.detach().clone()
    answer(both)
    check.differs("the weight of a layer", one.weight, before, when="it is drawn once more")


def _every_matrix(answer: Callable[[nn.Module], object], model: nn.Module) -> None:
    """Its matrices are drawn from Xavier's distribution as a whole, its vectors stay, and so does its mode."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.constant_(parameter, 9.0)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    answer(model.train())
    check.mode("initialize_parameters(model)", model, True)
    lost = sorted(before.keys() - {name for name, _ in model.named_parameters()})
    check.true(not lost, f"The model has lost its parameter `{lost[0] if lost else ''}`.")
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        check.dtype(name, parameter, before[name].dtype)
        if parameter.dim() < 2:
            check.close(name, parameter, before[name])
        elif parameter.requires_grad:
            drawn, bound = parameter.detach(), math.sqrt(6 / sum(shape[:2]))
            most = drawn.abs().max()
            least = bound / math.sqrt(math.prod(shape[2:]))  # the exercise defines no fans of further dimensions
            known = f"Xavier's bound is {'' if len(shape) == 2 else 'at most '}{bound:.6f}"
            check.true(most <= bound, f"`{name}` {shape} holds {most:.6f}, but {known}.")
            fits = most > 0.8 * least and (drawn != 0).all() and abs(drawn.mean()) < 0.3 * bound
            check.true(fits, f"`{name}` {shape} is not drawn from Xavier's distribution as a whole.")
            steps = drawn.flatten().diff().abs()
            check.true(steps.std() > 0.1 * steps.mean(), f"The numbers of `{name}` are evenly spaced, not drawn.")
            check.true(len(set(map(tuple, drawn.flatten(1).tolist()))) == len(drawn), f"Rows of `{name}` are the same.")


def slips(model: nn.Module) -> str | None:
    """The slip in drawing large matrices otherwise than uniformly by Xavier's rule, where one alone explains them all.

    By chance a number that knows no sizes, or another rule, fits the deviation of one matrix.
    """
    drawn = [_slips(parameter.detach()) for parameter in model.parameters() if parameter.dim() > 1]
    proved = set.intersection(*drawn)
    return f"These are the values you get when {proved.pop()}." if len(proved) == 1 else None


def _slips(matrix: Tensor) -> set[str]:
    """The slips that the numbers of a matrix (fan_out, fan_in) may come from."""
    fan_out, fan_in = matrix.shape
    total, by = fan_in + fan_out, "the numbers are drawn as by `nn.init."
    sizes = {  # the standard deviation, and whether the numbers are uniform
        f"{by}xavier_normal_`": (math.sqrt(2 / total), False),
        f"{by}kaiming_uniform_`": (math.sqrt(2 / fan_in), True),
        f"{by}kaiming_normal_`": (math.sqrt(2 / fan_in), False),
        "the bound is 6 / (fan_in + fan_out), without the root": (6 / total / math.sqrt(3), True),
        "the bound is √(1 / fan_in), which is PyTorch's for a linear layer": (math.sqrt(1 / fan_in / 3), True),
        "fan_in + fan_out lacks its parentheses": (math.sqrt((6 / fan_in + fan_out) / 3), True),
        "fan_out + fan_in lacks its parentheses": (math.sqrt((6 / fan_out + fan_in) / 3), True),
    }
    by_bound = "the numbers are drawn from a normal distribution whose standard deviation is Xavier's bound"
    sizes[by_bound] = math.sqrt(6 / total), False
    size, most = matrix.std().item(), matrix.abs().max().item()
    if abs(matrix.mean()) > 0.05 * size:
        return set()
    return {
        slip
        for slip, (wanted, is_uniform) in sizes.items()
        if abs(size - wanted) < 0.02 * wanted and (most < 1.8 * size) == is_uniform
    }
