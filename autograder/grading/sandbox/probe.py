"""Whether the sandbox holds on this machine: processes are closed in, try to get out, and say what got through."""

import contextlib
import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from autograder.grading.sandbox import attempts, private_root
from autograder.grading.sandbox.attempts import GUARANTEES, OUTLIVING, Guarantee
from autograder.grading.sandbox.enter import Permissions, Step, take_steps
from autograder.grading.sandbox.targets import Targets, make_targets

WALLS = "walls"  # the name of what is found of the steps themselves
PATIENCE = 12.0  # seconds for one process of a probe; it takes two hundredths as a rule


@dataclass(frozen=True)
class Finding:
    """One thing the sandbox guarantees, whether it holds here, and what was seen."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Report:
    """What a probe has seen."""

    findings: tuple[Finding, ...]
    proven_steps: frozenset[Step]  # those that worked in every process it closed in; `enter` may insist on them

    @property
    def unenforced(self) -> tuple[str, ...]:
        """What does not hold, a line each; empty as a rule."""
        return tuple(f"{finding.name}: {finding.detail}" for finding in self.findings if not finding.holds)

    def describe(self) -> list[str]:
        """Return a line for each finding, the ones that hold marked with a ✓."""
        width = max((len(finding.name) for finding in self.findings), default=0)
        return [
            f"{'✓' if finding.holds else '✗'} {finding.name:{width}}  {finding.detail}" for finding in self.findings
        ]


_Seen: TypeAlias = tuple[Finding, dict[Step, str]]  # and the steps that such a process took


def probe() -> Report:
    """Close processes in and let them try to get out."""
    return begin_probe()()


def begin_probe() -> Callable[[], Report]:
    """Do all of `probe` but wait for the one attempt that takes a second; return what waits, and ends it."""
    private_root.layout(())  # found out here once, not in every process that is forked
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        targets = stack.enter_context(make_targets(Path(folder).resolve()))
        slow = [(guarantee, *_start(targets, guarantee)) for guarantee in GUARANTEES if guarantee.is_deadly]
        seen = [_watch(guarantee, *_start(targets, guarantee)) for guarantee in GUARANTEES if not guarantee.is_deadly]
        seen.append(_outlive(targets))
        still_open = stack.pop_all()

    def finish() -> Report:
        with still_open:
            seen.extend(_watch(*started) for started in slow)
        proven = {step for step in Step if all(steps.get(step) == "" for _, steps in seen)}
        findings = (*(finding for finding, _ in seen), _walls([steps for _, steps in seen if steps]))
        return Report(findings, frozenset(proven))

    return finish


def _walls(taken: Sequence[Mapping[Step, str]]) -> Finding:
    """Say which steps failed: what one keeps may be kept by another, but never silently so."""
    failed = {step: error for steps in taken for step, error in steps.items() if error}
    detail = ", ".join(f"{step} ({error})" for step, error in failed.items())
    return Finding(WALLS, not failed, f"missing here: {detail}" if failed else "each of them stands, none for another")


def _start(targets: Targets, guarantee: Guarantee) -> tuple[int, int]:
    """Fork a process that tries to break a guarantee; return its id, and the pipe on which it answers."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _try(targets, guarantee, write)
    os.close(write)
    return pid, read


def _try(targets: Targets, guarantee: Guarantee, write: int) -> NoReturn:
    """Close this process in, try everything, and answer in two lines: the steps taken, and what got through."""
    try:
        folder = targets.place / guarantee.name
        folder.mkdir()
        cpu_seconds = attempts.CPU_SECONDS if guarantee.is_deadly else attempts.CPU_SECONDS_OF_OTHERS
        permissions = Permissions(
            folder,
            (targets.library,),
            memory_bytes=attempts.MEMORY,
            cpu_seconds=cpu_seconds,
            file_bytes=attempts.FILE,
            folder_bytes=attempts.FOLDER,
        )
        os.write(write, json.dumps(take_steps(permissions)).encode() + b"\n")
        got_through = []
        for name, attempt in guarantee.attempts(targets).items():
            with contextlib.suppress(Exception):
                attempt()
                got_through.append(name)
        os.write(write, json.dumps(got_through).encode() + b"\n")
        if guarantee is OUTLIVING:
            time.sleep(2 * PATIENCE)
    finally:
        os._exit(1)


def _watch(guarantee: Guarantee, pid: int, pipe: int) -> _Seen:
    """Return what came of a process that `_start` forked, and the steps it took."""
    steps, got_through, ended = _read(pipe)
    os.close(pipe)
    if got_through is None and not ended:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not guarantee.is_deadly:
        return _finding(guarantee, got_through), steps
    holds = ended and got_through is None and os.WIFSIGNALED(status)
    return Finding(guarantee.name, holds, guarantee.kept if holds else "the process went on"), steps


def _outlive(targets: Targets) -> _Seen:
    """Fork a process that forks one which closes itself in; end the first, and see whether the second ends."""
    read, write = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            if os.fork() == 0:
                _try(targets, OUTLIVING, write)
            os.close(write)
            time.sleep(2 * PATIENCE)
        finally:
            os._exit(1)
    os.close(write)
    steps, got_through, _ = _read(read)
    os.kill(between, signal.SIGKILL)
    os.waitpid(between, 0)
    if got_through is not None:
        *_, ended = _read(read, PATIENCE / 4)
        got_through += [] if ended else ["living on"]
    os.close(read)
    return _finding(OUTLIVING, got_through), steps


def _finding(guarantee: Guarantee, got_through: list[str] | None) -> Finding:
    if got_through is None:
        return Finding(guarantee.name, False, "the process that tried gave no answer")
    detail = f"got through: {', '.join(got_through)}" if got_through else guarantee.kept
    return Finding(guarantee.name, not got_through, detail)


def _read(pipe: int, seconds: float = PATIENCE) -> tuple[dict[Step, str], list[str] | None, bool]:
    """Return what a process says in some seconds: its steps, what got through (None: no answer), whether it ended."""
    poll, until, text, ended = select.poll(), time.monotonic() + seconds, b"", False
    poll.register(pipe, select.POLLIN)
    while not ended and text.count(b"\n") < 2 and poll.poll(max(0, 1000 * (until - time.monotonic()))):
        piece = os.read(pipe, 2**16)
        text, ended = text + piece, not piece
    lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
    steps = {Step(step): error for step, error in lines[0].items()} if lines else {}
    return steps, lines[1] if len(lines) > 1 else None, ended
