"""Mutation testing of the checks: each reference answer is changed in one place at a time, and some check must fail.

    PYTHONPATH=tests python tools/mutants.py             # all exercises; writes tests/mutants.md
    PYTHONPATH=tests python tools/mutants.py EXERCISE …  # these alone

A changed answer that fails no check *survives*. Either it is as right as the answer, and tools/equivalent_mutants.toml
says why, or a check is missing. Prints what survives for no reason, and reasons that nothing needs, and exits with 1
when there is any. Students see the first part of each check cell, so the page counts what that part kills by itself.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import resource
import signal
import sys
import time
import tomllib
import types
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, TypedDict

import torch
from support.classroom import LESSONS, Classroom, classroom

from autograder.changes import Mutant, mutants
from autograder.stub import regions, without_regions

EQUIVALENT = Path(__file__).parent / "equivalent_mutants.toml"
PAGE = Path(__file__).parent.parent / "tests" / "mutants.md"
HIDDEN = "hidden tests of "
HEAD = """\
<!-- Made by `make mutants`; do not edit. -->

# What the checks see of small changes

Each reference answer is changed in one place at a time, in every way that `autograder/changes.py` knows. Changes that
leave it right stand in `tools/equivalent_mutants.toml` with their reasons; every other one fails a check. *Seen* is
what fails a check that students see.

| exercise | changes | right all the same | wrong | caught | seen |
|---|---:|---:|---:|---:|---:|
"""
SECONDS, SLOWER = 3, 5  # a mutant may take these seconds of processor time, or that many times the reference's
HANGS = 300  # seconds without a verdict, after which a process that uses no time is ended
MEMORY = 4 << 30
FORK = multiprocessing.get_context("fork")


class Equivalent(TypedDict):
    """Survivors that are as right as the reference answer, and why."""

    why: str
    changes: list[str]


def killers(room: Classroom, exercise: str, changed: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Run the checks of an exercise on mutants, in a process of their own, until one fails.

    Yields:
        each mutant, and the check that failed, behind `HIDDEN` where students do not see it; "definition" where no
        check was reached, "crash" where the process ended or its time was up; "" where none failed.
    """
    left = changed
    while left:
        ours, theirs = FORK.Pipe(duplex=False)
        with warnings.catch_warnings(action="ignore"):
            child = FORK.Process(target=_Runner(room, exercise).judge, args=(theirs, left), daemon=True)
            child.start()
        theirs.close()
        assert not ours.recv(), f"{exercise}: the reference answer fails."
        verdict = ""
        while left and verdict != "crash":
            try:
                verdict = ours.recv() if ours.poll(HANGS) else "crash"
            except EOFError:
                verdict = "crash"
            mutant, *left = left
            yield mutant, verdict
        assert verdict == "crash" or not ours.recv(), f"{exercise}: some mutant has spoilt the process of the others."
        child.kill()
        child.join()
        ours.close()


class _Runner:
    """Runs the checks of one exercise."""

    def __init__(self, room: Classroom, exercise: str) -> None:
        self.scope = room.scope
        self.answers = [compile(source, name, "exec") for name, source in room.answers.items()]
        ids = room.checks_of(exercise)
        cells = {cell.id: cell.source for cell in room.checks if cell.id in ids}
        self.visible = {name: _compiled(without_regions(source, "HIDDEN TESTS")) for name, source in cells.items()}
        hidden = {name: regions(source, "HIDDEN TESTS") or [] for name, source in cells.items()}
        self.hidden = {
            HIDDEN + name: _compiled("\n".join(line for lines in each for line in lines))
            for name, each in hidden.items()
        }

    def judge(self, results: Connection, changed: list[Mutant]) -> None:
        """Send the first failing check of each mutant, and before and after them of the reference answer.

        SIGPROF, which nobody handles, ends the process when one takes too long.
        """
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        begin = time.process_time()
        results.send(self.first_failing(None))
        limit = max(SECONDS, SLOWER * (time.process_time() - begin))
        for code in (*(mutant.code for mutant in changed), None):
            signal.setitimer(signal.ITIMER_PROF, limit)
            results.send(self.first_failing(code))

    def first_failing(self, answer: types.CodeType | None) -> str:
        """The first check that fails on a changed answer, a visible one where there is one.

        Among these, the one that failed last is asked first.
        """
        scope = dict(self.scope)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                for code in [*self.answers, *([answer] if answer else [])]:
                    exec(code, scope)
            except Exception:
                return "definition"
            for name, check in (self.visible | self.hidden).items():
                torch.manual_seed(0)
                try:
                    exec(check, scope)
                except BaseException:
                    if name in self.visible:
                        self.visible = {name: check, **self.visible}
                    return name
        return ""


def _compiled(source: str) -> types.CodeType:
    return compile(source, "<check>", "exec")


class Counts(NamedTuple):
    """How many mutants answers have, how many of them are as right, are caught, and are so by what students see."""

    changes: int = 0
    right: int = 0
    caught: int = 0
    seen: int = 0

    @property
    def cells(self) -> str:
        """The row of the page behind the exercise's name."""
        wrong = self.changes - self.right
        shares = (f"{100 * part / wrong:.1f} %" if wrong else "" for part in (self.caught, self.seen))
        return " | ".join([str(self.changes), str(self.right), str(wrong), *shares])

    def __add__(self, other: tuple[int, ...]) -> Counts:  # type: ignore[override]
        return Counts(*map(int.__add__, self, other))


def row(exercise: str, counts: Counts) -> str:
    """The row of an exercise on the page."""
    return f"| `{exercise}` | {counts.cells} |"


def report(lesson: str, exercise: str) -> tuple[Counts, list[str]]:
    """Count the mutants of an answer, and say which survive for no reason, and which reasons nothing needs."""
    room = classroom(lesson)
    changed = mutants(room.answers[exercise])
    verdicts = [(mutant.change, killer) for mutant, killer in killers(room, exercise, changed)]
    alive = [change for change, killer in verdicts if not killer]
    known = [change for entry in equivalent().get(exercise, []) for change in entry["changes"]]
    wrong = [f"✗ {exercise}: no check fails on {change}" for change in sorted(set(alive) - set(known))]
    wrong += [f"✗ {exercise}: no longer survives: {change}" for change in known if change not in alive]
    caught = [killer for _, killer in verdicts if killer]
    seen = [killer for killer in caught if not killer.startswith(HIDDEN)]
    return Counts(len(verdicts), len(alive), len(caught), len(seen)), wrong


def equivalent() -> dict[str, list[Equivalent]]:
    """The survivors that are as right as the reference answers, by exercise."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))


def exercises() -> dict[str, str]:
    """The lesson of every exercise."""
    return {exercise: lesson for lesson in LESSONS for exercise in classroom(lesson).answers}


def main(names: list[str]) -> int:
    """Report on some exercises or on all, two at a time."""
    lessons = exercises()
    if unknown := [name for name in names if name not in lessons]:
        sys.exit(f"There is no exercise {', '.join(unknown)}. There are: {', '.join(lessons)}.")
    wanted = names or list(lessons)
    counts, wrong = {}, [f"✗ {name} is no exercise" for name in equivalent() if name not in lessons]
    with ProcessPoolExecutor(2, mp_context=FORK) as pool:
        for name, (counted, lines) in zip(wanted, pool.map(report, map(lessons.get, wanted), wanted), strict=True):
            print(row(name, counted), *lines, sep="\n", flush=True)
            counts[name] = counted
            wrong += lines
    total = sum(counts.values(), Counts())
    print(row("all", total), f"{len(wrong)} to look at.", sep="\n")
    if not names:
        rows = [row(name, counted) for name, counted in counts.items()] + [f"| **all** | {total.cells} |"]
        PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
