"""Start the server that grades, and have submissions graded by it."""

import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec

from autograder import files
from autograder.grading.results import GradingServerError, Limits, Result
from autograder.grading.rpc.channel import Channel, LossReason, Lost
from autograder.grading.submission.compiled import packed
from autograder.grading.worker.messages import (
    FOLDER_PREFIX,
    JOB,
    MAX_MESSAGE_BYTES,
    SECONDS_TO_SPARE,
    GradingRequest,
    ServerReady,
)

THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}
# Memory that is given back has to be asked for again, page by page: 3 % of the processor time of lessons 1 and 2.
HEAP = {"MALLOC_TOP_PAD_": str(2**26), "MALLOC_TRIM_THRESHOLD_": str(2**28), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
SECONDS_TO_START = 120.0  # within which the imports have to be done
SECONDS_TO_STOP = 10.0
ENDED = "The process that grades has ended."


class GradingServer:
    """A process that grades, and the way to it, for any number of threads; to be used in a `with` statement.

    Args:
        unprotected: grade even where the sandbox does not hold.

    Attributes:
        folder: the server's own; it is removed with it.
        unenforced: what the sandbox cannot enforce on this machine, in words; empty as a rule.
    """

    def __init__(self, *, unprotected: bool = False) -> None:
        self._unprotected = unprotected
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._is_warm = False
        self.folder = Path()
        self.unenforced: tuple[str, ...] = ()

    def start(self) -> None:
        """Begin to start it, without waiting."""
        self.folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-I", "-m", "autograder.grading.worker.server", str(theirs.fileno())]
            command += ["unprotected"] if self._unprotected else []
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=_environment(self.folder),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches a whole group: it is for who started this one to decide
            )

    def __enter__(self) -> Self:
        """Start it where `start` has not, and wait until it is warm.

        Raises:
            GradingServerError: it does not start, or the sandbox does not hold here and that is not allowed.
        """
        if self._process is None:
            self.start()
        ready = self._wait_until_ready()
        self._is_warm = not ready.error
        if ready.error:
            self.stop()
            raise GradingServerError(ready.error)
        self.unenforced = ready.unenforced
        return self

    def __exit__(self, *error: object) -> None:
        """End it, and all that it forked."""
        self.stop()

    def stop(self) -> None:
        """End it, warm or not."""
        if self._process is None or self._socket is None:
            return
        self._socket.close()
        if not self._is_warm:
            self._process.kill()
        try:
            self._process.wait(timeout=SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        files.remove(self.folder)

    def grade(
        self,
        student: str,
        lesson: str,
        source: bytes,
        submitted: bytes,
        limits: Limits,
        other_files: bytes = b"",
        hidden_seed: bytes = b"",
    ) -> Result:
        """Grade one submission; a judge that is lost is a result, too.

        Args:
            source: the lesson's notebook, hidden tests included, as `jobs.prepared` makes it.
            submitted: what the student handed in.
            other_files: the files with it, as `read_other_files` packs them.
            hidden_seed: the course's secret, from which hidden tests draw.

        Raises:
            GradingServerError: the server is gone.
        """
        if self._socket is None:
            raise GradingServerError("The process that grades has not been started.")
        if self._process is None:
            raise GradingServerError(ENDED)
        begin, ready = time.monotonic(), packed(source, hidden_seed)
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs, self._lock:
                    socket.send_fds(self._socket, [JOB], [theirs.fileno()])
                channel = Channel(ours)
                channel.deadline = begin + limits.submission_seconds + SECONDS_TO_SPARE
                request = GradingRequest(student, lesson, limits, len(ready), len(other_files))
                channel.send(request, [ready, other_files, submitted])
                fields, notebook = channel.receive(dict)
            except OSError:
                raise GradingServerError(ENDED) from None
            except Lost as lost:
                if self._is_gone():
                    raise GradingServerError(ENDED) from None
                late = lost.why is LossReason.LATE
                reason = "Its grading did not end in time." if late else "Its grading broke off; try again."
                return Result(student, lesson, reason=reason, retryable=not late, seconds=time.monotonic() - begin)
        return replace(Result.from_json(fields), notebook=notebook.decode(), unenforced=self.unenforced)

    def _wait_until_ready(self) -> ServerReady:
        """Wait for the server's first and only message."""
        assert self._socket is not None
        try:
            self._socket.settimeout(SECONDS_TO_START)
            ready = msgspec.json.decode(self._socket.recv(MAX_MESSAGE_BYTES), type=ServerReady)
            self._socket.settimeout(None)
            return ready
        except (OSError, ValueError):
            return ServerReady(error="The process that grades did not start; its error stands above.")

    def _is_gone(self) -> bool:
        """Whether the server has ended; its socket closes before those that it forked hear of it."""
        if self._socket is None or self._process is None or self._process.poll() is not None:
            return True
        poll = select.poll()
        try:
            poll.register(self._socket, 0)
        except (OSError, ValueError):
            return True
        return bool(poll.poll(0))


def _environment(folder: Path) -> dict[str, str]:
    """All that the server, and so every submission, finds in its environment."""
    return {
        **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "NBGRADER_EXECUTION": "autograde",
        **THREADS,
        **HEAP,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        **dict.fromkeys(("MPLCONFIGDIR", "IPYTHONDIR", "TORCHINDUCTOR_CACHE_DIR"), str(folder)),
    }
