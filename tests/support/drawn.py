"""What of many proofs and rows a run makes: on a push a few, drawn anew by each commit."""

import functools
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
WANTED = os.environ.get("PROOFS", "")
FEW = WANTED == "changed"  # what a push makes; the rest is made weekly
TENTH = 10

Row = TypeVar("Row")


def drawn(commit: str, what: str) -> bool:
    """Whether a proof is one of the tenth that a commit makes again."""
    return int(hashlib.sha256(f"{commit} {what}".encode()).hexdigest(), 16) % TENTH == 0


def some_of(rows: Sequence[Row], what: str, *, one_in: int, on_a_push: int) -> Sequence[Row]:
    """One in so many rows of a table, and fewer on a push, begun at another one for each commit."""
    begin = int(hashlib.sha256(f"{head()} {what}".encode()).hexdigest(), 16) % on_a_push if FEW else 0
    return rows[begin % max(1, len(rows)) :: on_a_push if FEW else one_in]


@functools.cache
def head() -> str:
    """The commit that is checked out; "" outside of git."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, encoding="ascii", check=False).stdout.strip()
    except FileNotFoundError:
        return ""
