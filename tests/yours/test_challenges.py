"""A challenge changes one place of a right answer, quietly, and asks what running it decides."""

import contextlib
import io
import random
import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from support.classroom import LESSONS, classroom, run
from yours.conftest import Notebook

from autograder import yours
from autograder.calls import Call, TooLongError, is_small
from autograder.check import _panel, _progress
from autograder.stub import without_regions
from autograder.yours import challenges
from autograder.yours.challenges import Challenge

EXERCISES = [(lesson, name) for lesson in LESSONS for name in classroom(lesson).answers]
MASK = "def causal_mask(size):\n    return torch.ones(size, size, dtype=torch.bool).tril()\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner waits for 15 seconds, and a busy machine is slower than theirs."""
    monkeypatch.setattr(challenges, "SECONDS", 3 * challenges.SECONDS)
    monkeypatch.setattr(challenges, "SECONDS_IN_ALL", 8 * challenges.SECONDS_IN_ALL)


def solved(notebook: Notebook, lesson: str, name: str) -> str:
    """Let a learner write the solutions, and pass the checks that students see; return the exercise's title."""
    room = classroom(lesson)
    notebook.scope.update(room.scope)
    for answer, source in room.answers.items():
        run(source, answer, notebook.scope)
        notebook.scope["In"].append(source)
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in room.checks:
            if cell.id in room.checks_of(name):
                run(without_regions(cell.source, "HIDDEN TESTS"), cell.id, notebook.scope)
    return next(title for title in _progress._session.rules if title.partition(" ")[2] == name)


def options(challenge: Challenge) -> list[int]:
    """The numbers to choose from."""
    return [int(number) for number in re.findall(r"^  (\d+)  ", challenge.question, re.MULTILINE)]


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_each_exercise_has_fair_questions(notebook: Notebook, lesson: str, name: str) -> None:
    """One of the options is right, and afterwards the answer is the learner's own."""
    title = solved(notebook, lesson, name)
    own = notebook.scope[name]
    challenge = challenges.make(title, notebook.scope, random.Random(name))
    assert challenge is not None and notebook.scope[name] is own
    numbers = options(challenge)
    right = [number for number in numbers if challenge.is_right(number)]
    assert len(right) == bool(numbers) and len(numbers) != 1
    assert " → " in challenge.change and not challenge.is_right()


def test_the_same_seed_asks_the_same(notebook: Notebook) -> None:
    """And another one, as a rule, something else."""
    title = solved(notebook, LESSONS[1], "padding_mask")
    made = [challenges.make(title, notebook.scope, random.Random(seed)) for seed in (1, 1, 2, 3, 4)]
    asked = [challenge.question + challenge.change for challenge in made if challenge is not None]
    assert asked[0] == asked[1] and len(set(asked)) > 1


def test_the_unchanged_answer_is_never_another(notebook: Notebook) -> None:
    """Not where it draws by chance, returns NaN, fails or returns several things either."""
    title = solved(notebook, LESSONS[1], "scaled_dot_product_attention")
    bench = challenges._Bench(title, notebook.scope, random.Random(0))
    x = torch.full((1, 2, 2), float("nan"))
    dropping = torch.nn.Dropout(0.5)
    for args in ((x, x, x), (x,), (1 + x * 0, x, x, None, dropping), (torch.ones(1, 2, 2),) * 3):
        asked = challenges._about_inputs(bench, bench.own, Call(args, {}), ("", ""))
        assert not asked.is_right(*args)


def test_a_change_that_comes_to_no_end_is_left_alone(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is up, and the answer is the learner's own again."""
    monkeypatch.setattr(challenges, "SECONDS", 0.2)
    title = solved(notebook, LESSONS[1], "causal_mask")
    bench, own = challenges._Bench(title, notebook.scope, random.Random(0)), notebook.scope["causal_mask"]

    def endless(size: int) -> None:
        while True:
            pass

    with pytest.raises(TooLongError):
        bench.broken(endless)
    assert notebook.scope["causal_mask"] is own


def test_a_learner_asks_and_answers(
    notebook: Notebook, said: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the last ✓ stands how; what is not solved is not asked about; a question is answered once."""
    monkeypatch.setattr(
        _panel, "front_end", lambda: SimpleNamespace(display_pub=SimpleNamespace(publish=lambda data: None))
    )
    notebook.scope["yours"] = yours
    notebook.run('yours.challenge("1.9")\nyours.answer(1)')
    assert "There is no exercise 1.9 here." in said()
    solved(notebook, LESSONS[1], "causal_mask")
    notebook.run(MASK)
    _progress.lesson({"1.4 causal_mask": 9})
    notebook.run('yours.challenge("1.4")')
    assert said().startswith("First let all checks of 1.4 causal_mask pass")
    notebook.pass_checks("1.4 causal_mask", "it is a square", "it is a triangle", of=2)
    assert 'Do you know it well? yours.challenge("1.4")' in said()
    notebook.run('yours.challenge("causal_mask", seed=5)')
    asked = said()
    assert asked.startswith("One place in your 1.4 causal_mask has changed, in a copy:") and " → " in asked
    notebook.run('yours.answer("?")')
    assert said().startswith("✗ Not so. ") and notebook.scope["causal_mask"](3).equal(torch.ones(3, 3).tril() > 0)
    notebook.run('yours.answer("?")')
    assert said().startswith("There is nothing to answer.")


def test_a_changed_answer_is_made_of_the_parts_of_its_rules(notebook: Notebook) -> None:
    """What stands in for earlier parts stands in for those of the copy, too: no rule breaks since they are others."""
    title = solved(notebook, LESSONS[5], "Encoder")
    made = [challenges.make(title, notebook.scope, random.Random(seed)) for seed in range(3)]
    told = [challenge.broken for challenge in made if challenge is not None]
    assert len(told) == 3 and not [text for text in told if "layers of the class" in text]


def test_a_number_that_python_does_not_write_is_not_shown() -> None:
    """A changed power may come to thousands of digits: nobody is asked about it."""
    assert is_small(-7) and not is_small(10**5000)


def test_a_rule_that_ends_in_an_error_of_python_is_the_last_that_is_tried(notebook: Notebook) -> None:
    """Nothing is asked about such a change; one that fails a check meets all the rules."""
    bench = challenges._Bench(solved(notebook, "01_attention", "causal_mask"), notebook.scope, random.Random(0))
    of_ones = lambda size: torch.ones(size, size, dtype=torch.bool)  # noqa: E731
    assert len(bench.broken(of_ones)) > 1 and len(bench.broken(lambda size: size.missing)) == 1
    assert bench.broken(bench.own) == {} and notebook.scope["causal_mask"] is bench.own


def test_a_lambda_is_changed_and_an_object_says_why_not(notebook: Notebook, said: Callable[[], str]) -> None:
    """An answer need not be a `def`; where its lines are those of a class, that is the reason given."""
    title, own = solved(notebook, "01_attention", "causal_mask"), notebook.scope["causal_mask"]
    notebook.run("causal_mask = lambda size: torch.ones(size, size).tril() > 0")
    made = challenges.make(title, notebook.scope, random.Random(0))
    assert made is not None and made.change.startswith("causal_mask = lambda size: ")
    notebook.scope["yours"], notebook.scope["causal_mask"] = yours, own
    notebook.pass_checks("1.4 causal_mask", "it is a square")
    said()
    notebook.run("class Mask:\n    __call__ = staticmethod(causal_mask)\ncausal_mask = Mask()")
    notebook.run('yours.challenge("1.4")')
    assert said() == f"Your {title} is made of what stands elsewhere; a challenge changes the lines that define it.\n"
