"""The hand-ins of a lesson as they are compared: answers, cells of their own, and what the checks said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from nbformat import NotebookNode

from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import answer_of, cell_id, cells_of
from autograder.course.paths import Course
from autograder.grading.gradebook.reader import GradebookSnapshot
from autograder.grading.results import Outcome, Status
from autograder.grading.submission.reader import NotGradable, read_in
from autograder.grading.submission.reader import cells_of as submitted_cells_of
from autograder.grading.submission.repair import repair
from autograder.similar.traits import Kind, Trait, Traits, traits_of

OWN_CELLS, NAMES, WORDS = "cells of their own", "names", "words"  # aspects beside the exercises
MOST_LETTERS = 100_000  # of a hand-in that are compared
ASPECTS = {Kind.NAME: NAMES} | dict.fromkeys((Kind.COMMENT, Kind.DOCSTRING, Kind.TEXT, Kind.PASSAGE), WORDS)

Holdings: TypeAlias = Mapping[str, frozenset[Trait]]


@dataclass(frozen=True)
class Cell:
    """A cell that a student wrote."""

    place: str  # the exercise, or `OWN_CELLS`
    source: str
    traits: Traits


@dataclass(frozen=True)
class HandIn:
    """What one student handed in."""

    student: str
    cells: tuple[Cell, ...]
    slips: tuple[Outcome, ...] = ()  # the checks that failed
    is_cut: bool = False  # it is so long that not all of it is compared
    is_published: bool = False  # the code of every exercise is that of the solution, whatever variables are called

    @property
    def is_own(self) -> bool:
        """Something was written, and it is not the published solution."""
        return bool(self.cells) and not self.is_published

    def holdings(self, exercises: Sequence[str]) -> Holdings:
        """Aspect → its traits."""
        found: dict[str, set[Trait]] = {}
        for cell in self.cells:
            for trait in cell.traits:
                found.setdefault(ASPECTS.get(trait.kind, cell.place), set()).add(trait)
        for outcome in self.slips:
            found.setdefault(answer_of(outcome.check, exercises), set()).add(slip_of(outcome))
        return {aspect: frozenset(traits) for aspect, traits in found.items()}


def slip_of(outcome: Outcome) -> Trait:
    """A failed check as a trait: by the mistake that is proved, else by all that it said, numbers included."""
    return Trait(Kind.SLIP, f"{outcome.check}: {outcome.mistake or outcome.message or outcome.verdict}")


def known_traits(lessons: Iterable[Path]) -> frozenset[Trait]:
    """What these lessons say themselves: solutions, stubs, given cells, checks, and the text between them."""
    found: set[Trait] = set()
    for path in lessons:
        with suppress(CourseError):
            for cell in read_notebook(path).cells:
                found.update(traits_of(cell.source, is_code=cell.cell_type == "code"))
    return frozenset(found)


def read_hand_ins(book: GradebookSnapshot, lesson: str, source: NotebookNode) -> Iterator[HandIn]:
    """Read what was handed in for a lesson; what cannot be read is left out."""
    answers = [cell for cell in cells_of(source) if cell.is_answer and cell.kind == "code"]
    solution = {cell.id: _statements(traits_of(cell.source)) for cell in answers}
    for student in book.course.students(lesson):
        with suppress(NotGradable, OSError):
            graded = book.graded.get((student, lesson))
            outcomes = graded.outcomes.values() if graded else ()
            slips = tuple(outcome for outcome in outcomes if outcome.status is Status.FAILED)
            cells, is_cut = _cells(book.course, student, lesson, source)
            written = {cell.place: _statements(cell.traits) for cell in cells}
            yield HandIn(student, cells, slips, is_cut, bool(solution) and solution.items() <= written.items())


def _statements(traits: Traits) -> frozenset[Trait]:
    return frozenset(trait for trait in traits if trait.kind is Kind.STATEMENT)


def _cells(course: Course, student: str, lesson: str, source: NotebookNode) -> tuple[tuple[Cell, ...], bool]:
    """A student's answers and own cells, and whether some were left out because there is too much."""
    names = source.metadata.get("autograder", {}).get("notebooks", ())
    _, submitted, _ = read_in(course.submitted(student, lesson), lesson, names)
    given = {cell.id: cell for cell in cells_of(source)}
    made: list[Cell] = []
    left = MOST_LETTERS
    repaired = repair(source, submitted_cells_of(submitted))
    if repaired.reason:
        raise NotGradable(repaired.reason)
    for raw in repaired.notebook.cells:
        original = given.get(cell_id(raw))
        if original is not None and (not original.is_answer or raw.source == original.released):
            continue
        left -= len(raw.source)
        if left < 0:
            return tuple(made), True
        place = OWN_CELLS if original is None else original.id
        made.append(Cell(place, raw.source, traits_of(raw.source, is_code=raw.cell_type == "code")))
    return tuple(made), False
