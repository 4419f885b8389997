"""Many submissions in one run: whether time and memory stay as they are, and what recording takes."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

from measured.clock import Took, machine, quiet, timed
from measured.course import CLASS, Course
from measured.processes import memory, peak

TIMED_GRADE = Path(__file__).with_name("timed_grade.py")
MANY = """\
## Many submissions

`python benchmarks/grading.py {lesson} --many {count}`: {count:,} submissions in one run with two workers, copies of the
first twelve of the class, in {seconds:,.0f} s. {machine}.
The load was {load:.2f} at the start, and others used {others:.2f} cores meanwhile. The last {step:,} took
**{time:.2f} times** as long as the second, and **{memory:.2f} times** the memory.

Recording is what one process does for all: a transaction in the gradebook, and the graded notebook in `autograded/`.
It took {clock:.0f} ms a submission, {work:.0f} ms of work, the last {step:,} **{recording:.2f} times** the work of the
second. The gradebook has {database:.1f} kB a submission, and `autograded/` {graded:.0f} kB.

| submissions | s | s a submission | recording, ms of work | peak, MB |
|---|---:|---:|---:|---:|"""


@dataclass(frozen=True)
class Run:
    """One run over many submissions."""

    lesson: str
    begin: float  # when it began, as `time.time` says
    load: float
    took: Took
    # for each result when it was recorded, and the seconds on the clock and of work that this took
    recorded: Sequence[tuple[float, float, float]]
    samples: Sequence[tuple[float, float]]  # time and MB of all its processes
    database: int  # bytes that the gradebook has grown by
    graded: int  # bytes in autograded/


def many(course: Course, count: int) -> Iterator[str]:
    """Each tenth of many submissions, or each hundred where they are fewer than a thousand."""
    step = max(100, count // 10)
    print(f"{count} students hand in", file=sys.stderr, flush=True)
    folder, load = course.copy(course.several(count, len(CLASS))), quiet()
    gradebook, times = folder / "gradebook.db", folder / "times.json"
    line = [sys.executable, str(TIMED_GRADE), str(times), str(step), course.lesson, "--jobs", "2"]
    begin, empty, samples = time.time(), gradebook.stat().st_size, []
    took = timed(lambda: samples.extend(memory(line, folder, every=0.5, stderr=None)))
    recorded = json.loads(times.read_text(encoding="utf-8"))
    if len(recorded) != count:
        sys.exit(f"✗ {len(recorded)} of {count} are recorded.")
    database, graded = gradebook.stat().st_size - empty, size_of(folder / "autograded")
    yield from told(Run(course.lesson, begin, load, took, recorded, samples, database, graded), step)


def told(run: Run, step: int) -> Iterator[str]:
    """What the page says about a run, in parts of so many submissions."""
    count = len(run.recorded)
    parts = [run.recorded[start : start + step] for start in range(0, count, step)]
    end = run.begin + run.took.seconds
    bounds = list(pairwise([run.begin, *(part[-1][0] for part in parts), end]))
    seconds = [(last - first) / len(part) for (first, last), part in zip(bounds, parts, strict=False)]
    work = [1000 * mean(cpu for _, _, cpu in part) for part in parts]
    sizes = [peak([sample for sample in run.samples if first <= sample[0] <= last]) for first, last in bounds]
    yield MANY.format(
        lesson=run.lesson,
        count=count,
        seconds=run.took.seconds,
        machine=machine(),
        load=run.load,
        others=run.took.others,
        step=step,
        time=seconds[-1] / seconds[1],
        memory=sizes[-2] / sizes[1],
        clock=1000 * mean(wall for _, wall, _ in run.recorded),
        work=1000 * mean(cpu for _, _, cpu in run.recorded),
        recording=work[-1] / work[1],
        database=run.database / count / 1000,
        graded=run.graded / count / 1000,
    )
    for place, part in enumerate(parts):
        name = f"{place * step + 1:,} to {place * step + len(part):,}" + ("" if place else ", with start-up")
        total = seconds[place] * len(part)
        yield f"| {name} | {total:,.1f} | {seconds[place]:.3f} | {work[place]:.1f} | {sizes[place]:.0f} |"
    yield f"| the end: penalties and the table | {end - bounds[-1][0]:.1f} | | | {sizes[-1]:.0f} |"


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
