"""`make exercise` says of an exercise all that tests would be red for."""

from dataclasses import replace

import exercise
import matrix
import mutants
import pytest

LESSON, NAME = "00_orientation", "swap_groups"


def test_answers_that_miss_their_check_or_its_words_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer has to fail the check that it is aimed at, with the words of the table."""
    aimed = next(each for each in matrix.wrong_answers(LESSON, NAME) if each.check is not None)
    strays = [aimed, replace(aimed, check="none"), replace(aimed, says="A word."), replace(aimed, check=None)]
    monkeypatch.setattr(matrix, "wrong_answers", lambda lesson, name: strays)
    missed, untold = exercise.astray(LESSON, NAME)
    assert f"should fail `check_{NAME}_none`, and fails check_{NAME}" in missed
    assert "should be told “A word.”, and is told:\n✗ " in untold


def test_pages_that_say_something_else_are_named() -> None:
    """Each by the command that makes it anew."""
    row = matrix.row(matrix.summary(LESSON, NAME))
    assert list(exercise.outdated(matrix.PAGE, [row])) == []
    assert list(exercise.outdated(matrix.PAGE, [row, "| 0 |"])) == ["`make mistakes` renews tests/matrix.md."]
    assert list(exercise.outdated(mutants.PAGE, [row])) == ["`make mutants` renews tests/mutants.md."]
