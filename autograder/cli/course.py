"""`autograder release`, `start`, `new`, `demo` and `doctor`: the course, and the machine it is graded on."""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

from autograder.cli.running import console, in_course
from autograder.course.names import lesson_name
from autograder.version import DISTRIBUTION


def add_release(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder release`."""
    command = commands.add_parser("release", help="make notebooks/ from solutions/, and record the lessons for grading")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="write nothing; say what would change, exit 1 if any")
    how.add_argument(
        "--merged", action="store_true", help="during a merge: hold back other checks of what was handed in already"
    )
    how.add_argument("--held-back", action="store_true", help="take what was held back of lessons nobody handed in")
    command.add_argument(
        "--force", action="store_true", help="overwrite notebooks somebody worked in, keeping a copy beside each"
    )
    command.set_defaults(run=run_release)


@functools.partial(in_course, status=1)
def run_release(arguments: argparse.Namespace, root: Path) -> int:
    """Release the course around the current folder and say what changed."""
    from autograder.course.release import release
    from autograder.course.versions import held_back
    from autograder.grading.pending import told_of_other_checks

    if arguments.merged:
        lines = held_back.release_merged(root)
    elif arguments.held_back:
        lines = held_back.release_held_back(root)
    else:
        lines = release(root, check=arguments.check, force=arguments.force)
    remarks = held_back.remarks(root) + ([] if arguments.check else told_of_other_checks(root))
    for line in (*lines, *remarks):
        print(line)
    if arguments.check and lines:
        print("✗ The course is not as released. Run `autograder release`.", file=sys.stderr)
        return 1
    print("✓ The lessons are released." if lines else "✓ The lessons are up to date.")
    return 0


def add_start(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder start`."""
    command = commands.add_parser(
        "start",
        help="put the lessons into a folder, and try whether all they need is installed",
        description="Put the lessons into a folder, and try whether all that they need is installed. What is there "
        "already stays as it is.",
    )
    command.add_argument("folder", nargs="?", type=Path, default=Path(DISTRIBUTION), help=f"default: {DISTRIBUTION}")
    command.set_defaults(run=run_start)


def run_start(arguments: argparse.Namespace) -> int:
    """Lay the lessons into a folder."""
    from autograder.start import start

    try:
        return start(arguments.folder)
    except OSError as error:
        print(f"The lessons cannot be put there ({error}). Name another folder.", file=sys.stderr)
        return 2


def add_new(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder new`."""
    command = commands.add_parser("new", help="write a course, a lesson or an exercise of your own, to begin with")
    command.add_argument("what", choices=("course", "lesson", "exercise"))
    about = "course: its folder; lesson: for example 01_noise; exercise: its function"
    command.add_argument("name", type=lesson_name, metavar="NAME", help=about)
    command.add_argument("--form", choices=("course", "plain"), default="course", help="of a course (default: course)")
    command.add_argument(
        "--lesson", default="", type=lesson_name, metavar="LESSON", help="of an exercise, where there are several"
    )
    command.set_defaults(run=run_new)


def run_new(arguments: argparse.Namespace) -> int:
    """Write it, and say what comes next."""
    from autograder.cli import new
    from autograder.course.config import CourseError, course_root
    from autograder.course.paths import Course

    try:
        if arguments.what == "course":
            lines = new.new_course(Path(arguments.name), arguments.form)
        elif arguments.what == "lesson":
            lines = new.new_lesson(Course.at(course_root(Path.cwd())), arguments.name)
        else:
            lines = new.new_exercise(Course.at(course_root(Path.cwd())), arguments.name, arguments.lesson)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for line in lines:
        print(line)
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
    from autograder.demo.sample_class import demo  # first: an installation may lack it, wherever it is asked for

    run = in_course(lambda _, root: demo(root, arguments.folder, arguments.lesson), status=1)
    return run(arguments)


def add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder doctor`."""
    command = commands.add_parser("doctor", help="try what the sandbox promises on this machine")
    command.set_defaults(run=run_doctor)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Probe the sandbox and say what holds."""
    from autograder.grading.doctor import doctor

    return doctor(console())
