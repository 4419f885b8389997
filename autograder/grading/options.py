"""What `autograder grade` is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GradeOptions:
    """What to grade, and how.

    Attributes:
        lessons: their names; all that somebody handed in when there are none.
        students: a pattern for the names of students, "a*".
        jobs: how many submissions at a time on this machine.
        force: also those that have not changed since they were graded.
        scheduler: the address of a Dask cluster to grade on, "" for this machine.
        unprotected: grade even where the sandbox does not hold.
        as_json: print the results as JSON instead of a table.
        dry_run: record nothing; say which points would become others.
    """

    lessons: Sequence[str] = ()
    students: str = "*"
    jobs: int = 0
    force: bool = False
    scheduler: str = ""
    unprotected: bool = False
    as_json: bool = False
    dry_run: bool = False

    @property
    def after_a_stop(self) -> str:
        """What there is of a run that was stopped, and what the same command would do now."""
        if self.dry_run:
            return "Nothing was recorded, being a dry run."
        if self.force:
            return (
                "What was graded is recorded; the same command grades all of it again, and without --force only what "
                "was never graded or has changed."
            )
        return "What was graded is recorded; the same command goes on."
