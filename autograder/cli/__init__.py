"""The command line of the course: `autograder release` and what else instructors and students run."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from autograder.cli import collect, course, grade, results, student
from autograder.cli.completion import complete
from autograder.course.names import did_you_mean
from autograder.course.quick_imports import quick_imports
from autograder.version import installed

ADDED = (
    *(course.add_start, course.add_release, student.add_due, collect.add_collect, grade.add_grade),
    *(student.add_comments, results.add_status, results.add_history, results.add_report, results.add_similar),
    *(results.add_leaderboard, course.add_doctor, course.add_demo, course.add_new, results.add_export),
    student.add_student,
)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands; what it makes of arguments has their function as `run`."""
    parser: argparse.ArgumentParser = _Parser(prog="autograder", description="Tools of a course in notebooks.")
    parser.add_argument("--version", action="version", version=f"autograder {installed() or '(not installed)'}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in ADDED:
        add(commands)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser that says which command, form or choice somebody may have meant."""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            known = ", ".join(map(str, action.choices))
            hint = did_you_mean([str(value)], map(str, action.choices))
            if isinstance(action.choices, Mapping):
                below = [name for name, command in action.choices.items() if value in _subcommands(command)]
                hint = f" Did you mean `{self.prog} {below[0]} {value}`?" if below else hint
            raise argparse.ArgumentError(action, f"there is no `{value}`. There are {known}.{hint}")


def _subcommands(command: argparse.ArgumentParser) -> set[object]:
    return {name for action in command._actions if isinstance(action.choices, Mapping) for name in action.choices}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = command_line()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could follow
        complete(parser)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = vars(arguments).pop("run")
    try:
        with quick_imports():
            return run(arguments)
    except ModuleNotFoundError as error:
        return explain_missing(error)


def explain_missing(error: ModuleNotFoundError) -> int:
    """Say what to do where a module is missing that this installation may lack; pass on an error of another kind."""
    name = error.name or ""
    if name.split(".")[:2] == ["autograder", "demo"]:
        advice = "The demo needs a checkout of the course, and this installation is none. From its folder, install "
        print(f'{advice}it with: pip install --editable ".[grading]"', file=sys.stderr)
        return 1
    if name.split(".")[0] == "autograder":
        raise error
    print(
        f"This command needs {name}, which is not installed. "
        'Install what instructors need, from the course folder: pip install ".[grading]"',
        file=sys.stderr,
    )
    return 1
