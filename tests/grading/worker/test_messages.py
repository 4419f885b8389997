"""Messages arrive as they were sent, and a lesson says what it needs."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from support.sample_lesson import code, sample_lesson

from autograder.grading.results import Limits
from autograder.grading.submission.compiled import packed, unpacked
from autograder.grading.worker.messages import GradingRequest, ServerReady, StudentRequest


def test_messages_arrive_as_they_were_sent() -> None:
    """Each is the same on both sides, limits included."""
    limits = Limits(cell_seconds=3)
    ready, student = ServerReady(("network: got through",), "no"), StudentRequest("/folder", limits)
    assert ServerReady.from_bytes(ready.to_bytes()) == ready
    assert StudentRequest.from_bytes(student.to_bytes()) == student
    request = GradingRequest("ann", "01_doubling", limits, 12)
    assert GradingRequest.from_json(json.loads(json.dumps(asdict(request)))) == request


@pytest.mark.parametrize(
    ("source", "needs_dynamo"), [("1", False), ("torch.optim.Adam", True), ('torch.ones(2, device="meta")', True)]
)
def test_a_lesson_says_whether_it_needs_dynamo(source: str, needs_dynamo: bool) -> None:
    """It is found in what its cells say."""
    lesson = sample_lesson()
    lesson["cells"].append(code("more", source))
    made = packed(json.dumps(lesson).encode())
    assert made.needs_dynamo is needs_dynamo
    assert unpacked(made.data).notebook == lesson
