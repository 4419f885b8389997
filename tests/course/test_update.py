"""A new version of the course is merged in mid-term: nobody mends a generated file by hand, and no work is lost."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from support.sample_lesson import ROOT, cell, make_course, sample_lesson, write_lesson, write_pyproject
from support.warm import Lent

from autograder.course.config import read_notebook
from autograder.course.release import release
from autograder.demo.sample_class import hand_in
from autograder.grading.grade import GradeOptions, grade
from autograder.grading.worker.client import GradingServer

NAME = "01_doubling"
SOURCE, STUDENT = (f"{folder}/{NAME}/{NAME}.ipynb" for folder in ("solutions", "notebooks"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
UPDATE = ["make", "update", "READY=", f"BIN={Path(sys.executable).parent}"]
PULL = ["git", "pull", "--no-rebase", "upstream", "main"]
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
RENEW = "git checkout FETCH_HEAD -- notebooks/01_attention"
STUDENTS_UPDATE = re.search(r"```\n(git commit .*?)```", README, re.DOTALL)[1]

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def git(folder: Path, *arguments: str) -> str:
    """Run git, which must succeed, and return what it says."""
    done = run(folder, "git", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def publish(course: Path) -> None:
    """Release a course and commit all of it."""
    release(course, register=False)
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message=A version")


def edit(path: Path, *changes: tuple[str, str]) -> None:
    """Replace texts that stand in a file."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A published course of one lesson, which names no address."""
    course = make_course(tmp_path / "upstream")
    write_pyproject(course, "")
    edit(course / "README.md", ("The end.", "How it works:\n\nOne.\n\nTwo.\n\nThree.\n\nThe end."))
    for name in (".gitattributes", ".gitignore", "Makefile"):
        shutil.copy(ROOT / name, course)
    git(course, "init", "--quiet", "--initial-branch=main")
    publish(course)
    return course


@pytest.fixture
def fork(upstream: Path) -> Path:
    """An instructor's copy: an address of its own, another number of points, and a lesson more."""
    course = upstream.parent / "fork"
    git(upstream, "clone", "--quiet", "--origin=upstream", ".", str(course))
    git(course, "remote", "add", "origin", "git@github.com:you/course.git")
    edit(
        course / SOURCE, ('"points": 3', '"points": 5'), ("*4 points", "*6 points"), ("**Points:** 4", "**Points:** 6")
    )
    write_lesson(course, sample_lesson(9), "09_mine")
    publish(course)
    return course


def new_version(upstream: Path) -> None:
    """Publish another sentence in the lesson, a second lesson, and more text in the README."""
    edit(upstream / SOURCE, ("Twice is x + x.", "Two times x is x + x."))
    edit(upstream / "README.md", ("The end.", "The very end."))
    write_lesson(upstream, sample_lesson(2), "02_tripling")
    publish(upstream)


@pytest.mark.parametrize("begun", [False, True], ids=["by make update", "after a pull that stopped"])
def test_a_new_version_is_merged_without_mending(upstream: Path, fork: Path, begun: bool) -> None:
    """The command merges and commits, with both sides' changes, the fork's address in new lessons too, nothing left."""
    new_version(upstream)
    if begun:
        assert run(fork, *PULL).returncode == 1
    done = run(fork, *UPDATE)
    assert done.returncode == 0, done.stderr
    assert git(fork, "status", "--porcelain") == ""
    assert len(git(fork, "log", "-1", "--format=%P").split()) == 2
    assert release(fork, check=True) == []
    source = (fork / SOURCE).read_text(encoding="utf-8")
    assert "Two times x is" in source and '"points": 5' in source
    for name in (NAME, "02_tripling", "09_mine"):
        assert "git+https://github.com/you/course@main" in (fork / f"notebooks/{name}/{name}.ipynb").read_text()
    readme = (fork / "README.md").read_text(encoding="utf-8")
    assert readme.count("\n| [") == 3 and "**14**" in readme and "The very end." in readme
    assert run(fork, *UPDATE).returncode == 0
    assert len(git(fork, "log", "-1", "--format=%P").split()) == 2


def test_a_fork_that_was_never_released_gets_the_new_version(upstream: Path) -> None:
    """What release changes on the way is part of the merge: the address of `origin`, a lesson as somebody saved it."""
    course = upstream.parent / "unreleased"
    git(upstream, "clone", "--quiet", "--origin=upstream", ".", str(course))
    git(course, "remote", "add", "origin", "https://github.com/you/course")
    write_lesson(course, sample_lesson(9), "09_mine")
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message=Mine")
    new_version(upstream)
    assert run(course, *UPDATE).returncode == 0
    assert git(course, "status", "--porcelain") == ""
    assert "github/you/course/blob/main" in (course / STUDENT).read_text(encoding="utf-8")


def test_a_lesson_that_both_changed_waits_for_a_person(upstream: Path, fork: Path) -> None:
    """The same line changed twice stops the command, which names the lesson; once that is settled, it goes on."""
    edit(upstream / SOURCE, ("Twice is x + x.", "Two times x is x + x."))
    publish(upstream)
    edit(fork / SOURCE, ("Twice is x + x.", "Double means x + x."))
    publish(fork)
    notebook = (fork / STUDENT).read_bytes()
    done = run(fork, *UPDATE)
    assert done.returncode != 0
    assert f"{SOURCE}: it and what git merged into it change the same lines." in done.stderr
    assert (fork / STUDENT).read_bytes() == notebook
    git(fork, "checkout", "--theirs", SOURCE)
    git(fork, "add", SOURCE)
    assert run(fork, *UPDATE).returncode == 0
    assert "Two times x is" in (fork / STUDENT).read_text(encoding="utf-8")


def test_a_sentence_that_both_changed_in_the_readme_waits_too(upstream: Path, fork: Path) -> None:
    """Of the README the table alone is settled; git does not commit what else both changed."""
    new_version(upstream)
    edit(fork / "README.md", ("The end.", "The end of mine."))
    publish(fork)
    done = run(fork, *UPDATE)
    assert done.returncode != 0
    assert "U\tREADME.md" in done.stdout + done.stderr
    readme = (fork / "README.md").read_text(encoding="utf-8")
    (fork / "README.md").write_text(re.sub(r"(?s)<<<<<<< .*>>>>>>> \w+\n", "Fin.\n", readme), encoding="utf-8")
    git(fork, "add", "README.md")
    assert run(fork, *UPDATE).returncode == 0
    assert git(fork, "status", "--porcelain") == ""


def test_without_a_source_of_new_versions_nothing_happens(upstream: Path) -> None:
    """Where no remote is called `upstream`, git says so, and nothing is released or committed."""
    before = git(upstream, "log")
    (upstream / STUDENT).unlink()
    done = run(upstream, *UPDATE)
    assert done.returncode != 0 and "upstream" in done.stderr
    assert git(upstream, "log") == before and not (upstream / STUDENT).exists()


def test_what_is_not_committed_is_in_no_merge(upstream: Path, fork: Path) -> None:
    """It stops before anything is merged, names the files, and goes on when they are committed."""
    new_version(upstream)
    edit(fork / "README.md", ("Two.", "Two and a half."))
    before = git(fork, "log")
    done = run(fork, *UPDATE)
    assert done.returncode != 0 and "\nREADME.md\nCommit it" in done.stderr
    assert git(fork, "log") == before and git(fork, "status", "--porcelain") == " M README.md\n"
    git(fork, "commit", "--all", "--quiet", "--message=Mine")
    assert run(fork, *UPDATE).returncode == 0
    assert "Two and a half." in (fork / "README.md").read_text(encoding="utf-8")


def test_what_a_new_version_changes_in_grades_is_known_before(upstream: Path, fork: Path, warm: GradingServer) -> None:
    """After the update a dry run names the points that a stricter check would take, and leaves those that are there."""
    release(fork)
    answered = read_notebook(fork / STUDENT)
    cell(answered, "double")["source"] = "def double(x):\n    return 4 if x == 2 else 6 if x == 3 else x + x[:1]"
    hand_in(fork, "ada", NAME, answered)
    assert grade(fork, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 0
    edit(upstream / SOURCE, ("assert double(3) == 6", "assert double(5) == 10"))
    new_version(upstream)
    assert run(fork, *UPDATE).returncode == 0
    for _ in range(2):
        out = io.StringIO()
        options = GradeOptions(as_json=True, dry_run=True, force=True)
        assert grade(fork, options, Console(file=out), warm=Lent(warm)) == 0
        assert [(each["old"], each["new"]) for each in json.loads(out.getvalue())["regraded"]] == [(6.0, 1.0)]


def handed_in_once(course: Path) -> None:
    """Record in the gradebook that somebody has handed in the lesson."""
    release(course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(NAME, "ada")


def take_held_back(course: Path) -> subprocess.CompletedProcess[str]:
    """Do what the guide says after the term."""
    return run(course, str(Path(sys.executable).with_name("autograder")), "release", "--held-back")


def checks(course: Path) -> set[str]:
    """The ids of the checks that the course grades."""
    return {each.id for each in read_notebook(course / SOURCE).cells if each.id.startswith("check_")}


ONE, OTHER = {"check_double", "check_double_text"}, {"check_double", "check_double_words"}


def test_other_checks_of_what_was_handed_in_come_after_the_term(upstream: Path, fork: Path) -> None:
    """They are held back and named each time, with later versions of them and without what the fork mends since."""
    handed_in_once(fork)
    edit(upstream / SOURCE, ("check_double_text", "check_double_words"))
    new_version(upstream)
    done = run(fork, *UPDATE)
    assert done.returncode == 0, done.stderr
    assert f"{SOURCE}: a new version with other checks is held back" in done.stdout
    assert git(fork, "status", "--porcelain") == "" == "".join(release(fork, check=True))
    assert (fork / "notebooks/02_tripling").exists() and checks(fork) == ONE

    edit(fork / SOURCE, ("Did you add it twice?", "Did you add it once?"))
    publish(fork)
    edit(upstream / SOURCE, ('double(\\"a\\")', 'double(\\"b\\")'), ('\\"aa\\"', '\\"bb\\"'))
    publish(upstream)
    for again in range(2):
        done = run(fork, *UPDATE)
        assert done.returncode == 0 and "is held back" in done.stdout, done.stderr
        assert git(fork, "status", "--porcelain") == "" and checks(fork) == ONE, again
    assert "is held back" in take_held_back(fork).stdout and checks(fork) == ONE

    (fork / "gradebook.db").unlink()
    done = take_held_back(fork)
    assert done.returncode == 0 and "held back" not in done.stdout, done.stderr
    source = (fork / SOURCE).read_text(encoding="utf-8")
    assert checks(fork) == OTHER and release(fork, check=True) == []
    for words in ("Two times x is", "Did you add it once?", '"points": 5', 'double(\\"b\\") == \\"bb\\"'):
        assert words in source
    git(fork, "add", "--all")
    git(fork, "commit", "--quiet", "--message=After the term")
    assert "held_back" not in git(fork, "ls-files")
    assert run(fork, *UPDATE).returncode == 0 and checks(fork) == OTHER


def test_what_was_held_back_and_changed_since_waits_for_a_person(upstream: Path, fork: Path) -> None:
    """The same line changed in the term and in what was held back is marked, and the command says where."""
    handed_in_once(fork)
    edit(upstream / SOURCE, ("check_double_text", "check_double_words"))
    new_version(upstream)
    assert run(fork, *UPDATE).returncode == 0
    edit(fork / SOURCE, ("Twice is x + x.", "Double means x + x."))
    publish(fork)
    (fork / "gradebook.db").unlink()
    done = take_held_back(fork)
    assert done.returncode == 1 and f"{SOURCE}: you and the version that was held back" in done.stderr
    source = (fork / SOURCE).read_text(encoding="utf-8")
    mine = re.compile(r"<<<<<<< yours\n(.*?)=======\n.*?>>>>>>> the new version\n", re.DOTALL)
    (fork / SOURCE).write_text(mine.sub(r"\1", source), encoding="utf-8")
    release(fork, register=False)
    assert checks(fork) == OTHER and "Double means" in (fork / STUDENT).read_text(encoding="utf-8")


def test_only_what_was_merged_is_held_back(upstream: Path, fork: Path) -> None:
    """Other checks of the instructor's own are refused as ever, and stay where they are."""
    handed_in_once(fork)
    edit(fork / SOURCE, ("check_double_text", "check_double_words"))
    git(fork, "commit", "--all", "--quiet", "--message=Mine")
    new_version(upstream)
    edit(upstream / SOURCE, ("Two times x is", "Twice is"))
    publish(upstream)
    done = run(fork, *UPDATE)
    assert done.returncode != 0 and "Cannot add or remove cells" in done.stderr
    assert checks(fork) == OTHER and not (fork / "solutions/.held_back").exists()


def test_students_keep_what_they_began(upstream: Path) -> None:
    """Git overwrites no answer; the README's lines update all else, more than once, and the guide's line the rest."""
    clone = upstream.parent / "student"
    git(upstream, "clone", "--quiet", ".", str(clone))
    answered = json.loads((clone / STUDENT).read_text(encoding="utf-8"))
    cell(answered, "double")["source"] = "def double(x):\n    return 2 * x"
    (clone / STUDENT).write_text(json.dumps(answered), encoding="utf-8")
    mine = (clone / STUDENT).read_bytes()
    new_version(upstream)
    assert "would be overwritten" in run(clone, "git", "pull", "--no-rebase").stderr
    for sentence, following in (("Two times x is", "Always x is"), ("Always x is", "For ever x is")):
        done = run(clone, "bash", "-c", STUDENTS_UPDATE)
        assert done.returncode == 0, done.stderr
        assert (clone / STUDENT).read_bytes() == mine
        assert (clone / "notebooks/02_tripling/02_tripling.ipynb").exists()
        assert sentence in (clone / SOURCE).read_text(encoding="utf-8")
        assert git(clone, "status", "--porcelain") == ""
        edit(upstream / SOURCE, (sentence, following))
        publish(upstream)
    assert RENEW in GUIDE
    shutil.copy(clone / STUDENT, clone / f"notebooks/{NAME}/mine.ipynb")
    git(clone, *RENEW.replace("01_attention", NAME).split()[1:])
    assert "Always x is" in (clone / STUDENT).read_text(encoding="utf-8")
    assert run(clone, "bash", "-c", STUDENTS_UPDATE).returncode == 0
    assert (clone / f"notebooks/{NAME}/mine.ipynb").read_bytes() == mine
    assert "For ever x is" in (clone / STUDENT).read_text(encoding="utf-8")
