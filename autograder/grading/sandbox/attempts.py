"""What a hostile answer would try: `probe` lets a closed-in process try it, and reports what got through."""

import ctypes
import fcntl
import functools
import mmap
import os
import pwd
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.sandbox import seccomp, syscalls
from autograder.grading.sandbox.syscalls import LIBC, prctl, succeed, system_call
from autograder.grading.sandbox.targets import Targets

STATX_BASIC_STATS = 0x7FF  # linux/stat.h
PTRACE_SEIZE = 0x4206  # linux/ptrace.h
MEMORY, FILE, FOLDER = 64 * 2**20, 2**20, 8 * 2**20
STATUS_OF_FILES = " statx:332:291 faccessat:269:48"  # numbers on x86_64 and on aarch64; the filter lets them through
CPU_SECONDS, CPU_SECONDS_OF_OTHERS = 1, 10

Attempts = Mapping[str, Callable[[], object]]


def network(targets: Targets) -> Attempts:
    """Reach somebody by TCP, UDP, a name server, or a Unix socket."""

    def datagram(family: int, address: str | tuple[str, int]) -> None:
        with socket.socket(family, socket.SOCK_DGRAM) as own:
            own.sendto(b"hello", address)

    def from_a_pair() -> None:
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with own, other:
            own.sendto(b"hello", targets.listening["named"])

    return {
        "TCP": lambda: socket.create_connection(("127.0.0.1", targets.tcp_port), timeout=5).close(),
        "UDP": lambda: datagram(socket.AF_INET, ("127.0.0.1", targets.udp_port)),
        "DNS": lambda: socket.getaddrinfo(b"example.org", 443),
        **{
            f"{kind} Unix sockets": functools.partial(datagram, socket.AF_UNIX, name)
            for kind, name in targets.listening.items()
        },
        "a pair's end that sends to others": from_a_pair,
    }


def reading(targets: Targets) -> Attempts:
    """Read what is not the student's."""
    home = os.path.expanduser("~" + pwd.getpwuid(os.getuid()).pw_name)

    def memory() -> None:
        with open(f"/proc/{targets.parent}/mem", "rb", buffering=0) as file:
            file.seek(targets.address)
            file.read(8)

    def link(make: Callable[[Path, str], None], name: str) -> None:
        make(targets.secret, name)
        Path(name).read_text()

    return {
        "a file beside the folder": targets.secret.read_text,
        "the folder's parent": lambda: os.listdir(targets.place),
        "a link to a file outside": lambda: link(os.symlink, "link"),
        "a second name of a file outside": lambda: link(os.link, "name"),
        "/": lambda: os.listdir("/"),
        "the home folder": lambda: os.listdir(home),
        "/proc": lambda: os.listdir("/proc"),
        "the parent's memory": memory,
        "the parent's environment": lambda: Path(f"/proc/{targets.parent}/environ").read_bytes(),
        "the parent's files": lambda: os.listdir(f"/proc/{targets.parent}/fd"),
    }


def looking(targets: Targets) -> Attempts:
    """Learn of what is not the student's that it is there, its size or its time."""
    secret, buffer = os.fsencode(targets.secret), ctypes.create_string_buffer(256)

    def ask(name: str, *values: object) -> None:
        _call(name, syscalls.AT_FDCWD, secret, *values)

    return {
        "stat": targets.secret.stat,
        "statx": lambda: ask("statx", 0, STATX_BASIC_STATS, buffer),
        "access": lambda: ask("faccessat", os.F_OK),
        "opening it as a mere place": lambda: os.close(os.open(targets.secret, os.O_PATH)),
        "the folder's parent": lambda: os.stat(targets.secret.parent),
        "a link to a file outside": lambda: os.symlink(targets.secret, "link") or os.stat("link"),  # type: ignore[func-returns-value]
        "the parent's process": lambda: os.stat(f"/proc/{targets.parent}/status"),
    }


def writing(targets: Targets) -> Attempts:
    """Change what is not the student's: contents, names, modes, times."""

    def mode(path: str | Path) -> None:
        before = os.stat(path)
        os.chmod(path, before.st_mode & 0o777)
        if os.stat(path) == before:  # else its status has changed just now, if not its mode
            raise PermissionError

    def times(path: str | Path) -> None:
        os.utime(path, (0, 0))
        if os.stat(path).st_mtime:
            raise PermissionError

    def move_out() -> None:
        Path("own").touch()
        os.rename("own", targets.place / "moved")

    return {
        "a new file": (targets.place / "new").touch,
        "a new folder": (targets.place / "folder").mkdir,
        "a file's contents": lambda: targets.secret.open("r+").close(),
        "a file's mode": lambda: mode(targets.secret),
        "a library's mode": lambda: mode(targets.library),
        "the mode of Python itself": lambda: mode("/proc/self/exe"),
        "the mode of an open file": lambda: mode("/proc/self/fd/0"),
        "a file's times": lambda: times(targets.secret),
        "a library's times": lambda: times(targets.library),
        "a file's owner": lambda: os.chown(targets.secret, os.getuid(), os.getgid()),
        "a file's attributes": lambda: os.setxattr(targets.secret, "user.note", b"here"),
        "cutting a file": lambda: os.truncate(targets.secret, 3),
        "cutting a library": lambda: os.close(os.open(targets.library, os.O_RDONLY | os.O_TRUNC)),
        "moving a file in": lambda: os.rename(targets.secret, "moved"),
        "moving a file out": move_out,
        "removing a file": targets.secret.unlink,
        "shared memory": lambda: Path(f"/dev/shm/autograder-{os.getpid()}").touch(),
        "its own rank when memory runs out": lambda: Path("/proc/self/oom_score_adj").write_text("1000"),
    }


def memory(targets: Targets) -> Attempts:
    """Take twice the memory that is allowed, never from the heap: a large process may have that much free there."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return {
        "one large piece": lambda: mmap.mmap(-1, 2 * MEMORY, private).close(),
        "many small pieces": lambda: [mmap.mmap(-1, 2**16, private) for _ in range(2 * MEMORY // 2**16)],
        "memory to share": lambda: mmap.mmap(-1, 2 * MEMORY).close(),
        "a file in memory": lambda: os.close(os.memfd_create("large")),
    }


def cpu(targets: Targets) -> Attempts:
    """Compute on, whatever the warning."""

    def compute() -> None:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while time.process_time() < CPU_SECONDS + 2:
            pass

    return {"more seconds": compute}


def file_size(targets: Targets) -> Attempts:
    """Make one file too large, by writing and without."""

    def change(action: Callable[[int], object]) -> None:
        with open("large", "wb") as file:
            action(file.fileno())

    def write(descriptor: int) -> None:
        for _ in range(2 * FILE // 2**18):
            os.write(descriptor, bytes(2**18))

    return {
        "writing": lambda: change(write),
        "stretching": lambda: change(lambda descriptor: os.ftruncate(descriptor, 2 * FILE)),
        "reserving": lambda: change(lambda descriptor: os.posix_fallocate(descriptor, 0, 2 * FILE)),
    }


def folder_size(targets: Targets) -> Attempts:
    """Fill the folder with many files, and with very many empty ones."""

    def fill() -> None:
        for number in range(2 * FOLDER // FILE):
            Path(f"file-{number}").write_bytes(bytes(FILE))

    def scatter() -> None:
        for number in range(3000):
            Path(f"empty-{number}").touch()

    return {"large files": fill, "empty files": scatter}


def processes(targets: Targets) -> Attempts:
    """Start a process, by every way there is."""
    shell = shutil.which("sh") or "/bin/sh"

    def start(fork: Callable[..., int], *values: object) -> None:
        if (child := fork(*values)) == 0:
            os._exit(0)
        os.waitpid(child, 0)

    return {
        "fork": lambda: start(os.fork),
        "clone": lambda: start(_call, "clone", int(signal.SIGCHLD), 0, 0, 0, 0),
        "clone3": lambda: start(_call, "clone3", struct.pack("11Q", 0, 0, 0, 0, int(signal.SIGCHLD), *[0] * 6), 88),
        "subprocess": lambda: subprocess.run([shell, "-c", ":"]),
        "posix_spawn": lambda: os.waitpid(os.posix_spawn(shell, [shell, "-c", ":"], {}), 0),
        "exec": lambda: os.execv(shell, [shell, "-c", ":"]),
    }


def signals(targets: Targets) -> Attempts:
    """Signal somebody else. Signal 0 asks whether one may."""
    return {
        "kill": lambda: os.kill(targets.parent, 0),
        "kill for everybody": lambda: os.kill(-1, 0),
        "kill for its group": lambda: os.kill(0, 0),
        "tgkill": lambda: _call("tgkill", targets.parent, targets.parent, 0),
        "tkill": lambda: _call("tkill", targets.parent, 0),
        "a process descriptor": lambda: os.close(os.pidfd_open(targets.parent)),
        "a file's owner": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, targets.parent),
        "its priority": lambda: os.setpriority(0, targets.parent, os.getpriority(0, targets.parent)),
        "its processors": lambda: os.sched_setaffinity(targets.parent, os.sched_getaffinity(targets.parent)),
        "its limits": lambda: _call(
            "prlimit64", targets.parent, resource.RLIMIT_NOFILE, None, ctypes.create_string_buffer(16)
        ),
    }


def debugging(targets: Targets) -> Attempts:
    """Look into the parent's memory and take its files."""
    target = ctypes.create_string_buffer(8)
    own = struct.pack("QQ", ctypes.addressof(target), 8)
    other = struct.pack("QQ", targets.address, 8)

    return {
        "ptrace": lambda: _call("ptrace", PTRACE_SEIZE, targets.parent, 0, 0),
        "reading memory": lambda: _call("process_vm_readv", targets.parent, own, 1, other, 1, 0),
        "writing memory": lambda: _call("process_vm_writev", targets.parent, other, 1, other, 1, 0),
        "taking a file": lambda: _call("pidfd_getfd", os.pidfd_open(targets.parent), 0, 0),
        "comparing": lambda: _call("kcmp", os.getpid(), targets.parent, 0, 0, 0),
    }


def outliving(targets: Targets) -> Attempts:
    """Undo that the parent's end is one's own."""
    return {"clearing the signal": lambda: prctl(syscalls.PR_SET_PDEATHSIG, 0)}


def privileges(targets: Targets) -> Attempts:
    """Have or gain a right that others have not."""

    def capabilities() -> None:
        status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
        held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
        if not held and status["NoNewPrivs"] == "1":
            raise PermissionError

    def mount() -> None:
        here = os.fsencode(os.getcwd())
        succeed(LIBC.mount(b"none", here, b"tmpfs", 0, None), "mount")
        LIBC.umount2(here, syscalls.MNT_DETACH)

    return {
        "capabilities": capabilities,
        "becoming root": lambda: os.setresuid(0, 0, 0),
        "another root folder": lambda: os.chroot("."),
        "a mount": mount,
        "a namespace": lambda: succeed(LIBC.unshare(syscalls.CLONE_NEWUSER), "unshare"),
        "a device": lambda: os.mknod("device", 0o20666, os.makedev(1, 3)),
    }


@dataclass(frozen=True)
class Guarantee:
    """What the sandbox is to keep."""

    name: str  # a word or two
    kept: str  # what is so where nothing got through
    attempts: Callable[[Targets], Attempts]  # what would break it
    is_deadly: bool = False  # it is kept by ending the process


GUARANTEES = (
    Guarantee("CPU time", "a process that computes too long is killed", cpu, is_deadly=True),
    Guarantee("network", "TCP, UDP, DNS and Unix sockets are refused", network),
    Guarantee("reading", "files and processes outside cannot be read", reading),
    Guarantee("looking", "of files and processes outside no name, size or time is told", looking),
    Guarantee("writing", "nothing outside can be changed", writing),
    Guarantee("memory", "more than is allowed is refused, shared or not", memory),
    Guarantee("file size", "a file that grows too large is cut off", file_size),
    Guarantee("folder size", "all files together stay within the limit", folder_size),
    Guarantee("processes", "no process can be started", processes),
    Guarantee("signals", "no other process can be signalled or slowed", signals),
    Guarantee("debugging", "no other process can be looked into", debugging),
    Guarantee("privileges", "no capability is held or can be gained", privileges),
)
OUTLIVING = Guarantee("parent", "it ends when its parent does", outliving)


def _call(name: str, *values: object) -> int:
    tables = seccomp.REFUSED + seccomp.BY_ARGUMENTS + STATUS_OF_FILES
    return system_call(seccomp.call_numbers(tables)[name], *values)
