"""Downloads as platforms give them out, and what students put into them."""

import io
import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from support.gradebook import LESSON

from autograder import cli


def zipped(files: Mapping[str, bytes | str], when: int = 1) -> bytes:
    """Return a zip file; all of it was changed on that day of March."""
    return dated_zip([(name, data, when) for name, data in files.items()])


def dated_zip(files: Iterable[tuple[str, bytes | str, int]]) -> bytes:
    """Return a zip file of files that were changed on these days of March."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        for name, data, day in files:
            target.writestr(zipfile.ZipInfo(name, (2026, 3, day, 12, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def with_link(data: bytes, name: str, target: str) -> bytes:
    """Return a zip file with one more entry, a link."""
    archive = io.BytesIO(data)
    with zipfile.ZipFile(archive, "a") as files:
        entry = zipfile.ZipInfo(name)
        entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        files.writestr(entry, target)
    return archive.getvalue()


def encrypted(data: bytes) -> bytes:
    """Return a zip file whose entries are marked as encrypted, as every reader sees it."""
    marked = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = marked.find(mark)
        while place >= 0:
            marked[place + offset] |= 1
            place = marked.find(mark, place + 1)
    return bytes(marked)


def notebook(course: Path) -> bytes:
    """Return the lesson as students got it."""
    return (course / "notebooks" / LESSON / f"{LESSON}.ipynb").read_bytes()


def collect(form: str, download: Path | bytes, *options: str | Path) -> int:
    """Collect the small lesson into the course around the current folder."""
    if isinstance(download, bytes):
        Path("submissions.zip").write_bytes(download)
        download = Path("submissions.zip")
    return cli.main(["collect", form, LESSON, str(download), *map(str, options)])


def submitted(course: Path, student: str) -> dict[str, bytes]:
    """Return what lies in a student's folder, by path."""
    folder = course / "submitted" / student / LESSON
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def snapshot(folder: Path, *but: str) -> dict[str, tuple[bytes, int]]:
    """Return all files of a folder but those of these names, with what is in them and when they were written."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in but)
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
