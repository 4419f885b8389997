"""A student's process: it runs the cells of a submission and answers the judge; the sandbox is entered before."""

from __future__ import annotations

import builtins
import gc
import io
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import torch
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from autograder.check import _modules, seed_all
from autograder.check._forbidden import without
from autograder.check._translate import frames_of, where
from autograder.grading.rpc import registry
from autograder.grading.rpc.channel import Channel, Lost
from autograder.grading.rpc.messages import Frame, GlobalState, Rule
from autograder.grading.rpc.peer import Peer
from autograder.random_state import RandomState

STATEMENTS = {"device": _modules.device}
SHOWN = ("text/plain", "text/latex", "image/png", "image/jpeg")  # what cannot act when an instructor opens it
SHELL = "Shell commands do not run while a submission is graded."


class _Page:
    """What a cell has put out, up to a number of bytes; the rest is dropped and said to be."""

    def __init__(self, most: int) -> None:
        self.outputs: list[dict[str, Any]] = []
        self._left = most

    def write(self, name: str, text: str) -> None:
        """Add text to a stream."""
        text = self._cut(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == name:
            last["text"] += text
        elif text:
            self.outputs.append({"output_type": "stream", "name": name, "text": text})

    def show(self, kind: str, data: Mapping[str, Any], metadata: Any = None, **more: Any) -> None:
        """Add a picture, with what it shows in words, or a value."""
        bundle = {key: str(data[key]) for key in SHOWN if key in data}
        size = sum(map(len, bundle.values()))
        if size > self._left and len(bundle) > 1:
            bundle = {"text/plain": bundle.get("text/plain", "")}
        bundle = {key: self._cut(value) for key, value in bundle.items()}
        kept = {}
        if "image/png" in bundle and isinstance(metadata, Mapping) and isinstance(metadata.get("image/png"), Mapping):
            alt = metadata["image/png"].get("alt")
            kept = {"image/png": {"alt": self._cut(alt)}} if type(alt) is str else {}
        self.outputs.append({"output_type": kind, "data": bundle, "metadata": kept, **more})

    def fail(self, name: str, text: str, trace: list[str]) -> None:
        """Add an error."""
        about = {"ename": name[:200], "evalue": self._cut(text), "traceback": [self._cut(line) for line in trace]}
        self.outputs.append({"output_type": "error", **about})

    def _cut(self, text: str) -> str:
        if not self._left:
            return ""
        if len(text) <= self._left:
            self._left -= len(text)
            return text
        text, self._left = text[: self._left] + "\n… (more was dropped)\n", 0
        return text


class _Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of the cells."""

    encoding = "utf-8"

    def __init__(self, name: str, page: Callable[[], _Page]) -> None:
        self._name, self._page = name, page
        self.buffer = _Bytes(self)

    def write(self, text: str) -> int:
        self._page().write(self._name, str(text))
        return len(text)

    def writable(self) -> bool:
        return True


class _Bytes(io.RawIOBase):
    """What stands below such a stream."""

    def __init__(self, above: _Stream) -> None:
        self._above = above

    def write(self, data: Any) -> int:
        self._above.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    def publish(self, data: Mapping[str, Any], metadata: Any = None, **options: Any) -> None:
        self.shell.page.show("display_data", data, metadata)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.page.outputs.clear()


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        """No prompt."""

    def write_format_data(self, format_dict: Mapping[str, Any], md_dict: Any = None) -> None:
        """Put the value on the page."""
        self.shell.page.show("execute_result", format_dict, md_dict, execution_count=None)

    def finish_displayhook(self) -> None:
        """Nothing to finish."""


class Shell(InteractiveShell):
    """IPython without a terminal, a kernel, a history or a way out of this process."""

    page = _Page(0)
    displayhook_class = Type(_Hook)

    def init_display_pub(self) -> None:
        self.display_pub = _Publisher(parent=self, shell=self)

    def enable_gui(self, gui: Any = None) -> None:
        """There is none."""

    def system(self, cmd: str) -> None:
        """Say that nothing is run."""
        print(SHELL)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Say that nothing is run."""
        return [SHELL] if split else SHELL

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        try:
            text = str(evalue)
        except Exception:
            text = ""
        self.page.fail(etype.__name__, text, list(stb))

    def ask_exit(self) -> None:
        """A notebook goes on."""


def make_shell() -> Shell:
    """The shell of every student, made once and warmed up before the first fork."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.xmode = "Plain"
    config.InteractiveShell.colors = "NoColor"
    shell = Shell.instance(config=config)
    shell.user_ns["__name__"] = "__main__"
    return shell


REHEARSAL = """
%matplotlib inline
import math, torch, numpy as np
import matplotlib.pyplot as plt
import torch.nn.functional as F
from torch import nn
from autograder import check, data, draw, mistakes, parts
import collections, copy, functools, itertools, time, typing
import torch._subclasses.fake_tensor, torch.utils.data
nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
torch.testing.assert_close(torch.ones(2), torch.ones(2))
figure, axes = plt.subplots()
axes.imshow(np.eye(2)), axes.set_title("√"), axes.legend([])
plt.show()
print(torch.ones(2))
1 / 0
"""
HEAVY = """
import torch, torch._dynamo, torch._subclasses.fake_tensor, torch.utils.data
layer = torch.nn.Linear(2, 2)
layer(torch.ones(1, 2)).sum().backward()
for optimizer in (torch.optim.Adam(layer.parameters(), lr=0.1), torch.optim.SGD(layer.parameters(), lr=0.1)):
    optimizer.step()
size = torch.empty(2, device="meta")
torch.polar(size, size)
with torch._subclasses.fake_tensor.FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
    torch.func.functional_call(layer, dict(layer.named_parameters()), torch.ones(1, 2))
1 / 0
"""


def rehearse(shell: Shell, source: str = REHEARSAL) -> None:
    """Touch what takes time when it is first used; nothing of it is left."""
    shell.page = _Page(10**6)
    names = dict(shell.user_ns)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        shell.run_cell(source, store_history=False)
    errors = [each["ename"] for each in shell.page.outputs if each["output_type"] == "error"]
    if errors != ["ZeroDivisionError"]:
        raise RuntimeError(f"The rehearsal of a student's process failed: {errors}")
    for name in set(shell.user_ns) - set(names):
        del shell.user_ns[name]
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)


class Student(Peer):
    """The student's side of the bridge.

    Args:
        output_bytes: what is kept of the output of one cell.
    """

    def __init__(self, channel: Channel, shell: Shell, output_bytes: int) -> None:
        super().__init__(channel, judge=False)
        self._shell, self._output_bytes = shell, output_bytes
        self._names = shell.user_ns
        self._exercise = ExitStack()
        # the cells' own random state and default dtype while checks have theirs
        self._random: tuple[RandomState, torch.dtype] | None = None
        self._page = shell.page = _Page(output_bytes)
        self.operations |= {
            "cell": self._cell,
            "names": self._looked_up,
            "begin": self._begin,
            "after": self._after,
            "ask": self._asked,
        }

    def serve(self) -> None:
        """Answer the judge until it is gone."""
        sys.stdout, sys.stderr = (_Stream(name, lambda: self._shell.page) for name in ("stdout", "stderr"))
        while True:
            try:
                self.answer_next()
            except Lost:
                return
            except KeyboardInterrupt:  # it came when the cell was over
                continue

    def printed(self) -> str:
        """What was printed while the judge called."""
        texts = [each["text"] for each in self._page.outputs if each["output_type"] == "stream"]
        if texts:
            self._page.outputs.clear()
        return "".join(texts)

    def global_state(self) -> GlobalState:
        """What the answers have made of PyTorch's default dtype and seed."""
        return GlobalState(registry.DTYPE_NAMES.get(torch.get_default_dtype(), ""), torch.initial_seed())

    def frames(self, error: BaseException) -> list[Frame]:
        """Where in the cells an error came from."""
        return [where(code, line) for code, line, scope in frames_of(error.__traceback__) if scope is self._names]

    def run(
        self, function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any], rules: list[Rule]
    ) -> object:
        """Call an answer, under the rules of its check."""
        with ExitStack() as stack:
            for names, instead in rules:
                stack.enter_context(without(*names, instead=instead))
            return function(*args, **kwargs)

    def _cell(self, source: str) -> np.ndarray:
        """Run a cell; the outputs as JSON. Nothing that has crossed for an earlier one is of use any more."""
        self._end()
        self.forget()
        page = self._shell.page = _Page(self._output_bytes)
        try:
            self._shell.run_cell(source, store_history=True)
        except BaseException as error:  # what even IPython lets through
            page.fail(type(error).__name__, "", [])
        finally:
            self._shell.page = self._page
            self._shell.last_execution_result = self._shell.InteractiveTB.tb = None  # they hold a failed cell's values
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                vars(sys).pop(name, None)
        return np.frombuffer(json.dumps(page.outputs).encode("utf-8", "replace"), dtype=np.uint8)

    def _looked_up(self, *names: str) -> tuple:
        """What the cells have bound to names, for the next check; of earlier ones nothing is of use any more."""
        self._exercise.close()
        self.forget()
        return tuple([self._names[name]] if name in self._names else [] for name in names)

    def _begin(self, given: dict[str, object], operation: str, *payload: object) -> object:
        """Before a check's first request: its random state, PyTorch's defaults, right neighbours for the student's."""
        self._exercise.close()
        before = {name: self._names[name] for name in given if name in self._names}
        self._exercise.callback(self._put_back, list(given), before)
        self._names.update(given)
        if self._random is None:
            self._random = RandomState.capture(), torch.get_default_dtype()
        seed_all()
        torch.set_default_dtype(torch.float32)
        self._exercise.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return self.operations[operation](*payload)

    def _after(self, operation: str, *payload: object) -> object:
        """A request after a check and before the next one."""
        self._end()
        return self.operations[operation](*payload)

    def _end(self) -> None:
        """After a check: all is as it was."""
        self._exercise.close()
        if self._random is not None:
            state, dtype = self._random
            state.restore()
            torch.set_default_dtype(dtype)
            self._random = None

    def _put_back(self, given: list[str], before: Mapping[str, object]) -> None:
        for name in given:
            self._names.pop(name, None)
        self._names.update(before)

    def _asked(self, statement: str, arguments: tuple) -> None:
        STATEMENTS[statement](*arguments)


def serve(channel: Channel, shell: Shell, output_bytes: int) -> None:
    """Be a student's process until the judge has no more to ask."""
    gc.collect()
    builtins.input = _no_input
    Student(channel, shell, output_bytes).serve()


def _no_input(prompt: object = "") -> str:
    raise EOFError("Nobody is there to answer `input()` while a submission is graded.")
