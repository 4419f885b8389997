"""What the judge asks the student's process for says nothing about the checks."""

import ast
import json

import pytest
from support import two_processes
from support.classroom import LESSONS, classroom

from autograder.grading.results import Limits
from autograder.grading.trials import _code
from autograder.grading.worker.client import GradingServer
from autograder.grading.worker.scope import Definitions

SQUARES = "def squares(n):\n    return [i * i for i in range(1, n + 1)]"
BY_IT, BY_ITSELF = "return sum(squares(n))", "return sum(i * i for i in range(1, n + 1))"
USES = """
own = squares
del squares
try:
    sum_of_squares(2)
except NameError:
    pass
else:
    raise AssertionError("sum_of_squares does not use squares")
finally:
    squares = own
"""


@pytest.mark.parametrize(("body", "points"), [(BY_IT, [1, 1]), (BY_ITSELF, [0, 1])])
def test_a_name_that_a_check_deletes_is_gone_from_the_notebook(
    warm: GradingServer, body: str, points: list[int]
) -> None:
    """As where both are in one process, until the check binds it again; the next check finds it."""
    answers = [("squares", SQUARES), ("sum_of_squares", f"def sum_of_squares(n):\n    {body}")]
    checks = [("check_squares_used", USES), ("check_sum_of_squares", "assert sum_of_squares(3) == 14")]
    cells = [_code(name, source, solution=True) for name, source in answers]
    cells += [_code(name, source, grade=True, locked=True, points=1) for name, source in checks]
    lesson = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    result = warm.grade("ada", "sums", lesson, lesson, Limits())
    assert [outcome.earned for outcome in result.checks] == points


class Listening:
    """The student's side, which hears what is asked for and has none of it."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def request(self, _: object, *names: str) -> tuple[list[object], ...]:
        self.asked |= {*names}
        return tuple([] for _ in names)


@pytest.mark.parametrize("lesson", LESSONS)
def test_only_names_that_checks_read_are_asked_for(lesson: str) -> None:
    """The answers' own names and those of Python; none of a hidden test, of an attribute, of what a check binds."""
    room = classroom(lesson)
    known = {
        node.name
        for source in room.answers.values()
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for cell in room.checks:
        peer = Listening()
        definitions = Definitions(two_processes.compiled(lesson).imports)
        definitions.scope(compile(cell.source, cell.id, "exec"), peer)
        bound = {node.name for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.FunctionDef)}
        assert peer.asked & known, cell.id
        assert not peer.asked & bound, cell.id
        assert peer.asked <= known | set(definitions.modules), cell.id
