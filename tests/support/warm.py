"""A warm process that several runs of a test share."""

from __future__ import annotations

from collections.abc import Callable

from autograder.grading.results import Result
from autograder.grading.worker.client import GradingServer


class Lent(GradingServer):
    """A warm process that stays when a run ends; `instead` may stand in for grading."""

    def __init__(self, warm: GradingServer, instead: Callable[..., Result] | None = None) -> None:
        super().__init__()
        self.grade = instead or warm.grade

    def __enter__(self) -> Lent:
        return self

    def stop(self) -> None:
        """It is not ours."""
