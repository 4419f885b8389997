"""What cells have put out, as a notebook stores it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.grading.rpc.channel import malformed

new_output: Callable[..., NotebookNode] = nbformat.v4.new_output
_OUTPUT_TYPES = frozenset({"stream", "display_data", "execute_result", "error"})


class BoundedText(io.StringIO):
    """A text that keeps so many characters and drops the rest."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._left = size

    def write(self, text: str) -> int:
        """Add to the text; all of it counts as written."""
        self._left -= super().write(text[: max(0, self._left)])
        return len(text)


def error_output(name: str, text: str) -> NotebookNode:
    """An error without a trace."""
    return new_output("error", ename=name, evalue=text, traceback=text.splitlines())


def outputs_from(data: Any) -> list[NotebookNode]:
    """What a cell has put out, from a process that may say anything.

    Raises:
        Lost: these are no outputs.
    """
    try:
        outputs = []
        for fields in json.loads(bytes(data)):
            kind = fields.pop("output_type")
            if kind not in _OUTPUT_TYPES:
                raise ValueError(kind)
            output = new_output(kind, **fields)
            nbformat.validate(output, ref="output", version=4)
            outputs.append(output)
    except Exception:
        raise malformed("no outputs") from None
    return outputs
