"""Students' repositories on GitHub, or on any server that git reaches: cloned, kept up to date and read.

What was handed in is read from what git has fetched, not from the files beside it: no link of a repository is followed
and nothing in it runs.
"""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from autograder.collect.download import MOST_INNER_FILES, File, Unreadable, safe_path
from autograder.collect.hand_in import HandIn
from autograder.collect.people import People
from autograder.collect.platforms import Found
from autograder.course.config import CourseError
from autograder.grading.submission.lessons import Marks
from autograder.grading.submission.reader import MOST_BYTES, NOTEBOOK, NotGradable, cells_of, plain

PLACE, LESSON = "{student}", "{lesson}"
ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # no option, no way up
AT_ONCE = 8
SECONDS = 300.0  # for one repository
SECONDS_TO_LIST = 30.0  # the files of one repository
MOST_LISTED = 16 * 2**20  # bytes of that list, some 100,000 files: trees in trees may name billions in a few kB
MOST_CHECKED_OUT = 2**30  # bytes of those files
MOST_LOOKED_AT = 30  # notebooks elsewhere than where they belong
MOST_NAMED = 3
TOO_MUCH = "more files than can be listed, or more than 1 GB of them. Ask for a repository of the lessons alone."
NOT_THEIRS = ("solutions/", "tests/", "source/", "release/")  # of the course itself, in a fork of it
QUIET = {  # git asks nobody for a password, and fetches no large files of git-lfs
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
}
NO_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false")
STREAMED = ("-c", "core.bigFileThreshold=50m")  # what is larger never stands in memory as a whole


class _GitError(Exception):
    """What git said when it failed."""


@dataclass(frozen=True)
class Wanted:
    """The lesson that is looked for."""

    name: str
    released: bytes  # its notebook as students got it; whoever has that has handed in nothing
    marks: Marks | None = None  # by what its notebook is known, if it is

    def is_released(self, file: File) -> bool:
        """Whether a notebook is as students got it."""
        return file.size == len(self.released) and file.read() == self.released

    def is_in(self, file: File) -> bool:
        """Whether an exercise of the lesson is in a notebook."""
        try:
            return self.marks is not None and self.marks.known_in(cells_of(file.read(MOST_BYTES))) > 1
        except (NotGradable, Unreadable):
            return False


class _Entry(NamedTuple):
    """A file of a repository, as git lists it."""

    name: str
    key: str
    size: int

    def file(self, repository: Path, name: str) -> File:
        """Return it, to be placed under a name."""
        return File(safe_path(name), 0.0, self.size, partial(_blob, repository, self.key))


def accounts(path: Path, people: People) -> list[str]:
    """Read whose repositories there are: a CSV file with a column `id`, or one account a line.

    Raises:
        CourseError: there is none, or one of them is no account.
    """
    if path.suffix.lower() == ".csv":
        found = people.read(path)
    else:
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise CourseError(f"{path} cannot be read ({error}). Name a file with one account a line.") from None
        found = list(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#")))
        people.listed.update(found)
    if not found:
        raise CourseError(f"{path} names no account. Write one a line.")
    if odd := [name for name in found if not ACCOUNT.fullmatch(name)]:
        raise CourseError(f"“{odd[0][:40]}” in {path} is no account on GitHub. Write one a line, without a link.")
    return found


def github(names: Sequence[str], template: str, folder: Path, lesson: Wanted) -> Found:
    """Fetch each student's repository, and read what it holds of a lesson.

    Args:
        template: the address of a repository, with {student} in it, and {lesson} where each lesson has its own.
        folder: where the repositories are kept.

    Raises:
        CourseError: there is no such address, or no git.
    """
    if PLACE not in template:
        raise CourseError(f"--repository {template} has no {PLACE} in it, as git@github.com:{PLACE}/course.git has.")
    if shutil.which("git") is None:
        raise CourseError("There is no git. Install it, and try again.")
    folder.mkdir(parents=True, exist_ok=True)
    slug = lesson.name.replace("_", "-")  # as names of assignments are on GitHub

    def read(student: str) -> HandIn:
        try:
            place = folder / (f"{student}@{slug}" if LESSON in template else student)
            return _read(place, template.replace(PLACE, student).replace(LESSON, slug), student, lesson)
        except Exception as error:  # of one repository, which stops no other
            why = f"no answer within {SECONDS:g} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
            return HandIn(student, student, (), notes=(f"The repository could not be read: {why}",))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Found(list(pool.map(read, names)))


def _read(repository: Path, address: str, student: str, lesson: Wanted) -> HandIn:
    """Fetch one repository, or clone it, and list what it holds of a lesson.

    Its files are brought to the disk once all of them have been counted.
    """
    notes, quiet = [], ("--quiet", "--no-recurse-submodules")
    if not (repository / ".git").is_dir():
        _git(repository.parent, "clone", "--no-checkout", *quiet, "--", address, str(repository))
    _git(repository, "fetch", *quiet, "origin", "HEAD")
    listed = _entries(repository)
    try:
        if not (repository / ".git" / "index").exists():
            _git(repository, "reset", "--quiet", "--hard", "FETCH_HEAD")
        _git(repository, "merge", "--quiet", "--ff-only", "FETCH_HEAD")
    except _GitError:  # what is handed in is taken from what was fetched, whatever stands here
        notes += [f"{repository} has changes of its own, and was not brought up to date; the hand-in is the newest."]
    place = f"notebooks/{lesson.name}"
    entries = [entry for entry in listed if entry.name.startswith(f"{place}/")][:MOST_INNER_FILES]
    files = [entry.file(repository, str(PurePosixPath(entry.name).relative_to(place))) for entry in entries]
    changed = [file for file in files if not (NOTEBOOK.search(file.path.name) and lesson.is_released(file))]
    if any(NOTEBOOK.search(file.path.name) for file in changed):
        files = changed
    else:
        elsewhere = _elsewhere(repository, listed, lesson, place)
        where = ", ".join(f"`{entry.name}`" for entry in elsewhere[:MOST_NAMED])
        where += " and more" * (len(elsewhere) > MOST_NAMED)
        if len(elsewhere) == 1:
            notes += [f"The notebook was taken from {where}, and not from `{place}/`."]
            place = elsewhere[0].name
            files = [*changed, elsewhere[0].file(repository, PurePosixPath(place).name)]
        elif elsewhere:
            notes += [f"There is no notebook of theirs in `{place}/`, but {where}. Ask for the one that counts there."]
        if len(elsewhere) != 1 and len(changed) < len(files) == 1:
            return HandIn(student, student, (), notes=tuple(notes))
    told = _git(repository, "log", "-1", "--format=%ct", "FETCH_HEAD", "--", place).decode().strip() if files else ""
    time = datetime.fromtimestamp(int(told), UTC) if told else None
    return HandIn(student, student, tuple(files), time, notes=tuple(notes))


def _elsewhere(repository: Path, listed: Sequence[_Entry], lesson: Wanted, place: str) -> list[_Entry]:
    """The notebooks of a lesson that lie in other places than the usual one: by their names, else by what is in them.

    Notebooks that are the same count once, and those that are as they were released not at all.
    """
    found: dict[str, _Entry] = {}
    for entry in listed:
        outside = not entry.name.startswith((f"{place}/", *NOT_THEIRS)) and "/others/" not in f"/{entry.name}"
        if outside and NOTEBOOK.search(entry.name) and len(found) < MOST_LOOKED_AT:
            found.setdefault(entry.key, entry)
    theirs = [entry for entry in found.values() if not lesson.is_released(entry.file(repository, entry.name))]
    named = [entry for entry in theirs if plain(lesson.name) in plain(PurePosixPath(entry.name).stem)]
    return named or [entry for entry in theirs if lesson.is_in(entry.file(repository, entry.name))]


def _entries(repository: Path) -> list[_Entry]:
    """The files of what was fetched, but for links, submodules and hidden ones.

    Raises:
        _GitError: they are more, or larger, than anybody hands in, or cannot be listed.
    """
    command = ["git", *NO_HOOKS, "ls-tree", "-r", "-z", "--long", "FETCH_HEAD"]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, env=_environment()) as process:
        assert process.stdout is not None
        timer = threading.Timer(SECONDS_TO_LIST, process.kill)
        timer.start()
        listed = process.stdout.read(MOST_LISTED)
        if is_too_long := len(listed) == MOST_LISTED:
            process.kill()
        process.wait()
        timer.cancel()
    if is_too_long or process.returncode:
        raise _GitError(f"it holds {TOO_MUCH}")
    entries = []
    for line in listed.decode("utf-8", "replace").split("\0")[:-1]:
        about, _, name = line.partition("\t")
        mode, _, key_and_size = about.partition(" blob ")
        key, _, size = key_and_size.partition(" ")
        if key and mode.startswith("100") and not any(part.startswith(".") for part in name.split("/")):
            entries.append(_Entry(name, key, int(size)))
    if sum(entry.size for entry in entries) > MOST_CHECKED_OUT:
        raise _GitError(f"it holds {TOO_MUCH}")
    return entries


def _blob(repository: Path, key: str, most: int) -> bytes:
    command = ["git", *STREAMED, "cat-file", "blob", key]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, env=_environment()) as process:
        assert process.stdout is not None
        data = process.stdout.read(most)
        if len(data) == most:
            process.kill()
        elif process.wait():
            raise OSError(f"git cannot read {key}")
    return data


def _git(where: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", *NO_HOOKS, *STREAMED, *arguments], cwd=where, env=_environment(), capture_output=True, timeout=SECONDS
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").split("\n")
        raise _GitError(next((line for line in said if line.startswith(("fatal:", "error:"))), said[0])[:200])
    return done.stdout


def _environment() -> Mapping[str, str]:
    ssh = {"GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")}
    return os.environ | QUIET | ssh
