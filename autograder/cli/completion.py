"""What a shell suggests behind `autograder`: commands and options, lessons and students.

`eval "$(register-python-argcomplete autograder)"` in the start-up file of bash or zsh turns it on.
"""

from __future__ import annotations

import argparse
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


def lessons(**_: object) -> list[str]:
    """The lessons of the course around the current folder; none outside of one."""
    return _folders_in("solutions")


def students(**_: object) -> list[str]:
    """Who has handed in, by folder."""
    return _folders_in("submitted")


def _folders_in(name: str) -> list[str]:
    from autograder.course.config import CourseError, course_root

    try:
        return sorted(path.name for path in (course_root(Path.cwd()) / name).iterdir() if path.is_dir())
    except (CourseError, OSError):
        return []


SUGGESTED = {"LESSON": lessons, "STUDENT": students, "GLOB": students}
