"""A learner at work: the released lessons in a folder of their own, opened and run in a kernel, answer by answer."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from answers.writing import without_docstrings
from nbclient import NotebookClient
from nbformat import NotebookNode
from support.classroom import LESSONS, ROOT, classroom

NOT_INHERITED = ("PYTEST", "NBGRADER", "JPY_", "VSCODE")


class Learner:
    """A folder with the lessons, and what a learner makes of them.

    Attributes:
        folder: the lessons' folders are in it, and what is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "course"
        for lesson in LESSONS:
            shutil.copytree(ROOT / "notebooks" / lesson, self.folder / lesson)

    def work(
        self, lesson: str, exercises: Iterable[str] | None = None, *, instead: Mapping[str, str] | None = None
    ) -> NotebookNode:
        """Answer some exercises of a lesson, all when left out, and run it from top to bottom.

        Cells that raise stop nothing: a stub does.

        Args:
            instead: texts in given cells → what stands there instead, such as fewer steps.
        """
        written = answers(lesson)
        chosen = written if exercises is None else {name: written[name] for name in exercises}
        notebook = nbformat.read(self.folder / lesson / f"{lesson}.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = chosen.get(cell.id, cell.source)
            for old, new in (instead or {}).items():
                cell.source = cell.source.replace(old, new)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)}
        client = NotebookClient(
            notebook,
            timeout=900,
            allow_errors=True,
            kernel_name="python3",
            resources={"metadata": {"path": str(self.folder / lesson)}},
        )
        return client.execute(env=environment)

    @property
    def file(self) -> Path:
        return self.folder / "my_transformer.py"


def answers(lesson: str) -> dict[str, str]:
    """What a learner writes into the cells of a lesson, by the cells' ids: the solutions, without docstrings."""
    solutions = classroom(lesson).answers
    return {name: without_docstrings(source, annotations=False) for name, source in solutions.items()}


def said(notebook: NotebookNode, cell: str) -> str:
    """What a cell printed."""
    outputs = next(each.outputs for each in notebook.cells if each.id == cell)
    return "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")


def errors(notebook: NotebookNode) -> dict[str, str]:
    """The cells that raised, each with what."""
    return {
        cell.id: f"{output.ename}: {output.evalue}"
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    }
