"""The sandbox: a process that has entered it computes, reads the Python installation, and reaches nothing else.

`enter` applies what the system has: namespaces, read-only mounts, a folder of limited size, limits, Landlock, a filter
on system calls. `probe` says what that comes to here, from real attempts.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import select
import signal
import site
import stat
import struct
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import autograder
from autograder.grading.sandbox import attempts, seccomp
from autograder.grading.sandbox.attempts import FILE, FOLDER, MEMORY, OUTLIVING, PROMISES, Promise, Scene, scene
from autograder.grading.sandbox.syscalls import LIBC, VERSION, longs, prctl, succeed, system_call, write_at_once

# What the C library, PyTorch, Matplotlib and psutil read beside the Python installation.
DIRECTORIES = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store")
OTHER_FILES = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone"),
    *("/etc/locale.alias", "/etc/fonts", "/etc/mime.types", "/etc/magic", "/etc/nsswitch.conf", "/etc/os-release"),
    *("/etc/passwd", "/etc/group", "/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/openssl.cnf"),
    *("/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies", "/var/cache/fontconfig"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/devices/system/node"),
    *(f"/proc/self/{name}" for name in ("cmdline", "maps", "smaps", "stat", "statm", "status", "cgroup")),
)
PARTS_OF_A_PREFIX = ("bin", "lib", "lib64", "share", "include", "ssl", "fonts", "etc/fonts", "pyvenv.cfg")

PATIENCE = 12.0  # seconds for one process of a probe; it takes two hundredths as a rule
OPEN_FILES, PENDING_SIGNALS, THREADS, BYTES_PER_FILE = 256, 1024, 256, 4096

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 30
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 1 << 14, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, READ_ONLY, NO_SET_UID = 442, -100, 0x8000, 1, 2
SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_FROM_BOUNDING_SET, NO_NEW_PRIVILEGES, AMBIENT = 1, 4, 24, 38, 47
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL_DEV = (
    1 << bit for bit in (0, 1, 2, 3, 6, 11, 14, 15)
)
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


class SandboxError(Exception):
    """A protection that works on this machine could not be put in place."""


@dataclass(frozen=True)
class Box:
    """What a process may use once it has entered.

    Attributes:
        folder: its own, existing and empty; what it writes there is seen by nobody else and gone when it ends, where a
            file system of its own can be mounted on it.
        readable: what it may read beside the system's directories and the Python installation.
        memory_bytes: beyond what it holds when it enters.
        cpu_seconds: of all its threads together; it is killed when they are used up.
        file_bytes: the largest file.
        folder_bytes: everything in the folder.
    """

    folder: Path
    readable: tuple[Path, ...]
    memory_bytes: int
    cpu_seconds: int
    file_bytes: int
    folder_bytes: int


@dataclass(frozen=True)
class Finding:
    """One thing the sandbox promises, whether it holds here, and what was seen."""

    name: str
    holds: bool
    detail: str


def enter(box: Box) -> None:
    """Close this process in, for good. It must have one thread, and should hold no file it does not need.

    A connected socket it keeps must be of a kind that sends to nobody else (a stream, not datagrams).

    Raises:
        SandboxError: the process has more threads, the folder is not there, or a step failed that `probe` had found to
            work.
    """
    for step, error in _close_in(box).items():
        if error and step in _proven:
            raise SandboxError(f"The sandbox could not be closed: {step} failed ({error}).")


def probe() -> tuple[Finding, ...]:
    """Close processes in and let them try to get out. From then on `enter` insists on the steps that worked."""
    return begin_probe()()


def begin_probe() -> Callable[[], tuple[Finding, ...]]:
    """Do all of `probe` but wait for the one attempt that takes a second; return what waits, and ends it."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        outside = stack.enter_context(scene(Path(folder).resolve()))
        slow = [(promise, _start(outside, promise)) for promise in PROMISES if promise.deadly]
        seen = [_saw(promise, *_start(outside, promise)) for promise in PROMISES if not promise.deadly]
        seen.append(_outlive(outside))
        still_open = stack.pop_all()

    def finish() -> tuple[Finding, ...]:
        global _proven
        with still_open:
            seen.extend(_saw(promise, *started) for promise, started in slow)
        taken = [steps for _, steps in seen]
        _proven = frozenset(step for step in taken[0] if not any(steps.get(step, "missing") for steps in taken))
        return tuple(finding for finding, _ in seen)

    return finish


def describe(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each finding, the ones that hold marked with a ✓."""
    width = max((len(each.name) for each in findings), default=0)
    return [f"{'✓' if each.holds else '✗'} {each.name:{width}}  {each.detail}" for each in findings]


def python_paths() -> tuple[Path, ...]:
    """Return what of this Python installation must be readable, the folder of this package included."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [Path(prefix, part) for prefix in sorted(prefixes) for part in PARTS_OF_A_PREFIX]
    paths += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [Path(folder) for folder in site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        paths.append(Path(site.getusersitepackages()))
    paths.append(Path(autograder.__file__).parent)
    return _outermost([path.resolve() for path in paths if path.exists()])


def exposed(secrets: Sequence[Path]) -> tuple[Path, ...]:
    """Return those of the paths that every sandboxed process could read, since they lie in a readable directory."""
    readable = _outermost([Path(path).resolve() for path in (*DIRECTORIES, *OTHER_FILES, *_python)])
    return tuple(each for each in secrets if any(each.resolve().is_relative_to(path) for path in readable))


def _outermost(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths without those that lie in another."""
    found: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return tuple(found)


def _start(outside: Scene, promise: Promise) -> tuple[int, int]:
    """Fork a process that tries to break a promise; return its id and the pipe on which it answers."""
    answers, write = os.pipe()
    child = os.fork()
    if child == 0:
        _try(outside, promise, write)
    os.close(write)
    return child, answers


def _try(outside: Scene, promise: Promise, write: int) -> NoReturn:
    """Close this process in, try everything, and answer in two lines: the steps taken, and what got through."""
    try:
        folder = outside.place / promise.name
        folder.mkdir()
        seconds = attempts.CPU_SECONDS if promise.deadly else attempts.CPU_SECONDS_OF_OTHERS
        steps = _close_in(Box(folder, (outside.library,), MEMORY, seconds, FILE, FOLDER))
        os.write(write, json.dumps(steps).encode() + b"\n")
        through = []
        for name, attempt in promise.attempts(outside).items():
            with contextlib.suppress(Exception):
                attempt()
                through.append(name)
        os.write(write, json.dumps(through).encode() + b"\n")
        if promise is OUTLIVING:
            time.sleep(2 * PATIENCE)
    finally:
        os._exit(1)


def _saw(promise: Promise, child: int, answers: int) -> tuple[Finding, dict[str, str]]:
    """Return what came of a process that `_start` forked, and the steps it took."""
    (steps, through), ended = _read(answers)
    os.close(answers)
    if through is None and not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if promise.deadly:
        holds = ended and through is None and os.WIFSIGNALED(status)
        return Finding(promise.name, holds, promise.kept if holds else "the process went on"), steps
    return _found(promise, through), steps


def _outlive(outside: Scene) -> tuple[Finding, dict[str, str]]:
    """Fork a process that forks one which closes itself in; end the first, and see whether the second ends."""
    answers, write = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            if os.fork() == 0:
                _try(outside, OUTLIVING, write)
            os.close(write)
            time.sleep(2 * PATIENCE)
        finally:
            os._exit(1)
    os.close(write)
    (steps, through), _ = _read(answers)
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)
    ended = through is not None and _read(answers, PATIENCE / 4)[1]
    os.close(answers)
    return _found(OUTLIVING, through if ended or through is None else [*through, "living on"]), steps


def _found(promise: Promise, through: list[str] | None) -> Finding:
    if through is None:
        return Finding(promise.name, False, "the process that tried gave no answer")
    return Finding(promise.name, not through, f"got through: {', '.join(through)}" if through else promise.kept)


def _read(answers: int, seconds: float = PATIENCE) -> tuple[tuple[dict[str, str], list[str] | None], bool]:
    """Return the two answers of a process, {} and None where they are missing, and whether it has closed the pipe."""
    waiting, until, text, ended = select.poll(), time.monotonic() + seconds, b"", False
    waiting.register(answers, select.POLLIN)
    while not ended and text.count(b"\n") < 2 and waiting.poll(max(0, 1000 * (until - time.monotonic()))):
        piece = os.read(answers, 2**16)
        text, ended = text + piece, not piece
    lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
    return (lines[0] if lines else {}, lines[1] if len(lines) > 1 else None), ended


def _close_in(box: Box) -> dict[str, str]:
    """Take every step that the system allows, and return each with its error, "" where there was none."""
    steps: dict[str, str] = {}
    parent = os.getppid()
    with contextlib.suppress(FileNotFoundError):
        threads = len(os.listdir("/proc/self/task"))
        if threads > 1:
            raise SandboxError(f"Only a process with one thread can be closed in; this one has {threads}.")
    box = replace(box, folder=box.folder.resolve(), readable=tuple(path.resolve() for path in box.readable))

    def take(step: str, action: Callable[..., None], *given: object, after: str = "") -> None:
        try:
            if steps.get(after):
                raise OSError(f"it needs {after}")
            action(*given)
            steps[step] = ""
        except (OSError, ValueError, AttributeError) as error:
            steps[step] = str(error) or type(error).__name__

    take("no new privileges", prctl, NO_NEW_PRIVILEGES, 1)
    take("own namespaces", _own_namespaces)
    take("a file system for the folder", _own_file_system, box, after="own namespaces")
    take("read-only mounts", _read_only_mounts, box, after="a file system for the folder")
    try:
        os.chdir(box.folder)
    except OSError as error:
        raise SandboxError(f"The sandbox's folder cannot be entered ({error}).") from None
    take("limits", _limits, box, not steps["own namespaces"])
    take("no capabilities", _drop_capabilities)
    take("ending with the parent", _end_with, parent)
    take("Landlock", _landlock, box)
    take("no traces in memory dumps", prctl, SET_DUMPABLE, 0)
    take("the filter on system calls", seccomp.install)
    return steps


def _own_namespaces() -> None:
    """Leave the system's mounts, network, message queues and host name, as root or as who owns a user namespace."""
    uid, gid = os.geteuid(), os.getegid()
    wanted = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    if LIBC.unshare(wanted):
        prctl(SET_DUMPABLE, 1)  # after a change of user /proc/self is root's
        succeed(LIBC.unshare(wanted | CLONE_NEWUSER), "unshare")
        with contextlib.suppress(FileNotFoundError):
            write_at_once("/proc/self/setgroups", "deny")
        write_at_once("/proc/self/uid_map", f"{uid} {uid} 1")
        write_at_once("/proc/self/gid_map", f"{gid} {gid} 1")
    succeed(LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount")


def _own_file_system(box: Box) -> None:
    files = max(1024, box.folder_bytes // BYTES_PER_FILE)
    options = f"size={box.folder_bytes},nr_inodes={files},mode=700".encode()
    target = os.fsencode(box.folder)
    succeed(LIBC.mount(b"sandbox", target, b"tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options), "mount")


def _read_only_mounts(box: Box) -> None:
    """Make everything but the folder read-only, owners and modes included."""
    attributes = struct.Struct("QQQQ")  # to set, to clear, how mounts propagate, a user namespace
    given = attributes.pack(READ_ONLY | NO_SET_UID, 0, 0, 0)
    system_call(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, given, attributes.size)
    given = attributes.pack(0, READ_ONLY, 0, 0)
    system_call(MOUNT_SETATTR, AT_FDCWD, os.fsencode(box.folder), 0, given, attributes.size)


def _limits(box: Box, own_namespaces: bool) -> None:
    limits = {"CPU": box.cpu_seconds, "FSIZE": box.file_bytes, "NOFILE": OPEN_FILES, "SIGPENDING": PENDING_SIGNALS}
    limits |= dict.fromkeys(("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO"), 0)
    if sys.platform == "linux":
        pages = [int(number) for number in Path("/proc/self/statm").read_text().split()]
        limits["AS"] = pages[0] * mmap.PAGESIZE + box.memory_bytes
        limits["DATA"] = pages[5] * mmap.PAGESIZE + box.memory_bytes
    if os.geteuid() and own_namespaces and VERSION >= (5, 14):  # else it counts all processes of the user, or none
        limits["NPROC"] = THREADS
    for name, wanted in limits.items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is not None:
            most = resource.getrlimit(which)[1]
            limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(which, (limit, limit))
    with contextlib.suppress(OSError):
        write_at_once("/proc/self/oom_score_adj", "1000")  # where memory runs out, it goes first


def _drop_capabilities() -> None:
    capability = 0
    while not LIBC.prctl(DROP_FROM_BOUNDING_SET, *longs(capability, 0, 0, 0)):
        capability += 1
    LIBC.prctl(AMBIENT, *longs(4, 0, 0, 0))
    succeed(LIBC.capset(struct.pack("Ii", 0x20080522, 0), bytes(24)), "capset")


def _end_with(parent: int) -> None:
    prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _landlock(box: Box) -> None:
    """Take all rights that this kernel knows of, on files, TCP, abstract sockets and signals; give back what is due."""
    version = system_call(CREATE_RULESET, None, 0, 1)
    rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    handled = struct.pack("QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = system_call(CREATE_RULESET, handled, len(handled), 0)
    reading, in_folder = READ_FILE | READ_DIR, rights & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
    given = {os.fspath(path): reading for path in (*DIRECTORIES, *OTHER_FILES, *_python, *box.readable)}
    given |= {"/dev/null": READ_FILE | WRITE_FILE, os.fspath(box.folder): in_folder}
    try:
        for path, right in given.items():
            try:
                at = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            if not stat.S_ISDIR(os.fstat(at).st_mode):
                right &= ON_FILES
            try:
                system_call(ADD_RULE, rules, 1, struct.pack("=Qi", right, at), 0)
            finally:
                os.close(at)
        system_call(RESTRICT_SELF, rules, 1 if version >= 7 else 0)  # 1: no line in the system's log for each refusal
    finally:
        os.close(rules)


_python = python_paths()
_proven: frozenset[str] = frozenset()  # the steps that `probe` saw succeed in every process it closed in
