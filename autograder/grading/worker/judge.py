"""The judge: it goes through a repaired notebook, has the student's cells run in their process, and judges.

A check runs beside the answers in that process where nothing in the student's code can reach it, as `goes_beyond` in
submission/restricted.py says; else it runs here, on proxies of the answers. That is decided once for a submission.
"""

import io
import json
import marshal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from types import CodeType

import msgspec
import nbformat
import numpy as np
from nbformat import NotebookNode

from autograder.check import _measure, _panel
from autograder.check._errors import CheckBroken, CheckFailed, NotWritten
from autograder.course.lesson import answer_of, cell_id, is_check, is_marked
from autograder.course.names import printable
from autograder.course.plain import KEY, data_of
from autograder.grading.results import Limits, Note, NoteKind, Outcome, Result, Status
from autograder.grading.rpc.channel import LossReason, Lost, malformed
from autograder.grading.rpc.messages import MOST_TEXT
from autograder.grading.submission.compiled import CompiledLesson, compiled
from autograder.grading.submission.dependencies import unneeded
from autograder.grading.submission.harmless import MOST_OF_CODE, shown_code
from autograder.grading.submission.hidden_tests import HIDDEN
from autograder.grading.submission.other_files import unpacked_files
from autograder.grading.submission.reader import NotGradable, cells_of
from autograder.grading.submission.repair import repair
from autograder.grading.submission.restricted import goes_beyond
from autograder.grading.worker.failed_cells import FailedCells
from autograder.grading.worker.messages import Operation
from autograder.grading.worker.outputs import Allowance, BoundedText, error_output, new_output, outputs_from
from autograder.grading.worker.plain import PlainLesson
from autograder.grading.worker.postponed import SLOW
from autograder.grading.worker.scope import Definitions
from autograder.grading.worker.student_process import StudentProcess
from autograder.grading.worker.verdicts import Report, in_words

BESIDE = "checks_beside_answers"  # in a lesson's metadata: its checks may run so
MOST_SHOWN = 40  # letters of a cell that has no name
MAX_PROCESSES = 4  # of a student's for one submission
SECONDS_AFTER_INTERRUPT = 10.0  # that each cell gets once one was too slow
NO_PROCESS_LEFT = "earlier cells ended Python too often, or used up the time of the whole submission."
OUTPUTS_OF_CELLS = 30  # that put out as much as one may, and nothing is kept of further ones

notebook_of: Callable[[object], NotebookNode] = nbformat.from_dict


class Judge:
    """Grades one submission.

    Args:
        start: makes a student's process; called again when one is lost.
        lesson: what is graded, hidden tests included.
        limits: the time of the whole submission begins now.
        other_files: what was handed in beside the notebook, as `read_other_files` packs it.

    Attributes:
        loaded: slow imports that the checks have needed.
    """

    def __init__(
        self, start: Callable[[], StudentProcess], lesson: CompiledLesson, limits: Limits, other_files: bytes = b""
    ) -> None:
        self._start, self._lesson, self._limits, self._other_files = start, lesson, limits, other_files
        self._source = notebook_of(lesson.notebook)
        self._given = data_of(lesson.notebook)
        self._plain = PlainLesson.of(lesson.notebook)
        self._answers: list[str] = []
        self._later: Sequence[NotebookNode] = ()  # the cells that have not run yet
        self._begin = time.monotonic()
        self._deadline = self._begin + limits.submission_seconds
        self._cell_seconds = limits.cell_seconds
        self._process: StudentProcess | None = None
        self._processes = 0
        self._ran: list[NotebookNode] = []  # the student's cells that a new process has to run again
        self._culprits: dict[str, str] = {}  # answers that must not run again, and what they did
        self._definitions = Definitions(lesson.imports)
        self._checks_beside = False  # whether checks run beside the answers, which cannot reach them
        self._failed_cells = FailedCells(b"")
        self._notes: list[Note] = []
        self._peak_bytes = 0
        self._outputs = Allowance(OUTPUTS_OF_CELLS * limits.output_bytes)
        self.loaded: set[str] = set()

    def grade(self, submitted: bytes, student: str, lesson: str) -> Result:
        """Read, repair, run and judge a submission; whatever it is, a result comes of it."""
        self._failed_cells = FailedCells(submitted)
        try:
            repaired = repair(self._source, cells_of(submitted))
        except NotGradable as error:
            return Result(student, lesson, reason=str(error))
        if repaired.reason:
            return Result(student, lesson, reason=repaired.reason)
        notebook = repaired.notebook
        self._answers = [cell_id(cell) for cell in notebook.cells if is_marked(cell, "solution")]
        if self._plain:
            self._plain.look_at(notebook.cells)
        given = {cell_id(cell) for cell in self._source.cells if not is_check(cell)} - set(self._answers)
        outcomes = self._outcomes([cell for cell in notebook.cells if cell.cell_type == "code"], given)
        left = MOST_OF_CODE
        for cell in notebook.cells:
            if cell.cell_type == "code" and not is_check(cell) and cell_id(cell) not in given:
                cell.source = shown_code(cell.source, left)
                left = max(0, left - len(cell.source))
        notes = (*repaired.notes, *dict.fromkeys(self._notes))
        notebook.metadata["autograder"] = {"notes": [note.text for note in notes]}
        return Result(
            student,
            lesson,
            tuple(outcomes),
            notes,
            repaired.predictions,
            notebook=json.dumps(notebook),
            seconds=time.monotonic() - self._begin,
            peak_bytes=self._peak_bytes,
        )

    def _outcomes(self, cells: Sequence[NotebookNode], given: set[str]) -> list[Outcome]:
        """Run what has to run of a notebook's code cells, and judge."""
        self._checks_beside = not self._plain and not self._goes_beyond(cells, given)
        # To run all given cells doubles the processor time of lesson 1; a copy of one is as needed as its names are.
        texts = {cell.source for cell in self._source.cells if cell_id(cell) in given}
        pairs = [(cell.source, cell_id(cell) in given or cell.source in texts) for cell in cells]
        skipped = unneeded(pairs, self._lesson.names)
        outcomes = []
        for name, data in {**unpacked_files(self._other_files), **self._given}.items():
            if name.endswith(".py") and len(data) <= MOST_TEXT:
                self._definitions.add(data.decode("utf-8", "replace"))
        self._open_process()
        for place, cell in enumerate(cells):
            self._later = cells[place + 1 :]
            if self._plain and self._plain.begins_another(cell):
                self._begin_anew()
            if is_check(cell):
                outcomes.append(self._check(cell))
            elif place not in skipped:
                self._run_student_cell(cell)
        self._close_process()
        return outcomes

    def _goes_beyond(self, cells: Sequence[NotebookNode], given: set[str]) -> str:
        """What in the student's code may reach what a check is made of; "" where nothing does."""
        if self._other_files or not self._source.metadata.get(KEY, {}).get(BESIDE):
            return "what is no cell of the notebook, or checks that are not made for it"
        # A prediction stands in a given cell, and is the student's once it is filled in.
        as_given = {(cell_id(cell), cell.source) for cell in self._source.cells if cell_id(cell) in given}
        own = [cell.source for cell in cells if not is_check(cell) and (cell_id(cell), cell.source) not in as_given]
        lesson, taken = self._lesson, self._lesson.taken | {*self._answers}
        given_names = lesson.given_names({cell.source for cell in cells})
        return goes_beyond(own, *given_names, lesson.imports, lesson.attributes, taken)

    def _begin_anew(self) -> None:
        """Go on with nothing of what has run, as the next notebook of a lesson does."""
        self._close_process()
        self._ran, self._processes, self._definitions = [], 0, Definitions(self._lesson.imports)
        self._open_process()

    def _note(self, text: str) -> None:
        self._notes.append(Note(NoteKind.RUN, text))

    # The student's process

    def _open_process(self) -> None:
        """Start a student's process, and run what an earlier one had run."""
        while self._processes < MAX_PROCESSES and time.monotonic() < self._deadline:
            self._processes += 1
            self._process = self._start()
            if self._take_files(self._process) and self._run_again(self._process):
                return

    def _take_files(self, process: StudentProcess) -> bool:
        """Give a new process what lies beside the notebook; False where it is lost by that."""
        try:
            own = {name: data for name, data in unpacked_files(self._other_files).items() if name not in self._given}
            with self._timed(process):
                for files, is_given in ((self._given, True), (own, False)):
                    if files:
                        packed = np.frombuffer(msgspec.msgpack.encode(files), dtype=np.uint8)
                        process.peer.request(Operation.TAKE_FILES, packed, is_given)
        except Lost:
            self._close_process()
            return False
        return True

    def _run_again(self, process: StudentProcess) -> bool:
        """Run all that has run; False where the process is lost by it."""
        for cell in [cell for cell in self._ran if cell_id(cell) not in self._culprits]:
            if (lost := self._run(process, cell)) is not None:
                self._culprits[cell_id(cell)] = self._describe(lost, process)
                self._close_process()
                return False
        return True

    def _close_process(self) -> None:
        if self._process is not None:
            self._peak_bytes = max(self._peak_bytes, self._process.peak_bytes())
            self._process.kill()
        self._process = None

    def _replace_process(self, process: StudentProcess, culprit: str, lost: Lost) -> str:
        """Go on with a new process, without the answer that has lost the old one; return what the answer did."""
        happened = self._describe(lost, process)
        if culprit:
            self._culprits[culprit] = happened
        self._close_process()
        self._open_process()
        return happened

    def _live_process(self) -> StudentProcess | None:
        """The process in which something can run; None where there is none any more, or no time."""
        if self._process is not None and time.monotonic() > self._deadline:
            self._close_process()
        return self._process

    @contextmanager
    def _timed(self, process: StudentProcess) -> Iterator[None]:
        """Give a cell its time; less, once one was too slow."""
        try:
            with process.time_limit(max(0.1, min(self._cell_seconds, self._deadline - time.monotonic()))):
                yield
        finally:
            if process.was_interrupted:
                self._cell_seconds = min(self._cell_seconds, SECONDS_AFTER_INTERRUPT)

    def _describe(self, lost: Lost, process: StudentProcess) -> str:
        if lost.why is LossReason.LATE:
            return f"did not finish within {process.seconds:.0f} seconds"
        if lost.why is LossReason.CLOSED:
            return "ended Python, or used more memory or time than there is"
        self._note("The submission's process did not keep to the protocol of grading.")
        return "disturbed the grading"

    # Cells

    def _run_student_cell(self, cell: NotebookNode) -> None:
        name, process = cell_id(cell), self._live_process()
        if len(cell.source) > MOST_TEXT:
            too_long = f"was not run: it has {len(cell.source):,} letters, more than {MOST_TEXT:,}. Shorten it."
            cell.outputs = [error_output("NotRun", f"This cell {too_long}")]
            self._note(f"{self._called(cell)} {too_long}")
            return
        if process is None:
            cell.outputs = [error_output("NotRun", f"This cell was not run: {NO_PROCESS_LEFT}")]
            return
        if (lost := self._run(process, cell)) is not None:
            happened = self._replace_process(process, name, lost)
            cell.outputs = [error_output("Ended", f"This cell {happened}.")]
            self._note(f"{self._called(cell)} {happened}.")
            return
        if process.was_interrupted:
            self._note(f"{self._called(cell)} was interrupted after {process.seconds:.0f} seconds.")
        self._ran.append(cell)
        self._definitions.add(cell.source)

    def _is_of_the_lesson(self, cell: NotebookNode) -> bool:
        return any(cell_id(cell) == cell_id(own) for own in self._source.cells)

    def _called(self, cell: NotebookNode) -> str:
        """A cell as its student knows it: by the lesson's name for it, or by how it begins."""
        if self._is_of_the_lesson(cell):
            return f"The cell `{cell_id(cell)}`"
        first = printable(cell.source.strip().partition("\n")[0][:MOST_SHOWN]).replace("`", "'")
        return f"The cell that begins with `{first}`"

    def _run(self, process: StudentProcess, cell: NotebookNode) -> Lost | None:
        """Run a student's cell; return how the process was lost by it, None as a rule."""
        try:
            with self._timed(process), redirect_stdout(BoundedText(0)):
                outputs = process.peer.request(Operation.RUN_CELL, cell.source, self._checks_beside)
                process.peer.forget()
            cell.outputs = outputs_from(outputs, self._outputs)
            for output in cell.outputs:
                if output.output_type == "error":
                    self._failed_cells.add(cell.source, output)
                    if self._plain:
                        self._plain.ended(cell, output)
        except Lost as lost:
            return lost
        return None

    def _check(self, cell: NotebookNode) -> Outcome:
        """Run a check cell, and put what it prints and its error into it."""
        begin, name = time.monotonic(), cell_id(cell)
        # In the plain form a check is about an answer by its place, else by its name.
        answer = self._plain.answers.get(name, "") if self._plain else answer_of(name, self._answers)
        printed = BoundedText(self._limits.output_bytes)
        _measure.take_measured()
        error: Exception | None
        if answer in self._culprits:
            error, status = CheckFailed(f"`{answer}` {self._culprits[answer]}."), Status.FAILED
        elif (process := self._live_process()) is None:
            error, status = CheckFailed(f"This check was not run: {NO_PROCESS_LEFT}"), Status.NOT_GRADABLE
        else:
            error = self._error_of(cell, answer, process, printed)
            if self._plain and error is not None:
                error = self._plain.explained(error, cell)
            status = _status(error)
        cell.outputs = _check_outputs(printed.getvalue(), error)
        points = float(cell.metadata.nbgrader.get("points") or 0)
        seconds, measured = time.monotonic() - begin, _measure.take_measured()
        outcome = Outcome(name, points, status, seconds=seconds, measured=measured)
        if error is None:
            return outcome
        failed = error if isinstance(error, CheckFailed) else CheckFailed(type(error).__name__)
        return replace(
            outcome,
            message=str(error) or f"The check ended in {failed.verdict}, without a word.",
            verdict=failed.verdict,
            slip=failed.slip or "",
            rule=failed.rule or "",
            mistake=failed.mistake or "",
        )

    def _error_of(
        self, cell: NotebookNode, answer: str, process: StudentProcess, printed: BoundedText
    ) -> Exception | None:
        """Run a check cell; its error, None when it passes."""
        error: Exception | None = None
        try:
            with self._timed(process), redirect_stdout(printed), redirect_stderr(io.StringIO()):
                code = self._lesson.codes.get((cell_id(cell), cell.source)) or compiled(cell)
                shown = HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), cell.source)
                run = self._error_beside if self._checks_beside else self._error_in_judge
                error = run(code, shown, process)
                process.peer.forget()
        except Lost as lost:
            happened = self._replace_process(process, answer, lost)
            return CheckFailed(f"`{answer or 'Your code'}` {happened}.")
        if isinstance(error, CheckFailed) and error.missing:
            later = (cell.source for cell in self._later if not self._is_of_the_lesson(cell))
            error = self._failed_cells.explained(error, self._definitions.names, later)
        if process.was_interrupted and not isinstance(error, NotWritten):
            return CheckFailed(f"`{answer or 'Your code'}` did not finish within {process.seconds:.0f} seconds.")
        return error

    def _error_in_judge(self, code: CodeType, shown: str, process: StudentProcess) -> Exception | None:
        """Run a check here, on mirrors of the answers."""
        scope = self._definitions.scope(code, process.peer)
        try:
            exec(code, scope, self._definitions.holding(code, scope, process.peer))
        except Exception as raised:
            return in_words(raised, code, shown, scope)
        finally:
            scope.clear()
        return None

    def _error_beside(self, code: CodeType, shown: str, process: StudentProcess) -> Exception | None:
        """Run a check beside the answers."""
        packed = np.frombuffer(marshal.dumps(code), dtype=np.uint8)
        try:
            answer = process.peer.request(Operation.CHECK, packed, shown)
        except Exception as raised:  # an interrupt, as a rule
            return in_words(raised, code, shown, {})
        try:
            report = msgspec.json.decode(answer.tobytes(), type=Report)
            self.loaded |= SLOW.keys() & report.loaded
            return report.error()
        except (AttributeError, msgspec.DecodeError) as error:
            raise malformed(f"no report: {error}") from None


def _check_outputs(printed: str, error: Exception | None) -> list[NotebookNode]:
    outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
    if error is None:
        return outputs
    output = error_output(type(error).__name__, str(error))
    if isinstance(error, CheckFailed) and (page := _panel.bundle(error)) is not None:
        outputs.append(new_output("display_data", data=page))
        output.traceback = [error.headline]
    return [*outputs, output]


def _status(error: Exception | None) -> Status:
    """What a check came to that ended so."""
    if error is None:
        return Status.PASSED
    statuses = {NotWritten: Status.NOT_ATTEMPTED, CheckBroken: Status.BROKEN}
    return next((status for kind, status in statuses.items() if isinstance(error, kind)), Status.FAILED)
