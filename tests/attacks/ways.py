"""The ways in which instructors have submissions graded, and what comes of a class of attackers in each."""

import atexit
import contextlib
import functools
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from unittest import mock

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.api import Grade, Gradebook
from support.classroom import ROOT
from support.dask_cluster import QUIET, address_of, listening
from support.jupyter import started
from support.ordinary_user import command_of, give
from support.processes import with_variable

from attacks.attack import MARKER, Attack
from autograder.demo.sample_class import ONE_THREAD, make_course

AT_A_TIME = 4  # most attacks wait or die
WHOLE = 20  # points of each lesson that is attacked
PATIENCE = 60  # seconds that one submission has, at most
STARTING = 300  # seconds for all that is no submission, on a busy machine
LESSON = "01_attention"  # of the honest
WITNESS = "TEST_ATTACKED"  # the name of a variable that all processes of one class have
# What a class has in place of minutes, whoever grades it.
LIMITS = """
from autograder.grading.results import Limits

Limits.__init__.__defaults__ = 8, 40, 2**30, 2**24, Limits.output_bytes
c.Run.timeout, c.Run.memory_bytes = 8, 2**30
"""


class Way(StrEnum):
    """How submissions are graded."""

    GRADE = "autograder grade"
    NBGRADER = "nbgrader autograde"
    FORMGRADER = "formgrader's button"
    CLUSTER = "a Dask worker"


class Harm(StrEnum):
    """What an attack may do."""

    GAINS = "gains"  # points that an honest grader would not give
    LEAKS = "leaks"  # something secret is in what students see
    STOPS = "stops"  # there is no result of it, or of honest ones
    SHOWS = "shows"  # something that can act in a browser


@dataclass
class Attacked:
    """What came of a class of attackers."""

    harms: dict[str, list[Harm]]  # what each attack has done, by what it is; as a rule nothing
    honest: list[float]  # the points of honest submissions among the attacks
    changed: list[str]  # files of the course that are not as they were before
    left: list[int]  # processes that have not ended
    said: str  # the last lines that the commands have said

    @property
    def is_whole(self) -> bool:
        """Whether all is as if there had been no attack, but for the results of them."""
        return set(self.honest) == {WHOLE} and not self.changed and not self.left


def attacked(way: Way, user: str, attacks: Sequence[Attack]) -> Attacked:
    """Have a class of attackers, with honest students among them, graded in one way by a user."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        graded = _Class(folder, attacks)
        give(folder, user)
        environment = os.environ | ONE_THREAD | {"AUTOGRADER_SECRET": MARKER[0], WITNESS: name, "HOME": f"{name}/home"}
        environment |= {"TMPDIR": f"{name}/tmp", "PYTHONPATH": str(ROOT / "tests")}
        with (folder / "said").open("w") as output:
            WAYS[way](graded, _Runner(user, environment, graded.course, output))
        end = time.monotonic() + PATIENCE
        while (left := with_variable(WITNESS, name)) and time.monotonic() < end:
            time.sleep(0.1)
        said = (folder / "said").read_text(encoding="utf-8", errors="replace")
        return graded.result(left, "\n".join(said.splitlines()[-30:]))


class _Class:
    """A course with a secret, attackers and honest students, each attack of one student."""

    def __init__(self, folder: Path, attacks: Sequence[Attack]) -> None:
        self.course, self.secret = folder / "course", folder / "secret.txt"
        for name in ("home", "tmp"):
            (folder / name).mkdir()
        self.lessons = sorted({LESSON, *(attack.lesson for attack in attacks)})
        shutil.copytree(_released(tuple(self.lessons)), self.course)
        with (self.course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write(LIMITS)
        self.secret.write_text(MARKER[0])
        self.students = {attack.what: f"student-{place:03}" for place, attack in enumerate(attacks)}
        self.attacks = attacks
        right = (ROOT / "solutions" / LESSON / f"{LESSON}.ipynb").read_bytes()
        self.honest = [*(f"student-{place:03}-honest" for place in range(0, len(attacks), 20)), "z-honest"]
        self.other = self._hand_in("other", LESSON, right)
        for student in self.honest:
            self._hand_in(student, LESSON, right)
        for attack in attacks:
            self._hand_in(self.students[attack.what], attack.lesson, self._submission(attack))
        self.before = self._files()

    def result(self, left: list[int], said: str) -> Attacked:
        """What has come of it."""
        points = self._points()
        harms = {
            attack.what: list(self._harms(attack, points.get((self.students[attack.what], attack.lesson))))
            for attack in self.attacks
        }
        honest = [sum(points.get((student, LESSON), {}).values()) for student in self.honest]
        said += "".join(self._lost(each) for each, whole in zip(self.honest, honest, strict=True) if whole < WHOLE)
        after = self._files()
        changed = [name for name in {*self.before, *after} if self.before.get(name) != after.get(name)]
        return Attacked(harms, honest, sorted(changed), left, said)

    def _harms(self, attack: Attack, points: dict[str, float] | None) -> Iterator[Harm]:
        path = self.course / "autograded" / self.students[attack.what] / attack.lesson / f"{attack.lesson}.ipynb"
        if not points or not path.is_file():
            yield Harm.STOPS
            return
        if any(earned > attack.earned.get(check, 0) for check, earned in points.items()):
            yield Harm.GAINS
        notebook = nbformat.read(path, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        if any(secret in str(cell.outputs) for cell in cells for secret in attack.secret):
            yield Harm.LEAKS
        if not (path.stat().st_size < 20 * 10**6 and all(_is_harmless(cell) for cell in cells)):
            yield Harm.SHOWS

    def _points(self) -> dict[tuple[str, str], dict[str, float]]:
        """By student and lesson the points of each check, where all of them are graded."""
        graded: dict[tuple[str, str], list[tuple[str, float | None, float]]] = defaultdict(list)
        with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}") as book:
            for grade in book.db.query(Grade):
                whose = grade.student.id, grade.assignment.name
                graded[whose].append((grade.name, grade.auto_score, grade.max_score))
        return {
            whose: {check: score for check, score, _ in grades}
            for whose, grades in graded.items()
            if sum(most for _, _, most in grades) == WHOLE and all(score is not None for _, score, _ in grades)
        }

    def _lost(self, student: str) -> str:
        """What the checks say to an honest student who has not all points."""
        path = self.course / "autograded" / student / LESSON / f"{LESSON}.ipynb"
        cells = nbformat.read(path, as_version=4).cells if path.is_file() else []
        errors = [output for cell in cells for output in cell.get("outputs", ()) if output.output_type == "error"]
        return "".join(f"\n{student}: {error.evalue}" for error in errors)

    def _hand_in(self, student: str, lesson: str, notebook: bytes) -> Path:
        path = self.course / "submitted" / student / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook)
        return path

    def _files(self) -> dict[str, bytes]:
        """Every file of the course that grading must leave as it is."""
        steps = "solutions", "notebooks", "submitted"
        files = [path for step in steps for path in (self.course / step).rglob("*") if path.is_file()]
        known = (*steps, "autograded", "gradebook.db", ".nbgrader.log", "__pycache__")
        files += [path for path in self.course.iterdir() if not path.name.startswith(known)]
        return {str(path.relative_to(self.course)): path.read_bytes() if path.is_file() else b"" for path in files}

    def _submission(self, attack: Attack) -> bytes:
        path = self.course / "notebooks" / attack.lesson / f"{attack.lesson}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.id in attack.answers:
                cell.source = self._with_paths(attack.answers[cell.id])
        is_answer = [cell.metadata.get("nbgrader", {}).get("solution") for cell in notebook.cells]
        first_answer = is_answer.index(True)
        notebook.cells[first_answer:first_answer] = [new_code_cell(self._with_paths(text)) for text in attack.cells]
        notebook.cells += [new_code_cell(self._with_paths(text)) for text in attack.last]
        return nbformat.writes(notebook).encode()

    def _with_paths(self, source: str) -> str:
        paths = {"{ROOT}": self.course, "{SECRET}": self.secret, "{OTHER}": self.other}
        for placeholder, path in paths.items():
            source = source.replace(placeholder, str(path))
        return source


@functools.cache
def _released(lessons: tuple[str, ...]) -> Path:
    """A course with these lessons, released, to be copied."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    make_course(ROOT, folder / "course", lessons)
    return folder / "course"


def _is_harmless(cell: NotebookNode) -> bool:
    """Whether nothing that a student puts out can act in a browser."""
    if (cell.metadata.get("nbgrader") or {}).get("grade"):
        return True  # our own, which shows what a student says as text
    if "\\u001b" in json.dumps(cell.outputs):
        return False  # a sign for terminals, which pages turn into elements
    for output in cell.outputs:
        data, metadata = output.get("data", {}), output.get("metadata", {})
        pictures = {"image/png", "image/jpeg"}
        if not ({*data} <= {"text/plain", *pictures} and {*metadata} <= pictures):
            return False
        if not all({*about} == {"alt"} for about in metadata.values()):
            return False
        if not all(re.fullmatch(r"[A-Za-z0-9+/]+={0,2}\n?", data[kind]) for kind in {*data} & pictures):
            return False
    return True


# The ways


@dataclass(frozen=True)
class _Runner:
    """Runs Python as a user, in the course."""

    user: str
    environment: dict[str, str]
    course: Path
    output: object

    def command(self, *arguments: str) -> list[str]:
        return [*command_of(self.user), sys.executable, *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        options = {"cwd": self.course, "env": self.environment, "start_new_session": True}
        return subprocess.Popen(self.command(*arguments), stdout=self.output, stderr=self.output, **options)

    def run(self, *arguments: str, seconds: float) -> None:
        process = self.start(*arguments)
        try:
            process.wait(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _seconds(graded: _Class, at_a_time: int) -> float:
    return STARTING + PATIENCE * (len(graded.attacks) + len(graded.honest)) / at_a_time


def _by_grade(graded: _Class, runner: _Runner) -> None:
    runner.run("-m", "autograder.cli", "grade", f"--jobs={AT_A_TIME}", seconds=_seconds(graded, AT_A_TIME))


def _by_nbgrader(graded: _Class, runner: _Runner) -> None:
    for lesson in graded.lessons:
        runner.run("-m", "nbgrader", "autograde", lesson, seconds=_seconds(graded, 1))


def _by_formgrader(graded: _Class, runner: _Runner) -> None:
    token = secrets.token_hex(16)
    home = Path(runner.environment["HOME"])
    command = runner.command(
        *("-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.root_dir={graded.course}", f"--IdentityProvider.token={token}"),
    )
    with mock.patch.dict(os.environ, runner.environment), started(command, graded.course, home) as server:
        for path in sorted((graded.course / "submitted").glob("*/*")):
            address = f"{server.url}/formgrader/api/submission/{path.name}/{path.parent.name}/autograde"
            request = urllib.request.Request(address, b"", {"Authorization": f"token {token}"}, method="POST")
            with urllib.request.urlopen(request, timeout=_seconds(graded, 1)) as answer:
                json.load(answer)


def _by_cluster(graded: _Class, runner: _Runner) -> None:
    found = Path(runner.environment["HOME"]) / "scheduler.json"
    scheduler = runner.start("-m", "dask", "scheduler", *listening(found), *QUIET)
    address = address_of(found)
    worker = runner.start("-m", "dask", "worker", address, "--nthreads", str(AT_A_TIME), *QUIET)
    try:
        seconds = _seconds(graded, AT_A_TIME)
        runner.run("-m", "autograder.cli", "grade", f"--scheduler={address}", seconds=seconds)
    finally:
        for process in (worker, scheduler):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


WAYS = {Way.GRADE: _by_grade, Way.NBGRADER: _by_nbgrader, Way.FORMGRADER: _by_formgrader, Way.CLUSTER: _by_cluster}
