"""What a lesson needs of the server is found in what it says."""

from __future__ import annotations

import json

import pytest
from support.sample_lesson import code, sample_lesson

from autograder.grading.submission.compiled import packed, unpacked


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
