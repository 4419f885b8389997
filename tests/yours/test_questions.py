"""Questions are reviewed fairly: the numbers count, whatever stands around them, and what is unanswered stays so."""

import pytest

from autograder import yours
from autograder.yours.questions import is_right


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        *((shape, (2, 5)) for shape in ("2, 5", "(2,5)", "2 5", "2x5", "torch.Size([2, 5])", "two and five")),
        *((quarter, 0.25) for quarter in ("0.25", ".25", "1/4", "tensor(0.2500)")),
        *((number, 6.0) for number in ("6", "6.", "x.grad = 6", "tensor(6.)", " Six ")),
        ("tensor([0, 8, 0])", [0, 8, 0]),
        ("(3,)", (3,)),
        ("-1", -1),
        ("−0.5", -0.5),
    ],
)
def test_the_numbers_count(answer: str, value: object) -> None:
    """Brackets, words and what PyTorch prints around numbers change nothing; other numbers do."""
    assert is_right(answer, value)
    assert not is_right(f"{answer}, 7", value) and not is_right("7", value) and not is_right("yes", value)


def test_each_answer_is_told_and_nothing_is_given_away(capsys: pytest.CaptureFixture[str]) -> None:
    """A right answer, a wrong one and none have marks of their own; only for the wrong one stands what is so."""
    truths = {1: ((2, 3), "shapes"), 2: (4, "sums"), 3: (9, "squares"), 4: (5, "sums")}
    yours.review({1: "2, 3", 2: "5", 3: "", 4: "6"}, truths)
    assert capsys.readouterr().out.splitlines() == [
        " 1 ✓ 2, 3",
        " 2 ✗ 5: it is 4",
        " 3 – not answered",
        " 4 ✗ 6: it is 5",
        "",
        "1 of 4 are right.",
        "Read about 2, 4: sums.",
    ]
