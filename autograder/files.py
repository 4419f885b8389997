"""Write files that are there whole or not at all, and still there after a crash."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file, in place of an earlier one if there is one.

    Args:
        mode: its permissions, whatever the umask; None leaves them to the umask.
    """
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


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
