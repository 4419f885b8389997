"""What the engine costs beside the cells that it runs: for each lesson, and for each kind of hand-in."""

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from measured.clock import Seconds, Took, fastest, timed, worked_by
from measured.course import cells_that_run
from measured.processes import ROOT, in_a_process, tree
from nbformat import NotebookNode

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import solved, submission
from autograder.grading.results import Limits, Result
from autograder.grading.worker.client import GradingServer

REPEATS = 15
ENGINE = """\
## What the engine costs

The solved notebook of each lesson on one core, the fastest of {repeats}: `GradingServer.grade` beside the same cells
executed in one plain process that is as warm. The difference is what reading, repairing, forking, the sandbox, the
bridge, the outputs and the result cost. Other programs used {others:.2f} cores meanwhile; the last column counts only
the time for which the engine's own processes worked.

| lesson | grading / cells | engine, s | grading, s | cells, s | engine, s of work |
|---|---:|---:|---:|---:|---:|"""
HAND_INS = """\
## What a hand-in costs

Three hand-ins of `{lesson}` on one core, one after the other, {repeats} times; the fastest of each counts. A blank one
is the notebook as it was released; in a half-done one the first half of the exercises is solved. Other programs used
{others:.2f} cores meanwhile.

| hand-in | this / solved | grading, s | s of work | points |
|---|---:|---:|---:|---:|"""


def engine() -> Iterator[str]:
    """What the engine adds to the cells of each lesson."""
    rows = []
    took = timed(lambda: rows.extend(in_a_process("engine", "lessons")))
    yield ENGINE.format(repeats=REPEATS, others=took.others)
    for lesson, *both in rows:
        graded, alone = (Seconds(*each) for each in both)
        shown = graded.wall - alone.wall, graded.wall, alone.wall, graded.cpu - alone.cpu
        yield f"| {lesson} | {graded.wall / alone.wall:.1f} | {' | '.join(f'{each:.2f}' for each in shown)} |"


def hand_ins(lesson: str) -> Iterator[str]:
    """What a blank and a half-done hand-in cost beside a solved one."""
    rows = {}
    took = timed(lambda: rows.update(in_a_process("engine", "hand-ins", lesson)))
    yield HAND_INS.format(lesson=lesson, repeats=REPEATS, others=took.others)
    for kind, (wall, cpu, points) in rows.items():
        yield f"| {kind} | {wall / rows['solved'][0]:.2f} | {wall:.2f} | {cpu:.2f} | {points:g} |"


# In a process of its own, which has warmed up


class Grader:
    """The engine, which grades on this core, and the seconds that it takes."""

    def __init__(self, warm: GradingServer) -> None:
        self._warm = warm
        (self._process,) = tree(os.getpid())[1:]

    def grade(self, lesson: str, source: bytes, notebook: NotebookNode) -> tuple[Result, Seconds]:
        """Grade a hand-in."""
        submitted = json.dumps(notebook).encode()
        begin, worked = time.perf_counter(), worked_by(self._process) + time.process_time()
        result = self._warm.grade("student", lesson, source, submitted, Limits())
        wall = time.perf_counter() - begin
        time.sleep(0.1)  # until what was forked has ended and is counted
        return result, Seconds(wall, worked_by(self._process) + time.process_time() - worked)


def each_lesson(grader: Grader) -> Iterator[tuple[str, Seconds, Seconds]]:
    """For each lesson the least time to grade its solved notebook, and to run its cells alone."""
    from autograder.grading.jobs import prepared

    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        source, lesson = prepared(path), path.stem
        notebook = submitted_notebooks(path)["solved"]
        graded, alone = [], []
        for _ in range(REPEATS + 1):
            result, took = grader.grade(lesson, source, notebook)
            graded.append(took)
            if result.score != result.max_score:
                sys.exit(f"✗ The solutions of {lesson} get {result.score:g} of {result.max_score:g}.")
            ran = NotebookNode(cells=[NotebookNode(cell) for cell in json.loads(result.notebook)["cells"]])
            alone.append(executed(cells_that_run(read_notebook(path), ran)))
        yield lesson, fastest(graded[1:]), fastest(alone[1:])


def each_hand_in(grader: Grader, path: Path) -> dict[str, tuple[float, float, float]]:
    """The least seconds on the clock and of work for each kind of hand-in of a lesson, and its points."""
    from autograder.grading.jobs import prepared

    source, taken, points = prepared(path), {}, {}
    for _ in range(REPEATS + 1):
        for kind, notebook in submitted_notebooks(path).items():
            result, took = grader.grade(path.stem, source, notebook)
            taken.setdefault(kind, []).append(took)
            points[kind] = result.score
    if not points["blank"] == 0 < points["half done"] < points["solved"]:
        sys.exit(f"✗ The hand-ins of {path.stem} have other points than they should: {points}.")
    return {kind: (*fastest(each[1:]), points[kind]) for kind, each in taken.items()}


def submitted_notebooks(path: Path) -> Mapping[str, NotebookNode]:
    """What may be handed in of the lesson whose source this is."""
    released = read_notebook(ROOT / "notebooks" / path.parent.name / path.name)
    exercises = Lesson(path.stem, read_notebook(path)).exercises
    answered = {"solved": exercises, "half done": exercises[: len(exercises) // 2], "blank": []}
    return {kind: submission(released, solved(some)) for kind, some in answered.items()}


def executed(cells: Sequence[str]) -> Seconds:
    """What cells take in a fork of this process, one after the other, whatever they raise."""
    read, write = os.pipe()
    if os.fork() == 0:
        run_cells(cells, write)
    os.close(write)
    with open(read, encoding="ascii") as told:
        seconds = Seconds(*json.load(told))
    os.wait()
    return seconds


def run_cells(cells: Sequence[str], write: int = -1) -> None:
    """Execute cells as plain Python, and end this process."""
    import matplotlib.pyplot as plt
    from support.classroom import run

    plt.switch_backend("agg")
    scope: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        begin = time.perf_counter(), time.process_time()
        for place, source in enumerate(cells):
            with contextlib.suppress(Exception):
                run(source, str(place), scope)
        seconds = time.perf_counter() - begin[0], time.process_time() - begin[1]
    if write >= 0:
        os.write(write, json.dumps(seconds).encode())
    os._exit(0)


def floor(notebooks: Sequence[Sequence[str]], jobs: int = 2) -> Took:
    """What the bare cells of notebooks take, each in a fork of this warm process, so many at a time."""

    def work() -> None:
        for place, cells in enumerate(notebooks):
            if place >= jobs:
                os.wait()
            if os.fork() == 0:
                run_cells(cells)
        for _ in notebooks[:jobs]:
            os.wait()

    return timed(work)


def main(what: str, argument: str = "") -> object:
    """Warm up, measure one thing, and return it."""
    import support.classroom  # noqa: F401 (imported here once, and not in each fork)

    from autograder.grading.worker import postponed
    from autograder.grading.worker.server import warm_up

    if what != "floor":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warm_up()
    postponed.load(postponed.SLOW)  # as the server has after the first submission that needs it
    if what == "floor":
        return astuple(floor(json.loads(Path(argument).read_text(encoding="utf-8"))))
    with GradingServer() as warm:
        if what == "lessons":
            return list(each_lesson(Grader(warm)))
        return each_hand_in(Grader(warm), ROOT / "solutions" / argument / f"{argument}.ipynb")


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
