"""Lessons of a new version that wait for the end of the term: they have other checks, and somebody has handed in.

Of such a lesson solutions/.held_back/ keeps two notebooks: the one that the course goes on with, as it was then, and
the newer one, into which later merges go. After the term the difference between the two is merged into the lesson.
"""

import shutil
import tempfile
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SQLAlchemyError

from autograder import files
from autograder.course.config import CourseError
from autograder.course.manifest import git
from autograder.course.paths import Course
from autograder.course.release import NotRecorded, release

FOLDER = "solutions/.held_back"


def remarks(root: Path) -> list[str]:
    """Say what is held back, and until when."""
    return [
        f"{_path(lesson)}: a new version with other checks is held back, since the lesson was handed in when it came. "
        "Once the gradebook is moved away, `autograder release --held-back` takes it."
        for lesson in _held_back(root)
    ]


def release_merged(root: Path) -> list[str]:
    """Release what git has merged and not yet committed; lessons that the gradebook refuses stay as they were.

    Raises:
        CourseError: as `release` does.
    """
    _carry_on(root)
    while True:
        try:
            return release(root)
        except NotRecorded as refusal:
            if not (_is_handed_in(root, refusal.lesson) and _hold_back(root, refusal.lesson)):
                raise


def release_held_back(root: Path) -> list[str]:
    """Take what was held back of lessons that nobody has handed in, and release.

    Raises:
        CourseError: as `release` does, or somebody has to choose between two versions.
    """
    lines = release(root)
    unmerged = []
    for lesson in _held_back(root):
        folder = root / FOLDER / lesson
        if not _is_handed_in(root, lesson):
            if not _merge(root, root / _path(lesson), folder / "before.ipynb", folder / "newer.ipynb"):
                unmerged.append(_path(lesson))
            shutil.rmtree(folder)
    if unmerged:
        raise CourseError(
            f"{', '.join(unmerged)}: you and the version that was held back change the same lines. "
            "Choose between them where git has marked them, and run `autograder release`."
        )
    return lines + release(root)


def _path(lesson: str) -> str:
    return f"solutions/{lesson}/{lesson}.ipynb"


def _held_back(root: Path) -> list[str]:
    return sorted(path.parent.name for path in (root / FOLDER).glob("*/newer.ipynb"))


def _is_handed_in(root: Path, lesson: str) -> bool:
    """Whether the gradebook has hand-ins of a lesson."""
    try:
        with Gradebook(Course.at(root).db_url) as gradebook:
            return bool(gradebook.find_notebook(lesson, lesson).submissions)
    except (MissingEntry, SQLAlchemyError):
        return False


def _at(root: Path, commit: str, path: str) -> bytes | None:
    """A text file as a commit has it; None where it does not."""
    text = git(root, "show", f"{commit}:./{path}")
    return None if text is None else f"{text}\n".encode()


def _hold_back(root: Path, lesson: str) -> bool:
    """Keep a lesson as it was before the merge under way, and its newer version for later; False if that is no help."""
    path, folder, before = root / _path(lesson), root / FOLDER / lesson, _at(root, "HEAD", _path(lesson))
    newer = path.read_bytes()
    if git(root, "rev-parse", "--verify", "MERGE_HEAD") is None or before in (None, newer) or folder.exists():
        return False
    folder.mkdir(parents=True)
    files.write(folder / "before.ipynb", before or b"")
    files.write(folder / "newer.ipynb", newer)
    return git(root, "checkout", "HEAD", "--", _path(lesson)) is not None


def _carry_on(root: Path) -> None:
    """Bring the merge under way into what is held back instead of the lessons; a second time changes nothing."""
    base = git(root, "merge-base", "HEAD", "MERGE_HEAD")
    for lesson in _held_back(root) if base else []:
        newer = f"{FOLDER}/{lesson}/newer.ipynb"
        sides = _at(root, base or "", _path(lesson)), _at(root, "MERGE_HEAD", _path(lesson))
        if git(root, "checkout", "HEAD", "--", _path(lesson), newer) is None or None in sides:
            continue  # held back by this very merge, or upstream has it no more
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder, "before"), Path(folder, "after")
            before.write_bytes(sides[0] or b"")
            after.write_bytes(sides[1] or b"")
            _merge(root, root / newer, before, after)


def _merge(root: Path, path: Path, before: Path, after: Path) -> bool:
    """Merge the difference between two files into a third; False where that leaves conflicts in it."""
    labels = ("-L", "yours", "-L", "before", "-L", "the new version")
    return git(root, "merge-file", *labels, *map(str, (path.resolve(), before.resolve(), after.resolve()))) is not None
