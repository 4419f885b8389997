"""What a student's process does before anything of a student's runs in it."""

import pytest
import torch
import torch.nn.functional as F

from autograder.grading.worker import student


def test_a_loss_keeps_the_labels_that_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backwards PyTorch does not look whether a label is one, so nobody may change it in between."""
    monkeypatch.setattr(torch._C._nn, "cross_entropy_loss", torch._C._nn.cross_entropy_loss)
    logits, labels = torch.zeros(2, 4, requires_grad=True), torch.tensor([1, 1])
    plain = F.cross_entropy(logits, labels, ignore_index=0)
    student._keep_labels()
    loss = F.cross_entropy(logits, labels, reduction="none")
    assert torch.equal(loss, plain.expand(2))
    labels.data[0] = 3
    loss.sum().backward()
    assert logits.grad is not None and int(logits.grad[0].argmin()) == 1
