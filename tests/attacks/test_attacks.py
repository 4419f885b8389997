"""Hostile submissions: none gains a point, reads a secret, harms another submission or outlives its limits."""

from __future__ import annotations

import json
import pkgutil
import re
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from support.classroom import ROOT
from support.processes import descendants, wait_until

from attacks import ATTACKS
from attacks.attack import MARKER, Attack
from autograder.grading.jobs import Job, prepared
from autograder.grading.results import Limits, Result
from autograder.grading.worker.client import GradingServer

LIMITS = Limits(cell_seconds=4, submission_seconds=40, memory_bytes=2**30, file_bytes=2**24)
AT_A_TIME = 4  # most attacks wait or die
WHOLE = 20  # points of each lesson that is attacked


class Arena:
    """A course with a secret, another student's work, and attacks under way, several at a time.

    Attributes:
        before: the files of the course and their content, before the first attack.
        processes: what this process had started before the first attack.
        attacked: the result of each attack, as it comes.
        honest: the solved lesson, graded in the midst of the attacks and behind them.
    """

    def __init__(self, folder: Path, attacks: Sequence[Attack], warm: GradingServer, pool: ThreadPoolExecutor) -> None:
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
        self.processes = descendants()
        self.attacked: dict[str, Future[Result]] = {}
        self.honest: list[Future[Result]] = []
        right = self.other.read_bytes()
        for place, attack in enumerate(attacks):
            self.attacked[attack.what] = pool.submit(self._grade, attack.lesson, self._submission(attack), LIMITS)
            if place % 20 == 0:
                self.honest.append(pool.submit(self._grade, "01_attention", right, Limits()))
        self.honest.append(pool.submit(self._grade, "01_attention", right, Limits()))

    def files(self) -> dict[str, bytes]:
        """Every file of the course."""
        return {str(path): path.read_bytes() for path in sorted(self.course.rglob("*")) if path.is_file()}

    def _submission(self, attack: Attack) -> bytes:
        path = self.course / "notebooks" / attack.lesson / f"{attack.lesson}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.id in attack.answers:
                cell.source = self._with_paths(attack.answers[cell.id])
        first_answer = next(place for place, cell in enumerate(notebook.cells) if _is_answer(cell))
        notebook.cells[first_answer:first_answer] = [new_code_cell(self._with_paths(text)) for text in attack.cells]
        notebook.cells += [new_code_cell(self._with_paths(text)) for text in attack.last]
        return nbformat.writes(notebook).encode()

    def _with_paths(self, source: str) -> str:
        paths = {"{ROOT}": self.course, "{SECRET}": self.secret, "{OTHER}": self.other}
        for placeholder, path in paths.items():
            source = source.replace(placeholder, str(path))
        return source

    def _grade(self, lesson: str, submitted: bytes, limits: Limits) -> Result:
        source = prepared(self.course / "solutions" / lesson / f"{lesson}.ipynb")
        return Job("somebody", lesson, source, submitted, limits).run(self.warm)


def _require_harmless(result: Result) -> None:
    """Nothing that students put out can act in a browser, and there is not too much of it."""
    for cell in json.loads(result.notebook)["cells"]:
        is_check = (cell["metadata"].get("nbgrader") or {}).get("grade")
        for output in [] if is_check else cell.get("outputs", []):
            assert set(output.get("data", {})) <= {"text/plain", "image/png", "image/jpeg"}
            metadata = output.get("metadata", {})
            assert set(metadata) <= {"image/png", "image/jpeg"} and all(
                set(about) == {"alt"} for about in metadata.values()
            )
            for kind in set(output.get("data", {})) - {"text/plain"}:
                assert re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", output["data"][kind])
    assert len(result.notebook) < 20 * 10**6


def _is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The attacks of the tests that were chosen, all of them begun; their warm process is nobody else's."""
    chosen = {item.callspec.params.get("attack") for item in request.session.items if hasattr(item, "callspec")}
    attacks = [attack for attack in ATTACKS if attack.what in chosen]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_SECRET", MARKER[0])
        with GradingServer() as warm, ThreadPoolExecutor(AT_A_TIME) as pool:
            yield Arena(tmp_path_factory.mktemp("arena"), attacks, warm, pool)


def test_no_attack_is_there_twice() -> None:
    """The tables are long, and no two attacks have one name."""
    assert len({attack.what for attack in ATTACKS}) == len(ATTACKS) >= 250


@pytest.mark.parametrize("target", sorted({target for attack in ATTACKS for target in attack.targets}))
def test_what_an_attack_reaches_for_is_there(target: str) -> None:
    """A name that was changed in the package would turn the attack into one that proves nothing."""
    pkgutil.resolve_name(target)


@pytest.mark.parametrize("attack", [attack.what for attack in ATTACKS])
def test_it_gains_nothing_and_learns_nothing(arena: Arena, attack: str) -> None:
    """No check gives more than it is worth, no secret is in what students see, and it ends in time."""
    result = arena.attacked[attack].result()
    (row,) = [row for row in ATTACKS if row.what == attack]
    assert not result.reason
    assert sum(check.points for check in result.checks) == WHOLE
    gained = {check.check: check.earned for check in result.checks if check.earned > row.earned.get(check.check, 0)}
    assert not gained
    assert result.notebook
    seen = _outputs(result) + "".join(check.message for check in result.checks)
    assert not [secret for secret in row.secret if secret in seen]
    assert result.seconds < LIMITS.submission_seconds + 20
    _require_harmless(result)


def test_honest_submissions_are_graded_as_if_nothing_else_was_there(arena: Arena) -> None:
    """Those graded in the midst of the attacks, and the last, have all their points."""
    assert [result.result().score for result in arena.honest] == [WHOLE] * len(arena.honest)


def test_nothing_is_left_and_the_course_is_as_it_was(arena: Arena) -> None:
    """No file of the course has changed, and no process or working folder outlives the attacks."""
    for result in [*arena.attacked.values(), *arena.honest]:
        result.result()
    assert arena.files() == arena.before
    assert not list(arena.warm.folder.glob("submission-*"))
    wait_until(lambda: descendants() <= arena.processes)


def _outputs(result: Result) -> str:
    notebook = nbformat.reads(result.notebook, as_version=4)
    return "".join(str(cell.outputs) for cell in notebook.cells if cell.cell_type == "code")
