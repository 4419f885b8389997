"""Limits on what a process uses, and the end of its capabilities."""

import contextlib
import mmap
import os
import resource
import struct
import sys
from pathlib import Path

from autograder.grading.sandbox.syscalls import KERNEL_VERSION, LIBC, longs, succeed, write_at_once

# linux/prctl.h
PR_CAPBSET_DROP = 24
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
# linux/capability.h
LINUX_CAPABILITY_VERSION_3 = 0x20080522

MAX_OPEN_FILES, MAX_PENDING_SIGNALS, MAX_THREADS = 256, 1024, 256
COUNTS_BY_NAMESPACE = (5, 14)  # the first kernel whose RLIMIT_NPROC counts a user's processes by user namespace
_NO_CAPABILITIES = bytes(24)  # two of struct __user_cap_data_struct


def set_limits(memory_bytes: int, cpu_seconds: int, file_bytes: int, *, own_namespaces: bool) -> None:
    """Limit memory beyond what is held now, processor time, files and threads, for good."""
    limits = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if sys.platform == "linux":
        limits |= {
            resource.RLIMIT_SIGPENDING: MAX_PENDING_SIGNALS,
            resource.RLIMIT_MSGQUEUE: 0,
            resource.RLIMIT_NICE: 0,
            resource.RLIMIT_RTPRIO: 0,
        }
        pages = [int(number) for number in Path("/proc/self/statm").read_text().split()]
        limits[resource.RLIMIT_AS] = pages[0] * mmap.PAGESIZE + memory_bytes
        limits[resource.RLIMIT_DATA] = pages[5] * mmap.PAGESIZE + memory_bytes
    if os.geteuid() and own_namespaces and KERNEL_VERSION >= COUNTS_BY_NAMESPACE:
        limits[resource.RLIMIT_NPROC] = MAX_THREADS  # else it counts all processes of the user, or none
    for which, limit in limits.items():
        most = resource.getrlimit(which)[1]
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(which, (limit, limit))


def end_first() -> None:
    """Let the kernel end this process before others where memory runs out, as far as it may say so."""
    with contextlib.suppress(OSError):
        write_at_once("/proc/self/oom_score_adj", "1000")


def drop_capabilities() -> None:
    """Give up all capabilities, and the chance to gain any."""
    capability = 0
    while not LIBC.prctl(PR_CAPBSET_DROP, *longs(capability, 0, 0, 0)):
        capability += 1
    LIBC.prctl(PR_CAP_AMBIENT, *longs(PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    succeed(LIBC.capset(struct.pack("Ii", LINUX_CAPABILITY_VERSION_3, 0), _NO_CAPABILITIES), "capset")
