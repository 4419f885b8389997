"""Decoding with a cache works with every model of the contract, and leaves the model as it was."""

import pytest
import torch
from answers import RIGHT, Right
from support.classroom import run
from support.models import OF_THE_MODEL, SIZES, THE_COURSES, made_of, solutions
from torch import nn

from autograder import data, parts

PARTS = ("MultiHeadAttention", "PositionalEncoding", "DecoderLayer", "Transformer")
OTHERS = [(lesson, right) for lesson in OF_THE_MODEL for right in RIGHT[lesson] if right.exercise in PARTS]


def attend(query, key, value, cache):
    """A right `cached_attention`."""
    if cache is not None:
        key, value = torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2)
    return parts.scaled_dot_product_attention(query, key, value)[0], (key, value)


def must_write_the_same(model: nn.Module) -> None:
    """Cached and plain decoding agree to the last token and, closely, in their logits; the model stays as it was."""
    src, held = data.tokens([5, 3, 4], vocab_size=9, seed=1), list(model.modules())
    before = [parameter.clone() for parameter in model.parameters()]
    plain = parts.greedy_decode(model, src, 9, eos_id=-1)
    assert torch.equal(parts.cached_greedy_decode(model, src, 9, attend, eos_id=-1), plain)

    tgt = data.tokens([6, 6, 6], vocab_size=9, seed=2)
    with torch.no_grad():
        expected = model.decode(tgt, model.encode(src), src).log_softmax(-1)
        weights = model.decoder.layers[1].cross_attention.attention_weights.clone()
        decoder = parts.CachedDecoder(model, src, attend)
        for t in range(6):
            torch.testing.assert_close(decoder.step(tgt[:, t]).log_softmax(-1), expected[:, t])
            looks = decoder.layers[1].cross_attention.attention_weights
            torch.testing.assert_close(looks, weights[:, :, t : t + 1])
    assert list(model.modules()) == held
    assert all(map(torch.equal, model.parameters(), before))


@pytest.mark.parametrize(
    "given", [(), ("MultiHeadAttention",), ("DecoderLayer",), ("Decoder", "PositionalEncoding"), THE_COURSES]
)
def test_it_writes_what_the_model_writes(given: tuple[str, ...]) -> None:
    """A model of the solutions, some or all of its parts the course's, writes the same with the cache and without."""
    must_write_the_same(made_of(given=given))


@pytest.mark.filterwarnings("ignore")  # one right answer warns
@pytest.mark.parametrize(("lesson", "right"), OTHERS, ids=lambda of: of if isinstance(of, str) else of.what)
def test_it_works_with_every_right_answer(lesson: str, right: Right) -> None:
    """Whatever a right answer calls its insides, the cache finds what it needs."""
    must_write_the_same(made_of((lesson, right)))


def test_a_learned_encoding_gets_its_places_too() -> None:
    """Positions come from calling the encoding, whatever it is made of."""
    model = made_of()
    scope: dict = {"torch": torch, "nn": nn}
    run(solutions()["LearnedPositionalEncoding"], "learned", scope)
    model.positional_encoding = scope["LearnedPositionalEncoding"](12, max_len=40).eval()
    must_write_the_same(model)


def test_decoding_with_a_cache_writes_the_same() -> None:
    """Cached and plain greedy decoding agree, row by row, for sources of different lengths."""
    model = data.randomized(parts.Transformer(9, 9, d_model=8, num_heads=2, num_layers=2, d_ff=6), seed=81).eval()
    src = data.tokens([5, 3, 4], vocab_size=9, seed=1)
    plain = parts.greedy_decode(model, src, 9)
    assert len(plain[:, 1:].unique()) > 1
    assert torch.equal(parts.cached_greedy_decode(model, src, 9, attend), plain)
    for row in range(3):
        alone = parts.greedy_decode(model, src[row : row + 1], 9)[0]
        assert torch.equal(alone, plain[row, : len(alone)])


def test_several_positions_at_once_are_refused() -> None:
    """What is in the caches already is not taken a second time, and whoever sends it reads why."""
    decoder = parts.CachedDecoder(made_of(given=THE_COURSES), data.tokens([5, 3], vocab_size=9, seed=1))
    with pytest.raises(ValueError, match="takes one position, the newest, and got 3"):
        decoder.run(torch.zeros(2, 3, SIZES["d_model"]))
