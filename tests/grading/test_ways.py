"""What a student has right on their own screen is right when it is graded, however they work."""

import copy
import json
from pathlib import Path

import pytest
from faults.ways_of_working import WAYS, Way
from support.classroom import ROOT
from support.drawn import some_of

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo.students import solved, submission
from autograder.grading.jobs import prepared, read_job
from autograder.grading.results import Limits
from autograder.grading.submission.reader import cells_in
from autograder.grading.submission.repair import repair
from autograder.grading.worker.client import GradingServer

NAME = "01_attention"
PATH = ROOT / "solutions" / NAME / f"{NAME}.ipynb"
SOURCE = read_notebook(PATH)
RIGHT = submission(read_notebook(ROOT / "notebooks" / NAME / f"{NAME}.ipynb"), solved(Lesson(NAME, SOURCE).exercises))
LIMITS = Limits(cell_seconds=20)


@pytest.mark.parametrize("way", some_of(WAYS, "ways of working", one_in=1, on_a_push=2), ids=lambda way: way.what)
def test_it_is_worth_what_it_was_worth_on_the_students_screen(warm: GradingServer, way: Way, tmp_path: Path) -> None:
    """The points, the words of messages, and the notes are the table's; what was repaired needs no repair."""
    notebook = way.changes(copy.deepcopy(RIGHT))
    for name, text in {f"{NAME}.ipynb": json.dumps(notebook), **way.beside}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = read_job(tmp_path, "ann", NAME, prepared(PATH), LIMITS).run(warm)
    failed = [each.message for each in result.checks if each.message]
    assert (result.score, result.reason) == (way.points, ""), failed
    assert all(any(words in message for message in failed) for words in way.says), failed
    assert max([message.count("\n") for message in failed], default=0) < 9
    notes = [note.text for note in result.notes]
    assert len(notes) == len(way.notes) and all(any(words in note for note in notes) for words in way.notes), notes
    repaired = repair(SOURCE, cells_in(notebook)).notebook
    again = repair(SOURCE, cells_in(repaired))
    assert (again.notebook, again.notes) == (repaired, ())
