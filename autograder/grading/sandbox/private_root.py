"""A root folder of the process's own: what may be read stands in it, and of all else there is no name, size or time."""

import contextlib
import functools
import os
import stat
from pathlib import Path
from typing import NamedTuple

from autograder.grading.sandbox import syscalls
from autograder.grading.sandbox.readable_paths import names_of_python, readable_paths
from autograder.grading.sandbox.syscalls import LIBC, succeed

# linux/mount.h
MS_RDONLY = 1 << 0
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12

MOST_LINKS = 40  # on the way to one path, as in the kernel
_OWN_PROCESS = "/proc/self"
_ROOT_OPTIONS = b"size=1m,nr_inodes=4096,mode=755"
_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC


class Layout(NamedTuple):
    """What stands in a root folder."""

    folders: tuple[str, ...]  # what leads there, outermost first
    links: tuple[tuple[str, str], ...]  # symbolic links on the way, with their targets
    shown: tuple[tuple[str, bool], ...]  # files and folders of the system's, with whether each is a folder


@functools.cache
def layout(readable: tuple[Path, ...]) -> Layout:
    """Return where the readable paths, and what every sandboxed process may read, stand in a root folder."""
    links: dict[str, str] = {}
    found = {_followed(os.fspath(path), links) for path in (*readable_paths(), *readable)}
    for path in names_of_python():
        _followed(path, links)
    shown: dict[str, bool] = {}
    for place in sorted(filter(None, found)):
        if not any(place.startswith(f"{other}/") for other, is_folder in shown.items() if is_folder):
            shown[place] = os.path.isdir(place)
    links = {link: target for link, target in links.items() if not any(link.startswith(f"{path}/") for path in shown)}
    places = [*shown, *links, _OWN_PROCESS]
    folders = {os.fspath(folder) for place in places for folder in Path(place).parents} - {"/"}
    folders |= {path for path, is_folder in shown.items() if is_folder} | {_OWN_PROCESS}
    return Layout(tuple(sorted(folders)), tuple(links.items()), tuple(shown.items()))


def enter(folder: Path, readable: tuple[Path, ...]) -> None:
    """Leave the system's root folder for one that holds what may be read and the way to `folder`, or raise OSError."""
    root, own = os.fspath(folder), f"/proc/{os.readlink(_OWN_PROCESS)}"
    folders, links, shown = layout(readable)
    _mount(b"root", root, b"tmpfs", _FLAGS, _ROOT_OPTIONS)
    for path in folders:
        os.mkdir(root + path)
    for link, target in links:
        os.symlink(target, root + link)
    for path, is_folder in shown:
        if not is_folder:
            os.close(os.open(root + path, os.O_CREAT | os.O_CLOEXEC, 0o444))
        with contextlib.suppress(PermissionError):  # where this user cannot look anyway
            _mount(os.fsencode(path), root + path, None, MS_BIND | syscalls.MS_REC)
    _mount(os.fsencode(own), root + _OWN_PROCESS, None, MS_BIND | syscalls.MS_REC)
    os.symlink("self", root + own)
    os.makedirs(root + root, exist_ok=True)
    os.chdir(root)
    succeed(LIBC.pivot_root(b".", b"."), "pivot_root")
    succeed(LIBC.umount2(b".", syscalls.MNT_DETACH), "umount2")
    os.chdir("/")
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | _FLAGS)


def _mount(source: bytes | None, target: str, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    succeed(LIBC.mount(source, os.fsencode(target), kind, flags, options), f"mount on {target}")


def _followed(path: str, links: dict[str, str]) -> str:
    """Return where a path leads in the end, "" where there is nothing that this user may find; note links on the way.

    What a process reads of itself has another path in each of them, and is none of this.
    """
    parts, current, left = _parts(path), "/", MOST_LINKS
    while parts:
        place = os.path.normpath(os.path.join(current, parts.pop()))
        if place == _OWN_PROCESS:
            return ""
        try:
            if not stat.S_ISLNK(os.lstat(place).st_mode):
                current = place
                continue
            target = os.readlink(place)
        except OSError:
            return ""
        left -= 1
        if not left:
            return ""
        links[place] = target
        parts += _parts(target)
        current = "/" if target.startswith("/") else current
    return current


def _parts(path: str) -> list[str]:
    """The names of a path, the last one first."""
    return [part for part in reversed(path.split("/")) if part]
