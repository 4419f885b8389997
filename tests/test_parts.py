"""The finished parts keep the course's contract, and the toy data is what it says."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from autograder import data, parts


def test_attention_returns_the_weights_it_used() -> None:
    """Output and weights follow equation 1, mask and dropout included, for any leading dimensions."""
    query, key, value = data.normal((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6))
    mask = torch.tensor([True, True, False, True, True])
    expected = (query @ key.mT / math.sqrt(8)).masked_fill(~mask, -torch.inf).softmax(-1)
    output, weights = parts.scaled_dot_product_attention(query, key, value, mask, dropout=lambda w: 2 * w)
    torch.testing.assert_close(weights, 2 * expected)
    torch.testing.assert_close(output, 2 * expected @ value)


def test_masks_are_boolean_and_true_means_may_attend() -> None:
    """Padding, causal and decoder mask have the contract's shapes and polarity."""
    tokens = torch.tensor([[5, 0, 3], [4, 6, 0]])
    assert parts.padding_mask(tokens).tolist() == [[[[True, False, True]]], [[[True, True, False]]]]
    assert parts.causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert parts.decoder_mask(tokens).shape == (2, 1, 3, 3)
    assert parts.decoder_mask(tokens)[0, 0].tolist() == [
        [True, False, False],
        [True, False, False],
        [True, False, True],
    ]
    assert parts.padding_mask(tokens, pad_id=6)[1, 0, 0].tolist() == [True, False, True]


def test_heads_are_blocks_of_columns_and_merging_undoes_splitting() -> None:
    """Head i holds the columns i·d_k … (i+1)·d_k − 1 of every token."""
    x = data.normal((2, 5, 12))
    heads = parts.split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    assert torch.equal(heads[:, 2], x[:, :, 8:])
    assert torch.equal(parts.merge_heads(heads), x)


class FourLinears(nn.Module):
    """The names of the contract and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(12, 12) for _ in range(4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_twin_computes_with_the_weights_it_was_given(dtype: torch.dtype) -> None:
    """The twin agrees with the formula, written out head by head, under a mask."""
    module = FourLinears().to(dtype)
    query, key, value = data.normal((2, 4, 12), (2, 6, 12), (2, 6, 12), dtype=dtype)
    mask = torch.tensor([[1, 1, 1, 0, 1, 1], [1, 0, 1, 1, 1, 1]]).bool()[:, None, None, :]
    twin = parts.MultiHeadAttention.twin_of(module, num_heads=3)
    outputs = []
    for columns in (slice(0, 4), slice(4, 8), slice(8, 12)):
        q, k, v = module.w_q(query)[..., columns], module.w_k(key)[..., columns], module.w_v(value)[..., columns]
        scores = (q @ k.mT / 2).masked_fill(~mask[:, 0], -torch.inf)
        outputs.append(scores.softmax(-1) @ v)
    torch.testing.assert_close(twin(query, key, value, mask), module.w_o(torch.cat(outputs, -1)))
    assert twin.attention_weights.shape == (2, 3, 4, 6) and not twin.attention_weights.requires_grad
    assert (twin.attention_weights[0, :, :, 3] == 0).all()


def test_multi_head_attention_refuses_a_width_its_heads_do_not_divide() -> None:
    """The error names both numbers."""
    with pytest.raises(ValueError, match=r"12.*5"):
        parts.MultiHeadAttention(12, 5)


def test_the_encoding_is_the_papers() -> None:
    """Every entry equals the formula of §3.5, sine on even columns and cosine on odd ones."""
    table = parts.sinusoidal_encoding(50, 8)
    assert table.dtype == torch.float32
    for position in range(50):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
            assert parts.encoding_angle(position, 2 * i + 1, 8) == pytest.approx(angle)


def test_neighbours_come_by_name() -> None:
    """A lesson's neighbours are found under the names that the notebook uses, all of them or those asked for."""
    assert parts.of_lesson(1) == {"padding_mask": parts.padding_mask, "causal_mask": parts.causal_mask}
    assert set(parts.of_lesson(3, "encoding_angle")) == {"encoding_angle"}


def test_data_depends_on_the_seed_alone() -> None:
    """The same seed gives the same numbers under any global state, which stays as it is; another seed gives others."""
    torch.manual_seed(1)
    first, state = data.normal((3, 4), seed=7), torch.get_rng_state()
    torch.manual_seed(2)
    assert torch.equal(data.normal((3, 4), seed=7), first)
    assert not torch.equal(data.normal((3, 4), seed=8), first)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)
    assert data.normal((3,), dtype=torch.float64).dtype == torch.float64
    assert [x.shape for x in data.normal((2,), (3,))] == [(2,), (3,)]


def test_tokens_are_words_up_to_their_length_and_padding_behind() -> None:
    """No word is PAD, BOS, EOS or the pad id, and every row is padded behind its length."""
    tokens = data.tokens([4, 2, 6], vocab_size=9, pad_id=5, seed=3)
    assert tokens.shape == (3, 6) and tokens.dtype == torch.long
    for row, length in zip(tokens, (4, 2, 6), strict=True):
        assert all(word in (3, 4, 6, 7, 8) for word in row[:length].tolist())
        assert (row[length:] == 5).all()
