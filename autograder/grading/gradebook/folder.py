"""The folder of a graded submission in autograded/: the notebook and what was handed in with it, whole or not at all.

It is made beside its place, brought to the disk and renamed into it.
"""

import itertools
import os
import shutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from autograder import files
from autograder.course.config import CourseError
from autograder.course.names import printable
from autograder.course.paths import Course
from autograder.grading.submission.other_files import OTHERS
from autograder.grading.submission.reader import SECRET, TIME

MOST_FILES = 1000  # that are kept beside a graded notebook
MOST_SEEN = 20 * MOST_FILES  # that are looked at
LONGEST_PATH = 4096  # in bytes, Linux's PATH_MAX
SHOWN = 3  # of the files that are not


def write_folder(
    folder: Path, notebooks: Mapping[str, bytes], submitted: Path | None, course: Course, mode: int
) -> str:
    """Put a folder of graded notebooks, by name, and the other files of a submission in place of an earlier one.

    All files have the permissions `mode`. Return what of the submission was left out, in a sentence; "" for nothing.
    """
    fresh, old = (folder.with_name(f".{folder.name}.{state}") for state in ("unfinished", "replaced"))
    for leftover in (fresh, old):
        files.remove(leftover)
    try:
        fresh.mkdir(parents=True)
        is_own = submitted is not None and not (submitted.is_symlink() or submitted.parent.is_symlink())
        left_out = _copy_others(submitted, fresh, course, mode) if submitted and is_own else []
        for name, notebook in notebooks.items():
            with files.create(fresh / f"{name}.ipynb", mode=mode) as file:
                file.write(notebook)
        files.sync_folder(fresh)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except BaseException:
        files.remove(fresh)
        raise
    files.sync_folder(folder.parent)
    files.sync_folder(folder.parent.parent)
    files.remove(old)
    return _sentence(left_out)


def _copy_others(submitted: Path, folder: Path, course: Course, mode: int) -> list[Path]:
    """Copy what nbgrader copies, and return what was left out: links, what is no file, what exceeds limits or paths.

    It goes into `OTHERS`: a kernel of the graded notebook would run what lies beside it.
    """
    if not submitted.is_dir():
        raise CourseError(f"{submitted} is no folder of a submission. Was it moved while it was graded? Grade again.")
    left_out: list[Path] = []
    count, room = 0, course.directory.max_dir_size * 1000
    ignored = [*course.directory.ignore, "*.ipynb"]
    others = files.walk(submitted, wanted=lambda name: not any(fnmatch(name, pattern) for pattern in ignored))
    for path in itertools.islice(others, MOST_SEEN):
        inside = path.relative_to(submitted)
        is_in_place = inside in (Path(TIME), Path(SECRET)) or inside.parts[:-1][:1] == (OTHERS,)
        kept = inside if is_in_place else Path(OTHERS, inside)
        source = files.open_regular(path)
        if source is None or len(os.fsencode(folder / kept)) >= LONGEST_PATH:
            left_out.append(inside)
            if source is not None:
                source.close()
            continue
        with source:
            size = os.fstat(source.fileno()).st_size
            if size > min(course.directory.max_file_size * 1000, room) or count == MOST_FILES:
                left_out.append(inside)
                continue
            try:
                (folder / kept).parent.mkdir(parents=True, exist_ok=True)
                with files.create(folder / kept, mode=mode) as copy:
                    shutil.copyfileobj(source, copy)
            except (FileExistsError, NotADirectoryError):  # another one has its name there
                left_out.append(inside)
                continue
        count, room = count + 1, room - size
    return left_out


def _sentence(left_out: Sequence[Path]) -> str:
    if not left_out:
        return ""
    shown = [printable(str(path))[:80] for path in left_out[:SHOWN]]
    more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
    why = "links, too large, unreadable, or named as another one is"
    return f"Not kept beside the graded notebook ({why}): {', '.join(shown)}{more}."
