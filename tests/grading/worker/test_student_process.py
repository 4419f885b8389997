"""A cell is slow by the time that it could have used, not by what others had of the processor."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from autograder.grading.rpc.channel import Channel, LossReason, Lost
from autograder.grading.worker import student_process
from autograder.grading.worker.student_process import StudentProcess

OWN, TO_STOP = 0.2, 0.1  # seconds


@pytest.fixture
def process() -> Iterator[StudentProcess]:
    """One that sleeps and never answers."""
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(["sleep", "60"]) as sleeping:
        process = StudentProcess(Channel(ours), sleeping.pid)
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("waited", "given_back"), [(0, 0), (0.1, 0.1), (1000, OWN)])
def test_waiting_for_the_processor_does_not_count(
    process: StudentProcess, waited: float, given_back: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a cell has waited comes on top of its time, up to as much again; then it is interrupted as ever."""
    monkeypatch.setattr(student_process, "SECONDS_TO_STOP", TO_STOP)
    so_far = iter((0.0,))
    monkeypatch.setattr(StudentProcess, "_waited", lambda _: next(so_far, waited))
    begin = time.monotonic()
    with pytest.raises(Lost) as lost, process.time_limit(OWN):
        process.peer.channel.receive(dict)
    assert lost.value.why is LossReason.LATE and process.was_interrupted
    assert time.monotonic() - begin >= OWN + given_back + TO_STOP


def test_this_machine_says_how_long_a_process_has_waited(process: StudentProcess) -> None:
    """Of two that count on one processor each waits for the other, and the kernel says how long; who sleeps has not."""
    one = {min(os.sched_getaffinity(0))}
    ours, theirs = socket.socketpair()
    counts = ["sh", "-c", "while :; do :; done"]
    with ours, theirs, subprocess.Popen(counts) as counting, subprocess.Popen(counts) as other:
        try:
            for each in (counting, other):
                os.sched_setaffinity(each.pid, one)
            busy = StudentProcess(Channel(ours), counting.pid)
            time.sleep(1)
            waited = busy._waited()
        finally:
            counting.kill()
            other.kill()
    assert waited > 0.1 and waited > process._waited()
