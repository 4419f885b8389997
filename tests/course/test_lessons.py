"""The lessons as students get them: nothing leaks, given cells run unanswered, generated files are up to date."""

import ast
import contextlib
import io
import itertools
import os
from unittest import mock

import nbformat
import pytest
from support.classroom import AS_GRADED, LESSONS, ROOT, classroom, run

from autograder.course import release
from autograder.stub import code_lines, regions


def student_cells(lesson: str) -> list:
    """The cells of a generated notebook."""
    return nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4).cells


def test_what_is_generated_is_what_solutions_say() -> None:
    """Releasing again would change no file."""
    assert release.release(ROOT, check=True) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_answer_and_no_hidden_test_reaches_students(lesson: str) -> None:
    """No line of code of a solution or hidden test stands in the student notebook, unless students are given it."""
    room = classroom(lesson)
    text = "\n".join(cell.source for cell in student_cells(lesson))
    given = {line.strip() for cell in student_cells(lesson) for line in cell.source.splitlines()}
    assert "BEGIN" not in text and "END HIDDEN" not in text
    for kind, cells in (("SOLUTION", room.answers.values()), ("HIDDEN TESTS", [cell.source for cell in room.checks])):
        hidden = [line.strip() for source in cells for region in regions(source, kind) for line in code_lines(region)]
        assert hidden
        shown_elsewhere = [line for line in hidden if line in given]
        assert all(is_common(line, room) for line in shown_elsewhere), shown_elsewhere


def is_common(line: str, room) -> bool:
    """A line that visible checks or given cells hold in `solutions/` as well gives nothing away."""
    return any(line in cell.source.split("### BEGIN HIDDEN")[0] for cell in (*room.given, *room.checks))


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_answer_stands_in_the_package(lesson: str) -> None:
    """No telling line of a solution stands word for word in the package; that layers hold layers tells nothing."""
    package = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "autograder").rglob("*.py"))
    for name, source in classroom(lesson).answers.items():
        lines = [line.strip() for region in regions(source, "SOLUTION") for line in code_lines(region)]
        bare = [line.split("  #")[0] for line in lines]
        telling = [line for line in bare if len(line) > 45 and " = nn." not in line and "register_buffer" not in line]
        found = [line for line in telling if line in package]
        assert not found, f"{name}: {found}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_given_cells_run_before_anything_is_answered(lesson: str) -> None:
    """In an untouched notebook setup and examples run; only a try-it cell may stop, for want of an answer."""
    scope = {"__name__": "__main__"}
    for cell in student_cells(lesson):
        if cell.cell_type != "code" or cell.metadata.get("nbgrader", {}).get("grade"):
            continue
        with contextlib.redirect_stdout(io.StringIO()), mock.patch.dict(os.environ, AS_GRADED):
            # A later one may need what an earlier one would have made.
            missing = (NotImplementedError, NameError) if "try-it" in cell.metadata.get("tags", []) else ()
            with contextlib.suppress(*missing):
                run(cell.source, cell.id, scope)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_figure_has_a_sentence_that_says_what_to_see(lesson: str) -> None:
    """Each cell that draws has a text beside it, before or after, that says what to see in the figure."""
    cells = student_cells(lesson)
    drawing = [i for i, cell in enumerate(cells) if cell.cell_type == "code" and "draw." in cell.source]
    assert drawing
    for i in drawing:
        beside = [cell.source for cell in cells[i - 1 : i + 2] if cell.cell_type == "markdown"]
        assert any("what to see" in text.lower() for text in beside), cells[i].id


@pytest.mark.parametrize("lesson", LESSONS)
def test_checks_keep_their_names_to_themselves(lesson: str) -> None:
    """A check cell defines nothing but check functions, so no answer can lean on a name that a check left behind."""
    for cell in classroom(lesson).checks:
        for statement in ast.parse(cell.source).body:
            assert isinstance(statement, ast.FunctionDef) and statement.decorator_list, cell.id


def test_lessons_open_in_order() -> None:
    """Each lesson's last cell links to the next lesson that exists."""
    for lesson, following in itertools.pairwise(LESSONS):
        assert f"../{following}/{following}.ipynb" in student_cells(lesson)[-1].source
