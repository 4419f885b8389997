"""Repair: the instructor's notebook, with the student's answers and extra cells in it.

A student gives the sources of the answers and cells of their own; everything else comes from the instructor. So copied,
deleted, moved, retyped or edited cells and lost metadata cost nobody anything, and no check can be changed.
"""

import ast
import copy
import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.course.address import without_address
from autograder.course.lesson import Cell, answer_of, cells_of, definition, is_check, parse_or_none
from autograder.course.predictions import is_prediction, name_of, predicted
from autograder.course.versions.released import digest_of, earlier_of
from autograder.grading.results import Note, NoteKind
from autograder.grading.submission.dependencies import names_in as names_of
from autograder.grading.submission.harmless import MOST_LETTERS, MOST_OF_OWN, harmless, shortened
from autograder.grading.submission.lessons import NOT_THIS_LESSON, NOTHING_IN_IT, TAKES, names_in
from autograder.grading.submission.reader import MOST_CELLS, SubmittedCell

STUB_WORDS = "raise NotImplementedError"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what nbformat takes


@dataclass(frozen=True)
class Repaired:
    """A notebook that can be run and graded."""

    notebook: NotebookNode  # the instructor's, hidden tests included, with the student's answers and extra cells
    notes: tuple[Note, ...]  # what was mended; empty for a submission in which nothing was
    # predict cell → what the student predicted, "" for nothing
    predictions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""  # why it cannot be graded: nothing of the lesson was in it; "" as a rule


def repair(source: NotebookNode, submitted: Sequence[SubmittedCell]) -> Repaired:
    """Put the answers and extra cells of a submission into the instructor's notebook.

    An answer is found by nbgrader's id, then by the cell's own, then by the name that it binds. Of several the last one
    above its check takes its place, and everything else that was written runs as well, in its order. A prediction is
    found by the name to which it assigns one text or number. Other cells keep their place behind the cell of the
    instructor's that they follow. What has been repaired comes back as it is, without notes.
    """
    return _Repair(source, submitted).repaired()


class _Repair:
    """One submission beside the lesson that it belongs to."""

    def __init__(self, source: NotebookNode, submitted: Sequence[SubmittedCell]) -> None:
        self.source, self.cells = source, cells_of(source)
        # Where a cell was given by an earlier release, what is new may be missing.
        self.submitted, self.is_earlier = _brought_up(submitted, self.cells, earlier_of(source))
        self.texts = {id(cell): {_normalised(cell.released), _normalised(cell.source)} for cell in self.cells}
        self.by_id = {cell.id: cell for cell in self.cells if cell.id}
        # For each submitted cell the instructor's cell that it is, None for the student's own.
        self.owners = [self._owner(cell) for cell in self.submitted]
        # The places of submitted cells that have been taken for an answer or a prediction, or are copies of one; of
        # those that were written for an answer and run beside it; and of those that hold another answer as well.
        self.spent, self.pieces, self.shared = set[int](), set[int](), set[int]()
        self.answers: dict[str, int] = {}  # where each answer was taken from
        self.notes: list[Note] = []
        # A cell may be asked for every answer.
        self.parsed, self.names = functools.cache(parse_or_none), functools.cache(names_of)

    def repaired(self) -> Repaired:
        """Take the answers, say what was mended, and build the notebook."""
        written, predictions = {}, {}
        for cell in self.cells:
            if cell.is_answer:
                place = self._answer(cell)
                self.spent.update(self._places(cell))
                if place is not None:
                    written[cell.id] = self.submitted[place].source
                    if place not in self.shared:
                        self.owners[place] = cell
                        self.spent.add(place)
                        self.answers[cell.id] = place
        for cell in filter(is_prediction, self.cells):
            predictions[cell.id] = ""
            for place, text in self._predictions(cell).items():
                self.owners[place] = cell
                self.spent.add(place)
                if text:
                    predictions[cell.id], written[cell.id] = text, self.submitted[place].source
        if reason := self._why_not_this_lesson():
            return Repaired(self._built(written), (), predictions, reason)
        self._note_checks()
        self._note_the_whole()
        return Repaired(self._built(written), tuple(self.notes), predictions)

    def _owner(self, submitted: SubmittedCell) -> Cell | None:
        """The instructor's cell that a submitted one is: by its ids, unless it has the text of another."""
        owner = next((self.by_id[name] for name in (submitted.grade_id, submitted.id) if name in self.by_id), None)
        text = _normalised(submitted.source)
        return owner if owner and self._is_as_given(text, owner) else self._given_as(text) or owner

    def _given_as(self, text: str) -> Cell | None:
        """The instructor's cell in which this text was given; None for nothing."""
        return next((cell for cell in self.cells if self._is_as_given(text, cell)), None) if text else None

    def _is_as_given(self, text: str, cell: Cell) -> bool:
        return text in self.texts[id(cell)]

    def _places(self, cell: Cell) -> list[int]:
        """Where the submitted cells are that are this one of the instructor's."""
        return [place for place, owner in enumerate(self.owners) if owner is cell]

    def _note(self, kind: NoteKind, text: str, cell: str = "") -> None:
        self.notes.append(Note(kind, text, cell))

    def _answer(self, cell: Cell) -> int | None:
        """Where the cell stands that takes an answer's place; what is odd about it is noted.

        Of all cells that bind its name the last one above its check, and where there is none, the last one below.
        Pieces of a split cell, drafts and copies beside it run as the student's own.
        """
        name, released = cell.id, _normalised(cell.released)
        texts = {place: _normalised(self.submitted[place].source) for place in self._places(cell)}
        written = [
            place for place, text in texts.items() if text not in ("", released) and not self._is_stub(text, name)
        ]
        own = [place for place in range(len(self.submitted)) if self._defines(place, name)]
        binding = [place for place in written if self._binds(place, name, is_marked=True)]
        end = min((place for place, owner in enumerate(self.owners) if _is_check_of(owner, name)), default=MOST_CELLS)
        above = ([place for place in places if place < end] for places in (binding, own))
        for places in (*above, binding, own, written):
            if places:
                return self._taken(cell, places[-1], texts, written)
        if (place := self._elsewhere(name)) is not None:
            where = self.owners[place]
            self._note(NoteKind.ANSWER, f"The answer `{name}` stood in the cell `{where.id if where else ''}`.", name)
            self.shared.add(place)
            return place
        if not texts:
            self._note(NoteKind.ANSWER, f"The answer `{name}` is not in the notebook.", name)
        return max(texts, default=None)

    def _taken(self, cell: Cell, place: int, texts: Mapping[int, str], written: Sequence[int]) -> int:
        """The place that an answer is taken from, with notes on it; what else was written there stays the student's."""
        name, kind = cell.id, self.submitted[place].kind
        others = {texts[other] for other in written if other != place} - {_normalised(self.submitted[place].source)}
        code = [other for other in written if texts[other] in others and self.submitted[other].kind == "code"]
        self.pieces.update(other for other in written if texts[other] in others)
        if code and cell.kind == "code":
            text = f"The answer `{name}` stood in {len(code) + 1} cells; all of them ran, in their order."
            self._note(NoteKind.ANSWER, text, name)
        elif others and cell.kind != "code":
            self._note(
                NoteKind.ANSWER, f"The answer `{name}` was there {len(others) + 1} times; see all of them.", name
            )
        if place not in texts and not code:
            where = "stood in a cell of its own" if texts else "was found by its name; its cell had lost its mark"
            self._note(NoteKind.ANSWER, f"The answer `{name}` {where}.", name)
        elif kind != cell.kind:
            counts = "code" if cell.kind == "code" else "text"
            self._note(NoteKind.ANSWER, f"The answer `{name}` stood in a {kind} cell; it counts as {counts}.", name)
        return place

    def _is_stub(self, text: str, name: str) -> bool:
        """Nothing is written but what raises that nothing is."""
        if STUB_WORDS not in text:
            return False
        node = definition(self.parsed(text), name)
        if not isinstance(node, ast.FunctionDef) or not isinstance(node.body[-1], ast.Raise):
            return False
        return not any(isinstance(statement, ast.Return) for statement in node.body)

    def _binds(self, place: int, name: str, *, is_marked: bool = False) -> bool:
        """A cell gives a name its meaning; one with the mark of an answer also where it would, were it Python."""
        source = self.submitted[place].source
        if name not in source or TAKES in source:
            return False
        names = self.names(source, True)
        return name in names.binds or (
            is_marked and names.opaque and re.search(rf"\b(def|class)\s+{name}\b", source) is not None
        )

    def _defines(self, place: int, name: str) -> bool:
        """A cell of the student's own gives a name its meaning, and has not been taken for another."""
        cell = self.submitted[place]
        is_free = self.owners[place] is None and place not in self.spent and cell.kind == "code"
        return is_free and not self._is_stub(cell.source, name) and self._binds(place, name)

    def _elsewhere(self, name: str) -> int | None:
        """Where an answer stands in another's cell: that of an answer, a check, or one that was given and changed."""
        found = (
            place
            for place, cell in enumerate(self.submitted)
            if cell.kind == "code"
            and self.owners[place] is not None
            and self._given_as(_normalised(cell.source)) is None
            and self._binds(place, name)
        )
        return max(found, default=None)

    def _predictions(self, cell: Cell) -> dict[int, str]:
        """Where the submitted cells are that predict in this one's place, filled in or not, and what each predicts."""
        name, found = name_of(cell), {}
        for place, (submitted, owner) in enumerate(zip(self.submitted, self.owners, strict=True)):
            if submitted.kind == "code" and place not in self.spent and (owner is None or is_prediction(owner)):
                text = predicted(submitted.source, name)
                if text is not None:
                    found[place] = text
        return found

    def _note_checks(self) -> None:
        """Note which checks had been deleted or changed; where none was as given, in one line."""
        checks = [cell for cell in self.cells if is_check(cell.raw)]
        missing = [check for check in checks if not self._places(check)]
        changed = [check for check in checks if check not in missing and not self._is_untouched(check)]
        deleted = [] if self.is_earlier else missing
        if len(checks) > 3 and len(deleted) + len(changed) == len(checks):
            text = f"No check was as given ({len(deleted)} deleted, {len(changed)} changed); the originals were run."
            self._note(NoteKind.CHECK_CHANGED, text)
            return
        for check in checks:
            if check in deleted:
                text = f"The check `{check.id}` had been deleted and was put back."
                self._note(NoteKind.CHECK_DELETED, text, check.id)
            elif check in changed:
                text = f"The check `{check.id}` had been changed; the original was run."
                self._note(NoteKind.CHECK_CHANGED, text, check.id)

    def _is_untouched(self, check: Cell) -> bool:
        texts = (_normalised(self.submitted[place].source) for place in self._places(check))
        return any(self._is_as_given(text, check) for text in texts)

    def _why_not_this_lesson(self) -> str:
        """What to say where neither an answer nor a check of the lesson is in the notebook; "" as a rule."""
        names = {cell.id for cell in self.cells if cell.is_answer or cell.is_graded}
        pairs = zip(self.submitted, self.owners, strict=True)
        if names & names_in(self.submitted) or any(
            owner and owner.id in names and owner.id not in (cell.grade_id, cell.id) for cell, owner in pairs
        ):  # by ids and definitions, or by their texts
            return ""
        return NOT_THIS_LESSON if any(cell.source.strip() for cell in self.submitted) else NOTHING_IN_IT

    def _note_the_whole(self) -> None:
        """Note what befell the notebook rather than a cell."""
        owners = [owner for owner in self.owners if owner is not None]
        if not any(cell.grade_id for cell in self.submitted):
            self._note(NoteKind.NOTEBOOK, "The cells had lost nbgrader's marks.")
        places = {id(cell): place for place, cell in enumerate(self.cells)}
        first_seen = list(dict.fromkeys(places[id(owner)] for owner in owners if owner.nbgrader))
        if first_seen != sorted(first_seen):
            self._note(NoteKind.NOTEBOOK, "Cells stood in another order.")

    def _extras(self) -> list[tuple[SubmittedCell, Cell | None]]:
        """The student's own cells, each with the instructor's cell that it follows.

        A cell that was given and that the student changed is theirs as well: it runs behind the original. So does a
        copy of one, which sets right again what they have changed between.
        """
        extras, seen = [], set[int]()
        follows = self.cells[0] if self.cells else None
        order = {id(cell): number for number, cell in enumerate(self.cells)}
        for place, (cell, owner) in enumerate(zip(self.submitted, self.owners, strict=True)):
            is_piece = place in self.pieces
            if owner is not None and not is_piece:
                # What stands above the cell that an answer is taken from runs above it; one that is taken from below
                # its place leaves the cells around it where they are.
                is_there = not owner.is_answer or self.answers.get(owner.id, place) == place
                is_back = owner.is_answer and follows is not None and order[id(owner)] < order[id(follows)]
                follows = owner if is_there and not is_back else follows
                is_changed = self._given_as(_normalised(cell.source)) is None or id(owner) in seen
                seen.add(id(owner))
                if owner.is_answer or owner.is_graded or not (is_changed and cell.kind == owner.kind == "code"):
                    continue
            if (place not in self.spent or is_piece) and cell.source.strip() and cell.kind != "raw":
                extras.append((cell, follows))
        return extras

    def _built(self, written: dict[str, str]) -> NotebookNode:
        notebook, extras = copy.copy(self.source), self._extras()
        notebook.metadata, notebook.cells = copy.deepcopy(self.source.metadata), []
        taken, left = Counter(cell.id for cell in self.cells), MOST_OF_OWN
        for raw, original in zip(self.source.cells, self.cells, strict=True):
            cell = copy.deepcopy(raw)
            if original.is_answer or original.id in written:
                cell.source = written.get(original.id, original.released)
                if original.is_written and not self._is_as_given(_normalised(cell.source), original):
                    text = harmless(cell.source)
                    if (shown := shortened(text, MOST_LETTERS)) != text:
                        said = f"The answer `{original.id}` is too long to be shown as a whole; see what was handed in."
                        self._note(NoteKind.ANSWER, said, original.id)
                    cell.source = shown
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            notebook.cells.append(cell)
            for own, follows in extras:
                if follows is original:
                    cell = _new_cell(own, taken, min(left, MOST_LETTERS))
                    left -= len(cell.source) if cell.cell_type == "markdown" else 0
                    taken[cell.id] += 1
                    notebook.cells.append(cell)
        return notebook


def _brought_up(
    submitted: Sequence[SubmittedCell], cells: Sequence[Cell], earlier: Mapping[str, str]
) -> tuple[list[SubmittedCell], bool]:
    """Return a submission's cells, what an earlier release gave as it is given now or gone, and whether any was such.

    `earlier` has digest → id of what earlier releases gave, which is no change of the student's.
    """
    if not earlier:
        return list(submitted), False
    now = {cell.id: cell.released for cell in cells}
    pairs = [(cell, earlier.get(digest_of(cell.source))) for cell in submitted]
    found = [
        cell if name is None else replace(cell, source=now[name]) for cell, name in pairs if name is None or name in now
    ]
    return found, any(name for _, name in pairs)


def _is_check_of(owner: Cell | None, answer: str) -> bool:
    """A cell of the instructor's is a check of an answer."""
    return owner is not None and is_check(owner.raw) and bool(answer_of(owner.id, [answer]))


def _new_cell(cell: SubmittedCell, taken: Counter[str], most: int) -> NotebookNode:
    """A cell of the student's own, under its id where that is free and one that a notebook may have."""
    is_code, text = cell.kind == "code", cell.source
    made: NotebookNode = new_code_cell(text) if is_code else new_markdown_cell(shortened(harmless(text), most))
    if _ID.fullmatch(cell.id) and not taken[cell.id]:
        made.id = cell.id
    return made


def _normalised(source: str) -> str:
    """A source without what editors change by themselves, spaces at the ends of lines and of the text, and address."""
    return without_address("\n".join(line.rstrip() for line in source.strip().splitlines()))
