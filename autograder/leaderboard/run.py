"""`autograder leaderboard`: train the entries to a lesson's leaderboard, and write the page of how they stand."""

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from autograder import files
from autograder.course.config import CourseError
from autograder.course.names import printable
from autograder.course.paths import Course
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.reader import Student, label_of, read_students
from autograder.grading.jobs import Job, in_parallel
from autograder.grading.results import Result, Status
from autograder.grading.worker.client import GradingServer
from autograder.leaderboard.entries import CLASS, Entry, entries
from autograder.leaderboard.page import Standing, board_page
from autograder.report.page import write
from autograder.report.write import LEADERBOARD_PAGE, shown

RECORD = "leaderboard.json"
Results = Iterable[tuple[Job, Result]]


def leaderboard(
    root: Path,
    lesson: str,
    out: Console,
    *,
    text: Path | None = None,
    seconds: float = 60.0,
    jobs: int = 0,
    output: Path | None = None,
    unprotected: bool = False,
    warm: GradingServer | None = None,
) -> None:
    """Train what has not been trained yet, print how the entries stand, and write the page.

    Args:
        text: a file that no student has; None for `c.Autograder.leaderboard_text`.
        seconds: the processor time that an entry has for everything.
        jobs: how many entries at a time; 0 for one a core.
        output: the page; None for the usual place.
        unprotected: train even where the sandbox does not hold.

    Raises:
        CourseError: there is no such lesson, no text, or nobody takes part.
        GradingServerError: nothing can be trained here.
    """
    course = Course.at(root)
    (lesson,) = course.choose_lessons([lesson])
    found = entries(course, lesson, _text(course, text), seconds)
    if len(found) == 1:
        raise CourseError(f"Nobody takes part: no hand-in for {lesson} has a cell that defines a class `{CLASS}`.")

    def train(fresh: Sequence[Job]) -> Results:
        if fresh:
            out.print(f"Training {len(fresh)} of {len(found)}, with at most {seconds:g} processor seconds each …")
            with warm or GradingServer(unprotected=unprotected) as server:
                if not fresh[0].student:  # the lesson's own, without which the others say little
                    yield fresh[0], (first := fresh[0].run(server))
                    if _outcome(first)[1]:
                        return
                others = [job for job in fresh if job.student]
                yield from in_parallel(others, lambda job: job.run(server), jobs or os.cpu_count() or 1)

    standings = _standings(course.root / RECORD, lesson, found, train)
    own = next(one for one in standings if not one.entry.student)
    if own.why:
        raise CourseError(f"The lesson's own entry comes to nothing, so no other was trained. {own.why}")
    students = dict[str, Student]()
    with suppress(CourseError), Gradebook(course.db_url, course.root).reading() as connection:
        students = read_students(connection)
    for place, one in enumerate(standings, start=1):
        whose = f"  {printable(label_of(one.entry.student, students))}" * bool(one.entry.student)
        line = f"   –  {one.entry.nickname}{whose}: {one.why}"
        if not one.why:
            line = f"{place:4}  {one.bits:.3f} bits  {one.seconds:5.1f} s  {one.entry.nickname}{whose}"
        out.print(escape(printable(line)), highlight=False, soft_wrap=True)
    if own.seconds > seconds / 2:
        took = f"The lesson's own entry takes {own.seconds:.0f} of the {seconds:g} seconds here"
        out.print(f"{took}: --seconds {math.ceil(3 * own.seconds)} leaves the others room.", highlight=False)
    path = output or course.root / LEADERBOARD_PAGE
    write(path, board_page(course.name, lesson, standings, seconds), mode=0o600)
    done = f"✓ {shown(path)}: for the class. It shows nicknames, and of each entry what it changed; no names."
    out.print(escape(done), highlight=False, soft_wrap=True)


def _text(course: Course, named: Path | None) -> str:
    path = named or course.config.get("Autograder", {}).get("leaderboard_text")
    if path is None:
        raise CourseError(
            "Name a text that no student has, with --text or as c.Autograder.leaderboard_text in nbgrader_config.py: "
            "some 150,000 characters of English, a manuscript or notes of yours."
        )
    try:
        return (course.root / path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CourseError(f"{path} cannot be read as a text ({error}). Name another file.") from None


def _standings(
    path: Path, lesson: str, found: Sequence[Entry], train: Callable[[Sequence[Job]], Results]
) -> list[Standing]:
    """What each entry comes to; what was trained once is not trained again.

    Args:
        path: the record of earlier runs; it has each result as soon as it is there.
        train: train what these jobs hold.
    """
    record = _recorded(path)
    earlier, kept = record.get(lesson, {}), dict[str, dict[str, Any]]()
    standings = []
    for entry in found:
        if entry.job.digest in earlier:
            kept[entry.job.digest] = earlier[entry.job.digest]
            standings.append(Standing(entry, **kept[entry.job.digest]))
    fresh = {entry.job.student: entry for entry in found if entry.job.digest not in earlier}
    for job, result in train([entry.job for entry in fresh.values()]):
        curve, why = _outcome(result)
        standings.append(Standing(fresh[job.student], curve, why))
        if not result.retryable:
            kept[job.digest] = {"curve": curve, "why": why}
            files.write(path, json.dumps({**record, lesson: {**earlier, **kept}}).encode(), mode=0o600)
    files.write(path, json.dumps({**record, lesson: kept}).encode(), mode=0o600)
    return sorted(standings, key=lambda standing: standing.bits)


def _recorded(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """What earlier runs came to, by lesson and by what was trained; nothing where the file is gone or spoiled."""
    try:
        record: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_bytes())
        return record
    except (OSError, ValueError):
        return {}


def _outcome(result: Result) -> tuple[Sequence[tuple[float, float]], str]:
    """The curve of an entry, and why it is worth nothing; "" where it is."""
    if result.reason:
        return (), result.reason
    outcome = result.checks[-1]
    if outcome.status is Status.PASSED and outcome.measured:
        return outcome.measured, ""
    return outcome.measured, " ".join(f"{outcome.verdict} {outcome.slip}".split()) or "It was not measured."
