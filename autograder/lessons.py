"""What lessons bring to the engine that checks and grades them, which knows none of them by name.

Who installs decides what there is, never a submission: the lessons of this package, where they are in it, and those
that another package names in its entry points of the group `autograder.lessons`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

OF_THIS_PACKAGE, GROUP = "autograder.transformer", "autograder.lessons"


@dataclass(frozen=True)
class Lessons:
    """What some lessons bring, all by name, so that to read it imports none of them."""

    # what checks call: a judge and a student's process both have them before there is a submission
    modules: tuple[str, ...] = ()
    # the modules of finished parts: an answer of the same name is none of these, and calls none
    finished: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()  # further classes that a judge and a student's process both have, "module:name"
    secretive: tuple[str, ...] = ()  # those whose objects a judge never shows, and lets nobody change
    warm: tuple[str, ...] = ()  # further modules that are imported before there is a submission, since that takes time
    # the answers that one exercise asks for, where they are several; the first has its name
    together: tuple[tuple[str, ...], ...] = ()
    passed: tuple[str, ...] = ()  # what a notebook tells of each check that passed, "module:function"
    failed: tuple[str, ...] = ()  # what it tells of each that did not, where something was written
    # lessons with a leaderboard, and for each "module:function" that measures an entry: given the class `Entry`, a text
    # and the processor seconds that there are, it tells `check.measured`; less is better
    boards: tuple[tuple[str, str], ...] = ()
    # regular expressions of the line by which a notebook says what its learner missed of earlier lessons; the group
    # `topics` has them, with commas between, and the lesson in which each was missed in parentheses
    missed: tuple[str, ...] = ()
    # "module:function" that tries a right and a wrong answer, and returns what is said to the wrong one
    sample: tuple[str, ...] = ()

    def __add__(self, other: Lessons) -> Lessons:
        """These lessons and others."""
        return Lessons(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    def answers_of(self, exercise: str) -> tuple[str, ...]:
        """The answers that an exercise asks for, by its name: as a rule the one of that name."""
        return next((answers for answers in self.together if answers[0] == exercise), (exercise,))


@functools.cache
def installed() -> Lessons:
    """What all installed lessons bring."""
    found = [importlib.import_module(OF_THIS_PACKAGE).LESSONS] if find_spec(OF_THIS_PACKAGE) else []
    return sum([*found, *(entry.load() for entry in entry_points(group=GROUP))], Lessons())


def finished(name: str) -> tuple[str, Any] | None:
    """The finished part of that name, and the module it is from; None where nothing that is imported has one."""
    modules = (module for module in installed().finished if hasattr(sys.modules.get(module), name))
    return next(((module, getattr(sys.modules[module], name)) for module in modules), None)


def tell(listeners: tuple[str, ...], *told: object) -> None:
    """Tell the lessons whose modules are imported of a check, as `Lessons.passed` and `Lessons.failed` say."""
    for name in listeners:
        if name.partition(":")[0] in sys.modules:
            pkgutil.resolve_name(name)(*told)
