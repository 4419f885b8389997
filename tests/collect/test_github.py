# ruff: noqa: E501 (a table)
"""Repositories are cloned once, kept up to date, and read without running or following anything in them."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.downloads import collect, notebook, snapshot, submitted
from support.gradebook import LESSON

NAME = f"{LESSON}.ipynb"
PLACE = f"notebooks/{LESSON}/{NAME}"


@pytest.fixture(autouse=True)
def _without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert submitted(course, "ada") == {NAME: b"{}", "others/helper.py": b"1", "timestamp.txt": time}
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


def test_each_lesson_may_have_a_repository_of_its_own(course: Path, server: Path) -> None:
    """As in Classroom 50: the address names the lesson as an assignment is called there; each has a clone of its own."""
    push(server, "autumn-01-doubling-ada", {NAME: b"[]"}, day=1)
    push(server, "ada", {PLACE: b"[1]"}, day=2)
    Path("accounts.txt").write_text("ada\n", encoding="utf-8")
    repository = f"{server}/autumn-{{lesson}}-{{student}}.git"
    assert collect("github", Path("accounts.txt"), "--repository", repository) == 0
    assert submitted(course, "ada")[NAME] == b"[]"
    assert take(server, "ada\n") == 0
    assert submitted(course, "ada")[NAME] == b"[1]"
    clones = course / "downloaded" / "repositories"
    assert {path.name for path in clones.iterdir()} == {"ada", "ada@01-doubling"}


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
    assert submitted(course, "eve") == {"others/real.py": b"1", "timestamp.txt": b"2026-10-02T18:00:00+00:00\n"}
    assert not list(course.rglob("ran"))


OTHER = "notebooks/02_tripling/02_tripling.ipynb"
LAYOUTS = {  # path → "mine", "right" (the same under any name), "stub" (as released), or what is in the file
    "the usual place": ({PLACE: "mine"}, "mine", ""),
    "the root": ({NAME: "mine"}, "mine", f"taken from `{NAME}`"),
    "another case": ({f"Notebooks/{LESSON}/{NAME}": "mine"}, "mine", f"taken from `Notebooks/{LESSON}/{NAME}`"),
    "right in notebooks/": ({f"notebooks/{NAME}": "mine"}, "mine", "taken from"),
    "a folder of their own": ({f"src/week 1/{NAME}": "mine", "src/week 1/x.ipynb": "other"}, "mine", "taken from `src/week 1"),
    "a copy in Colab": ({f"Copy of {NAME}": "mine"}, "mine", "taken from `Copy of"),
    "another form of the name": ({"01-Doubling (final).ipynb": "mine"}, "mine", "taken from"),
    "another name": ({"Homework.ipynb": "mine", "notes.ipynb": "other"}, "mine", "taken from `Homework.ipynb`"),
    "a name as browsers save it": ({f"{NAME}.txt": "mine"}, "mine", "taken from"),
    "both": ({PLACE: "mine", NAME: "other"}, "mine", ""),
    "released there, solved elsewhere": ({PLACE: "stub", f"my/{NAME}": "mine"}, "mine", f"taken from `my/{NAME}`"),
    "released there, solved beside it": ({PLACE: "stub", PLACE.replace(NAME, "mine.ipynb"): "mine"}, "mine", ""),
    "the same twice": ({NAME: "mine", f"old/{NAME}": "mine"}, "mine", "taken from"),
    "two that differ": ({NAME: "mine", f"old/{NAME}": "other"}, None, f"but `{NAME}`, `old/{NAME}`. Ask"),
    "two that differ, one released": ({PLACE: "stub", NAME: "mine", f"old/{NAME}": "other"}, None, "Ask for the one"),
    "two by what is in them": ({"a.ipynb": "mine", "b.ipynb": "right"}, None, "but `a.ipynb`, `b.ipynb`"),
    "another lesson alone": ({OTHER: "other"}, None, ""),
    "released alone": ({PLACE: "stub", "README.md": "x"}, None, ""),
    "released alone, elsewhere": ({NAME: "stub"}, None, ""),
    "a checkpoint": ({f".ipynb_checkpoints/{NAME}": "mine"}, None, ""),
    "the solutions, in a fork": ({f"solutions/{LESSON}/{NAME}": "mine"}, None, ""),
    "a helper there, the notebook elsewhere": ({PLACE.replace(NAME, "help.py"): "x", NAME: "mine"}, "mine", "taken from"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_notebook_elsewhere_is_taken_where_only_one_is_meant(
    layout: str, course: Path, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is found by its name or by what is in it; of several, all are named and none is taken."""
    mine = (course / "solutions" / LESSON / NAME).read_bytes()
    texts = {"mine": mine, "right": mine + b"\n", "stub": notebook(course), "other": b'{"cells": []}'}
    files, found, says = LAYOUTS[layout]
    push(server, "ada", {name: texts.get(what, what.encode()) for name, what in files.items()})
    assert take(server, "ada\n") == 0
    said = capsys.readouterr().out
    assert ("Handed in nothing" in said) == (found is None) and says in said
    assert submitted(course, "ada").get(NAME) == (texts[found] if found else None)
    assert ("taken from" in said) == ("taken from" in says)


def nested(server: Path) -> None:
    """Push twenty entries in twenty levels of trees, each twenty times the same: a few kB, and more files than atoms."""
    repository = server / "eve.git"
    git(server, "init", "--quiet", "--bare", repository.name)
    (server / "x").write_bytes(b"x")
    inner = f"100644 blob {git(repository, 'hash-object', '-w', str(server / 'x')).strip()}"
    for _ in range(20):
        (server / "tree").write_text("".join(f"{inner}\t{place}\n" for place in range(20)))
        with (server / "tree").open() as tree:
            made = subprocess.run(["git", "mktree"], cwd=repository, stdin=tree, check=True, capture_output=True).stdout
        inner = f"040000 tree {made.decode().strip()}"
    commit = git(repository, "commit-tree", made.decode().strip(), "-m", "Done").strip()
    git(repository, "update-ref", "HEAD", commit)


def many(server: Path) -> None:
    """Push more files than may be listed here."""
    push(server, "eve", {f"data/{number}.csv": b"x" for number in range(100)} | {PLACE: b"{}"})


def large(server: Path) -> None:
    """Push more bytes than may be brought to the disk here, which are next to none on the way."""
    push(server, "eve", {"zeros": bytes(2**17), PLACE: b"{}"})


@pytest.mark.parametrize("bomb", [nested, many, large])
def test_a_repository_beyond_the_bounds_is_told_and_the_others_go_on(
    course: Path,
    server: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    bomb: Callable[[Path], None],
) -> None:
    """None of its files comes to the disk, in the second run neither."""
    monkeypatch.setattr("autograder.collect.github.MOST_LISTED", 2000)
    monkeypatch.setattr("autograder.collect.github.MOST_CHECKED_OUT", 2**16)
    push(server, "ada", {PLACE: b"{}"})
    bomb(server)
    begin = time.monotonic()
    for _ in range(2):
        assert take(server, "eve\nada\n") == 0
        said = capsys.readouterr().out
        assert "eve: The repository could not be read: it holds more files than" in said and submitted(course, "ada")
        assert [path.name for path in (course / "downloaded" / "repositories" / "eve").iterdir()] == [".git"]
    assert time.monotonic() - begin < 20


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
