"""Outputs come from a process that may say anything."""

from __future__ import annotations

import json

import pytest

from autograder.grading.rpc.channel import LossReason, Lost
from autograder.grading.worker.outputs import BoundedText, error_output, outputs_from


def test_outputs_are_those_of_a_notebook() -> None:
    """A stream and an error come as they were put out."""
    stream = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    error = error_output("E", "first\nsecond")
    assert error.traceback == ["first", "second"]
    assert outputs_from(json.dumps([stream, error]).encode()) == [stream, error]


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
        outputs_from(data)
    assert lost.value.why is LossReason.MALFORMED


def test_a_bounded_text_drops_the_rest() -> None:
    """Who writes too much is told that all was written."""
    text = BoundedText(5)
    assert [text.write("abc"), text.write("defg"), text.write("h")] == [3, 4, 1]
    assert text.getvalue() == "abcde"
