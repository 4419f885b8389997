"""The Linux kernel's own calls, for what Python has no function for."""

from __future__ import annotations

import ctypes
import os
import re
import sys

LIBC = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
VERSION = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2]) if os.name == "posix" else (0, 0)
if sys.platform == "linux":
    LIBC.syscall.restype = ctypes.c_long
    LIBC.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


def system_call(number: int, *values: object) -> int:
    """Make a system call by its number.

    Raises:
        OSError: it failed.
    """
    return succeed(LIBC.syscall(*longs(number, *values)), f"system call {number}")


def prctl(option: int, value: int) -> None:
    """Change one property of this process.

    Raises:
        OSError: it failed.
    """
    succeed(LIBC.prctl(option, *longs(value, 0, 0, 0)), "prctl")


def succeed(result: int, what: str) -> int:
    """Return what a function of the C library returned, unless that is -1.

    Raises:
        OSError: it is -1.
    """
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def longs(*values: object) -> list[object]:
    """Return the values with every int as wide as C reads it behind `...`."""
    return [ctypes.c_long(value) if isinstance(value, int) else value for value in values]


def write_at_once(path: str, text: str) -> None:
    """Write to a file that is there with a single call, as those in /proc ask for."""
    at = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(at, text.encode())
    finally:
        os.close(at)
