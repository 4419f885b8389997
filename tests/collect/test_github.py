"""Repositories are cloned once, kept up to date, and read without running or following anything in them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.downloads import collect, notebook, snapshot, submitted
from support.gradebook import LESSON

NAME = f"{LESSON}.ipynb"
PLACE = f"notebooks/{LESSON}/{NAME}"


@pytest.fixture(autouse=True)
def _in_course(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def git(folder: Path, *arguments: str, day: int = 1) -> str:
    """Run git as a student, on a day of October."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    environment = os.environ | {"GIT_COMMITTER_DATE": f"2026-10-{day:02}T20:00:00+02:00"}
    done = subprocess.run(["git", *who, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout.decode()


def push(server: Path, student: str, files: dict[str, bytes], day: int = 1) -> Path:
    """Let a student push these files, and return where they work."""
    work = server / f"{student} at home"
    if not work.exists():
        git(server, "init", "--quiet", "--bare", f"{student}.git")
        git(server, "clone", "--quiet", f"{student}.git", work.name)
    for name, data in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message", "Done", day=day)
    git(work, "push", "--quiet", "origin", "HEAD")
    return work


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A server with the repositories of a class."""
    server = tmp_path / "server"
    server.mkdir()
    return server


def take(server: Path, accounts: str, name: str = "accounts.txt") -> int:
    """Collect from the server."""
    Path(name).write_text(accounts, encoding="utf-8")
    return collect("github", Path(name), "--repository", f"{server}/{{student}}.git")


def test_repositories_are_cloned_and_brought_up_to_date(
    course: Path, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lesson's folder counts, with the time of its last commit; a second run changes nothing, a push is fetched."""
    push(server, "ada", {PLACE: b"{}", f"notebooks/{LESSON}/helper.py": b"1", "notebooks/other/x.ipynb": b"x"}, day=1)
    push(server, "ada", {"README.md": b"later, and elsewhere"}, day=5)
    push(server, "bob", {PLACE: notebook(course)})
    push(server, "empty", {"README.md": b""})
    assert take(server, "\ufeffada\nbob\n\n# left\nempty\nnobody\nada\n") == 0
    said = capsys.readouterr().out
    time = b"2026-10-01T18:00:00+00:00\n"
    assert submitted(course, "ada") == {NAME: b"{}", "helper.py": b"1", "timestamp.txt": time}
    assert "nobody: The repository could not be read: fatal: " in said
    assert said.splitlines()[-1] == "Handed in nothing (3): bob, empty, nobody.", "bob has it as it was released"
    assert (course / "downloaded" / "repositories" / "ada" / "README.md").is_file()
    before = snapshot(course / "submitted")
    assert take(server, "ada\nbob\nempty\nnobody\n") == 0
    assert snapshot(course / "submitted") == before
    push(server, "ada", {PLACE: b"[]"}, day=9)
    assert take(server, "ada\n") == 0
    assert submitted(course, "ada")[NAME] == b"[]" and "1 replaced" in capsys.readouterr().out
    assert (course / "downloaded" / "repositories" / "ada" / PLACE).read_bytes() == b"[]"


def test_a_history_that_was_rewritten_is_followed(
    course: Path, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the server has counts, even where the clone has commits of its own, which stay."""
    work = push(server, "ada", {PLACE: b"first"})
    assert take(server, "ada\n") == 0
    clone = course / "downloaded" / "repositories" / "ada"
    (clone / "feedback.html").write_text("Well done.")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "--message", "Feedback")
    (work / PLACE).write_bytes(b"second")
    git(work, "commit", "--quiet", "--all", "--amend", "--message", "Again", day=2)
    git(work, "push", "--quiet", "--force", "origin", "HEAD")
    assert take(server, "ada\n") == 0
    assert submitted(course, "ada")[NAME] == b"second"
    assert "ada: " in (said := capsys.readouterr().out) and "has changes of its own" in said
    assert (clone / "feedback.html").is_file()


def test_nothing_in_a_repository_is_followed_or_run(course: Path, server: Path, tmp_path: Path) -> None:
    """Links out of it are no files, its hooks and filters do not run, and hidden files stay behind."""
    (tmp_path / "secret.ipynb").write_text("secret")
    work = server / "eve at home"
    push(server, "eve", {f"notebooks/{LESSON}/.ipynb_checkpoints/x.ipynb": b"x", ".gitattributes": b"* filter=evil\n"})
    (work / PLACE).symlink_to(tmp_path / "secret.ipynb")
    push(server, "eve", {f"notebooks/{LESSON}/real.py": b"1", ".githooks/post-merge": b"#!/bin/sh\ntouch ran\n"}, day=2)
    assert take(server, "eve\n") == 0
    assert submitted(course, "eve") == {"real.py": b"1", "timestamp.txt": b"2026-10-02T18:00:00+00:00\n"}
    assert not list(course.rglob("ran"))


def test_accounts_come_from_a_table_too(course: Path, server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A CSV file with a column id names the accounts, and the people."""
    push(server, "ada", {PLACE: b"{}"})
    assert take(server, "id,first_name,last_name\nada,Ada,Lovelace\nbob,Bob,Evil\n", "class.csv") == 0
    assert "Handed in nothing (1): bob (Bob Evil)." in capsys.readouterr().out
    assert submitted(course, "ada")[NAME] == b"{}"


@pytest.mark.parametrize("name", ["../ada", "--upload-pack=touch ran", "https://github.com/ada", "a b", ".git"])
def test_an_account_is_a_name(course: Path, server: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """What could be an option, an address or a way up is no account."""
    assert take(server, f"{name}\n") == 2
    assert "is no account on GitHub" in capsys.readouterr().err
    assert take(server, "\n") == 2
    assert "names no account" in capsys.readouterr().err and not list(course.rglob("ran"))
