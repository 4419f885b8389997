"""What somebody handed in, and what of it is put into submitted/: of several notebooks the newest, and all else."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from autograder.collect.download import LARGEST, File, Unreadable, inside, safe_path
from autograder.grading.submission.other_files import OTHERS
from autograder.grading.submission.reader import NOTEBOOK, TIME, plain

MOST_BYTES = 200 * 2**20  # of one hand-in
MOST_FILES = 2000
MOST_ZIPS = 3  # in each other
COPY = re.compile(r"[-( ](\d{1,2})\)?$")  # what platforms and browsers put behind a name that is there already
SHOWN = 80  # letters of a name


@dataclass(frozen=True)
class HandIn:
    """What one student handed in."""

    student: str
    who: str  # the student as the platform calls them
    files: tuple[File, ...]
    time: datetime | None = None  # when, where the platform says so
    orders: tuple[float, ...] = ()  # the numbers of its files, which grow, where the platform gives them some
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> float:
        """Which of two hand-ins is the newer one: a number that grows, or a time; 0 where nobody knows."""
        return max(self.orders, default=0.0) or (self.time.timestamp() if self.time else 0.0)


@dataclass
class Contents:
    """What is put into submitted/."""

    files: dict[str, bytes] = field(default_factory=dict)  # path in the folder of the submission → bytes
    notes: list[str] = field(default_factory=list)  # what was odd
    problems: list[str] = field(default_factory=list)  # what could not be read, and why


@dataclass(frozen=True)
class _Piece:
    """A file that was read."""

    path: PurePosixPath
    data: bytes
    age: tuple[float, float, int]  # order, time and number of the copy: the newest has the greatest

    @property
    def is_notebook(self) -> bool:
        return bool(NOTEBOOK.search(self.path.name))

    @property
    def stem(self) -> str:
        return NOTEBOOK.sub("", self.path.name)


class _Reader:
    """Reads the files of a hand-in, and those in its zip files, within limits for all of them together."""

    def __init__(self, contents: Contents) -> None:
        self.pieces: list[_Piece] = []
        self._contents = contents
        self._bytes, self._files = MOST_BYTES, MOST_FILES

    def read(self, file: File, order: float = 0.0, zips: int = 0) -> None:
        """Read a file; of a zip file what is in it, or itself where nothing in it can be read."""
        name = file.path.name
        if file.size <= LARGEST and not file.why_not:
            self._files -= 1
            self._bytes -= file.size
        if self._files < 0 or self._bytes < 0:
            self._problem(f"More was handed in than {MOST_FILES:,} files or {MOST_BYTES // 2**20} MB; not all is here.")
            return
        try:
            data = file.read()
        except Unreadable as error:
            self._problem(f"`{name[:SHOWN]}` {error}.")
            return
        before = len(self.pieces)
        if name.lower().endswith(".zip"):
            for inner in self._opened(name, data, zips):
                self.read(inner.renamed(safe_path(f"{file.path.with_suffix('')}/{inner.path}")), order, zips + 1)
        if len(self.pieces) == before:
            copy = COPY.search(NOTEBOOK.sub("", name))
            self.pieces.append(_Piece(file.path, data, (order, file.modified, int(copy[1]) if copy else 0)))

    def _opened(self, name: str, data: bytes, zips: int) -> Sequence[File]:
        if zips == MOST_ZIPS:
            self._problem(f"`{name[:SHOWN]}` was not opened: it lies in {MOST_ZIPS} others.")
            return ()
        try:
            return inside(data)
        except Unreadable as error:
            self._problem(f"`{name[:SHOWN]}` {error}.")
            return ()

    def _problem(self, text: str) -> None:
        if text not in self._contents.problems:
            self._contents.problems.append(text)


def read(hand_in: HandIn, lesson: str) -> Contents:
    """Read what is put into submitted/ of a hand-in: the notebook by the lesson's name, and in `OTHERS` all else.

    A kernel finds what lies beside its notebook before Python's own modules; whoever opens this one would run it.
    """
    contents = Contents(notes=list(hand_in.notes))
    reader = _Reader(contents)
    for place, file in enumerate(hand_in.files):
        reader.read(file, hand_in.orders[place] if hand_in.orders else 0.0)
    notebook = _newest([piece for piece in reader.pieces if piece.is_notebook], lesson, contents)
    names = _Names()
    names.take(PurePosixPath(TIME))  # which says when something was handed in: not for students to write
    if notebook:
        contents.files[names.take(PurePosixPath(f"{lesson}.ipynb"))] = notebook.data
    for piece in reader.pieces:
        if piece is not notebook:
            contents.files[names.take(safe_path(f"{OTHERS}/{piece.path}"))] = piece.data
    if hand_in.time:
        contents.files[TIME] = f"{hand_in.time.astimezone(UTC).isoformat(timespec='seconds')}\n".encode()
    return contents


def _newest(notebooks: Sequence[_Piece], lesson: str, contents: Contents) -> _Piece | None:
    """Return the notebook that counts: of those called like the lesson, if there are any, the newest."""
    if not notebooks:
        return None
    alike = [piece for piece in notebooks if plain(lesson) in plain(piece.stem)]
    newest = max(alike or notebooks, key=lambda piece: piece.age)
    others = list(dict.fromkeys(f"`{str(piece.path)[-SHOWN:]}`" for piece in notebooks if piece is not newest))
    if others:
        is_newest = newest is max(notebooks, key=lambda piece: piece.age)
        why = "being the newest" if is_newest else "having the lesson's name"
        names = ", ".join(others[:3]) + (" and more" if len(others) > 3 else "")
        contents.notes.append(f"`{str(newest.path)[-SHOWN:]}` counts, {why}; not {names}.")
    return newest


class _Names:
    """The paths of files that lie in one folder: on any system, no two are the same, and no file is a folder too."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def take(self, path: PurePosixPath) -> str:
        """Return this path, or one like it that is free."""
        for number in itertools.count(1):
            found = path if number == 1 else PurePosixPath(f"({number})") / path
            name, folders = str(found).casefold(), {str(folder).casefold() for folder in found.parents}
            if name not in self._folders and self._files.isdisjoint({name, *folders}):
                break
        self._files.add(name)
        self._folders |= folders
        return str(found)
