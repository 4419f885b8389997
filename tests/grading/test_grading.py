"""Stock nbgrader and our engine grade the demo class as the checks say, and feedback gives nothing away."""

import csv
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from faults.broken_notebooks import FAULTS
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from support import stock_nbgrader
from support.drawn import FEW, some_of
from support.sample_lesson import ROOT

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson, cell_id
from autograder.demo import sample_class
from autograder.demo.students import STUDENTS, TYPICAL, class_work, solved
from autograder.stub import code_lines, regions

LESSONS = sorted(path.stem for path in ROOT.glob("solutions/*/*.ipynb"))
if FEW:
    LESSONS = [LESSONS[2]]
NOT_WRITTEN = {"NotWritten", "NotImplementedError"}

# Exercise → what its checks' ids end in, of those that the typical student's answer loses.
LOST = {
    "scaled_dot_product_attention": {"_values"},
    "padding_mask": {"_values"},
    "causal_mask": {"_values"},
    "split_heads": {"_values"},
    "TokenEmbedding": {"_values"},
    "sinusoidal_encoding": {"_values"},
    "PositionalEncoding": {"_values"},
    "FeedForward": {"_values"},
    "EncoderLayer": {"_values"},
    "Encoder": {"_decoder_values"},
    "Transformer": {"_masks"},
    "count_parameters": {""},
    "label_smoothed_loss": {"_values", "_padding"},
    "learning_rate": {""},
    "evaluate": {"_values", "_mode"},
    "greedy_decode": {"_tokens", "_mode"},
    "exact_match": {""},
}
# Fault → the checks that it costs.
MENDED: dict[str, set[str]] = {
    "all marks and ids lost": set(),
    "an answer deleted together with its checks": {"check_merge_heads_shape", "check_merge_heads_values"},
}

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo class that stock nbgrader has graded."""
    folder = tmp_path_factory.mktemp("stock") / "demo"
    lessons = sample_class.make_course(ROOT, folder, LESSONS)
    stock_nbgrader.configure(folder)
    for name, lesson in lessons.items():
        for student, notebook in class_work(lesson, sample_class.released_notebook(folder, name)).items():
            sample_class.hand_in(folder, student, name, notebook)
    stock_nbgrader.grade(folder, LESSONS)
    return folder


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder that `autograder demo` made beside a copy of this course, and the lines it printed."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions", root / "solutions")
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    command = [sys.executable, "-m", "autograder.cli", "demo", *(f"--lesson={name}" for name in LESSONS)]
    done = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return root / "demo", done.stdout.splitlines()


@pytest.fixture(scope="module")
def recorded(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The points of every check in the gradebook, by student and lesson."""
    return points_in(folder)


def points_in(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Read the points of every check from the gradebook."""
    with sample_class.open_gradebook(folder) as gradebook:
        return {
            (student, lesson): {
                grade.name: grade.auto_score
                for grade in gradebook.find_submission_notebook(lesson, lesson, student).grades
            }
            for student in STUDENTS
            for lesson in LESSONS
        }


def lesson_in(folder: Path, name: str) -> Lesson:
    """Read a lesson's source."""
    return Lesson(name, read_notebook(folder / "solutions" / name / f"{name}.ipynb"))


def autograded(folder: Path, student: str, lesson: str) -> dict[str, NotebookNode]:
    """Return the check cells of an autograded notebook by id."""
    notebook = read_notebook(folder / "autograded" / student / lesson / f"{lesson}.ipynb")
    return {cell_id(cell): cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")}


def errors(cell: NotebookNode) -> list[NotebookNode]:
    """Return the errors among a cell's outputs."""
    return [output for output in cell.outputs if output.output_type == "error"]


def feedback(folder: Path, student: str, lesson: str) -> str:
    """Return the text of a feedback page, without its markup."""
    page = (folder / "feedback" / student / lesson / f"{lesson}.html").read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def full(lesson: Lesson) -> dict[str, float]:
    """Return the points of each check, none lost."""
    return {check.id: check.points for exercise in lesson.exercises for check in exercise.checks}


def expected(student: str, lesson: Lesson) -> dict[str, float]:
    """Return what each check is worth to a student, worked out from the answers."""
    points = full(lesson)
    half = {exercise.name for exercise in lesson.exercises[: (len(lesson.exercises) + 1) // 2]}
    for exercise in lesson.exercises:
        lost = {
            "untouched": {check.id for check in exercise.checks},
            "half-done": {check.id for check in exercise.checks if exercise.name not in half},
            "typical": {f"check_{exercise.name}{behaviour}" for behaviour in LOST.get(exercise.name, ())},
        }.get(student, set())
        assert lost <= points.keys()
        points |= dict.fromkeys(lost, 0)
    return points


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("student", STUDENTS)
def test_every_check_gives_the_points_it_should(
    folder: Path, recorded: dict[tuple[str, str], dict[str, float]], student: str, lesson: str
) -> None:
    """Each check of each student has full points or none, as follows from the answers alone."""
    assert recorded[student, lesson] == expected(student, lesson_in(folder, lesson))


@pytest.mark.parametrize("lesson", LESSONS)
def test_right_answers_fail_nowhere(folder: Path, lesson: str) -> None:
    """In the perfect and in the messy notebook no check ends in an error, and each says that it passed."""
    for student in ("perfect", "messy"):
        for name, cell in autograded(folder, student, lesson).items():
            assert errors(cell) == [], name
            assert any(output.get("text", "").count("✓") for output in cell.outputs), name


@pytest.mark.parametrize("lesson", LESSONS)
def test_untouched_notebook_fails_as_not_written(folder: Path, lesson: str) -> None:
    """In the notebook as released, every check fails once, and says that the answer is not written yet."""
    checks = autograded(folder, "untouched", lesson)
    assert checks.keys() == full(lesson_in(folder, lesson)).keys()
    for name, cell in checks.items():
        (error,) = errors(cell)
        assert error.ename in NOT_WRITTEN, name
        assert "is not written yet." in error.evalue, name


def test_typical_mistakes_end_in_verdicts(folder: Path) -> None:
    """The typical student's answers fail as many checks as the table says, each by a verdict and not by a crash."""
    assert LOST.keys() == TYPICAL.keys()
    for lesson in LESSONS:
        failed = [error for cell in autograded(folder, "typical", lesson).values() for error in errors(cell)]
        assert {error.ename for error in failed} <= {"CheckFailed"}
        mistaken = LOST.keys() & {exercise.name for exercise in lesson_in(folder, lesson).exercises}
        assert len(failed) == sum(len(LOST[name]) for name in mistaken)


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("student", STUDENTS)
def test_feedback_says_what_failed(folder: Path, student: str, lesson: str) -> None:
    """The feedback page holds the message of every failing check."""
    page = feedback(folder, student, lesson)
    for name, cell in autograded(folder, student, lesson).items():
        for error in errors(cell):
            assert error.evalue.splitlines()[0] in page, name


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("student", STUDENTS)
def test_feedback_gives_nothing_away(folder: Path, student: str, lesson: str) -> None:
    """No line of a hidden test, and no line of a solution the student has not written, is on the feedback page."""
    source = lesson_in(folder, lesson)
    own = (folder / "submitted" / student / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
    known = "\n".join(cell.source for cell in read_notebook(folder / "notebooks" / lesson / f"{lesson}.ipynb").cells)
    secret = [
        (kind, line.strip())
        for exercise in source.exercises
        for cell, kind in [(exercise.answer, "SOLUTION"), *((check, "HIDDEN TESTS") for check in exercise.checks)]
        for region in regions(cell.source, kind)
        for line in code_lines(region)
        if any(map(str.isalnum, line))
        and line.strip() not in known
        and json.dumps(line.strip(), ensure_ascii=False)[1:-1] not in own
    ]
    hidden = [line for kind, line in secret if kind == "HIDDEN TESTS"]
    graded_with = "\n".join(cell.source for cell in autograded(folder, student, lesson).values())
    assert hidden
    assert all(line in graded_with for line in hidden)
    page = feedback(folder, student, lesson)
    assert [line for _, line in secret if line in page] == []


def test_demo_prints_the_table(folder: Path, graded: tuple[Path, list[str]]) -> None:
    """The printed table has each student's points in each lesson, and what it points to exists."""
    lines = graded[1]
    assert lines[0].startswith(f"Grading {len(LESSONS) * len(STUDENTS)} notebooks of 5 invented students")
    assert lines[2].split() == LESSONS
    for student, line in zip(STUDENTS, lines[3:], strict=False):
        marks = [
            f"{sum(expected(student, lesson).values()):g} of {lesson.points:g}"
            for lesson in (lesson_in(folder, name) for name in LESSONS)
        ]
        assert re.split(r"\s{2,}", line) == [student, *marks]
    for line in lines[-3:]:
        path = line.split()[-1].replace("STUDENT", "perfect").replace("LESSON", LESSONS[0])
        assert (graded[0].parent / path).is_file()


@pytest.mark.parametrize("lesson", LESSONS)
def test_our_engine_says_what_stock_nbgrader_says(folder: Path, graded: tuple[Path, list[str]], lesson: str) -> None:
    """Every check of every student has the same points, and fails with the same words, on both ways."""
    ours, theirs = points_in(graded[0]), points_in(folder)
    for student in STUDENTS:
        assert ours[student, lesson] == theirs[student, lesson]
        for name, cell in autograded(graded[0], student, lesson).items():
            said = [error.evalue for error in errors(autograded(folder, student, lesson)[name])]
            assert [error.evalue for error in errors(cell)] == said


def test_nbgraders_own_command_grades_with_our_engine(graded: tuple[Path, list[str]]) -> None:
    """`nbgrader autograde`, which formgrader's button calls too, gives the same points, and a cell that would be seen
    to run outside the sandbox does not.
    """
    folder, lesson, student = graded[0], LESSONS[0], "typical"
    before = points_in(folder)
    path = folder / "submitted" / student / lesson / f"{lesson}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    witness = folder / "witness"
    notebook.cells.insert(2, new_code_cell(f"open({str(witness)!r}, 'w').close()"))
    nbformat.write(notebook, path)
    said = sample_class.nbgrader(folder, "autograde", lesson, f"--student={student}", "--force")
    assert f"{student}/{lesson}" in said
    assert points_in(folder) == before
    assert not witness.exists()
    cells = read_notebook(folder / "autograded" / student / lesson / f"{lesson}.ipynb").cells
    (error,) = [errors(cell)[0].ename for cell in cells if str(witness) in cell.source]
    assert error == "FileNotFoundError"  # of the course there is not even the folder


def test_export_has_the_same_scores(folder: Path, tmp_path: Path) -> None:
    """The CSV file of `nbgrader export` has a row for each student and lesson, with the points of the gradebook."""
    sample_class.nbgrader(folder, "export", f"--to={tmp_path / 'grades.csv'}")
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        exported = [row for row in csv.DictReader(file) if row["student_id"] in STUDENTS]
    rows = {(row["student_id"], row["assignment"]): row for row in exported}
    assert rows.keys() == {(student, lesson) for student in STUDENTS for lesson in LESSONS}
    for (student, name), row in rows.items():
        lesson = lesson_in(folder, name)
        assert float(row["score"]) == sum(expected(student, lesson).values())
        assert float(row["max_score"]) == lesson.points


def test_grading_again_changes_nothing(folder: Path, recorded: dict[tuple[str, str], dict[str, float]]) -> None:
    """A second, forced autograde gives the same points and the same messages."""
    lesson, student = LESSONS[0], "typical"
    before = {name: errors(cell) for name, cell in autograded(folder, student, lesson).items()}
    said = sample_class.nbgrader(folder, "autograde", lesson, f"--student={student}", "--force")
    assert f"{student}/{lesson}" in said
    assert points_in(folder) == recorded
    assert {name: errors(cell) for name, cell in autograded(folder, student, lesson).items()} == before


@pytest.mark.parametrize(("what", "lost"), some_of(list(MENDED.items()), "mended by repair", one_in=1, on_a_push=2))
def test_stock_nbgrader_grades_what_repair_mends(folder: Path, what: str, lost: set[str]) -> None:
    """Through `nbgrader autograde` as well, a broken submission has the points of its answers, and the log says why."""
    name, student = "02_multi_head_attention", "unlucky"
    (fault,) = [each for each in FAULTS if each.what == what]
    submitted = folder / "submitted" / student / name / f"{name}.ipynb"
    submitted.parent.mkdir(parents=True, exist_ok=True)
    perfect = (folder / "submitted" / "perfect" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    submitted.write_text(json.dumps(fault.breaks(json.loads(perfect))), encoding="utf-8")
    said = sample_class.nbgrader(folder, "autograde", name, f"--student={student}", "--force")
    assert all(note in said for note in fault.notes)
    with sample_class.open_gradebook(folder) as gradebook:
        grades = gradebook.find_submission_notebook(name, name, student).grades
        points = {grade.name: grade.auto_score for grade in grades}
    whole = full(lesson_in(folder, name))
    assert points == {check: 0 if check in lost else whole[check] for check in whole}


def test_right_answers_are_solutions(folder: Path) -> None:
    """The perfect student's notebooks hold every answer of the solutions, so that full points prove them right."""
    for name in LESSONS:
        notebook = read_notebook(folder / "submitted" / "perfect" / name / f"{name}.ipynb")
        sources = {cell_id(cell): cell.source for cell in notebook.cells}
        answers = solved(lesson_in(folder, name).exercises)
        assert {exercise: sources[exercise] for exercise in answers} == answers
