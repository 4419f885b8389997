"""What all commands that work on a course have in common."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """The terminal; rich is imported once somebody writes there."""
    from rich.console import Console

    return Console()


def in_course(
    run: Callable[[argparse.Namespace, Path], int | None], status: int = 2
) -> Callable[[argparse.Namespace], int]:
    """Let a command work on the course around the current folder; what somebody has to mend is said, with a status.

    Args:
        run: takes what was typed and the course folder; returns the exit status, None for 0.
    """

    @functools.wraps(run)
    def command(arguments: argparse.Namespace) -> int:
        from autograder.course.config import CourseError, course_root
        from autograder.grading.results import GradingServerError

        try:
            return run(arguments, course_root(Path.cwd())) or 0
        except (CourseError, GradingServerError, OSError) as error:
            print(error, file=sys.stderr)
            return status

    return command
