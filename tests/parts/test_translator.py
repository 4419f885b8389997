"""The finished translator: small, whole and right, and honest about what it does not know."""

import pytest
import torch
from safetensors.torch import load_file

from autograder import data, parts
from autograder.parts.translation import translator


def test_it_reads_dates_that_training_never_held() -> None:
    """Nearly all held-out dates come out right to the last digit."""
    translate = parts.translator()
    dates = data.dates(200, held_out=True, seed=11)
    assert sum(translate(text).text == iso for text, iso in dates) >= 196


def test_its_file_is_small_and_holds_every_weight() -> None:
    """One megabyte at most, and nothing of the model is left as it was drawn."""
    assert translator.WEIGHTS.stat().st_size <= 1_000_000
    weights = load_file(translator.WEIGHTS)
    assert weights.keys() == dict(translator.untrained().named_parameters()).keys()


def test_it_says_where_it_looked_and_how_sure_it_is() -> None:
    """A row of weights for each sign that it wrote, and the probability of what it wrote, as the model has it."""
    translate = parts.translator()
    date = translate("  Siebenundzwanzigster  März 2019 ")
    assert (date.source, date.text) == ("siebenundzwanzigster märz 2019", "2019-03-27")
    assert date.attention.shape == (10, len(date.source) + 1)
    torch.testing.assert_close(date.attention.sum(dim=1), torch.ones(10))
    assert date.source[int(date.attention[8].argmax())] == "w"  # the 2 of 27 is in "zwanzig"
    assert 0.9 < date.probability <= 1 and translate("tomorrow").probability < 0.5


@pytest.mark.parametrize("text", ["", "   ", 49 * "a"])
def test_what_is_no_date_by_its_length_is_refused(text: str) -> None:
    """Nothing, and more than dates have, is an error that says how many letters there may be."""
    with pytest.raises(ValueError, match="1 to 48 letters"):
        parts.translator()(text)
