"""Put hand-ins into submitted/, so that the same one twice changes nothing and what a person changed stays.

What was put there is known by its digest, in `.collected.json`. A folder is made beside its place and renamed into it,
and written down after that: whoever is stopped in between finds on the next run the digest that it would write.
"""

import enum
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder import files
from autograder.course.config import CourseError
from autograder.course.paths import Course, is_folder_name

STATE = ".collected.json"


class Placed(enum.Enum):
    """What became of a hand-in."""

    NEW = "new"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    OLDER = "older than what is there"
    EDITED = "not placed, since somebody changed what is there"


class Submitted:
    """The submissions of a lesson, and what is known of how they got there."""

    def __init__(self, course: Course, lesson: str) -> None:
        """Read what earlier runs wrote down.

        Raises:
            CourseError: it cannot be read.
        """
        self._course, self._lesson = course, lesson
        self._path = course.all_submitted / STATE
        self._state = _read(self._path)

    def place(self, student: str, contents: Mapping[str, bytes], order: float) -> Placed:
        """Put a hand-in into its folder, unless it is there, a newer one is, or somebody changed what is.

        Raises:
            CourseError: the student's id can be no folder.
            OSError: it cannot be written.
        """
        if not is_folder_name(student):
            raise CourseError(f"`{student}` can be no folder's name. Change the id with `nbgrader db student`.")
        folder = self._course.submitted(student, self._lesson)
        known = self._state.get(self._lesson, {}).get(student, {})
        digest = digest_of((name, hashlib.sha256(data).digest()) for name, data in contents.items())
        there = digest_of(_hashes(folder)) if folder.exists() else None
        if there == digest:
            self._write_down(student, digest, max(order, known.get("order", 0.0)))
            return Placed.UNCHANGED
        if there is not None and there != known.get("digest"):
            return Placed.EDITED
        if there is not None and 0 < order < known["order"]:
            return Placed.OLDER
        self._put(student, folder, contents)
        self._write_down(student, digest, order)
        return Placed.NEW if there is None else Placed.REPLACED

    def let_older_replace(self, students: Iterable[str]) -> None:
        """Let any other hand-in of these students take the place of what is there, an older one too."""
        known = self._state.get(self._lesson, {})
        for student in known.keys() & set(students):
            self._write_down(student, known[student]["digest"], 0.0)

    def _put(self, student: str, folder: Path, contents: Mapping[str, bytes]) -> None:
        fresh = folder.with_name(f".{folder.name}.unfinished")
        files.remove(fresh)
        fresh.mkdir(parents=True)
        for name, data in contents.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            with files.create(fresh / name) as file:
                file.write(data)
        if folder.exists():
            keep_earlier(self._course, student, self._lesson)
        fresh.rename(folder)
        files.sync_folder(folder.parent)

    def _write_down(self, student: str, digest: str, order: float) -> None:
        lesson, entry = self._state.setdefault(self._lesson, {}), {"digest": digest, "order": order}
        if lesson.get(student) != entry:
            lesson[student] = entry
            files.write(self._path, json.dumps(self._state, indent=1, sort_keys=True).encode())


def keep_earlier(course: Course, student: str, lesson: str) -> None:
    """Move a submission to those that later ones took the place of."""
    parent = course.replaced(student, lesson)
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while (parent / str(number)).exists():
        number += 1
    course.submitted(student, lesson).rename(parent / str(number))


def collected_of(course: Course, student: str) -> dict[str, dict[str, Any]]:
    """Return what is written down about a student, by lesson.

    Raises:
        CourseError: it cannot be read.
    """
    state = _read(course.all_submitted / STATE)
    return {lesson: entries[student] for lesson, entries in state.items() if student in entries}


def orders_of(course: Course, lesson: str) -> dict[str, float]:
    """Return student → the order of what was collected last, on Canvas the highest number of a file."""
    return {student: entry["order"] for student, entry in _read(course.all_submitted / STATE).get(lesson, {}).items()}


def forget(course: Course, student: str) -> None:
    """Strike a student out of what is written down."""
    path = course.all_submitted / STATE
    state = _read(path)
    left = {lesson: {who: entry for who, entry in state[lesson].items() if who != student} for lesson in state}
    if left != state:
        files.write(path, json.dumps(left, indent=1, sort_keys=True).encode())


def digest_of(hashes: Iterable[tuple[str, bytes]]) -> str:
    """Return what tells two folders apart: the paths of their files, and what is in these."""
    whole = hashlib.sha256()
    for name, content in sorted(hashes):
        whole.update(f"{len(os.fsencode(name))} ".encode() + os.fsencode(name) + content)
    return whole.hexdigest()


def _hashes(folder: Path) -> Iterable[tuple[str, bytes]]:
    """The files of a folder with their hashes; hidden ones, which editors and systems leave, are none of ours."""
    for path in files.walk(folder, wanted=lambda name: not name.startswith(".")):
        source = files.open_regular(path)
        content = b""
        if source is not None:
            with source:
                content = hashlib.file_digest(source, "sha256").digest()
        yield str(path.relative_to(folder)), content


def _read(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        for entries in state.values():
            for entry in entries.values():
                entry["digest"].encode(), float(entry["order"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CourseError(
            f"{path} cannot be read ({type(error).__name__}). Move it away; what is in submitted/ stays as it is."
        ) from None
    return dict(state)
