"""Plain values are on the other side what they are here."""

import math
from collections import Counter, OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
import torch

from autograder import parts
from autograder.check._errors import CheckFailed
from autograder.grading.rpc.encoder import MOST_ITEMS


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(b=[1], a=2),
        Counter("abba"),
        defaultdict(list, {1: [2]}),
        frozenset({1}),
        namedtuple("Pair", "a b")(1, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_collections_of_other_types_are_equal_to_what_arrives(there: dict, value: object) -> None:
    """They cross as the types that they are made of."""
    assert there["same"](value) == value


def test_numbers_and_texts_that_json_does_not_know_cross(there: dict) -> None:
    """What is not finite stays so; half a character, which no file takes, becomes a question mark."""
    same = there["same"]
    assert math.isnan(same(math.nan)) and math.isnan(same(np.float32("nan")))
    assert same((-math.inf, np.float64("inf"))) == (-math.inf, math.inf)
    assert type(same(np.float64("inf"))) is np.float64
    assert same("\ud800\x00 ü") == "?\x00 ü"
    model = there["Attention"](3)
    model.drop.p = math.inf
    assert there["known"](model)[2] == math.inf


def test_parts_of_the_course_and_iterators_are_what_they_are(there) -> None:
    """A finished part is the very same on both sides; an iterator is asked item by item."""
    assert there["same"](parts.padding_mask) is parts.padding_mask
    numbers = iter(range(100))
    assert there["take"](numbers) == [0, 1]
    assert next(numbers) == 2


def test_a_large_number_of_tensors_is_refused(there: dict) -> None:
    """A tuple of tensors counts as many things as it holds."""
    with pytest.raises(CheckFailed, match="too many things"):
        there["same"](*[torch.ones(())] * (MOST_ITEMS + 1))


def test_an_object_of_the_other_side_is_asked_for_its_attributes(there: dict) -> None:
    """Its methods and public attributes answer from there, as they are then; it goes back as itself."""
    purse = there["Purse"](3)
    assert type(purse).__name__ == "Purse" and purse.coins == 3 and not purse.is_full
    assert purse.put(2) == purse.coins == 5 and purse.is_full
    assert there["same"](purse) is purse
    assert not hasattr(purse, "_secret")
    with pytest.raises(AttributeError, match="no attribute 'notes'"):
        purse.notes  # noqa: B018


def test_a_dictionary_of_a_class_of_its_own_keeps_its_methods(there: dict) -> None:
    """It stays where it is, as any other object does."""
    assert there["Register"](a=1).first() == "a"


def test_the_other_side_learns_nothing_of_an_object_of_this_one(there: dict) -> None:
    """What the judge holds crosses as the name of its class, and nothing of it can be asked for."""

    class Secret:
        answer = 42

    told = there["same"](Secret())
    assert type(told).__name__ == "Secret" and not hasattr(told, "answer")


def test_a_generator_draws_there_what_its_seed_says(there: dict) -> None:
    """It is one and the same in every call, and begins with the seed that it has here."""
    generator, apart = (torch.Generator().manual_seed(7) for _ in range(2))
    drawn = [there["draw"](generator) for _ in range(2)]
    assert drawn == [int(torch.randint(1000, (), generator=apart)) for _ in range(2)]
    assert there["same"](generator) is generator
