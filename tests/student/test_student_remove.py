"""`autograder student remove`: all of one student goes, nothing of the others, whatever stops it."""

import json
from pathlib import Path

import pytest
from support.commands import printed
from support.downloads import collect, snapshot, zipped
from support.gradebook import LESSON, configure, disk_full

from autograder import cli
from autograder.course.paths import Course
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.history import Reason, Regrade, append, read_history
from autograder.student import remove as removal


@pytest.fixture(autouse=True)
def _everywhere(course: Path, _in_course: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Let there be something of ada and bob in every place that a course has."""
    assert collect("folder", zipped({f"{name}/{LESSON}.ipynb": b"newer" for name in ("ada", "bob")}, when=2)) == 0
    assert cli.main(["report"]) == cli.main(["report", "--student", "*"]) == 0
    assert cli.main(["export", "gradescope", "--stale"]) == 0
    for clone in ("ada", "ada@01-doubling", "bob", "bob@01-doubling"):
        (course / "downloaded" / "repositories" / clone).mkdir(parents=True)
        (course / "downloaded" / "repositories" / clone / "notes.txt").write_text(clone, encoding="utf-8")
    capsys.readouterr()


def remove(student: str = "ada", *options: str) -> int:
    """Remove a student for good."""
    return cli.main(["student", "remove", student, "--yes", *options])


def traces(course: Path) -> list[str]:
    """Return the files that are ada's by their path, or name her by what stands in them."""
    (course / "submissions.zip").unlink(missing_ok=True)  # the test's own download
    words = (b"ada@example.org", "Löve".encode(), b'"ada"')
    found = (path for path in course.rglob("*") if path.is_file())
    own = {"ada", "ada@01-doubling"}
    return [str(path) for path in found if own & {*path.parts} or any(word in path.read_bytes() for word in words)]


def test_the_list_changes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --yes, all that would go is listed, and every file stays as it is."""
    before = snapshot(course)
    said = printed(capsys, "student", "remove", "ada")
    assert snapshot(course) == before
    assert said.splitlines() == [
        "Kept about ada:",
        "  submitted/ada (1 file)",
        "  autograded/ada (1 file)",
        "  feedback/ada (1 file)",
        "  submitted/.replaced/ada (1 file)",
        "  downloaded/repositories/ada (1 file)",
        "  gradescope/ada (1 file)",
        "  downloaded/repositories/ada@01-doubling (1 file)",
        f"  submitted/.collected.json: what was collected for {LESSON}",
        "  report.html, which names the whole class; `autograder report` writes it anew",
        "  gradebook: 2 rows in grade, 1 row in comment, 1 row in submitted_notebook, 1 row in submitted_assignment, "
        "1 row in autograder_result, 1 row in student",
        "Nothing was removed yet; --yes removes it.",
    ]


def test_the_history_loses_the_student_alone(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What grading again changed is listed and goes with her; the lines about others stay."""
    place = Course.at(course)
    path = Gradebook(place.db_url, place.root).history
    for student in ("ada", "bob"):
        append(path, Regrade(student, LESSON, "2030-01-01", "2030-01-02", (Reason.LESSON,), 1.0, 2.0, ()))
    assert "1 row in history" in printed(capsys, "student", "remove", "ada")
    assert remove() == 0
    assert not traces(course)
    assert [regrade.student for regrade in read_history(course)] == ["bob"]


def test_no_trace_is_left(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file is called like her or names her, not even in what SQLite overwrites late; nothing of bob's changes."""
    assert len(traces(course)) > 6
    bobs = {path: kept for path, kept in snapshot(course).items() if "bob" in path}
    shown = printed(capsys, "student", "show", "bob", "--json")
    assert remove() == 0
    assert "✓ Removed. Downloads, tables" in capsys.readouterr().out
    assert not traces(course)
    assert {path: kept for path, kept in snapshot(course).items() if "bob" in path} == bobs
    assert printed(capsys, "student", "show", "bob", "--json") == shown
    assert Course.at(course).students(LESSON) == ["bob"]
    state = json.loads((course / "submitted" / ".collected.json").read_text(encoding="utf-8"))
    assert state[LESSON].keys() == {"bob"}
    assert remove() == 2
    assert "Nothing is kept about ada. The gradebook has bob, eve." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "call"), [("_remove_folder", 0), ("_remove_folder", 3), ("forget", 0), ("remove_rows", 0)]
)
def test_a_run_that_was_stopped_is_run_again(
    step: str, call: int, course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever it is stopped, the gradebook still has the student, and the same command removes the rest."""
    done, calls = getattr(removal, step), []

    def stops(*arguments: object) -> None:
        calls.append(arguments)
        (disk_full if len(calls) > call else done)(*arguments)

    with monkeypatch.context() as stopped:
        stopped.setattr(removal, step, stops)
        assert remove() == 2
    assert traces(course) and "✓" not in capsys.readouterr().out
    assert cli.main(["student", "show", "ada"]) == 0
    assert remove() == 0
    assert not traces(course)


def test_what_nbgrader_leaves_is_removed(course: Path) -> None:
    """After nbgrader's own removal, which leaves folders and our row, the command removes what is left."""
    with open_gradebook(course) as gradebook:
        gradebook.remove_student("ada")
    assert traces(course)
    assert remove() == 0
    assert not traces(course)


def test_nothing_is_removed_while_another_writes(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While another command holds the gradebook, this one says so and leaves everything."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", course).writing():
        before = traces(course)
        assert remove() == 2
    assert "Another `autograder` command" in capsys.readouterr().err
    assert traces(course) == before


def test_what_a_link_leads_to_stays(course: Path, tmp_path: Path) -> None:
    """A folder that is a link goes as a link; what it leads to is not the course's."""
    elsewhere = tmp_path / "elsewhere"
    (course / "submitted" / "ada").rename(elsewhere)
    (course / "submitted" / "ada").symlink_to(elsewhere)
    assert remove() == 0
    assert not traces(course) and snapshot(elsewhere)


@pytest.mark.parametrize("student", ["..", ".", "", ".replaced", "*", "../submitted", "submitted", LESSON])
@pytest.mark.parametrize(
    "structure", ["{nbgrader_step}/{student_id}/{assignment_id}", "{nbgrader_step}/{assignment_id}/{student_id}"]
)
def test_an_odd_id_removes_nothing_else(student: str, structure: str, course: Path) -> None:
    """An id that would be a path, a pattern or a folder of all takes away its own row alone."""
    configure(course, f'c.CourseDirectory.directory_structure = "{structure}"')
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student(student)
    (course / "report.html").unlink()
    changes = "gradebook.db", "gradebook.db.lock"
    before = snapshot(course, *changes)
    assert remove(student) == 0
    assert snapshot(course, *changes) == before
    with open_gradebook(course) as gradebook:
        assert sorted(row.id for row in gradebook.students) == ["ada", "bob", "eve"]
