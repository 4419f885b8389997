"""Which cases the checks over generated inputs draw, and that no answer changes them."""

import contextlib
import importlib
import io
import os
import pkgutil
from unittest import mock

import pytest
import torch
from support.classroom import AS_GRADED, LESSONS, classroom, run
from support.drawn import FEW, head

from autograder import exercises
from autograder.exercises.shared import each_smallest, sentences, sizes, some
from autograder.grading.submission.hidden_tests import HIDDEN, with_hidden_seed

# The secrets of courses that their hidden tests are drawn with: on a push always the same, weekly other ones.
SECRETS = [b"a course"] if FEW else [f"{head()} {number}".encode() for number in range(40)]
RANGES = {"batch": (1, 4), "seq_len": (2, 9)}


def test_hidden_tests_draw_a_third_of_the_cases() -> None:
    """Students see all cases, from the smallest to the largest; with another seed come some, and no input twice."""
    assert list(some(0, "abcdefg")) == list("abcdefg") and list(some(7, "abcdefg")) == list("be")
    smallest, *between, largest = sizes(0, 3, **RANGES)
    assert (smallest, largest) == ({"batch": 1, "seq_len": 2}, {"batch": 4, "seq_len": 9}) and len(between) == 5
    for seed in range(1, 40):
        for drawn in (list(sizes(seed, 0, **RANGES)), list(sizes(seed, 3, **RANGES))):
            assert 1 <= len(drawn) <= 3
        assert 2 <= len(list(each_smallest(seed, 3, **RANGES))) <= 4
    visible, hidden = list(sentences(0)), list(sentences(5))
    assert 3 <= len(hidden) < len(visible) / 2
    assert not any(torch.equal(one, other) for one, _ in visible for other, _ in hidden if one.numel() > 3)


@pytest.mark.parametrize(
    "module", [each.name for each in pkgutil.walk_packages(exercises.__path__, "autograder.exercises.")]
)
def test_no_tensor_is_kept_that_an_answer_could_write_into(module: str) -> None:
    """What one attempt does to its inputs is gone at the next: they are made anew for each."""
    pending = [value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("__")]
    while pending:
        value = pending.pop()
        assert not isinstance(value, torch.Tensor)
        if isinstance(value, list | tuple | dict):
            pending += value.values() if isinstance(value, dict) else value


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_course_draws_hidden_tests_that_fail_the_solutions(lesson: str) -> None:
    """Whatever its secret, no case comes of it that a right answer cannot pass, as a gradient that is 0 by itself."""
    room, passed = classroom(lesson), io.StringIO()
    scope = dict(room.scope)
    for name, source in room.answers.items():
        run(source, name, scope)
    with contextlib.redirect_stdout(passed), mock.patch.dict(os.environ, AS_GRADED):
        for secret in SECRETS:
            for cell in room.checks:
                for hidden in HIDDEN.findall(with_hidden_seed(cell.source, secret)):
                    run(hidden, f"{cell.id}, drawn by {secret.decode()}", dict(scope))
    assert passed.getvalue().count("✓") >= len(SECRETS) * len(room.answers) // 2
