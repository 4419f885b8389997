"""A student's process: from inside the sandbox it runs the cells of a submission, and answers the judge."""

import builtins
import json
import marshal
import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from autograder.check import _modules, _plain, seed_all
from autograder.check._forbidden import without
from autograder.check._translate import frames_of, where
from autograder.grading.rpc import registry
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.rpc.messages import Frame, GlobalState, Message, Rule
from autograder.grading.rpc.peer import Peer
from autograder.grading.sandbox.enter import Permissions, Step, enter
from autograder.grading.submission.other_files import put, unpacked_files
from autograder.grading.worker import postponed
from autograder.grading.worker.messages import Operation, StudentRequest
from autograder.grading.worker.shell import Page, Shell, Stream
from autograder.grading.worker.verdicts import Report, in_words
from autograder.random_state import Defaults, RandomState, unset_memory_is_nan

# What the judge lets be judged here.
STATEMENTS: dict[str, Callable[..., None]] = {"device": _modules.device, "leaves_alone": _plain.leaves_alone}
FILES_PER_FOLDER = 4  # times the largest file is what all files of a submission may hold
CPU_SECONDS_TO_SPARE = 30  # beyond the time of the submission
STANDARD_STREAMS = (0, 1, 2)


class Student(Peer):
    """The student's side of the bridge.

    Args:
        output_bytes: what is kept of the output of one cell.
    """

    def __init__(self, channel: Channel, shell: Shell, output_bytes: int) -> None:
        super().__init__(channel, judge=False)
        self._shell, self._output_bytes = shell, output_bytes
        self._names: dict[str, Any] = shell.user_ns
        self._exercise = ExitStack()
        # The cells' own random state and PyTorch's defaults, while checks have theirs.
        self._cells_state: tuple[RandomState, Defaults] | None = None
        self._page = shell.page = Page(output_bytes)
        self.operations |= {
            Operation.TAKE_FILES: self._take_files,
            Operation.RUN_CELL: self._run_cell,
            Operation.LOOK_UP_NAMES: self._look_up,
            Operation.BIND: self._bind,
            Operation.BEGIN_EXERCISE: self._begin_exercise,
            Operation.END_EXERCISE: self._end_exercise,
            Operation.ASK: lambda statement, arguments: STATEMENTS[statement](*arguments),
            Operation.CHECK: self._check,
        }

    def serve(self) -> None:
        """Answer the judge until it is gone."""
        sys.stdout, sys.stderr = (Stream(name, lambda: self._shell.page) for name in ("stdout", "stderr"))
        while True:
            try:
                self.answer_next()
            except Lost:
                return
            except KeyboardInterrupt:  # it came when the cell was over
                continue

    def complete(self, message: Message) -> None:
        """Add what was printed while the judge called, and what the answers have made of PyTorch's defaults."""
        texts = [output["text"] for output in self._page.outputs if output["output_type"] == "stream"]
        if texts:
            self._page.outputs.clear()
        message.output = "".join(texts)
        dtype = registry.DTYPE_NAMES.get(torch.get_default_dtype(), "")
        message.global_state = GlobalState(dtype, torch.initial_seed())

    def frames(self, error: BaseException) -> list[Frame]:
        """Where in the cells an error came from."""
        return [where(each.code, each.line) for each in frames_of(error.__traceback__) if each.scope is self._names]

    def run(
        self, function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any], rules: list[Rule]
    ) -> object:
        """Call an answer, under the rules of its check."""
        with ExitStack() as stack:
            for names, instead in rules:
                stack.enter_context(without(*names, instead=instead))
            return function(*args, **kwargs)

    def _take_files(self, packed: np.ndarray[Any, Any], read_only: bool) -> None:
        """Put what lies beside the notebook into the working folder."""
        put(unpacked_files(packed.tobytes()), Path(), read_only=read_only)

    def _run_cell(self, source: str, beside_checks: bool = False) -> np.ndarray[Any, Any]:
        """Run a cell; the outputs as JSON. Nothing that has crossed for an earlier one is of use any more.

        Args:
            beside_checks: those run in this process: no line is a magic without its %, and no operation of PyTorch's
                hands out what a check has left in memory.
        """
        self._leave_exercise()
        self.forget()
        page = self._shell.page = Page(self._output_bytes)
        try:
            self._shell.automagic = not beside_checks
            with unset_memory_is_nan() if beside_checks else nullcontext():
                self._shell.run(source, store_history=True)
        except BaseException as error:  # what even IPython lets through
            page.fail(type(error).__name__, "", [])
        finally:
            self._shell.page = self._page
            self._shell.forget_failure()
        return np.frombuffer(json.dumps(page.outputs, ensure_ascii=False).encode("utf-8", "replace"), dtype=np.uint8)

    def _look_up(self, *names: str) -> tuple[list[Any], ...]:
        """What the cells have bound to names, for the next check; of earlier ones nothing is of use any more."""
        self._exercise.close()
        self.forget()
        return tuple([self._names[name]] if name in self._names else [] for name in names)

    def _bind(self, name: str, value: tuple[object, ...]) -> None:
        """Let a name of the cells mean something else, or nothing."""
        self._names.pop(name, None)
        if value:
            self._names[name] = value[0]

    def _begin_exercise(self, given: dict[str, object], operation: str, *payload: object) -> object:
        """Before a check's first request: its random state, PyTorch's defaults, right neighbours for the student's."""
        self._exercise.close()
        self._exercise.enter_context(self._replaced(given))
        if self._cells_state is None:
            self._cells_state = RandomState.capture(), Defaults.capture()
        seed_all()
        Defaults().restore()
        self._exercise.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return self.operations[operation](*payload)

    def _end_exercise(self, operation: str, *payload: object) -> object:
        """A request after a check and before the next one."""
        self._leave_exercise()
        return self.operations[operation](*payload)

    def _leave_exercise(self) -> None:
        """After a check: all is as it was."""
        self._exercise.close()
        if self._cells_state is not None:
            state, defaults = self._cells_state
            state.restore()
            defaults.restore()
            self._cells_state = None

    @contextmanager
    def _replaced(self, given: Mapping[str, object]) -> Iterator[None]:
        """The cells' names, some with another value."""
        before = {name: self._names[name] for name in given if name in self._names}
        self._names.update(given)
        try:
            yield
        finally:
            for name in given:
                self._names.pop(name, None)
            self._names.update(before)

    def _check(self, packed: np.ndarray[Any, Any], source: str) -> np.ndarray[Any, Any]:
        """Run a check's cell among the names of the student's cells; the report as JSON."""
        self._leave_exercise()
        self.forget()
        self._page = self._shell.page = Page(self._output_bytes)
        code, error = marshal.loads(packed.tobytes()), None
        before = dict(self._names)
        self._names.pop("In", None)  # by which a check knows that somebody works here
        try:
            with unset_memory_is_nan():  # and not what a check has held there
                exec(code, self._names)
        except Exception as raised:
            error = in_words(raised, code, source, self._names)
        finally:  # what a check binds is nobody's business
            for name in self._names.keys() - before.keys():
                del self._names[name]
            self._names |= before
        report = Report.of(error)
        report.loaded = sorted(postponed.loaded())
        return np.frombuffer(msgspec.json.encode(report), dtype=np.uint8)


def run_student(judge: socket.socket, shell: Shell, request: StudentRequest, required: Collection[Step]) -> None:
    """Be a student's process until its judge has no more to ask.

    Args:
        required: the steps into the sandbox that must not fail.
    """
    limits, folder = request.limits, Path(request.folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in STANDARD_STREAMS:
        os.dup2(nowhere, descriptor)
    if nowhere not in STANDARD_STREAMS:
        os.close(nowhere)
    permissions = Permissions(
        folder,
        (),
        memory_bytes=limits.memory_bytes,
        cpu_seconds=int(limits.submission_seconds) + CPU_SECONDS_TO_SPARE,
        file_bytes=limits.file_bytes,
        folder_bytes=FILES_PER_FOLDER * limits.file_bytes,
    )
    enter(permissions, required)
    for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"):
        os.environ[name] = str(folder)
    tempfile.tempdir = None
    sys.path.append(str(folder))  # behind all others, so that no file stands in for a package
    builtins.input = _no_input
    _keep_private_names()
    _keep_labels()
    torch.compile, torch.nn.Module.compile = _eager, lambda self, *args, **options: None  # type: ignore[method-assign]
    Student(Channel(judge), shell, limits.output_bytes).serve()


def _keep_private_names() -> None:
    """No module has a part or a parameter by a name that Python or PyTorch looks for, as `__torch_function__`."""
    for name in ("add_module", "register_buffer", "register_parameter"):
        own = getattr(torch.nn.Module, name)

        def refused(self: Any, name: str, *args: Any, own: Callable[..., None] = own, **options: Any) -> None:
            if str(name).startswith("__"):
                raise KeyError(f"{name!r} is no name for a part of a module")
            own(self, name, *args, **options)

        setattr(torch.nn.Module, name, refused)


def _keep_labels() -> None:
    """What the gradient of a loss reads is nobody's to change: PyTorch looks at labels forwards, and not backwards."""
    own = torch._C._nn.cross_entropy_loss

    def with_own_labels(logits: Any, labels: Any, *options: Any) -> Any:
        return own(logits, labels.clone() if isinstance(labels, torch.Tensor) else labels, *options)

    torch._C._nn.cross_entropy_loss = with_own_labels  # type: ignore[assignment]


def _eager(model: Any = None, **options: object) -> Any:
    """Stand in for `torch.compile`, which needs a compiler and a place to write to: what it is given runs as it is."""
    return model if model is not None else lambda function: function


def _no_input(prompt: object = "") -> str:
    raise EOFError("Nobody is there to answer `input()` while a submission is graded.")
