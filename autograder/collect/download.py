"""What was downloaded: a zip file or a folder, whose files are listed by safe names and read within limits.

Nothing is unpacked to the disk. A name from a zip file is only a name: its `..`, roots and drives are dropped.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self

from autograder import files
from autograder.course.config import CourseError

LARGEST = 100 * 2**20  # bytes of a file
MOST_FILES = 100_000  # in a download
MOST_INNER_FILES = 2000  # in a zip file that a student made
DEEPEST = 8  # folders in each other; of more, the last ones count
LONGEST_NAME = 120  # bytes of a file's or a folder's name
OWN_MARK = b"PK\x01\x02"  # before each file that a zip file lists
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Python bounds what these make of a small piece
UTF8, ENCRYPTED = 0x800, 0x1
JUNK = ("__macosx", "thumbs.db", "desktop.ini")


class Unreadable(Exception):
    """A file that cannot be read; the text says why, to be put behind its name."""


@dataclass(frozen=True)
class File:
    """A file of a download."""

    path: PurePosixPath  # where it lies there: never absolute, without `..`, and not deep
    modified: float  # in seconds; 0 where that is not known
    size: int  # in bytes, as the download says; of what has more, no more is read
    open_within: Callable[[int], bytes]
    why_not: str = ""  # why it cannot be read; "" where it can

    def read(self, most: int = LARGEST) -> bytes:
        """Return what is in it.

        Args:
            most: so many bytes.

        Raises:
            Unreadable: it has more, or is broken.
        """
        if self.why_not:
            raise Unreadable(self.why_not)
        if self.size > most:
            raise Unreadable(f"has more than {most / 2**20:.0f} MB")
        try:
            return self.open_within(most)
        except Exception as error:  # whatever broken bytes bring about in zipfile and zlib
            raise Unreadable(f"is damaged ({type(error).__name__})") from None

    def renamed(self, path: PurePosixPath) -> File:
        """Return the same file at another place."""
        return replace(self, path=path)


class Download:
    """A zip file or a folder, to be used in a `with` statement.

    Attributes:
        path: where it is.
        files: what lies in it, but for links, hidden files and what systems put there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[File] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """List its files.

        Raises:
            CourseError: it is not there, neither folder nor zip file, or holds no file.
        """
        if self.path.is_dir():
            found = _in_folder(self.path)
        elif self.path.is_file():
            try:
                found = _in_zip(self._open.enter_context(zipfile.ZipFile(self.path)))
            except Exception as error:
                raise CourseError(
                    f"{self.path} is no zip file that can be opened ({type(error).__name__}: {error}). "
                    "Download it again, or name the folder that you have unpacked it to."
                ) from None
        else:
            raise CourseError(f"There is no file and no folder {self.path}. Download it first.")
        self.files = list(itertools.islice(found, MOST_FILES + 1))
        if len(self.files) > MOST_FILES:
            raise CourseError(f"{self.path} holds more than {MOST_FILES:,} files, which no class hands in.")
        if not self.files:
            raise CourseError(f"{self.path} holds no file. Download it again.")
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self._open.close()


def inside(data: bytes) -> list[File]:
    """List the files of a zip file that lies in a download.

    Raises:
        Unreadable: it is none, or lists more than anybody hands in.
    """
    if data.count(OWN_MARK) > MOST_INNER_FILES:  # before zipfile makes an object of each
        raise Unreadable(f"holds more than {MOST_INNER_FILES:,} files")
    try:
        return list(_in_zip(zipfile.ZipFile(io.BytesIO(data))))
    except Exception:
        raise Unreadable("is no zip file that can be opened, or was cut off") from None


def _in_folder(folder: Path) -> Iterator[File]:
    for path in files.walk(folder, wanted=lambda name: not _is_junk(name)):
        with suppress(OSError):
            found, place = path.lstat(), safe_path(str(path.relative_to(folder)))
            if stat.S_ISREG(found.st_mode):
                yield File(place, found.st_mtime, found.st_size, partial(_read, path))


def _read(path: Path, most: int) -> bytes:
    source = files.open_regular(path)
    if source is None:
        raise OSError(f"{path} cannot be opened")
    with source:
        return source.read(most)


def _in_zip(archive: zipfile.ZipFile) -> Iterator[File]:
    for entry in archive.infolist():
        name = _name(entry)
        parts = re.split(r"[/\\]", name)
        if entry.is_dir() or stat.S_ISLNK(entry.external_attr >> 16) or any(map(_is_junk, parts)):
            continue
        why_not = "is encrypted" if entry.flag_bits & ENCRYPTED else ""
        if entry.compress_type not in METHODS:
            why_not = "is packed in a way that is not read here"
        yield File(safe_path(name), _modified(entry), entry.file_size, partial(_member, archive, entry), why_not)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(entry) as member:
        return member.read(most)


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip file; many programs write it in UTF-8 without saying so."""
    if not entry.flag_bits & UTF8:
        with suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def _modified(entry: zipfile.ZipInfo) -> float:
    with suppress(ValueError, OverflowError):
        return datetime(*entry.date_time).timestamp()
    return 0.0


def _is_junk(name: str) -> bool:
    """Whether a file or a folder is hidden, or what a system puts there. A name of dots alone is a way up."""
    return (name.startswith(".") and bool(name.strip("."))) or name.casefold() in JUNK


def safe_path(name: str) -> PurePosixPath:
    """Return a path that leads nowhere but down, and not far: `C:/a/../b:c` is `a/b_c`."""
    parts = re.split(r"[/\\]", re.sub(r"^[A-Za-z]:(?=[/\\])", "", name))
    parts = [safe_name(part) for part in parts if part.strip(". ")]
    return PurePosixPath(*(parts[-DEEPEST:] or ["unnamed"]))


def safe_name(name: str) -> str:
    """Return a name that a file may have on any system, and none that hides it; letters of all scripts stay."""
    plain = unicodedata.normalize("NFC", name).strip()
    plain = "".join(c if c.isprintable() and c not in ':*?"<>|/\\' else "_" for c in plain)
    plain = f"_{plain[1:]}" if plain.startswith(".") else plain
    stem, suffix = os.path.splitext(plain)
    room = LONGEST_NAME - len(suffix.encode())
    return plain if len(plain.encode()) <= LONGEST_NAME else _cut(stem, room) + suffix if room > 0 else _cut(plain)


def _cut(text: str, most: int = LONGEST_NAME) -> str:
    return text.encode()[:most].decode("utf-8", "ignore")
