"""Written answers: cells in which students answer in words, which a person reads and grades.

They are off unless nbgrader_config.py says `c.Autograder.written_answers = True`; then release, grading,
formgrader, pages and exports have them as they have every other answer.
"""

from __future__ import annotations

import copy

from nbformat import NotebookNode
from traitlets.config import Config

from autograder.course.lesson import cell_id

PREFIX = "explain"  # "explain" introduces them, "explain_structure" is one


def are_asked_for(config: Config) -> bool:
    """Whether a course asks for written answers."""
    return bool(config.get("Autograder", {}).get("written_answers", False))


def is_about_them(name: str) -> bool:
    """Whether a cell of this id belongs to them."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")


def asked(notebook: NotebookNode, config: Config) -> NotebookNode:
    """Return a lesson's notebook as the course asks for it: without the written answers where they are off."""
    if are_asked_for(config):
        return notebook
    fewer = copy.copy(notebook)
    fewer.cells = [cell for cell in notebook.cells if not is_about_them(cell_id(cell))]
    return fewer
