"""The process of one judge: it is forked for a submission, bounds itself, grades, and sends the result back."""

import itertools
import json
import os
import resource
import socket
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import msgspec
import torch

from autograder import files
from autograder.course.plain import data_of
from autograder.grading.results import Limits
from autograder.grading.rpc.channel import Channel
from autograder.grading.submission.compiled import unpacked
from autograder.grading.submission.other_files import put
from autograder.grading.submission.reader import cells_of
from autograder.grading.submission.repair import repair
from autograder.grading.worker import postponed
from autograder.grading.worker.judge import Judge, notebook_of
from autograder.grading.worker.messages import LOADED, SECONDS_TO_SPARE, GradingRequest, StudentRequest
from autograder.grading.worker.outputs import Allowance, error_output, outputs_from
from autograder.grading.worker.student_process import StudentProcess

JUDGE_BYTES = 2 * 2**30  # that a judge may allocate; the lessons need none of it


def rehearse() -> None:
    """Touch what takes time when it is first used."""
    cell: dict[str, object] = {"cell_type": "code", "id": "a", "metadata": {}, "source": "1", "execution_count": None}
    cell["outputs"] = [error_output("E", "e")]
    notebook = notebook_of({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    repair(notebook, cells_of(json.dumps(notebook).encode()))
    outputs_from(b'[{"output_type": "stream", "name": "stdout", "text": ""}]', Allowance(1))
    x = torch.ones(2, dtype=torch.double, requires_grad=True)
    torch.autograd.gradcheck(lambda x: x * x, [x])


def run_judge(job: socket.socket, server: socket.socket) -> None:
    """Be the process that grades the one submission which comes through `job`.

    Args:
        server: the way to who starts the student's processes.
    """
    channel = Channel(job)
    request, data = channel.receive(GradingRequest)
    _limit_judge(request.limits)
    folders: list[str] = []
    there = postponed.loaded()
    place = os.getcwd()  # the server's own folder

    def start() -> StudentProcess:
        folders.append(tempfile.mkdtemp(prefix="submission-", dir=place))
        server.send(msgspec.json.encode(StudentRequest(folders[-1], request.limits)))
        pid, descriptors, *_ = socket.recv_fds(server, 64, 1)
        return StudentProcess(Channel(socket.socket(fileno=descriptors[0])), int(pid))

    try:
        ends = itertools.accumulate((request.lesson_bytes, request.other_files_bytes, len(data)))
        lesson, other_files, submitted = (bytes(data[a:b]) for a, b in itertools.pairwise((0, *ends)))
        ready = unpacked(lesson)
        if given := data_of(ready.notebook):
            folders.append(tempfile.mkdtemp(prefix="course-", dir=place))
            put(given, Path(folders[-1]), read_only=True)
            os.chdir(folders[-1])
        judge = Judge(start, ready, request.limits, other_files)
        result = judge.grade(submitted, request.student, request.lesson)
        if needed := (postponed.loaded() | judge.loaded) - there:
            server.send(LOADED + " ".join(needed).encode())
    finally:
        for folder in folders:
            files.remove(folder)
    notebook = result.notebook.encode("utf-8", "replace")
    channel.send(replace(result, notebook="").to_json(), [notebook])


def _limit_judge(limits: Limits) -> None:
    """Bound the judge's own memory and time, since what it is given may use them up."""
    bounds = {resource.RLIMIT_CPU: int(limits.submission_seconds + SECONDS_TO_SPARE)}
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        bounds[resource.RLIMIT_AS] = pages * resource.getpagesize() + JUDGE_BYTES
    for which, bound in bounds.items():
        allowed = resource.getrlimit(which)[1]  # by `ulimit`, for all that is started from a shell
        bound = bound if allowed == resource.RLIM_INFINITY else min(bound, allowed)
        resource.setrlimit(which, (bound, bound))
