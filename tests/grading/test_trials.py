"""`autograder doctor` tries hostile submissions through the engine, and says which of them got somewhere."""

import io
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.grading import doctor as doctors
from autograder.grading.results import Result, Status
from autograder.grading.trials import TRIALS, tried
from autograder.grading.worker.client import GradingServer


class Generous:
    """An engine that gives every check its points, whatever it graded."""

    def __init__(self, warm: GradingServer) -> None:
        self.warm = warm

    def grade(self, *submission: object) -> Result:
        result = self.warm.grade(*submission)
        checks = tuple(replace(check, status=Status.PASSED) for check in result.checks)
        return replace(result, checks=checks)


def test_each_hostile_submission_comes_to_what_is_promised(warm: GradingServer) -> None:
    """None gains a point, stops another or shows anything but text."""
    found = {trial.name: wrong for trial, wrong in tried(warm)}
    assert len(found) == len(TRIALS) and not any(found.values()), found


def test_an_engine_that_gives_points_away_is_found_out(warm: GradingServer) -> None:
    """Whatever should cost points is named, with the points; what should not is fine."""
    found = {trial.name: wrong for trial, wrong in tried(Generous(warm))}
    dear = {trial.name for trial in TRIALS if trial.answers}
    assert {name for name, wrong in found.items() if wrong} == dear
    assert "it earns {'check_doubled': 2.0, 'check_Ramp': 2.0}, not" in found["a loop without an end"]


@pytest.mark.parametrize(("wrong", "status"), [("", 0), ("it earns a point", 1)])
def test_doctor_says_what_came_of_them(wrong: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each, and exit status 1 where one got somewhere."""
    monkeypatch.setattr(doctors, "tried", lambda warm: [(TRIALS[0], ""), (TRIALS[1], wrong)])
    out = io.StringIO()
    assert doctors.doctor(Console(file=out, width=200)) == status
    said = out.getvalue()
    assert f"✓ {TRIALS[0].name}" in said and TRIALS[0].kept in said
    assert (f"✗ {TRIALS[1].name}" in said and wrong in said) if wrong else f"✓ {TRIALS[1].name}" in said
    assert said.rstrip().endswith("safely here." if not wrong else "before that is mended.")


def test_grading_works_in_a_shell_whose_memory_is_limited() -> None:
    """`ulimit -v` bounds what a submission may take, and nothing breaks off for it."""
    code = (
        "from autograder.grading.trials import tried\n"
        "from autograder.grading.worker.client import GradingServer\n"
        "with GradingServer() as warm:\n"
        "    print(next(iter(tried(warm)))[1] or 'all points')"
    )
    shell = f"ulimit -v {4 * 2**20}; exec {shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("all points\n", 0), done.stderr
