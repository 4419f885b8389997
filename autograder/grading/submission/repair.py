"""Repair: the instructor's notebook, with the student's answers and extra cells in it.

A student gives the sources of the answers and cells of their own; everything else comes from the instructor. So copied,
deleted, moved, retyped or edited cells and lost metadata cost nobody anything, and no check can be changed.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course.lesson import STUB, cell_id, definition, is_marked, parse_or_none, without_regions
from autograder.grading.results import Note, NoteKind
from autograder.grading.submission.reader import Cell


@dataclass(frozen=True)
class Repaired:
    """A notebook that can be run and graded.

    Attributes:
        notebook: the instructor's, hidden tests included, with the student's answers and extra cells.
        notes: what was mended; empty for a submission in which nothing was.
    """

    notebook: NotebookNode
    notes: tuple[Note, ...]


class _Known:
    """A cell of the instructor's: its id, what students get of it, and what part it plays."""

    def __init__(self, raw: NotebookNode) -> None:
        self.raw, self.id, self.kind = raw, cell_id(raw), raw.cell_type
        self.is_answer, self.is_check = is_marked(raw, "solution"), is_marked(raw, "grade")
        self.released = without_regions(without_regions(raw.source, "SOLUTION", STUB), "HIDDEN TESTS")
        self.texts = {_plain(self.released), _plain(raw.source)}


def repair(source: NotebookNode, submitted: Sequence[Cell]) -> Repaired:
    """Put the answers and extra cells of a submission into the instructor's notebook.

    An answer is found by nbgrader's id, then by the cell's own, then by the function or class that it defines; of
    several the last one that is not the stub counts. Other cells keep their place behind the cell of the instructor's
    that they follow.

    Args:
        source: the lesson in solutions/.
        submitted: what the student handed in, in order.
    """
    known = [_Known(raw) for raw in source.cells]
    by_id = {each.id: each for each in known if each.id}
    owner = [_owner(cell, by_id, known) for cell in submitted]  # the instructor's cell that each one is
    answers: dict[str, str] = {}
    spent: set[int] = set()
    notes: list[Note] = []
    for each in known:
        if each.is_answer:
            place, said = _answer(each, submitted, owner, spent)
            notes += said
            spent.update(i for i, own in enumerate(owner) if own is each)
            if place is not None:
                answers[each.id] = submitted[place].source
                owner[place] = each
                spent.add(place)
    notes += _about_checks(known, submitted, owner) + _about_the_whole(known, submitted, owner)
    extras = _extras(submitted, owner, spent, known[0] if known else None)
    return Repaired(_built(source, known, answers, extras), tuple(notes))


def _owner(cell: Cell, by_id: dict[str, _Known], known: Sequence[_Known]) -> _Known | None:
    """The instructor's cell that a submitted one is: by its ids, else by its text."""
    for name in cell.ids:
        if name in by_id:
            return by_id[name]
    text = _plain(cell.source)
    return next((each for each in known if text in each.texts), None) if text else None


def _answer(
    wanted: _Known, submitted: Sequence[Cell], owner: Sequence[_Known | None], spent: set[int]
) -> tuple[int | None, list[Note]]:
    """Where the answer `wanted` stands among the submitted cells, and what was odd about it."""

    def written(place: int) -> bool:
        return _plain(submitted[place].source) not in {"", _plain(wanted.released)}

    name, about = wanted.id, NoteKind.ANSWER
    mine = [place for place, own in enumerate(owner) if own is wanted]
    marked = [place for place in mine if submitted[place].grade_id == name] or mine
    done = [place for place in marked if written(place)] or [place for place in mine if written(place)]
    if done:
        place, said = done[-1], list[Note]()
        texts = {_plain(submitted[each].source) for each in done}
        if len(texts) > 1:
            said.append(Note(about, f"The answer `{name}` was there {len(texts)} times; the last one counts."))
        if submitted[place].kind != "code":
            said.append(Note(about, f"The answer `{name}` stood in a {submitted[place].kind} cell; it counts as code."))
        return place, said
    for place in reversed(range(len(submitted))):
        cell = submitted[place]
        free = owner[place] is None and place not in spent and cell.kind == "code"
        if free and definition(parse_or_none(cell.source), name) is not None:
            where = "stood in a cell of its own" if mine else "was found by its name; its cell had lost its mark"
            return place, [Note(about, f"The answer `{name}` {where}.")]
    return (marked[-1], []) if marked else (None, [Note(about, f"The answer `{name}` is not in the notebook.")])


def _about_checks(known: Sequence[_Known], submitted: Sequence[Cell], owner: Sequence[_Known | None]) -> list[Note]:
    notes = []
    for each in known:
        if not each.is_check:
            continue
        found = [cell for cell, own in zip(submitted, owner, strict=True) if own is each]
        if not found:
            text = f"The check `{each.id}` had been deleted and was put back."
            notes.append(Note(NoteKind.CHECK_DELETED, text))
        elif all(_plain(cell.source) not in each.texts for cell in found):
            text = f"The check `{each.id}` had been changed; the original was run."
            notes.append(Note(NoteKind.CHECK_CHANGED, text))
    several = len(notes) > 3 and len(notes) == sum(each.is_check for each in known)
    return _all_checks(notes) if several else notes


def _all_checks(notes: Sequence[Note]) -> list[Note]:
    deleted = sum(note.kind is NoteKind.CHECK_DELETED for note in notes)
    changed = len(notes) - deleted
    text = f"No check was as given ({deleted} deleted, {changed} changed); the originals were run."
    return [Note(NoteKind.CHECK_CHANGED, text)]


def _about_the_whole(known: Sequence[_Known], submitted: Sequence[Cell], owner: Sequence[_Known | None]) -> list[Note]:
    """What befell the notebook rather than a cell."""
    marked = [each for each in known if each.raw.metadata.get("nbgrader")]
    found = [own for own in owner if own is not None]
    notes = []
    if not any(own.is_answer or own.is_check for own in found):
        text = "None of the lesson's exercises is in this notebook. Is it another lesson's?"
        return [Note(NoteKind.NOTEBOOK, text)]
    if not any(cell.grade_id for cell in submitted):
        notes.append(Note(NoteKind.NOTEBOOK, "The cells had lost nbgrader's marks."))
    order = {id(each): place for place, each in enumerate(known)}
    first_seen = list(dict.fromkeys(order[id(own)] for own in found if own in marked))
    if first_seen != sorted(first_seen):
        notes.append(Note(NoteKind.NOTEBOOK, "Cells stood in another order."))
    return notes


def _extras(
    submitted: Sequence[Cell], owner: Sequence[_Known | None], spent: set[int], first: _Known | None
) -> list[tuple[_Known | None, Cell]]:
    """The student's own cells, each with the instructor's cell that it follows.

    A cell that was given and that the student changed is theirs as well: it runs behind the original.
    """
    extras, behind = [], first
    for place, (cell, own) in enumerate(zip(submitted, owner, strict=True)):
        if own is not None:
            behind = own
            changed = cell.kind == "code" and own.kind == "code" and _plain(cell.source) not in own.texts
            if own.is_answer or own.is_check or not changed:
                continue
        if place not in spent and cell.source.strip() and cell.kind != "raw":
            extras.append((behind, cell))
    return extras


def _built(
    source: NotebookNode, known: Sequence[_Known], answers: dict[str, str], extras: Sequence[tuple[_Known | None, Cell]]
) -> NotebookNode:
    notebook = copy.deepcopy(source)
    notebook.cells = []
    taken = Counter(each.id for each in known)
    for each in known:
        cell = copy.deepcopy(each.raw)
        if each.is_answer:
            cell.source = answers.get(each.id, each.released)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        notebook.cells.append(cell)
        for behind, own in extras:
            if behind is each:
                new = new_code_cell(own.source) if own.kind == "code" else new_markdown_cell(own.source)
                new.id = own.id if own.id and not taken[own.id] and len(own.id) <= 64 and own.id.isascii() else new.id
                taken[new.id] += 1
                notebook.cells.append(new)
    return notebook


def _plain(source: str) -> str:
    """A source without what editors change by themselves: spaces at the ends of lines and of the text."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
