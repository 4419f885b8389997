"""Calls across the bridge return, raise and are differentiated as calls here do."""

import pytest
import torch
from support.far_side import THERE


def test_a_result_can_be_differentiated(there) -> None:
    """Gradients are those of the same function here."""
    query, key = (torch.randn(3, 4, dtype=torch.double, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(there["average"], (query, key))
    got = torch.autograd.grad(there["average"](query, key).pow(2).sum(), (query, key))
    wanted = torch.autograd.grad(THERE["average"](query, key).pow(2).sum(), (query, key))
    assert all(map(torch.allclose, got, wanted))


def test_a_function_that_was_handed_in_is_called_back_and_differentiated(there) -> None:
    """The gradient goes through the far side and back into a closure of this one."""
    weight, x = torch.tensor(2.0, requires_grad=True), torch.ones(3, requires_grad=True)
    result = there["apply"](lambda y: weight * y * y, x)
    assert torch.equal(result, torch.full((3,), 3.0))
    assert torch.equal(torch.autograd.grad(result.sum(), x)[0], torch.full((3,), 5.0))


def test_errors_keep_their_class_and_their_words(there) -> None:
    """Python's own, and those that only the other side has."""
    for kind in (ValueError, KeyError, NotImplementedError):
        with pytest.raises(kind, match="what went wrong"):
            there["fails"](kind)
    with pytest.raises(RuntimeError, match="what went wrong") as caught:
        there["fails"](KeyboardInterrupt)
    assert type(caught.value).__name__ == "KeyboardInterrupt"


def test_gradients_switched_off_there_are_off_here(there) -> None:
    """So that a check can say it."""
    there["quiet"](torch.ones(1))
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
