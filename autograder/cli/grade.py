"""`autograder grade`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.cli.running import console
from autograder.course.names import lesson_name


def add_grade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder grade`."""
    command = commands.add_parser("grade", help="grade what students handed in, safely and in parallel")
    command.add_argument(
        "lessons", nargs="*", type=lesson_name, metavar="LESSON", help="default: all that were handed in"
    )
    command.add_argument(
        "--student",
        dest="students",
        default="*",
        metavar="GLOB",
        help="only students whose names fit, for example 'a*'",
    )
    command.add_argument("--jobs", type=int, default=0, metavar="N", help="how many at a time (default: one a core)")
    command.add_argument("--force", action="store_true", help="also what has not changed since it was graded")
    command.add_argument(
        "--dry-run", action="store_true", help="record nothing; say whose points would become others, and why"
    )
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help="grade on a Dask cluster, tcp://host:8786")
    command.add_argument("--json", dest="as_json", action="store_true", help="print the results as JSON")
    command.add_argument(
        "--unprotected", action="store_true", help="grade even where the sandbox does not hold; every result is marked"
    )
    command.set_defaults(run=run_grade)


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade the course around the current folder."""
    from autograder.grading.options import GradeOptions
    from autograder.grading.worker.client import GradingServer

    options = GradeOptions(**vars(arguments))
    warm = GradingServer(unprotected=options.unprotected)
    if not options.scheduler:
        warm.start()  # it takes as long to warm up as nbgrader takes to be imported
    try:
        from autograder.course.config import CourseError, course_root
        from autograder.grading.grade import grade  # nbgrader comes with it

        try:
            return grade(course_root(Path.cwd()), options, console(), warm=warm)
        except (CourseError, OSError) as error:
            print(error, file=sys.stderr)
            return 2
    except KeyboardInterrupt:
        print(f"Stopped. {options.after_a_stop}", file=sys.stderr)
        return 130
    finally:
        warm.stop()
