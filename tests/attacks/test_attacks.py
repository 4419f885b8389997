"""Hostile submissions: none gains a point, reads a secret, harms another submission or outlives its limits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from attacks.attacks import ATTACKS, MARKER, Attack
from nbformat.v4 import new_code_cell
from support.classroom import ROOT

from autograder.grading.jobs import Job, prepared
from autograder.grading.results import Limits, Result
from autograder.grading.worker.client import GradingServer

LIMITS = Limits(cell_seconds=4, submission_seconds=40, memory_bytes=2**30, file_bytes=2**24)


class Arena:
    """A course with a secret, another student's work, and all attacks under way on two workers.

    Attributes:
        before: the files of the course and their content, before the first attack.
        results: the result of each attack, as it comes.
        honest: the solved lesson, graded in the midst of the attacks and behind them.
    """

    def __init__(self, folder: Path, warm: GradingServer, pool: ThreadPoolExecutor) -> None:
        self.course = folder / "course"
        shutil.copytree(ROOT / "solutions", self.course / "solutions")
        shutil.copytree(ROOT / "notebooks", self.course / "notebooks")
        self.other = self.course / "submitted" / "other" / "01_attention" / "01_attention.ipynb"
        self.other.parent.mkdir(parents=True)
        shutil.copy(self.course / "solutions" / "01_attention" / "01_attention.ipynb", self.other)
        self.secret = folder / "secret.txt"
        self.secret.write_text(MARKER[0])
        (self.course / "gradebook.db").write_bytes(b"not to be touched")
        self.before = self.files()
        self.warm = warm
        self.results: dict[str, Future[Result]] = {}
        self.honest: list[Future[Result]] = []
        for place, attack in enumerate(ATTACKS):
            self.results[attack.what] = pool.submit(self._grade, attack.lesson, self._handed_in(attack))
            if place % 20 == 0:
                self.honest.append(pool.submit(self._grade, "01_attention", self.other.read_bytes()))
        self.honest.append(pool.submit(self._grade, "01_attention", self.other.read_bytes()))

    def files(self) -> dict[str, bytes]:
        """Every file of the course."""
        return {str(path): path.read_bytes() for path in sorted(self.course.rglob("*")) if path.is_file()}

    def _handed_in(self, attack: Attack) -> bytes:
        path = self.course / "notebooks" / attack.lesson / f"{attack.lesson}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        cells = []
        for cell in notebook.cells:
            if cell.id in attack.answers:
                cell.source = self._filled(attack.answers[cell.id])
            is_answer = bool(cell.metadata.get("nbgrader", {}).get("solution"))
            if is_answer and not any(each.metadata.get("nbgrader", {}).get("solution") for each in cells):
                cells += [new_code_cell(self._filled(source)) for source in attack.cells]
            cells.append(cell)
        notebook.cells = cells + [new_code_cell(self._filled(source)) for source in attack.last]
        return nbformat.writes(notebook).encode()

    def _filled(self, source: str) -> str:
        paths = {"{ROOT}": self.course, "{SECRET}": self.secret, "{OTHER}": self.other}
        for mark, path in paths.items():
            source = source.replace(mark, str(path))
        return source

    def _grade(self, lesson: str, submitted: bytes) -> Result:
        source = prepared(self.course / "solutions" / lesson / f"{lesson}.ipynb")
        return Job("somebody", lesson, source, submitted, LIMITS).run(self.warm)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with pytest.MonkeyPatch.context() as patch, GradingServer() as warm, ThreadPoolExecutor(2) as pool:
        patch.setenv("AUTOGRADER_SECRET", MARKER[0])
        yield Arena(tmp_path_factory.mktemp("arena"), warm, pool)


def test_the_table_has_every_kind_of_attack_and_no_two_of_one_name():
    assert len({attack.what for attack in ATTACKS}) == len(ATTACKS) >= 150
    assert {attack.kind for attack in ATTACKS} == {"bomb", "cheat", "escape", "forge", "hang", "spy"}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.what)
def test_it_gains_nothing_and_learns_nothing(arena: Arena, attack: Attack):
    result = arena.results[attack.what].result()
    assert not result.reason
    assert sum(each.points for each in result.checks) == 20
    gained = {each.check: each.earned for each in result.checks if each.earned > attack.earned.get(each.check, 0)}
    assert not gained
    told = result.notebook + "".join(each.message for each in result.checks)
    shown = told_by_outputs(result) + "".join(each.message for each in result.checks)
    assert told
    assert not [secret for secret in attack.secret if secret in shown]
    assert result.seconds < LIMITS.submission_seconds + 20


def test_honest_submissions_are_graded_as_if_nothing_else_was_there(arena: Arena):
    for each in arena.honest:
        assert each.result().score == 20


def test_nothing_is_left_and_the_course_is_as_it_was(arena: Arena):
    for each in [*arena.results.values(), *arena.honest]:
        each.result()
    assert arena.files() == arena.before
    assert not list(arena.warm.folder.glob("submission-*"))
    me = os.getpid()
    assert [pid for pid in children(me) if "grading.worker.server" not in command(pid)] == []


def told_by_outputs(result: Result) -> str:
    """All that the cells of a graded notebook have put out."""
    notebook = nbformat.reads(result.notebook, as_version=4)
    return "".join(str(cell.outputs) for cell in notebook.cells if cell.cell_type == "code")


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def command(pid: int) -> str:
    """What a process was started as."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
