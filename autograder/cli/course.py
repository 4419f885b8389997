"""`autograder release`, `demo` and `doctor`: the course, and the machine it is graded on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.course.names import lesson_name


def add_release(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder release`."""
    command = commands.add_parser("release", help="make notebooks/ from solutions/, and record the lessons for grading")
    command.add_argument("--check", action="store_true", help="write nothing; say what would change, exit 1 if any")
    command.add_argument(
        "--force", action="store_true", help="overwrite notebooks somebody worked in, keeping a copy beside each"
    )
    command.set_defaults(run=run_release)


def run_release(arguments: argparse.Namespace) -> int:
    """Release the course around the current folder and say what changed."""
    from autograder.course.config import CourseError, course_root
    from autograder.course.release import release

    try:
        lines = release(course_root(Path.cwd()), check=arguments.check, force=arguments.force)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*lines, sep="\n", end="\n" if lines else "")
    if arguments.check and lines:
        print("✗ The course is not as released. Run `autograder release`.", file=sys.stderr)
        return 1
    print("✓ The lessons are released." if lines else "✓ The lessons are up to date.")
    return 0


def add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder demo`."""
    command = commands.add_parser("demo", help="grade five invented students in a folder of their own")
    command.add_argument("folder", nargs="?", type=Path, default=Path("demo"), metavar="FOLDER", help="default: ./demo")
    command.add_argument(
        "--lesson",
        action="append",
        default=[],
        type=lesson_name,
        metavar="NAME",
        help="only this lesson; may be repeated",
    )
    command.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Make and grade the demo class of the course around the current folder."""
    from autograder.course.config import CourseError, course_root
    from autograder.demo.sample_class import demo

    try:
        demo(course_root(Path.cwd()), arguments.folder, arguments.lesson)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder doctor`."""
    command = commands.add_parser("doctor", help="try what the sandbox promises on this machine")
    command.set_defaults(run=run_doctor)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Probe the sandbox and say what holds."""
    from rich.console import Console

    from autograder.grading.doctor import doctor

    return doctor(Console())
