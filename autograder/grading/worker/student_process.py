"""A student's process as its judge sees it: timed, interrupted, measured and killed."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autograder.check import _backend
from autograder.grading.rpc.channel import Channel, LossReason, Lost
from autograder.grading.worker.judge_peer import JudgePeer

SECONDS_TO_STOP = 5.0  # from an interrupt until it is given up
JUDGE_SECONDS = 3 * SECONDS_TO_STOP  # that the judge's own work has beyond a cell's
LEAST_WAITED, MOST_WAITED = 0.01, 60.0  # seconds of waiting for a processor that are given back


class StudentProcess:
    """The one student's process that this judge has; checks find the answers there until it is killed.

    Args:
        channel: the way to the process, which waits for its first cell.

    Attributes:
        seconds: what the last cell had.
        was_interrupted: the last cell took longer.
    """

    def __init__(self, channel: Channel, pid: int) -> None:
        self.peer = JudgePeer(channel)
        self.seconds = self._waited_before = self._given_back = 0.0
        self.was_interrupted = False
        self._channel, self._pid = channel, pid
        self._channel.late = self._interrupt
        self.peer.processor_seconds = self.processor_seconds
        _backend.use(self.peer)

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Interrupt what takes longer; the judge's own work too, since what it is given may make that endless.

        The time in which a cell could run and others had the processor does not count: on a busy machine an honest
        answer is not a slow one.

        Raises:
            Lost: the interrupt did not help.
        """
        self.seconds, self.was_interrupted = seconds, False
        self._waited_before, self._given_back = self._waited(), 0.0
        self._channel.deadline = time.monotonic() + seconds

        def give_up(*_: object) -> None:
            raise Lost(LossReason.LATE)

        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, seconds + JUDGE_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def peak_bytes(self) -> int:
        """The most memory that it has held; 0 where nobody knows."""
        with suppress(OSError, ValueError, IndexError):
            status = Path(f"/proc/{self._pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) * 1024
        return 0

    def processor_seconds(self) -> float:
        """The processor time that it has taken, with all its threads; it has no processes of its own.

        Raises:
            OSError: this machine does not say.
        """
        after_its_name = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, after_its_name[11:13])) / os.sysconf("SC_CLK_TCK")  # utime and stime, see proc(5)

    def _waited(self) -> float:
        """The seconds in which it could run and had no processor; 0 where nobody knows."""
        with suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{self._pid}/schedstat").read_text().split()[1]) / 1e9
        return 0.0

    def kill(self) -> None:
        """End it, for good."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _backend.use(_backend.Backend())

    def _interrupt(self) -> float | None:
        """At a deadline, give back what a cell has waited; then interrupt it, and return a last one."""
        if self.was_interrupted:
            return None
        waited = min(self._waited() - self._waited_before, self.seconds, MOST_WAITED)
        if (more := waited - self._given_back) > LEAST_WAITED:
            self._given_back = waited
            signal.setitimer(signal.ITIMER_REAL, more + JUDGE_SECONDS)
            return time.monotonic() + more
        self.was_interrupted = True
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGINT)
        return time.monotonic() + SECONDS_TO_STOP
