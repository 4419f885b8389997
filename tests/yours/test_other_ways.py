"""After the last ✓ of an exercise, other ways to write it are folded under it: right ones, and unlike the learner's."""

import html
from types import SimpleNamespace

import pytest
from support.classroom import LESSONS, classroom
from yours.conftest import Notebook

from autograder.check import _panel, _progress
from autograder.check._progress import Ending
from autograder.yours import other_ways

WAYS = [
    (lesson, exercise) for lesson in LESSONS for exercise in classroom(lesson).answers if exercise in other_ways.ways()
]
MASK = 'def causal_mask(size: int):\n    """Mine."""\n    seen = torch.ones(size, size).tril()\n    return seen > 0\n'


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a front end is given."""
    given: list[dict[str, str]] = []
    shell = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data: given.append(data)))
    monkeypatch.setattr(_panel, "front_end", lambda: shell)
    return given


def passed(notebook: Notebook, *rules: str, of: int, answer: object = None) -> None:
    """Let checks of `causal_mask` pass, of so many, with an answer."""
    for rule in rules:
        _progress.record("1.4 causal_mask", rule, Ending.PASSED, [answer])
        notebook.pass_checks("1.4 causal_mask", rule, of=of)


@pytest.mark.parametrize(("lesson", "exercise"), WAYS)
def test_each_way_is_right_and_unlike_the_others(lesson: str, exercise: str) -> None:
    """Each passes all checks in silence and fits Colab's width, and who has written one of them is shown another."""
    known = other_ways.ways()[exercise]
    for way in known:
        for result in classroom(lesson).grade({exercise: way.code}, exercise=exercise):
            assert result.passed and not result.stderr, f"{result.check}: {result.error}\n{way.code}"
        assert max(map(len, way.code.splitlines())) <= 88
        others = other_ways.unlike(way.code, known)
        assert others and way not in others


def test_every_exercise_with_ways_is_one_of_the_lessons() -> None:
    """No way is left over from an exercise that has another name now."""
    assert {exercise for _, exercise in WAYS} == other_ways.ways().keys()


def test_nothing_is_shown_before_the_last_check(notebook: Notebook, shown: list[dict[str, str]]) -> None:
    """One check before the end there is nothing to unfold, then there is; in grading there never is."""
    notebook.run(MASK)
    passed(notebook, "shape", of=2)
    assert not shown
    passed(notebook, "values", of=2)
    assert len(shown) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        passed(notebook, "values", of=2)
    assert len(shown) == 1


def test_they_are_shown_once_for_each_round_of_checks(notebook: Notebook, shown: list[dict[str, str]]) -> None:
    """When one check has run once more there is nothing new, when all have, they are shown again."""
    notebook.run(MASK)
    passed(notebook, "shape", "values", "shape", of=2)
    assert len(shown) == 1
    passed(notebook, "values", of=2)
    assert len(shown) == 2


def test_a_draft_with_which_only_the_last_check_passes_takes_nothing_away(
    notebook: Notebook, shown: list[dict[str, str]]
) -> None:
    """An earlier cell had ended at its first check: its second one runs with the right answer for the first time."""
    notebook.run(MASK)
    passed(notebook, "a copy", of=3, answer=lambda size: size)
    right = notebook.scope["causal_mask"]
    passed(notebook, "values", "shapes", of=3, answer=right)
    assert not shown
    passed(notebook, "a copy", of=3, answer=right)
    assert len(shown) == 1


def test_the_most_unlike_are_folded_away_with_what_they_trade(notebook: Notebook, shown: list[dict[str, str]]) -> None:
    """A triangle is answered by the two ways without one; all but the title stands inside of a folded element."""
    notebook.run(MASK)
    passed(notebook, "values", of=1)
    triangle, places, turned = other_ways.ways()["causal_mask"]
    page, text = shown[0]["text/html"], shown[0]["text/plain"]
    folded = page.removesuffix("</details>").partition("</summary>")[2]
    assert page.endswith("</details>") and "<details" in page and "open" not in page.partition(">")[0]
    for way in (places, turned):
        assert html.escape(way.code) in folded and way.code in text and way.trades in text
    assert triangle.code not in text


def test_names_and_comments_make_no_other_way() -> None:
    """An answer with other names, types and comments is the same one, and is not shown to its author."""
    way = other_ways.ways()["causal_mask"][1]
    renamed = way.code.replace("place", "at").replace("(size)", "(size: int) -> torch.Tensor", 1)
    assert other_ways.likeness(renamed.replace(":\n", ':\n    """Mine."""\n    # mine\n', 1), way.code) == 1
    assert way not in other_ways.unlike(renamed, [way])
