"""The Linux kernel's own calls, for what Python has no function for, and what constants several of these need."""

import ctypes
import os
import re
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
KERNEL_VERSION = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
if sys.platform == "linux":
    LIBC.syscall.restype = ctypes.c_long
    LIBC.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]

# linux/sched.h
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
NEW_NAMESPACE = (
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
)

# linux/mount.h, linux/fcntl.h
MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_NOEXEC = 1 << 3
MS_REC = 1 << 14
MNT_DETACH = 2
AT_FDCWD = -100

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38


def system_call(number: int, *values: object) -> int:
    """Make a system call by its number; raise OSError where it failed."""
    return succeed(LIBC.syscall(*longs(number, *values)), f"system call {number}")


def prctl(option: int, value: int) -> None:
    """Change one property of this process; raise OSError where that failed."""
    succeed(LIBC.prctl(option, *longs(value, 0, 0, 0)), "prctl")


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process as soon as `parent`, which forked it, ends; it may have ended already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def succeed(result: int, what: str) -> int:
    """Return what a function of the C library returned; raise OSError where that is -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def longs(*values: object) -> list[object]:
    """Return the values with every int as wide as C reads it behind `...`."""
    return [ctypes.c_long(value) if isinstance(value, int) else value for value in values]


def write_at_once(path: str, text: str) -> None:
    """Write to a file that is there with a single call, as those in /proc ask for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
