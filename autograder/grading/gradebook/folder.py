"""The folder of a graded submission in autograded/: the notebook and what was handed in beside it, whole or not at all.

It is made beside its place, brought to the disk and renamed into it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from autograder import files
from autograder.course.config import CourseError
from autograder.course.paths import Course

MOST_FILES = 1000  # that are kept beside a graded notebook
SHOWN = 3  # of the files that are not


def write_folder(folder: Path, name: str, notebook: bytes, submitted: Path | None, course: Course, mode: int) -> str:
    """Put a folder in place of an earlier one.

    Args:
        name: the notebook's file.
        submitted: the folder of the submission, whose other files come along.
        mode: the permissions of all files.

    Returns:
        what of the submission was left out, in a sentence; "" for nothing.
    """
    fresh, old = (folder.with_name(f".{folder.name}.{state}") for state in ("unfinished", "replaced"))
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        left_out = _copy_others(submitted, fresh, course, mode) if submitted else []
        with files.create(fresh / name, mode=mode) as file:
            file.write(notebook)
        files.sync_folder(fresh)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    files.sync_folder(folder.parent)
    files.sync_folder(folder.parent.parent)
    shutil.rmtree(old, ignore_errors=True)
    return _sentence(left_out)


def _copy_others(submitted: Path, folder: Path, course: Course, mode: int) -> list[Path]:
    """Copy what nbgrader copies, except links, what is no file, and what exceeds nbgrader's own limits for copying.

    Returns:
        what was left out.
    """
    if not submitted.is_dir():
        raise CourseError(f"{submitted} is no folder of a submission. Was it moved while it was graded? Grade again.")
    left_out: list[Path] = []
    count, room = 0, course.directory.max_dir_size * 1000
    for path in _others(submitted, [*course.directory.ignore, "*.ipynb"]):
        inside = path.relative_to(submitted)
        source = _open(path)
        if source is None:
            left_out.append(inside)
            continue
        with source:
            size = os.fstat(source.fileno()).st_size
            if size > min(course.directory.max_file_size * 1000, room) or count == MOST_FILES:
                left_out.append(inside)
                continue
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            with files.create(folder / inside, mode=mode) as copy:
                shutil.copyfileobj(source, copy)
        count, room = count + 1, room - size
    return left_out


def _others(submitted: Path, ignored: Sequence[str]) -> Iterator[Path]:
    """What lies in a submission's folder and is not ignored: files, and links to folders."""

    def kept(names: Sequence[str]) -> list[str]:
        return sorted(name for name in names if not any(fnmatch(name, pattern) for pattern in ignored))

    for place, folders, names in os.walk(submitted):
        folders[:] = kept(folders)
        yield from (path for name in folders if (path := Path(place, name)).is_symlink())
        yield from (Path(place, name) for name in kept(names))


def _open(path: Path) -> BinaryIO | None:
    """Open a file that is one, no link, pipe or device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def _sentence(left_out: Sequence[Path]) -> str:
    if not left_out:
        return ""
    shown = ["".join(c if c.isprintable() else "?" for c in str(path))[:80] for path in left_out[:SHOWN]]
    more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
    return f"Not kept beside the graded notebook (links, too large or unreadable): {', '.join(shown)}{more}."
