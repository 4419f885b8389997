"""A right answer keeps its points on the way through Colab, VS Code and JupyterLab to stock nbgrader."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output
from support import stock_nbgrader
from support.drawn import some_of
from support.sample_lesson import ROOT

from autograder.course.lesson import Lesson
from autograder.demo import sample_class
from autograder.demo.students import colab_save, solved, submission

LESSON = "01_attention"

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def run(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with outputs and counts, as its editor ran it, errors of the first attempts included."""
    notebook = copy.deepcopy(notebook)
    for count, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), start=1):
        cell.execution_count = 2 * count
        cell.outputs = [
            new_output("stream", name="stderr", text="UserWarning: old\n"),
            new_output("execute_result", {"text/plain": "0"}, execution_count=2 * count),
            new_output("error", ename="CheckFailed", evalue="✗ old", traceback=["✗ old"]),
        ]
    return notebook


def colab(notebook: NotebookNode, minor: int) -> NotebookNode:
    """Save as Colab does, in one of the formats without cell ids."""
    saved = colab_save(run(notebook))
    saved.nbformat_minor = minor
    return saved


def colab_with_form(notebook: NotebookNode) -> NotebookNode:
    """Save as Colab does when cells are shown as forms, keeping the ids of the present format beside its own."""
    saved = run(notebook)
    saved.metadata["colab"] = {"provenance": [{"file_id": "1aB", "timestamp": 1893456000000}]}
    saved.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    for count, cell in enumerate(saved.cells):
        cell.metadata |= {"id": f"x{count}", "cellView": "form", "colab": {"base_uri": "https://localhost:8080/"}}
    return saved


def vscode(notebook: NotebookNode) -> NotebookNode:
    """Save as VS Code does: a kernel nobody else has, and locked cells that were open to editing."""
    saved = run(notebook)
    saved.metadata = NotebookNode(
        kernelspec={"name": "thesis-env", "display_name": ".venv (3.13.1)", "language": "python"},
        language_info={"name": "python", "version": "3.13.1", "codemirror_mode": {"name": "ipython", "version": 3}},
        vscode={"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b"}},
    )
    for cell in saved.cells:
        cell.metadata["vscode"] = {"languageId": "python" if cell.cell_type == "code" else "markdown"}
        cell.metadata.pop("deletable", None)
        cell.metadata.pop("editable", None)
        if cell.metadata.get("nbgrader", {}).get("locked"):
            cell.source += "\n"
    return saved


def jupyterlab(notebook: NotebookNode) -> NotebookNode:
    """Save as JupyterLab does, with everything that its menus can put into a cell."""
    saved = run(notebook)
    saved.metadata["toc-autonumbering"] = True
    saved.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2}}
    saved.metadata["kernelspec"] = {"name": "conda-env-torch-py", "display_name": "torch", "language": "python"}
    for cell in saved.cells:
        moment = "2030-01-01T00:00:00.000000Z"
        cell.metadata |= {
            "trusted": True,
            "collapsed": True,
            "scrolled": True,
            "jupyter": {"source_hidden": True, "outputs_hidden": True},
            "execution": {"iopub.execute_input": moment, "iopub.status.idle": moment, "shell.execute_reply": moment},
        }
    return saved


SAVES: dict[str, Callable[[NotebookNode], NotebookNode]] = {
    "colab-4.0": partial(colab, minor=0),
    "colab-4.4": partial(colab, minor=4),
    "colab-form": colab_with_form,
    "vscode": vscode,
    "jupyterlab": jupyterlab,
}
SEEN = some_of(list(SAVES), "editors", one_in=1, on_a_push=3)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Lesson]:
    """A course in which one student per editor handed in the right answers, graded by stock nbgrader."""
    folder = tmp_path_factory.mktemp("round_trips") / "demo"
    lesson = sample_class.make_course(ROOT, folder, [LESSON])[LESSON]
    right = submission(sample_class.released_notebook(folder, LESSON), solved(lesson.exercises))
    for editor in SEEN:
        sample_class.hand_in(folder, editor, LESSON, SAVES[editor](right))
    stock_nbgrader.configure(folder)
    stock_nbgrader.grade(folder, [LESSON], list(SEEN))
    return folder, lesson


@pytest.mark.parametrize("editor", SEEN)
def test_right_answers_keep_their_points(graded: tuple[Path, Lesson], editor: str) -> None:
    """Every check gives full points for right answers, whichever editor saved them."""
    folder, lesson = graded
    with sample_class.open_gradebook(folder) as gradebook:
        grades = gradebook.find_submission_notebook(LESSON, LESSON, editor).grades
        points = {grade.name: grade.auto_score for grade in grades}
    assert points == {check.id: check.points for exercise in lesson.exercises for check in exercise.checks}


@pytest.mark.parametrize("editor", SEEN)
def test_save_differs_from_the_release_in_noise_only(graded: tuple[Path, Lesson], editor: str) -> None:
    """Each save changes the metadata of every cell and no code, so that grading it proves something."""
    released = sample_class.released_notebook(graded[0], LESSON)
    saved = SAVES[editor](released)
    pairs = list(zip(released.cells, saved.cells, strict=True))
    assert all(old.source.rstrip() == new.source.rstrip() for old, new in pairs)
    assert all(old.metadata != new.metadata for old, new in pairs)
    assert saved.metadata != released.metadata
