"""The IPython that runs a submission's cells, and what they put out."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from autograder.grading.worker.outputs import DROPPED, SHOWN
from autograder.lessons import installed

NO_COMMANDS = "Shell commands do not run while a submission is graded."

REHEARSAL = """
%matplotlib inline
import math, torch, numpy as np
import matplotlib.pyplot as plt
import torch.nn.functional as F
from torch import nn
from autograder import check
import collections, copy, functools, itertools, time, typing
import torch.utils.data
layer = nn.Linear(2, 2)
layer(torch.ones(1, 2)).sum().backward()
for optimizer in (torch.optim.Adam(layer.parameters(), lr=0.1), torch.optim.SGD(layer.parameters(), lr=0.1)):
    optimizer.step()
size = torch.empty(2, device="meta")
torch.polar(size, size)
check.device("layer(x)", layer, torch.ones(1, 2))
figure, axes = plt.subplots()
axes.imshow(np.eye(2)), axes.set_title("√"), axes.legend([])
plt.show()
print(torch.ones(2))
1 / 0
"""


class Page:
    """What a cell has put out, up to a number of bytes; the rest is dropped and said to be."""

    def __init__(self, size: int) -> None:
        self.outputs: list[dict[str, Any]] = []
        self._left = size

    def write(self, name: str, text: str) -> None:
        """Add text to a stream."""
        text = self._cut(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == name:
            last["text"] += text
        elif text:
            self.outputs.append({"output_type": "stream", "name": name, "text": text})

    def show(self, output_type: str, data: Mapping[str, Any], metadata: Any = None, **fields: Any) -> None:
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
        self.outputs.append({"output_type": output_type, "data": bundle, "metadata": kept, **fields})

    def fail(self, name: str, text: str, trace: list[str]) -> None:
        """Add an error."""
        error = {"ename": name[:200], "evalue": self._cut(text), "traceback": [self._cut(line) for line in trace]}
        self.outputs.append({"output_type": "error", **error})

    def _cut(self, text: str) -> str:
        left, kept = self._left, text[: self._left]
        self._left -= len(kept)
        return kept + DROPPED if 0 < left < len(text) else kept


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of the cells."""

    encoding = "utf-8"

    def __init__(self, name: str, page: Callable[[], Page]) -> None:
        self._name, self._page = name, page
        self.buffer = _Bytes(self)

    def write(self, text: str) -> int:
        """Put text on the page."""
        self._page().write(self._name, str(text))
        return len(text)

    def writable(self) -> bool:
        """It is there to be written to."""
        return True


class _Bytes(io.RawIOBase):
    """What stands below such a stream."""

    def __init__(self, above: Stream) -> None:
        self._above = above

    def write(self, data: Any) -> int:
        self._above.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    shell: Shell

    def publish(self, data: Mapping[str, Any], metadata: Any = None, *args: Any, **kwargs: Any) -> None:
        self.shell.page.show("display_data", data, metadata)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.page.outputs.clear()


class _Hook(DisplayHook):
    shell: Shell

    def write_output_prompt(self) -> None:
        """No prompt."""

    def write_format_data(self, format_dict: Mapping[str, Any], md_dict: Any = None) -> None:
        """Put the value on the page."""
        self.shell.page.show("execute_result", format_dict, md_dict, execution_count=None)

    def finish_displayhook(self) -> None:
        """Nothing to finish."""


class Shell(InteractiveShell):
    """IPython without a terminal, a kernel, a history or a way out of this process.

    Attributes:
        page: where the outputs of a cell go.
    """

    page = Page(0)
    displayhook_class = Type(_Hook)

    def init_display_pub(self) -> None:
        """Let pictures go to the page."""
        self.display_pub = _Publisher(parent=self, shell=self)  # type: ignore[no-untyped-call]

    def run(self, source: str, *, store_history: bool) -> None:
        """Run a cell."""
        self.run_cell(source, store_history=store_history)  # type: ignore[no-untyped-call]

    def forget_failure(self) -> None:
        """Let go of a failed cell's values."""
        self.last_execution_result = self.InteractiveTB.tb = None
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)

    def enable_gui(self, gui: Any = None) -> None:
        """There is none."""

    def system(self, cmd: str) -> None:
        """Say that nothing is run."""
        print(NO_COMMANDS)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Say that nothing is run."""
        return [NO_COMMANDS] if split else NO_COMMANDS

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        try:
            text = str(evalue)
        except Exception:
            text = ""
        self.page.fail(etype.__name__, text, list(stb))

    def show_usage_error(self, exc: BaseException) -> None:
        """Show a magic that is unknown or misused as any other error."""
        self.page.fail("UsageError", str(exc), [])

    def ask_exit(self) -> None:
        """A notebook goes on."""


def make_shell() -> Shell:
    """The shell of every student, made once and warmed up before the first fork."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.xmode = "Plain"
    config.InteractiveShell.colors = "NoColor"
    shell: Shell = Shell.instance(config=config)
    shell.user_ns["__name__"] = "__main__"
    return shell


def rehearse(shell: Shell) -> None:
    """Touch what takes time when it is first used; nothing of it is left."""
    shell.page = Page(10**6)
    names = set(shell.user_ns)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for module in (*installed().modules, *installed().warm):
            importlib.import_module(module)
        shell.run(REHEARSAL, store_history=False)
    errors = [output["ename"] for output in shell.page.outputs if output["output_type"] == "error"]
    if errors != ["ZeroDivisionError"]:
        raise RuntimeError(f"The rehearsal of a student's process failed: {errors}")
    for name in set(shell.user_ns) - names:
        del shell.user_ns[name]
    shell.forget_failure()
