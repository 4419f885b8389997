"""Whatever was handed in is repaired: the lesson's cells as they are in solutions/, the student's where they belong."""

import json
from typing import Any

import nbformat
from fuzz.bounds import soon
from fuzz.pieces import CODE
from fuzz.strategies import dumped, files, joined, lesson, markdown, notebooks, released, sources
from hypothesis import assume, example, given
from hypothesis import strategies as st
from nbformat import NotebookNode

from autograder.course.lesson import parse_or_none
from autograder.course.predictions import LONGEST, predicted
from autograder.grading.results import NoteKind
from autograder.grading.submission.dependencies import names_in, unneeded
from autograder.grading.submission.harmless import harmless
from autograder.grading.submission.reader import NotGradable, SubmittedCell, cells_of
from autograder.grading.submission.repair import Repaired, repair

SOURCE: NotebookNode = nbformat.from_dict(lesson())
WRITTEN_BY_STUDENTS = ("double", "predict_length", "explain")
GIVEN = {cell.id: cell for cell in SOURCE.cells if cell.id not in WRITTEN_BY_STUDENTS}
PIECES = [*CODE, "\n", " ", "a.", "a[0]", "x\n", "(" * 50, "%a ", "!", "= %", ";", "/f a\n", ",f\n", "?\n", " ?", "f'{"]
PIECES += ["é", "\\"]


def submitted(raw: bytes) -> list[SubmittedCell] | None:
    """The cells of a file, None where it has a reason."""
    try:
        return cells_of(raw)
    except NotGradable:
        return None


def repaired(raw: bytes) -> Repaired | None:
    """What comes of a file, None where it has a reason."""
    return None if (cells := submitted(raw)) is None else repair(SOURCE, cells)


def require_whole(found: Repaired) -> None:
    """It is a notebook with the lesson's own cells, in order and as they were; notes are of a kind, and readable."""
    notebook = found.notebook
    nbformat.validate(notebook)
    json.dumps(notebook).encode("utf-8")
    known = [cell for cell in notebook.cells if cell.id in GIVEN or cell.id in WRITTEN_BY_STUDENTS]
    assert [cell.id for cell in known] == [cell.id for cell in SOURCE.cells]
    assert [cell.metadata for cell in known] == [cell.metadata for cell in SOURCE.cells]
    for cell in known:
        assert cell.id in WRITTEN_BY_STUDENTS or cell.source == GIVEN[cell.id].source
        assert cell.cell_type == next(given.cell_type for given in SOURCE.cells if given.id == cell.id)
    for cell in notebook.cells:
        assert not cell.get("outputs") and not cell.get("attachments")
        assert cell.id in {each.id for each in known} or not cell.metadata
    assert notebook.metadata == SOURCE.metadata
    for note in found.notes:
        assert note.kind in NoteKind and note.text.isprintable() and len(note.text) < 200
    assert set(found.predictions) == {"predict_length"}
    assert all(len(text) <= LONGEST for text in found.predictions.values())


@given(notebooks())
def test_any_notebook_is_repaired(notebook: dict[str, Any]) -> None:
    """The lesson's own cells are those of the instructor, whatever was done to the student's; no answer is invented."""
    with soon():
        found = repaired(dumped(notebook).encode("utf-8"))
    assume(found is not None)
    require_whole(found)
    again = repair(SOURCE, cells_of(json.dumps(found.notebook).encode()))
    assert again.notebook == found.notebook and not again.notes


@given(files())
def test_any_file_is_repaired_or_has_a_reason(raw: bytes) -> None:
    """From bytes to a notebook that can be run, with nothing else on the way."""
    with soon():
        found = repaired(raw)
    if found is not None:
        require_whole(found)


@given(sources, notebooks())
def test_an_answer_in_its_own_cell_is_what_runs(source: str, notebook: dict[str, Any]) -> None:
    """Where one cell has the mark and something of its own in it, and no other binds the name, that is the answer."""
    answer = next(cell for cell in released()["cells"] if cell["id"] == "double")
    others = [cell for cell in submitted(dumped(notebook).encode()) or () if "double" not in (cell.grade_id, cell.id)]
    (mine,) = cells_of(json.dumps({"cells": [{**answer, "source": source}]}).encode())
    assume(mine.source.strip() and not any(other.source.strip() == answer["source"].strip() for other in others))
    assume(mine.source.strip() not in {cell["source"].strip() for cell in released()["cells"]})
    assume(not any("double" in names_in(other.source, True).binds for other in others if other.kind == "code"))
    found = repair(SOURCE, [*others, mine]).notebook
    assert next(cell for cell in found.cells if cell.id == "double").source == mine.source


@given(st.lists(st.tuples(sources, st.booleans()), max_size=6))
@example([("\x85", False)])  # at which IPython warns, and a warning counted as an error of the grader's
def test_any_cells_tell_what_they_need(cells: list[tuple[str, bool]]) -> None:
    """Names are found in any source, and only given cells are ever left out."""
    with soon():
        left_out = unneeded(cells)
        assert all(cells[place][1] for place in left_out)
        assert unneeded(cells, {cell: names_in(*cell) for cell in cells}) == left_out


@given(st.sampled_from(PIECES), st.sampled_from(PIECES), st.sampled_from(["", "x = 1\n" * 3000, "\n", " # a"]))
@example("\n", "", "")  # blank lines in front of a magic were looked for anew at each of them
@example("%f a\n", "", "x = 1\n" * 3000)  # IPython reads the whole cell again for every magic
@example("a.", "", "?")  # and each word of a question's line again for every other
@example("/f a\n", "", "")
def test_a_long_cell_is_parsed_soon(piece: str, between: str, end: str) -> None:
    """Twenty thousand of any piece of code are read, or are no Python, within seconds."""
    source = (piece + between) * 40 + piece * min(20_000, 200_000 // max(1, len(piece))) + end
    with soon():
        parse_or_none(source)
        names_in(source, False)
        predicted(source, "predicted_length")


NUMBERS = ['predicted_length = "', "predicted_length = ", '"', "-", "0x", "9" * 50, "1j", "(", ")", "b'", "f'"]


@given(st.one_of(sources, joined(NUMBERS)))
def test_a_prediction_is_a_short_text_or_none(source: str) -> None:
    """Whatever stands in a predict cell is read and never run."""
    text = predicted(source, "predicted_length")
    assert text is None or (len(text) <= LONGEST and text.encode("utf-8") is not None and "\n" not in text)


@given(markdown)
def test_harmless_text_reads_as_it_was_written(text: str) -> None:
    """Nothing but an invisible letter is added, and once is enough."""
    assert harmless(text).replace("\N{WORD JOINER}", "") == text.replace("\N{WORD JOINER}", "")
    assert harmless(harmless(text)) == harmless(text)
