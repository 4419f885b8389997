"""Written answers: cells in which students answer in words, which a person reads and grades.

They are off unless nbgrader_config.py says `c.Autograder.written_answers = True`; then release, grading,
formgrader, pages and exports have them as they have every other answer.
"""

import copy
from collections.abc import Iterator

from nbformat import NotebookNode
from traitlets.config import Config

from autograder.course.lesson import Lesson, cell_id
from autograder.stub import regions

PREFIX = "explain"  # "explain" introduces them, "explain_structure" is one


def is_about_them(name: str) -> bool:
    """Whether a cell of this id belongs to them."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")


def asked(notebook: NotebookNode, config: Config) -> NotebookNode:
    """Return a lesson's notebook as the course asks for it: without the written answers where they are off."""
    if config.get("Autograder", {}).get("written_answers", False):
        return notebook
    fewer = copy.copy(notebook)
    fewer.cells = [cell for cell in notebook.cells if not is_about_them(cell_id(cell))]
    return fewer


def written_answers_are_whole(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """An answer in words has a heading, points, and what a good one says, which students do not see."""
    for cell in lesson.cells:
        if cell.is_written and not is_about_them(cell.id):
            yield cell.label, "a person grades it. Give it an id that begins with `explain_`, or make it a check."
        elif not cell.id.startswith("explain_"):
            continue
        elif not cell.is_written or cell.kind != "markdown" or cell.is_locked:
            yield cell.label, "nbgrader does not take it as an answer in words. Make it Markdown, graded, a solution."
        elif not cell.source.startswith("### ") or cell.points <= 0:
            yield cell.label, "it has no heading `### …`, or no points. Give it both."
        elif not regions(cell.source, "SOLUTION"):
            yield cell.label, "it does not say what a good answer is. Put that between the marks of a solution."
