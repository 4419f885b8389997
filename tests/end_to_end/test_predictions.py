"""What students predict comes from their notebooks to the class page, and nothing on the way minds it."""

import io
import json
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from support import stock_nbgrader
from support.gradebook import LESSON
from support.sample_lesson import PREDICT, cell, sample_lesson

from autograder.course.lesson import Lesson
from autograder.demo import sample_class
from autograder.demo.students import solved, submission
from autograder.grading.grade import grade
from autograder.grading.options import GradeOptions
from autograder.report.write import write_report

CLASS = {
    "ada": PREDICT.replace('""', '"Four letters"'),
    "bob": PREDICT.replace('""', '" four   letters "'),
    "cem": PREDICT,
    "dee": "predicted_length = 4",
    "eve": "predicted_length = len('abab')",
    "fay": f'predicted_length = "{"x" * 1000}"',
}

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def handed_in(course: Path) -> Path:
    """A course in which everybody has answered, and predicted in their own way."""
    right = solved(Lesson(LESSON, sample_lesson()).exercises)
    for student, source in CLASS.items():
        notebook = submission(sample_class.released_notebook(course, LESSON), right)
        cell(notebook, "predict_length")["source"] = source
        sample_class.hand_in(course, student, LESSON, notebook)
    return course


def test_from_the_notebooks_to_the_class_page(handed_in: Path) -> None:
    """Graded, everybody has all points and no note; the page has the answers, and is the same without grading anew."""
    for unchanged in (0, len(CLASS)):
        out = io.StringIO()
        assert grade(handed_in, GradeOptions(as_json=True), Console(file=out)) == 0
        said = json.loads(out.getvalue())
        assert said["unchanged"] == unchanged
        assert all(sum(check["points"] for check in each["checks"]) == 4 for each in said["graded"])
        assert not [each["notes"] for each in said["graded"] if each["notes"]]
        write_report(handed_in)
        page = BeautifulSoup((handed_in / "report.html").read_bytes(), "html.parser")
        (row,) = page.select("article.predictions tbody tr")
        assert row.select_one("td.n").get_text() == "3 of 6"
        assert [item.get_text() for item in row.select("li")] == ["2 Four letters", "1 4"]


def test_stock_nbgrader_grades_it_too(handed_in: Path) -> None:
    """nbgrader's own autograde runs the figure with the prediction, and gives the same points."""
    stock_nbgrader.configure(handed_in)
    sample_class.nbgrader(handed_in, "autograde", LESSON, "--student=ada")
    assert sample_class.scores(handed_in)["ada", LESSON][0] == 4
    graded = nbformat.read(handed_in / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb", as_version=4)
    assert cell(graded, "figure_length").outputs[0].text == "you predicted   Four letters\nwhat happened   4\n"
