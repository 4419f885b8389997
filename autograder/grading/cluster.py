"""Grade on many machines at once, by a Dask cluster whose workers each keep a warm process.

docs/clusters.md says how to start one, and why only trusted people may reach it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import hashlib
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import autograder
from autograder import files
from autograder.course.config import CourseError
from autograder.grading.jobs import VERSION, BrokenOff, Job
from autograder.grading.results import GradingServerError, Result
from autograder.grading.worker.client import GradingServer

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 3  # jobs on their way for each thread of the cluster: one runs, the others wait beside it
CONNECTING = 15.0  # seconds for the scheduler to answer
WITHOUT_WORKERS = 60.0  # seconds after which a cluster that has none is given up
PACKAGES = ("torch", "numpy", "nbformat", "ipython")  # a result may depend on their versions
ENDED = "The process that grades ended twice while it graded this; try again."
KILLED = "The workers that graded it died again and again; see their logs, and try again."
MEND = (
    "Give every worker the versions and the source of this machine and a sandbox that holds, and start it again; "
    "docs/clusters.md says how."
)

Versions = dict[str, str]


class Unfit(Exception):
    """This worker must not grade; the text says why."""


def on_cluster(jobs: Iterable[Job], address: str, *, unprotected: bool = False) -> Iterator[tuple[Job, Result]]:
    """Grade jobs on the cluster and yield each with its result as soon as it is there, in any order.

    Args:
        jobs: read as they are needed.
        address: the scheduler's, "tcp://host:8786"; "tls://…" takes its certificates from Dask's configuration.
        unprotected: grade even where the sandbox does not hold.

    Raises:
        CourseError: there is no cluster to be reached, or one of its workers must not grade. What has been yielded by
            then holds.
    """
    try:
        from distributed import Client, Security
    except ModuleNotFoundError as error:
        raise CourseError(
            f"Grading on a cluster needs {error.name}, which is not installed. "
            'Install it from the course folder: pip install ".[cluster]"'
        ) from None
    security = Security()
    try:
        with ThreadPoolExecutor(1) as pool:  # a thread of its own, since a notebook's has a loop already
            pool.submit(asyncio.run, _knock(address, security.get_connection_args("client"))).result()
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"The scheduler at {address} cannot be reached ({error}). "
            "Start one with `dask scheduler`, and give the address that it prints."
        ) from None
    with Client(address, security=security, set_as_default=False) as client:
        cluster = _Cluster(client, address, unprotected)
        cluster.inspect()
        killed = []
        for job, result in cluster.graded(jobs):
            if result:
                yield job, result
            else:
                killed.append(job)
        for job, result in cluster.graded(killed, 1):  # alone, so that none pays for what another does to a worker
            yield job, result or Result(job.student, job.lesson, reason=KILLED, retryable=True, notes=job.notes)


async def _knock(address: str, arguments: dict[str, Any]) -> None:
    """Reach the scheduler once: a Dask client that cannot leaves a thread behind."""
    from distributed.comm.core import connect

    comm = await connect(address, timeout=CONNECTING, **arguments)
    await comm.close()


def versions() -> Versions:
    """Return what a result depends on beside its job; it has to be the same everywhere."""
    folder, sources = Path(autograder.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        sources.update(f"{path.relative_to(folder).as_posix()} {files.digest_of([path])}\n".encode())
    installed = {
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "autograder": f"{VERSION} (sources {sources.hexdigest()[:8]})",
    }
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name).partition("+")[0]  # 2.13.0+cpu computes as 2.13.0 does
        except metadata.PackageNotFoundError:
            installed[name] = "missing"
    return installed


class _Cluster:
    """The cluster, seen from the machine that hands out the jobs."""

    def __init__(self, client: Client, address: str, unprotected: bool) -> None:
        self._client, self._address = client, address
        self._versions, self._unprotected = versions(), unprotected

    def inspect(self) -> None:
        """Let every worker get ready, and refuse all of them when one must not grade."""
        with self._reached():
            self._threads()
            answers = self._client.run(_inspected, self._versions, self._unprotected, on_error="return")
        refusals = defaultdict(list)
        for worker, answer in answers.items():
            if answer and not isinstance(answer, OSError):  # one that was lost meanwhile is no reason to refuse all
                why = answer if isinstance(answer, str) else f"It answers with {type(answer).__name__}: {answer}"
                refusals[why].append(worker)
        if refusals:
            lines = []
            for why, workers in refusals.items():
                more = f" and {len(workers) - 3} more" if len(workers) > 3 else ""
                lines.append(f"{', '.join(workers[:3])}{more}: {why}")
            raise CourseError("\n".join(["Not every worker may grade, so nothing was graded.", *lines, MEND]))

    def graded(self, jobs: Iterable[Job], ahead: int | None = None) -> Iterator[tuple[Job, Result | None]]:
        """Yield each job with its result, None where its workers died; so many at a time, as a rule AHEAD a thread."""
        coming = iter(jobs)
        waiting: dict[Future[Result], Job] = {}
        while True:
            with self._reached():
                room = (ahead or AHEAD * self._threads()) - len(waiting)
            for job in islice(coming, max(0, room)):
                with self._reached():
                    waiting[self._submit(job)] = job
            if not waiting:
                return
            with self._reached():
                done = self._done(waiting)
            for future in done:
                with self._reached():
                    try:
                        result = self._result(future)
                    except TimeoutError:  # lost with its worker after all: it is graded again
                        continue
                yield waiting.pop(future), result

    def _threads(self) -> int:
        """Return how many threads the workers have, once there is a worker."""
        self._client.wait_for_workers(1, timeout=WITHOUT_WORKERS)
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def _submit(self, job: Job) -> Future[Result]:
        import dask

        # The lesson's source goes along each time: scattered data would be gone with the worker that holds it.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
            future: Future[Result] = self._client.submit(_graded, job, self._versions, self._unprotected, pure=False)
        return future

    def _done(self, waiting: Iterable[Future[Result]]) -> Iterable[Future[Result]]:
        from distributed import wait

        with self._client.as_current(), contextlib.suppress(TimeoutError):
            done: set[Future[Result]] = wait(list(waiting), timeout=WITHOUT_WORKERS, return_when="FIRST_COMPLETED").done
            return done
        return ()

    def _result(self, future: Future[Result]) -> Result | None:
        from distributed import KilledWorker

        try:
            result: Result = future.result(timeout=WITHOUT_WORKERS)
            return result
        except KilledWorker:
            return None
        except Unfit as error:
            raise BrokenOff(f"A worker may not go on grading.\n{error}\n{MEND}") from None

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Say what it means when the cluster does not answer."""
        from distributed.client import ClosedClientError
        from distributed.exceptions import WorkerStartTimeoutError

        try:
            yield
        except WorkerStartTimeoutError:
            raise BrokenOff(
                f"The scheduler at {self._address} has no workers. Start some with `dask worker {self._address}`."
            ) from None
        except (CancelledError, ClosedClientError, OSError):
            raise BrokenOff(f"The scheduler at {self._address} was lost. Start the cluster again.") from None


_lock = threading.Lock()
# On a worker: what its server was started from, and the server, by `unprotected`.
_warm: dict[bool, tuple[Versions, GradingServer]] = {}


async def _inspected(required: Versions, unprotected: bool) -> str:
    """On a worker: get ready, and return why it must not grade, "" where it may."""
    try:
        await asyncio.to_thread(_ready, required, unprotected)  # in the worker's own thread it would seem dead
    except Unfit as error:
        return str(error)
    return ""


def _graded(job: Job, required: Versions, unprotected: bool) -> Result:
    """On a worker: grade a job."""
    from distributed import get_worker

    try:
        for _ in range(2):
            warm = _ready(required, unprotected)
            try:
                return job.run(warm)
            except GradingServerError:
                with _lock:
                    if warm in _warm.get(unprotected, ()):  # no other thread has noticed that it has ended
                        del _warm[unprotected]
    except (Unfit, OSError) as error:
        raise Unfit(f"{get_worker().address}: {error}") from None
    return Result(job.student, job.lesson, reason=ENDED, retryable=True, notes=job.notes)


def _ready(required: Versions, unprotected: bool) -> GradingServer:
    """On a worker: return its one warm process, started when first needed; raise Unfit where it must not grade."""
    with _lock:
        here, warm = _warm.get(unprotected) or (versions(), None)
        others = [f"{name} {here[name]}, not {required[name]}" for name in required if here[name] != required[name]]
        if others:
            raise Unfit(f"it has {'; '.join(others)}.")
        if warm is None:
            warm = GradingServer(unprotected=unprotected)
            try:
                warm.__enter__()
            except (GradingServerError, OSError) as error:
                raise Unfit(f"grading cannot start there.\n{error}") from None
            _warm[unprotected] = here, warm
            atexit.register(warm.__exit__)
        return warm
