"""The demo class is made of the course's own answers, and touches nothing but its own folder."""

import copy
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nbformat import NotebookNode
from packaging.version import Version
from support import wheel as wheels
from support.gradebook import configure
from support.sample_lesson import ROOT, cell, make_course, sample_lesson

from autograder import cli
from autograder.course.config import CourseError, load_config, read_notebook
from autograder.course.lesson import STUB, Lesson
from autograder.demo import sample_class
from autograder.demo.students import NOTES, STUDENTS, TYPICAL, answer, class_work, colab_save, messy, solved, submission
from autograder.stub import regions
from autograder.version import NUMBER, VERSION

LESSON = "01_doubling"
LESSONS = sorted(path.stem for path in ROOT.glob("solutions/*/*.ipynb"))
TWO_REGIONS = """\
class Two:
    def one(self):
        # TODO: one line.
        ### BEGIN SOLUTION
        return 1
        ### END SOLUTION

    def two(self):
        ### BEGIN SOLUTION
        return 2
        ### END SOLUTION"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course with one lesson of one exercise, never released."""
    return make_course(tmp_path / "course")


@pytest.fixture
def released(small_course: Path) -> NotebookNode:
    """The lesson as students get it."""
    return sample_class.released_notebook(small_course, LESSON)


@pytest.fixture
def made(root: Path, tmp_path: Path) -> Path:
    """The folder of a demo in which nobody has handed in anything."""
    sample_class.make_course(root, tmp_path / "demo")
    return tmp_path / "demo"


def lesson_of(name: str) -> Lesson:
    """Read a lesson of this course."""
    return Lesson(name, read_notebook(ROOT / "solutions" / name / f"{name}.ipynb"))


def test_answer_is_the_solution_without_its_marks() -> None:
    """A right answer keeps all lines but the marks; a body stands at the depth of its region, None leaves one alone."""
    right = answer(TWO_REGIONS)
    assert right == "\n".join(line for line in TWO_REGIONS.split("\n") if "###" not in line)
    deeper = right.replace("return 2", "if self:\n            return 3")
    assert answer(TWO_REGIONS, [None, "if self:\n    return 3"]) == deeper
    assert answer(TWO_REGIONS, ["return 0"]) == right.replace("return 1", "return 0")


def test_submission_changes_answers_only(released: NotebookNode) -> None:
    """Answers go into the cells of their exercises, of which there has to be one; all else stays as released."""
    before = copy.deepcopy(released)
    handed_in = submission(released, {"double": "double = lambda x: 2 * x"})
    assert cell(handed_in, "double")["source"] == "double = lambda x: 2 * x"
    assert [c for c in handed_in.cells if c.id != "double"] == [c for c in released.cells if c.id != "double"]
    assert released == before
    assert STUB in cell(released, "double")["source"]
    with pytest.raises(CourseError, match=r"no exercise triple\. It has double\."):
        submission(released, {"triple": ""})


def test_class_hands_in_what_it_should(released: NotebookNode) -> None:
    """The perfect student has the solution, the untouched one the released notebook as it is."""
    work = class_work(Lesson(LESSON, sample_lesson()), released)
    assert tuple(work) == STUDENTS
    assert work["untouched"] == released
    assert "return answer_of_the_teacher" in cell(work["perfect"], "double")["source"]
    assert "BEGIN" not in cell(work["perfect"], "double")["source"]


def test_half_done_is_the_first_half() -> None:
    """Of five exercises the half-done student answers the first three."""
    lesson = lesson_of("01_attention")
    released = NotebookNode(cells=[NotebookNode(c.raw) for c in lesson.cells])
    stubs = {exercise.name: STUB for exercise in lesson.exercises}
    half = class_work(lesson, submission(released, stubs))["half-done"]
    answered = [exercise.name for exercise in lesson.exercises if cell(half, exercise.name)["source"] != STUB]
    assert answered == [exercise.name for exercise in lesson.exercises][:3]


def test_typical_mistakes_fit_the_lessons() -> None:
    """Each typical mistake belongs to an exercise, fills no more regions than it has, and changes its answer."""
    exercises = {exercise.name: exercise for name in LESSONS for exercise in lesson_of(name).exercises}
    assert TYPICAL.keys() <= exercises.keys()
    for name, bodies in TYPICAL.items():
        source = exercises[name].answer.source
        assert len(bodies) <= len(regions(source, "SOLUTION")), name
        assert answer(source, bodies) != answer(source), name


def test_messy_notebook_keeps_its_answers(released: NotebookNode) -> None:
    """The messy notebook has more cells in another order, an edited check, old outputs and no ids, yet the answer."""
    right = submission(released, solved(Lesson(LESSON, sample_lesson()).exercises))
    noisy = messy(right)
    sources = [c.source for c in noisy.cells]
    assert all(note in sources for note in NOTES)
    assert any("return answer_of_the_teacher" in source and source.startswith("@chatty") for source in sources)
    assert "assert True  # it worked at home" in sources
    grade_ids = [c.metadata.get("nbgrader", {}).get("grade_id") for c in noisy.cells]
    assert grade_ids.index("check_double") > sources.index(cell(right, "next")["source"])
    assert not any("id" in c for c in noisy.cells)
    assert noisy.metadata["colab"]["name"].startswith("Copy of")
    assert all(c.outputs for c in noisy.cells if c.cell_type == "code")
    assert cell(right, "check_double")["outputs"] == []


def test_colab_save_changes_no_source(released: NotebookNode) -> None:
    """A save by Colab keeps sources and nbgrader's metadata, and leaves what it was given as it was."""
    saved = colab_save(released)
    assert [c.source for c in saved.cells] == [c.source for c in released.cells]
    assert [c.metadata.get("nbgrader") for c in saved.cells] == [c.metadata.get("nbgrader") for c in released.cells]
    assert "colab" not in released.metadata
    assert all("id" in c for c in released.cells)


def test_demo_has_a_gradebook_of_its_own(root: Path, tmp_path: Path) -> None:
    """A course that keeps gradebook and submissions elsewhere does not lead the demo there."""
    real = tmp_path / "real"
    configure(root, f'c.CourseDirectory.db_url = "sqlite:///{real}.db"')
    configure(root, f'c.CourseDirectory.submitted_directory = "{real}"')
    folder = tmp_path / "demo"
    sample_class.make_course(root, folder)
    settings = load_config(folder).CourseDirectory
    assert settings.db_url == f"sqlite:///{folder / 'gradebook.db'}"
    assert settings.submitted_directory == "submitted"
    assert (folder / "gradebook.db").is_file()
    assert not list(tmp_path.glob("real*"))
    assert not (root / "notebooks").exists()


def test_foreign_folder_is_refused(root: Path, tmp_path: Path) -> None:
    """A folder or file that demo did not make stays as it is."""
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work", encoding="utf-8")
    for place in (folder, folder / "chapter.txt"):
        with pytest.raises(CourseError, match="was not made by `autograder demo`"):
            sample_class.make_course(root, place)
    assert [path.read_text(encoding="utf-8") for path in folder.iterdir()] == ["years of work"]


def test_earlier_demo_is_made_anew(root: Path, made: Path) -> None:
    """A second demo in the same folder starts from nothing."""
    sample_class.hand_in(made, "perfect", LESSON, sample_class.released_notebook(made, LESSON))
    assert list(sample_class.make_course(root, made)) == [LESSON]
    assert not (made / "submitted").exists()
    assert (made / "notebooks" / LESSON / f"{LESSON}.ipynb").is_file()


def test_folder_around_the_course_is_refused(made: Path) -> None:
    """A demo started inside a demo does not remove the course it is made from."""
    for folder in (made, made.parent):
        with pytest.raises(CourseError, match="holds the course itself"):
            sample_class.make_course(made, folder)
    assert (made / "solutions" / LESSON).is_dir()


def test_command_names_what_is_wrong(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown lesson ends the command with one line on stderr, before any folder is made."""
    monkeypatch.chdir(root)
    assert cli.main(["demo", "--lesson", "09_none"]) == 1
    assert capsys.readouterr() == ("", f"solutions/ has no lesson 09_none. It has {LESSON}.\n")
    assert not (root / "demo").exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """What `pip install .` installs."""
    path = wheels.build(tmp_path_factory.mktemp("wheel"))
    assert path.name == f"transformer_from_scratch-{VERSION}-py3-none-any.whl"
    return zipfile.ZipFile(path)


@pytest.mark.parametrize("corrected", ["autograder/data/dates.json", "notebooks/01_attention/01_attention.ipynb"])
def test_a_corrected_package_has_another_version(tmp_path: Path, corrected: str) -> None:
    """What students get decides it, the lessons too, and nothing else: not the demo, not what a run leaves behind."""
    wheels.checkout(tmp_path)

    def version() -> str:
        return runpy.run_path(str(tmp_path / "autograder" / "version.py"))["VERSION"]

    shutil.rmtree(tmp_path / "autograder" / "demo")
    (tmp_path / "autograder" / "__pycache__").mkdir()
    (tmp_path / "autograder" / "__pycache__" / "data.pyc").touch()
    assert version() == VERSION and Version(VERSION).base_version == NUMBER
    with (tmp_path / corrected).open("a") as file:
        file.write("\n")
    assert version() != VERSION


def test_no_demo_is_in_what_students_install(wheel: zipfile.ZipFile) -> None:
    """The wheel has every module of the package but those of the demo."""
    modules = {name for name in wheel.namelist() if name.endswith(".py")}
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "autograder").rglob("*.py")}
    assert modules == {name for name in package if not name.startswith("autograder/demo/")} != package


def test_an_installation_without_the_demo_says_what_to_do(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """`autograder demo` there is no error of Python's, but a sentence that says where the demo is."""
    wheel.extractall(tmp_path)
    command = """if True:
        import sys
        sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
        from autograder import cli
        print(cli.__file__)
        sys.exit(cli.main(["demo"]))
    """
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "encoding": "utf-8", "check": False}
    done = subprocess.run([sys.executable, "-c", command], **options)
    assert done.stdout == f"{tmp_path / 'autograder' / 'cli' / '__init__.py'}\n"
    assert done.returncode == 1
    assert done.stderr.startswith("The demo needs a checkout of the course") and len(done.stderr.splitlines()) == 1


def test_nbgrader_failure_is_told(made: Path) -> None:
    """When nbgrader fails, its command and its last words are in the error."""
    with pytest.raises(CourseError, match=r"`nbgrader autograde 09_none` failed in (.|\n)*No notebooks were matched"):
        sample_class.nbgrader(made, "autograde", "09_none")


def test_table_is_aligned() -> None:
    """The table has a column per lesson, as wide as its widest entry, and a line per student."""
    found = {(student, lesson): (7.5, 10.0) for student in STUDENTS for lesson in ("01_short", "02_a_longer_name")}
    lines = sample_class.table(found, ["01_short", "02_a_longer_name"])
    assert lines[0] == "             01_short   02_a_longer_name"
    assert lines[1] == "perfect     7.5 of 10          7.5 of 10"
    assert len(lines) == 1 + len(STUDENTS)
