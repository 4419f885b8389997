"""The finished parts keep the course's contract."""

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


SMALL = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}


def small_model(**options) -> nn.Module:
    """A Transformer with vocabularies of 13 and 11, in eval mode, its parameters drawn at random."""
    return data.randomized(parts.Transformer(13, 11, **SMALL, **options)).eval()


def test_the_transformer_is_pytorchs() -> None:
    """With padding and a causal mask the logits are those of nn.Transformer, with and without gradients."""
    model = small_model()
    src, tgt = data.tokens([6, 4], vocab_size=13, seed=3), data.tokens([3, 5], seed=4)
    expected = parts.transformer_twin(model)(src, tgt)
    torch.testing.assert_close(model(src, tgt), expected)
    with torch.no_grad():
        torch.testing.assert_close(model(src, tgt), expected)
        torch.testing.assert_close(model.decode(tgt, model.encode(src), src), expected)


def test_layers_keep_their_weights_under_the_courses_names() -> None:
    """After a call each attention holds the weights of every head, detached; padding of the source has none."""
    model = small_model()
    src, tgt = data.tokens([6, 4], vocab_size=13), data.tokens([5, 5])
    model(src, tgt)
    layer = model.decoder.layers[1]
    assert model.encoder.layers[0].self_attention.attention_weights.shape == (2, 3, 6, 6)
    assert layer.self_attention.attention_weights.shape == (2, 3, 5, 5)
    weights = layer.cross_attention.attention_weights
    assert weights.shape == (2, 3, 5, 6) and not weights.requires_grad
    assert (weights[1, :, :, 4:] == 0).all() and torch.allclose(weights.sum(-1), torch.ones(2, 3, 5))


def test_a_stacked_matrix_begins_as_three_apart() -> None:
    """Queries, keys and values of PyTorch's attention start as large as those that a learner keeps in layers."""
    torch.manual_seed(0)
    learners, stacked = FourLinears(), parts.MultiHeadAttention(12, 3)
    bound = math.sqrt(6 / 24)
    for model in (learners, stacked):
        parts.initialize_parameters(model)
        largest = [weight.abs().max() for weight in model.parameters() if weight.dim() > 1]
        assert all(0.95 * bound < most <= bound for most in largest)


def test_shared_embeddings_are_one_parameter() -> None:
    """Two parameters fewer, all three names for one matrix; vocabularies of two sizes are refused."""
    apart, shared = (parts.Transformer(9, 9, **SMALL, share_embeddings=shared) for shared in (False, True))
    assert len(list(apart.parameters())) - len(list(shared.parameters())) == 2
    assert shared.src_embedding.embedding.weight is shared.output_projection.weight
    with pytest.raises(ValueError, match=r"9.*8"):
        parts.Transformer(9, 8, **SMALL, share_embeddings=True)


def test_positions_are_added_and_too_many_are_refused() -> None:
    """The encoding's first rows are added; the error names both lengths."""
    place = parts.PositionalEncoding(8, max_len=4, dropout=0.0)
    assert torch.equal(place(torch.zeros(2, 3, 8)), parts.sinusoidal_encoding(4, 8)[:3].expand(2, -1, -1))
    with pytest.raises(ValueError, match=r"5.*4"):
        place(torch.zeros(1, 5, 8))


def test_the_learning_rate_is_the_papers() -> None:
    """It is d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), and step 0 counts as 1."""
    for step in (1, 7, 99, 100, 101, 4000):
        wanted = 64**-0.5 * min(step**-0.5, step * 100**-1.5)
        assert parts.learning_rate(step, 64, 100) == pytest.approx(wanted)
    assert parts.learning_rate(0, 64, 100) == parts.learning_rate(1, 64, 100)


def test_a_step_learns_and_evaluate_counts_every_token_once() -> None:
    """Steps on one batch bring its loss down; loss and accuracy do not depend on how tokens lie in batches."""
    torch.manual_seed(0)
    model = parts.Transformer(13, 13, d_model=16, num_heads=2, num_layers=1, d_ff=32, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    ((src, tgt),) = data.copy_task(1, batch_size=8)
    losses = [parts.train_step(model, optimizer, src, tgt) for _ in range(60)]
    assert losses[-1] < 0.8 * losses[0] and model.training
    together = parts.evaluate(model, [(src, tgt)])
    assert parts.evaluate(model, iter([(src[:3], tgt[:3]), (src[3:], tgt[3:])])) == pytest.approx(together)
    given, labels = parts.teacher_forcing(tgt)
    hits = (model.eval()(src, given).argmax(-1) == labels)[labels != 0]
    assert together[1] == pytest.approx(hits.float().mean().item())


def test_steps_of_decoding_are_those_of_greedy_decoding() -> None:
    """The tokens are those of `greedy_decode`; each step has its probabilities and where the decoder looked."""
    model, src = small_model(), data.tokens([6], vocab_size=13, seed=3)
    tokens, probabilities, attention = parts.decode_in_steps(model, src, 5, eos_id=-1)
    assert tokens.tolist() == parts.greedy_decode(model, src, 5, eos_id=-1)[0].tolist()
    assert torch.equal(probabilities.argmax(dim=-1), tokens[1:])
    assert attention.shape == (5, 6) and torch.allclose(attention.sum(-1), torch.ones(5))
    assert len(parts.decode_in_steps(model, src, 5, eos_id=int(tokens[1])).tokens) == 2


def test_exact_match_forgives_padding_and_nothing_else() -> None:
    """Rows of other widths are right when the rest is padding."""
    expected = torch.tensor([[1, 5, 2, 0], [1, 6, 6, 2]])
    assert parts.exact_match(torch.tensor([[1, 5, 2], [1, 6, 6]]), expected) == 0.5
    assert parts.exact_match(torch.nn.functional.pad(expected, (0, 2)), expected) == 1
    assert parts.exact_match(torch.nn.functional.pad(expected, (0, 2), value=4), expected) == 0


def test_a_scripted_model_says_its_script_and_remembers() -> None:
    """It knows sentences by their first token, in any order, and notes how it was called."""
    script = torch.tensor([[5, 6, 2], [7, 2, 0]])
    model = parts.ScriptedModel(script, vocab_size=9, begin=1).eval()
    src = torch.tensor([[4, 8], [3, 8]])
    written = parts.greedy_decode(model, src, 5)
    assert written.tolist() == [[1, 7, 2, 0], [1, 5, 6, 2]]
    assert model.encoded == 1 and model.lengths == [1, 2, 3] and model.modes == {(False, False)}
    strange = model.decode(torch.tensor([[1, 8], [1, 5]]), model.encode(src), src).argmax(-1)
    assert strange.tolist() == [[7, 1], [5, 6]]
    assert (model.decode(written, torch.zeros(2, 2, 1), src).argmax(-1) == 0).all()
    with pytest.raises(ValueError, match="`src` has 2 rows, but `tgt` has 1"):
        model.decode(written[:1], model.encode(src), src)
    with pytest.raises(RuntimeError, match="Does your loop end"):
        for _ in range(100):
            model.decode(written, model.encode(src), src)
