"""Grade many submissions at once: which there are, which have changed, and a result for each as it comes."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

from traitlets.config import Config

from autograder.course.config import CourseError
from autograder.course.plain import names_of
from autograder.course.versions.released import read_source
from autograder.grading.results import GradingServerError, Limits, Note, NoteKind, Result
from autograder.grading.submission.other_files import read_other_files
from autograder.grading.submission.reader import NotGradable, read_in
from autograder.grading.worker.client import GradingServer

VERSION = "5"  # of what grading comes to: another one grades all submissions anew


class BrokenOff(CourseError):
    """Grading ended before all was graded; what was graded until then holds."""


@dataclass(frozen=True)
class Job:
    """One submission to grade, as bytes: all that `GradingServer.grade` needs."""

    student: str
    lesson: str
    source: bytes
    submitted: bytes
    limits: Limits
    reason: str = ""  # why it cannot be graded, found while it was read; "" as a rule
    notes: tuple[Note, ...] = ()  # what was odd about the file
    handed_in: str = ""  # when, as its timestamp.txt says; a penalty for being late may depend on it
    other_files: bytes = b""  # what was handed in beside the notebook, as `read_other_files` packs it
    hidden_seed: bytes = b""  # the course's secret, which draws the cases of hidden tests

    @property
    def digest(self) -> str:
        """What the result depends on: the engine, the lesson and the submission, in the parts of a `history`.

        Other cases of the same rules (`hidden_seed`) are no reason to grade again.
        """
        engine, lesson = _digest(VERSION, repr(self.limits)), _digest(self.source)
        return f"{engine}-{lesson}-{_digest(self.submitted, self.reason, self.handed_in, self.other_files)}"

    def run(self, warm: GradingServer) -> Result:
        """Grade it."""
        if self.reason:
            return Result(self.student, self.lesson, reason=self.reason, notes=self.notes)
        try:
            hand_in = self.student, self.lesson, self.source, self.submitted
            result = warm.grade(*hand_in, self.limits, self.other_files, self.hidden_seed)
        except GradingServerError:
            raise
        except Exception as error:
            result = Result("", "", reason=f"It could not be graded ({told(error)}).")
        return replace(result, student=self.student, lesson=self.lesson, notes=self.notes + result.notes)


def _digest(*parts: str | bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part.encode("utf-8", "replace") if isinstance(part, str) else part).digest())
    return whole.hexdigest()


def prepared(path: Path, config: Config | None = None) -> bytes:
    """A lesson of solutions/ as the judge wants it: valid, without its stored outputs; CourseError for no notebook.

    Without the course's configuration there are no written answers.
    """
    notebook = read_source(path, config or Config())
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return json.dumps(notebook).encode()


def read_job(folder: Path, student: str, lesson: str, source: bytes, limits: Limits, handed_in: str = "") -> Job:
    """Read what a student handed in; what cannot be read is a job as well, with the reason."""
    try:
        path, submitted, notes = read_in(folder, lesson, names_of(source))
        other_files, left_out = read_other_files(path, limits.file_bytes // 2)
        odd = tuple(Note(NoteKind.FILE, text) for text in (*notes, *left_out))
        return Job(student, lesson, source, submitted, limits, notes=odd, handed_in=handed_in, other_files=other_files)
    except NotGradable as error:
        reason = str(error)
    except Exception as error:
        reason = f"It cannot be read ({told(error)}). Hand it in again."
    return Job(student, lesson, source, b"", limits, reason=reason, handed_in=handed_in)


def told(error: Exception) -> str:
    """An error that nobody foresaw, in a few words."""
    return shorten(f"{type(error).__name__}: {error}", 200, placeholder=" …")


def in_parallel(jobs: Iterable[Job], run: Callable[[Job], Result], workers: int) -> Iterator[tuple[Job, Result]]:
    """Run jobs, so many at a time, and yield each with its result as soon as it is there.

    Whoever stops before the end waits for no job; those that run then end with the warm process.
    """
    waiting: dict[Future[Result], Job] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        for job in jobs:
            waiting[pool.submit(run, job)] = job
            if len(waiting) > workers:
                yield from _done(waiting)
        while waiting:
            yield from _done(waiting)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _done(waiting: dict[Future[Result], Job]) -> Iterator[tuple[Job, Result]]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        yield waiting.pop(future), future.result()
