"""What runs in a Gradescope container: grade the one submission there, and write `results.json`, whatever happens.

Gradescope starts a container for each submission. Where the engine's sandbox holds in it, the submission runs in that.
Where a part of it does not, as when the container may make no namespaces, the container has to do for that part, and
what the engine can still do is done: root grades as an ordinary user who can read neither the lesson nor the results.
What was not enforced stands in what the run prints, which only instructors see, and in `extra_data`.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from autograder import files
from autograder.course.config import CourseError
from autograder.course.hidden_seed import hidden_seed
from autograder.export.gradescope.results import of_result, page, to_bytes
from autograder.grading.jobs import Job, prepared, read_job
from autograder.grading.results import GradingServerError, Limits, Result
from autograder.grading.sandbox.probe import probe
from autograder.grading.worker.client import GradingServer
from autograder.grading.worker.messages import SECONDS_TO_SPARE

# Gradescope ends a container after ten minutes unless told otherwise; results have to be written before.
LIMITS = Limits(submission_seconds=400.0)
NOBODY = 65534
SORRY = (
    "Your submission was not graded: the grader itself failed. This says nothing about your work; tell your instructor."
)


def main(arguments: Sequence[str]) -> int:
    """Grade what is in the folder that is named, or the job on standard input, and never fail."""
    if arguments[0] == "--job":
        return _as_child()
    home = Path(arguments[0])
    try:
        results = grade(home)
    except (CourseError, GradingServerError, OSError) as error:
        print(f"Not graded: {error}", flush=True)
        results = page(f"{SORRY}\n\n{error}", 0.0)
    except Exception as error:
        traceback.print_exc()
        results = page(f"{SORRY}\n\n{type(error).__name__}", 0.0)
    (home / "results").mkdir(parents=True, exist_ok=True)
    files.write(home / "results" / "results.json", to_bytes(results))
    return 0


def grade(home: Path, limits: Limits = LIMITS) -> dict[str, Any]:
    """Grade the submission of a container.

    Args:
        home: `source/lesson/` in it holds the lesson, `submission/` what the student handed in.

    Raises:
        CourseError: the autograder has no lesson.
        GradingServerError: grading does not start here.
    """
    lessons = sorted((home / "source" / "lesson").glob("*.ipynb"))
    if len(lessons) != 1:
        raise CourseError(f"The autograder holds {len(lessons)} lessons instead of one. Make its zip file anew.")
    lesson = lessons[0].stem
    submission = read_job(_folder((home / "submission").resolve()), "submission", lesson, prepared(lessons[0]), limits)
    submission = replace(submission, hidden_seed=hidden_seed(lessons[0].parent))
    if submission.reason:
        return of_result(submission.run(GradingServer()))
    unenforced = probe().unenforced
    for line in unenforced:
        print(f"Not enforced here: {line}", flush=True)
    print("The container has to do for that." if unenforced else "The sandbox holds here.", flush=True)
    if unenforced and os.geteuid() == 0:
        try:
            return of_result(_as_nobody(submission, home))
        except PermissionError as error:
            print(f"It runs as root: no other user can start Python ({error}).", flush=True)
    with GradingServer(unprotected=bool(unenforced)) as warm:
        return of_result(submission.run(warm))


def _folder(submission: Path) -> Path:
    """Return where the notebooks are: in a folder of a zip file that was handed in, perhaps."""
    if any(submission.glob("*.ipynb")):
        return submission
    folders = {
        path.parent
        for path in submission.rglob("*.ipynb")
        if not any(part.startswith((".", "__")) for part in path.relative_to(submission).parts)
    }
    return folders.pop() if len(folders) == 1 else submission


def _as_nobody(submission: Job, home: Path) -> Result:
    """Grade as a user without rights, who gets the job through a pipe and finds no files of ours."""
    for name in ("source", "submission", "results"):
        (home / name).chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-I", "-m", "autograder.export.gradescope.run", "--job"],
        input=json.dumps(msgspec.to_builtins(submission)).encode(),
        stdout=subprocess.PIPE,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": "/nonexistent"},
        timeout=submission.limits.submission_seconds + 2 * SECONDS_TO_SPARE,
        check=False,
    )
    try:
        return Result.from_json(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        raise GradingServerError("Grading ended without a result; memory may have run out.") from None


def _as_child() -> int:
    submission = msgspec.convert(json.load(sys.stdin), Job)
    with GradingServer(unprotected=True) as warm:
        result = submission.run(warm)
    print(json.dumps(result.to_json() | {"notebook": ""}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
