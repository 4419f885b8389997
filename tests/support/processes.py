"""Processes that tests start, and what has become of them."""

import contextlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil


def descendants(pid: int | None = None) -> set[psutil.Process]:
    """All that a process, or this one, has started and that still runs, directly or not."""
    try:
        return living(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return set()


def living(processes: Iterable[psutil.Process]) -> set[psutil.Process]:
    """Those of the processes that still run; a zombie has ended, though its parent may never ask for it."""
    return {process for process in processes if _lives(process)}


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def with_variable(name: str, value: object) -> list[int]:
    """The processes in whose environment a variable has this value, as those of one test have that it started."""
    mark, found = f"{name}={value}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or is somebody else's
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def wait_until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds; fail where it does not in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.01)
