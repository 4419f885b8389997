"""What `autograder grade` is asked to do."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GradeOptions:
    """What to grade, and how."""

    lessons: Sequence[str] = ()  # their names; all that somebody handed in when there are none
    students: str = "*"  # a pattern for the names of students, "a*"
    jobs: int = 0  # how many submissions at a time on this machine
    force: bool = False  # also those that have not changed since they were graded
    scheduler: str = ""  # the address of a Dask cluster to grade on, "" for this machine
    unprotected: bool = False  # grade even where the sandbox does not hold
    as_json: bool = False  # print the results as JSON instead of a table
    dry_run: bool = False  # record nothing; say which points would become others

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
