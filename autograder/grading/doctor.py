"""`autograder doctor`: what of the sandbox holds on this machine."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from autograder.grading.sandbox.probe import probe


def doctor(out: Console) -> int:
    """Say what holds on this machine; 0 when all does."""
    report = probe()
    for line in report.describe():
        out.print(escape(line), highlight=False, soft_wrap=True)
    if not report.unenforced:
        out.print("✓ Submissions can be graded safely here.")
        return 0
    out.print("✗ `autograder grade` refuses to run here. --unprotected grades all the same, and marks every result.")
    return 1
