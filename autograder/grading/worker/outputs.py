"""What cells have put out, as a notebook stores it: rebuilt from what a process says that may say anything."""

from __future__ import annotations

import base64
import binascii
import bisect
import html
import io
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
import nbformat
from msgspec import Struct
from nbformat import NotebookNode

from autograder.grading.rpc.channel import malformed

PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}  # what each begins with
SHOWN = ("text/plain", *PICTURES)  # what cannot act when an instructor opens it
LONGEST_NAME = 200
LONGEST_ALT = 2000
MOST_OUTPUTS = 500  # of one cell
LEAST = 50  # characters that a text counts in addition to its own, for what JSON puts around it
DROPPED = "\n… (more was dropped)\n"
COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)?")  # and what else moves a terminal

new_output: Callable[..., NotebookNode] = nbformat.v4.new_output


class _Output(Struct, tag_field="output_type", forbid_unknown_fields=True):
    """What a process says that it has put out."""


class _Stream(_Output, tag="stream"):
    name: Literal["stdout", "stderr"]
    text: str

    def rebuilt(self, allowance: Allowance) -> NotebookNode:
        return new_output("stream", name=self.name, text=allowance.cut(self.text))


class _Display(_Output, tag="display_data"):
    data: dict[str, str]
    metadata: dict[str, Any]

    def rebuilt(self, allowance: Allowance) -> NotebookNode:
        """What is shown of a value: its text, and a picture that is one, with what it shows in words."""
        kept = {"text/plain": allowance.cut(self.data["text/plain"])} if "text/plain" in self.data else {}
        words: dict[str, Any] = {}
        for kind, beginning in PICTURES.items():
            picture = _picture(self.data.get(kind, ""), beginning)
            if picture and allowance.takes(picture):
                kept[kind] = picture
                about = self.metadata.get(kind)
                alt = about.get("alt") if isinstance(about, Mapping) else None
                if isinstance(alt, str):
                    words[kind] = {"alt": allowance.cut(alt[:LONGEST_ALT])}
        return new_output(self.__struct_config__.tag, data=kept, metadata=words)


class _Result(_Display, tag="execute_result"):
    execution_count: None = None


class _Error(_Output, tag="error"):
    ename: str
    evalue: str
    traceback: list[str]

    def rebuilt(self, allowance: Allowance) -> NotebookNode:
        trace = [allowance.cut(line) for line in self.traceback[:MOST_OUTPUTS] if allowance.left]
        name, value = allowance.cut(self.ename[:LONGEST_NAME]), allowance.cut(self.evalue)
        return new_output("error", ename=name, evalue=value, traceback=trace)


_OUTPUTS = msgspec.json.Decoder(list[_Stream | _Display | _Result | _Error])


def fitting(text: str, size: int) -> tuple[str, int]:
    """As much of a text as takes no more than `size` bytes of a page, and how many it takes."""
    most = min(len(text), size)
    if _bytes_on_page(text[:most]) > size:
        most = bisect.bisect_right(range(1, most), size, key=lambda end: _bytes_on_page(text[:end]))
    return text[:most], _bytes_on_page(text[:most])


def _bytes_on_page(text: str) -> int:
    return len(html.escape(text).encode("utf-8", "replace"))


class Allowance:
    """How many bytes of a page may still be filled; each text costs `LEAST` more, so that empty ones end as well.

    Args:
        size: of all that is kept; the rest is dropped.
    """

    def __init__(self, size: int) -> None:
        self.left = size

    def cut(self, text: str) -> str:
        """As much of a text as is left, without colours; where something is missing, that is said."""
        text = COLOURS.sub("", text)
        kept, taken = fitting(text, self.left)
        is_whole = kept == text
        self.left = max(0, self.left - taken - LEAST) if is_whole else 0
        return kept if is_whole else kept + DROPPED

    def takes(self, text: str) -> bool:
        """Whether there is room for all of a text, which is of no use in part; it counts if there is."""
        fits = len(text) <= self.left
        self.left = max(0, self.left - len(text) - LEAST) if fits else self.left
        return fits


class BoundedText(io.StringIO):
    """A text that keeps what fills so many bytes of a page, without colours, and drops the rest."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._left = size

    def write(self, text: str) -> int:
        """Add to the text; all of it counts as written."""
        plain = COLOURS.sub("", text)
        kept, taken = fitting(plain, self._left)
        self._left = self._left - taken if kept == plain else 0
        super().write(kept)
        return len(text)


def error_output(name: str, text: str) -> NotebookNode:
    """An error without a trace."""
    return new_output("error", ename=name, evalue=text, traceback=text.splitlines())


def outputs_from(data: Any, allowance: Allowance) -> list[NotebookNode]:
    """What a cell has put out, from a process that may say anything: only what cannot act, and no more than allowed.

    Raises:
        Lost: these are no outputs.
    """
    try:
        found = _OUTPUTS.decode(bytes(data))
    except Exception:
        raise malformed("no outputs") from None
    outputs: list[NotebookNode] = []
    for output in found:
        if not allowance.left or len(outputs) == MOST_OUTPUTS:
            return [*outputs, new_output("stream", name="stdout", text=DROPPED)]
        allowance.takes("")
        outputs.append(output.rebuilt(allowance))
    return outputs


def _picture(text: str, beginning: bytes) -> str:
    """A picture's base64, written anew; "" where it is no such picture."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (ValueError, binascii.Error):
        return ""
    return base64.b64encode(data).decode() if data.startswith(beginning) else ""
