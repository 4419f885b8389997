"""Write files that are there whole or not at all, and still there after a crash; list and remove any folder."""

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

DEEPEST = 20  # folders in each other that somebody may have a use for


def write(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file, in place of an earlier one if there is one, with permissions as `create` gives them."""
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with create(unfinished, mode=mode) as file:
            file.write(data)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def create(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a file that is not there yet; when the block ends, its content is on the disk.

    Args:
        mode: its permissions, whatever the umask; None leaves them to the umask.

    Raises:
        FileExistsError: it is there already.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    with open(handle, "wb") as file:
        yield file
        file.flush()
        if mode is not None:
            os.fchmod(handle, mode)
        os.fsync(handle)


def digest_of(paths: Iterable[Path]) -> str:
    """A digest of files, one behind the other."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where a folder can be opened: not on Windows."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_regular(path: Path) -> BufferedReader | None:
    """Open a file that is one, no link, pipe or device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def walk(folder: Path, *, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[Path]:
    """List what lies in a folder and in those below it: files, links, and folders that are not entered.

    These are the ones deeper than `DEEPEST`, and those that cannot be read. Whatever somebody has made of the folder,
    nothing is raised, and no link is followed.

    Args:
        wanted: says of a name whether it is listed and, where it is a folder's, entered.
    """
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            yield place
            continue
        below = []
        for entry in filter(lambda entry: wanted(entry.name), entries):
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif depth < DEEPEST:
                below.append((Path(entry.path), depth + 1))
            else:
                yield Path(entry.path)
        waiting += reversed(below)


def remove(folder: str | Path) -> None:
    """Remove a folder and what lies in it, as far as that may be removed: of any depth, unlike `shutil.rmtree`.

    Whatever somebody has made of the folder, nothing is raised, and no link is followed. Each folder is moved to the
    top before it is emptied, so no path grows long.
    """
    folder = Path(folder)
    waiting = [folder]
    for place in waiting:
        for inner in _listed(place):
            with suppress(OSError):
                if not inner.is_symlink() and inner.is_dir():  # a link may have a target too long to ask for
                    inner.chmod(0o700)
                    waiting.append(inner.rename(folder / f"{secrets.token_hex(8)}.removed"))
                else:
                    inner.unlink()
    for place in reversed(waiting):
        with suppress(OSError):
            place.rmdir()


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
