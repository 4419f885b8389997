"""A cell is slow by the time that it could have used, not by what others had of the processor."""

from __future__ import annotations

import socket
import subprocess
import time

import pytest

from autograder.grading.rpc.channel import Channel, LossReason, Lost
from autograder.grading.worker import student_process
from autograder.grading.worker.student_process import Started, StudentProcess

OWN, TO_STOP = 0.2, 0.1  # seconds


@pytest.mark.parametrize(("waited", "given_back"), [(0, 0), (0.1, 0.1), (1000, OWN)])
def test_waiting_for_the_processor_does_not_count(
    waited: float, given_back: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a cell has waited comes on top of its time, up to as much again; then it is interrupted as ever."""
    monkeypatch.setattr(student_process, "SECONDS_TO_STOP", TO_STOP)
    so_far = iter((0.0,))
    monkeypatch.setattr(StudentProcess, "_waited", lambda _: next(so_far, waited))
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(["sleep", "60"]) as sleeping:
        channel = Channel(ours)
        process, begin = StudentProcess(Started(channel, sleeping.pid)), time.monotonic()
        with pytest.raises(Lost) as lost, process.time_limit(OWN):
            channel.receive(dict)
    assert lost.value.why is LossReason.LATE and process.was_interrupted
    assert time.monotonic() - begin >= OWN + given_back + TO_STOP


def test_this_machine_says_how_long_a_process_has_waited() -> None:
    """The kernel's figure is there: a process that has begun has waited for something, and never more than it lives."""
    ours, theirs = socket.socketpair()
    begin = time.monotonic()
    with ours, theirs, subprocess.Popen(["sleep", "60"]) as sleeping:
        time.sleep(0.1)
        waited = StudentProcess(Started(Channel(ours), sleeping.pid))._waited()
        sleeping.kill()
    assert 0 < waited < time.monotonic() - begin
