"""Models as learners have them: of the solutions, of other right answers, and of the course's parts between."""

import contextlib
import functools
import io

import answers
from answers import Right
from support.classroom import LESSONS, classroom, run
from torch import nn

from autograder import data, parts

OF_THE_MODEL = LESSONS[1:6]
THE_COURSES = ("Transformer",)  # what to give for a model with nothing of a learner's
SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 6, "max_len": 40}


@functools.cache
def solutions() -> dict[str, str]:
    """The answers of the first five lessons, in their order."""
    return {name: source for lesson in OF_THE_MODEL for name, source in classroom(lesson).answers.items()}


@functools.cache
def _scope() -> tuple[dict, dict]:
    """A place in which all solutions have run, and what stood in it afterwards."""
    scope: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        run(classroom(OF_THE_MODEL[0]).cells[0].source, "setup", scope)
    for name, source in solutions().items():
        run(source, name, scope)
    return scope, dict(scope)


def made_of(*mine: tuple[str, Right], given: tuple[str, ...] = ()) -> nn.Module:
    """A model of the solutions, with other right answers or the course's parts in place of some.

    One at a time: a model reads its neighbours from the place that all of them share.
    """
    scope, solved = _scope()
    scope.clear()
    scope.update(solved | {name: getattr(parts, name) for name in given})
    for lesson, right in mine:
        run(answers.source(right, classroom(lesson).answers), right.exercise, scope)
    return data.randomized(scope["Transformer"](9, 9, **SIZES), seed=3).eval()
