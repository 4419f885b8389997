"""The door through nbgrader: its own commands and formgrader's buttons grade with our engine."""

import atexit
import functools
import json
import os
import sysconfig
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    DeduplicateIds,
    GetGrades,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets import Bool, Float, Integer
from traitlets.config import Config

from autograder.course.hidden_seed import hidden_seed
from autograder.course.paths import Course
from autograder.course.plain import KEY, alone
from autograder.course.versions.released import read_source
from autograder.grading.jobs import prepared
from autograder.grading.results import GradingServerError, Limits
from autograder.grading.submission.lessons import marks_of, with_name
from autograder.grading.submission.other_files import read_other_files
from autograder.grading.submission.reader import cells_in
from autograder.grading.submission.repair import repair
from autograder.grading.worker.client import GradingServer


def grade_in_sandbox(c: Config) -> None:
    """Set nbgrader's own commands and formgrader's buttons to grade as `autograder grade` does.

    Without it nbgrader runs submissions itself: slower, and with nothing between them and the instructor's files.
    """
    # nbgrader's own list and one more, which rebuilds the notebook around the student's answers: copied, deleted, moved
    # or edited cells and lost metadata would cost points, or the whole submission.
    before = [ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    c.Autograde.sanitize_preprocessors = [Repair, *before]
    after = [ClearMetadataPreprocessor, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    c.Autograde.autograde_preprocessors = [Run, *after]
    # A deleted check is put back; it would otherwise wait for manual grading for ever.
    c.OverwriteCells.add_missing_cells = True
    # An exchange of a hub: nbgrader's own collecting follows links of students.
    c.ExchangeFactory.collect = "autograder.collect.exchange.ExchangeCollect"
    # A warning on stderr would otherwise make a correct answer worth nothing; a failed check is an error.
    c.IgnorePattern.enabled, c.IgnorePattern.pattern = True, "(?s)."
    # Feedback shows what a check said, not the hidden tests; a stack trace quotes the one line that failed.
    c.GenerateFeedback.preprocessors = [GetGrades, ClearHiddenTests, CSSHTMLHeaderPreprocessor]
    c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--InteractiveShell.xmode=Plain"]
    c.Execute.shutdown_kernel = "immediate"  # a graded kernel has nothing to save; waiting costs half a second each
    # To create a gradebook nbgrader calls `alembic` by name, also where this environment is not activated.
    scripts, path = sysconfig.get_path("scripts"), os.environ.get("PATH", "")
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, path])


class Repair(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Put the student's answers and own cells into the notebook in solutions/, and say in the log what was mended."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Rebuild the notebook, notes in its metadata; NbGraderException where nothing of the lesson is in it."""
        where, cells = resources["nbgrader"], cells_in(nb)
        repaired = repair(alone(read_source(_lesson(self, where), self.config), where["notebook"]), cells)
        if repaired.reason:
            reason = with_name(repaired.reason, where["assignment"], cells, marks_of(Course(self.config).sources()))
            raise NbGraderException(f"{where['student']}, {where['assignment']}: {reason}")
        for note in repaired.notes:
            self.log.warning("%s, %s: %s", where["student"], where["assignment"], note)
        if version := str((nb.metadata.get("language_info") or {}).get("version", "")):  # a cause may be told by it
            repaired.notebook.metadata["language_info"] = {"name": "python", "version": version}
        repaired.notebook.metadata["autograder"] = {"notes": [note.text for note in repaired.notes]}
        return repaired.notebook, resources


class Run(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a repaired notebook in the sandbox, its checks outside, in place of nbgrader's Execute.

    The judge repairs whatever it is given, so that no notebook brings checks of its own; in what `Repair` has made it
    finds nothing to mend, and adds no notes.
    """

    unprotected = Bool(False, help="Grade even where the sandbox does not hold.").tag(config=True)
    timeout = Float(Limits.cell_seconds, help="Seconds for one cell.").tag(config=True)
    memory_bytes = Integer(Limits.memory_bytes, help="What a submission may allocate.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Fill in the outputs; raise NbGraderException where it cannot be graded here, or not now."""
        where = resources["nbgrader"]
        limits = Limits(cell_seconds=self.timeout, memory_bytes=self.memory_bytes)
        path, submitted = _lesson(self, where), json.dumps(nb).encode()
        source, secret = prepared(path, self.config), hidden_seed(path.parent.parent)
        source = json.dumps(alone(json.loads(source), where["notebook"])).encode()
        handed_in = Path(resources["metadata"]["path"], f"{where['notebook']}.ipynb")
        other_files, left_out = read_other_files(handed_in, limits.file_bytes // 2)
        try:
            warm = _warm(self.unprotected)
            result = warm.grade(where["student"], where["assignment"], source, submitted, limits, other_files, secret)
        except GradingServerError as error:
            _warm.cache_clear()
            raise NbGraderException(f"{error}\nSee `autograder doctor`.") from None
        if result.reason:
            raise NbGraderException(f"{where['student']}, {where['assignment']}: {result.reason}")
        for line in result.unenforced:
            self.log.warning("Not enforced here: %s", line)
        graded = nbformat.from_dict(json.loads(result.notebook))
        shown = {cell.id: cell for cell in graded.cells if cell.cell_type == "code"}
        for cell in nb.cells:  # whose metadata are nbgrader's by now, checksums and all
            cell.metadata.pop(KEY, None)
            if cell.cell_type == "code" and cell.id in shown:
                cell.outputs, cell.source = shown[cell.id].outputs, shown[cell.id].source
            elif cell.cell_type == "code":
                cell.outputs = []
        repaired = (nb.metadata.get("autograder") or {}).get("notes", ())
        nb.metadata["autograder"] = {"notes": [*repaired, *left_out, *(note.text for note in result.notes)]}
        return nb, resources


def _lesson(preprocessor: NbGraderPreprocessor, where: dict[str, Any]) -> Path:
    return Course(preprocessor.config).source(where["assignment"]).with_name(f"{where['notebook']}.ipynb")


@functools.cache
def _warm(unprotected: bool) -> GradingServer:
    """One warm process for all that this one grades; it ends with it."""
    warm = GradingServer(unprotected=unprotected)
    warm.__enter__()
    atexit.register(warm.stop)
    return warm
