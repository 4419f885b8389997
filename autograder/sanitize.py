"""What nbgrader runs before it grades a submission: repair, so that no accident costs a student an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course import read_notebook
from autograder.grading.reading import cells_in
from autograder.grading.repair import repair


class Repair(NbGraderPreprocessor):
    """Put the student's answers and own cells into the notebook in solutions/, and say in the log what was mended."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Rebuild the notebook; its metadata keep the notes under `autograder`."""
        where, course = resources["nbgrader"], CourseDirectory(config=self.config)
        lesson = Path(course.root) / course.source_directory / where["assignment"] / f"{where['notebook']}.ipynb"
        repaired = repair(read_notebook(lesson), cells_in(nb))
        for note in repaired.notes:
            self.log.warning("%s, %s: %s", where["student"], where["assignment"], note)
        repaired.notebook.metadata["autograder"] = {"notes": list(repaired.notes)}
        return repaired.notebook, resources
