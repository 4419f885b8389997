"""Parts of lesson 9: they agree with PyTorch's own functions, whichever of these there are, and with themselves."""

import pytest
import torch
import torch.nn.functional as F

from autograder import data, parts
from autograder.exercises.lesson_9.shared import turned
from autograder.parts import gpt


def test_what_old_versions_of_pytorch_lack_is_the_same_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `F.rms_norm` and `enable_gqa` the values are those with them."""
    x, weight = data.normal((2, 3, 8), (8,))
    query, key, value = data.normal((2, 6, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4))
    given = query, key, value, parts.causal_mask(5)
    norm, attended = gpt.rms_norm(x, weight, 1e-6), gpt.attend_in_groups(*given)
    monkeypatch.delattr(F, "rms_norm", raising=False)
    monkeypatch.setattr(gpt, "_HAS_GROUPS", False)
    torch.testing.assert_close(gpt.rms_norm(x, weight, 1e-6), norm)
    torch.testing.assert_close(gpt.attend_in_groups(*given), attended)


def test_complex_numbers_turn_as_sines_and_cosines_do() -> None:
    """`rotate` gives the values of the formula, and a score that depends on the distance alone."""
    x, places = data.normal((2, 3, 5, 8)), torch.tensor([0, 3, 1, 20, 7])
    torch.testing.assert_close(parts.rotate(x, places, 500.0), turned(x, places, base=500.0))
    (query, key), places = data.normal((1, 8), (1, 8)), torch.arange(30)
    scores = (parts.rotate(query.expand(30, 8), places + 4) * parts.rotate(key.expand(30, 8), places)).sum(-1)
    torch.testing.assert_close(scores, scores[:1].expand(30), rtol=1e-4, atol=1e-4)


def test_a_gpt_says_the_same_in_pieces() -> None:
    """With the cache the logits are those of the whole, and the same is written with it and without."""
    model = data.randomized(parts.GPT(11, 16, 2, 4, 2, 20))
    tokens = torch.randint(11, (2, 9), generator=torch.Generator().manual_seed(0))
    first, cache = model(tokens[:, :4], [])
    second, _ = model(tokens[:, 4:], cache)
    torch.testing.assert_close(torch.cat([first, second], dim=1), model(tokens), rtol=1e-4, atol=1e-4)
    texts = [
        parts.generate(model, tokens, 12, use_cache, top_p=0.9, generator=torch.Generator().manual_seed(3))
        for use_cache in (True, False)
    ]
    assert torch.equal(*texts) and texts[0].shape == (2, 21)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [0.4, 0.3, 0.2, 0.1]),
        ({"top_k": 2}, [4 / 7, 3 / 7, 0, 0]),
        ({"top_p": 0.6}, [4 / 7, 3 / 7, 0, 0]),
        ({"top_k": 2, "top_p": 0.5}, [1.0, 0, 0, 0]),
        ({"top_k": 9, "top_p": 0.95}, [0.4, 0.3, 0.2, 0.1]),
        ({"temperature": 1e-3}, [1.0, 0, 0, 0]),
    ],
)
def test_what_is_cut_off_has_no_chance(options: dict, kept: list[float]) -> None:
    """The probabilities that are left are those of the fewest tokens that are to be kept, and add up to 1."""
    chances = parts.kept_chances(torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log(), **options)
    torch.testing.assert_close(chances, torch.tensor([kept]), rtol=1e-4, atol=1e-5)


def test_bits_are_those_of_the_blocks() -> None:
    """Who holds all for equally likely needs log₂ of their number, and a block begins where the last one ended."""
    tokens = torch.arange(20) % 8
    assert parts.bits_per_character(parts.NextByHistory(8, scale=0.0), tokens, 6) == pytest.approx(3.0)
    model = parts.NextByHistory(8)
    parts.bits_per_character(model, tokens, 6)
    assert [tuple(each.shape) for each in model.given] == [(1, 6), (1, 6), (1, 6), (1, 1)] and not model.gradients


def test_a_model_by_history_remembers_what_a_cache_holds() -> None:
    """Its logits in pieces are those of the whole; a loop that does not end is stopped."""
    model, tokens = parts.NextByHistory(7), torch.tensor([[3, 1, 4, 1, 5]])
    first, cache = model(tokens[:, :2], [])
    second, _ = model(tokens[:, 2:], cache)
    assert torch.equal(torch.cat([first, second], dim=1), model(tokens)) and model.had_cache == [True, True, False]
    with pytest.raises(RuntimeError, match="Does your loop end"):
        for _ in range(100):
            model(tokens)
