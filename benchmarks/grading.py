"""How fast is `autograder grade`, how near to what it could be, and what memory does it need? Writes grading.md.

    python benchmarks/grading.py [LESSON] [--submissions N]   # a quarter of an hour, once the machine is quiet
    python benchmarks/grading.py --many 1000                  # only the last section of the page, which others keep

A class hands in one lesson, and stock nbgrader and ours grade it, each in a fresh copy of the same course, one after
the other. That their points differ is an error. Linux only: memory is read from /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import json
import os
import platform
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.api import Gradebook

from autograder.course.config import CONFIG, read_notebook
from autograder.course.lesson import Lesson, cell_id
from autograder.demo.sample_class import hand_in, make_course, released_notebook
from autograder.demo.students import NOTES, TYPICAL, answer, solved, submission

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "benchmarks" / "grading.md"
LESSON = "02_multi_head_attention"  # the median of the seven in checks.md
MANY = "\n## Many submissions\n"
CLASS = ("solved", "wrong", "half done", "wrong", "right", "untouched")
CLASS += ("typical", "wrong", "messy", "wrong", "half done", "wrong")
TIMES = 4  # as many submissions, to tell what one more costs
REPEATS = 15
QUIET, PATIENCE = 1.0, 900  # the load to wait for, and for how many seconds
STOCK = """\
c = get_config()
c.CourseDirectory.course_id = "transformer"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
"""
PLAIN = "\nc.pop('Autograde')\n"  # back to nbgrader's own preprocessors
HEAD = """\
# Grading: ours beside stock nbgrader, as ratios

Made by `python benchmarks/grading.py`; do not edit.

{count} submissions of `{lesson}`, whose checks take as long as those of the median lesson: of every twelve two
are solved, two half done, one is untouched, one holds the typical mistakes of the demo class, one is right but messy,
one holds a right answer and five hold one to three wrong answers from `tests/answers/`.
Each command grades all of them in a fresh copy of one course, by itself, and its whole wall time counts, start-up and
imports included. Stock is `nbgrader autograde`, one process, as it comes; its configuration names folders and nothing
else. Ours is `autograder grade --jobs 2`. **All {points} points, check by check, are the same in all of them.**

{machine}.
The load was {load:.2f} at the start. *Others* is how many of the cores other programs used meanwhile; *work* is
the time for which cores worked for this command, which depends less on others.

| | stock / this | s | s a submission | s of work a submission | others |
|---|---:|---:|---:|---:|---:|
"""
BARE = """
The floor forks a warm process and executes the same cells in it, answers and checks, two at a time, with no sandbox,
no bridge, no IPython and nothing recorded. Ours, by what a further submission costs, takes **{ratio:.1f} times** that,
and {work:.1f} times the work. Both leave out the given cells that neither an answer nor a check can see; stock runs
them.

## Memory

The peak of all processes together, as the sum of their proportional set sizes, read every 50 ms in runs of their own.

| | this / stock | peak, MB | a further worker, MB |
|---|---:|---:|---:|
"""
ENGINE = """
## What the engine costs

The solved notebook of each lesson on one core, the fastest of {repeats}: `GradingServer.grade` beside the same cells
executed in one plain process that is as warm. The difference is what reading, repairing, forking, the sandbox, the
bridge, the outputs and the result cost. Other programs used {others:.2f} cores meanwhile; the last column counts only
the time for which the engine's own processes worked.

| lesson | grading / cells | engine, s | grading, s | cells, s | engine, s of work |
|---|---:|---:|---:|---:|---:|
"""
EACH_HUNDRED = """
`python benchmarks/grading.py --many {count}`: {count} submissions of `{lesson}` in one run with two workers, copies of
the first twelve of the class, in {seconds:.0f} s. {machine}.
The load was {load:.2f} at the start, and others used {others:.2f} cores meanwhile. The last hundred took
**{time:.2f} times** as long as the second, and **{memory:.2f} times** the memory.

| submissions | s | peak, MB |
|---|---:|---:|
"""


# A class


def hand_ins(lesson: Lesson, released: NotebookNode, count: int) -> dict[str, NotebookNode]:
    """What each student hands in; the same every time."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
    from answers import RIGHT, WRONG
    from matrix import source

    chance, right = random.Random(0), solved(lesson.exercises)

    def from_table(table: Sequence, most: int) -> dict[str, str]:
        found = {each.exercise: source(lesson.name, each) for each in chance.sample(list(table), most)}
        return right | {exercise: answer(text) for exercise, text in found.items()}

    def work(kind: str) -> NotebookNode:
        if kind == "untouched":
            return submission(released, {})
        if kind == "half done":
            return submission(released, solved(lesson.exercises[: chance.randrange(1, len(lesson.exercises))]))
        if kind == "typical":
            slips = {e.name: answer(e.answer.source, TYPICAL[e.name]) for e in lesson.exercises if e.name in TYPICAL}
            return submission(released, right | slips)
        if kind in ("right", "wrong"):
            rows, most = (
                (RIGHT[lesson.name], 1) if kind == "right" else (_aimed(WRONG[lesson.name]), chance.randint(1, 3))
            )
            return submission(released, from_table(rows, most))
        return submission(released, right) if kind == "solved" else messy(submission(released, right))

    return {f"student-{place:03}": work(CLASS[place % len(CLASS)]) for place in range(count)}


def _aimed(wrong: Sequence) -> list:
    """The mistakes that one check is aimed at: those that learners make."""
    return [row for row in wrong if row.check is not None]


def messy(notebook: NotebookNode) -> NotebookNode:
    """The answers among notes, prints, pictures, errors and old outputs; nothing that stock nbgrader cannot grade."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\nprint({cell_id(cell)})"
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = 7, [new_output("stream", text="old\n")]
    notebook.cells[2:2] = [new_code_cell(note, id=f"note-{place}") for place, note in enumerate(NOTES)]
    return notebook


class Course:
    """One course with a class, of which every run gets a copy."""

    def __init__(self, folder: Path, lesson: str, count: int) -> None:
        self._folder, self._copies, self.lesson = folder, 0, lesson
        self.made = make_course(ROOT, folder / "course", [lesson])[lesson]
        self.released = released_notebook(folder / "course", lesson)
        self.students = hand_ins(self.made, self.released, count)

    def copy(self, students: Mapping[str, NotebookNode] | None = None, config: str = "") -> Path:
        """A fresh copy, in which all of the class or others have handed in."""
        self._copies += 1
        folder = self._folder / f"copy-{self._copies}"
        shutil.copytree(self._folder / "course", folder)
        for student, notebook in (self.students if students is None else students).items():
            hand_in(folder, student, self.lesson, notebook)
        if config:
            (folder / CONFIG).write_text(config, encoding="utf-8")
        return folder

    def several(self, count: int, of: int) -> dict[str, NotebookNode]:
        """So many students, who copied from the first `of` of the class."""
        notebooks = list(self.students.values())[:of]
        return {f"student-{place:05}": notebooks[place % of] for place in range(count)}

    def stock(self) -> list[str]:
        """The command of stock nbgrader."""
        return [sys.executable, "-m", "nbgrader", "autograde", self.lesson]

    def ours(self, jobs: int = 2) -> list[str]:
        """Our command."""
        return [sys.executable, "-m", "autograder.cli", "grade", self.lesson, "--jobs", str(jobs)]

    def points(self, folder: Path) -> dict[tuple[str, str], float]:
        """(student, check) → points in the gradebook, of those who have a notebook in autograded/."""
        with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "transformer") as gradebook:
            return {
                (each.student_id, grade.name): grade.score
                for each in gradebook.assignment_submissions(self.lesson)
                if (folder / "autograded" / each.student_id / self.lesson / f"{self.lesson}.ipynb").is_file()
                for notebook in each.notebooks
                for grade in notebook.grades
            }

    def graded_cells(self, folder: Path) -> list[list[str]]:
        """For each student the code that ours ran, from the notebooks in autograded/."""
        source = read_notebook(folder / "solutions" / self.lesson / f"{self.lesson}.ipynb")
        graded = sorted((folder / "autograded").glob("*/*/*.ipynb"))
        return [cells_that_run(source, read_notebook(path)) for path in graded]


def cells_that_run(source: NotebookNode, graded: NotebookNode) -> list[str]:
    """The code of a graded notebook, without the given cells that the judge leaves out."""
    from autograder.grading.submission.dependencies import unneeded

    given = {cell_id(cell) for cell in source.cells if not cell.metadata.get("nbgrader", {}).get("grade")}
    given -= {cell_id(cell) for cell in source.cells if cell.metadata.get("nbgrader", {}).get("solution")}
    cells = [cell for cell in graded.cells if cell.cell_type == "code"]
    idle = unneeded([(cell.source, cell_id(cell) in given) for cell in cells])
    return [cell.source for place, cell in enumerate(cells) if place not in idle]


def require_same(ours: Mapping[tuple[str, str], float], stock: Mapping[tuple[str, str], float]) -> None:
    """End with the differences, if there are any."""
    different = [key for key in sorted(ours.keys() | stock.keys()) if ours.get(key) != stock.get(key)]
    if different:
        lines = [f"{'  '.join(key)}: ours {ours.get(key)}, stock {stock.get(key)}" for key in different]
        sys.exit("\n".join([f"✗ {len(different)} checks are graded otherwise:", *lines]))


# Time


@dataclass(frozen=True)
class Took:
    """What a command took.

    Attributes:
        cpu: seconds for which its processes worked, which other programs disturb little.
        others: how many cores other programs used meanwhile.
    """

    seconds: float
    cpu: float
    others: float


class Seconds(NamedTuple):
    """Seconds on the clock, and those of work."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Took:
    """Measure something that starts processes and waits for them."""
    begin, all_before, ours_before = time.perf_counter(), busy(), spent()
    work()
    seconds, cpu = time.perf_counter() - begin, spent() - ours_before
    return Took(seconds, cpu, max(0.0, (busy() - all_before - cpu) / seconds))


def busy() -> float:
    """Seconds for which the cores of this machine have worked."""
    user, nice, system, _idle, _wait, *interrupts = map(int, Path("/proc/stat").read_text().split(maxsplit=8)[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Seconds of this process and of the ended ones that it started."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def environment() -> dict[str, str]:
    """With the scripts of this Python in PATH, as in an activated environment."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def command(line: Sequence[str], folder: Path) -> None:
    """Run a command in a course."""
    done = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"✗ `{' '.join(line)}` ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def in_a_process(*arguments: str) -> object:
    """What this file prints, as JSON, when it is called like this."""
    from autograder.grading.worker.client import THREADS

    line = [sys.executable, __file__, *arguments]
    settings = os.environ | THREADS | {"NBGRADER_EXECUTION": "autograde", "MPLBACKEND": "agg"}
    return json.loads(subprocess.run(line, env=settings, check=True, stdout=subprocess.PIPE).stdout)


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


def engine() -> Iterator[tuple[str, Seconds, Seconds]]:
    """For each lesson the least time to grade its solved notebook, and to run its cells alone, on one core."""
    from autograder.grading.jobs import prepared
    from autograder.grading.results import Limits
    from autograder.grading.worker.client import GradingServer

    with GradingServer() as warm:
        (process,) = tree(os.getpid())[1:]
        for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
            lesson, released = path.stem, read_notebook(ROOT / "notebooks" / path.parent.name / path.name)
            exercises = Lesson(lesson, read_notebook(path)).exercises
            source, submitted = prepared(path), json.dumps(submission(released, solved(exercises))).encode()
            graded, alone = [], []
            for _ in range(REPEATS + 1):
                begin, worked = time.perf_counter(), worked_by(process) + time.process_time()
                result = warm.grade("student", lesson, source, submitted, Limits())
                wall = time.perf_counter() - begin
                time.sleep(0.1)  # until what was forked has ended and is counted
                graded.append(Seconds(wall, worked_by(process) + time.process_time() - worked))
                if result.score != result.max_score:
                    sys.exit(f"✗ The solutions of {lesson} get {result.score:g} of {result.max_score:g}.")
                notebook = NotebookNode(cells=[NotebookNode(cell) for cell in json.loads(result.notebook)["cells"]])
                alone.append(executed(cells_that_run(read_notebook(path), notebook)))
            yield lesson, fastest(graded[1:]), fastest(alone[1:])


def worked_by(process: int) -> float:
    """Seconds for which a process and the ended ones that it forked have worked."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def fastest(taken: Sequence[Seconds]) -> Seconds:
    """The least of each kind of seconds: what other programs take away only ever adds."""
    return Seconds(*map(min, zip(*taken, strict=True)))


# Memory


def memory(line: Sequence[str], folder: Path, every: float = 0.05) -> list[tuple[float, float]]:
    """Time and MB of a command with all that it starts, until it ends."""
    samples = []
    with subprocess.Popen(
        line, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            samples.append((time.time(), sum(map(proportional_set, tree(process.pid)))))
            time.sleep(every)
    if process.returncode:
        sys.exit(f"✗ `{' '.join(line)}` ended with {process.returncode}.")
    return samples


def tree(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def proportional_set(pid: int) -> float:
    """MB of a process, what it shares with others divided among them; 0 when it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def peak(samples: Sequence[tuple[float, float]]) -> float:
    """The most MB."""
    return max(size for _, size in samples)


# The page


def machine() -> str:
    """What this was measured on."""
    model = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    names = ("nbgrader", "ipykernel", "torch")
    versions = ", ".join(f"{name} {importlib.metadata.version(name).split('+')[0]}" for name in names)
    where = f"{os.cpu_count()} cores ({model.partition(': ')[2]}), Linux {platform.release().split('-')[0]}"
    return f"{where}, Python {platform.python_version()}, {versions}"


def quiet() -> float:
    """Wait until the machine has little else to do, but not for ever; return its load."""
    until = time.monotonic() + PATIENCE
    while os.getloadavg()[0] >= QUIET and time.monotonic() < until:
        time.sleep(5)
    return os.getloadavg()[0]


def compare(course: Course) -> Iterator[str]:
    """The lines of the first section: time."""
    count, load = len(course.students), quiet()
    ours = course.copy()
    configured = (ours / CONFIG).read_text(encoding="utf-8") + PLAIN
    folders = {"stock": course.copy(config=STOCK), "configured": course.copy(config=configured)}
    folders |= {"door": course.copy(), "ours": ours}
    folders["more"] = course.copy(course.several(TIMES * count, count))
    took, points = {}, {}
    for name, folder in folders.items():
        line = course.ours() if name in ("ours", "more") else course.stock()
        took[name] = timed(lambda line=line, folder=folder: command(line, folder))
        points[name] = course.points(folder)
        print(f"{name}: {took[name].seconds:.1f} s, others {took[name].others:.2f}", flush=True)
    everyone = {student for student, _ in points["ours"]}
    if everyone != set(course.students) or len(points["more"]) != TIMES * len(points["ours"]):
        sys.exit(f"✗ Ours graded {len(everyone)} of {count} students.")
    require_same(points["ours"], points["stock"])
    require_same(points["ours"], points["configured"])
    require_same(points["ours"], points["door"])

    cells = folders["ours"].parent / "cells.json"
    cells.write_text(json.dumps(course.graded_cells(folders["ours"])), encoding="utf-8")
    bare = Took(*in_a_process("--floor", str(cells)))
    extra = (TIMES - 1) * count
    further = (took["more"].seconds - took["ours"].seconds) / extra
    work = (took["more"].cpu - took["ours"].cpu) / extra
    stock, more = took["stock"], f"{TIMES * count} submissions"
    rows = {
        "stock": (stock, count),
        "stock, with the settings of this course": (took["configured"], count),
        "`nbgrader autograde` in this course, which calls our engine": (took["door"], count),
        "**ours**": (took["ours"], count),
        f"ours, {more}": (took["more"], TIMES * count),
        "the floor, see below": (bare, count),
    }
    graded = f"{sum(points['ours'].values()):g}"
    yield HEAD.format(lesson=course.lesson, count=count, points=graded, machine=machine(), load=load).rstrip("\n")
    for name, (each, number) in rows.items():
        ratio = stock.seconds / count / (each.seconds / number)
        shown = f"**{ratio:.1f}**" if name == "**ours**" else f"{ratio:.1f}"
        times = f"{each.seconds:.1f} | {each.seconds / number:.2f} | {each.cpu / number:.2f} | {each.others:.2f}"
        yield f"| {name} | {shown} | {times} |"
    yield f"| ours, a further submission | {stock.seconds / count / further:.1f} | | {further:.2f} | {work:.2f} | |"
    yield BARE.format(ratio=further / (bare.seconds / count), work=work / (bare.cpu / count)).rstrip("\n")


def remember(course: Course) -> Iterator[str]:
    """The lines of the second section: memory."""
    few = dict(list(course.students.items())[:6])
    stock = peak(memory(course.stock(), course.copy(few, STOCK)))
    peaks = {jobs: peak(memory(course.ours(jobs), course.copy())) for jobs in (1, 2, 3)}
    yield f"| stock, {len(few)} submissions | 1.0 | {stock:.0f} | |"
    for jobs, size in peaks.items():
        more = f"{size - peaks[jobs - 1]:.0f}" if jobs > 1 else ""
        yield f"| ours, {jobs} worker{'s' * (jobs > 1)} | {size / stock:.1f} | {size:.0f} | {more} |"


def cost() -> Iterator[str]:
    """The lines of the third section: what the engine adds."""
    rows = []
    took = timed(lambda: rows.extend(in_a_process("--engine")))
    yield ENGINE.format(repeats=REPEATS, others=took.others).rstrip("\n")
    for lesson, *both in rows:
        graded, alone = (Seconds(*each) for each in both)
        shown = graded.wall - alone.wall, graded.wall, alone.wall, graded.cpu - alone.cpu
        yield f"| {lesson} | {graded.wall / alone.wall:.1f} | {' | '.join(f'{each:.2f}' for each in shown)} |"


def many(course: Course, count: int) -> Iterator[str]:
    """The lines of the last section: each hundred of many submissions."""
    folder, load = course.copy(course.several(count, len(CLASS))), quiet()
    begin, samples = time.time(), []
    took = timed(lambda: samples.extend(memory(course.ours(), folder, every=0.5)))
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        rows = gradebook.execute("select recorded from autograder_result order by recorded").fetchall()
    if len(rows) != count:
        sys.exit(f"✗ {len(rows)} of {count} are recorded.")
    recorded = [datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for (text,) in rows]
    bounds = list(pairwise([begin, *recorded[99::100]]))
    seconds = [end - start for start, end in bounds]
    sizes = [peak([sample for sample in samples if start <= sample[0] <= end]) for start, end in bounds]
    yield EACH_HUNDRED.format(
        count=count,
        lesson=course.lesson,
        seconds=took.seconds,
        machine=machine(),
        load=load,
        others=took.others,
        time=seconds[-1] / seconds[1],
        memory=sizes[-1] / sizes[1],
    ).rstrip("\n")
    for place, (taken, size) in enumerate(zip(seconds, sizes, strict=True)):
        name = f"{100 * place + 1} to {100 * place + 100}" + ("" if place else ", with start-up")
        yield f"| {name} | {taken:.1f} | {size:.0f} |"


def as_part(arguments: argparse.Namespace) -> object:
    """What a process for one measurement does, the course and nbgrader not in it: warm up first."""
    sys.path.insert(0, str(ROOT / "tests"))
    import support.classroom  # noqa: F401 (imported here once, and not in each fork)

    from autograder.grading.worker.server import warm_up

    if arguments.engine:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warm_up()
    if arguments.engine:
        return list(engine())
    took = floor(json.loads(Path(arguments.floor).read_text(encoding="utf-8")))
    return astuple(took)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("lesson", nargs="?", default=LESSON)
    parser.add_argument("--submissions", type=int, default=48, metavar="N", help="at least 24 (default: 48)")
    parser.add_argument("--many", type=int, default=0, metavar="N", help="only the last section, with N (at least 200)")
    parser.add_argument("--floor", default="", help=argparse.SUPPRESS)
    parser.add_argument("--engine", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.floor or arguments.engine:
        print(json.dumps(as_part(arguments)))
        return
    page = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    first, _, last = page.partition(MANY)
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        course = Course(Path(folder), arguments.lesson, max(24, arguments.submissions))
        if arguments.many:
            last = "\n".join(many(course, max(200, arguments.many))) + "\n"
        else:
            first = "\n".join([*compare(course), *remember(course), *cost()]) + "\n"
    PAGE.write_text(first + (MANY + last if last else ""), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
