"""A part that is taken away is away, whoever wrote the model."""

import pytest
import torch
from support.models import THE_COURSES, made_of
from torch import Tensor, nn

from autograder import data, parts

SRC, TGT = data.tokens([5, 3], vocab_size=9, seed=1), data.tokens([4, 6], vocab_size=9, seed=2)
WIDER = nn.functional.pad(SRC, (0, 4))


@pytest.fixture(params=[THE_COURSES, ()], ids=["the course's", "a learner's"])
def model(request: pytest.FixtureRequest) -> nn.Module:
    """A model in eval mode, its parameters drawn at random."""
    return made_of(given=request.param)


def changed(tgt: Tensor, place: int) -> Tensor:
    """The same targets with another word at one place."""
    other = tgt.clone()
    other[:, place] = 3 + (tgt[:, place] - 2) % 6
    return other


def alike(one: Tensor, other: Tensor) -> bool:
    """Equal but for rounding."""
    return torch.allclose(one, other, atol=1e-5)


def test_without_nothing_it_is_the_same(model: nn.Module) -> None:
    """The model comes back as it was."""
    before = model(SRC, TGT)
    assert torch.equal(parts.without("nothing", model)(SRC, TGT), before)


def test_without_encoder_layers_the_memory_is_what_goes_in(model: nn.Module) -> None:
    """Words and places, and nothing of their neighbours."""
    assert torch.equal(
        parts.without("encoder layers", model).encode(SRC), model.positional_encoding(model.src_embedding(SRC))
    )


def test_without_its_self_attention_a_decoder_sees_its_last_word_only(model: nn.Module) -> None:
    """Another word before changes nothing behind it, as it does in the whole model."""
    other = changed(TGT, 1)
    assert not alike(model(SRC, TGT)[:, 2:], model(SRC, other)[:, 2:])
    parts.without("decoder self-attention", model)
    assert alike(model(SRC, TGT)[:, 2:], model(SRC, other)[:, 2:])
    assert not alike(model(SRC, TGT)[:, 1], model(SRC, other)[:, 1])


def test_without_the_padding_mask_padding_of_the_source_is_seen(model: nn.Module) -> None:
    """A wider source changes what comes out; the future stays hidden."""
    assert alike(model(SRC, TGT), model(WIDER, TGT))
    parts.without("source padding mask", model)
    assert not alike(model(SRC, TGT), model(WIDER, TGT))
    assert alike(model(SRC, TGT)[:, :2], model(SRC, changed(TGT, 2))[:, :2])


def test_without_the_causal_mask_the_future_is_seen_but_not_padding(model: nn.Module) -> None:
    """A later word changes what comes before it, and more padding does not."""
    parts.without("causal mask", model)
    assert not alike(model(SRC, TGT)[:, :2], model(SRC, changed(TGT, 2))[:, :2])
    assert alike(model(SRC, TGT), model(SRC, nn.functional.pad(TGT, (0, 3)))[:, :6])


def test_without_positions_the_order_of_the_source_does_not_matter(model: nn.Module) -> None:
    """The words of the source, shuffled, give the same."""
    src = SRC[:1]
    shuffled = src[:, [3, 0, 4, 1, 2]]
    assert not alike(model(src, TGT[:1]), model(shuffled, TGT[:1]))
    parts.without("positions", model)
    assert alike(model(src, TGT[:1]), model(shuffled, TGT[:1]))
