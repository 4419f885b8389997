"""Grades the tables' answers across the bridge: as `classroom` does, but with the answers in another process."""

import functools
import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace

from nbformat import NotebookNode
from support import classroom
from support.classroom import Classroom, Result

from autograder.grading.jobs import prepared
from autograder.grading.results import Limits, Outcome
from autograder.grading.rpc.channel import Channel
from autograder.grading.submission import restricted
from autograder.grading.submission.compiled import CompiledLesson, packed, unpacked
from autograder.grading.worker.judge import Judge
from autograder.grading.worker.student import Student
from autograder.grading.worker.student_process import StudentProcess

LIMITS = Limits(cell_seconds=60)


class _Judge(Judge):
    """Runs check cells alone, on a student's process in which the answers have run."""

    def checks(self, cells: Sequence[NotebookNode], sources: Mapping[str, str], *, beside: bool) -> list[Outcome]:
        """Their outcomes; each answer as it is written, by its name."""
        self._checks_beside, self._answers = beside, list(sources)
        for source in sources.values():
            self._definitions.add(source)
        self._open_process()
        outcomes = [self._check(cell) for cell in cells]
        self._close_process()
        return outcomes


def grade(room: Classroom, answers: dict[str, str], exercise: str, *, beside: bool = False) -> list[Outcome]:
    """The outcomes of an exercise's checks, the answers in a process of their own, the checks apart or beside them."""
    sources = room.answers | answers
    lesson = CompiledLesson({}, imports=compiled(room.lesson).imports)
    judge = _Judge(functools.partial(_start, room.scope, sources), lesson, LIMITS)
    wanted = room.checks_of(exercise)
    cells = [cell for cell in room.checks if cell.id in wanted]
    return judge.checks(cells, sources, beside=beside)


def goes_beyond(lesson: str, sources: Iterable[str]) -> str:
    """What in answers to a lesson keeps its checks from running beside them; "" for nothing."""
    own = compiled(lesson)
    given, parts = own.given_names({source for source, _ in own.names})
    answers = classroom.classroom(lesson).answers
    taken = own.taken | answers.keys()
    return restricted.goes_beyond([*sources], given, parts | answers.keys(), own.imports, own.attributes, taken)


@functools.cache
def compiled(lesson: str) -> CompiledLesson:
    """A lesson as the judge has it."""
    return unpacked(packed(prepared(classroom.ROOT / "solutions" / lesson / f"{lesson}.ipynb")))


def _start(scope: dict, sources: dict[str, str]) -> StudentProcess:
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child:
        theirs.close()
        return StudentProcess(Channel(ours), child)
    try:
        ours.close()
        scope = dict(scope)
        for name, source in sources.items():
            classroom.run(source, name, scope)
        student = Student(Channel(theirs), SimpleNamespace(user_ns=scope, page=None), LIMITS.output_bytes)
        student.serve()
    finally:
        os._exit(0)


def same(result: Result, outcome: Outcome) -> bool:
    """Both ways come to one verdict, in the same words."""
    return outcome.message == ("" if result.error is None else str(result.error))
