"""What a Dask cluster of this machine alone costs beside the workers of `autograder grade` itself."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from measured.clock import Seconds, machine, quiet, spent, timed, worked_by
from measured.course import CLASS, Course
from measured.processes import ROOT, command

WORKERS = (1, 2, 4)
FEW, MANY = len(CLASS), 7 * len(CLASS)
CLUSTER = """\
## Dask on one machine

The first twelve of the class and copies of them, graded by `autograder grade --jobs N` and by a Dask cluster of N
workers with one thread each, scheduler and workers on the same machine: what a submission more takes, from {few} to
{many}.
{machine}.
The load was {load:.2f} at the start. The scheduler, and the way there and back, take **{cost:.0f} ms of work** a
submission with one worker. Four workers are **{faster:.2f} times** as fast as one here, as four of `--jobs` are
{local:.2f} times: there are {cores} cores.

| at a time | Dask / local | local, s | Dask, s | local, s of work | Dask, s of work |
|---|---:|---:|---:|---:|---:|"""


def cluster(course: Course) -> Iterator[str]:
    """One, two and four at a time, each on this machine alone and by a cluster."""
    load = quiet()
    local = {workers: a_further_one(course, course.ours(workers), spent) for workers in WORKERS}
    dask = {workers: by_cluster(course, workers) for workers in WORKERS}
    yield CLUSTER.format(
        few=FEW,
        many=MANY,
        machine=machine(),
        load=load,
        cost=1000 * (dask[1].cpu - local[1].cpu),
        faster=dask[1].wall / dask[4].wall,
        local=local[1].wall / local[4].wall,
        cores=os.cpu_count(),
    )
    for workers in WORKERS:
        (wall, cpu), (dask_wall, dask_cpu) = local[workers], dask[workers]
        yield f"| {workers} | {dask_wall / wall:.2f} | {wall:.3f} | {dask_wall:.3f} | {cpu:.3f} | {dask_cpu:.3f} |"


def by_cluster(course: Course, workers: int) -> Seconds:
    """What a submission more takes by a cluster of so many workers."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.dask_cluster import running_cluster

    with tempfile.TemporaryDirectory(prefix="dask-") as folder, running_cluster(Path(folder), workers) as dask:
        with dask.client():
            pass  # which waits until all workers are there

        def work() -> float:
            """Seconds of all that has to do with it."""
            return spent() + worked_by(dask.scheduler.pid, dask.worker.pid)

        line = [*course.ours(workers), "--scheduler", dask.address]
        return a_further_one(course, line, work)


def a_further_one(course: Course, line: Sequence[str], work: Callable[[], float]) -> Seconds:
    """What a submission more takes a command, once everything is warm.

    Args:
        work: tells the seconds for which its processes have worked so far.
    """
    taken = []
    for count in (FEW, FEW, MANY):  # the first makes it warm
        folder, before = course.copy(course.several(count, FEW)), work()
        took = timed(lambda folder=folder: command(line, folder))
        taken.append(Seconds(took.seconds, work() - before))
        print(f"{count} by `{' '.join(line[3:])}`: {took.seconds:.1f} s", file=sys.stderr, flush=True)
    _, few, many = taken
    return Seconds(*((most - least) / (MANY - FEW) for least, most in zip(few, many, strict=True)))
