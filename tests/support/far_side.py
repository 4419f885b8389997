"""What the tests of the bridge call in another process."""

import torch
from torch import nn


class Attention(nn.Module):
    """A module of the far side."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.drop = nn.Linear(width, width), nn.Dropout(0.5)
        self.register_buffer("table", torch.arange(3.0))
        self.kept, self.calls = None, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Twice the layer."""
        self.calls, self.kept = self.calls + 1, self.inner(x).detach()
        return 2 * self.inner(x)

    def shifted(self, x: torch.Tensor) -> torch.Tensor:
        """A method beside `forward`."""
        return x + self.table


class Purse:
    """An object of the far side that is no module."""

    def __init__(self, coins: int) -> None:
        self.coins, self._secret = coins, "where it is"

    def put(self, coins: int) -> int:
        """Hold more."""
        self.coins += coins
        return self.coins

    @property
    def is_full(self) -> bool:
        """Whether nothing more fits."""
        return self.coins > 4


class Register(dict):
    """A dictionary of the far side with a method of its own."""

    def first(self) -> object:
        """The key that came first."""
        return next(iter(self))


class Careless(nn.Module):
    """A module of the near side, which no copy of it elsewhere could stand for."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.modes = nn.Parameter(torch.tensor(3.0)), []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scale, and note in which mode."""
        self.modes.append((self.training, torch.is_grad_enabled()))
        return self.scale * x


def written_into(x):
    x += 1
    return x


def learn(model, optimizer, x):
    model.train()
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.25
    return loss.item()


def fails(kind):
    raise kind("what went wrong")


KEPT = torch.zeros(3)
THERE = {
    "Purse": Purse,
    "Register": Register,
    "Attention": Attention,
    "average": lambda query, key: (query @ key.T).softmax(-1) @ key,
    "apply": lambda function, x: function(x) + x,
    "written_into": written_into,
    "keep": lambda x: KEPT.copy_(x),
    "learn": learn,
    "same": lambda *values: values if len(values) > 1 else values[0],
    "fails": fails,
    "take": lambda iterator: [next(iterator), next(iterator)],
    "draw": lambda generator: int(torch.randint(1000, (), generator=generator)),
    "turned": lambda part, training: part.train(training) and None,
    "inner_turned": lambda model, training: model.inner.train(training) and None,
    "dropping": lambda part, rate: setattr(part, "p", rate),
    "known": lambda model: (model.training, model.inner.training, model.drop.p),
    "quiet": lambda x: torch.set_grad_enabled(False) and None,
}
