"""Seconds on the clock and of work, and what disturbs them. Linux only: both are read from /proc."""

import contextlib
import importlib.metadata
import os
import platform
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from measured.processes import tree

QUIET, PATIENCE = 1.0, 900  # the load to wait for, and for how many seconds


@dataclass(frozen=True)
class Took:
    """What a command took."""

    seconds: float
    cpu: float  # seconds for which its processes worked, which other programs disturb little
    others: float  # how many cores other programs used meanwhile


class Seconds(NamedTuple):
    """Seconds on the clock, and those of work."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Took:
    """Measure something that starts processes and waits for them."""
    begin, all_before, ours_before = time.perf_counter(), busy(), spent()
    work()
    seconds, cpu = time.perf_counter() - begin, spent() - ours_before
    return Took(seconds, cpu, max(0.0, (busy() - all_before - cpu) / seconds))


def busy() -> float:
    """Seconds for which the cores of this machine have worked."""
    user, nice, system, _idle, _wait, *interrupts = map(int, Path("/proc/stat").read_text().split(maxsplit=8)[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Seconds of this process and of the ended ones that it started."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def worked_by(*processes: int) -> float:
    """Seconds for which processes and all that they started have worked, in whatever session it is."""
    ticks = 0
    for process in {each for root in processes for each in tree(root)}:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # ended: its parent has its seconds
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def fastest(taken: Sequence[Seconds]) -> Seconds:
    """The least of each kind of seconds: what other programs take away only ever adds."""
    return Seconds(*map(min, zip(*taken, strict=True)))


def machine() -> str:
    """What this was measured on."""
    model = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    names = ("nbgrader", "ipykernel", "torch")
    versions = ", ".join(f"{name} {importlib.metadata.version(name).split('+')[0]}" for name in names)
    where = f"{os.cpu_count()} cores ({model.partition(': ')[2]}), Linux {platform.release().split('-')[0]}"
    return f"{where}, Python {platform.python_version()}, {versions}"


def quiet() -> float:
    """Wait until the machine has little else to do, but not for ever; return its load."""
    until = time.monotonic() + PATIENCE
    while os.getloadavg()[0] >= QUIET and time.monotonic() < until:
        time.sleep(5)
    return os.getloadavg()[0]
