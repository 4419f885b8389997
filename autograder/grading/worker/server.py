"""The server that grades: it has imported everything once, and forks a judge and a student's process for a submission.

It never sees a submission, a hidden test or the gradebook: what it forks inherits nothing worth reading. It has one
thread, and dies with the process that started it; so do all that it forked.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from autograder import files
from autograder.course.quick_imports import quick_imports
from autograder.grading.sandbox import syscalls
from autograder.grading.sandbox.enter import Step
from autograder.grading.sandbox.probe import begin_probe
from autograder.grading.worker import postponed
from autograder.grading.worker.messages import FOLDER_PREFIX, LOADED, MAX_MESSAGE_BYTES, ServerReady, StudentRequest

if TYPE_CHECKING:
    from autograder.grading.worker.shell import Shell

MAX_DESCRIPTORS = 4096


@dataclass
class _ForkedJudge:
    """A judge, the way to it, its students' processes, and the folders that it removes if it ends by itself."""

    socket: socket.socket
    students: list[int] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def clean_up(self) -> None:
        """End its students' processes, and remove what is left of them."""
        self.socket.close()
        for pid in self.students:
            _kill(pid)
        for folder in self.folders:
            files.remove(folder)


class Server:
    """Forks, for as long as its client is there.

    Args:
        client: the socket on which jobs come; each is a socket of its own.
        shell: what each student's process runs its cells in.
        required: the steps into the sandbox that must not fail.
    """

    def __init__(self, client: socket.socket, shell: Shell, required: Collection[Step]) -> None:
        self._client, self._shell, self._required = client, shell, required
        self._judges: dict[int, _ForkedJudge] = {}  # by pid

    def run(self) -> None:
        """Fork until the client is gone."""
        woken, wake = os.pipe()
        for descriptor in (woken, wake):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            pids = {judge.socket.fileno(): pid for pid, judge in self._judges.items()}
            for descriptor in select.select([self._client.fileno(), woken, *pids], [], [])[0]:
                if descriptor == self._client.fileno():
                    if not self._accept_job():
                        return
                elif descriptor == woken:
                    with contextlib.suppress(BlockingIOError):
                        os.read(woken, 4096)
                    self._reap()
                elif pids[descriptor] in self._judges:
                    self._answer(self._judges[pids[descriptor]])

    def stop(self) -> None:
        """End all that was forked."""
        for pid, judge in self._judges.items():
            for forked in (pid, *judge.students):
                _kill(forked)

    def _accept_job(self) -> bool:
        """Fork a judge for the next job; False where none will come any more."""
        from autograder.grading.worker.judge_process import run_judge

        message, descriptors, *_ = socket.recv_fds(self._client, 1, 1)
        if not message:
            return False
        ours, theirs = socket.socketpair()
        with socket.socket(fileno=descriptors[0]) as job, theirs:
            pid = os.fork()
            if pid == 0:
                _be_child(lambda: run_judge(job, theirs), keep=(job, theirs))
        self._judges[pid] = _ForkedJudge(ours)
        return True

    def _answer(self, judge: _ForkedJudge) -> None:
        """Fork the student's process that a judge asks for, or do imports that its submission has needed."""
        from autograder.grading.worker.student import run_student

        try:
            message = judge.socket.recv(MAX_MESSAGE_BYTES)
        except OSError:
            return
        if not message:
            return  # it is about to end
        if message.startswith(LOADED):
            postponed.load(message.removeprefix(LOADED).decode().split())
            _freeze_garbage()
            return
        request = msgspec.json.decode(message, type=StudentRequest)
        judge.folders.append(request.folder)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            pid = os.fork()
            if pid == 0:
                _be_child(lambda: run_student(theirs, self._shell, request, self._required), keep=(theirs,))
            judge.students.append(pid)
            with contextlib.suppress(OSError):
                socket.send_fds(judge.socket, [str(pid).encode()], [ours.fileno()])

    def _reap(self) -> None:
        """Take note of all that has ended."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._judges:
                self._judges.pop(pid).clean_up()
            for judge in self._judges.values():
                if pid in judge.students:
                    judge.students.remove(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _be_child(work: Callable[[], None], keep: tuple[socket.socket, ...]) -> NoReturn:
    """Be a forked process from here on: hold what is kept and nothing else, die with the parent, never return."""
    try:
        parent = os.getppid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # so a judge interrupts a cell, whatever was inherited
        kept = sorted(end.fileno() for end in keep)
        for low, high in zip([2, *kept], [*kept, MAX_DESCRIPTORS], strict=True):
            os.closerange(low + 1, high)
        if sys.platform == "linux":
            syscalls.die_with_parent(parent)
        work()
    except BaseException as error:
        with contextlib.suppress(Exception):
            print(f"autograder: {type(error).__name__}: {error}", file=sys.__stderr__)
    finally:
        os._exit(0)


def warm_up() -> Shell:
    """Import and touch what all submissions need, and return the shell that they will run in."""
    import torch

    torch.set_num_threads(1)
    postponed.postpone()
    with quick_imports():
        from autograder import random_state
        from autograder.grading.worker import judge_process, shell

    with random_state.preserved():
        made = shell.make_shell()
        shell.rehearse(made)
        judge_process.rehearse()
    return made


def _freeze_garbage() -> None:
    """Let nobody who is forked look for garbage among what is here: to look at it is to copy it.

    Without, grading lesson 1 takes 70 % more processor time.
    """
    gc.collect()
    gc.freeze()


def serve(client: socket.socket, *, unprotected: bool) -> None:
    """Warm up, tell the client, and be its server; where grading would not be safe, only tell it why."""
    finish_probe = begin_probe()
    shell = warm_up()
    report = finish_probe()
    threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 1
    error = ""
    if report.unenforced and not unprotected:
        error = "\n".join(report.describe())
    elif threads != 1:
        error = f"The process that grades has {threads} threads; it must have one."
    if not error:
        _freeze_garbage()
    with contextlib.suppress(OSError):
        client.send(msgspec.json.encode(ServerReady(report.unenforced, error)))
    if error:
        return
    server = Server(client, shell, report.proven_steps)
    try:
        server.run()
    finally:
        server.stop()
        if Path.cwd().name.startswith(FOLDER_PREFIX):  # who started this one and would remove it may have been killed
            files.remove(Path.cwd())
        os._exit(0)  # nothing else here has to be tidied up, whatever the libraries think


def main() -> None:
    """Be the server of who has started this process; the first argument is the descriptor of the way there."""
    client = socket.socket(fileno=int(sys.argv[1]))
    client.set_inheritable(False)
    with contextlib.suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        serve(client, unprotected="unprotected" in sys.argv[2:])


if __name__ == "__main__":
    main()
