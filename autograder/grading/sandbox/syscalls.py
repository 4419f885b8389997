"""The Linux kernel's own calls, for what Python has no function for, and its constants under their kernel names."""

from __future__ import annotations

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
CLONE_THREAD = 0x00010000
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# linux/mount.h, linux/fcntl.h, sys/mount.h
MS_RDONLY = 1 << 0
MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_NOEXEC = 1 << 3
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12
MS_REC = 1 << 14
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
STATX_BASIC_STATS = 0x7FF

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_MM = 35
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
PR_SCHED_CORE = 62
PR_SET_PTRACER = 0x59616D61

# linux/capability.h
LINUX_CAPABILITY_VERSION_3 = 0x20080522

# linux/landlock.h
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF = 1
LANDLOCK_ACCESS_FS_EXECUTE = 1 << 0
LANDLOCK_ACCESS_FS_WRITE_FILE = 1 << 1
LANDLOCK_ACCESS_FS_READ_FILE = 1 << 2
LANDLOCK_ACCESS_FS_READ_DIR = 1 << 3
LANDLOCK_ACCESS_FS_MAKE_CHAR = 1 << 6
LANDLOCK_ACCESS_FS_MAKE_BLOCK = 1 << 11
LANDLOCK_ACCESS_FS_MAKE_SYM = 1 << 12
LANDLOCK_ACCESS_FS_REFER = 1 << 13
LANDLOCK_ACCESS_FS_TRUNCATE = 1 << 14
LANDLOCK_ACCESS_FS_IOCTL_DEV = 1 << 15
LANDLOCK_ACCESS_NET_BIND_TCP = 1 << 0
LANDLOCK_ACCESS_NET_CONNECT_TCP = 1 << 1
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0
LANDLOCK_SCOPE_SIGNAL = 1 << 1

# linux/ptrace.h
PTRACE_SEIZE = 0x4206

# linux/seccomp.h
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_KILL_PROCESS = 0x80000000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_DATA_NR = 0  # offsets in struct seccomp_data
SECCOMP_DATA_ARCH = 4
SECCOMP_DATA_ARGS = 16

# linux/bpf_common.h
BPF_LD = 0x00
BPF_ALU = 0x04
BPF_JMP = 0x05
BPF_RET = 0x06
BPF_W = 0x00
BPF_ABS = 0x20
BPF_AND = 0x50
BPF_JEQ = 0x10
BPF_JGE = 0x30
BPF_JSET = 0x40
BPF_K = 0x00

# linux/audit.h, asm/unistd.h
AUDIT_ARCH_X86_64 = 0xC000003E
AUDIT_ARCH_AARCH64 = 0xC00000B7
X32_SYSCALL_BIT = 0x40000000

# linux/fcntl.h
F_SETOWN = 8
F_SETSIG = 10
F_SETOWN_EX = 15
F_SETLEASE = 1024
F_NOTIFY = 1026

# linux/net.h, linux/socket.h
AF_UNIX = 1
SOCK_STREAM = 1
SOCK_SEQPACKET = 5
SOCK_TYPE_MASK = 0xF

# asm/ioctls.h, linux/fs.h, linux/fsverity.h
TIOCSTI = 0x5412
TIOCLINUX = 0x541C
FIOSETOWN = 0x8901
SIOCSPGRP = 0x8902
FS_IOC_SETFLAGS = 0x40086602
FS_IOC_FSSETXATTR = 0x401C5820
FS_IOC_ENABLE_VERITY = 0x40806685

# Numbers of system calls, the same on every processor
SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446


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


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process as soon as `parent`, which forked it, ends; it may have ended already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


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
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
