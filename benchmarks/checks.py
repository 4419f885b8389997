"""How long does a student wait for the visible checks of a lesson? Writes checks.md.

    python benchmarks/checks.py

Each lesson runs in a process of its own, as a student's kernel does: its given cells and the answers, then the check
cells without their hidden tests, each for the first time. What the student waits for anyway, `import torch`, is
measured beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# How long the visible checks of a lesson take

Made by `python benchmarks/checks.py`; do not edit.

All visible checks of a lesson on its solutions, once, in a fresh process, beside `import torch` in another one of the
same run, which took {torch:.1f} s.

| lesson | all checks, s | the slowest, s | all checks / `import torch` |
|---|---:|---:|---:|
"""


def seconds(lesson: str) -> dict[str, float]:
    """Seconds of each check cell of a lesson, hidden tests left out."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.classroom import Classroom, run

    from autograder.course.lesson import without_regions

    os.environ["NBGRADER_EXECUTION"] = "autograde"  # which shortens the training of lessons 6 and 7
    room = Classroom(lesson)
    for name, source in room.answers.items():
        run(source, name, room.scope)
    taken = {}
    for cell in room.checks:
        start = time.perf_counter()
        run(without_regions(cell.source, "HIDDEN TESTS"), cell.id, room.scope)
        taken[cell.id] = time.perf_counter() - start
    return taken


def in_a_process(*arguments: str) -> str:
    """The last line that Python prints when it is called like this."""
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Measure every lesson and write the page."""
    torch = float(in_a_process("-c", "import time; s = time.time(); import torch; print(time.time() - s)"))
    lines = [HEAD.format(torch=torch)]
    for folder in sorted((ROOT / "solutions").glob("*/")):
        taken = json.loads(in_a_process(__file__, folder.name)).values()
        lines.append(f"| {folder.name} | {sum(taken):.2f} | {max(taken):.2f} | {sum(taken) / torch:.2f} |\n")
    (ROOT / "benchmarks" / "checks.md").write_text("".join(lines), encoding="utf-8")
    print("".join(lines))


if __name__ == "__main__":
    print(json.dumps(seconds(sys.argv[1]))) if sys.argv[1:] else main()
