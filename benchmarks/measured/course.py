"""A course with a class that hands in one lesson, and what stock nbgrader and ours make of it."""

import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from measured.processes import ROOT
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.api import Gradebook

from autograder.course.config import CONFIG, read_notebook
from autograder.course.lesson import Lesson, cell_id
from autograder.demo.sample_class import hand_in, make_course, released_notebook
from autograder.demo.students import NOTES, TYPICAL, answer, solved, submission

CLASS = ("solved", "wrong", "half done", "wrong", "right", "untouched")
CLASS += ("typical", "wrong", "messy", "wrong", "half done", "wrong")


def hand_ins(lesson: Lesson, released: NotebookNode, count: int) -> dict[str, NotebookNode]:
    """What each student hands in; the same every time."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
    from answers import RIGHT, WRONG
    from matrix import source

    chance, right = random.Random(0), solved(lesson.exercises)

    def from_table(table: Sequence, most: int) -> dict[str, str]:
        found = {each.exercise: source(lesson.name, each) for each in chance.sample(list(table), most)}
        return right | {exercise: answer(text) for exercise, text in found.items()}

    def work(kind: str) -> NotebookNode:
        if kind == "untouched":
            return submission(released, {})
        if kind == "half done":
            return submission(released, solved(lesson.exercises[: chance.randrange(1, len(lesson.exercises))]))
        if kind == "typical":
            slips = {e.name: answer(e.answer.source, TYPICAL[e.name]) for e in lesson.exercises if e.name in TYPICAL}
            return submission(released, right | slips)
        if kind in ("right", "wrong"):
            mistakes = [row for row in WRONG[lesson.name] if row.check is not None]  # those that learners make
            rows, most = (RIGHT[lesson.name], 1) if kind == "right" else (mistakes, chance.randint(1, 3))
            return submission(released, from_table(rows, most))
        return submission(released, right) if kind == "solved" else messy(submission(released, right))

    return {f"student-{place:03}": work(CLASS[place % len(CLASS)]) for place in range(count)}


def messy(notebook: NotebookNode) -> NotebookNode:
    """The answers among notes, prints, pictures, errors and old outputs; nothing that stock nbgrader cannot grade."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\nprint({cell_id(cell)})"
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = 7, [new_output("stream", text="old\n")]
    notebook.cells[2:2] = [new_code_cell(note, id=f"note-{place}") for place, note in enumerate(NOTES)]
    return notebook


class Course:
    """One course with a class, of which every run gets a copy."""

    def __init__(self, folder: Path, lesson: str, count: int) -> None:
        self._folder, self._copies, self.lesson = folder, 0, lesson
        self.made = make_course(ROOT, folder / "course", [lesson])[lesson]
        self.released = released_notebook(folder / "course", lesson)
        self.students = hand_ins(self.made, self.released, count)

    def copy(self, students: Mapping[str, NotebookNode] | None = None, config: str = "") -> Path:
        """A fresh copy, in which all of the class or others have handed in."""
        self._copies += 1
        folder = self._folder / f"copy-{self._copies}"
        shutil.copytree(self._folder / "course", folder)
        for student, notebook in (self.students if students is None else students).items():
            hand_in(folder, student, self.lesson, notebook)
        if config:
            (folder / CONFIG).write_text(config, encoding="utf-8")
        return folder

    def several(self, count: int, of: int) -> dict[str, NotebookNode]:
        """So many students, who copied from the first `of` of the class."""
        notebooks = list(self.students.values())[:of]
        return {f"student-{place:05}": notebooks[place % of] for place in range(count)}

    def stock(self) -> list[str]:
        """The command of stock nbgrader."""
        return [sys.executable, "-m", "nbgrader", "autograde", self.lesson]

    def ours(self, jobs: int = 2) -> list[str]:
        """Our command."""
        return [sys.executable, "-m", "autograder.cli", "grade", self.lesson, "--jobs", str(jobs)]

    def points(self, folder: Path) -> dict[tuple[str, str], float]:
        """(student, check) → points in the gradebook, of those who have a notebook in autograded/."""
        with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "transformer") as gradebook:
            return {
                (each.student_id, grade.name): grade.score
                for each in gradebook.assignment_submissions(self.lesson)
                if (folder / "autograded" / each.student_id / self.lesson / f"{self.lesson}.ipynb").is_file()
                for notebook in each.notebooks
                for grade in notebook.grades
            }

    def graded_cells(self, folder: Path) -> list[list[str]]:
        """For each student the code that ours ran, from the notebooks in autograded/."""
        source = read_notebook(folder / "solutions" / self.lesson / f"{self.lesson}.ipynb")
        graded = sorted((folder / "autograded").glob("*/*/*.ipynb"))
        return [cells_that_run(source, read_notebook(path)) for path in graded]


def cells_that_run(source: NotebookNode, graded: NotebookNode) -> list[str]:
    """The code of a graded notebook, without the given cells that the judge leaves out."""
    from autograder.grading.submission.dependencies import unneeded

    given = {cell_id(cell) for cell in source.cells if not cell.metadata.get("nbgrader", {}).get("grade")}
    given -= {cell_id(cell) for cell in source.cells if cell.metadata.get("nbgrader", {}).get("solution")}
    cells = [cell for cell in graded.cells if cell.cell_type == "code"]
    idle = unneeded([(cell.source, cell_id(cell) in given) for cell in cells])
    return [cell.source for place, cell in enumerate(cells) if place not in idle]


def require_same(ours: Mapping[tuple[str, str], float], stock: Mapping[tuple[str, str], float]) -> None:
    """End with the differences, if there are any."""
    different = [key for key in sorted(ours.keys() | stock.keys()) if ours.get(key) != stock.get(key)]
    if different:
        lines = [f"{'  '.join(key)}: ours {ours.get(key)}, stock {stock.get(key)}" for key in different]
        sys.exit("\n".join([f"✗ {len(different)} checks are graded otherwise:", *lines]))
