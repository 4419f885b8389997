"""A model that is built in another way computes what the other way says, whoever wrote the model."""

from __future__ import annotations

import pytest
import torch
from support.models import SIZES, made_of
from torch import Tensor, nn

from autograder import data, parts

SRC, TGT = data.tokens([5, 5], vocab_size=9, seed=1), data.tokens([4, 4], vocab_size=9, seed=2)


def course_model() -> nn.Module:
    return data.randomized(parts.Transformer(9, 9, **SIZES), seed=3).eval()


def normed(x: Tensor) -> Tensor:
    """What a norm that nobody has trained gives."""
    return nn.functional.layer_norm(x, x.shape[-1:])


def norm_first(model: nn.Module, src: Tensor, tgt: Tensor) -> Tensor:
    """The logits of a learner's model, its sublayers put together as pre-norm says."""
    x, y = model.positional_encoding(model.src_embedding(src)), model.positional_encoding(model.tgt_embedding(tgt))
    for layer in model.encoder.layers:
        z = normed(x)
        x = x + layer.self_attention(z, z, z)
        x = x + layer.feed_forward(normed(x))
    memory = normed(x)
    for layer in model.decoder.layers:
        z = normed(y)
        y = y + layer.self_attention(z, z, z, parts.causal_mask(tgt.size(1)))
        y = y + layer.cross_attention(normed(y), memory, memory)
        y = y + layer.feed_forward(normed(y))
    return model.output_projection(normed(y))


def test_norm_first_normalises_what_goes_in_and_what_comes_out_at_the_end() -> None:
    """A learner's layers compute pre-norm with the weights that they had."""
    model = made_of()
    expected = norm_first(model, SRC, TGT)
    torch.testing.assert_close(parts.rebuilt("norm first", model)(SRC, TGT), expected)


def test_norm_first_of_the_courses_parts_is_pytorchs_own() -> None:
    """PyTorch's layers are told so, and each stack ends in a norm, so its output has mean 0 and deviation 1."""
    model = parts.rebuilt("norm first", course_model())
    layers = [layer for layer in model.modules() if hasattr(layer, "norm_first")]
    assert len(layers) == 4 and all(layer.norm_first for layer in layers)
    memory = model.encode(SRC)
    torch.testing.assert_close(memory, normed(memory), atol=1e-4, rtol=0)


@pytest.mark.parametrize("model", [course_model(), made_of()], ids=["the course's", "a learner's"])
def test_learned_positions_are_trained_and_used(model: nn.Module) -> None:
    """Each position adds a row of a table that gets gradients, and the waves are gone."""
    model = parts.rebuilt("learned positions", model)
    table = model.positional_encoding.table
    model(SRC, TGT).sum().backward()
    assert table.requires_grad and (table.grad[:5].abs().sum(dim=1) > 0).all() and not table.grad[5:].any()
    x = model.src_embedding(SRC)
    torch.testing.assert_close(model.positional_encoding(x), x + table[:5])


def test_dropout_between_the_sublayers_stays() -> None:
    """In training a model of a learner's with dropout still drops something."""
    model = parts.rebuilt("norm first", made_of()).train()
    for add in (module for module in model.modules() if type(module).__name__ == "_Sum"):
        assert add.dropout == 0.1
        x = torch.ones(50, 2, 6)
        assert ((add(torch.zeros_like(x), x) == 0).float().mean() - 0.1).abs() < 0.08
