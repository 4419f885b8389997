"""The plain form: nbgrader's own first course, and lessons of asserts, manual tasks and data files."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import nbgrader
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from rich.console import Console
from support.warm import Lent

from autograder import cli
from autograder.course.config import CourseError
from autograder.course.lesson import cell_id, is_check
from autograder.course.release import release
from autograder.export.gradescope.run import grade as gradescope
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.results import Status
from autograder.grading.worker.client import GradingServer

QUICKSTART = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "source"
CONFIG = (
    'c = get_config()\nc.CourseDirectory.course_id = "example"\nc.IncludeHeaderFooter.header = "source/header.ipynb"\n'
)
QUICK = 'c.Execute.shutdown_kernel = "immediate"\n'
PLAIN = 'c.Autograder.form = "plain"\n'
BUTTON = "from autograder.grading.nbgrader_plugin import grade_in_sandbox\n\ngrade_in_sandbox(c)\n"
RIGHT = """\
def squares(n):
    if n < 1:
        raise ValueError("too small")
    return [i**2 for i in range(1, n + 1)]"""
# By student and notebook: what stands in which answer; all else is as released.
ANSWERS: dict[tuple[str, str], dict[str, str]] = {
    ("bitdiddle", "problem1"): {
        "squares": RIGHT,
        "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
        "sum_of_squares_equation": "$n^2$",
        "sum_of_squares_application": "tiles = sum_of_squares(3)",
    },
    ("bitdiddle", "problem2"): {"part-a": "Fibonacci.", "part-b": "Less than zero."},
    ("hacker", "problem1"): {
        "squares": RIGHT.replace("n + 1", "n"),
        "sum_of_squares": "def sum_of_squares(n):\n    return sum(i * i for i in range(1, n + 1))",
    },
    ("reasoner", "problem1"): {},
}
PASSED, FAILED, OPEN = Status.PASSED, Status.FAILED, Status.NOT_ATTEMPTED

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def hand_in(course: Path, lesson: str, answers: dict[tuple[str, str], dict[str, str]]) -> None:
    """Put everybody's work into submitted/, as written into what was released."""
    for student, name in answers:
        folder = course / "submitted" / student / lesson
        if not folder.exists():
            shutil.copytree(course / "release" / lesson, folder)
        notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = answers[student, name].get(cell_id(cell), cell.source)
        nbformat.write(notebook, folder / f"{name}.ipynb")


def exported(course: Path) -> dict[str, tuple[float, float]]:
    """Each student's points and the most, in the file that was exported."""
    with (course / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}


def stock(course: Path, *arguments: str) -> None:
    """Run nbgrader itself."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    subprocess.run(command, cwd=course, check=True, capture_output=True, env={**os.environ, "PATH": path})


def test_nbgraders_own_course_gets_the_points_of_stock_nbgrader(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unchanged but for the line that says plain: two notebooks in a lesson, a picture, a header, format 4.0, tasks."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for course, config in ((ours, CONFIG + PLAIN), (theirs, CONFIG + QUICK)):
        shutil.copytree(QUICKSTART, course / "source", ignore=shutil.ignore_patterns("*.html", "ps1_autotest"))
        (course / "nbgrader_config.py").write_text(config, encoding="utf-8")
    before = {path: path.read_bytes() for path in (ours / "source").rglob("*.*")}
    monkeypatch.chdir(ours)
    assert cli.main(["release"]) == 0, capsys.readouterr()
    assert cli.main(["release", "--check"]) == 0, capsys.readouterr()
    assert all(path.read_bytes() == data for path, data in before.items())
    assert (ours / "release" / "ps1" / "jupyter.png").read_bytes() == (QUICKSTART / "ps1" / "jupyter.png").read_bytes()
    released = (ours / "release" / "ps1" / "problem1.ipynb").read_text(encoding="utf-8")
    assert "COLLABORATORS" in released and "pyramidal" not in released and "range(1, n + 1)" not in released

    hand_in(ours, "ps1", ANSWERS)
    shutil.copytree(ours / "submitted", theirs / "submitted", ignore=shutil.ignore_patterns("reasoner"))  # 0 of 13
    assert grade(ours, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 0
    for student in ("*", ""):
        assert cli.main(["report", *(["--student", student] if student else [])]) == 0
    assert cli.main(["export", "csv"]) == 0, capsys.readouterr()
    for command in (("generate_assignment", "ps1"), ("autograde", "ps1"), ("export",)):
        stock(theirs, *command)
    points = {"bitdiddle": (3, 13), "hacker": (1.5, 13)}
    assert exported(theirs) == points and exported(ours) == points | {"reasoner": (0, 13)}

    book = read_gradebook(ours)
    others = read_gradebook(theirs)
    assert cli.main(["similar", "ps1"]) == 0 and "left out" not in capsys.readouterr().out
    assert all(graded.scores == book.graded[key].scores for key, graded in others.graded.items())
    assert all(graded.to_review == book.graded[key].to_review for key, graded in others.graded.items())
    for key, graded in book.graded.items():
        assert graded.result is not None and not graded.result.notes
        assert [path.name for path in book.course.graded_notebooks(*key)] == ["problem1.ipynb", "problem2.ipynb"]
    states = {key[0]: [outcome.status for outcome in graded.result.checks] for key, graded in book.graded.items()}
    assert states == {"bitdiddle": 4 * [PASSED], "hacker": [FAILED, PASSED, PASSED, FAILED], "reasoner": 4 * [OPEN]}
    messages = [outcome.message for outcome in book.graded["hacker", "ps1"].result.checks]
    assert "`squares(1) == [1]` does not hold." in messages[0] and "squares(1)  is  []" in messages[0]
    assert messages[3] == "sum_of_squares does not use squares"
    page = (ours / "feedback" / "hacker" / "feedback.html").read_text(encoding="utf-8")
    assert "Part E (4 points)" in page and "fibonnaci" not in page and "pyramidal" not in page


def test_nbgraders_own_button_grades_a_plain_lesson_in_the_sandbox(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of its notebooks, with the lesson's data, to the points and words of `autograder grade`."""
    books = {}
    for door in ("autograde", "grade"):
        course = plain_course(tmp_path / door, CELLS, BUTTON)
        second = [code("age", "age = 7", solution=True), code("is_young", "assert age < 9", grade=True, points=1)]
        nbformat.write(new_notebook(cells=second), course / "source" / "week 1" / "own number.ipynb")
        monkeypatch.chdir(course)
        assert cli.main(["release"]) == 0, capsys.readouterr()
        spy = "try:\n    open('../../secret', 'w')\nexcept OSError:\n    age = 8"  # nothing leaves the sandbox
        answers = {"ada": {"age": spy}, "ben": {**WORK["ben"][0], "age": "age = 10"}}
        work = {(student, name): each for student, each in answers.items() for name in ("noise", "own number")}
        hand_in(course, "week 1", work)
        if door == "grade":
            assert grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm)) == 1  # some checks are broken
        else:
            stock(course, "autograde", "week 1")
        assert not [*course.rglob("secret")]
        books[door] = read_gradebook(course)
    for key, graded in books["grade"].graded.items():
        assert graded.scores == books["autograde"].graded[key].scores and sum(graded.scores.values()) > 0
        first, second = (book.course.graded_notebooks(*key) for book in books.values())
        assert [path.name for path in first] == [path.name for path in second] == ["noise.ipynb", "own number.ipynb"]


def test_gradescope_and_classroom_50_grade_a_plain_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two notebooks, with its data; what Classroom 50 publishes holds no hidden test."""
    course = plain_course(tmp_path / "course", CELLS)
    hidden = "assert age < 9\n### BEGIN HIDDEN TESTS\nassert age > 5\n### END HIDDEN TESTS"
    second = [code("age", "age = 7", solution=True), code("is_young", hidden, grade=True, points=1)]
    nbformat.write(new_notebook(cells=second), course / "source" / "week 1" / "own number.ipynb")
    monkeypatch.chdir(course)
    assert cli.main(["release"]) == 0, capsys.readouterr()
    hand_in(course, "week 1", {("ben", "noise"): WORK["ben"][0], ("ben", "own number"): {"age": "age = 3"}})
    work, passed = course / "submitted" / "ben" / "week 1", {}
    for platform in ("gradescope-zip", "classroom50"):
        home = tmp_path / platform
        assert cli.main(["export", platform, "week 1", "--output", str(tmp_path / "made.zip"), "--force"]) == 0
        shutil.unpack_archive(tmp_path / "made.zip", home / "source")
        shutil.copytree(work, home / "submission")
        if platform == "gradescope-zip":
            passed[platform] = {test["name"]: test["status"] == "passed" for test in gradescope(home)["tests"]}
            continue
        assert "age > 5" not in (home / "source" / "lesson" / "week 1.ipynb").read_text(encoding="utf-8")
        told = dict.fromkeys(("CLASSROOM", "ASSIGNMENT", "USERNAME", "SUBMISSION_TAG", "COMMIT_URL"), "x")
        told |= {"RELEASE_URL": "x", "REVIEW_URL": "x", "AUTOGRADER_PYTHON": sys.executable}
        command = [sys.executable, home / "source" / "autograder.py"]
        subprocess.run(command, cwd=home / "submission", env={**os.environ, **told}, check=True)
        result = json.loads((home / "submission" / "result.json").read_text(encoding="utf-8"))
        passed[platform] = {test["test-name"]: test["passed"] for test in result["tests"]}
    right = dict(
        zip([cell.metadata.nbgrader.grade_id for cell in CELLS if is_check(cell)], WORK["ben"][1], strict=True)
    )
    expected = {name: not message for name, message in right.items()}
    assert passed == {"gradescope-zip": {**expected, "is_young": False}, "classroom50": {**expected, "is_young": True}}


def code(name: str, source: str, **marks: object) -> NotebookNode:
    """A code cell that nbgrader knows."""
    flags = {"grade": False, "solution": False, "locked": bool(marks.get("grade")), "schema_version": 3, "task": False}
    return new_code_cell(source, metadata={"nbgrader": flags | {"grade_id": name} | marks})


def plain_course(root: Path, cells: list[NotebookNode], *others: str) -> Path:
    """A course of one lesson, whose notebook is not called like its folder, with a data file beside it."""
    folder = root / "source" / "week 1"
    folder.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text("c = get_config()\n" + PLAIN + "\n".join(others), encoding="utf-8")
    (folder / "noise.csv").write_text("1\n3\n5\n", encoding="utf-8")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "noise.ipynb")
    return root


IMPORTS = "import torch\nfrom autograder import check\n"
READING = "with open('noise.csv') as file:\n    noise = [float(line) for line in file]"
MEAN = "def mean(x):\n    ### BEGIN SOLUTION\n    return sum(x) / len(x)\n    ### END SOLUTION"
CELLS = [
    new_markdown_cell("# Noise"),
    new_code_cell(READING),
    code("mean", MEAN, solution=True),
    code("of_two", "two = noise[:2]\nassert mean(two) == 2", grade=True, points=1),
    code("of_all", "assert mean([float(line) for line in open('noise.csv')]) == 3", grade=True, points=1),
    new_markdown_cell("## A number of your own"),
    code("cell-1a2b", "own = 7", solution=True),
    code("is_odd", "assert own % 2 == 1, 'An odd number, please.'", grade=True, points=1),
    code("typo", "assert meen(noise) == 3", grade=True, points=1),
    new_code_cell("import no_such_package as absent"),
    code("given", "assert absent.pi > mean([3])", grade=True, points=1),
    code("package", "import no_such_package\nassert mean(noise) == 3", grade=True, points=1),
    code(
        "wrong_word", f"{IMPORTS}check.close('mean', torch.tensor(mean(noise)), 3, mistake={{}})", grade=True, points=1
    ),
]
FAILS = "✗ A cell of the lesson fails, which is a mistake of the course."
BROKEN = "✗ The check itself is broken: this is a mistake of the course."
RAISED = "✗ `mean` raised NameError."
OPEN_WORDS = "✗ `{}` is not written yet."
SPOIL = "import os\n\nos.chmod('noise.csv', 0o644)\nopen('noise.csv', 'w').write('9')\n\n"
# Answers, and how the messages begin; "" where a check passes.
WORK: dict[str, tuple[dict[str, str], list[str]]] = {
    "ada": (
        {"mean": "def mean(x):\n    return sum(x) / len(x)", "cell-1a2b": "own = 3"},
        ["", "", "", BROKEN, FAILS, *2 * [BROKEN]],
    ),
    "ben": (
        {"mean": "def mean(x):\n    return sum(x) / 2", "cell-1a2b": "own = 4"},
        [
            "",
            "✗ `mean([float(line) for line in open('noise.csv')]) == 3` does not hold.\n\n"
            "  mean([float(line) for line in open('noise.csv')])  is  4.5",
            "An odd number, please.",
            BROKEN,
            FAILS,
            *2 * [BROKEN],
        ],
    ),
    "cleo": (
        {"mean": "def mean(x):\n    return sum(x) / len(y)"},
        [*2 * [RAISED], OPEN_WORDS.format("own"), BROKEN, FAILS, BROKEN, RAISED],
    ),
    "eve": (
        {"mean": f"{SPOIL}def mean(x):\n    return sum(x) / len(x)"},
        ["", "", OPEN_WORDS.format("own"), BROKEN, FAILS, *2 * [BROKEN]],
    ),
    "dan": ({}, [*2 * [OPEN_WORDS.format("mean")], OPEN_WORDS.format("own"), BROKEN, *3 * [OPEN_WORDS.format("mean")]]),
}


def test_what_plain_cells_say(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lesson's data wins over a student's, whatever a submission makes of it while it runs.

    A bare assert shows its values; stubs count as not attempted. What is wrong with the course is said to whoever
    grades, looks at the status, reports and exports.
    """
    course = plain_course(tmp_path, CELLS)
    release(course)
    assert (course / "release" / "week 1" / "noise.csv").read_text(encoding="utf-8") == "1\n3\n5\n"
    hand_in(course, "week 1", {(student, "noise"): answers for student, (answers, _) in WORK.items()})
    (course / "submitted" / "ben" / "week 1" / "noise.csv").write_text("3\n3\n3\n", encoding="utf-8")
    (course / "submitted" / "cleo" / "week 1" / "noise.csv").unlink()
    assert grade(course, GradeOptions(), Console(width=300), warm=Lent(warm)) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "✗ week 1, typo: the check itself is broken for 5 of 5. NameError: name 'meen' is not defined" in said
    assert "given: the check itself is broken for 4 of 5. ModuleNotFoundError" in said and "that begins with" in said
    assert "wrong_word: the check itself is broken for 3 of 5. TypeError: close() got an unexpected keyword" in said
    monkeypatch.chdir(course)
    assert cli.main(["status"]) == 0 and "✗ week 1, typo: the check itself is broken" in capsys.readouterr().out
    assert cli.main(["report"]) == 0 and "package, typo, wrong_word are broken" in Path("report.html").read_text()
    assert cli.main(["export", "csv"]) == 0 and Path("grades.csv").read_text().count(",broken check,") == len(WORK)
    for student, (_, expected) in WORK.items():
        result = read_gradebook(course).graded[student, "week 1"].result
        assert result is not None and not result.notes
        for check, begins in zip(result.checks, expected, strict=True):
            assert check.message.startswith(begins) and bool(check.message) == bool(begins), (student, check)
            assert (check.status is OPEN) == ("written" in begins), (student, check)


def test_what_students_do_not_have_is_not_graded(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file or a lesson that is not released stops all before anything is graded; a dry run says what checks say."""
    course = plain_course(tmp_path, CELLS[:5])
    release(course)
    hand_in(course, "week 1", {("ben", "noise"): {"mean": WORK["ben"][0]["mean"]}})
    folder = course / "source" / "week 1"
    for name in ("noise.csv", "new.csv"):
        before = (folder / name).read_bytes() if (folder / name).exists() else b""
        (folder / name).write_bytes(b"7\n")
        with pytest.raises(CourseError, match=rf"its file `{name}` .*\. Run `autograder release`"):
            grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm))
        (folder / name).write_bytes(before) if before else (folder / name).unlink()
    assert grade(course, GradeOptions(dry_run=True), Console(width=300), warm=Lent(warm)) == 0
    assert "of_all: ✗ `mean(" in capsys.readouterr().out
    shutil.copytree(folder, course / "source" / "week 2")
    shutil.copytree(course / "submitted" / "ben" / "week 1", course / "submitted" / "ben" / "week 2")
    with pytest.raises(CourseError, match="does not know the lesson week 2"):
        grade(course, GradeOptions(), Console(quiet=True), warm=Lent(warm))
    monkeypatch.chdir(course)
    assert not read_gradebook(course).graded and cli.main(["status"]) == 0
    said = capsys.readouterr().out
    assert "week 2: handed in, and not released" in said and "All that was handed in is graded" not in said


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (code("of_two", "assert mean(noise[:2) == 2", grade=True, points=1), "is not valid Python"),
        (code("of_two", "mean(noise) == 3", grade=True, points=1), "ends in `mean(noise) == 3`, which checks nothing"),
        (code("of_two", "### AUTOTEST mean([1])", grade=True, points=1), "AUTOTEST"),
        (code("mean", "assert mean([1]) == 1", grade=True, points=1), "has this id"),
        (code("of_two", "assert mean([1]) == 1", grade=True), "says no points"),
        (code("of_two", "### BEGIN SOLUTION", solution=True), "nbgrader cannot make the student version"),
    ],
)
def test_release_says_what_cannot_be_graded(tmp_path: Path, spoilt: NotebookNode, says: str) -> None:
    """And asks for nothing else: no title, no hint, no hidden test."""
    course = plain_course(tmp_path, [CELLS[2], spoilt])
    with pytest.raises(CourseError, match=re.escape(says)):
        release(course)
    assert not (course / "release").exists()


@pytest.mark.parametrize("form", ["course", "plain"])
def test_what_new_writes_is_in_form(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A course, lessons and exercises are released at once, each said in two lines, and nothing is written over."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "course", "mine", "--form", form]) == 0
    monkeypatch.chdir(tmp_path / "mine")
    for words in (["lesson", "01_first"], ["exercise", "twice"], ["exercise", "again"], ["lesson", "02_second"]):
        capsys.readouterr()
        assert cli.main(["new", *words]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
        assert words[0] == "exercise" or cli.main(["release"]) == 0, capsys.readouterr()
    assert cli.main(["release"]) == 0, capsys.readouterr()
    files = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.suffix != ".db"}
    for words in (["course", "."], ["lesson", "01_first"], ["exercise", "twice", "--lesson", "01_first"]):
        assert cli.main(["new", *words]) == 1 and "already" in capsys.readouterr().err
    assert all(path.read_bytes() == data for path, data in files.items())
    for words in (["lesson", "1 first"], ["exercise", "3x"], ["exercise", "of_which_lesson"]):
        assert cli.main(["new", *words]) == 1, words
