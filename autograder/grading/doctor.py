"""`autograder doctor`: what of the sandbox holds on this machine, and what becomes of hostile submissions."""

from rich.console import Console
from rich.markup import escape

from autograder.grading.results import GradingServerError
from autograder.grading.sandbox.probe import probe
from autograder.grading.trials import TRIALS, tried
from autograder.grading.worker.client import GradingServer


def doctor(out: Console) -> int:
    """Say what holds on this machine; 0 when all does."""

    def say(text: str) -> None:
        out.print(escape(text), highlight=False, soft_wrap=True)

    report = probe()
    for line in report.describe():
        say(line)
    if report.unenforced:
        say("✗ `autograder grade` refuses to run here. --unprotected grades all the same, and marks every result.")
        return 1
    say("\nHostile submissions, graded as any other:")
    width, holds = max(len(trial.name) for trial in TRIALS), True
    try:
        with GradingServer() as warm:
            for trial, wrong in tried(warm):
                holds = holds and not wrong
                say(f"{'✗' if wrong else '✓'} {trial.name:{width}}  {wrong or trial.kept}")
    except GradingServerError as error:
        say(f"✗ Grading does not start here: {error}")
        return 1
    say("✓ Submissions can be graded safely here." if holds else "✗ Do not grade here before that is mended.")
    return 0 if holds else 1
