"""Commands that are measured, and the memory of all that they start. Linux only: it is read from /proc."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def environment() -> dict[str, str]:
    """With the scripts of this Python in PATH, as in an activated environment."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def command(line: Sequence[str], folder: Path) -> None:
    """Run a command in a course."""
    done = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"✗ `{' '.join(line)}` ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def in_a_process(module: str, *arguments: str) -> Any:
    """What a module beside this one prints, as JSON, when it is run with these words in a process of its own."""
    from autograder.grading.worker.client import THREADS

    here = os.pathsep.join(str(ROOT / folder) for folder in ("benchmarks", "tests"))
    settings = environment() | THREADS | {"NBGRADER_EXECUTION": "autograde", "MPLBACKEND": "agg", "PYTHONPATH": here}
    line = [sys.executable, "-m", f"measured.{module}", *arguments]
    return json.loads(subprocess.run(line, env=settings, check=True, stdout=subprocess.PIPE).stdout)


def memory(
    line: Sequence[str], folder: Path, every: float = 0.05, stderr: int | None = subprocess.DEVNULL
) -> list[tuple[float, float]]:
    """Time and MB of a command with all that it starts, until it ends."""
    samples = []
    with subprocess.Popen(line, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=stderr) as process:
        while process.poll() is None:
            samples.append((time.time(), sum(map(proportional_set, tree(process.pid)))))
            time.sleep(every)
    if process.returncode:
        sys.exit(f"✗ `{' '.join(line)}` ended with {process.returncode}.")
    return samples


def tree(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def proportional_set(pid: int) -> float:
    """MB of a process, what it shares with others divided among them; 0 when it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def peak(samples: Sequence[tuple[float, float]]) -> float:
    """The most MB."""
    return max(size for _, size in samples)
