"""A warm process: it has imported everything once, and forks a judge and the student's processes for each submission.

It never sees a submission, a hidden test or the gradebook: what it forks inherits nothing worth reading. It has one
thread, and dies with the process that started it; so do all that it forked.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from autograder.grading.results import Limits, Result
from autograder.grading.rpc.channel import Channel, LossReason, Lost
from autograder.grading.submission.compiled import packed, unpacked

THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}
# Memory that is given back is memory that has to be asked for again, page by page: a quarter of lesson 1's time.
HEAP = {"MALLOC_TOP_PAD_": 2**26, "MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**25}
GARBAGE = 10_000  # new objects after which Python looks for garbage; its 700 suit long lives
STARTING = 120.0  # seconds within which the imports have to be done
MARGIN = 120.0  # seconds that a judge has beyond its submission's before it is given up
JUDGE_BYTES = 6 * 2**30
FOLDER = "autograder-"
PLAIN, HEAVY = b"p", b"h"  # a job, and one for which `torch._dynamo` has to be there
ASKS_FOR_IT = (b"torch.optim", b"check.device", b'\\"meta\\"')  # in a lesson, and takes a second to import
FOLDER_FILES = 4  # times `file_bytes` is what all files of a submission may hold


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Within, to import nbformat takes a second less.

    For it jsonschema is imported, which where it can compiles a grammar of addresses. No notebook has any use for that.
    """
    grammar = "rfc3987_syntax"
    absent = grammar not in sys.modules
    if absent:
        sys.modules[grammar] = None
    try:
        yield
    finally:
        if absent:
            del sys.modules[grammar]


class WarmError(Exception):
    """Grading cannot start or go on here; the text says why."""


class Warm:
    """A warm process and the way to it, for any number of threads; to be used in a `with` statement.

    Args:
        unprotected: grade even where the sandbox does not hold.
    """

    def __init__(self, *, unprotected: bool = False) -> None:
        self._unprotected = unprotected
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._end: socket.socket | None = None
        self._is_warm = False
        self.folder = Path()
        self.unenforced: tuple[str, ...] = ()

    def start(self) -> None:
        """Begin to start it, without waiting."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-I", "-m", "autograder.grading.worker.warm", str(theirs.fileno())]
            command += ["unprotected"] if self._unprotected else []
            environment = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
            environment |= {
                "PATH": os.defpath,
                "LANG": "C.UTF-8",
                "HOME": "/nonexistent",
                "NBGRADER_EXECUTION": "autograde",
            }
            environment |= {name: str(size) for name, size in HEAP.items()}
            environment |= THREADS | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
            self.folder = Path(tempfile.mkdtemp(prefix=FOLDER))
            environment |= dict.fromkeys(("MPLCONFIGDIR", "IPYTHONDIR", "TORCHINDUCTOR_CACHE_DIR"), str(self.folder))
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches a whole group: it is for who started this one to decide
            )
        self._end = ours

    def __enter__(self) -> Self:
        """Start it where `start` has not, and wait until it is warm.

        Raises:
            WarmError: it does not start, or the sandbox does not hold here and that is not allowed.
        """
        if self._process is None:
            self.start()
        self._end.settimeout(STARTING)
        try:
            ready = json.loads(self._end.recv(2**16) or b"{}")
        except (OSError, ValueError):
            ready = {}
        self._end.settimeout(None)
        self._is_warm = "unenforced" in ready
        if not self._is_warm:
            self.stop()
            raise WarmError(ready.get("error", "The process that grades did not start; its error stands above."))
        self.unenforced = tuple(ready["unenforced"])
        return self

    def __exit__(self, *error: object) -> None:
        """End it, and all that it forked."""
        self.stop()

    def stop(self) -> None:
        """End it, warm or not."""
        if self._process is None:
            return
        self._end.close()
        if not self._is_warm:
            self._process.kill()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def grade(self, student: str, lesson: str, source: bytes, submitted: bytes, limits: Limits) -> Result:
        """Grade one submission; a judge that is lost is a result, too.

        Args:
            source: the lesson's notebook, hidden tests included, as `engine.prepared` makes it.
            submitted: what the student handed in.

        Raises:
            WarmError: the warm process is gone.
        """
        if self._end is None:
            raise WarmError("The process that grades has not been started.")
        ours, theirs = socket.socketpair()
        begin, heavy = time.monotonic(), any(each in source for each in ASKS_FOR_IT)
        with ours:
            try:
                with theirs, self._lock:
                    socket.send_fds(self._end, [HEAVY if heavy else PLAIN], [theirs.fileno()])
                channel = Channel(ours)
                channel.deadline = begin + limits.submission_seconds + MARGIN
                ready = packed(source)
                about = {"student": student, "lesson": lesson, "limits": asdict(limits), "source": len(ready)}
                channel.send(about, [ready, submitted])
                told, notebook = channel.receive(dict)
            except OSError:
                raise WarmError("The process that grades has ended.") from None
            except Lost as lost:
                if self._is_gone():
                    raise WarmError("The process that grades has ended.") from None
                late = lost.why is LossReason.LATE
                reason = "Its grading did not end in time." if late else "Its grading broke off; try again."
                return Result(student, lesson, reason=reason, retryable=not late, seconds=time.monotonic() - begin)
        told["result"]["notebook"] = notebook.decode()
        result = Result.from_json(told["result"])
        return result if not self.unenforced else _with_unenforced(result, self.unenforced)

    def _is_gone(self) -> bool:
        """Whether the warm process has ended; its end closes before those that it forked hear of it."""
        process, poll = self._process, select.poll()
        if process is None or process.poll() is not None:
            return True
        try:
            poll.register(self._end, 0)
        except (OSError, ValueError):
            return True
        return bool(poll.poll(0))


def _with_unenforced(result: Result, unenforced: tuple[str, ...]) -> Result:
    return Result.from_json(result.to_json() | {"unenforced": list(unenforced)})


class _Server:
    """The warm process itself."""

    def __init__(self, end: socket.socket, shell: Any) -> None:
        self._end, self._shell, self._is_ready_for_all = end, shell, False
        self._judges: dict[int, tuple[socket.socket, list[int]]] = {}  # by pid: the way to it, its students
        self._folders: dict[int, list[str]] = {}  # by pid: what a judge would remove if it ended by itself

    def run(self) -> None:
        """Fork until the other end is closed."""
        wake, sleep = os.pipe()
        os.set_blocking(sleep, False), os.set_blocking(wake, False)
        self._pipe = wake, sleep
        signal.set_wakeup_fd(sleep, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ways = {way: pid for pid, (way, _) in self._judges.items()}
            for ready in select.select([self._end, wake, *ways], [], [])[0]:
                if ready is self._end:
                    if not self._take():
                        return
                elif ready == wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 4096)
                    self._reap()
                elif ways[ready] in self._judges:
                    self._start_student(ways[ready])

    def stop(self) -> None:
        """End all that was forked."""
        for pid, (_, students) in self._judges.items():
            for each in (pid, *students):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)

    def _take(self) -> bool:
        message, descriptors, *_ = socket.recv_fds(self._end, 1, 1)
        if not message:
            return False
        if message == HEAVY and not self._is_ready_for_all:
            from autograder.grading.worker import student
            from autograder.random_state import preserved

            with preserved():
                student.rehearse(self._shell, student.HEAVY)
            _freeze()
            self._is_ready_for_all = True
        job = socket.socket(fileno=descriptors[0])
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            _as_child(lambda: _judge(job, theirs), keep=(job, theirs))
        job.close(), theirs.close()
        self._judges[pid] = ours, []
        return True

    def _start_student(self, judge: int) -> None:
        way, students = self._judges[judge]
        try:
            asked = way.recv(2**16)
        except OSError:
            asked = b""
        if not asked:
            return  # it is about to end
        about = json.loads(asked)
        self._folders.setdefault(judge, []).append(about["folder"])
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            _as_child(lambda: _student(theirs, self._shell, about), keep=(theirs,))
        theirs.close()
        students.append(pid)
        with contextlib.suppress(OSError):
            socket.send_fds(way, [str(pid).encode()], [ours.fileno()])
        ours.close()

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._judges:
                way, students = self._judges.pop(pid)
                way.close()
                for each in students:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(each, signal.SIGKILL)
                for folder in self._folders.pop(pid, ()):
                    shutil.rmtree(folder, ignore_errors=True)
            else:
                for _, students in self._judges.values():
                    if pid in students:
                        students.remove(pid)


def _as_child(work: Any, keep: tuple[socket.socket, ...]) -> None:
    """Be a forked process from here on: hold what is kept and nothing else, die with the parent, never return."""
    try:
        parent = os.getppid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        kept = sorted(each.fileno() for each in keep)
        for low, high in zip([2, *kept], [*kept, 4096], strict=True):
            os.closerange(low + 1, high)
        _die_with_parent(parent)
        work()
    except BaseException as error:
        with contextlib.suppress(Exception):
            print(f"autograder: {type(error).__name__}: {error}", file=sys.__stderr__)
    finally:
        os._exit(0)


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        from autograder.grading.sandbox import syscalls

        syscalls.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _judge(job: socket.socket, way: socket.socket) -> None:
    """Grade the one submission that comes through `job`."""
    from autograder.grading.worker.judge import Judge, Started

    channel = Channel(job)
    about, blob = channel.receive(dict)
    limits = Limits(**about["limits"])
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
    )
    if used:
        resource.setrlimit(resource.RLIMIT_AS, (used + JUDGE_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limits.submission_seconds + MARGIN),) * 2)  # it ends when given up
    lesson = unpacked(blob[: about["source"]])
    folders: list[str] = []

    def start() -> Started:
        folders.append(tempfile.mkdtemp(prefix="submission-", dir=os.getcwd()))  # the warm process's own folder
        way.send(json.dumps({"folder": folders[-1], "limits": asdict(limits)}).encode())
        pid, descriptors, *_ = socket.recv_fds(way, 64, 1)
        return Started(Channel(socket.socket(fileno=descriptors[0])), int(pid))

    try:
        judge = Judge(start, lesson, limits)
        result = judge.grade(bytes(blob[about["source"] :]), about["student"], about["lesson"]).to_json()
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    notebook = result.pop("notebook").encode("utf-8", "replace")
    channel.send({"result": result}, [notebook])


def _student(end: socket.socket, shell: Any, about: dict[str, Any]) -> None:
    """Serve one judge from inside the sandbox."""
    from autograder.grading.sandbox.enter import Permissions, enter
    from autograder.grading.worker.student import serve

    limits, folder = Limits(**about["limits"]), Path(about["folder"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    if nowhere > 2:
        os.close(nowhere)
    cpu_seconds = int(limits.submission_seconds) + 30
    folder_bytes = FOLDER_FILES * limits.file_bytes
    enter(Permissions(folder, (), limits.memory_bytes, cpu_seconds, limits.file_bytes, folder_bytes))
    os.chdir(folder)
    home = {name: str(folder) for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME")}
    os.environ.update(home)
    tempfile.tempdir = None
    serve(Channel(end), shell, limits.output_bytes)


def warm_up() -> Any:
    """Import and touch what all submissions need, and return the shell that they will run in."""
    import torch

    torch.set_num_threads(1)
    with quick_imports():
        from autograder.grading.worker import judge, student
        from autograder.random_state import preserved

    with preserved():
        shell = student.make_shell()
        student.rehearse(shell)
        judge.rehearse()
    return shell


def _freeze() -> None:
    """Let nobody who is forked look for garbage among what is here: to look at it is to copy it."""
    gc.collect()
    gc.freeze()


def main() -> None:
    """Be the warm process; the one argument is the descriptor of the way to who started it."""
    end = socket.socket(fileno=int(sys.argv[1]))
    end.set_inheritable(False)
    with contextlib.suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        from autograder.grading.sandbox.probe import begin_probe

        finish_probe = begin_probe()
        shell = warm_up()
        report = finish_probe()
        unenforced = report.unenforced
        if unenforced and "unprotected" not in sys.argv[2:]:
            end.send(json.dumps({"error": "\n".join(report.describe())}).encode())
            return
        gc.set_threshold(GARBAGE)
        _freeze()
        threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 1
        if threads != 1:
            end.send(json.dumps({"error": f"The warm process has {threads} threads; it must have one."}).encode())
            return
        with contextlib.suppress(OSError):
            end.send(json.dumps({"unenforced": unenforced}).encode())
        server = _Server(end, shell)
        try:
            server.run()
        finally:
            server.stop()
            if Path.cwd().name.startswith(FOLDER):  # who started this one and would remove it may have been killed
                shutil.rmtree(Path.cwd(), ignore_errors=True)
            os._exit(0)  # nothing else here has to be tidied up, whatever the libraries think


if __name__ == "__main__":
    main()
