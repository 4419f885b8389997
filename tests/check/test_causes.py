"""A mistake is named when it explains every value of its kind that a check compares."""

from collections.abc import Callable

import pytest
import torch

from autograder import check
from autograder.check import CheckFailed, _causes


def mistake_of(answer: Callable[[int], float], wrong: dict[str, Callable[[int], float]]) -> str | None:
    """What is named where an answer should double 1 to 4, given what each mistake makes of a number."""

    def doubles() -> None:
        for number in (1, 2, 3, 4):
            values = {slip: torch.tensor(float(made(number))) for slip, made in wrong.items()}
            check.close("twice(x)", torch.tensor(float(answer(number))), torch.tensor(2.0 * number), mistakes=values)

    with pytest.raises(CheckFailed) as caught:
        _causes.run(doubles)
    assert (caught.value.mistake is None) == (caught.value.slip is None)
    return caught.value.mistake


WRONG = {"it is squared": lambda x: x * x, "nothing is done": lambda x: x, "it is cubed": lambda x: x**3}


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (lambda x: x * x, "it is squared"),  # three slips give the first value, and one of them all values
        (lambda x: x, "nothing is done"),
        (lambda x: 1 if x == 1 else 2 * x, None),
        (lambda x: x if x < 4 else 2 * x, None),
        (lambda x: 1 / x, None),
        (lambda x: 5 * x, None),
    ],
)
def test_the_mistake_that_is_named_explains_every_value(answer: Callable[[int], float], named: str | None) -> None:
    """One value proves nothing: what is named gives all of them, and of several the one that goes on to fit."""
    assert mistake_of(answer, WRONG) == named


def test_mistakes_that_stay_alike_name_nothing() -> None:
    """Two that give the same values to the end are not told apart."""
    assert mistake_of(lambda x: x, {"nothing is done": lambda x: x, "it is halved twice over": lambda x: x}) is None


def test_another_value_neither_proves_nor_disproves() -> None:
    """A mistake in one value is named though another value is wrong as well, and though the check then breaks."""

    def both() -> None:
        for number in (1.0, 2.0):
            value = torch.tensor(number)
            check.close("x", value + 1, value, mistakes={"one is added": value + 1})
            check.close("y", value - 7, value, mistakes={"one is added": value + 1})
        raise RuntimeError("no answer is called with what a wrong one gave")

    with pytest.raises(CheckFailed, match="one is added"):
        _causes.run(both)


def test_a_check_that_fails_once_alone_keeps_its_verdict() -> None:
    """An answer that changes from call to call fails all the same."""
    calls: list[int] = []

    def fickle() -> None:
        calls.append(1)
        value = torch.tensor(1.0)
        check.close("x", value + 1 if len(calls) == 1 else value, value, mistakes={"a": value + 1, "b": value + 1})

    with pytest.raises(CheckFailed, match="wrong value"):
        _causes.run(fickle)
