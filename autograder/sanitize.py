"""What nbgrader runs before it grades a submission, so that a copied cell costs a student nothing."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor


class ForgetForeignCells(NbGraderPreprocessor):
    """Make plain cells of those that nbgrader's metadata does not fit: copies, and cells from another lesson.

    Runs behind nbgrader's `DeduplicateIds`, which keeps one of several cells with the same id and leaves the others
    with metadata that the next steps stumble over.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Forget the metadata of every cell whose grade_id the lesson does not have."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            lesson = gradebook.find_notebook(where["notebook"], where["assignment"])
            known = {cell.name for cell in lesson.source_cells}
        for cell in nb.cells:
            if "nbgrader" in cell.metadata and cell.metadata.nbgrader.get("grade_id") not in known:
                del cell.metadata["nbgrader"]
        return nb, resources
