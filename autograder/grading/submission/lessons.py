"""Whose lesson a notebook is that has nothing of the one it was handed in for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import Lesson
from autograder.grading.submission.reader import SubmittedCell

NOTHING_IN_IT = "There is no cell with anything in it in the notebook. Hand in the one with your answers."
NOT_THIS_LESSON = (
    "None of this lesson's exercises is in the notebook. Hand in the one with your answers to this lesson."
)
BINDS = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^([\w, \t]+?)(?::.*)?=(?!=)|^[ \t]*(?:from|import)[ \t](.*)$",
    re.MULTILINE,
)
TAKES = "yours.take("  # how a later lesson gets an earlier one's answers


class Marks(NamedTuple):
    """By what a lesson's notebook is known."""

    title: str  # its first line
    names: frozenset[str]  # the ids of its answers and checks; an answer's is the name of what it defines

    def known_in(self, cells: Sequence[SubmittedCell]) -> int:
        """How much of the lesson is in a notebook: its answers and checks by their ids or names, and its title."""
        has_title = any(cell.kind == "markdown" and cell.source.startswith(self.title) for cell in cells)
        return 2 * len(self.names & names_in(cells)) + has_title


def marks_of(sources: Iterable[Path]) -> dict[str, Marks]:
    """The marks of all of these lessons that can be read, by their names."""
    found = {}
    for path in sources:
        with suppress(CourseError):
            cells = Lesson(path.stem, read_notebook(path)).cells
            names = frozenset(cell.id for cell in cells if cell.is_answer or cell.is_graded)
            found[path.stem] = Marks(cells[0].lines[0] if cells and cells[0].lines else "\0", names)
    return found


def names_in(cells: Iterable[SubmittedCell]) -> set[str]:
    """Names of answers and checks that may be in a notebook: by its cells' ids, or by what these bind, as lines say.

    A given cell of one lesson may have the id of another lesson's answer, so that the id alone says little.
    """
    found = set()
    for cell in cells:
        found |= {cell.grade_id} | ({cell.id} if cell.id.startswith("check_") or cell.id in cell.source else set())
        if cell.kind == "code" and TAKES not in cell.source:
            for match in BINDS.finditer(cell.source):
                found.update(re.findall(r"\w+", " ".join(filter(None, match.groups()))))
    return found


def another_lesson(lesson: str, cells: Sequence[SubmittedCell], marks: Mapping[str, Marks]) -> str:
    """Which lesson's notebook it is, rather than this one's; "" where none is known."""
    known = {name: its.known_in(cells) for name, its in marks.items()}
    best = max(known, key=lambda name: known[name], default=lesson)
    return best if best != lesson and known[best] else ""


def with_name(reason: str, lesson: str, cells: Sequence[SubmittedCell], marks: Mapping[str, Marks]) -> str:
    """Return a reason with the name of the lesson whose notebook it is, where that is the reason and one is known."""
    other = another_lesson(lesson, cells, marks)
    if reason != NOT_THIS_LESSON or not other:
        return reason
    return (
        f"This is the notebook of lesson {other}, and none of this lesson's exercises is in it. "
        f"Hand in the notebook of lesson {lesson}."
    )
