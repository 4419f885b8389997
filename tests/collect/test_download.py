"""A download is read within limits, whatever is in it: nothing is written elsewhere, and nothing stops the rest."""

import io
import os
import random
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest
from support.downloads import encrypted, with_link, zipped

from autograder.collect import download, hand_in
from autograder.collect.download import Download, File, Unreadable, inside, safe_path
from autograder.collect.hand_in import Contents, HandIn, read
from autograder.course.config import CourseError

LESSON = "01_doubling"


def file(name: str, data: bytes | str, modified: float = 0.0) -> File:
    """Return a file of a download."""
    raw = data.encode() if isinstance(data, str) else data
    return File(safe_path(name), modified, len(raw), lambda most: raw[:most])


def contents(*files: File, **more: object) -> Contents:
    """Return what is put into submitted/ of these files."""
    return read(HandIn("ada", "Ada", files, **more), LESSON)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a/b.txt", "a/b.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\Users\\ada\\hw.ipynb", "Users/ada/hw.ipynb"),
        ("a/./b/../c", "a/b/c"),
        ("..", "unnamed"),
        ("a\x00b\x1b[2J\u202ecod.exe", "a_b_[2J_cod.exe"),
        ("cafe\u0301.ipynb", "café.ipynb"),
        ("dir/.hidden", "dir/_hidden"),
        ("/".join("abcdefghijklmnop"), "i/j/k/l/m/n/o/p"),
        ("é" * 200 + ".ipynb", "é" * 57 + ".ipynb"),
        ("x." + "y" * 300, "x." + "y" * 118),
        (os.fsdecode(b"caf\xe9.py"), "caf_.py"),
    ],
)
def test_a_path_leads_nowhere_but_down(name: str, path: str) -> None:
    """Ways up, roots, drives, letters that move a cursor, and lengths that no disk takes are gone; the rest stays."""
    assert safe_path(name) == PurePosixPath(path)


def test_a_zip_file_is_listed_and_not_unpacked(tmp_path: Path) -> None:
    """Links, hidden files and what systems add are left out; a name in UTF-8 is read as such, marked or not."""
    junk = dict.fromkeys(("__MACOSX/._a.txt", ".DS_Store", "sub/.ipynb_checkpoints/a.ipynb", "d/"), "")
    data = with_link(zipped({"a.txt": "1", **junk}), "link.ipynb", "/etc/passwd")
    marked = zipped({"núñez.txt": "2"})
    for flag in (b"\x00\x08", b"\x00\x00"):
        (tmp_path / "x.zip").write_bytes(marked.replace(b"\x14\x00\x00\x08", b"\x14\x00" + flag))
        with Download(tmp_path / "x.zip") as found:
            assert [str(one.path) for one in found.files] == ["núñez.txt"]
            assert found.files[0].read() == b"2"
    (tmp_path / "x.zip").write_bytes(data)
    with Download(tmp_path / "x.zip") as found:
        assert [(str(one.path), one.read()) for one in found.files] == [("a.txt", b"1")]
    assert os.listdir(tmp_path) == ["x.zip"]


def test_a_folder_is_read_like_a_zip_file(tmp_path: Path) -> None:
    """Links, pipes and hidden files in a folder are left out, and one that becomes a link is not followed."""
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_text("1")
    (folder / "later.txt").write_text("2")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    (folder / "link.txt").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    with Download(folder) as found:
        paths = {str(one.path): one for one in found.files}
        assert set(paths) == {"sub/a.txt", "later.txt"} and paths["sub/a.txt"].read() == b"1"
        (folder / "later.txt").unlink()
        (folder / "later.txt").symlink_to("/etc/passwd")
        with pytest.raises(Unreadable):
            paths["later.txt"].read()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "There is no file"),
        (b"", "is no zip file"),
        (b"PK\x03\x04cut", "is no zip file"),
        (zipped({}), "no file"),
    ],
)
def test_a_download_that_is_none_is_refused(tmp_path: Path, data: bytes | None, says: str) -> None:
    """What is missing, cut off or empty is told with what to do."""
    if data is not None:
        (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(CourseError, match=says), Download(tmp_path / "x.zip"):
        pass


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download of more files than any class hands in is not read; a student's zip file has its own limit."""
    monkeypatch.setattr(download, "MOST_FILES", 2)
    monkeypatch.setattr(download, "MOST_INNER_FILES", 2)
    data = zipped(dict.fromkeys("abc", ""))
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(CourseError, match="more than 2 files"), Download(tmp_path / "x.zip"):
        pass
    with pytest.raises(Unreadable, match="more than 2 files"):
        inside(data)


def bzip2() -> bytes:
    """A zip file packed in a way whose bombs Python does not bound."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_BZIP2) as files:
        files.writestr("a.ipynb", "{}")
    return archive.getvalue()


def lying() -> bytes:
    """A zip file whose entry says that it is smaller than it is."""
    return zipped({"a.ipynb": "{}" * 1000}).replace((2000).to_bytes(4, "little"), (10).to_bytes(4, "little"))


def nested(depth: int, data: bytes) -> bytes:
    """A zip file in a zip file in …, so many."""
    for number in range(depth):
        data = zipped({f"{number}.zip" if number else "deep.ipynb": data})
    return data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (zipped({"a.ipynb": "{}"})[:-10], "`hw.zip` is no zip file that can be opened, or was cut off."),
        (b"not a zip", "`hw.zip` is no zip file that can be opened, or was cut off."),
        (b"", "`hw.zip` is no zip file that can be opened, or was cut off."),
        (encrypted(zipped({"a.ipynb": "{}"})), "`a.ipynb` is encrypted."),
        (bzip2(), "`a.ipynb` is packed in a way that is not read here."),
        (lying(), "`a.ipynb` is damaged (BadZipFile)."),
        (zipped({"zeros.bin": bytes(100 * 2**20 + 1)}), "`zeros.bin` has more than 100 MB."),  # in 100 kB
    ],
)
def test_a_zip_file_of_which_nothing_can_be_read_is_kept(data: bytes, problem: str) -> None:
    """It is put into submitted/ as it is, with the reason."""
    found = contents(file("hw.zip", data))
    assert found.files == {"others/hw.zip": data} and found.problems == [problem]


def test_zips_in_zips_are_opened_three_deep() -> None:
    """A notebook in three zip files is found; of four, the innermost is kept closed."""
    assert contents(file("hw.zip", nested(3, b"{}"))).files == {f"{LESSON}.ipynb": b"{}"}
    found = contents(file("hw.zip", nested(4, b"{}")))
    assert found.problems == ["`1.zip` was not opened: it lies in 3 others."]
    assert list(found.files) == ["others/hw/3/2/1.zip"]


def test_a_bad_file_costs_no_other() -> None:
    """Beside a broken zip file and an encrypted notebook, the good one counts."""
    mixed = zipped({"inner.zip": b"broken", "hw.ipynb": "{}"})
    found = contents(file("hw.zip", mixed), file("locked.zip", encrypted(zipped({"b.ipynb": "x"}))))
    assert found.files[f"{LESSON}.ipynb"] == b"{}" and len(found.problems) == 2
    assert set(found.files) == {f"{LESSON}.ipynb", "others/hw/inner.zip", "others/locked.zip"}


def test_a_hand_in_has_limits_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many files, or many bytes, as many are taken as there may be, and that some are not is said once."""
    monkeypatch.setattr(hand_in, "MOST_FILES", 3)
    found = contents(*(file(f"{number}.txt", "x") for number in range(9)))
    assert len(found.files) == 3 and len(found.problems) == 1 and "More was handed in than 3 files" in found.problems[0]
    monkeypatch.setattr(hand_in, "MOST_BYTES", 5)
    assert list(contents(file("a.txt", "xxx"), file("b.txt", "xxx"), file("c.txt", "x")).files) == ["others/a.txt"]


def test_nobody_keeps_the_machine_busy() -> None:
    """Two thousand files of 100 MB each, or as many zip files of as many files, are given up after a few."""
    zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = zeros.compress(bytes(download.LARGEST)) + zeros.flush()
    read_bytes: list[int] = []

    def unpack(most: int) -> bytes:
        read_bytes.append(download.LARGEST)
        return zlib.decompress(packed, -15)

    many = (File(safe_path(f"{number}.bin"), 0.0, download.LARGEST, unpack) for number in range(2000))
    assert len(contents(*many).files) == 2 and sum(read_bytes) <= hand_in.MOST_BYTES
    inner = zipped({f"{number}.txt": "" for number in range(300)})
    found = contents(file("hw.zip", zipped({f"{number}.zip": inner for number in range(300)})))
    assert len(found.files) <= hand_in.MOST_FILES and "More was handed in" in found.problems[0]


def test_no_bytes_stop_it() -> None:
    """Whatever became of a zip file's bytes, something is kept, it lies in the folder, and nothing is raised."""
    chance = random.Random(0)
    whole = zipped({"a.ipynb": "{}" * 50, "b/c.zip": zipped({"x.ipynb": "[]", "é.py": "1"}), "../z.txt": "q" * 2000})
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(4)] = chance.randbytes(chance.randrange(4))
        found = contents(file("hw.zip", bytes(data)))
        assert found.files
        assert not [name for name in found.files if name.startswith("/") or ".." in name.split("/")]


def test_hostile_names_stay_in_the_folder() -> None:
    """Names with ways up, roots and drives come to lie in the folder, each once."""
    names = ["../../evil.py", "/evil.py", "..\\..\\evil.py", "C:\\evil.py", "a", "A", "a/b.txt", "a/b.txt/c"]
    found = contents(*(file("hw.zip", zipped({name: name})) for name in names))
    assert list(found.files.values()) == [name.encode() for name in names]
    assert all(".." not in name and not name.startswith("/") and "\\" not in name for name in found.files)
    assert len({name.casefold() for name in found.files}) == len(names)


@pytest.mark.parametrize(
    ("files", "counts", "why"),
    [
        ([file(f"{LESSON}.ipynb", "old", 1), file(f"{LESSON} (1).ipynb", "new", 2)], "new", "being the newest"),
        ([file(f"{LESSON}-1.ipynb", "new"), file(f"{LESSON}.ipynb", "old")], "new", "being the newest"),
        ([file(f"{LESSON}-9.ipynb", "9"), file(f"{LESSON}-10.ipynb", "10")], "10", "being the newest"),
        ([file("01-Doubling.IPYNB", "right", 1), file("scratch.ipynb", "x", 2)], "right", "having the lesson's name"),
        ([file("b.ipynb", "1", 5), file("a.ipynb", "2", 5)], "1", "being the newest"),
        ([file("a.zip", zipped({"x.ipynb": "old"}, 1)), file("b.zip", zipped({"x.ipynb": "new"}, 2))], "new", "newest"),
    ],
)
def test_the_newest_notebook_counts(files: list[File], counts: str, why: str) -> None:
    """Of several that are called like the lesson, or else of all, it is the newest; the others are kept, and named."""
    found = contents(*files)
    assert found.files[f"{LESSON}.ipynb"] == counts.encode()
    assert len(found.files) == 2 and any(name.startswith("others/") for name in found.files)
    assert why in found.notes[0] and "counts" in found.notes[0]


def test_canvas_numbers_say_which_is_newer() -> None:
    """Where a platform numbers its files, the numbers count before the times of the disk."""
    files = file(f"{LESSON}.ipynb", "new", 1), file(f"{LESSON}-1.ipynb", "old", 9)
    assert contents(*files, orders=(9002.0, 9001.0)).files[f"{LESSON}.ipynb"] == b"new"


@pytest.mark.parametrize("name", ["hw.ipynb", "HW.IPYNB", "hw.ipynb.txt", "hw.ipynb.json", "_.ipynb", "h w (2).Ipynb"])
def test_a_notebook_gets_the_lessons_name(name: str) -> None:
    """Whatever a student or a browser called it, it is where grading looks first."""
    assert contents(file(name, "{}")).files == {f"{LESSON}.ipynb": b"{}"}


def test_what_is_no_notebook_is_kept_too() -> None:
    """Other files lie in others/ under their own names; a time of the student's own does not count."""
    files = {"a.py": "1", "page.html": "2", "timestamp.txt": "1999-01-01", "s/t.csv": "3"}
    found = contents(*(file(name, text) for name, text in files.items()))
    assert found.files == {f"others/{name}": text.encode() for name, text in files.items()}
    found = contents(file("Timestamp.txt/a.py", "1"), time=datetime(2026, 3, 2, 9, tzinfo=UTC))
    assert found.files == {"others/Timestamp.txt/a.py": b"1", "timestamp.txt": b"2026-03-02T09:00:00+00:00\n"}
