"""Run a command as an ordinary user, who reads this repository and its Python wherever they stand, as an owner would.

    python tests/support/ordinary_user.py COMMAND …

Where the tests run as root, that is the user `nobody`, in mounts of its own in which no folder on the way is closed.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

NOBODY = 65534
ORDINARY, ROOT_USER = "an ordinary user", "root"
USERS = [ROOT_USER, ORDINARY] if os.geteuid() == 0 else [ORDINARY]
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x00020000, 1 << 12, 1 << 14, 1 << 18
PR_SET_PDEATHSIG, SIGKILL = 1, 9


def command_of(user: str) -> list[str]:
    """What stands before a command that a user runs."""
    return [sys.executable, __file__] if changes(user) else []


def changes(user: str) -> bool:
    """Whether that user is another one than who runs the tests."""
    return os.geteuid() == 0 and user == ORDINARY


def give(folder: Path, user: str) -> None:
    """Let a folder and all in it belong to a user."""
    if changes(user):
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, NOBODY, NOBODY)


def open_the_way(paths: Collection[Path], empty: Collection[Path] = ()) -> None:
    """Put a folder that is open in the place of each closed one on the way, in which the paths stand as before.

    Args:
        empty: other folders that are to hold nothing, but for these paths.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def succeed(result: int) -> None:
        if result:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def mount(source: str, target: Path, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
        succeed(libc.mount(source.encode(), os.fsencode(target), kind, ctypes.c_ulong(flags), options))

    succeed(libc.unshare(CLONE_NEWNS))
    mount("none", Path("/"), None, MS_REC | MS_PRIVATE)

    def is_covered(folder: Path) -> bool:
        return folder in empty or not folder.stat().st_mode & 0o001

    ways = {path: list(filter(is_covered, reversed(path.parents))) for path in paths}
    opened = {path: os.open(path, os.O_PATH) for path, covered in ways.items() if covered}
    for folder in {*empty, *(ways[path][0] for path in opened)}:
        mount("open", folder, b"tmpfs", 0, b"mode=755")
    for path, descriptor in opened.items():
        path.mkdir(parents=True, exist_ok=True)
        mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND | MS_REC)


def main() -> None:
    """Become the user and run the command; it ends with who asked for it."""
    parent = os.getppid()
    repository = Path(__file__).resolve().parents[2]
    open_the_way(sorted({repository, *(Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix))}))
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() == parent:
        os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
