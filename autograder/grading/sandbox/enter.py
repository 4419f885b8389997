"""The sandbox: a process that has entered it computes, reads the Python installation, and reaches nothing else.

`enter` applies what the system has: namespaces, read-only mounts, a root folder with nothing else in it, a folder of
limited size, limits, Landlock, a filter on system calls. `probe` says what that comes to here, from real attempts.
"""

import contextlib
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from autograder.grading.sandbox import landlock, limits, namespaces, private_root, seccomp, syscalls
from autograder.grading.sandbox.readable_paths import readable_paths


class SandboxError(Exception):
    """A protection that works on this machine could not be put in place."""


class Step(StrEnum):
    """What closes a process in, in the order in which it is done."""

    NO_NEW_PRIVILEGES = "no new privileges"
    NAMESPACES = "own namespaces"
    MOUNTS = "read-only mounts"
    ROOT = "a root folder of its own"
    FOLDER = "a file system for the folder"
    LIMITS = "limits"
    CAPABILITIES = "no capabilities"
    PARENT = "ending with the parent"
    LANDLOCK = "Landlock"
    MEMORY_DUMPS = "no traces in memory dumps"
    SYSTEM_CALLS = "the filter on system calls"


@dataclass(frozen=True)
class Permissions:
    """What a process may use once it has entered."""

    # its own, existing and empty; what it writes there is seen by nobody else and gone when it ends, where a
    # file system of its own can be mounted on it
    folder: Path
    readable: tuple[Path, ...]  # what it may read beside the system's directories and the Python installation
    memory_bytes: int  # beyond what it holds when it enters
    cpu_seconds: int  # of all its threads together; it is killed when they are used up
    file_bytes: int  # the largest file
    folder_bytes: int  # everything in the folder


def enter(permissions: Permissions, required: Collection[Step] = ()) -> None:
    """Close this process in, for good. It must have one thread, and should hold no file it does not need.

    A connected socket it keeps must be of a kind that sends to nobody else (a stream, not datagrams).

    Args:
        required: the steps that must not fail here, since `probe` saw them work.

    Raises:
        SandboxError: the process has more threads, the folder is not there, or a required step failed.
    """
    for step, error in take_steps(permissions).items():
        if error and step in required:
            raise SandboxError(f"The sandbox could not be closed: {step} failed ({error}).")


def take_steps(permissions: Permissions) -> dict[Step, str]:
    """Take every step that the system allows, and return each with its error, "" where there was none."""
    errors: dict[Step, str] = {}
    parent = os.getppid()
    with contextlib.suppress(FileNotFoundError):
        threads = len(os.listdir("/proc/self/task"))
        if threads > 1:
            raise SandboxError(f"Only a process with one thread can be closed in; this one has {threads}.")
    readable = tuple(path.resolve() for path in permissions.readable)
    allowed = replace(permissions, folder=permissions.folder.resolve(), readable=readable)

    def take(step: Step, action: Callable[[], None], after: Step | None = None) -> None:
        try:
            if after is not None and errors[after]:
                raise OSError(f"it needs {after}")
            action()
            errors[step] = ""
        except (OSError, ValueError, AttributeError) as error:
            errors[step] = str(error) or type(error).__name__

    limits.end_first()  # while /proc can be written to
    take(Step.NO_NEW_PRIVILEGES, lambda: syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1))
    take(Step.NAMESPACES, namespaces.unshare_namespaces)
    take(Step.MOUNTS, namespaces.make_mounts_read_only, after=Step.NAMESPACES)
    take(Step.ROOT, lambda: private_root.enter(allowed.folder, allowed.readable), after=Step.NAMESPACES)
    take(Step.FOLDER, lambda: namespaces.mount_folder(allowed.folder, allowed.folder_bytes), after=Step.NAMESPACES)
    try:
        os.chdir(allowed.folder)
    except OSError as error:
        raise SandboxError(f"The sandbox's folder cannot be entered ({error}).") from None
    sizes = allowed.memory_bytes, allowed.cpu_seconds, allowed.file_bytes
    take(Step.LIMITS, lambda: limits.set_limits(*sizes, own_namespaces=not errors[Step.NAMESPACES]))
    take(Step.CAPABILITIES, limits.drop_capabilities)
    take(Step.PARENT, lambda: syscalls.die_with_parent(parent))
    take(Step.LANDLOCK, lambda: landlock.restrict(allowed.folder, (*readable_paths(), *allowed.readable)))
    take(Step.MEMORY_DUMPS, lambda: syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0))
    take(Step.SYSTEM_CALLS, seccomp.install)
    return errors
