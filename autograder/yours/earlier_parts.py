"""What a lesson takes of earlier ones: the learner's own parts, and the course's where they have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.yours import own, place
from autograder.yours.trials import TRIALS


def take(*names: str) -> Any:
    """Return earlier parts, the learner's own where they are kept and the course's where not, and print which is which.

    Args:
        names: as the lessons call them.

    Returns:
        The part of a single name, a tuple of several.

    Raises:
        ValueError: no lesson has a part of that name.
    """
    if unknown := [name for name in names if name not in TRIALS]:
        raise ValueError(f"No lesson has a part called {listed(unknown)}. There are {listed(TRIALS)}.")
    learners = own.read()
    whole, mixed, courses = [], [], []
    for name in names:
        others = [needed for needed, section in learners.sections_of(name).items() if section is None]
        if name not in learners.own:
            courses.append(name)
        elif others:
            mixed.append(f"{name} (with the course's {listed(others)})")
        else:
            whole.append(name)
    for title, parts_of_it in (("Yours", whole + mixed), ("The course's", courses)):
        if parts_of_it:
            print(f"{title}: {listed(parts_of_it)}.")
    needed = {"", *names}.union(*(learners.sections_of(name) for name in names))
    for part, note in learners.notes.items():
        if part in needed:
            print(note)
    if courses and not learners.own and place.will_be_lost():
        print(
            "Have you kept parts on another machine? Mount your Drive, or upload "
            f"{place.FILE} (the folder at the left), and run this cell again."
        )
    taken = tuple(learners.part(name) for name in names)
    return taken if len(taken) != 1 else taken[0]


def listed(names: Iterable[str]) -> str:
    """The names, with commas."""
    return ", ".join(names)
