"""Outputs come from a process that may say anything."""

import base64
import html
import json
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from traitlets.config import Config

from autograder.grading.rpc.channel import LossReason, Lost
from autograder.grading.worker.outputs import (
    DROPPED,
    MOST_OUTPUTS,
    Allowance,
    BoundedText,
    error_output,
    fitting,
    outputs_from,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nand so on").decode()


def rebuilt(*outputs: Any, size: int = 1000) -> list[NotebookNode]:
    return outputs_from(json.dumps(outputs).encode(), Allowance(size))


def shown(data: dict[str, str], **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def test_outputs_are_those_of_a_notebook() -> None:
    """A stream and an error come as they were put out."""
    stream = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    error = error_output("E", "first\nsecond")
    assert error.traceback == ["first", "second"]
    assert rebuilt(stream, error) == [stream, error]


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": "<b>"},
        {"image/svg+xml": "<svg/>"},
        {"text/latex": "$\\href{javascript:x}{y}$"},
        {"application/javascript": "1"},
        {"application/vnd.jupyter.widget-view+json": "{}"},
        {"image/png": "x' onerror='1"},
        {"image/png": base64.b64encode(b"<svg/>").decode()},
        {"image/jpeg": PNG},
    ],
)
def test_what_could_act_in_a_browser_is_left_out(data: dict[str, str]) -> None:
    """Of all kinds only text and true pictures are shown."""
    (output,) = rebuilt(shown({"text/plain": "a", **data}))
    assert output.data == {"text/plain": "a"} and output.metadata == {}


def test_a_picture_keeps_its_words_and_nothing_else() -> None:
    """Of a picture's metadata the alternative text stays, and its base64 is written anew."""
    about = {"alt": "two curves", "width": "1 onerror=x", "height": 3, "unconfined": True}
    (output,) = rebuilt(
        shown({"image/png": f"{PNG[:8]}\n{PNG[8:]}\n"}, **{"image/png": about, "filenames": {"a": "b"}})
    )
    assert output.data == {"image/png": PNG} and output.metadata == {"image/png": {"alt": "two curves"}}


def test_no_more_is_kept_than_allowed() -> None:
    """Text is cut, which is said; a picture that has no room is left out; outputs are counted."""
    stream = {"output_type": "stream", "name": "stdout", "text": "a" * 100}
    first, second, last = rebuilt(stream, stream, stream, size=250)
    assert first.text == stream["text"] and second.text.endswith(DROPPED) and last.text == DROPPED
    assert 0 < second.text.count("a") < 100
    (picture,) = rebuilt(shown({"image/png": PNG, "text/plain": "b"}), size=60)
    assert picture.data == {"text/plain": "b"}
    assert len(rebuilt(*[shown({})] * 3 * MOST_OUTPUTS, size=10**6)) == MOST_OUTPUTS + 1


@pytest.mark.parametrize(
    "output",
    [
        shown({}),
        shown({"image/png": PNG}, **{"image/png": {"alt": "a" * 10**4}}),
        {"output_type": "error", "ename": "e" * 10**4, "evalue": "", "traceback": [""] * 1000},
    ],
)
def test_what_is_small_but_often_there_counts(output: dict[str, Any]) -> None:
    """Hundreds of cells with hundreds of outputs that hold next to nothing do not fill a disk."""
    allowance = Allowance(10**5)
    data = json.dumps([output] * MOST_OUTPUTS).encode()
    assert sum(len(json.dumps(outputs_from(data, allowance))) for _ in range(200)) < 5 * 10**5


@pytest.mark.parametrize(
    ("text", "kept"),
    [("abcdef", "abcd"), ("<a>", "<"), ('"', ""), ("&", ""), ("äöü", "äö"), ("✓✓", "✓"), ("a✓", "a✓"), ("", "")],
)
def test_a_text_counts_as_what_a_page_holds_of_it(text: str, kept: str) -> None:
    """A sign that HTML has to escape fills a page as much as its escape."""
    assert fitting(text, 4) == (kept, len(html.escape(kept).encode()))


@pytest.mark.parametrize("text", ["\x1b[31ma\x1b[0m", "\x1b]0;title\x07\x1b", "\x1b[38;2;1;2;3m\x1b[1", '"<&'])
def test_a_page_is_no_larger_than_what_is_kept(text: str) -> None:
    """Thirty cells of colours, each of which would be an element, or of signs to be escaped, make no page large."""
    allowance, cell = Allowance(30 * 20_000), (text * 20_000)[:20_000]
    outputs = [
        output
        for _ in range(30)
        for output in outputs_from(
            json.dumps(
                [
                    {"output_type": "stream", "name": "stdout", "text": cell},
                    shown({"text/plain": cell}),
                    error_output("E", cell),
                ]
            ).encode(),
            allowance,
        )
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=outputs)])
    page, _ = HTMLExporter(config=GenerateFeedback(config=Config()).config, template_name="basic").from_notebook_node(
        notebook
    )
    assert "ansi-" not in page and len(page.encode()) < 2 * 30 * 20_000
    printed = BoundedText(20_000)
    printed.write(cell)
    assert "\x1b" not in printed.getvalue() and len(html.escape(printed.getvalue()).encode()) <= 20_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1]",
        b"[{}]",
        b'[{"output_type": "raw"}]',
        b'[{"output_type": "stream", "name": 1, "text": ""}]',
        5.0,
    ],
)
def test_anything_else_loses_the_process(data: object) -> None:
    """What no notebook stores is against the protocol."""
    with pytest.raises(Lost) as lost:
        outputs_from(data, Allowance(100))
    assert lost.value.why is LossReason.MALFORMED


def test_a_bounded_text_drops_the_rest() -> None:
    """Who writes too much is told that all was written."""
    text = BoundedText(5)
    assert [text.write("abc"), text.write("defg"), text.write("h")] == [3, 4, 1]
    assert text.getvalue() == "abcde"
