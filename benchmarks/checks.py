"""How long does a student wait for the visible checks of a lesson? Writes checks.md.

    python benchmarks/checks.py

Each lesson runs in a process of its own, as a student's kernel does: its given cells and the answers, then the check
cells without their hidden tests, each for the first time. What the student waits for anyway, `import torch`, is
measured beside it, and so are the parts of PyTorch that some checks import on top. Then a kernel is started for each
lesson, and runs all that a student has to run until the first check has spoken. Each number is the faster of two, since
other machines' work slows this one down at times.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from jupyter_client.manager import start_new_kernel

from autograder.course.lesson import cells_of
from autograder.stub import without_regions

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# How long the visible checks of a lesson take

Made by `python benchmarks/checks.py`; do not edit.

All visible checks of a lesson on its solutions, once, in a fresh process, beside `import torch` in another one of the
same run, which took {torch:.1f} s. What some checks import of PyTorch on top, to try devices and to count, takes
{more:.1f} s once and is not in the table. The faster of two runs.

| lesson | all checks, s | the slowest, s | all checks / `import torch` |
|---|---:|---:|---:|
"""
OPENING = """
## From opening a lesson to the first verdict

A kernel starts, and runs every cell up to the first check, the answer filled in and what may be skipped left out. A
kernel that runs the imports of PyTorch alone, as every notebook with PyTorch does, took {floor:.1f} s in the same run;
what is beyond that is ours.

| lesson | seconds | of them ours |
|---|---:|---:|
"""
IMPORTS = "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"


def seconds(lesson: str) -> dict[str, float]:
    """Seconds of each check cell of a lesson, hidden tests left out."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.classroom import Classroom, run

    os.environ["NBGRADER_EXECUTION"] = "autograde"  # which shortens the training of lessons 6 and 7
    room = Classroom(lesson)
    for name, source in room.answers.items():
        run(source, name, room.scope)
    more()
    taken = {}
    for cell in room.checks:
        start = time.perf_counter()
        run(without_regions(cell.source, "HIDDEN TESTS"), cell.id, room.scope)
        taken[cell.id] = time.perf_counter() - start
    return taken


def more() -> float:
    """Seconds of what some checks import on top of torch."""
    start = time.perf_counter()
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    with FakeTensorMode():
        torch.nn.Linear(1, 1)(torch.ones(1))
    with torch.device("meta"), FlopCounterMode(display=False):
        torch.nn.Linear(1, 1)(torch.ones(1))
    return time.perf_counter() - start


def first_cells(lesson: str) -> list[str]:
    """What a student runs until the first check has spoken."""
    notebook = nbformat.read(ROOT / "solutions" / lesson / f"{lesson}.ipynb", as_version=4)
    cells = cells_of(notebook)
    first = next(at for at, cell in enumerate(cells) if cell.is_graded)
    needed = [cell for cell in cells[: first + 1] if cell.kind == "code" and "try-it" not in cell.tags]
    return [without_regions(cell.source, "HIDDEN TESTS") for cell in needed]


def opened(cells: list[str]) -> float:
    """Seconds from starting a kernel until it has run these cells."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_VERSION"}
    begin = time.perf_counter()
    manager, client = start_new_kernel(env=environment)
    try:
        for cell in cells:
            reply = client.execute_interactive(cell, output_hook=lambda _: None, timeout=120)
            if reply["content"]["status"] != "ok":
                raise SystemExit(f"{reply['content']['ename']}: {reply['content']['evalue']}, in\n{cell}")
        return time.perf_counter() - begin
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def fastest(*arguments: str) -> list[float]:
    """The numbers, as JSON, that a process printed in the one of two runs in which they add up to least."""
    command = [sys.executable, *arguments]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(2))
    return min((json.loads(done.stdout.splitlines()[-1]) for done in runs), key=sum)


def main() -> None:
    """Measure every lesson and write the page."""
    (torch,) = fastest("-c", "import time; s = time.time(); import torch; print([time.time() - s])")
    (further,) = fastest(
        "-c", f"import sys, torch; sys.path[:0] = [{str(ROOT / 'benchmarks')!r}]; import checks; print([checks.more()])"
    )
    lines = [HEAD.format(torch=torch, more=further)]
    for folder in sorted((ROOT / "solutions").glob("*/")):
        taken = fastest(__file__, folder.name)
        lines.append(f"| {folder.name} | {sum(taken):.2f} | {max(taken):.2f} | {sum(taken) / torch:.2f} |\n")
    floor = min(opened([IMPORTS]) for _ in range(3))
    lines.append(OPENING.format(floor=floor))
    for folder in sorted((ROOT / "solutions").glob("*/")):
        spent = min(opened(first_cells(folder.name)) for _ in range(2))
        lines.append(f"| {folder.name} | {spent:.2f} | {spent - floor:.2f} |\n")
    (ROOT / "benchmarks" / "checks.md").write_text("".join(lines), encoding="utf-8")
    print("".join(lines))


if __name__ == "__main__":
    print(json.dumps([*seconds(sys.argv[1]).values()])) if sys.argv[1:] else main()
