"""A tensor that has crossed is one tensor in two places."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.bool, torch.long, torch.uint8, torch.bfloat16, torch.float64, torch.complex64])
def test_tensors_cross_whatever_their_layout(there, dtype) -> None:
    """Transposed, expanded, empty, without dimensions, a single element with a strange stride."""
    whole = torch.arange(24).view(2, 3, 4).to(dtype)
    shapes = [whole, whole.transpose(0, 2), whole[:, 1], whole[:1].expand(3, 3, 4), whole[:0], whole[0, 0, 1]]
    for x in [*shapes, whole[:, :, -1:][:1, :1], whole.permute(2, 0, 1)[1:, :, ::2]]:
        assert there["same"](x) is x
        got = there["apply"](lambda y: y.clone(), x) if dtype != torch.bool else there["same"](x)
        assert got.shape == x.shape
        assert got.dtype == x.dtype


def test_what_changes_here_or_there_is_seen_on_the_other_side(there) -> None:
    """Inputs that are written into, results that are written over later."""
    x = torch.zeros(2)
    there["written_into"](x)
    assert torch.equal(x, torch.ones(2))
    first = there["keep"](torch.tensor([1.0, 2.0, 3.0]))
    there["keep"](torch.tensor([4.0, 5.0, 6.0]))
    assert torch.equal(first, torch.tensor([4.0, 5.0, 6.0]))
