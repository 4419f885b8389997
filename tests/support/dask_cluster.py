"""A Dask cluster of real processes on this machine, which leaves none behind."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
from distributed import Client
from support.processes import living, wait_until
from support.sample_lesson import ROOT

QUIET = "--no-dashboard", "--dashboard-address", "127.0.0.1:0"


def listening(found: Path) -> tuple[str, ...]:
    """Options of `dask scheduler`: listen on this machine, on a port of its own choice, and write where."""
    return "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(found)


def address_of(found: Path) -> str:
    """The address of a scheduler, once it listens."""
    wait_until(lambda: found.exists() and found.read_text().endswith("\n}"))
    return json.loads(found.read_text())["address"]


class Dask:
    """A scheduler and workers with one thread each, as their commands start them, in sessions of their own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._workers = workers
        self._log = (folder / "log").open("w")
        self._environment = os.environ | {"TMPDIR": str(folder), "PYTHONPATH": str(ROOT / "tests")}
        found = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", *listening(found))
        self.address = address_of(found)
        self.worker = self._start("worker", self.address, "--nworkers", str(workers), "--nthreads", "1")

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *arguments, *QUIET]
        return subprocess.Popen(command, env=self._environment, stderr=self._log, start_new_session=True)

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        """A way to look into it, once all workers are there."""
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self._workers, timeout=30)
            yield client

    def stop(self) -> None:
        """End it; workers first, since they wait for a scheduler that is gone."""
        for process in (self.worker, self.scheduler):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._log.close()


def of_sessions(*leaders: int) -> set[psutil.Process]:
    """The living processes of these sessions."""
    members = set()
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if os.getsid(process.pid) in leaders:
                members.add(process)
    return living(members)


@contextlib.contextmanager
def running_cluster(folder: Path, workers: int) -> Iterator[Dask]:
    """A cluster that leaves no process behind."""
    cluster = Dask(folder, workers)
    try:
        yield cluster
    finally:
        cluster.stop()
    wait_until(lambda: not of_sessions(cluster.scheduler.pid, cluster.worker.pid), seconds=10)
