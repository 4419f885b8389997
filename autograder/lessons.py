"""What lessons bring to the engine that checks and grades them, which knows none of them by name.

Who installs decides what there is, never a submission: the lessons of this package, where they are in it, and those
that another package names in its entry points of the group `autograder.lessons`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

OF_THIS_PACKAGE, GROUP = "autograder.transformer", "autograder.lessons"


@dataclass(frozen=True)
class Lessons:
    """What some lessons bring, all by name, so that to read it imports none of them.

    Attributes:
        modules: what checks call: a judge and a student's process both have them before there is a submission.
        finished: the modules of finished parts: an answer of the same name is none of these, and calls none.
        classes: further classes that a judge and a student's process both have, "module:name".
        secretive: those whose objects a judge never shows, and lets nobody change.
        warm: further modules that are imported before there is a submission, since that takes time.
        together: the answers that one exercise asks for, by its name, where they are several.
        passed: what a notebook tells of each check that passed: its exercise, its rule, the exercises of the lesson,
            each with its number of checks, and the notebook's names.
    """

    modules: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    secretive: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    passed: tuple[str, ...] = ()

    def __add__(self, other: Lessons) -> Lessons:
        """These lessons and others."""
        both = {
            name: mine | vars(other)[name] if isinstance(mine, dict) else mine + vars(other)[name]
            for name, mine in vars(self).items()
        }
        return Lessons(**both)


@functools.cache
def installed() -> Lessons:
    """What all installed lessons bring."""
    found = [importlib.import_module(OF_THIS_PACKAGE).LESSONS] if find_spec(OF_THIS_PACKAGE) else []
    return sum([*found, *(entry.load() for entry in entry_points(group=GROUP))], Lessons())


def modules_by_name() -> Mapping[str, str]:
    """The modules that checks call, by what checks call them."""
    return {module.rpartition(".")[2]: module for module in installed().modules}


def finished(name: str) -> tuple[str, Any] | None:
    """The finished part of that name, and the module it is from; None where nothing that is imported has one."""
    modules = (module for module in installed().finished if hasattr(sys.modules.get(module), name))
    return next(((module, getattr(sys.modules[module], name)) for module in modules), None)


def passed(*told: object) -> None:
    """Tell the lessons whose modules are imported of a check that passed, as `Lessons.passed` says."""
    for name in installed().passed:
        if name.partition(":")[0] in sys.modules:
            tell: Callable[..., None] = pkgutil.resolve_name(name)
            tell(*told)
