"""What the judge asks the student's process for says nothing about the checks."""

from __future__ import annotations

import ast

import pytest
from support.classroom import LESSONS, classroom

from autograder.grading.worker.scope import Definitions


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
        definitions = Definitions(room.imports)
        definitions.scope(compile(cell.source, cell.id, "exec"), peer)
        bound = {node.name for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.FunctionDef)}
        assert peer.asked & known, cell.id
        assert not peer.asked & bound, cell.id
        assert peer.asked <= known | set(definitions.modules), cell.id
