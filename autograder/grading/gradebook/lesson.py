"""A lesson as the gradebook has it: which checks and answers, worth what, with which texts."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.api import Assignment, BaseCell, GradeCell, Notebook, SolutionCell, SourceCell, TaskCell
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution, is_task
from sqlalchemy import Connection, func, select

from autograder.course.config import CourseError
from autograder.course.lesson import cell_id
from autograder.course.names import counted
from autograder.course.plain import data_in
from autograder.grading.gradebook.database import RELEASE
from autograder.grading.results import Result


@dataclass(frozen=True)
class ReleasedCell:
    """A cell as it was released."""

    checksum: str
    is_locked: bool


@dataclass(frozen=True)
class GradebookLesson:
    """A lesson as the gradebook has it."""

    name: str
    points: Mapping[str, float]  # check → points; what is graded by hand alone is among them
    duedate: datetime | None = None
    # the cells in which students answer → their ids in the database
    answers: Mapping[str, str] = field(default_factory=dict)
    # the cells that have points → their ids in the database; those that are answers as well a person grades
    checks: Mapping[str, str] = field(default_factory=dict)
    # all cells that nbgrader knows, as they were released
    cells: Mapping[str, ReleasedCell] = field(default_factory=dict)
    # the cells under which students write, and which a person grades; they are among the checks
    tasks: frozenset[str] = frozenset()
    # its notebooks → their ids in the database; one of its own name, but in the plain form
    notebooks: Mapping[str, str] = field(default_factory=dict)
    # the ids of its cells in the database → those of their notebooks
    homes: Mapping[str, str] = field(default_factory=dict)
    assignment_id: str = ""
    kernelspec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def max_score(self) -> float:
        """The points that there are to earn."""
        return sum(self.points.values())

    @property
    def written(self) -> frozenset[str]:
        """The answers in words, which a person grades."""
        return frozenset(self.checks).intersection(self.answers) | self.tasks

    def due(self, extension: timedelta | None) -> datetime | None:
        """When it is due for somebody who has so much more time, in UTC; None where no date is set."""
        return self.duedate + (extension or timedelta()) if self.duedate else None

    def require_fit(self, result: Result, notebook: NotebookNode) -> None:
        """Raise CourseError where a result is about another lesson than the gradebook's."""
        if result.reason:
            return
        points = {outcome.check: outcome.points for outcome in result.checks}
        self._require_points(points | {name: self.points[name] for name in self.written})
        self.require_same(notebook)

    def require_same(self, notebook: NotebookNode) -> None:
        """Raise CourseError where the checks, the answers or a locked text differ from the gradebook's."""
        cells = _nbgrader_cells(notebook)
        self._require_points(
            {
                name: float(cell.metadata.nbgrader["points"])
                for name, cell in cells.items()
                if is_grade(cell) or is_task(cell)
            }
        )
        self._require_names(self.answers.keys(), {name for name, cell in cells.items() if is_solution(cell)}, "answer")
        self._require_names(self.cells.keys(), cells.keys(), "cell")
        for name, cell in cells.items():
            if is_locked(cell) and not self._is_as_released(name, cell):
                self._refuse(f"its `{name}` has another text")

    def require_same_data(self, data: Mapping[str, bytes], released: Path) -> None:
        """Raise CourseError where students have another data file in the folder of the lesson, if it is there."""
        if not released.is_dir():
            return
        theirs = data_in(released)
        for name, content in data.items():
            if name not in theirs:
                self._refuse(f"its file `{name}` is new")
            if theirs[name].read_bytes() != content:
                self._refuse(f"its file `{name}` has changed")

    def _require_points(self, points: Mapping[str, float]) -> None:
        self._require_names(self.checks.keys(), points.keys(), "check")
        for name, worth in points.items():
            if worth != self.points[name]:
                self._refuse(f"its `{name}` is worth {counted(worth, 'point')} and not {self.points[name]:g}")

    def _require_names(self, ours: Collection[str], theirs: Collection[str], kind: str) -> None:
        for name in sorted(set(ours) ^ set(theirs)):
            self._refuse(f"it {'lacks' if name in ours else 'has'} the {kind} `{name}`")

    def _refuse(self, difference: str) -> None:
        raise CourseError(f"The {self.name} of solutions/ is not the one that was released: {difference}. {RELEASE}")

    def _is_as_released(self, name: str, cell: NotebookNode) -> bool:
        return bool(compute_checksum(cell) == self.cells[name].checksum)

    def unanswered(self, notebook: NotebookNode) -> set[str]:
        """Return the answers that are still as released."""
        answers = {name: cell for name, cell in _nbgrader_cells(notebook).items() if is_solution(cell)}
        return {name for name, cell in answers.items() if self._is_as_released(name, cell)}

    def mark(self, notebook: NotebookNode) -> None:
        """Give the notebook's cells the metadata that nbgrader's own autograde leaves in them."""
        for name, cell in _nbgrader_cells(notebook).items():
            released = self.cells[name]
            cell.metadata.nbgrader.update({"checksum": released.checksum, "locked": released.is_locked})
            if is_grade(cell):
                cell.metadata.nbgrader["points"] = self.points[name]
        if self.kernelspec:
            notebook.metadata["kernelspec"] = from_dict(self.kernelspec)


def read_lesson(connection: Connection, name: str) -> GradebookLesson:
    """Read a lesson that is to be graded; CourseError where the gradebook does not have it."""
    lesson = read_lessons(connection, name).get(name)
    if lesson is None:
        raise CourseError(f"The gradebook does not know the lesson {name}. {RELEASE}")
    return lesson


def read_lessons(connection: Connection, name: str | None = None) -> dict[str, GradebookLesson]:
    """Read one lesson, or all in the course's order, in three queries, however many students there are."""
    of_lesson = Assignment.name.label("lesson"), Assignment.id.label("assignment_id"), Assignment.duedate
    notebooks = connection.execute(
        select(*of_lesson, Notebook.id, Notebook.name, Notebook.kernelspec)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .where(*([Assignment.name == name] if name is not None else []))
        .order_by(Assignment.name)
    ).all()
    lesson_of = {notebook.id: notebook.lesson for notebook in notebooks}
    base, graded, task = BaseCell.__table__, GradeCell.__table__, TaskCell.__table__
    points = func.coalesce(graded.c.max_score, task.c.max_score).label("points")
    cells = connection.execute(
        select(base.c.notebook_id, base.c.id, base.c.name, base.c.type, points)
        .outerjoin(graded, graded.c.id == base.c.id)
        .outerjoin(task, task.c.id == base.c.id)
        .where(base.c.notebook_id.in_(lesson_of))
    ).all()
    columns = SourceCell.notebook_id, SourceCell.name, SourceCell.checksum, SourceCell.locked
    released = connection.execute(select(*columns).where(SourceCell.notebook_id.in_(lesson_of))).all()
    lessons = {}
    for lesson in dict.fromkeys(lesson_of.values()):
        own_notebooks = [notebook for notebook in notebooks if notebook.lesson == lesson]
        own_cells = [cell for cell in cells if lesson_of[cell.notebook_id] == lesson]
        main = next((notebook for notebook in own_notebooks if notebook.name == lesson), own_notebooks[0])
        lessons[lesson] = GradebookLesson(
            name=lesson,
            points={cell.name: cell.points for cell in own_cells if cell.points is not None},
            duedate=main.duedate,
            answers={cell.name: cell.id for cell in own_cells if cell.type == SolutionCell.__name__},
            checks={cell.name: cell.id for cell in own_cells if cell.points is not None},
            cells={
                cell.name: ReleasedCell(checksum=cell.checksum, is_locked=cell.locked)
                for cell in released
                if lesson_of[cell.notebook_id] == lesson
            },
            tasks=frozenset(cell.name for cell in own_cells if cell.type == TaskCell.__name__),
            notebooks={notebook.name: notebook.id for notebook in own_notebooks},
            homes={cell.id: cell.notebook_id for cell in own_cells},
            assignment_id=main.assignment_id,
            kernelspec=json.loads(main.kernelspec or "{}"),
        )
    return lessons


def _nbgrader_cells(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """The cells that nbgrader knows, by their names."""
    return {cell_id(cell): cell for cell in notebook.cells if cell.metadata.get("nbgrader")}
