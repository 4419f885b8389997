"""What nbgrader's exchange collects with the course's own class: whoever writes to the inbound folder."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from support.downloads import notebook
from support.gradebook import LESSON, configure

from autograder.demo.sample_class import open_gradebook

NAME = f"{LESSON}.ipynb"
ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def inbound(course: Path, tmp_path: Path) -> Path:
    """The inbound folder of an exchange that the course's configuration names."""
    folder = tmp_path / "exchange" / "transformer" / "inbound"
    folder.mkdir(parents=True)
    folder.chmod(0o733)
    configure(course, f"c.Exchange.root = {str(tmp_path / 'exchange')!r}")
    return folder


def hand_in(inbound: Path, student: str, time: str = "2026-10-01 10:00:00.5 UTC", **files: bytes) -> Path:
    """What `nbgrader submit` leaves there."""
    folder = inbound / f"{student}+{LESSON}+{time}+1a2b"
    folder.mkdir()
    for name, data in {NAME: b"{}", "timestamp.txt": b"9" * 30 + b"h", "submission_secret.txt": b"s", **files}.items():
        (folder / name).write_bytes(data)
    return folder


def collect(course: Path, *options: str, status: int = 0) -> str:
    """Collect as an instructor does; what is said."""
    command = [sys.executable, "-m", "nbgrader", "collect", LESSON, *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, done.stderr
    return done.stderr


def collected(course: Path) -> dict[str, bytes]:
    """All that lies in submitted/."""
    folder = course / "submitted"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_what_is_a_students_own_is_collected(course: Path, inbound: Path, tmp_path: Path) -> None:
    """Links, folders of other owners and names without a time cost nobody else anything, and are named."""
    mine = hand_in(inbound, ME, **{"torch.py": b"1"})
    (mine / "solutions").symlink_to(course / "solutions")
    (mine / "above").symlink_to(tmp_path)
    (mine / f"{LESSON}-2.ipynb").symlink_to(course / "solutions" / LESSON / NAME)
    (inbound / f"eve+{LESSON}+2026-10-01 10:00:00 UTC+1").symlink_to(course / "solutions" / LESSON)
    hand_in(inbound, "bob")
    hand_in(inbound, "")
    hand_in(inbound, ME, "9" * 30 + "h")
    said = collect(course)
    place = f"{ME}/{LESSON}"
    assert collected(course) == {
        f"{place}/{NAME}": b"{}",
        f"{place}/others/torch.py": b"1",
        f"{place}/submission_secret.txt": b"s",
        f"{place}/others/timestamp.txt": b"9" * 30 + b"h",
        f"{place}/timestamp.txt": b"2026-10-01 10:00:00.5 UTC\n",
    }
    for words in ("is a link", "not by bob", "holds no student", "holds no time"):
        assert words in said, said


def test_a_newer_hand_in_takes_the_place_of_an_older_one(course: Path, inbound: Path) -> None:
    """With --update only, and not where it is the same one."""
    hand_in(inbound, ME)
    collect(course)
    assert "No newer submission" in collect(course, "--update")
    hand_in(inbound, ME, "2026-10-02 10:00:00 UTC", **{NAME: notebook(course)})
    assert "Submission already exists" in collect(course)
    assert "Collecting submission" in collect(course, "--update")
    assert collected(course)[f"{ME}/{LESSON}/{NAME}"] == notebook(course)
    assert collected(course)[f".replaced/{ME}/{LESSON}/1/{NAME}"] == b"{}", "the older one is kept"


def test_what_a_member_of_a_group_handed_in_is_collected_for_all(course: Path, inbound: Path) -> None:
    """It is said whose it is, a newer one takes its place with --update, and a wrong list of groups stops it."""
    with open_gradebook(course) as gradebook:
        gradebook.add_student("bob")
    (course / "groups.csv").write_text(f"student,group\n{ME},red\nbob,red\n")
    hand_in(inbound, ME)
    said = collect(course)
    assert f"bob: Handed in by {ME}, who is in the same group." in said and "cheating" not in said
    hand_in(inbound, ME, "2026-10-02 10:00:00 UTC", **{NAME: b"newer"})
    collect(course, "--update")
    there = collected(course)
    for name in (NAME, "timestamp.txt"):
        assert there[f"bob/{LESSON}/{name}"] == there[f"{ME}/{LESSON}/{name}"]
        assert there[f".replaced/bob/{LESSON}/1/{name}"]
    assert there[f"bob/{LESSON}/{NAME}"] == b"newer"
    (course / "groups.csv").write_text("student,group\nbob,red\nbob,blue\n")
    assert "line 3: bob is in two groups, red and blue." in collect(course, status=1)
