"""What is recorded is what stock nbgrader would have recorded, whole or not at all, in SQLite and in PostgreSQL.

Run as a program, this file is the run that gets killed, with tests/ on PYTHONPATH:
`python tests/grading/gradebook/test_writer.py COURSE`.
"""

import contextlib
import csv
import html
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nbgrader import dbutil
from nbgrader.api import Base, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.utils import determine_grade
from sqlalchemy import NullPool, create_engine, insert, select, text
from support import stock_nbgrader
from support.gradebook import (
    DUE,
    configure,
    db_url,
    disk_full,
    keep,
    record,
    repaired_notebook,
    set_duedate,
    small_result,
)
from support.gradebook import LESSON as SMALL
from support.sample_lesson import ROOT

from autograder import cli
from autograder.course.config import CourseError, read_notebook
from autograder.course.release import release
from autograder.demo import sample_class
from autograder.demo.students import class_work
from autograder.grading.gradebook import database
from autograder.grading.gradebook.database import RESULTS
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.results import Note, NoteKind, Outcome, Result, Status
from autograder.grading.submission.reader import cells_in
from autograder.grading.submission.repair import repair

LESSON = "01_attention"
CLASS = ("typical", "untouched")
DEBIAN = "On Debian and Ubuntu: apt-get install postgresql"

Rows = dict[str, list[tuple[Any, ...]]]


def rows(db_url: str) -> Rows:
    """Return every row of nbgrader's tables with names in place of ids, which are random."""
    found, names = {}, {}
    with create_engine(db_url, poolclass=NullPool).connect() as connection:
        for table in Base.metadata.sorted_tables:
            found[table.name] = [row._asdict() for row in connection.execute(select(table))]
    named = {
        "assignment": ("name",),
        "notebook": ("assignment_id", "name"),
        "base_cell": ("notebook_id", "type", "name"),
        "source_cell": ("notebook_id", "name"),
        "submitted_assignment": ("assignment_id", "student_id"),
        "submitted_notebook": ("assignment_id", "notebook_id"),
        "grade": ("cell_id", "notebook_id"),
        "comment": ("cell_id", "notebook_id"),
    }
    for table, columns in named.items():
        for row in found[table]:
            names[row["id"]] = "/".join(str(names.get(row[column], row[column])) for column in columns)
    return {
        table: sorted((tuple(names.get(value, value) for value in row.values()) for row in listed), key=repr)
        for table, listed in found.items()
    }


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what a folder holds besides notebooks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb"
    }


def engine_result(stock: Path, student: str) -> Result:
    """Return what our engine would find in a submission, told from what stock nbgrader found."""
    graded = read_notebook(stock / "autograded" / student / LESSON / f"{LESSON}.ipynb")
    found = {cell.metadata.nbgrader.grade_id: cell for cell in graded.cells if cell.metadata.get("nbgrader")}
    submitted = json.loads((stock / "submitted" / student / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    repaired = repair(read_notebook(stock / "solutions" / LESSON / f"{LESSON}.ipynb"), cells_in(submitted))
    checks = []
    for cell in repaired.notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks and cell.cell_type == "code":
            cell.outputs = found[marks.grade_id].outputs
        if marks.get("grade"):
            score, points = determine_grade(found[marks.grade_id])
            status = Status.PASSED if score == points else Status.FAILED
            checks.append(Outcome(marks.grade_id, points, status, "" if score else "It is wrong.", 0.25))
    return Result(student, LESSON, tuple(checks), repaired.notes, notebook=json.dumps(repaired.notebook), seconds=1.5)


def give_by_hand(folder: Path) -> None:
    """Grade as an instructor does in formgrader, and give the late one another day or two."""
    with sample_class.open_gradebook(folder) as gradebook:
        submission = gradebook.find_submission_notebook(LESSON, LESSON, "typical")
        failed = sorted((grade for grade in submission.grades if grade.auto_score == 0), key=lambda grade: grade.name)
        failed[0].manual_score, failed[0].needs_manual_grade = 0.5, False
        failed[1].extra_credit = 0.25
        comment = gradebook.find_comment("causal_mask", LESSON, LESSON, "typical")
        comment.manual_comment = "Look at the diagonal again."
        submission.flagged = True
        gradebook.db.commit()
        gradebook.grant_extension(LESSON, "typical", days=2)


@dataclass
class Both:
    """The same class graded twice: by stock nbgrader, and recorded by us."""

    stock: Path
    ours: Path
    results: dict[str, Result]
    first: tuple[Rows, Rows]  # of both gradebooks when all were graded once
    again: tuple[Rows, Rows]  # after points and comments by hand, and after one was graded again


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Two students in the real lesson 1: one too late, with right and wrong answers, one with nothing and no date."""
    stock, ours = (tmp_path_factory.mktemp("record") / name for name in ("stock", "ours"))
    lesson = sample_class.make_course(ROOT, stock, [LESSON])[LESSON]
    set_duedate(stock, LESSON)
    work = class_work(lesson, sample_class.released_notebook(stock, LESSON))
    for student in CLASS:
        sample_class.hand_in(stock, student, LESSON, work[student])
        folder = stock / "submitted" / student / LESSON
        (folder / "data").mkdir()
        (folder / "data" / "numbers.csv").write_text("1,2\n")
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / ".ipynb_checkpoints" / "old.txt").write_text("old")
        (folder / "compiled.pyc").write_text("no")
        (folder / "more.ipynb").write_text("{}")
    (stock / "submitted" / "typical" / LESSON / "timestamp.txt").write_text("2030-01-03 12:00:00.500000 UTC")
    stock_nbgrader.configure(stock)
    shutil.copytree(stock, ours)
    sample_class.nbgrader(stock, "autograde", LESSON)
    results = {student: engine_result(stock, student) for student in CLASS}
    record_all(ours, results)
    first = rows(db_url(stock)), rows(db_url(ours))
    for folder in (stock, ours):
        give_by_hand(folder)
    sample_class.nbgrader(stock, "autograde", LESSON, "--student=typical", "--force")
    record_all(ours, {"typical": results["typical"]})
    return Both(stock, ours, results, first, (rows(db_url(stock)), rows(db_url(ours))))


def record_all(folder: Path, results: dict[str, Result]) -> None:
    """Record results as the engine does."""
    with Recorder(folder) as recorder:
        for student, result in results.items():
            submitted = folder / "submitted" / student / LESSON
            late = datetime(2030, 1, 3, 12, 0, 0, 500000, tzinfo=UTC) if student == "typical" else None
            recorder.record(result, f"digest of {student}", submitted=submitted, timestamp=late)


@pytest.mark.parametrize("table", [table.name for table in Base.metadata.sorted_tables])
def test_rows_are_those_of_stock_nbgrader(both: Both, table: str) -> None:
    """Each of nbgrader's tables has the same rows, once graded, and again after grading by hand."""
    for stock, ours in (both.first, both.again):
        assert ours[table] == stock[table]
    assert both.first[0]["grade"] != both.again[0]["grade"]


def test_the_comparison_is_about_something(both: Both) -> None:
    """The class has lost points, a penalty, an answer without response, and work by hand that survived."""
    first, again = (json.dumps(tables, default=str) for tables in (both.first[0], both.again[0]))
    penalties = [row[-1] for row in both.first[0]["submitted_notebook"]]
    assert max(filter(None, penalties)) > 0
    assert all(not row[-1] for row in both.again[0]["submitted_notebook"])
    assert "No response." in first
    assert "diagonal again" in again and "diagonal again" not in first
    scores = {row[3] for row in both.first[0]["grade"]}
    assert 0.0 in scores and len(scores) > 2


@pytest.mark.parametrize("student", CLASS)
def test_folder_is_as_stock_nbgrader_leaves_it(both: Both, student: str) -> None:
    """The same files lie in others/, but for the time; the cells have the same marks, and nobody may write."""
    stock, ours = (folder / "autograded" / student / LESSON for folder in (both.stock, both.ours))
    moved = {name if name == "timestamp.txt" else f"others/{name}": data for name, data in files_in(stock).items()}
    assert files_in(ours) == moved
    notebooks = [read_notebook(folder / f"{LESSON}.ipynb") for folder in (stock, ours)]
    assert notebooks[0].metadata.kernelspec == notebooks[1].metadata.kernelspec
    stocks, our = [[(cell.source, cell.metadata.get("nbgrader")) for cell in each.cells] for each in notebooks]
    assert our == stocks
    modes = {path.stat().st_mode & 0o777 for folder in (stock, ours) for path in folder.rglob("*") if path.is_file()}
    assert modes == {0o444}


def test_results_come_back(both: Both) -> None:
    """Digest and result come back as given, all but the notebook."""
    with Recorder(both.ours) as recorder:
        found = recorder.graded(LESSON)
    assert {student: one[:2] for student, one in found.items()} == {
        student: (f"digest of {student}", replace(result, notebook="")) for student, result in both.results.items()
    }


def test_nbgrader_goes_on_from_there(both: Both, tmp_path: Path) -> None:
    """`nbgrader export` gives the scores of stock, feedback pages the comments, and db upgrade runs."""
    ours = tmp_path / "ours"
    shutil.copytree(both.ours, ours)
    unreadable = Result("unlucky", LESSON, reason="The file is no notebook (<script>alert(1)</script>).")
    with Recorder(ours) as recorder:
        recorder.record(unreadable, "d", submitted=None, timestamp=None)
    commands = (("export", f"--to={tmp_path / 'grades.csv'}"), ("generate_feedback", LESSON))
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda command: sample_class.nbgrader(ours, *command), commands))
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        exported = {row["student_id"]: row for row in csv.DictReader(file)}
    with sample_class.open_gradebook(both.stock) as gradebook:
        submissions = gradebook.find_assignment(LESSON).submissions
        scores = {submission.student_id: str(submission.score) for submission in submissions}
    assert {student: row["score"] for student, row in exported.items()} == {**scores, "unlucky": "0.0"}
    pages = {s: (ours / "feedback" / s / LESSON / f"{LESSON}.html").read_text("utf-8") for s in (*CLASS, "unlucky")}
    assert "Look at the diagonal again." in pages["typical"]
    assert "No response." in html.unescape(pages["untouched"])
    assert "no notebook (&lt;script&gt;" in pages["unlucky"] and "<script>alert" not in pages["unlucky"]
    sample_class.nbgrader(ours, "db", "upgrade")
    with Recorder(ours) as recorder:
        assert recorder.graded(LESSON).keys() == {*CLASS, "unlucky"}


# A course with one small lesson


def grades(course: Path, student: str = "ada") -> dict[str, tuple[float | None, bool]]:
    """Return check → (points of the autograder, whether somebody should look) from the gradebook."""
    with sample_class.open_gradebook(course) as gradebook:
        found = gradebook.find_submission_notebook(SMALL, SMALL, student).grades
        return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in found}


def notebook_path(course: Path, student: str = "ada") -> Path:
    """Return where the graded notebook belongs."""
    return course / "autograded" / student / SMALL / f"{SMALL}.ipynb"


def test_not_gradable_has_no_points_and_a_page_with_the_reason(course: Path) -> None:
    """Its grades are those of a notebook that is missing, its reason is kept, and a page in its place says it."""
    result = Result("ada", SMALL, reason="The file is empty.\nHand in the .ipynb file.")
    with Recorder(course) as recorder:
        keep(recorder, small_result(course))
        keep(recorder, result)
        assert recorder.graded(SMALL)["ada"][:2] == ("d", result)
    assert grades(course) == {"check_double": (0, False), "check_double_text": (0, False)}
    (page,) = read_notebook(notebook_path(course)).cells
    assert page.source.startswith("# This submission could not be graded")
    assert page.source.endswith("    The file is empty.\n    Hand in the .ipynb file.")


def test_graded_again_replaces_everything(course: Path, tmp_path: Path) -> None:
    """Scores, digest and folder are the later ones, and no file of the earlier submission is left."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "first.txt").write_text("1")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "first.txt").mkdir()
    (tmp_path / "second" / "first.txt" / "timestamp.txt").write_text("2")
    better = tuple(replace(outcome, status=Status.PASSED, message="") for outcome in small_result(course).checks)
    with Recorder(course) as recorder:
        keep(recorder, small_result(course), submitted=tmp_path / "first")
        keep(recorder, small_result(course, checks=better), "e", submitted=tmp_path / "second")
        digest, result, _ = recorder.graded(SMALL)["ada"]
    assert (digest, result.score) == ("e", 4)
    assert grades(course) == {"check_double": (3, False), "check_double_text": (1, False)}
    assert files_in(notebook_path(course).parent) == {"others/first.txt/timestamp.txt": b"2"}
    assert [path.name for path in (course / "autograded" / "ada").iterdir()] == [SMALL]


def test_links_pipes_and_huge_files_are_left_out(course: Path, tmp_path: Path) -> None:
    """In others/ lie only files that were handed in and are not too large; a note names those that do not."""
    submitted = tmp_path / "submitted"
    (submitted / "data").mkdir(parents=True)
    (submitted / "data" / "small.csv").write_text("1")
    (submitted / "submission_secret.txt").write_text("s")
    (submitted / "others" / "data").mkdir(parents=True)
    (submitted / "others" / "data" / "large.csv").write_text("2")
    (submitted / "others" / "data" / "small.csv").write_text("3")
    (submitted / "secret").symlink_to("/etc/passwd")
    (submitted / "away").symlink_to("/etc")
    os.mkfifo(submitted / "pipe")
    with (submitted / "hu\nge.bin").open("wb") as file:
        file.truncate(200 * 10**6)
    with Recorder(course) as recorder:
        keep(recorder, small_result(course), submitted=submitted)
        (note,) = recorder.graded(SMALL)["ada"][1].notes
    assert files_in(notebook_path(course).parent) == {
        "others/data/small.csv": b"1",
        "others/data/large.csv": b"2",
        "submission_secret.txt": b"s",
    }
    assert note.kind is NoteKind.FILES_LEFT_OUT
    assert note.text == (
        "Not kept beside the graded notebook (links, too large, unreadable, or named as another one is): away, "
        "hu ge.bin, pipe and 2 more."
    )


def test_anything_a_student_prints_can_be_kept(course: Path) -> None:
    """Half characters, NUL and NaN in outputs and messages stop nothing."""
    notebook = repaired_notebook(course)
    notebook.cells[-1].source = "\ud800 \x00 é 🙂"
    odd = Outcome("check_double_text", 1, Status.FAILED, "\ud800\x00é", float("inf"))
    result = small_result(course, notebook=json.dumps(notebook))
    result = replace(result, checks=(result.checks[0], odd))
    with Recorder(course) as recorder:
        keep(recorder, result)
        assert recorder.graded(SMALL)["ada"][1] == replace(result, notebook="")
    assert read_notebook(notebook_path(course)).cells[-1].source == "? \x00 é 🙂"


@pytest.mark.parametrize("name", ["", ".hidden", "..", "a/b", "x" * 129, "line\nbreak", "\udcff"])
def test_names_that_nbgrader_cannot_keep_are_refused(course: Path, name: str) -> None:
    """A folder's name that is no name for a student is refused with advice, and nothing is written."""
    with Recorder(course) as recorder, pytest.raises(CourseError, match="Give the folder in submitted/ a name"):
        keep(recorder, small_result(course, name))
    assert not (course / "autograded").exists()


OLD_RESULTS = {
    "a list": lambda result: [1],
    "notes that are texts": lambda result: result | {"notes": ["A note."]},
    "a note of another kind": lambda result: result | {"notes": [{"kind": "?", "text": "A note.", "cell": ""}]},
    "no word on whether to try again": lambda result: {key: result[key] for key in result if key != "retryable"},
    "a field that is gone": lambda result: result | {"colour": "red"},
    "a status that is gone": lambda result: result | {"checks": [result["checks"][0] | {"status": "?"}]},
    "outcomes without the proved mistake": lambda result: (
        result | {"checks": [{key: check[key] for key in check if key != "mistake"} for check in result["checks"]]}
    ),
    "nothing where checks should be": lambda result: result | {"checks": None},
    "no table of predictions": lambda result: result | {"predictions": "4"},
}


def age(course: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Let ada's result be one that another version recorded."""
    with Recorder(course) as recorder:
        written = json.loads(json.dumps(recorder.graded(SMALL)["ada"].result.to_json()))
    older = json.dumps(change(written))
    execute(course / "gradebook.db", "UPDATE autograder_result SET result = ? WHERE student = 'ada'", older)


def test_what_somebody_changed_since_is_graded_again(course: Path) -> None:
    """A result whose notebook was moved or replaced, or whose submission was removed, is no longer reported."""
    names = ("ada", "bob", "cem", "dee")
    record(course, names)
    notebook_path(course, "ada").unlink()
    notebook_path(course, "bob").chmod(0o644)
    notebook_path(course, "bob").write_text("{}")
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.remove_student("cem")
    with Recorder(course) as recorder:
        assert recorder.graded(SMALL).keys() == {"dee"}
        with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
            kept = book.execute("SELECT student FROM autograder_result ORDER BY student").fetchall()
        assert kept == [("ada",), ("bob",), ("dee",)]
        for name in names:
            keep(recorder, small_result(course, name))
        assert recorder.graded(SMALL).keys() == set(names)


@pytest.mark.parametrize("change", OLD_RESULTS.values(), ids=OLD_RESULTS)
def test_what_another_version_recorded_is_graded_again(course: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A result that lacks what results have today, or has more, is no result; that of another student stays one."""
    record(course, ("ada", "bob"), notes=(Note(NoteKind.FILE, "A note."),))
    age(course, change)
    with Recorder(course) as recorder:
        assert set(recorder.graded(SMALL)) == {"bob"}
    graded = read_gradebook(course).graded
    assert graded["ada", SMALL].result is None and graded["ada", SMALL].score == 3
    assert graded["bob", SMALL].result is not None


def test_what_was_recorded_before_there_were_predictions_still_counts(course: Path) -> None:
    """A result without a word on predictions is read as one in which nobody was asked."""
    record(course, ("ada", "bob"), predictions={"predict_length": "4"})
    age(course, lambda result: {key: result[key] for key in result if key != "predictions"})
    with Recorder(course) as recorder:
        assert recorder.graded(SMALL)["ada"].result.predictions == {}
    graded = read_gradebook(course).graded
    assert graded["ada", SMALL].result == replace(graded["bob", SMALL].result, student="ada", predictions={})


def test_extension_takes_the_penalty_away(course: Path) -> None:
    """What an instructor allows after the first grading counts at the next."""
    set_duedate(course)

    def penalty(timestamp: datetime | None) -> float | None:
        record(course, timestamp=timestamp)
        with sample_class.open_gradebook(course) as gradebook:
            return gradebook.find_submission_notebook(SMALL, SMALL, "ada").late_submission_penalty

    late = DUE + timedelta(hours=5)
    assert penalty(None) is None and penalty(late) == 3
    assert penalty(None) is None  # the file that says when is gone
    assert penalty(late) == 3
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.grant_extension(SMALL, "ada", hours=6)
    assert penalty(late) is None


# What it refuses


def change_solution(course: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the lesson in solutions/ behind the gradebook's back."""
    path = course / "solutions" / SMALL / f"{SMALL}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    change({cell["id"]: cell for cell in notebook["cells"]})
    path.write_text(json.dumps(notebook), encoding="utf-8")


DIFFERENCES = [
    (lambda cells: cells["check_double"]["metadata"]["nbgrader"].update(points=2), "is worth 2 points and not 3"),
    (lambda cells: cells["check_double"].update(source="assert True"), "`check_double` has another text"),
    (lambda cells: cells["double"]["metadata"].pop("nbgrader"), "it lacks the answer `double`"),
    (
        lambda cells: cells["check_double"]["metadata"]["nbgrader"].update(grade_id="check_new"),
        "it lacks the check `check_double`",
    ),
]


@pytest.mark.parametrize(("change", "said"), DIFFERENCES)
def test_another_lesson_than_the_released_is_refused(
    course: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    """Other points, checks, answers or texts than the gradebook's are refused, before and after grading."""
    change_solution(course, change)
    same_checks = small_result(course, notebook=json.dumps(repaired_notebook(course)))
    with Recorder(course) as recorder:
        for attempt in (lambda: recorder.graded(SMALL), lambda: keep(recorder, same_checks)):
            with pytest.raises(CourseError) as refused:
                attempt()
            assert said in str(refused.value) and "autograder release" in str(refused.value)
    assert rows(db_url(course))["submitted_assignment"] == []
    assert not (course / "autograded").exists()


def test_outcomes_must_be_those_of_a_lesson(course: Path) -> None:
    """Outcomes that lack a check or give it other points are refused, and those of a lesson that was never released."""
    result = small_result(course)
    dearer = (replace(result.checks[0], points=5.0), result.checks[1])
    with Recorder(course) as recorder:
        for checks in ((), result.checks[:1], dearer):
            with pytest.raises(CourseError, match="The 01_doubling of solutions/ is not the one that was released"):
                keep(recorder, replace(result, checks=checks))
        with pytest.raises(CourseError, match=r"does not know the lesson 09_x.*release"):
            keep(recorder, replace(result, lesson="09_x"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), r"There is no gradebook at .*Run `autograder release`"),
        (lambda path: path.write_bytes(b""), r"is no gradebook yet.*Run `autograder release`"),
        (lambda path: path.write_bytes(b"x" * 5000), "could not be used .*file is not a database"),
        (
            lambda path: execute(path, "UPDATE alembic_version SET version_num = '167914646830'"),
            r"another nbgrader \(version 167914646830 .*nbgrader db upgrade",
        ),
    ],
)
def test_unusable_gradebooks_are_refused(course: Path, spoil: Callable[[Path], object], said: str) -> None:
    """A gradebook that is missing, empty, damaged or another version's is refused with advice, and not made."""
    spoil(course / "gradebook.db")
    with pytest.raises(CourseError, match=said), Recorder(course):
        pass


def execute(path: Path, statement: str, *values: str) -> None:
    """Change a gradebook behind everybody's back."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nonsense", "is no address of a database"),
        ("postgresql+psycopg://me:hidden@localhost:1/grades", "cannot be reached"),
        ("mysql+notadriver://localhost/grades", "is no address of a database"),
    ],
)
def test_unusable_addresses_are_refused(course: Path, address: str, said: str) -> None:
    """An address of nothing is refused, and no password is shown."""
    configure(course, f"c.CourseDirectory.db_url = {address!r}")
    with pytest.raises(CourseError, match=said) as refused, Recorder(course):
        pass
    assert "hidden" not in str(refused.value)


def test_student_is_not_made_where_the_course_forbids_it(course: Path) -> None:
    """With `Autograde.create_student` off only known students are recorded, as in nbgrader."""
    configure(course, "c.Autograde.create_student = False")
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.add_student("ada")
    with Recorder(course) as recorder:
        keep(recorder, small_result(course))
        with pytest.raises(CourseError, match="nbgrader db student add bob"):
            keep(recorder, small_result(course, "bob"))
    assert grades(course)["check_double"] == (3, False)


def test_a_rule_for_late_hand_ins_that_is_nowhere_is_named(course: Path) -> None:
    """A plugin that cannot be imported ends in a sentence that says where it belongs."""
    configure(course, 'c.AssignLatePenalties.plugin_class = "late.TenPercentADay"')
    with pytest.raises(CourseError, match=r"late hand-ins .* cannot be loaded .*late.*guide\.md"):
        Recorder(course)


def test_locked_gradebook_is_waited_for_and_then_named(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's lock ends in advice and changes nothing; once it is gone, the same recorder goes on."""
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.2)
    with Recorder(course) as recorder:
        other = sqlite3.connect(course / "gradebook.db")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CourseError, match=r"Another program keeps the gradebook at .*gradebook\.db locked"):
            keep(recorder, small_result(course))
        other.rollback()
        other.close()
        keep(recorder, small_result(course))
        assert recorder.graded(SMALL).keys() == {"ada"}


def test_second_recorder_says_that_there_is_one(course: Path) -> None:
    """Two recorders at once are refused, one after the other is fine, and the second changes nothing for the first."""
    with Recorder(course) as recorder:
        with pytest.raises(CourseError, match=rf"Another `autograder` command \(process {os.getpid()} on "):
            Recorder(course).__enter__()
        keep(recorder, small_result(course))
    with Recorder(course) as recorder:
        assert recorder.graded(SMALL).keys() == {"ada"}


def test_failed_writing_leaves_the_earlier_record(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full, scores, result and folder stay those of before."""
    with Recorder(course) as recorder:
        keep(recorder, small_result(course))
        before = rows(db_url(course)), notebook_path(course).read_bytes(), recorder.graded(SMALL)
        with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
            patched.setattr(os, "fsync", disk_full)
            keep(recorder, Result("ada", SMALL, reason="no"), "e")
        assert (rows(db_url(course)), notebook_path(course).read_bytes(), recorder.graded(SMALL)) == before
    assert [path.name for path in (course / "autograded" / "ada").iterdir()] == [SMALL]


# Our table in nbgrader's database


def test_migrations_of_nbgrader_leave_our_table_alone(course: Path) -> None:
    """A real migration runs beside our table, nbgrader's Gradebook opens the book, and the results are still there."""
    with Recorder(course) as recorder:
        keep(recorder, small_result(course))
        before = recorder.graded(SMALL)
    path = course / "gradebook.db"
    with Gradebook(db_url(course)) as gradebook:
        head = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    execute(path, "ALTER TABLE student DROP COLUMN lms_user_id")
    execute(path, "UPDATE alembic_version SET version_num = '167914646830'")
    dbutil.upgrade(db_url(course), "282d30a0218e")  # adds the column again
    execute(path, f"UPDATE alembic_version SET version_num = '{head}'")  # the last one has been there all the time
    with sample_class.open_gradebook(course) as gradebook:
        assert gradebook.find_student("ada").lms_user_id is None
    with Recorder(course) as recorder:
        assert recorder.graded(SMALL) == before


def test_cost_does_not_grow_with_the_class(course: Path) -> None:
    """Among 1,000 students SQLite takes as many steps to record one, new or again, as among three."""
    with Recorder(course) as recorder:
        raw = recorder._connection.connection.dbapi_connection

        def steps(student: str) -> int:
            counted = [0]
            raw.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1), 1)
            keep(recorder, small_result(course, student), timestamp=DUE)
            raw.set_progress_handler(None, 0)
            return counted[0]

        for student in ("ada", "bob", "cem"):
            keep(recorder, small_result(course, student), timestamp=DUE)
        few = steps("new"), steps("new")
    enroll(course, 1000)
    with Recorder(course) as recorder:
        raw = recorder._connection.connection.dbapi_connection
        many = steps("newer"), steps("newer")
    assert all(large < 1.1 * small + 50 for large, small in zip(many, few, strict=True)), (few, many)


def enroll(course: Path, count: int) -> None:
    """Copy the first student's rows for many more, without their notebooks."""
    names = [f"student{number}" for number in range(count)]
    with create_engine(db_url(course), poolclass=NullPool).begin() as connection:
        submission = connection.execute(select(SubmittedAssignment.__table__)).mappings().first()
        of_submission = SubmittedNotebook.assignment_id == submission["id"]
        notebook = connection.execute(select(SubmittedNotebook.__table__).where(of_submission)).mappings().one()
        of_notebook = Grade.notebook_id == notebook["id"]
        grades = connection.execute(select(Grade.__table__).where(of_notebook)).mappings().all()
        copies = {
            Student: [{"id": name} for name in names],
            SubmittedAssignment: [{**submission, "id": f"a-{name}", "student_id": name} for name in names],
            SubmittedNotebook: [{**notebook, "id": f"n-{name}", "assignment_id": f"a-{name}"} for name in names],
            Grade: [
                {**grade, "id": f"{name}-{grade['id']}", "notebook_id": f"n-{name}"}
                for name in names
                for grade in grades
            ],
        }
        for table, added in copies.items():
            connection.execute(insert(table.__table__), added)


# A run that is killed


def test_killed_runs_leave_whole_records_only(course: Path, tmp_path: Path) -> None:
    """Killed at any step, a run leaves a submission recorded whole or as before; the next completes the class."""
    command = [sys.executable, __file__, str(course)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["broken"] == []
    assert report["killed in a step"] > 5 and report["survived"] == 2  # the last attempts had no such step left
    assert 7 <= report["recorded when killed from outside"] < 30
    uninterrupted = tmp_path / "uninterrupted"
    shutil.copytree(course, uninterrupted)
    for table in ("submitted_assignment", "submitted_notebook", "grade", "comment", "student"):
        execute(uninterrupted / "gradebook.db", f"DELETE FROM {table}")
    with Recorder(uninterrupted) as recorder:
        assert recorder.graded(SMALL) == {}
        for name in report["class"]:
            keep(recorder, small_result(course, name))
        assert recorder.graded(SMALL).keys() == set(report["class"])
    assert rows(db_url(course)) == rows(db_url(uninterrupted))


def is_whole(course: Path, student: str) -> bool:
    """Whether what the gradebook has about a student is complete, or nothing at all."""
    with create_engine(db_url(course), poolclass=NullPool).connect() as connection:
        row = connection.execute(select(RESULTS).where(RESULTS.c.student == student)).one_or_none()
        scores = connection.execute(
            select(Grade.auto_score)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.student_id == student)
        ).scalars()
        scores = sorted(scores)
        known = connection.execute(select(Student.id).where(Student.id == student)).one_or_none()
    if row is None:
        return scores == [] and known is None
    result = Result.from_json(json.loads(row.result))
    expected = sorted(outcome.earned for outcome in result.checks) if result.checks else [0, 0]
    return scores == expected


def forked(work: Callable[[], None]) -> int:
    """Run something in a copy of this process."""
    if not (child := os.fork()):
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return child


def record_and_die(course: Path, result: Result, step: int) -> None:
    """Record, and be killed as the given step begins: what Python or SQLite do to files or tables."""
    left = [step]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    files = ("open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.listdir", "os.chmod")
    with Recorder(course) as recorder:
        recorder._connection.connection.dbapi_connection.set_trace_callback(count)
        sys.addaudithook(lambda event, _: count() if event in files else None)
        keep(recorder, result, submitted=course / "solutions")


def killed_at_every_step(course: Path) -> dict[str, Any]:
    """Let runs be killed, at each step of one record, then from outside; say what they left, and complete the class."""
    report: dict[str, Any] = {"broken": [], "killed in a step": 0, "survived": 0, "class": []}
    result = small_result(course)
    for again in (False, True):
        step = 0
        while report["survived"] <= again and not report["broken"]:
            step += 3 if again else 1  # the second time the path is the same but for a few steps
            name = f"step{step}{'again' if again else ''}"
            if again:
                with Recorder(course) as recorder:
                    keep(recorder, Result(name, SMALL, reason="first"))
            _, status = os.waitpid(forked(partial(record_and_die, course, replace(result, student=name), step)), 0)
            report["killed in a step"] += os.WIFSIGNALED(status)
            report["survived"] += status == 0
            if not is_whole(course, name) or not (os.WIFSIGNALED(status) or status == 0):
                report["broken"].append(name)
            report["class"].append(name)
    names = [f"outside{number}" for number in range(30)]
    reading, writing = os.pipe()

    def record_thirty() -> None:
        with Recorder(course) as recorder:
            for name in names:
                keep(recorder, replace(result, student=name))
                os.write(writing, b".")

    child, seen = forked(record_thirty), 0
    while seen < 7:
        seen += len(os.read(reading, 1))
    time.sleep(0.003)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    report["broken"] += [name for name in names if not is_whole(course, name)]
    report["class"] += names
    with Recorder(course) as recorder:
        found = recorder.graded(SMALL)
        report["broken"] += [name for name in found if not fits(course, found[name][1])]
        report["recorded when killed from outside"] = len(found.keys() & set(names))
        for name in report["class"]:
            if name not in found or found[name][1].reason:
                keep(recorder, replace(result, student=name))
    return report


def fits(course: Path, result: Result) -> bool:
    """Whether the notebook in autograded/ is the one of a result."""
    page = "could not be graded" in notebook_path(course, result.student).read_text(encoding="utf-8")
    return page == bool(result.reason)


# PostgreSQL


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Callable[[str], str]]:
    """A server of its own on a socket in a temporary folder: give a name, get the address of a new database."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *map(Path, os.get_exec_path())]
    folder = next((folder for folder in found if (folder / "pg_ctl").is_file() and (folder / "initdb").is_file()), None)
    if folder is None:
        pytest.fail(f"The tests need PostgreSQL's server, found neither in /usr/lib/postgresql nor on PATH. {DEBIAN}")
    home = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
    as_user: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(home, "nobody")
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(folder / program), *arguments]
        with (home / "out").open("w+", encoding="utf-8") as out:  # a server that starts would keep a pipe open
            done = subprocess.run(command, cwd=home, stdout=out, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, (home / "out").read_text(encoding="utf-8")

    data = str(home / "data")
    run("initdb", "--pgdata", data, "--auth=trust", "--username=tester", "--no-sync", "--locale=C", "--encoding=UTF8")
    settings = f"-c unix_socket_directories={home} -c listen_addresses='' -c fsync=off"
    run("pg_ctl", "start", "-w", "-D", data, "-l", str(home / "log"), "-o", settings)

    def database(name: str) -> str:
        run("createdb", f"--host={home}", "--username=tester", name)
        return f"postgresql+psycopg://tester@/{name}?host={home}"

    try:
        yield database
    finally:
        run("pg_ctl", "stop", "-D", data, "-m", "immediate")
        shutil.rmtree(home)


def move_to(folder: Path, address: str) -> None:
    """Let a course keep its gradebook in another database, and release it there."""
    configure(folder, f"c.CourseDirectory.db_url = {address!r}")
    (folder / "gradebook.db").unlink()
    release(folder)


def test_postgresql_has_the_same_rows(both: Both, postgresql: Callable[[str], str], tmp_path: Path) -> None:
    """In PostgreSQL the same class has the rows that stock nbgrader wrote into SQLite, and nbgrader works with them."""
    folder = tmp_path / "course"
    shutil.copytree(both.stock, folder, ignore=shutil.ignore_patterns("autograded"))
    address = postgresql("grades")
    move_to(folder, address)
    with Gradebook(address, "transformer") as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)
    record_all(folder, both.results)
    assert rows(address) == both.first[0]
    record_all(folder, both.results)
    assert rows(address) == both.first[0]
    with Recorder(folder) as recorder:
        assert recorder.graded(LESSON).keys() == set(CLASS)
        book = read_gradebook(folder)
    assert {student: submission.result.checks for (student, _), submission in book.graded.items()} == {
        student: result.checks for student, result in both.results.items()
    }
    with Gradebook(address, "transformer") as gradebook:
        assert gradebook.find_submission(LESSON, "typical").score == both.results["typical"].score
        for (student, _), submission in book.graded.items():
            assert submission.raw_score == gradebook.find_submission(LESSON, student).score
        gradebook.remove_student("typical")
    with Recorder(folder) as recorder:
        assert recorder.graded(LESSON).keys() == {"untouched"}


def test_postgresql_has_one_writer_and_names_locks(
    course: Path, postgresql: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There too a second recorder is refused, a lock is named, and an empty database is no gradebook."""
    configure(course, f"c.CourseDirectory.db_url = {(address := postgresql('small'))!r}")
    with pytest.raises(CourseError, match="is no gradebook yet"), Recorder(course):
        pass
    move_to(course, address)
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.2)
    engine = create_engine(address, poolclass=NullPool)
    odd = small_result(
        course, checks=(small_result(course).checks[0], Outcome("check_double_text", 1, Status.FAILED, "\0"))
    )
    with Recorder(course) as recorder:
        with pytest.raises(
            CourseError, match=r"Another `autograder` command is writing to the gradebook at postgresql"
        ):
            Recorder(course).__enter__()
        with engine.connect() as other, other.begin():
            other.execute(text("LOCK TABLE grade"))
            with pytest.raises(CourseError, match=r"Another program keeps the gradebook at .* locked"):
                keep(recorder, odd)
        keep(recorder, odd)
        assert recorder.graded(SMALL)["ada"][:2] == ("d", replace(odd, notebook=""))
        with engine.connect() as other:
            ours = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            other.execute(text(ours))
        with pytest.raises(CourseError, match="cannot be reached"):
            keep(recorder, odd)
        keep(recorder, odd)  # the server is there again, and so is the lock
        with pytest.raises(CourseError, match="Another `autograder` command"):
            Recorder(course).__enter__()


def test_postgresql_keeps_requests_and_takes_comments(
    course: Path, postgresql: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request is open until a comment is given, which is appended to what was there."""
    monkeypatch.chdir(course)
    move_to(course, address := postgresql("requests"))
    with Recorder(course) as recorder:
        for student in ("ada", "bob"):
            keep(recorder, small_result(course, student), requests={"double": "why “π”"})
    assert [(one.student, one.words, one.is_open) for one in read_gradebook(course).requests] == [
        (student, "why “π”", True) for student in ("ada", "bob")
    ]
    with Gradebook(address, "transformer") as gradebook:
        gradebook.find_comment("double", SMALL, SMALL, "bob").manual_comment = "It stays."
        gradebook.db.commit()
    for _ in range(2):
        assert cli.main(["comments", SMALL, "double", "--give", "1", "ada", "bob"]) == 0
        book = read_gradebook(course)
        assert not any(one.is_open for one in book.requests)
        assert {one.comments["double"] for one in book.graded.values()} == {"It stays."}


if __name__ == "__main__":
    print(json.dumps(killed_at_every_step(Path(sys.argv[1]))))
