"""Students' repositories on GitHub, or on any server that git reaches: cloned, kept up to date and read.

What was handed in is read from what git has fetched, not from the files beside it: no link of a repository is followed
and nothing in it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from autograder.collect.download import MOST_INNER_FILES, File, safe_path
from autograder.collect.hand_in import HandIn
from autograder.collect.people import People
from autograder.collect.platforms import Found
from autograder.course.config import CourseError

PLACE = "{student}"
ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # no option, no way up
AT_ONCE = 8
SECONDS = 300.0  # for one repository
QUIET = {  # git asks nobody for a password, and fetches no large files of git-lfs
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
}
NO_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false")


class _GitError(Exception):
    """What git said when it failed."""


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


def github(names: Sequence[str], template: str, folder: Path, lesson: str, released: bytes) -> Found:
    """Fetch each student's repository, and read what it holds of a lesson.

    Args:
        template: the address of a repository, with {student} in it.
        folder: where the repositories are kept.
        released: the lesson's notebook as students got it; whoever has that has handed in nothing.

    Raises:
        CourseError: there is no such address, or no git.
    """
    if PLACE not in template:
        raise CourseError(
            f"--repository {template} has no {PLACE} in it, as git@github.com:{PLACE}/transformer.git has."
        )
    if shutil.which("git") is None:
        raise CourseError("There is no git. Install it, and try again.")
    folder.mkdir(parents=True, exist_ok=True)

    def read(student: str) -> HandIn:
        try:
            return _read(folder / student, template.replace(PLACE, student), student, lesson, released)
        except Exception as error:  # of one repository, which stops no other
            why = f"no answer within {SECONDS:g} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
            return HandIn(student, student, (), notes=(f"The repository could not be read: {why}",))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Found(list(pool.map(read, names)))


def _read(repository: Path, address: str, student: str, lesson: str, released: bytes) -> HandIn:
    """Fetch one repository, or clone it, and list what it holds of a lesson."""
    notes: tuple[str, ...] = ()
    if not (repository / ".git").is_dir():
        _git(repository.parent, "clone", "--quiet", "--no-recurse-submodules", "--", address, str(repository))
    _git(repository, "fetch", "--quiet", "--no-recurse-submodules", "origin", "HEAD")
    try:
        _git(repository, "merge", "--quiet", "--ff-only", "FETCH_HEAD")
    except _GitError:  # what is handed in is taken from what was fetched, whatever stands here
        notes = (f"{repository} has changes of its own, and was not brought up to date; the hand-in is the newest.",)
    place = f"notebooks/{lesson}"
    listed = _git(repository, "ls-tree", "-r", "-z", "--long", "FETCH_HEAD", "--", f"{place}/").decode(
        "utf-8", "replace"
    )
    files = []
    for line in listed.split("\0")[:MOST_INNER_FILES]:
        about, _, name = line.partition("\t")
        mode, _, key_and_size = about.partition(" blob ")
        key, _, size = key_and_size.partition(" ")
        if key and mode.startswith("100") and not any(part.startswith(".") for part in name.split("/")):
            path = safe_path(str(PurePosixPath(name).relative_to(place)))
            files.append(File(path, 0.0, int(size), _blob(repository, key)))
    if [file.path.name for file in files] == [f"{lesson}.ipynb"] and files[0].read() == released:
        return HandIn(student, student, ())
    told = _git(repository, "log", "-1", "--format=%ct", "FETCH_HEAD", "--", place).decode().strip() if files else ""
    time = datetime.fromtimestamp(int(told), UTC) if told else None
    return HandIn(student, student, tuple(files), time, float(told or 0), notes=notes)


def _blob(repository: Path, key: str) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        command = ["git", "cat-file", "blob", key]
        with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, env=_environment()) as process:
            assert process.stdout is not None
            data = process.stdout.read(most)
            if len(data) == most:
                process.kill()
            elif process.wait():
                raise OSError(f"git cannot read {key}")
        return data

    return read


def _git(where: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", *NO_HOOKS, *arguments], cwd=where, env=_environment(), capture_output=True, timeout=SECONDS
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").split("\n")
        raise _GitError(next((line for line in said if line.startswith(("fatal:", "error:"))), said[0])[:200])
    return done.stdout


def _environment() -> Mapping[str, str]:
    ssh = {"GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")}
    return os.environ | QUIET | ssh
