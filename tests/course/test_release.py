"""Release makes the student notebooks from solutions/, the same bytes each time, and overwrites nobody's work."""

import copy
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum, is_grade
from support import downloads
from support.gradebook import configure, record
from support.sample_lesson import ADDRESS, ANSWER, ROOT, cell, make_course, sample_lesson, write_lesson

from autograder import cli
from autograder.course import assistants
from autograder.course.config import TABLE_BEGIN, TABLE_END, CourseError, load_config, read_notebook
from autograder.course.hidden_seed import hidden_seed
from autograder.course.release import KERNEL, release
from autograder.grading.submission.hidden_tests import with_hidden_seed
from autograder.stub import STUB, without_regions

STUDENT = "notebooks/01_doubling/01_doubling.ipynb"
SOURCE = "solutions/01_doubling/01_doubling.ipynb"
MANIFEST = "notebooks/release.json"
RELEASED = "solutions/released.txt"
TEXTS = assistants.NAME, *assistants.POINTERS


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one lesson that was never released."""
    return make_course(tmp_path / "course")


@pytest.fixture
def released(course: Path) -> Path:
    """A course whose lesson was released."""
    release(course, register=False)
    return course


def snapshot(root: Path) -> dict[str, bytes]:
    """Return every file of a course with its bytes."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def add_second_lesson(root: Path) -> None:
    """Add a second lesson to a course."""
    write_lesson(root, sample_lesson(2), "02_tripling")


def change_lesson(root: Path, old: str = "Twice is", new: str = "Two times is") -> None:
    """Change words of the course's lesson."""
    text = (root / SOURCE).read_text(encoding="utf-8")
    assert old in text
    (root / SOURCE).write_text(text.replace(old, new), encoding="utf-8")


def release_lesson(root: Path, lesson: dict[str, Any]) -> tuple[NotebookNode, NotebookNode]:
    """Release a lesson in place of the course's, and return its notebooks: the instructor's and the students'."""
    write_lesson(root, lesson)
    release(root, register=False)
    return read_notebook(root / SOURCE), read_notebook(root / STUDENT)


def test_releasing_twice_changes_nothing(course: Path) -> None:
    """The second release leaves every file as it is, and the first says what it wrote."""
    add_second_lesson(course)
    lines = release(course, register=False)
    assert f"{STUDENT}: added" in lines
    assert f"{SOURCE}: changed" in lines
    before = snapshot(course)
    assert release(course, register=False) == []
    assert snapshot(course) == before


def test_points_stand_at_the_check_alone(course: Path) -> None:
    """What the task and the title say of points follows the checks."""
    lesson = sample_lesson()
    cell(lesson, "check_double")["metadata"]["nbgrader"]["points"] = 2.5
    for notebook in release_lesson(course, lesson):
        assert "*3.5 points · 15 minutes*" in cell(notebook, "exercise_double")["source"]
        assert "**Points:** 3.5 · **Time:**" in cell(notebook, "title")["source"]


def test_two_machines_release_the_same_bytes(course: Path, tmp_path: Path) -> None:
    """The same sources in another folder give the same files."""
    other = make_course(tmp_path / "elsewhere" / "my course")
    release(course, register=False)
    release(other, register=False)
    for root in (other, course):
        (root / "solutions" / "hidden_seed").unlink()  # each course's own
    assert snapshot(other) == snapshot(course)


def test_check_writes_nothing_and_says_what_would_change(course: Path) -> None:
    """A check lists each file that is not as released, and touches none."""
    before = snapshot(course)
    lines = release(course, check=True)
    assert lines == [
        f"{SOURCE}: would be changed",
        f"{RELEASED}: would be added",
        f"{STUDENT}: would be added",
        *(f"notebooks/{name}: would be added" for name in TEXTS),
        f"{MANIFEST}: would be added",
        "README.md: would be changed",
    ]
    assert snapshot(course) == before


def test_students_get_no_answer_and_no_hidden_test(released: Path) -> None:
    """The student notebook holds the stub and the visible tests, the source keeps all of it.

    Our own stripping gives what nbgrader's does, the stub at the depth of the solution.
    """
    text = (released / STUDENT).read_text(encoding="utf-8")
    for secret in ("answer_of_the_teacher", "hidden_secret", "BEGIN", "END SOLUTION"):
        assert secret not in text
    student = read_notebook(released / STUDENT)
    answer = cell(student, "double")["source"]
    assert answer == without_regions(ANSWER, "SOLUTION", STUB) and answer.splitlines()[-1] == f"    {STUB}"
    assert cell(student, "check_double")["source"] == 'assert double(2) == 4\nprint("✓ double")'
    assert cell(student, "check_double")["metadata"]["editable"] is False
    assert "answer_of_the_teacher" in (released / SOURCE).read_text(encoding="utf-8")


def test_checks_end_with_their_last_line(course: Path) -> None:
    """Where hidden tests stood no empty lines are left, and nbgrader does not take that for a change."""
    lesson = sample_lesson()
    check = cell(lesson, "check_double")
    check["source"] = check["source"].replace("###", "\n\n###", 1).removesuffix('\nprint("✓ double")')
    _, student = release_lesson(course, lesson)
    checks = [check for check in student.cells if check.cell_type == "code" and is_grade(check)]
    assert checks and not [check.id for check in checks if check.source != check.source.rstrip()]
    assert not [check.id for check in checks if check.metadata.nbgrader.checksum != compute_checksum(check)]


def test_setup_is_filled_in_and_locked(released: Path) -> None:
    """Every notebook gets the one setup cell, whose output nbval ignores; the students' installs it on Colab."""
    source, student = (cell(read_notebook(released / path), "setup") for path in (SOURCE, STUDENT))
    for setup in (source, student):
        assert setup["source"].endswith('print(f"Ready: PyTorch {torch.__version__} on {device}.")')
        assert setup["metadata"]["nbgrader"]["locked"] is True
        assert setup["metadata"]["tags"] == ["nbval-ignore-output"]
    assert f'%pip install --quiet "git+{ADDRESS}@main"' in student["source"]
    assert "git+" not in source["source"]


def test_exercises_are_filled_in_from_the_checks_that_students_see(course: Path) -> None:
    """The cell `exercises` names each exercise with the number of its visible checks, and follows when they change."""
    named = '@check.exercise("1.1 double")\ndef it_{0}():\n    assert double({0}) == 2 * {0}\n\n\n'
    lesson = sample_lesson()
    hidden = f"### BEGIN HIDDEN TESTS\n\n\n{named.format(3)}### END HIDDEN TESTS"
    cell(lesson, "check_double")["source"] = named.format(1) + hidden
    cell(lesson, "check_double_text")["source"] = named.format(2).strip()
    call = 'check.lesson(\n    {\n        "1.1 double": 2,\n    }\n)'
    for notebook in release_lesson(course, lesson):
        exercises, progress = (cell(notebook, name) for name in ("exercises", "progress"))
        assert exercises["source"].endswith(f"\n{call}") and exercises["source"].startswith("# ")
        assert progress["metadata"] == {}
        assert "\ncheck.progress()" in progress["source"]
    cell(lesson, "check_double_text")["source"] += "\n\n\n" + named.format(4).strip()
    _, student = release_lesson(course, lesson)
    assert '"1.1 double": 3,' in cell(student, "exercises")["source"]
    _, student = release_lesson(course, sample_lesson())
    assert cell(student, "exercises")["source"].endswith("\ncheck.lesson({})")


def test_checks_and_plumbing_are_folded_under_a_title(course: Path) -> None:
    """Students open checks, setup and the list of exercises folded, in JupyterLab and as forms on Colab."""
    lesson = sample_lesson()
    rule = '@check.exercise("1.1 double")\ndef {}():\n    double(1)\n'
    hidden = f"### BEGIN HIDDEN TESTS\n{rule.format('it_is_secret')}### END HIDDEN TESTS"
    cell(lesson, "try_double")["source"] = "# @title A helper\n2 * 2"
    cell(lesson, "check_double")["source"] = rule.format("it_adds_up") + rule.format("it_is_even") + hidden
    source, student = release_lesson(course, lesson)
    folded = {other.id: other.source for other in student.cells if other.metadata.get("cellView") == "form"}
    titles = {name: text.splitlines()[0] for name, text in folded.items()}
    assert titles == {
        "setup": "# @title Setup: run this first",
        "exercises": "# @title The exercises of this lesson, and how many checks each has: run this, too",
        "check_double": "# @title Check 1.1: it adds up; it is even",
        "check_double_text": folded["check_double_text"].splitlines()[0],  # it names no rule
        "try_double": "# @title A helper",
    }
    assert "secret" not in folded["check_double"]
    assert not any("cellView" in other.metadata for other in source.cells)
    hidden_sources = {other.id for other in student.cells if other.metadata.get("jupyter") == {"source_hidden": True}}
    assert hidden_sources == folded.keys()
    assert release(course, check=True, register=False) == []


def noisy_lesson() -> dict[str, Any]:
    """Return the sample lesson as Colab, VS Code and a run leave it, without changing what it says."""
    noisy = sample_lesson()
    noisy["metadata"] |= {"colab": {"provenance": []}, "language_info": {"name": "python", "version": "3.13.1"}}
    tried = cell(noisy, "try_double")
    tried["metadata"] |= {
        "execution": {"iopub.execute_input": "2030-01-01T00:00:00Z"},
        "collapsed": True,
        "jupyter": {"source_hidden": True},
        "colab": {"base_uri": "https://localhost"},
        "outputId": "1",
        "cellView": "form",
        "executionInfo": {"elapsed": 3},
        "vscode": {"languageId": "python"},
        "deletable": True,
    }
    cell(noisy, "idea")["metadata"] = {"id": "QwErTy", "tags": [], "slideshow": {"slide_type": "slide"}}
    tried["execution_count"] = 17
    metadata = {"execution": {"iopub.status.idle": "2030"}, "image/png": {"width": 300}}
    data = {"text/plain": ["42"]}
    tried["outputs"] = [{"output_type": "execute_result", "execution_count": 17, "metadata": metadata, "data": data}]
    pieces = [{"output_type": "stream", "name": "stdout", "text": [f"line {i}\n"]} for i in range(2)]
    cell(noisy, "check_double")["outputs"] = pieces
    cell(noisy, "check_double")["id"] = "4f1c2a"
    return noisy


def test_noise_is_removed_and_the_rest_kept(course: Path) -> None:
    """What editors and runs add is gone, while outputs, tags, sizes of pictures and slides stay."""
    source, student = release_lesson(course, noisy_lesson())
    tried = cell(source, "try_double")
    assert source["metadata"] == {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    assert tried["metadata"] == {"tags": ["try-it"]}
    assert cell(source, "idea")["metadata"] == {"slideshow": {"slide_type": "slide"}}
    assert tried["outputs"][0]["metadata"] == {"image/png": {"width": 300}}
    assert tried["outputs"][0]["data"] == {"text/plain": "42"}
    assert [output["text"] for output in cell(source, "check_double")["outputs"]] == ["line 0\nline 1\n"]
    assert cell(source, "check_double")["metadata"]["nbgrader"]["grade_id"] == "check_double"
    counts = {c["id"]: c["execution_count"] for c in source["cells"] if c["cell_type"] == "code"}
    assert list(counts.values()) == [*range(1, len(counts) + 1)]
    assert tried["outputs"][0]["execution_count"] == counts["try_double"]
    assert all(not c.get("outputs") and not c.get("execution_count") for c in student["cells"])
    assert release(course, register=False) == []


def test_notebook_of_an_older_format_is_brought_up(course: Path) -> None:
    """A source saved as nbformat 4.4 is written as 4.5, and missing ids of nbgrader cells come from nbgrader."""
    old = sample_lesson()
    old["nbformat_minor"] = 4
    del cell(old, "double")["id"]
    source, _ = release_lesson(course, old)
    assert (source["nbformat"], source["nbformat_minor"]) == (4, 5)
    assert cell(source, "double")["metadata"]["nbgrader"]["grade_id"] == "double"


def test_files_are_written_as_nbformat_writes_them(released: Path) -> None:
    """Notebooks have an indent of one, plain ✓ characters and an end of line at the end; the manifest lists them."""
    for path in (released / SOURCE, released / STUDENT):
        text = path.read_bytes().decode()
        assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        assert "✓" in text
    manifest = json.loads((released / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["generated by"].startswith("autograder release")
    assert list(manifest["files"]) == ["01_doubling/01_doubling.ipynb", *TEXTS]


def changed_by_an_editor(notebook: dict) -> None:
    """What JupyterLab writes when somebody opens and saves."""
    notebook["metadata"]["language_info"] = {"name": "python", "version": "3.12.1"}


def changed_by_formgrader(notebook: dict) -> None:
    """What nbgrader's own Generate leaves there: checks with other titles or none, unfolded."""
    check = cell(notebook, "check_double")
    check["source"] = "# @title Another one\n" + "".join(check["source"])
    for name in ("cellView", "jupyter"):
        check["metadata"].pop(name, None)


@pytest.mark.parametrize("change", [changed_by_an_editor, changed_by_formgrader])
def test_what_programs_write_is_nobodys_work(released: Path, change: Callable[[dict], None]) -> None:
    """A new version of the lesson is released over it, whatever the manifest is of; answers are still refused."""
    path = released / STUDENT
    before = json.loads(path.read_bytes())
    changed = copy.deepcopy(before)
    change(changed)
    path.write_text(json.dumps(changed))
    if change is changed_by_an_editor:
        assert release(released, check=True) == []
    change_lesson(released)
    assert f"{STUDENT}: changed" in release(released, register=False)
    cell(before, "double")["source"] = "def double(x):\n    return 2 * x"
    path.write_text(json.dumps(before))
    with pytest.raises(CourseError, match="somebody worked in it"):
        release(released, register=False)


def test_a_manifest_of_an_earlier_version_still_tells(released: Path) -> None:
    """It has a digest of all bytes; a notebook as it was released then may be replaced."""
    manifest = json.loads((released / MANIFEST).read_text())
    manifest["files"] = dict.fromkeys(manifest["files"], hashlib.sha256((released / STUDENT).read_bytes()).hexdigest())
    (released / MANIFEST).write_text(json.dumps(manifest))
    change_lesson(released)
    assert f"{STUDENT}: changed" in release(released, register=False)


@pytest.mark.parametrize("state", ["never released", "released"])
def test_edited_notebook_is_refused(course: Path, state: str) -> None:
    """A student notebook somebody worked in stops the first release and later ones, which name it and write nothing."""
    if state == "released":
        release(course, register=False)
    (course / STUDENT).parent.mkdir(parents=True, exist_ok=True)
    (course / STUDENT).write_text("my work", encoding="utf-8")
    change_lesson(course)
    before = snapshot(course)
    for check in (True, False):
        with pytest.raises(CourseError, match=rf"{STUDENT} .* Move it away, or run `autograder release --force`"):
            release(course, check=check)
    assert snapshot(course) == before


def test_a_notebook_that_was_only_run_is_no_work(released: Path) -> None:
    """Outputs and counts of a run do not stop a release: nobody's answer is lost when they go."""
    as_released = (released / STUDENT).read_bytes()
    ran = json.loads(as_released)
    cell(ran, "setup")["execution_count"] = 3
    cell(ran, "setup")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["ready"]}]
    (released / STUDENT).write_text(json.dumps(ran), encoding="utf-8")
    assert release(released, register=False) == [f"{STUDENT}: changed"]
    assert (released / STUDENT).read_bytes() == as_released


def test_force_loses_nothing(released: Path) -> None:
    """A forced release keeps a copy of the work beside the new notebook, each time under a name of its own."""
    for count, name in enumerate(["01_doubling.before-release.ipynb", "01_doubling.before-release-2.ipynb"]):
        (released / STUDENT).write_text(f"my work {count}", encoding="utf-8")
        lines = release(released, force=True, register=False)
        assert any(line.startswith(f"notebooks/01_doubling/{name}: ") for line in lines)
        assert (released / "notebooks/01_doubling" / name).read_text(encoding="utf-8") == f"my work {count}"
        assert STUB in cell(read_notebook(released / STUDENT), "double")["source"]
    assert release(released, register=False) == []
    assert (released / "notebooks/01_doubling/01_doubling.before-release.ipynb").exists()


def test_what_was_deleted_comes_back(released: Path) -> None:
    """A notebook or the manifest is made again; without a manifest, notebooks that are not up to date are refused."""
    before = snapshot(released)
    for name in (STUDENT, MANIFEST):
        (released / name).unlink()
        assert release(released, register=False) == [f"{name}: added"]
        assert snapshot(released) == before
    (released / MANIFEST).unlink()
    change_lesson(released)
    with pytest.raises(CourseError, match=STUDENT):
        release(released)


@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD", "[]", '{"files": {"../README.md": "0"}}', '{"files": {"a/a.ipynb": 1}}']
)
def test_damaged_manifest_is_refused(released: Path, text: str) -> None:
    """A manifest that cannot be trusted stops the release, which says how to go on."""
    (released / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"release\.json is damaged.* Restore it from git, or delete it"):
        release(released)


def test_changed_lesson_reaches_an_untouched_notebook(released: Path) -> None:
    """A notebook nobody worked in follows its source without being forced, also in a fresh copy of the course."""
    copy = shutil.copytree(released, released.parent / "clone")
    change_lesson(copy)
    assert release(copy, register=False) == [f"{STUDENT}: changed", f"{MANIFEST}: changed"]
    assert "Two times is" in (copy / STUDENT).read_text(encoding="utf-8")


def test_what_was_handed_out_stays_known(released: Path) -> None:
    """Each release adds the checks that are new to students, keeps the earlier ones, and says where that is missing."""
    one = (released / RELEASED).read_text(encoding="utf-8")
    assert [line.split()[:2] for line in one.splitlines()[1:]] == [
        ["01_doubling", name] for name in ("check_double", "check_double_text", "exercises")
    ]
    for old, new, added in (
        ("(3) == 6", "(5) == 10", 0),
        ("(2) == 4", "(4) == 8", 1),
        ("double_text", "double_all", 1),
    ):
        change_lesson(released, old, new)
        before = (released / RELEASED).read_text(encoding="utf-8").splitlines()
        release(released, register=False)
        after = (released / RELEASED).read_text(encoding="utf-8").splitlines()
        assert (set(before) <= set(after), len(after) - len(before)) == (True, added)
        assert after[1:] == sorted(after[1:])
    merged = "<<<<<<< mine\n" + "\n".join(reversed(after)) + "\n=======\n" + one
    (released / RELEASED).write_text(merged, encoding="utf-8")
    assert release(released, check=True) == [f"{RELEASED}: would be changed"]
    release(released, register=False)
    assert (released / RELEASED).read_text(encoding="utf-8").splitlines() == after


def test_vanished_lesson_takes_its_notebook_along(released: Path) -> None:
    """The notebook of a lesson that is gone is removed with its folder and its row in the README; its checks stay."""
    before = snapshot(released)
    add_second_lesson(released)
    release(released, register=False)
    assert "02_tripling" in (released / "README.md").read_text(encoding="utf-8")
    shutil.rmtree(released / "solutions/02_tripling")
    assert "notebooks/02_tripling/02_tripling.ipynb: removed" in release(released, register=False)
    assert {**snapshot(released), RELEASED: b""} == {**before, RELEASED: b""}
    assert "02_tripling check_double" in (released / RELEASED).read_text(encoding="utf-8")
    assert not (released / "notebooks/02_tripling").exists()


def test_work_in_a_vanished_lesson_stays(course: Path) -> None:
    """The notebook of a lesson that is gone is left alone, and named, when somebody worked in it."""
    add_second_lesson(course)
    release(course, register=False)
    shutil.rmtree(course / "solutions/02_tripling")
    worked_in = course / "notebooks/02_tripling/02_tripling.ipynb"
    worked_in.write_text("my work", encoding="utf-8")
    lines = release(course, register=False)
    assert any(line.startswith("notebooks/02_tripling/02_tripling.ipynb: left alone") for line in lines)
    assert worked_in.read_text(encoding="utf-8") == "my work"
    assert release(course, register=False) == []


def test_breaches_of_all_lessons_stop_everything(released: Path) -> None:
    """Every breach of every lesson is listed with file and cell, and nothing is written."""
    change_lesson(released)
    broken = sample_lesson(2)
    cell(broken, "check_double")["source"] = "3"
    cell(broken, "next")["source"] = "## Next"
    write_lesson(released, broken, "02_tripling")
    write_lesson(released, {"cells": 1}, "03_none")
    (released / "solutions/04_nothing").mkdir()
    write_lesson(released, sample_lesson(), "05_text").write_text("{", encoding="utf-8")
    before = snapshot(released)
    with pytest.raises(CourseError) as caught:
        release(released)
    text = str(caught.value)
    for part in (
        "solutions/02_tripling/02_tripling.ipynb, cell check_double: it ends in `3`",
        "solutions/02_tripling/02_tripling.ipynb, cell next: it holds no link",
        "solutions/03_none/03_none.ipynb: it is JSON, but not a notebook",
        "solutions/04_nothing/04_nothing.ipynb: it does not exist",
        "solutions/05_text/05_text.ipynb: it is not valid JSON",
        "Nothing was written.",
    ):
        assert part in text
    assert snapshot(released) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": [{"cell_type": "code"}]}, "not a notebook"),
        ({"cells": [{"cell_type": "odd", "metadata": {}, "source": ""}]}, "not a valid notebook"),
        ({"nbformat": 3}, "not version 4"),
        ({"cells": [{"cell_type": "raw", "metadata": {"nbgrader": 1}, "source": ""}]}, "nbgrader metadata"),
    ],
)
def test_malformed_notebook_is_named(course: Path, change: dict[str, Any], words: str) -> None:
    """A file that is no notebook of ours is a breach that names it."""
    write_lesson(course, sample_lesson() | change)
    with pytest.raises(CourseError, match=rf"{SOURCE}: .*{words}"):
        release(course)


def test_other_files_beside_a_lesson_are_refused(course: Path) -> None:
    """Files beside a lesson would not reach students and are refused, while hidden folders are ignored."""
    hidden = course / "solutions/01_doubling/.ipynb_checkpoints"
    hidden.mkdir()
    (hidden / "01_doubling-checkpoint.ipynb").write_text("{}", encoding="utf-8")
    (course / "solutions/README.md").write_text("For teachers.", encoding="utf-8")
    release(course, register=False)
    assert not [path for path in snapshot(course / "notebooks") if "checkpoint" in path or "README" in path]
    (course / "solutions/01_doubling/notes.txt").write_text("the answers", encoding="utf-8")
    with pytest.raises(CourseError, match=rf"{SOURCE}: `notes\.txt` .* Move it out of solutions/"):
        release(course)


def test_readme_lists_the_lessons(course: Path) -> None:
    """The README's table has a row per lesson and a total, and the text around it stays."""
    add_second_lesson(course)
    release(course, register=False)
    text = (course / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Course\n\n<!-- lessons")
    assert text.endswith("<!-- end of lessons -->\n\nThe end.\n")
    row = "| [2 · Doubling](notebooks/02_tripling/02_tripling.ipynb) | `double` | §3.2.1 | 4 | 20 | 5 s | [![Open in "
    assert row in text
    assert "| **Total** | | | **8** | **40** | |" in text


@pytest.mark.parametrize("keep", [TABLE_BEGIN, TABLE_END, "both, the other way round"])
def test_half_a_place_for_the_table_is_refused(course: Path, keep: str) -> None:
    """One of the two lines around the table alone, or both in the wrong order, stop the release."""
    lines = [keep] if "<!--" in keep else [TABLE_END, TABLE_BEGIN]
    (course / "README.md").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CourseError, match=r"README\.md .* Mend them"):
        release(course)


def test_readme_without_a_place_is_left_alone(course: Path) -> None:
    """A README without the two lines, or none at all, is no error."""
    (course / "README.md").write_text("# Mine\n", encoding="utf-8")
    release(course, register=False)
    assert (course / "README.md").read_text(encoding="utf-8") == "# Mine\n"
    (course / "README.md").unlink()
    assert release(course, register=False) == []


def test_stub_is_the_one_nbgrader_writes() -> None:
    """The stub the grammar tries out is the one in nbgrader's configuration."""
    assert load_config(ROOT).ClearSolutions.code_stub == {"python": STUB}


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_gradebook_knows_the_lesson_and_guards_it(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Release records the checks with their points, without alembic on PATH; nbgrader's refusal later stops it all."""
    monkeypatch.setenv("PATH", "")
    release(course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "transformer") as gradebook:
        lesson = gradebook.find_notebook("01_doubling", "01_doubling")
        assert {c.name: c.max_score for c in lesson.grade_cells} == {"check_double": 3, "check_double_text": 1}
        assert "hidden_secret" in gradebook.find_source_cell("check_double", "01_doubling", "01_doubling").source
        gradebook.add_student("ada")
        gradebook.add_submission("01_doubling", "ada")
    change_lesson(course)
    assert f"{STUDENT}: changed" in release(course)
    change_lesson(course, "double_text", "double_words")
    before = snapshot(course)
    with pytest.raises(CourseError, match=r"could not record it in the gradebook\. Undo (.|\n)*Cannot add or remove"):
        release(course)
    assert {**snapshot(course), "gradebook.db": b""} == {**before, "gradebook.db": b""}


BROKEN_COURSES = {
    "no lessons": (lambda course: shutil.rmtree(course / "solutions"), "holds no lesson"),
    "a configuration that does not run": (
        lambda course: (course / "nbgrader_config.py").write_text("1 / 0"),
        r"nbgrader_config\.py does not run \(ZeroDivisionError",
    ),
    "a header that nbgrader does not find": (
        lambda course: configure(course, 'c.IncludeHeaderFooter.header = "nowhere.ipynb"'),
        rf"{SOURCE}: nbgrader could not make .*(.|\n)*nowhere\.ipynb",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), BROKEN_COURSES.values(), ids=BROKEN_COURSES)
def test_broken_course_is_refused(course: Path, spoil: Callable[[Path], object], message: str) -> None:
    """What is wrong with a whole course is told in one sentence, nbgrader's own words included, and nothing is made."""
    spoil(course)
    with pytest.raises(CourseError, match=message):
        release(course)
    assert not (course / "notebooks").exists()


def test_command_speaks_and_returns_its_status(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It works from a folder below the course and from no other, speaks one line per file, has stderr for errors."""
    monkeypatch.chdir(course / "solutions")
    assert cli.main(["release", "--check"]) == 1
    spoken = capsys.readouterr()
    assert f"{STUDENT}: would be added" in spoken.out.splitlines()
    assert spoken.err == "✗ The course is not as released. Run `autograder release`.\n"
    assert cli.main(["release"]) == 0
    spoken = capsys.readouterr()
    assert (spoken.out.splitlines()[-1], spoken.err) == ("✓ The lessons are released.", "")
    assert cli.main(["release", "--check"]) == 0
    assert capsys.readouterr() == ("✓ The lessons are up to date.\n", "")
    (course / STUDENT).write_text("my work", encoding="utf-8")
    assert cli.main(["release"]) == 1
    spoken = capsys.readouterr()
    assert (spoken.out, "Traceback" in spoken.err, "my work" in spoken.err) == ("", False, False)
    assert STUDENT in spoken.err
    assert cli.main(["release", "--force"]) == 0
    monkeypatch.chdir(course.parent)
    assert cli.main(["release"]) == 1
    assert "nbgrader_config.py" in capsys.readouterr().err


def test_whose_grades_came_from_other_checks(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says how many hand-ins are graded anew, and with which command, while there are any."""
    monkeypatch.chdir(course)
    release(course)
    files = {f"{name}/01_doubling.ipynb": downloads.notebook(course) for name in ("ada", "bob")}
    assert downloads.collect("folder", downloads.zipped(files)) == 0
    record(course, ("ada", "bob"))
    assert cli.main(["release"]) == 0 and "other checks" not in capsys.readouterr().out
    change_lesson(course, "double(3) == 6", "double(5) == 10")
    assert cli.main(["release"]) == 0
    line = "2 hand-ins were graded with another version of the lesson: run `autograder grade 01_doubling`."
    assert line in capsys.readouterr().out.splitlines()
    record(course, ("ada", "bob"))
    assert cli.main(["release"]) == 0 and "other checks" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["release", "demo"])
def test_command_needs_nbgrader_only_when_it_runs(command: str) -> None:
    """A student's install can import the command line, and an instructor's command tells it what to install."""
    script = (
        "import sys\nfor name in ('nbgrader', 'nbformat', 'IPython', 'traitlets'): sys.modules[name] = None\n"
        f"from autograder import cli\nsys.exit(cli.main([{command!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert 'pip install ".[grading]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_release_draws_the_seed_of_hidden_tests(course: Path, tmp_path: Path) -> None:
    """It is drawn once, for its owner to read, another one in every course, and nothing of it reaches students.

    What is none is named, with what to do.
    """
    assert "solutions/hidden_seed: drawn, for the hidden tests" in release(course, register=False)
    path = course / "solutions" / "hidden_seed"
    secret = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600 and len(secret.strip()) == 16
    assert release(course, register=False) == [] and path.read_text() == secret
    release(other := make_course(tmp_path / "other"), register=False)
    assert (other / "solutions" / "hidden_seed").read_text() != secret
    assert not any(secret.strip().encode() in data for data in snapshot(course / "notebooks").values())
    path.write_text("nonsense")
    with pytest.raises(CourseError, match="Remove it, and `autograder release` draws one"):
        hidden_seed(path.parent)


def test_hidden_tests_draw_from_the_seed_of_the_course() -> None:
    """Every hidden test of the lessons has seeds of the course's, and nothing else of a check changes."""
    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        for each in read_notebook(path).cells:
            hidden = each.source.partition("### BEGIN HIDDEN TESTS")[2]
            seeds = set(re.findall(r"seed=(\d+)", hidden))
            drawn = [with_hidden_seed(each.source, secret) for secret in (b"one", b"other", b"one")]
            assert drawn[0] == drawn[2] and with_hidden_seed(each.source, b"") == each.source
            new = [set(re.findall(r"seed=(\d{8,})\)", source)) for source in drawn[:2]]
            assert [len(numbers) for numbers in new] == 2 * [len(seeds)] and not new[0] & new[1], each.id
            shown = each.source.removesuffix(hidden)
            assert all(source.startswith(shown) for source in drawn)
            assert len({re.sub(r"seed=\d+", "", source) for source in (each.source, *drawn)}) == 1
