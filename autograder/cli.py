"""The command line of the course: `autograder release` and what else instructors and students run."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console

    from autograder.grading.warm import Warm


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = argparse.ArgumentParser(prog="autograder", description="Tools of the Transformer course.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_release(commands)
    add_grade(commands)
    add_doctor(commands)
    add_demo(commands)
    arguments = parser.parse_args(argv)
    return arguments.run(arguments)


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
    try:
        from autograder.course import CourseError, course_root
        from autograder.release import release
    except ModuleNotFoundError as error:
        return needs_grading(error)
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
        "--lesson", action="append", default=[], metavar="NAME", help="only this lesson; may be repeated"
    )
    command.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Make and grade the demo class of the course around the current folder."""
    try:
        from autograder.course import CourseError, course_root
        from autograder.demo import demo
    except ModuleNotFoundError as error:
        return needs_grading(error)
    try:
        demo(course_root(Path.cwd()), arguments.folder, arguments.lesson)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def add_grade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder grade`."""
    command = commands.add_parser("grade", help="grade what students handed in, safely and in parallel")
    command.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all that were handed in")
    command.add_argument(
        "--student", default="*", metavar="GLOB", help="only students whose names fit, for example 'a*'"
    )
    command.add_argument("--jobs", type=int, default=0, metavar="N", help="how many at a time (default: one a core)")
    command.add_argument("--force", action="store_true", help="also what has not changed since it was graded")
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help="grade on a Dask cluster, tcp://host:8786")
    command.add_argument("--json", action="store_true", help="print the results as JSON")
    command.add_argument(
        "--unprotected", action="store_true", help="grade even where the sandbox does not hold; every result is marked"
    )
    command.set_defaults(run=run_grade)


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade the course around the current folder."""
    try:
        from rich.console import Console

        from autograder.grading.warm import Warm, quick_imports
    except ModuleNotFoundError as error:
        return needs_grading(error)
    warm = Warm(unprotected=arguments.unprotected)
    if not arguments.scheduler:
        warm.start()  # it takes as long to warm up as nbgrader takes to be imported
    try:
        with quick_imports():
            from autograder.grading import command  # nbgrader comes with it
        return _grade(command, arguments, warm, Console())
    except ModuleNotFoundError as error:
        return needs_grading(error)
    except KeyboardInterrupt:
        print("Stopped. What was graded is recorded; the same command goes on from there.", file=sys.stderr)
        return 130
    finally:
        warm.stop()


def _grade(command: ModuleType, arguments: argparse.Namespace, warm: Warm, out: Console) -> int:
    from autograder.course import CourseError, course_root

    wanted = command.Wanted(
        lessons=arguments.lessons,
        students=arguments.student,
        jobs=arguments.jobs,
        force=arguments.force,
        scheduler=arguments.scheduler,
        unprotected=arguments.unprotected,
        as_json=arguments.json,
    )
    try:
        return command.grade(course_root(Path.cwd()), wanted, out, warm=warm)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder doctor`."""
    command = commands.add_parser("doctor", help="try what the sandbox promises on this machine")
    command.set_defaults(run=run_doctor)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Probe the sandbox and say what holds."""
    try:
        from rich.console import Console

        from autograder.grading.command import doctor
    except ModuleNotFoundError as error:
        return needs_grading(error)
    return doctor(Console())


def needs_grading(error: ModuleNotFoundError) -> int:
    """Say how to install the instructor's side, or pass on an error that has another cause."""
    if (error.name or "").split(".")[0] == "autograder":
        raise error
    print(
        f"This command needs {error.name}, which is not installed. "
        'Install what instructors need, from the course folder: pip install ".[grading]"',
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
