"""A file that is written is there whole or not at all, with the permissions it was given, and on the disk."""

import os
import stat
from pathlib import Path

import pytest

from autograder import files


def permissions(path: Path) -> int:
    """Return who may read and write a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    """A new file and one in place of an earlier one hold what was written, and nothing else is left behind."""
    path = tmp_path / "a"
    files.write(path, b"one")
    assert path.read_bytes() == b"one"
    files.write(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_permissions_are_as_given(tmp_path: Path, umask: int) -> None:
    """A mode holds whatever the umask; without one the umask decides."""
    before = os.umask(umask)
    try:
        files.write(tmp_path / "a", b"", mode=0o640)
        files.write(tmp_path / "b", b"")
    finally:
        os.umask(before)
    assert permissions(tmp_path / "a") == 0o640
    assert permissions(tmp_path / "b") == 0o666 & ~umask


def test_a_failure_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk is full, the earlier file stays as it was and the unfinished one is gone."""
    path = tmp_path / "a"
    files.write(path, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write(path, b"two")
    assert path.read_bytes() == b"one" and list(tmp_path.iterdir()) == [path]


def test_content_is_on_the_disk_before_the_name_and_the_name_on_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is synced before the file takes its place, and the folder after."""
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def replaced(source: Path, target: Path) -> None:
        done.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    files.write(tmp_path / "a", b"one")
    assert done == ["file", "replace", "folder"]


def test_where_folders_cannot_be_opened_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, where opening a folder is an error, a file is written all the same."""
    opened = os.open

    def as_on_windows(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, mode)

    monkeypatch.delattr(os, "O_DIRECTORY")
    monkeypatch.setattr(os, "open", as_on_windows)
    files.write(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"


def test_only_a_new_file_is_created(tmp_path: Path) -> None:
    """A file that is there already is left alone, and a link is not followed."""
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("a", "link"):
        with pytest.raises(FileExistsError), files.create(tmp_path / name) as file:
            file.write(b"two")
    assert (tmp_path / "a").read_bytes() == b"one" and not (tmp_path / "elsewhere").exists()


def test_names_as_long_as_names_can_be(tmp_path: Path) -> None:
    """A name of 255 bytes leaves no room for more, and needs none."""
    files.write(tmp_path / ("n" * 255), b"one")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"one"


def test_a_walk_ends_whatever_lies_in_a_folder(tmp_path: Path) -> None:
    """Folders of any depth, links and what is not wanted: files are listed, the rest is not followed."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("one", "a/two", "a/b/three", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "a" / "up").symlink_to("..")
    deep = tmp_path / "z"
    for _ in range(files.DEEPEST + 1):
        deep /= "z"
    deep.mkdir(parents=True)
    (deep / "out of reach").touch()
    found = [str(path.relative_to(tmp_path)) for path in files.walk(tmp_path, wanted=lambda name: name[0] != ".")]
    assert found == ["one", "a/two", "a/up", "a/b/three", "/".join("z" * (files.DEEPEST + 1))]
    assert list(files.walk(tmp_path / "nowhere")) == [tmp_path / "nowhere"]


def test_a_folder_is_removed_whatever_lies_in_it(tmp_path: Path) -> None:
    """Three thousand folders deep, locked ones among them; what a link leads to stays."""
    kept, gone = tmp_path / "kept", tmp_path / "gone"
    for folder in (kept, gone / "a" / "locked"):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (gone / "link").symlink_to(kept)
    (gone / "broken").symlink_to("nowhere")
    (gone / "a" / "locked").chmod(0)
    here = os.open(gone / "a", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    files.remove(gone)
    files.remove(tmp_path / "nowhere")
    assert list(tmp_path.rglob("*")) == [kept, kept / "file"]
