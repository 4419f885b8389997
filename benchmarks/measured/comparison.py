"""Ours beside stock nbgrader: the same points, the time, and the memory."""

import json
import sys
from collections.abc import Iterator

from measured.clock import Took, machine, quiet, timed
from measured.course import Course, require_same
from measured.processes import command, in_a_process, memory, peak

from autograder.course.config import CONFIG

TIMES = 4  # as many submissions, to tell what one more costs
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
"""
MEMORY = """\
## Memory

The peak of all processes together, as the sum of their proportional set sizes, read every 50 ms in runs of their own.

| | this / stock | peak, MB | a further worker, MB |
|---|---:|---:|---:|
"""


def compare(course: Course) -> Iterator[str]:
    """The points, and the time."""
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
    bare = Took(*in_a_process("engine", "floor", str(cells)))
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
    """The memory."""
    yield MEMORY.rstrip("\n")
    few = dict(list(course.students.items())[:6])
    stock = peak(memory(course.stock(), course.copy(few, STOCK)))
    peaks = {jobs: peak(memory(course.ours(jobs), course.copy())) for jobs in (1, 2, 3)}
    yield f"| stock, {len(few)} submissions | 1.0 | {stock:.0f} | |"
    for jobs, size in peaks.items():
        more = f"{size - peaks[jobs - 1]:.0f}" if jobs > 1 else ""
        yield f"| ours, {jobs} worker{'s' * (jobs > 1)} | {size / stock:.1f} | {size:.0f} | {more} |"
