"""`autograder grade`: what instructors run, and what they see while it runs."""

from __future__ import annotations

import itertools
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from autograder.course.config import CourseError
from autograder.course.dates import recorded_time
from autograder.course.hidden_seed import hidden_seed
from autograder.course.names import did_you_mean, printable
from autograder.course.paths import Course
from autograder.grading.gradebook.counting import HandIn, hand_in_of, hand_ins, is_chosen
from autograder.grading.gradebook.history import Recorded, Regrade
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.jobs import BrokenOff, Job, in_parallel, prepared, told
from autograder.grading.options import GradeOptions
from autograder.grading.pending import digests, read_hand_in
from autograder.grading.results import GradingServerError, Limits, Note, NoteKind, Result
from autograder.grading.sandbox.readable_paths import exposed
from autograder.grading.submission.lessons import NOT_THIS_LESSON, marks_of, with_name
from autograder.grading.submission.reader import cells_of
from autograder.grading.submission.requests import requests_in
from autograder.grading.summary import Summary
from autograder.grading.worker.client import GradingServer

NO_TIME = "When it was handed in is not known: its timestamp.txt holds no time."


def grade(
    root: Path, options: GradeOptions, out: Console, *, warm: GradingServer | None = None, limits: Limits | None = None
) -> int:
    """Grade what was handed in and is not graded yet; 0 when all could be, 1 when some could not.

    A `warm` process may be started already; it is not used where there is nothing to grade, or a scheduler. CourseError
    is raised where nothing can be graded, or no more; what was recorded before stays.
    """
    if options.jobs < 0:
        raise CourseError(f"{options.jobs} submissions at a time are too few. Give --jobs a number above 0.")
    course = Course.at(root)
    if readable := exposed(course.secrets()):
        raise CourseError(
            f"{readable[0]} lies where submissions may read, inside the Python installation. Move the course."
        )
    lessons = course.choose_lessons(options.lessons)
    if options.students != "*" and not any(course.students(lesson, options.students) for lesson in lessons):
        everybody = sorted({student for lesson in lessons for student in course.students(lesson)})
        who, hint = ", ".join(everybody) or "nobody", did_you_mean([options.students], everybody)
        raise CourseError(
            printable(f"Nobody whose name fits {options.students} has handed in {', '.join(lessons)}, but {who}.{hint}")
        )
    summary = Summary(dry_run=options.dry_run, empty=[lesson for lesson in lessons if not course.students(lesson)])
    begin = time.monotonic()
    console = Console(stderr=True) if options.as_json else out
    with ExitStack() as stack:
        warm = warm or GradingServer(unprotected=options.unprotected)
        stack.callback(warm.stop)
        recorder = stack.enter_context(Recorder(root))
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        progress = stack.enter_context(Progress(*columns, TextColumn("{task.fields[last]}"), console=console))
        run = _Run(course, options, limits or Limits(), _Runner(options, console, warm), recorder, progress, summary)
        for lesson in lessons:
            recorder.require_as_released(lesson)
        for lesson in lessons:
            run.grade_lesson(lesson)
    summary.seconds = time.monotonic() - begin
    summary.regraded, book = summary.regraded or recorder.regraded, read_gradebook(root)
    summary.strays = course.strays(book.students)
    if options.as_json:
        summary.print_json(out, book)
    else:
        summary.print(out, book)
    return summary.status


@dataclass(frozen=True)
class _Run:
    """One run of the command, with all that it needs for each lesson."""

    course: Course
    options: GradeOptions
    limits: Limits
    runner: _Runner
    recorder: Recorder
    progress: Progress
    summary: Summary

    def grade_lesson(self, lesson: str) -> None:
        """Grade and record the submissions of a lesson, of each student first what counts until now."""
        source = prepared(self.course.source(lesson), self.course.config)
        secret = hidden_seed(self.course.source(lesson).parent.parent)
        recorded, others = self.recorder.graded(lesson), self.recorder.others(lesson)
        kept = {
            student: self._kept(student, lesson, source, recorded.get(student))
            for student in self.course.students(lesson, self.options.students)
        }
        tried, fresh = defaultdict[str, dict[str, HandIn]](dict), set[tuple[str, str]]()
        task = self.progress.add_task(lesson, total=sum(len(one.folders) for one in kept.values()), last="")

        def jobs(turn: int) -> Iterator[Job]:
            for student, one in kept.items():
                for folder in one.folders[turn : turn + 1]:
                    job = read_hand_in(self.course, folder, student, lesson, source, self.limits)
                    known = None if self.options.force else self._known(job, recorded.get(student), others, one.ids)
                    if known:
                        tried[student][hand_in_of(job.digest)] = _hand_in(job, known)
                        self.summary.unchanged.append(known)
                        self.progress.advance(task)
                    else:
                        yield replace(job, hidden_seed=secret)

        for turn in range(max((len(one.folders) for one in kept.values()), default=0)):
            for job, result in self.runner(jobs(turn)):
                if result.reason == NOT_THIS_LESSON:
                    marks = marks_of(self.course.sources())
                    result = replace(result, reason=with_name(result.reason, lesson, cells_of(job.submitted), marks))
                if self.options.dry_run:
                    tried[job.student][hand_in_of(job.digest)] = _hand_in(job, replace(result, notebook=""))
                    fresh.add((job.student, job.digest))
                    self.summary.first += job.student not in recorded and (job.student, job.digest) not in others
                else:
                    one = kept[job.student]
                    result = self._record(job, result, one.folders[turn], one.ids)
                whole = self.options.as_json or self.options.dry_run  # of ten thousand submissions they are 70 MB
                checks = result.checks if whole else result.broken
                self.summary.graded.append(replace(result, notebook="", checks=checks))
                self.progress.update(task, advance=1, last=_brief(result))
        if self.options.dry_run:
            for student in tried.keys() & recorded.keys():
                ids = kept[student].ids
                new = self.recorder.counting([tried[student][one] for one in ids or tried[student]])
                if new.digest != recorded[student].digest or (student, new.digest) in fresh:
                    aside = [hand_in_of(digest) for who, digest in others if who == student]
                    self._compare(new, recorded[student], chosen=is_chosen(new.digest, ids, aside))
        else:
            self.summary.penalties += [(lesson, change) for change in self.recorder.recompute_penalties(lesson)]

    def _kept(self, student: str, lesson: str, source: bytes, recorded: Recorded | None) -> _Kept:
        """Find what is kept of a student's hand-ins; what counts until now comes first."""
        folders = hand_ins(self.course, student, lesson)
        if len(folders) == 1:
            return _Kept(folders)
        found = digests(self.course, student, lesson, source, self.limits)
        counts = hand_in_of(recorded.digest) if recorded else ""
        first = sorted(found, key=lambda digest: hand_in_of(digest) != counts)
        return _Kept([found[digest] for digest in first], tuple(map(hand_in_of, found)))

    def _known(
        self, job: Job, recorded: Recorded | None, others: Mapping[tuple[str, str], HandIn], ids: Sequence[str]
    ) -> Result | None:
        """Return what an earlier run found in this very submission, if it can stay: not where it broke off."""
        if recorded and recorded.result and recorded.digest == job.digest and not recorded.result.retryable:
            return recorded.result
        other = others.get((job.student, job.digest))
        if other is None or other.result.retryable or self.recorder.would_count(other, ids):
            return None
        return other.result

    def _compare(self, new: HandIn, recorded: Recorded, *, chosen: bool) -> None:
        """Keep what recording a result would change."""
        now, forced = datetime.now(UTC).replace(tzinfo=None), self.options.force
        self.summary.regraded.append(Regrade.of(new.result, new.digest, now, recorded, forced=forced, chosen=chosen))

    def _record(self, job: Job, result: Result, folder: Path, ids: Sequence[str]) -> Result:
        """Record a result; where the gradebook takes all but this one, that is what comes of it.

        Whatever one submission brings about, here or before, is its own result: no other is held up by it.
        """
        timestamp, notes = _time(job.handed_in)
        forced, is_last = self.options.force, folder == self.course.submitted(job.student, job.lesson)
        try:
            asked, unknown = requests_in(job.submitted, job.source) if is_last else (None, ())
            notes += tuple(Note(NoteKind.REQUEST, text) for text in unknown)
            result = replace(result, notes=(*result.notes, *notes))
            return self.recorder.record(
                result, job.digest, submitted=folder, timestamp=timestamp, forced=forced, hand_ins=ids, requests=asked
            )
        except Exception as error:
            self.recorder.graded(job.lesson)  # which says so where it is the gradebook that has to be mended
            why = str(error) if isinstance(error, CourseError) else f"({told(error)})"
            return replace(result, checks=(), reason=f"It could not be recorded. {why}")


class _Kept(NamedTuple):
    """What is kept of a student's hand-ins."""

    folders: Sequence[Path]  # in the order in which they are graded
    ids: Sequence[str] = ()  # what tells them apart, the oldest first; none where there is but one


def _time(text: str) -> tuple[datetime | None, tuple[Note, ...]]:
    """When a submission was handed in, if that is known, and a note where it should be.

    The file is the student's, as the others are: nbgrader's own reading of it ends the run where it holds no time.
    """
    try:
        return (recorded_time(text) if text else None), ()
    except ValueError:
        return None, (Note(NoteKind.FILE, NO_TIME),)


def _hand_in(job: Job, result: Result) -> HandIn:
    return HandIn(job.digest, _time(job.handed_in)[0], result)


class _Runner:
    """How jobs are run: on this machine or on a cluster; nothing is waited for before there is a job."""

    def __init__(self, options: GradeOptions, console: Console, warm: GradingServer) -> None:
        self._options, self._console, self._warm = options, console, warm
        self._is_warm = False

    def __call__(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, Result]]:
        """Run jobs, and yield each with its result."""
        first = next(jobs, None)
        if first is None:
            return
        jobs = itertools.chain([first], jobs)
        if self._options.scheduler:
            from autograder.grading.cluster import on_cluster

            run = on_cluster(jobs, self._options.scheduler, unprotected=self._options.unprotected)
        else:
            self._warm_up()
            run = in_parallel(jobs, lambda job: job.run(self._warm), self._options.jobs or os.cpu_count() or 1)
        try:
            yield from run
        except (BrokenOff, GradingServerError) as error:
            raise CourseError(f"{error} {self._options.after_a_stop}") from None

    def _warm_up(self) -> None:
        if self._is_warm:
            return
        try:
            self._warm.__enter__()
        except GradingServerError as error:
            raise CourseError(f"{error}\nGrading would not be safe here. See `autograder doctor`.") from None
        self._is_warm = True
        for line in self._warm.unenforced:
            self._console.print(f"[bold red]Not enforced here:[/] {escape(line)}")


def _brief(result: Result) -> str:
    points = "not gradable" if result.reason else f"{result.score:g} of {result.max_score:g}"
    return escape(f"{printable(result.student)}: {points}")
