"""A prediction is taken from whatever was handed in: never a note, never a point, and no code for it."""

import copy
import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from support.sample_lesson import ANSWER, PREDICT, cell, code, sample_lesson

from autograder.grading.results import Limits, Result
from autograder.grading.submission.reader import cells_in
from autograder.grading.submission.repair import Repaired, repair
from autograder.grading.worker.client import GradingServer

Notebook = dict[str, Any]
TOPIC, NAME = "predict_length", "predicted_length"
SOLUTION = ANSWER.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION", "")
FOUR = PREDICT.replace('""', '"4"')
BREAKS_OUT = "predicted_length = __import__('os').getcwd()"


def repaired(change: Callable[[Notebook], object]) -> Repaired:
    """Repair the sample lesson with a right answer and one thing done to it."""
    source, submitted = sample_lesson(), sample_lesson()
    cell(submitted, "double")["source"] = SOLUTION
    change(submitted)
    return repair(nbformat.from_dict(source), cells_in(submitted))


def write(*sources: str) -> Callable[[Notebook], None]:
    """Write into the predict cell, and into copies of it below, ids included."""

    def change(notebook: Notebook) -> None:
        place = notebook["cells"].index(cell(notebook, TOPIC))
        twins = [copy.deepcopy(notebook["cells"][place]) | {"source": source} for source in sources]
        notebook["cells"][place : place + 1] = twins

    return change


def without_ids(notebook: Notebook) -> None:
    """Fill in the prediction, and lose every id, as in older formats."""
    write(FOUR)(notebook)
    for each in notebook["cells"]:
        del each["id"]


def elsewhere(notebook: Notebook) -> None:
    """Predict in a cell of one's own, below the figure, and leave the other as it was."""
    notebook["cells"].insert(-2, code("mine", f"{NAME} = 4"))


def as_text(notebook: Notebook) -> None:
    """Turn the filled cell into text."""
    cell(notebook, TOPIC).update(cell_type="markdown", source=FOUR)


PREDICTED = {
    "untouched": (write(PREDICT), "", PREDICT),
    "filled in": (write(FOUR), "4", FOUR),
    "with words of the student's own": (write(f"# two each\n{NAME} = 4"), "4", f"# two each\n{NAME} = 4"),
    "markup": (write(f'{NAME} = "<b onclick=x>"'), "<b onclick=x>", f'{NAME} = "<b onclick=x>"'),
    "copied, the last one filled": (write(PREDICT, FOUR), "4", FOUR),
    "copied, the first one filled": (write(FOUR, PREDICT), "4", FOUR),
    "copied, both filled": (write(f'{NAME} = "3"', FOUR), "4", FOUR),
    "ids lost": (without_ids, "4", FOUR),
    "in a cell of one's own": (elsewhere, "4", f"{NAME} = 4"),
    "deleted": (write(), "", PREDICT),
    "turned into text": (as_text, "", PREDICT),
    "emptied": (write(""), "", PREDICT),
}
CODE = {
    "code": BREAKS_OUT,
    "a huge text": f'{NAME} = "{"x" * 10**6}"',
    "another name": 'predicted_width = "4"',
    "several statements": f"{FOUR}\nprint(4)",
    "no Python": f"{NAME} = four",
}


@pytest.mark.parametrize(("change", "text", "source"), PREDICTED.values(), ids=PREDICTED)
def test_a_prediction_takes_its_place(change: Callable[[Notebook], object], text: str, source: str) -> None:
    """It stands in the lesson's own cell, once; nothing is noted, and repairing again changes nothing."""
    done = repaired(change)
    assert done.predictions == {TOPIC: text}
    assert [note for note in done.notes if "nbgrader's marks" not in note.text] == []
    assert cell(done.notebook, TOPIC).source == source
    assert len(done.notebook.cells) == len(sample_lesson()["cells"])
    again = repair(nbformat.from_dict(sample_lesson()), cells_in(done.notebook))
    assert (again.notebook, again.notes, again.predictions) == (done.notebook, (), done.predictions)


@pytest.mark.parametrize("source", CODE.values(), ids=CODE)
def test_what_is_no_prediction_is_a_cell_of_the_students(source: str) -> None:
    """The lesson's own line stays, the student's runs behind it like any other cell, and nothing is predicted."""
    done = repaired(write(source))
    assert (done.predictions, done.notes) == ({TOPIC: ""}, ())
    at = done.notebook.cells.index(cell(done.notebook, TOPIC))
    assert [each.source for each in done.notebook.cells[at : at + 2]] == [PREDICT, source]


def test_two_predictions_are_told_apart() -> None:
    """Each takes its own name, though the student wrote them into each other's cells."""
    lesson = sample_lesson()
    other = 'predicted_width = ""  # a number'
    lesson["cells"].insert(-3, code("predict_width", other, tags=["predict"]))
    submitted = copy.deepcopy(lesson)
    cell(submitted, TOPIC)["source"], cell(submitted, "predict_width")["source"] = other.replace('""', "7"), FOUR
    done = repair(nbformat.from_dict(lesson), cells_in(submitted))
    assert done.predictions == {TOPIC: "4", "predict_width": "7"}


@pytest.mark.parametrize(
    ("source", "text"), [(FOUR, "4"), (PREDICT, ""), (BREAKS_OUT, ""), (f"{NAME} = '\\ud800\\x00'", "?\x00")]
)
def test_points_do_not_depend_on_it(warm: GradingServer, source: str, text: str) -> None:
    """Graded, whatever was predicted gives the same points and no note, and comes with the result, as JSON too."""
    submitted = sample_lesson()
    cell(submitted, "double")["source"] = SOLUTION
    write(source)(submitted)
    given, handed_in = (json.dumps(notebook).encode() for notebook in (sample_lesson(), submitted))
    result = warm.grade("ann", "01_doubling", given, handed_in, Limits(cell_seconds=5))
    assert (result.score, result.notes, result.predictions) == (4, (), {TOPIC: text})
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_cells_of_the_students_own_can_read_it(warm: GradingServer) -> None:
    """What compares runs with the student's own prediction where their cells need it."""
    submitted = sample_lesson()
    write(FOUR)(submitted)
    submitted["cells"].append(code("mine", f"print({NAME} * 2)"))
    given, handed_in = (json.dumps(notebook).encode() for notebook in (sample_lesson(), submitted))
    result = warm.grade("ann", "01_doubling", given, handed_in, Limits(cell_seconds=5))
    assert cell(json.loads(result.notebook), "mine")["outputs"][0]["text"] == "44\n"
