"""Checks of the plain form: what bare asserts, errors and untouched answers come to."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from nbformat import NotebookNode

from autograder.check._errors import CheckBroken, CheckFailed, NotWritten
from autograder.check._translate import COURSES_MISTAKE, NOT_YOURS
from autograder.course.lesson import Lesson, cell_id, is_check, is_marked
from autograder.course.plain import KEY
from autograder.grading.submission.dependencies import names_in

MOST_SHOWN = 100  # characters of a value
MOST_VALUES = 3


@dataclass
class PlainLesson:
    """What a lesson of the plain form says of its checks."""

    answers: dict[str, str]  # check → the answer that it follows
    binds: dict[str, frozenset[str]]  # answer → the names that it gives a meaning
    bound: frozenset[str]  # the names to which any cell of the lesson gives one
    given: dict[str, frozenset[str]]  # given cell → the names that it binds, for cells that no answer has a part in
    untouched: set[str] = field(default_factory=set)  # the names of the answers that are still as they were given
    # the names that such a given cell failed to bind, with its error and how the cell begins
    spoilt: dict[str, list[str]] = field(default_factory=dict)
    notebook: str = ""

    @classmethod
    def of(cls, notebook: Mapping[str, Any]) -> Self | None:
        """Read a lesson; None where it has the form of a course."""
        if "notebooks" not in notebook.get("metadata", {}).get(KEY, {}):
            return None
        exercises = Lesson("", dict(notebook)).exercises
        answers = {check.id: each.name for each in exercises for check in each.checks}
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        names = {cell_id(cell): names_in(cell["source"], True) for cell in code}
        binds = {cell_id(cell): names[cell_id(cell)].binds for cell in code if is_marked(cell, "solution")}
        theirs, given = set[str]().union(*binds.values()), dict[str, frozenset[str]]()
        for cell in code:
            own = names[cell_id(cell)]
            if own.reads & theirs:
                theirs |= own.binds
            elif not is_check(cell) and cell_id(cell) not in binds:
                given[cell_id(cell)] = own.binds
        return cls(answers, binds, frozenset().union(*(own.binds for own in names.values())), given)

    def look_at(self, cells: Sequence[NotebookNode]) -> None:
        """Find the answers of a repaired notebook in which nothing is written."""
        for cell in cells:
            name, given = cell_id(cell), cell.metadata.get(KEY, {}).get("given", "")
            if name in self.binds and cell.source.split() == given.split():
                self.untouched |= self.binds[name]
            elif name in self.binds:
                self.untouched -= self.binds[name]

    def begins_another(self, cell: NotebookNode) -> bool:
        """Whether a code cell is the first of another notebook than the cell before it."""
        name = cell.metadata.get(KEY, {}).get("notebook", self.notebook)
        before, self.notebook = self.notebook, name
        return bool(before) and name != before

    def ended(self, cell: NotebookNode, error: NotebookNode) -> None:
        """Remember a cell that ended in an error."""
        for name in self.given.get(cell_id(cell), ()):
            first = cell.source.strip().partition("\n")[0]
            self.spoilt[name] = [f"{error.ename}: {error.evalue}", f"in the cell that begins with  {first}"]

    def explained(self, error: Exception, check: NotebookNode) -> Exception:
        """The verdict of a check where nothing is written yet, or where the check itself is what fails."""
        reads = names_in(check.source, False).reads
        if isinstance(error, NotWritten):
            return error
        if open_names := sorted(reads & self.untouched):
            slip = "Put your answer in its cell, run that, then run this one again."
            return NotWritten(f"`{open_names[0]}` is not written yet.", slip=slip)
        missing = error.missing if isinstance(error, CheckFailed) else ""
        if missing and missing in reads - self.bound:
            return CheckBroken(COURSES_MISTAKE, [f"NameError: name '{missing}' is not defined"], NOT_YOURS)
        if missing in self.spoilt:
            return CheckBroken(
                "A cell of the lesson fails, which is a mistake of the course.", self.spoilt[missing], NOT_YOURS
            )
        return error


def values_in(test: ast.expr, source: str, scope: Mapping[str, Any]) -> Iterator[str]:
    """What the two sides of an assert that failed are, a line each; of one that cannot be said, nothing."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else getattr(test, "args", [])
    for side in sides[:MOST_VALUES]:
        if isinstance(side, ast.GeneratorExp | ast.Starred) or not any(isinstance(e, ast.Name) for e in ast.walk(side)):
            continue
        try:
            text = repr(eval(compile(ast.Expression(side), "<values>", "eval"), dict(scope)))
        except Exception:
            continue
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]} …"
        yield f"{ast.get_source_segment(source, side)}  is  {shown}"
