"""The date reader's numbers: kept from lesson to lesson, and no trouble where they are lost or spoiled."""

import json
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from autograder import data, yours
from autograder.yours import progress


class Constant(nn.Module):
    """Reads the same digits in every date, once it has learned which are most frequent."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(8, 10))

    def forward(self, letters: Tensor) -> Tensor:
        return self.scores.expand(len(letters), 8, 10)


@pytest.fixture(autouse=True)
def few_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of two steps on few dates."""
    monkeypatch.setattr(data, "shortened", lambda steps: min(steps, 20))


def test_rows_of_earlier_lessons_stand_above_the_newest(notebook, said: Callable[[], str]) -> None:
    """A later lesson shows what the earlier ones reached, in their order; a second run takes the place of the first."""
    for lesson, title in ((2, "heads"), (1, "attention"), (1, "better attention"), (3, "positions")):
        picture = yours.train_reader(Constant(), title, lesson=lesson)
    rows = said().rpartition("the reader")[2].splitlines()[1:]
    assert [row.split("  ")[0] for row in rows] == ["lesson 1", "lesson 2", "lesson 3"]
    assert "better attention" in rows[0] and all("the course's" in row for row in rows)
    assert all(title in picture.alt for title in ("better attention", "heads", "positions"))


def test_what_is_tried_besides_is_not_remembered(notebook, said: Callable[[], str]) -> None:
    """A reader that lacks a part stands below the lesson's own, which stays what is kept."""
    yours.train_reader(Constant(), "a layer", lesson=4)
    yours.train_reader(Constant(), "without norms", lesson=4, kept=False)
    rows = said().rpartition("the reader")[2].splitlines()[1:]
    assert ["a layer" in rows[0], "without norms" in rows[1], len(rows)] == [True, True, 2]
    assert progress.read("reader")["4"]["title"] == "a layer"


@pytest.mark.parametrize(
    "spoiled",
    [
        "",
        "no JSON",
        "[]",
        '{"reader": 3}',
        '{"reader": {"1": {"title": "x", "whose": "", "digits": [1.0], "exact": 0.5, "read": []}}}',
        '{"reader": {"1": {"title": "x", "whose": "", "digits": null, "exact": "all", "read": "a"}}}',
        "[" * 100_000,
    ],
)
def test_a_lost_or_spoiled_file_breaks_nothing(spoiled: str, notebook, said: Callable[[], str]) -> None:
    """What is no row is left out, and the next lesson's row is kept again."""
    file = notebook.folder.parent / "progress.json"
    file.write_text(spoiled)
    yours.train_reader(Constant(), "heads", lesson=2)
    assert "lesson 1" not in said()
    assert json.loads(file.read_bytes())["reader"]["2"]["title"] == "heads"


def test_other_topics_stay(notebook) -> None:
    """What is kept under one topic leaves the others as they are."""
    progress.keep("other", {"a": {"b": 1}})
    progress.keep("reader", {"1": {}})
    assert progress.read("other") == {"a": {"b": 1}}


def test_a_program_that_runs_the_lessons_keeps_nothing(notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """In grading and in tests no file is written."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    yours.train_reader(Constant(), "attention", lesson=1)
    assert not (notebook.folder.parent / "progress.json").exists()


def test_letters_of_dates_are_the_readers_alphabet() -> None:
    """Every letter has an id, and the digits are those of the date."""
    letters, digits = data.date_digits(500, seed=3)
    dates = data.dates(500, seed=3)
    assert int(letters.max()) < data.DATE_IDS and letters.shape == (500, max(len(text) for text, _ in dates))
    assert ["".join(map(str, row)) for row in digits.tolist()] == [iso.replace("-", "") for _, iso in dates]
