"""`autograder grade` and `autograder doctor`: what instructors run, and what they see while it runs."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Self

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from autograder.course.config import CourseError, load_config
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.jobs import Job, in_parallel, job, prepared
from autograder.grading.results import Limits, Note, NoteKind, Result
from autograder.grading.sandbox.probe import probe
from autograder.grading.sandbox.readable_paths import exposed
from autograder.grading.worker.client import GradingServer, GradingServerError

SHOWN = 40  # submissions in the table; the rest is in the gradebook
NO_TIME = "When it was handed in is not known: its timestamp.txt holds no time."
WHERE = "A notebook belongs into submitted/<student>/<lesson>/."
GO_ON = "What was graded is recorded; the same command goes on from there."


@dataclass(frozen=True)
class Wanted:
    """What to grade, and how.

    Attributes:
        lessons: their names; all that somebody handed in when there are none.
        students: a pattern for the names of students, "a*".
        jobs: how many submissions at a time on this machine.
        force: also those that have not changed since they were graded.
        scheduler: the address of a Dask cluster to grade on, "" for this machine.
        unprotected: grade even where the sandbox does not hold.
        as_json: print the results as JSON instead of a table.
    """

    lessons: Sequence[str] = ()
    students: str = "*"
    jobs: int = 0
    force: bool = False
    scheduler: str = ""
    unprotected: bool = False
    as_json: bool = False


class Class:
    """A course as nbgrader sees it: who handed in what."""

    def __init__(self, root: Path) -> None:
        config = load_config(root)
        config.CourseDirectory.setdefault("root", str(root.resolve()))
        self.course = CourseDirectory(config=config)
        self.root = Path(self.course.root)

    def secrets(self) -> list[Path]:
        """What no submission may read."""
        folders = self.course.source_directory, self.course.submitted_directory, self.course.autograded_directory
        return [*(self.root / folder for folder in folders), self.root / "gradebook.db"]

    def source(self, lesson: str) -> Path:
        """The notebook of a lesson, hidden tests included."""
        return Path(self.course.format_path(self.course.source_directory, ".", lesson)) / f"{lesson}.ipynb"

    def submitted(self, student: str, lesson: str) -> Path:
        """The folder in which a student's submission of a lesson is."""
        return Path(self.course.format_path(self.course.submitted_directory, student, lesson))

    def handed_in(self, folder: Path) -> str:
        """What a submission's timestamp.txt says; "?" where it cannot be read, "" where there is none."""
        path = folder / "timestamp.txt"
        try:
            if not path.exists():
                return ""
            return path.read_text(encoding="utf-8").strip() if path.is_file() and path.stat().st_size < 1000 else "?"
        except (OSError, ValueError):
            return "?"

    def lessons(self, wanted: Sequence[str]) -> list[str]:
        """The lessons to grade.

        Raises:
            CourseError: one of those wanted is none of the course's.
        """
        known = sorted(path.stem for path in self.root.glob(f"{self.course.source_directory}/*/*.ipynb"))
        if unknown := [name for name in wanted if name not in known]:
            raise CourseError(f"There is no lesson {', '.join(unknown)}. There are {', '.join(known)}.")
        return list(wanted) or [lesson for lesson in known if self.students(lesson, "*")]

    def students(self, lesson: str, pattern: str) -> list[str]:
        """Who handed in a lesson, of those whose names fit the pattern."""
        whole = self.submitted("*", lesson)
        depth = self.submitted("@", lesson).parts.index("@")
        start = self.root if whole.is_relative_to(self.root) else Path(whole.anchor)
        found = start.glob(str(whole.relative_to(start)))
        names = {path.parts[depth] for path in found if path.is_dir()}
        return sorted(name for name in names if fnmatch(name, pattern) and not name.startswith("."))

    def strays(self) -> list[str]:
        """Notebooks that were handed in and are in no lesson's folder, so that nobody grades them."""
        start = self.root / self.course.submitted_directory
        known = [path.stem for path in self.root.glob(f"{self.course.source_directory}/*/*.ipynb")]
        folders = {self.submitted(student, lesson) for lesson in known for student in self.students(lesson, "*")}
        found = (path for path in start.rglob("*.ipynb") if not any(part.startswith(".") for part in path.parts[1:]))
        strays = (path for path in found if not folders.intersection(path.parents))
        return sorted(str(path.relative_to(self.root)) for path in strays)


def grade(
    root: Path, wanted: Wanted, out: Console, *, warm: GradingServer | None = None, limits: Limits | None = None
) -> int:
    """Grade what was handed in and is not graded yet; 0 when all could be, 1 when some could not.

    Args:
        warm: where to grade, perhaps started already; not used where there is nothing to grade, or a scheduler.

    Raises:
        CourseError: nothing can be graded, or no more; what was recorded before stays.
    """
    limits = limits or Limits()
    if wanted.jobs < 0:
        raise CourseError(f"{wanted.jobs} submissions at a time are too few. Give --jobs a number above 0.")
    course = Class(root)
    if shown := exposed(course.secrets()):
        raise CourseError(
            f"{shown[0]} lies where submissions may read, inside the Python installation. Move the course."
        )
    lessons = course.lessons(wanted.lessons)
    done: list[Result] = []
    kept: list[Result] = []
    begin = time.monotonic()
    say = Console(stderr=True) if wanted.as_json else out
    with ExitStack() as stack:
        run = stack.enter_context(_Runner(wanted, say, warm or GradingServer(unprotected=wanted.unprotected)))
        recorder = stack.enter_context(Recorder(root))
        progress = stack.enter_context(_progress(say))
        for lesson in lessons:
            source = prepared(course.source(lesson))
            graded = {} if wanted.force else recorder.graded(lesson)
            students = course.students(lesson, wanted.students)
            task = progress.add_task(lesson, total=len(students), last="")

            def jobs(lesson=lesson, source=source, graded=graded, students=students, task=task) -> Iterator[Job]:
                for student in students:
                    folder = course.submitted(student, lesson)
                    each = job(folder, student, lesson, source, limits, course.handed_in(folder))
                    if _holds(graded.get(student), each):
                        kept.append(graded[student][1])
                        progress.advance(task)
                    else:
                        yield each

            for each, result in run(jobs()):
                result = _record(recorder, course, each, result)
                done.append(replace(result, notebook=""))
                progress.update(task, advance=1, last=_brief(result))
    strays = [] if wanted.lessons else course.strays()
    if wanted.as_json:
        told = {"graded": [each.to_json() for each in done], "unchanged": len(kept), "strays": strays}
        out.print_json(json.dumps(told))
    else:
        _summary(out, done, kept, time.monotonic() - begin)
        if strays:
            shown = ", ".join(strays[:3]) + (f" and {len(strays) - 3} more" if len(strays) > 3 else "")
            out.print(escape(_plain(f"Not graded, being in no lesson's folder: {shown}.\n{WHERE}")))
    return 1 if any(each.reason for each in (*done, *kept)) else 0


def _holds(known: tuple[str, Result] | None, each: Job) -> bool:
    """Whether what is recorded is the result of this very submission; one that broke off is not."""
    return known is not None and known[0] == each.digest and not known[1].retryable


def _record(recorder: Recorder, course: Class, each: Job, result: Result) -> Result:
    """Record a result; where the gradebook takes all but this one, that is what comes of it."""
    timestamp, notes = _time(each.handed_in)
    result = replace(result, notes=(*result.notes, *notes))
    try:
        folder = course.submitted(each.student, each.lesson)
        recorder.record(result, each.digest, submitted=folder, timestamp=timestamp)
    except CourseError as error:
        recorder.graded(each.lesson)  # which says so where it is the gradebook that has to be mended
        return replace(result, checks=(), reason=f"It could not be recorded. {error}")
    return result


def _time(told: str) -> tuple[datetime | None, tuple[Note, ...]]:
    """When a submission was handed in, if that is known, and a note where it should be.

    The file is the student's, as the others are: nbgrader's own reading of it ends the run where it holds no time.
    """
    try:
        return (parse_utc(told) if told else None), ()
    except (ValueError, OverflowError):
        return None, (Note(NoteKind.FILE, NO_TIME),)


class _Runner:
    """How jobs are run: on this machine or on a cluster; nothing is waited for before there is a job."""

    def __init__(self, wanted: Wanted, say: Console, warm: GradingServer) -> None:
        self._wanted, self._say, self._warm = wanted, say, warm
        self._ready = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._warm.stop()

    def __call__(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, Result]]:
        """Run jobs, and yield each with its result."""
        first = next(jobs, None)
        if first is None:
            return iter(())
        jobs = itertools.chain([first], jobs)
        if self._wanted.scheduler:
            from autograder.grading.cluster import on_cluster

            return on_cluster(jobs, self._wanted.scheduler, unprotected=self._wanted.unprotected)
        self._warm_up()
        return self._here(jobs)

    def _here(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, Result]]:
        try:
            yield from in_parallel(jobs, lambda each: each.run(self._warm), self._wanted.jobs or os.cpu_count() or 1)
        except GradingServerError as error:
            raise CourseError(f"{error} {GO_ON}") from None

    def _warm_up(self) -> None:
        if self._ready:
            return
        try:
            self._warm.__enter__()
        except GradingServerError as error:
            raise CourseError(f"{error}\nGrading would not be safe here. See `autograder doctor`.") from None
        self._ready = True
        for each in self._warm.unenforced:
            self._say.print(f"[bold red]Not enforced here:[/] {escape(each)}")


def _progress(say: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, TextColumn("{task.fields[last]}"), console=say)


def _brief(result: Result) -> str:
    points = "not gradable" if result.reason else f"{result.score:g} of {result.max_score:g}"
    return escape(f"{_plain(result.student)}: {points}")


def _plain(text: str) -> str:
    """A text that does nothing to a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _summary(out: Console, done: Sequence[Result], kept: Sequence[Result], seconds: float) -> None:
    """A row for each submission that is worth a look, and the whole in one line."""
    strange = [each for each in done if each.reason or each.notes or each.unenforced]
    table = Table("student", "lesson", "points", "note", box=None, pad_edge=False)
    rows = done if len(done) <= SHOWN else strange[:SHOWN]
    for each in sorted(rows, key=lambda each: (each.lesson, each.student)):
        notes = each.reason or " ".join(map(str, each.notes))
        points = "–" if each.reason else f"{each.score:g} of {each.max_score:g}"
        table.add_row(escape(_plain(each.student)), each.lesson, points, escape(_plain(notes)))
    if rows:
        out.print(table)
    if len(done) > SHOWN and len(strange) > SHOWN:
        out.print(f"… and {len(strange) - SHOWN} more with a note; formgrader shows all.")
    line = f"✓ {len(done)} graded in {seconds:.0f} s{_failed(done)}"
    if kept:
        line += f"; {len(kept)} unchanged since they were graded (--force grades them anew){_failed(kept)}"
    out.print(line + ".")


def _failed(results: Sequence[Result]) -> str:
    count = sum(bool(each.reason) for each in results)
    return f", {count} of them could not be" if count else ""


def doctor(out: Console) -> int:
    """Say what holds on this machine; 0 when all does."""
    report = probe()
    for line in report.describe():
        out.print(escape(line), highlight=False, soft_wrap=True)
    if not report.unenforced:
        out.print("✓ Submissions can be graded safely here.")
        return 0
    out.print("✗ `autograder grade` refuses to run here. --unprotected grades all the same, and marks every result.")
    return 1
