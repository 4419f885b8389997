"""Landlock: no file, port, socket or process but those that are named."""

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from autograder.grading.sandbox.syscalls import system_call

# linux/landlock.h, asm/unistd.h (the same on every processor)
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
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446

# The newest right on files that each version of Landlock knows; later ones know IOCTL_DEV as well.
_NEWEST_RIGHT = {
    1: LANDLOCK_ACCESS_FS_MAKE_SYM,
    2: LANDLOCK_ACCESS_FS_REFER,
    3: LANDLOCK_ACCESS_FS_TRUNCATE,
    4: LANDLOCK_ACCESS_FS_TRUNCATE,
}
_SINCE_NETWORK, _SINCE_SCOPES, _SINCE_LOG_FLAGS = 4, 6, 7
_NETWORK = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP
_SCOPES = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL
_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR
_NOT_IN_FOLDER = (
    LANDLOCK_ACCESS_FS_EXECUTE
    | LANDLOCK_ACCESS_FS_MAKE_CHAR
    | LANDLOCK_ACCESS_FS_MAKE_BLOCK
    | LANDLOCK_ACCESS_FS_IOCTL_DEV
)
_ON_FILES = (
    LANDLOCK_ACCESS_FS_EXECUTE
    | LANDLOCK_ACCESS_FS_WRITE_FILE
    | LANDLOCK_ACCESS_FS_READ_FILE
    | LANDLOCK_ACCESS_FS_TRUNCATE
    | LANDLOCK_ACCESS_FS_IOCTL_DEV
)


def restrict(folder: Path, readable: Iterable[Path]) -> None:
    """Take all rights that this kernel knows of, on files, TCP, abstract sockets and signals; give back what is due.

    Raise OSError where this kernel has no Landlock.
    """
    version = system_call(SYS_LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    on_files = 2 * _NEWEST_RIGHT.get(version, LANDLOCK_ACCESS_FS_IOCTL_DEV) - 1
    handled = [on_files]
    if version >= _SINCE_NETWORK:
        handled.append(_NETWORK)
    if version >= _SINCE_SCOPES:
        handled.append(_SCOPES)
    attributes = struct.pack(f"{len(handled)}Q", *handled)
    ruleset = system_call(SYS_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    rights = dict.fromkeys(map(os.fspath, readable), _READ)
    rights["/dev/null"] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE
    rights[os.fspath(folder)] = on_files & ~_NOT_IN_FOLDER
    try:
        for path, allowed in rights.items():
            _allow(ruleset, path, allowed)
        quiet = LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF  # no line in the system's log for each refusal
        system_call(SYS_LANDLOCK_RESTRICT_SELF, ruleset, quiet if version >= _SINCE_LOG_FLAGS else 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Add a rule for what is at the path, if anything is."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _ON_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        system_call(SYS_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
