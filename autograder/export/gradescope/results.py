"""Results in the form in which Gradescope reads them, `results.json`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.course.names import counted
from autograder.grading.results import Outcome, Result, Status, told_once

UNKNOWN = "It was graded elsewhere; what its checks said is not known."


def of_result(
    result: Result,
    *,
    scores: Mapping[str, float] | None = None,
    penalty: float = 0.0,
    maximum: float | None = None,
) -> dict[str, Any]:
    """Return a result as Gradescope has it.

    Every check is visible to the student: what it says is what the student reads beside the cell, and Gradescope hides
    the total from students where a test is hidden.

    Args:
        scores: check → points that count, where they are others than those earned.
        penalty: points taken off for being late.
        maximum: the points that there are, where there are others than those of its checks.
    """
    earned = {outcome.check: outcome.earned for outcome in result.checks} if scores is None else dict(scores)
    raw = sum(earned.values())
    maximum = result.max_score if maximum is None else maximum
    lines = [f"{round(raw, 4):g} of {counted(maximum, 'point')}."] if not result.reason else []
    if result.reason:
        lines.append(f"It could not be graded. {result.reason}")
    if penalty:
        lines.append(f"Taken off for being late: {counted(penalty, 'point')}.")
    extra = {"lesson": result.lesson, "peak_bytes": result.peak_bytes, "unenforced": list(result.unenforced)}
    tests = [_test(outcome, earned.get(outcome.check, 0.0)) for outcome in result.checks]
    checks = {outcome.check for outcome in result.checks}
    tests += [_by_hand(check, score) for check, score in earned.items() if check not in checks]
    return page("\n".join([*lines, *told_once(result.notes)]), max(0.0, raw - penalty), tests, result.seconds, extra)


def page(
    output: str,
    score: float,
    tests: Sequence[Mapping[str, Any]] = (),
    seconds: float = 0.0,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a whole `results.json`; what a run prints is for instructors alone."""
    return {
        "score": round(score, 4),
        "execution_time": round(seconds),
        "output": output,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": dict(extra or {}),
        "tests": list(tests),
    }


def to_bytes(results: Mapping[str, Any]) -> bytes:
    """Write it; a lone half of a character, which JSON takes and others do not, becomes a question mark."""
    return (json.dumps(results, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _test(outcome: Outcome, score: float) -> dict[str, Any]:
    return {
        "score": round(score, 4),
        "max_score": outcome.points,
        "status": "passed" if outcome.status is Status.PASSED else "failed",
        "name": outcome.check,
        "output": outcome.message,
        "tags": [outcome.status],
        "visibility": "visible",
        "extra_data": {"seconds": round(outcome.seconds, 3)},
    }


def _by_hand(check: str, score: float) -> dict[str, Any]:
    """A cell that only people grade."""
    return {"score": round(score, 4), "name": check, "output": "", "tags": ["graded by hand"], "visibility": "visible"}
