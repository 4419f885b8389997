"""A demo class: five invented students in every lesson, graded by stock nbgrader in a folder of their own.

`submission` puts any answers into a released notebook; `class_work` says what each of the five hands in.
"""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook

from autograder.course import CONFIG, CourseError, load_config, read_notebook
from autograder.lesson import Exercise, Lesson, cell_id
from autograder.release import release, to_bytes

MARKER = ".made-by-autograder-demo"
STUDENTS = ("perfect", "untouched", "half-done", "typical", "messy")
OWN_FOLDERS = """
# The demo has its own folders and its own gradebook, whatever stands above.
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"
c.CourseDirectory.directory_structure = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# What stands in each solution region of an answer instead of the solution; None leaves the region as it is.
TYPICAL: dict[str, Sequence[str | None]] = {
    "scaled_dot_product_attention": ["""\
        scores = query @ key.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights"""],
    "padding_mask": ["return (tokens == pad_id)[:, None, None, :]"],
    "causal_mask": ["return torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)"],
    "split_heads": ["""\
        batch, seq_len, d_model = x.shape
        return x.reshape(batch, num_heads, seq_len, d_model // num_heads)"""],
    "TokenEmbedding": [None, "return self.embedding(tokens)"],
    "sinusoidal_encoding": ["""\
        position = torch.arange(max_len).unsqueeze(1)
        angle = position / 10000 ** (2 * torch.arange(0, d_model, 2) / d_model)
        encoding = torch.zeros(max_len, d_model)
        encoding[:, 0::2] = torch.sin(angle)
        encoding[:, 1::2] = torch.cos(angle)
        return encoding"""],
    "PositionalEncoding": [None, """\
        if x.size(1) > self.encoding.size(0):
            raise ValueError(f"{x.size(1)} is more than {self.encoding.size(0)}")
        return self.dropout(x + self.encoding[: x.size(0)].unsqueeze(1))"""],
}  # fmt: skip

NOTES = [
    "%matplotlib inline\n%time _ = sum(range(10))\n!echo my notes",
    "import matplotlib.pyplot as plt\n\nplt.plot([1, 2, 4])\nplt.show()",
    "for i in range(5000):\n    print('step', i, '-' * 60)",
    "import sys, warnings\n\nwarnings.warn('I am not sure about this')\nprint('hm', file=sys.stderr)",
    "1 / 0",
    "undefined_name",
    "100",
]
CHATTY = """\
import functools

def chatty(function):
    @functools.wraps(function)
    def talk(*args, **kwargs):
        print("calling", function.__name__, "-" * 200)
        warnings.warn("still debugging")
        print("debugging", file=sys.stderr)
        return function(*args, **kwargs)
    return talk"""


def answer(source: str, bodies: Iterable[str | None] = ()) -> str:
    """Return a solution as a student would hand it in: without marks, `bodies` in place of its first regions."""
    instead: Iterator[str | None] = iter(bodies)
    kept: list[str] = []
    body = None
    for line in source.split("\n"):
        if line.strip() == "### BEGIN SOLUTION":
            body = next(instead, None)
            if body is not None:
                kept += textwrap.indent(textwrap.dedent(body), line[: -len(line.lstrip())]).split("\n")
        elif line.strip() == "### END SOLUTION":
            body = None
        elif body is None:
            kept.append(line)
    return "\n".join(kept)


def solved(exercises: Iterable[Exercise]) -> dict[str, str]:
    """Return the right answer to each exercise."""
    return {exercise.name: answer(exercise.answer.source) for exercise in exercises}


def submission(released: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """Return a copy of the released notebook with these answers, exercise → source, in their cells."""
    notebook = copy.deepcopy(released)
    cells = {cell_id(cell): cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")}
    if unknown := answers.keys() - cells.keys():
        raise CourseError(f"The lesson has no exercise {', '.join(sorted(unknown))}. It has {', '.join(cells)}.")
    for name, source in answers.items():
        cells[name].source = source
    return notebook


def class_work(lesson: Lesson, released: NotebookNode) -> dict[str, NotebookNode]:
    """Return what each student hands in."""
    right = solved(lesson.exercises)
    half = (len(lesson.exercises) + 1) // 2
    slips = {e.name: answer(e.answer.source, TYPICAL[e.name]) for e in lesson.exercises if e.name in TYPICAL}
    return {
        "perfect": submission(released, right),
        "untouched": submission(released, {}),
        "half-done": submission(released, solved(lesson.exercises[:half])),
        "typical": submission(released, right | slips),
        "messy": messy(submission(released, right)),
    }


def messy(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook after a long night: the answers unchanged, everything around them in disorder."""
    notebook = copy.deepcopy(notebook)
    answers = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    checks = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    checks[0].source = "assert True  # it worked at home"
    for cell in answers:
        cell.source += f"\nprint({cell_id(cell)})"
        if cell.source.startswith("def "):
            cell.source = f"@chatty\n{cell.source}"
    last = [cell for cell in checks if cell_id(cell).startswith(f"check_{cell_id(answers[-1])}")]
    rest = [cell for cell in notebook.cells if cell not in last]
    rest[2:2] = [*map(new_code_cell, NOTES), new_code_cell(CHATTY), new_markdown_cell("# My notes")]
    notebook.cells = [*rest, new_code_cell(NOTES[1]), *last, new_code_cell(NOTES[4])]
    for count, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = 300 - count
        cell.outputs = [new_output("stream", text="old\n"), new_output("error", ename="Old", evalue="", traceback=[])]
    return colab_save(notebook)


def colab_save(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook as Colab saves a copy of it: older format, no ids, metadata of its own."""
    notebook = copy.deepcopy(notebook)
    notebook.nbformat_minor = 0
    notebook.metadata = NotebookNode(
        accelerator="GPU",
        colab={"name": "Copy of my lesson.ipynb", "provenance": [], "gpuType": "T4", "toc_visible": True},
        kernelspec={"name": "python3", "display_name": "Python 3"},
        language_info={"name": "python"},
    )
    for count, cell in enumerate(notebook.cells):
        cell.pop("id", None)
        cell.metadata["id"] = f"kQx{count:09}"
        if cell.cell_type == "code":
            colab = {"base_uri": "https://localhost:8080/", "height": 34}
            ran = {"elapsed": 17, "status": "ok", "timestamp": 1893456000000, "user_tz": -60}
            cell.metadata |= {"outputId": f"f00-{count}", "colab": colab, "executionInfo": ran}
    return notebook


def hand_in(folder: Path, student: str, lesson: str, notebook: NotebookNode) -> None:
    """Put a notebook where nbgrader expects it."""
    path = folder / "submitted" / student / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_bytes(notebook))


def make_course(root: Path, folder: Path, wanted: Sequence[str] = ()) -> dict[str, Lesson]:
    """Copy the wanted lessons of a course, or all, into a course of their own, release them, and return them."""
    names = sorted(path.name for path in (root / "solutions").glob("[!._]*/"))
    if unknown := set(wanted) - set(names):
        raise CourseError(f"solutions/ has no lesson {', '.join(sorted(unknown))}. It has {', '.join(names)}.")
    prepare(folder)
    for name in wanted or names:
        shutil.copytree(root / "solutions" / name, folder / "solutions" / name)
    shutil.copy(root / "pyproject.toml", folder)
    config = f"{(root / CONFIG).read_text(encoding='utf-8')}\nimport os\nfrom pathlib import Path\n{OWN_FOLDERS}"
    (folder / CONFIG).write_text(config, encoding="utf-8")
    release(folder)
    sources = sorted((folder / "solutions").glob("*/*.ipynb"))
    return {path.stem: Lesson(path.stem, read_notebook(path)) for path in sources}


def prepare(folder: Path) -> None:
    """Make the folder, or empty it when it is an earlier demo; touch nothing else."""
    if (folder / MARKER).is_file():
        shutil.rmtree(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} was not made by `autograder demo`. Move it away, or name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).touch()


def released_notebook(folder: Path, lesson: str) -> NotebookNode:
    """Read a lesson as students get it."""
    return read_notebook(folder / "notebooks" / lesson / f"{lesson}.ipynb")


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run an nbgrader command in a course, with one thread for numbers, and return what it said."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    environment = os.environ | ONE_THREAD
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise CourseError(f"`nbgrader {' '.join(arguments)}` failed in {folder}. It says:\n{last}")
    return done.stderr


def open_gradebook(folder: Path) -> Gradebook:
    """Open the gradebook of a demo."""
    settings = load_config(folder).CourseDirectory
    return Gradebook(settings.db_url, settings.course_id)


def grade(folder: Path, lessons: Iterable[str], students: Sequence[str] = STUDENTS) -> None:
    """Autograde what was handed in, two shares of the students at a time, and write the feedback pages."""
    with open_gradebook(folder) as gradebook:
        for student in students:
            gradebook.update_or_create_student(student)
    halves = [students[0::2], students[1::2]] if len(students) > 1 and (os.cpu_count() or 1) > 1 else [students]

    def autograde(lesson: str, share: Sequence[str]) -> None:
        others = ",".join(student for student in students if student not in share)
        nbgrader(folder, "autograde", lesson, f"--CourseDirectory.student_id_exclude={others}")

    names = list(lessons)
    with ThreadPoolExecutor(len(halves)) as pool:
        list(pool.map(autograde, *zip(*((name, share) for name in names for share in halves), strict=True)))
        list(pool.map(lambda name: nbgrader(folder, "generate_feedback", name), names))


def scores(folder: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Return points and maximum of every (student, lesson) in the gradebook."""
    with open_gradebook(folder) as gradebook:
        found = [each for lesson in gradebook.assignments for each in lesson.submissions]
        return {(each.student_id, each.assignment.name): (each.score, each.max_score) for each in found}


def table(found: Mapping[tuple[str, str], tuple[float, float]], lessons: Sequence[str]) -> list[str]:
    """Return a line per student, points of maximum for each lesson."""
    rows = [["", *lessons]]
    for student in STUDENTS:
        marks = [found[student, lesson] for lesson in lessons]
        rows.append([student, *(f"{points:g} of {maximum:g}" for points, maximum in marks)])
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    aligned = ([name.ljust(first), *map(str.rjust, marks, widths)] for name, *marks in rows)
    return ["   ".join(line).rstrip() for line in aligned]


def demo(root: Path, folder: Path, wanted: Sequence[str] = (), say: Callable[[str], object] = print) -> None:
    """Make the demo class of a course in `folder`, grade it, and say how everyone did and where to look."""
    lessons = make_course(root, folder, wanted)
    count = len(lessons) * len(STUDENTS)
    say(f"Grading {count} notebooks of {len(STUDENTS)} invented students, about {round(count * 3.5)} seconds …")
    for name, lesson in lessons.items():
        for student, notebook in class_work(lesson, released_notebook(folder, name)).items():
            hand_in(folder, student, name, notebook)
    grade(folder, lessons)
    for line in ["", *table(scores(folder), list(lessons)), ""]:
        say(line)
    say(f"gradebook             {folder / 'gradebook.db'}")
    say(f"feedback pages        {folder / 'feedback' / 'STUDENT' / 'LESSON' / 'LESSON.html'}")
    say(f"autograded notebooks  {folder / 'autograded' / 'STUDENT' / 'LESSON' / 'LESSON.ipynb'}")
