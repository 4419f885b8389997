"""Namespaces and mounts of the process's own: no network, and nothing to write to but its folder."""

import contextlib
import os
import struct
from pathlib import Path

from autograder.grading.sandbox import syscalls
from autograder.grading.sandbox.syscalls import LIBC, prctl, succeed, system_call, write_at_once

# linux/mount.h, linux/fcntl.h, asm/unistd.h (the same on every processor)
MS_PRIVATE = 1 << 18
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
AT_RECURSIVE = 0x8000
SYS_MOUNT_SETATTR = 442

_BYTES_PER_FILE, _MIN_FILES = 4096, 1024
_MOUNT_ATTR = struct.Struct("QQQQ")  # struct mount_attr: attr_set, attr_clr, propagation, userns_fd


def unshare_namespaces() -> None:
    """Leave the system's mounts, network, message queues and host name, as root or as who owns a user namespace."""
    uid, gid = os.geteuid(), os.getegid()
    flags = syscalls.CLONE_NEWNS | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS
    if LIBC.unshare(flags):
        prctl(syscalls.PR_SET_DUMPABLE, 1)  # after a change of user /proc/self is root's
        succeed(LIBC.unshare(flags | syscalls.CLONE_NEWUSER), "unshare")
        with contextlib.suppress(FileNotFoundError):
            write_at_once("/proc/self/setgroups", "deny")
        write_at_once("/proc/self/uid_map", f"{uid} {uid} 1")
        write_at_once("/proc/self/gid_map", f"{gid} {gid} 1")
    succeed(LIBC.mount(None, b"/", None, syscalls.MS_REC | MS_PRIVATE, None), "mount")


def mount_folder(folder: Path, size: int) -> None:
    """Put a file system of `size` bytes, in memory, on the folder."""
    files = max(_MIN_FILES, size // _BYTES_PER_FILE)
    options = f"size={size},nr_inodes={files},mode=700".encode()
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    succeed(LIBC.mount(b"sandbox", os.fsencode(folder), b"tmpfs", flags, options), "mount")


def make_mounts_read_only() -> None:
    """Make all that is mounted now read-only, owners and modes included."""
    read_only = _MOUNT_ATTR.pack(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    system_call(SYS_MOUNT_SETATTR, syscalls.AT_FDCWD, b"/", AT_RECURSIVE, read_only, _MOUNT_ATTR.size)
