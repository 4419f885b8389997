"""The judge: it goes through a repaired notebook, has the student's cells run elsewhere, and runs the checks itself."""

from __future__ import annotations

import ast
import builtins
import io
import json
import math
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import nbformat
import torch
import torch.nn.functional as F
from nbformat import NotebookNode
from torch import nn

from autograder import check, data, draw, mistakes, parts
from autograder.check import _backend, _panel
from autograder.check._errors import CheckFailed, NotWritten
from autograder.check._forbidden import finished_part
from autograder.course.lesson import cell_id, is_check, is_marked, parse_or_none
from autograder.grading.results import Limits, Note, NoteKind, Outcome, Result, Status
from autograder.grading.rpc.channel import Channel, LossReason, Lost, malformed
from autograder.grading.rpc.messages import GlobalState, Rule
from autograder.grading.rpc.peer import Peer
from autograder.grading.rpc.proxies import RemoteClass, RemoteFunction, RemoteModule
from autograder.grading.rpc.registry import DTYPES
from autograder.grading.submission.compiled import CompiledLesson, compiled
from autograder.grading.submission.dependencies import unneeded
from autograder.grading.submission.reader import NotGradable, cells_of
from autograder.grading.submission.repair import repair

SETUP = {"F": F, "check": check, "data": data, "draw": draw, "math": math, "mistakes": mistakes, "nn": nn}
SETUP |= {"parts": parts, "torch": torch, "device": torch.device("cpu")}
OWN = frozenset({"cell", "names"})  # what never fails where nothing is broken
STARTS = torch.float32, check.SEED  # PyTorch's default dtype and seed when a check begins
MOST_STARTS = 4
OVER = "earlier cells ended Python too often, or used up the time of the whole submission."
GRACE = 5.0  # seconds to answer an interrupt
AFTER_LATE = 10.0  # seconds that each cell gets once one was too slow


@dataclass(frozen=True)
class Started:
    """A student's process, ready for its first cell."""

    channel: Channel
    pid: int


def rehearse() -> None:
    """Touch what takes time when it is first used."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[_error("E", "e")])])
    nbformat.writes(notebook)
    repair(notebook, cells_of(nbformat.writes(notebook).encode()))
    _outputs(b'[{"output_type": "stream", "name": "stdout", "text": ""}]')
    x = torch.ones(2, dtype=torch.double, requires_grad=True)
    torch.autograd.gradcheck(lambda x: x * x, [x])


class _There(_backend.Backend):
    """The answers are in a student's process."""

    def __init__(self, peer: _JudgePeer) -> None:
        self._peer = peer

    @contextmanager
    def exercise(self, given: Mapping[str, object]) -> Iterator[None]:
        self._peer.begin(dict(given))
        try:
            yield
        finally:
            self._peer.end()

    def shared_state(self) -> _backend.SharedState:
        self._peer.let_go()  # nothing of the exercise comes after this
        return _backend.SharedState(torch.is_grad_enabled(), *self._peer.defaults)

    @contextmanager
    def without(self, names: Sequence[str], instead: str) -> Iterator[None]:
        self._peer.rules.append(Rule(list(names), instead))
        try:
            yield
        finally:
            self._peer.rules.pop()

    def has(self, *things: object) -> bool:
        return any(isinstance(each, RemoteFunction | RemoteClass | RemoteModule) for each in things)

    def ask(self, statement: Callable[..., None], *arguments: Any) -> None:
        self._peer.request("ask", statement.__name__, arguments)


class _JudgePeer(Peer):
    """The judge's side of the bridge."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, judge=True)
        self.rules: list[Rule] = []
        self.defaults = STARTS
        self._given: dict[str, object] | None = None  # of an exercise that has begun, and the student has not heard of
        self._is_over = False  # so is an exercise that has ended

    def rules_of_check(self) -> list[Rule]:
        return list(self.rules)

    def take_output(self, text: str) -> None:
        print(text, end="")

    def call(self, number: int, method: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        value, called = super().call(number, method, args, kwargs), self.state.objects.get(number)
        if isinstance(called, RemoteClass) and type(value) is getattr(parts, called.__name__, None):
            raise finished_part(called.__name__)
        return value

    def begin(self, given: dict[str, object]) -> None:
        """An exercise begins, with right neighbours; the next request says so, which saves one."""
        self._given, self.defaults = given, STARTS

    def end(self) -> None:
        """The exercise is over; so says the next request, too."""
        self._given, self._is_over = None, True

    def take_global_state(self, state: GlobalState | None) -> None:
        """PyTorch's default dtype and seed over there, as the last answer says."""
        if state is None or state.dtype not in DTYPES:
            raise malformed("no defaults")
        self.defaults = DTYPES[state.dtype], state.seed

    def request(self, operation: str, *payload: object) -> Any:
        given, is_over, self._given, self._is_over = self._given, self._is_over, None, False
        try:
            if given is not None:
                return super().request("begin", given, operation, *payload)
            if is_over and operation not in OWN:
                return super().request("after", operation, *payload)
            return super().request(operation, *payload)
        except Exception as error:
            if operation not in OWN:
                raise
            raise malformed(f"{operation}: {error}") from None


class _Written:
    """A method of an answer, as it is written; nobody can call it here."""

    def __init__(self, code: CodeType) -> None:
        self.__code__ = code

    def __call__(self) -> None:
        raise TypeError("This is only what the answer says.")


class _Bounded(io.StringIO):
    """A text that keeps so many characters and drops the rest."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left = most

    def write(self, text: str) -> int:
        self._left -= super().write(text[: max(0, self._left)])
        return len(text)


class Judge:
    """Grades one submission.

    Args:
        start: makes a student's process; called again when one is lost.
        lesson: what is graded, hidden tests included.
    """

    def __init__(self, start: Callable[[], Started], lesson: CompiledLesson, limits: Limits) -> None:
        self._start, self._ready, self._limits = start, lesson, limits
        self._source = nbformat.from_dict(lesson.notebook)
        self._cell_seconds = limits.cell_seconds
        self._starts = 0
        self._ran: list[NotebookNode] = []  # the student's cells that a new process has to run again
        self._blamed: dict[str, str] = {}  # answers that must not run again, and what they did
        self._written: dict[str, CodeType] = {}
        self._notes: list[Note] = []
        self.peak_bytes = 0

    def grade(self, submitted: bytes, student: str, lesson: str) -> Result:
        """Read, repair, run and judge a submission; whatever it is, a result comes of it."""
        begin = time.monotonic()
        try:
            repaired = repair(self._source, cells_of(submitted))
        except NotGradable as error:
            return Result(student, lesson, reason=str(error))
        self._end = begin + self._limits.submission_seconds
        notebook = repaired.notebook
        self._answers = [cell_id(cell) for cell in notebook.cells if is_marked(cell, "solution")]
        self._given = {cell_id(cell) for cell in self._source.cells} - set(self._answers)
        self._given -= {cell_id(cell) for cell in notebook.cells if is_check(cell)}
        outcomes = []
        self._open()
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        ours = {id(cell) for cell in cells if cell_id(cell) in self._given}
        idle = unneeded([(cell.source, id(cell) in ours) for cell in cells], self._ready.names)
        for place, cell in enumerate(cells):
            if is_check(cell):
                outcomes.append(self._check(cell))
            elif place not in idle:
                self._student_cell(cell)
        self._close()
        notes = (*repaired.notes, *dict.fromkeys(self._notes))
        notebook.metadata["autograder"] = {"notes": [note.text for note in notes]}
        return Result(
            student,
            lesson,
            tuple(outcomes),
            notes,
            notebook=json.dumps(notebook),
            seconds=time.monotonic() - begin,
            peak_bytes=self.peak_bytes,
        )

    def checks(self, cells: Sequence[NotebookNode], sources: Mapping[str, str]) -> list[Outcome]:
        """Run check cells alone, on a student's process in which the answers have run.

        Args:
            sources: each answer as it is written, by its name.
        """
        self._end, self._answers = time.monotonic() + self._limits.submission_seconds, list(sources)
        for source in sources.values():
            self._remember(source)
        self._open()
        outcomes = [self._check(cell) for cell in cells]
        self._close()
        return outcomes

    def _note(self, text: str) -> None:
        self._notes.append(Note(NoteKind.RUN, text))

    # The student's process

    def _open(self) -> None:
        """Start a student's process, and run what an earlier one had run."""
        self._peer = None
        while self._starts < MOST_STARTS and time.monotonic() < self._end:
            self._starts += 1
            started = self._start()
            self._pid = started.pid
            self._peer = _JudgePeer(started.channel)
            _backend.use(_There(self._peer))
            started.channel.late = self._late
            again = [cell for cell in self._ran if cell_id(cell) not in self._blamed]
            broken = next((cell for cell in again if self._run(cell) is None), None)
            if broken is None:
                return
            self._blamed[cell_id(broken)] = self._what_happened(self._lost)
            self._close()

    def _close(self) -> None:
        if self._peer is not None:
            self._measure()
            self._peer.channel.close()
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._peer = None
        _backend.use(_backend.LocalBackend())

    def _measure(self) -> None:
        with suppress(OSError, ValueError, IndexError):
            status = Path(f"/proc/{self._pid}/status").read_text()
            self.peak_bytes = max(self.peak_bytes, int(status.split("VmHWM:")[1].split()[0]) * 1024)

    def _late(self) -> float | None:
        """Interrupt what takes too long; the second time nothing helps."""
        if self._interrupted:
            return None
        self._interrupted, self._cell_seconds = True, min(self._cell_seconds, AFTER_LATE)
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGINT)
        return time.monotonic() + GRACE

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """One cell's time; the judge's own work has a little more, since what it is given may make it endless."""
        seconds = max(0.1, min(self._cell_seconds, self._end - time.monotonic()))
        self._seconds, self._interrupted = seconds, False
        self._peer.channel.deadline = time.monotonic() + seconds

        def over(*_: object) -> None:
            raise Lost(LossReason.LATE)

        before = signal.signal(signal.SIGALRM, over)
        signal.setitimer(signal.ITIMER_REAL, seconds + 3 * GRACE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _what_happened(self, lost: Lost) -> str:
        if lost.why is LossReason.LATE:
            return f"did not finish within {self._seconds:.0f} seconds"
        if lost.why is LossReason.CLOSED:
            return "ended Python, or used more memory or time than there is"
        self._note("The submission's process did not keep to the protocol of grading.")
        return "disturbed the grading"

    def _lose(self, blamed: str, lost: Lost) -> str:
        """A process is lost: go on with a new one, without the answer that is to blame."""
        happened = self._what_happened(lost)
        if blamed:
            self._blamed[blamed] = happened
        self._close()
        self._open()
        return happened

    # Cells

    def _student_cell(self, cell: NotebookNode) -> None:
        name = cell_id(cell)
        if self._is_over():
            cell.outputs = [_error("NotRun", f"This cell was not run: {OVER}")]
            return
        if self._run(cell) is None:
            happened = self._lose(name, self._lost)
            cell.outputs = [_error("Ended", f"This cell {happened}.")]
            self._note(f"The cell `{name}` {happened}.")
            return
        if self._interrupted:
            self._note(f"The cell `{name}` was interrupted after {self._seconds:.0f} seconds.")
        self._ran.append(cell)
        self._remember(cell.source)

    def _is_over(self) -> bool:
        """There is no process any more in which something could run, or no time."""
        if self._peer is not None and time.monotonic() > self._end:
            self._close()
        return self._peer is None

    def _run(self, cell: NotebookNode) -> list | None:
        """Run a student's cell; None when its process is lost by it."""
        try:
            with self._timed(), redirect_stdout(_Bounded(0)):
                raw = self._peer.request("cell", cell.source)
                self._peer.forget()
            cell.outputs = _outputs(raw)
        except Lost as lost:
            self._lost = lost
            return None
        return cell.outputs

    def _remember(self, source: str) -> None:
        """Know what stands in the notebook where a name is bound, to see what an answer calls.

        A name that the cell binds otherwise than by `def` or `class` stands for the whole cell.
        """
        module = _parsed(source)
        if module is None:
            return
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            whole = compile(module, "<cell>", "exec")
            codes = {each.co_name: each for each in whole.co_consts if isinstance(each, CodeType)}
            for statement in module.body:
                if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    self._written[statement.name] = codes.get(statement.name, whole)
                else:
                    bound = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
                    self._written |= {each.id: whole for each in bound if isinstance(each.ctx, ast.Store)}

    def _check(self, cell: NotebookNode) -> Outcome:
        name, points = cell_id(cell), float(cell.metadata.nbgrader.get("points") or 0)
        begin = time.monotonic()
        answer = self._answer_of(name)
        printed, error = _Bounded(self._limits.output_bytes), None
        if answer in self._blamed:
            error, status = CheckFailed(f"`{answer}` {self._blamed[answer]}."), Status.FAILED
        elif self._is_over():
            error, status = CheckFailed(f"This check was not run: {OVER}"), Status.NOT_GRADABLE
        else:
            error = self._judged(cell, answer, printed)
            unwritten = isinstance(error, NotWritten)
            status = Status.PASSED if error is None else Status.NOT_ATTEMPTED if unwritten else Status.FAILED
        text = printed.getvalue()
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []
        if error is not None:
            output = _error(type(error).__name__, str(error))
            if isinstance(error, CheckFailed) and (page := _panel.bundle(error)) is not None:
                cell.outputs.append(nbformat.v4.new_output("display_data", data=page))
                output.traceback = [error.headline]
            cell.outputs.append(output)
        seconds = time.monotonic() - begin
        if error is None:
            return Outcome(name, points, status, seconds=seconds)
        told = error if isinstance(error, CheckFailed) else CheckFailed(type(error).__name__)
        return Outcome(
            name,
            points,
            status,
            str(error),
            seconds,
            told.verdict,
            told.slip or "",
            told.rule or "",
            told.mistake or "",
        )

    def _answer_of(self, check_id: str) -> str:
        """The answer that a check is about, by its name."""
        fits = [each for each in self._answers if check_id == f"check_{each}" or check_id.startswith(f"check_{each}_")]
        return max(fits, key=len, default="")

    def _judged(self, cell: NotebookNode, answer: str, printed: _Bounded) -> Exception | None:
        """Run a check cell; its error, None when it passes."""
        error: Exception | None = None
        try:
            with self._timed(), redirect_stdout(printed), redirect_stderr(io.StringIO()):
                code = self._ready.codes.get((cell_id(cell), cell.source)) or compiled(cell)
                scope = self._scope(code)
                try:
                    exec(code, scope)
                except Exception as raised:
                    error = raised
                scope.clear()
                self._peer.forget()
        except Lost as lost:
            happened = self._lose(answer, lost)
            return CheckFailed(f"`{answer or 'Your code'}` {happened}.")
        if self._interrupted and not isinstance(error, NotWritten):
            return CheckFailed(f"`{answer or 'Your code'}` did not finish within {self._seconds:.0f} seconds.")
        return error

    def _scope(self, code: CodeType) -> dict[str, Any]:
        """The names that a check sees: the setup's from here, the others from the student's process."""
        scope: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, **SETUP}
        asked = set(_names(code))
        for name in asked & self._written.keys():
            asked |= set(_names(self._written[name]))
        ours = [name for name, value in SETUP.items() if isinstance(value, ModuleType)]
        wanted = sorted(
            name for name in asked - SETUP.keys() if not hasattr(builtins, name) and not name.startswith("__")
        )
        found = self._peer.request("names", *wanted, *ours)
        if not isinstance(found, tuple) or len(found) != len(wanted) + len(ours):
            raise malformed("no names")
        for name, value in zip(wanted + ours, found, strict=True):
            if not (isinstance(value, list) and len(value) <= 1):
                raise malformed("no name")
            if value and name not in SETUP:
                scope[name] = self._as_written(name, value[0])
            elif value and name != "check" and not isinstance(value[0], ModuleType):
                scope[name] = None  # the check says that the name no longer means what it did
        return scope

    def _as_written(self, name: str, value: Any) -> Any:
        """A function or class with the code that stands in the notebook."""
        code = self._written.get(name)
        if code is not None and isinstance(value, RemoteFunction):
            value.__code__ = code
        elif code is not None and isinstance(value, RemoteClass):
            type.__setattr__(value, "written", _Written(code))
        return value


def _parsed(source: str) -> ast.Module | None:
    """A cell's syntax tree; most cells are Python as they stand."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return parse_or_none(source)


def _names(code: CodeType) -> Iterator[str]:
    """All names that code, and what is defined in it, reads."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _error(name: str, text: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=text.splitlines())


def _outputs(raw: object) -> list[NotebookNode]:
    """What a cell has put out, from a process that may say anything."""
    kinds = {"stream", "display_data", "execute_result", "error"}
    try:
        made = []
        for each in json.loads(bytes(raw)):
            kind = each.pop("output_type")
            if kind not in kinds:
                raise ValueError(kind)
            output = nbformat.v4.new_output(kind, **each)
            nbformat.validate(output, ref="output", version=4)
            made.append(output)
    except Exception:
        raise malformed("no outputs") from None
    return made
