"""A module that has crossed has one state on both sides."""

import weakref

import pytest
import torch
from support.far_side import Careless
from torch import nn


def test_a_module_is_there_with_its_parameters_and_its_state(there) -> None:
    """Parameters, parts, buffers, modes, attributes and methods; a change on either side is one on both."""
    module = there["Attention"](4)
    assert isinstance(module, nn.Module)
    assert type(module.inner) is nn.Linear
    assert list(module.state_dict()) == ["table", "inner.weight", "inner.bias"]
    x = torch.randn(2, 4)
    assert torch.allclose(module(x), 2 * module.inner(x))
    assert module.calls == 1
    assert torch.allclose(module.kept, module.inner(x))
    with torch.no_grad():
        module.inner.weight.zero_(), module.inner.bias.fill_(1.0), module.table.fill_(5.0)
    assert torch.equal(module(x), torch.full((2, 4), 2.0))
    assert torch.equal(module.shifted(torch.zeros(3)), torch.full((3,), 5.0))
    (gradient,) = torch.autograd.grad(module(x).sum(), module.inner.bias)
    assert torch.equal(gradient, torch.full((4,), 4.0))
    assert module.double()(x.double()).dtype == torch.double
    with pytest.raises(AttributeError, match="'Attention' object has no attribute 'outer'"):
        _ = module.outer


def test_a_model_of_ours_is_trained_there(there) -> None:
    """Mode, gradients, parameters and the optimizer's options come back."""
    for model in (Careless(), nn.Sequential(nn.Linear(1, 1, bias=False), nn.Dropout(0.0))):
        parameter = next(model.parameters())
        before = parameter.detach().clone()
        optimizer = torch.optim.SGD(model.eval().parameters(), lr=0.5)
        there["learn"](model, optimizer, torch.ones(1, 1))
        assert torch.allclose(parameter.detach(), before - 0.5)
        assert model.training
        assert optimizer.param_groups[0]["lr"] == 0.25
        optimizer.param_groups[0]["lr"] = 2.0  # between two calls
        there["learn"](model, optimizer, torch.ones(1, 1))
        assert torch.allclose(parameter.detach(), before - 2.5)
    assert Careless().modes == []


def test_a_change_that_is_taken_back_is_seen_on_the_other_side(there: dict) -> None:
    """Also where the one was told of with the whole model, and the other with a part of it."""
    model, x, none = there["Attention"](3), torch.ones(2, 3), 0.0
    model(x)
    model.eval()
    there["turned"](model, True)
    assert model.training and model.inner.training
    there["turned"](model.inner, False)
    assert model.training and not model.inner.training
    there["inner_turned"](model, True)
    assert model.inner.training
    there["turned"](model.inner, False)
    model.inner.train()
    model.drop.p = none
    assert there["known"](model) == (True, True, 0.0)
    there["dropping"](model.drop, 0.25)
    assert model.drop.p == 0.25
    model.drop.p = none
    assert there["known"](model) == (True, True, 0.0)


def test_modules_that_nobody_holds_are_let_go_on_both_sides(there: dict) -> None:
    """Those that are held, and parts of others that are, live on and can be called and changed."""
    peer, x = there["peer"], torch.ones(2, 3)
    kept, model = there["Attention"](3), there["Attention"](3)
    before, part, gone = kept(x), model.inner, weakref.ref(model)
    model(x).sum().backward()
    functions, states = peer.request("held")
    assert states == 6
    del model
    peer.let_go()
    assert gone() is None
    assert peer.request("held") == (functions - 2, 4)
    with torch.no_grad():
        kept.inner.weight.zero_(), part.weight.zero_()
    assert torch.equal(part(x), part.bias.expand(2, 3))
    assert not torch.equal(kept(x), before)
    assert torch.equal(kept(x), 2 * kept.inner.bias.expand(2, 3))
    assert there["same"](part) is part
