"""A lesson crosses to its judges made ready, and whole."""

import json

from support.sample_lesson import sample_lesson

from autograder.grading.submission.compiled import packed, unpacked


def test_a_packed_lesson_is_unpacked_whole() -> None:
    """What is unpacked is the notebook that was packed, with a code object for each of its checks."""
    lesson = sample_lesson()
    made = unpacked(packed(json.dumps(lesson).encode()))
    assert made.notebook == lesson
    assert made.codes and {check for check, _ in made.codes} <= {cell["id"] for cell in lesson["cells"]}
