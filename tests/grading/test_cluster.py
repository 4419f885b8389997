"""A Dask cluster of real processes grades as one machine does, whatever becomes of its workers."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client
from support.classroom import ROOT
from support.dask_cluster import Dask, running_cluster
from support.jupyter import free_port
from support.processes import living, wait_until

from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import answer, class_work, solved, submission
from autograder.grading import cluster
from autograder.grading.cluster import on_cluster
from autograder.grading.jobs import Job, in_parallel, prepared, read_job
from autograder.grading.results import GradingServerError, Limits, Result
from autograder.grading.worker.client import GradingServer

LESSON = "01_attention"
THREADS = 2
WRONG = {"causal_mask": ["return torch.ones(size, size, dtype=torch.bool)"], "padding_mask": ["return 1 / 0"]}

Graded = dict[str, tuple]


class Deadly(Job):
    """A job that ends the worker which grades it."""

    def run(self, warm: GradingServer) -> Result:
        """Do it."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """One cluster for all tests that do not end it."""
    with running_cluster(tmp_path_factory.mktemp("dask"), THREADS) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[Job]:
    """What eight students handed in for lesson 1."""
    path = ROOT / "solutions" / LESSON / f"{LESSON}.ipynb"
    lesson, released = Lesson(LESSON, read_notebook(path)), read_notebook(ROOT / "notebooks" / LESSON / path.name)
    right = solved(lesson.exercises)
    slips = {e.name: answer(e.answer.source, WRONG[e.name]) for e in lesson.exercises if e.name in WRONG}
    texts = {name: json.dumps(notebook) for name, notebook in class_work(lesson, released).items()}
    texts |= {"wrong": json.dumps(submission(released, right | slips)), "broken": texts["perfect"][:5000]}
    folder, source = tmp_path_factory.mktemp("submitted"), prepared(path)
    for student, text in texts.items():
        (folder / student).mkdir()
        (folder / student / ("Copy of 01_attention.ipynb" if student == "wrong" else path.name)).write_text(text)
    return [read_job(folder / name, name, LESSON, source, Limits()) for name in (*texts, "absent")]


@pytest.fixture(scope="module")
def expected(jobs: list[Job], warm: GradingServer) -> Graded:
    """What they come to on one machine."""
    return graded(in_parallel(jobs, lambda job: job.run(warm), THREADS))


def graded(results: Iterator[tuple[Job, Result]]) -> Graded:
    """By student, whatever of a result depends on the submission alone."""
    found = {}
    for submission_job, result in results:
        assert (submission_job.student, submission_job.lesson) == (result.student, result.lesson)
        assert submission_job.student not in found
        checks = [(each.check, each.points, each.status, each.message) for each in result.checks]
        found[submission_job.student] = checks, result.notes, result.reason, result.unenforced
    return found


def absent(count: int) -> list[Job]:
    """Jobs that are done at once."""
    return [Job(f"student {number}", LESSON, b"", b"", Limits(), reason="Nothing.") for number in range(count)]


def test_cluster_grades_as_one_machine_does(dask: Dask, jobs: list[Job], expected: Graded) -> None:
    """Scores, messages, notes and reasons are those of a run without a cluster."""
    with dask.client():
        assert graded(on_cluster(jobs, dask.address)) == expected
    scores = {
        student: sum(points for _, points, status, _ in checks if status == "passed")
        for student, (checks, *_) in expected.items()
    }
    assert len(expected) == 8
    assert scores["perfect"] == scores["messy"] == 20 > scores["wrong"] > scores["untouched"] == 0
    assert [name for name, found in sorted(expected.items()) if found[2]] == ["absent", "broken"]


def test_jobs_are_read_as_they_are_needed(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never are more jobs on their way than wanted, and a run that is given up reads no more."""
    read = []

    def reading() -> Iterator[Job]:
        for each in absent(60):
            read.append(each)
            yield each

    for ahead in (cluster.AHEAD, 1):
        monkeypatch.setattr(cluster, "AHEAD", ahead)
        read.clear()
        for done, (_, result) in enumerate(on_cluster(reading(), dask.address)):
            assert result.reason == "Nothing."
            assert len(read) - done <= ahead * THREADS
        assert len(read) == done + 1 == 60
    read.clear()
    run = on_cluster(reading(), dask.address)
    next(run)
    run.close()
    assert len(read) == THREADS


def test_other_versions_are_refused(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where workers have another version of anything that matters, no job is read, and it says who has what."""
    for name, here in (real := cluster.versions()).items():
        assert here != "missing"
        monkeypatch.setattr(cluster, "versions", lambda name=name: real | {name: "0.1"})
        with pytest.raises(CourseError, match="nothing was graded") as raised:
            next(on_cluster((pytest.fail("A job was read.") for _ in range(1)), dask.address))
        assert f"{name} {here}, not 0.1." in str(raised.value)
        assert str(raised.value).count("tcp://127.0.0.1:") == THREADS
        monkeypatch.undo()


def test_versions_follow_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another line anywhere in the package is another version."""
    monkeypatch.setattr(cluster.autograder, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "check.py").write_text("a = 1\n")
    before = cluster.versions()
    (tmp_path / "check.py").write_text("a = 2\n")
    assert {name for name, here in cluster.versions().items() if here != before[name]} == {"autograder"}


def without_sandbox(dask_worker: object) -> None:
    """On a worker: let its sandbox not hold from now on."""

    def fail(self: GradingServer) -> None:
        raise GradingServerError("✗ network  got through: TCP")

    cluster._kept = dict(cluster._warm), GradingServer.__enter__
    cluster._warm.clear()
    GradingServer.__enter__ = fail


def with_sandbox(dask_worker: object) -> None:
    """On a worker: let it hold again."""
    before, GradingServer.__enter__ = cluster._kept
    cluster._warm.update(before)


@contextlib.contextmanager
def open_worker(client: Client, address: str) -> Iterator[None]:
    """A time in which the sandbox of one worker does not hold."""
    client.run(without_sandbox, workers=[address])
    try:
        yield
    finally:
        client.run(with_sandbox, workers=[address])


def test_worker_without_sandbox_must_not_grade(dask: Dask) -> None:
    """It is named with what got through, before the run or in its midst, and the run ends."""
    with dask.client() as client:
        open_one, other = client.nthreads()
        with open_worker(client, open_one), pytest.raises(CourseError, match="nothing was graded") as raised:
            list(on_cluster(absent(3), dask.address))
        assert f"{open_one}: " in str(raised.value)
        assert "✗ network  got through: TCP" in str(raised.value)
        assert other not in str(raised.value)
        run = on_cluster(absent(60), dask.address)
        next(run)
        with open_worker(client, open_one), pytest.raises(CourseError, match="may not go on grading") as raised:
            list(run)
        assert f"{open_one}: " in str(raised.value)


def test_lost_workers_cost_only_time(dask: Dask, jobs: list[Job], expected: Graded) -> None:
    """A worker that is killed in its work, and another whose warm process is, change no result."""
    jobs = [each for each in jobs if each.student != "messy"]  # which takes seconds
    list(on_cluster(absent(1), dask.address))  # by now each worker has its warm process
    with dask.client() as client:
        killed, other = map(psutil.Process, client.run(os.getpid).values())
        warm, orphans = other.children(), killed.children()
        assert warm and orphans

        def run() -> Iterator[tuple[Job, Result]]:
            for number, found in enumerate(on_cluster(jobs, dask.address)):
                if number == 0:
                    for process in (killed, *warm):
                        process.kill()
                yield found

        assert graded(run()) == {each.student: expected[each.student] for each in jobs}
    wait_until(lambda: not living([killed, *warm, *orphans]), seconds=10)


@pytest.fixture
def without_warm_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new workers be ready at once, for jobs that need no warm process."""
    monkeypatch.setattr(cluster, "_inspected", lambda wanted, unprotected: "")
    monkeypatch.setattr(cluster, "_graded", lambda job, wanted, unprotected: job.run(None))


def allow_failures(dask_scheduler: Any, failures: int) -> int:
    """On the scheduler: how often a job may end its worker from now on; return what it was before."""
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
    return before


@pytest.mark.usefixtures("without_warm_processes")
def test_job_that_kills_workers_is_a_result(dask: Dask) -> None:
    """A job of which the workers die, even when it is tried alone, has a reason; the others have their results."""
    deadly = Deadly("deadly", LESSON, b"", b"", Limits(), notes=("A note.",))
    with dask.client() as client:
        allowed = client.run_on_scheduler(allow_failures, failures=0)
        try:
            found = graded(on_cluster([deadly, *absent(5)], dask.address))
        finally:
            client.run_on_scheduler(allow_failures, failures=allowed)
    assert found.pop("deadly") == ([], ("A note.",), cluster.KILLED, ())
    assert [reason for _, _, reason, _ in found.values()] == ["Nothing."] * 5


@pytest.mark.usefixtures("without_warm_processes")
def test_workers_and_scheduler_that_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster without workers is given up after a while; a scheduler that goes ends the run with what to do."""
    monkeypatch.setattr(cluster, "WITHOUT_WORKERS", 0.5)
    with running_cluster(tmp_path, THREADS) as dask:
        with dask.client():
            run = on_cluster(absent(1000), dask.address)
            next(run)
        dask.worker.kill()
        with pytest.raises(CourseError, match="has no workers"):
            list(on_cluster(absent(1), dask.address))
        dask.scheduler.kill()
        begin = time.monotonic()
        with pytest.raises(CourseError, match=r"was lost. Start the cluster again"):
            list(run)
        assert time.monotonic() - begin < 5


@pytest.mark.parametrize("scheme", ["tcp", "tls", "nonsense"])
def test_scheduler_that_cannot_be_reached(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and what to do; no thread stays behind to try again."""
    monkeypatch.setattr(cluster, "CONNECTING", 0.5)
    address = f"{scheme}://127.0.0.1:{free_port()}"
    with pytest.raises(CourseError, match="cannot be reached") as raised:
        list(on_cluster(absent(1), address))
    assert address in str(raised.value)
    assert "dask scheduler" in str(raised.value)


def test_dask_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to install it."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CourseError, match=r'pip install "\.\[cluster\]"'):
        list(on_cluster(absent(1), "tcp://127.0.0.1:8786"))
