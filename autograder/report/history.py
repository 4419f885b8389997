"""`autograder history`: what grading again changed, by student and check, and why."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from autograder.course.config import CourseError
from autograder.course.names import did_you_mean
from autograder.grading.gradebook.history import read_history
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.summary import print_regrades


def history(root: Path, lessons: Sequence[str], pattern: str, out: Console, *, as_json: bool = False) -> None:
    """Say what grading again changed in these lessons, or in all, for students whose ids fit a pattern.

    Raises:
        CourseError: there is no gradebook, or no lesson or student of that name.
    """
    regraded, book = read_history(root), read_gradebook(root)
    known = sorted({*book.students, *(one.student for one in regraded)})
    if known and not any(fnmatchcase(student, pattern) for student in known):
        raise CourseError(f"No student's id fits {pattern}.{did_you_mean([pattern], known)}")
    names = {lesson.name for lesson in book.choose_lessons(lessons)}
    chosen = [one for one in regraded if fnmatchcase(one.student, pattern) and (one.lesson in names or not lessons)]
    if as_json:
        who = {one: book.students[one].name for one in sorted({one.student for one in chosen} & {*book.students})}
        out.print_json(json.dumps({"students": who, "regraded": [asdict(one) for one in chosen]}))
    elif chosen:
        print_regrades(out, chosen, book, times=True)
    else:
        out.print("Nothing was graded again.")
