"""A zip file of all that is kept about one student, to be given to that student."""

import json
import os
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import BufferedReader
from pathlib import Path

from autograder import files
from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.stub import without_regions
from autograder.student.kept import Kept

EARLIEST, LATEST = datetime(1980, 1, 1).timetuple()[:6], datetime(2107, 12, 31).timetuple()[:6]  # a zip file can hold


def write_archive(course: Course, kept: Kept, path: Path) -> list[str]:
    """Write folders as they are and the gradebook's rows as JSON; graded notebooks without their hidden tests.

    Returns:
        what was left out: links, what is no file, what cannot be read.

    Raises:
        CourseError: the file is there already.
    """
    if os.path.lexists(path):
        raise CourseError(f"{path} is there already. Move it away, or name another file.")
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    left_out = []
    try:
        with (
            files.create(unfinished, mode=0o600) as target,
            zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped,
        ):
            rows = {"gradebook": kept.rows, "collected": kept.collected}
            text = json.dumps(rows, indent=2, ensure_ascii=False, default=str)
            zipped.writestr("gradebook.json", text.encode("utf-8", "replace"))
            for file in _files_of(kept):
                name = _name(course, file)
                hides = file.suffix == ".ipynb" and f"/{course.directory.autograded_directory}/" in file.as_posix()
                source = files.open_regular(file)
                if source is None:
                    left_out.append(name)
                    continue
                with source:
                    if not _add(zipped, name, source, hides=hides):
                        left_out.append(name)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    files.sync_folder(path.absolute().parent)
    return left_out


def _files_of(kept: Kept) -> Iterator[Path]:
    for folder in kept.folders:
        yield from [folder] if folder.is_symlink() or not folder.is_dir() else files.walk(folder)


def _name(course: Course, path: Path) -> str:
    """What a file is called in the archive; a name that is no text gets question marks."""
    inside = path.relative_to(course.root) if path.is_relative_to(course.root) else path.relative_to(path.anchor)
    return inside.as_posix().encode("utf-8", "replace").decode()


def _add(zipped: zipfile.ZipFile, name: str, source: BufferedReader, *, hides: bool) -> bool:
    """Add a file, and say whether it could be; `hides` takes the hidden tests out of a notebook."""
    about = os.fstat(source.fileno())
    entry = zipfile.ZipInfo(name, min(max(time.localtime(about.st_mtime)[:6], EARLIEST), LATEST))
    entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, about.st_size
    if hides:
        try:
            data = _without_hidden_tests(source.read())
        except (ValueError, KeyError, TypeError, AttributeError):  # edited since it was graded, and no notebook now
            return False
        zipped.writestr(entry, data)
        return True
    with zipped.open(entry, "w") as copy:
        shutil.copyfileobj(source, copy)
    return True


def _without_hidden_tests(data: bytes) -> bytes:
    notebook = json.loads(data)
    for cell in notebook["cells"]:
        cell["source"] = without_regions("".join(cell["source"]), "HIDDEN TESTS")
    return json.dumps(notebook, indent=1).encode()
