"""What a shell suggests behind `autograder`: commands and options, lessons and students.

`eval "$(register-python-argcomplete autograder)"` in the start-up file of bash or zsh turns it on.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator
from pathlib import Path


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks what could follow, and end."""
    import argcomplete  # an instructor's package

    for action in _actions(parser):
        if action.metavar in SUGGESTED:
            vars(action)["completer"] = SUGGESTED[str(action.metavar)]
    argcomplete.autocomplete(parser)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)


def _folders_in(name: str, **_: object) -> list[str]:
    """The folders in one of the course around the current folder; none outside of a course."""
    from autograder.course.config import CourseError, course_root

    try:
        folders = (path.name for path in (course_root(Path.cwd()) / name).iterdir() if path.is_dir())
        return sorted(folder for folder in folders if not folder.startswith("."))  # which programs keep there
    except (CourseError, OSError):
        return []


LESSONS, STUDENTS = functools.partial(_folders_in, "solutions"), functools.partial(_folders_in, "submitted")
SUGGESTED = {"LESSON": LESSONS, "STUDENT": STUDENTS, "GLOB": STUDENTS}
