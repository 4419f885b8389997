"""Answers in words: off as a rule; on, they are released, wait for a person, and keep what that person gave."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from rich.console import Console
from support.sample_lesson import ROOT, cell, markdown, sample_lesson, write_lesson

from autograder import cli
from autograder.course import lint
from autograder.course.release import release
from autograder.demo import sample_class
from autograder.demo.students import solved, submission
from autograder.export.gradescope.results import of_result
from autograder.grading.grade import grade
from autograder.grading.gradebook.reader import GradedSubmission, read_gradebook
from autograder.grading.options import GradeOptions
from autograder.stub import TEXT_STUB

LESSON = "09_doubling"
ON = "c.Autograder.written_answers = True"
QUESTION = (
    "### Why\n\nWhy is twice x even?\n\n### BEGIN SOLUTION\nIt is 2 · x. *1 point*: the factor.\n### END SOLUTION"
)
SAID = "### Why\n\nWhy is twice x even?\n\nTwo equal halves."

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def written(**nbgrader: Any) -> dict[str, Any]:
    marks = {"grade": True, "grade_id": "explain_why", "locked": False, "points": 2, "schema_version": 3}
    return markdown("explain_why", QUESTION) | {"metadata": {"nbgrader": {**marks, "solution": True, **nbgrader}}}


def lesson_with(answer: dict[str, Any]) -> dict[str, Any]:
    """The sample lesson with an answer in words near its end."""
    notebook = sample_lesson(9)
    at = notebook["cells"].index(cell(notebook, "progress"))
    notebook["cells"][at:at] = [markdown("explain", "## In words\n\nOne question."), answer]
    return notebook


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one lesson that asks for answers in words."""
    write_lesson(tmp_path / "root", lesson_with(written()), LESSON)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    assert ON.replace("True", "False") in config
    (tmp_path / "root" / "nbgrader_config.py").write_text(config.replace(ON.replace("True", "False"), ON))
    (tmp_path / "root" / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    sample_class.make_course(tmp_path / "root", tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


def hand_in(course: Path, student: str, text: str) -> None:
    """Everything right, and this in place of the answer in words."""
    released = sample_class.released_notebook(course, LESSON)
    exercises = sample_class.Lesson(LESSON, sample_class.read_notebook(course / f"solutions/{LESSON}/{LESSON}.ipynb"))
    notebook = submission(released, solved(exercises.exercises))
    if text:
        answer_in(notebook).source = text
    sample_class.hand_in(course, student, LESSON, notebook)


def answer_in(notebook: NotebookNode) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == "explain_why")


def graded(course: Path, student: str = "ada") -> GradedSubmission:
    assert grade(course, GradeOptions(), Console(quiet=True)) == 0
    return read_gradebook(course).graded[student, LESSON]


def test_off_nobody_sees_them(course: Path) -> None:
    """Without the line in the configuration students get no question, the gradebook no points."""
    path = course / "nbgrader_config.py"
    path.write_text(path.read_text().replace(ON, ""))
    (course / "gradebook.db").unlink()
    release(course)
    assert "explain" not in (course / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text()
    hand_in(course, "ada", "")
    ada = graded(course)
    assert (ada.score, ada.needs_review, read_gradebook(course).lessons[LESSON].max_score) == (4, False, 4)


def test_on_they_are_released_without_what_a_good_answer_says(course: Path) -> None:
    """Students find the question and a place for the answer, in a cell that they may change."""
    answer = answer_in(sample_class.released_notebook(course, LESSON))
    assert answer.source == f"### Why\n\nWhy is twice x even?\n\n{TEXT_STUB}"
    assert answer.metadata.nbgrader.points == 2 and not answer.metadata.nbgrader.locked
    assert "cellView" not in answer.metadata


def test_an_answer_waits_for_a_reader_and_keeps_what_they_give(course: Path, tmp_path: Path) -> None:
    """Marks and comments by hand count on pages and in exports, outlive regrading, and are told as older ones then."""
    hand_in(course, "ada", SAID)
    hand_in(course, "bob", "")
    ada, bob = graded(course), graded(course, "bob")
    assert (ada.score, ada.to_review) == (4, {"explain_why"})
    assert (bob.score, bob.to_review) == (4, frozenset())
    assert [outcome.check for outcome in ada.result.checks] == ["check_double", "check_double_text"]
    notebook = json.loads((course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text())
    assert cell(notebook, "explain_why")["source"] == SAID
    page = student_page(course, tmp_path / "before")
    assert "Why: to be read, 0 of 2" in page and "4 of 6 points" in page
    assert ",4,0,4,6," in exported(course) and exported(course).count("to be looked at") == 1
    assert "explain_why,0,2,to be looked at" in exported(course, "--checks")

    with sample_class.open_gradebook(course) as gradebook:
        by_hand = gradebook.find_grade("explain_why", LESSON, LESSON, "ada")
        by_hand.manual_score, by_hand.needs_manual_grade = 1.5, False
        comment = gradebook.find_comment("explain_why", LESSON, LESSON, "ada")
        comment.manual_comment = "And why is that even?"
        gradebook.db.commit()
    page = student_page(course, tmp_path / "marked")
    assert "Why: 1.5 of 2, given by hand" in page and "And why is that even?" in page and "5.5 of 6 points" in page
    assert ",5.5,0,5.5,6," in exported(course) and "looked at" not in exported(course)
    assert "explain_why,1.5,2,graded,yes" in exported(course, "--checks")
    book = read_gradebook(course)
    ada = book.graded["ada", LESSON]
    gradescope = of_result(ada.result, scores=ada.scores, maximum=book.lessons[LESSON].max_score)
    assert gradescope["score"] == 5.5 and gradescope["output"].startswith("5.5 of 6 points.")

    hand_in(course, "ada", SAID + " And no rest.")
    again = graded(course)
    assert (again.score, again.to_review) == (5.5, {"explain_why"})
    assert "Why: 1.5 of 2, given by hand, before this was last graded" in student_page(course, tmp_path / "again")


def test_nbgraders_own_command_says_the_same(course: Path) -> None:
    """Through `nbgrader autograde` the answer is kept and waits, and one that nobody wrote does not."""
    hand_in(course, "ada", SAID)
    hand_in(course, "bob", "")
    sample_class.nbgrader(course, "autograde", LESSON)
    book = read_gradebook(course)
    ada, bob = (book.graded[student, LESSON] for student in ("ada", "bob"))
    assert (ada.score, ada.to_review, bob.score, bob.to_review) == (4, {"explain_why"}, 4, frozenset())
    assert answer_in(sample_class.read_notebook(book.course.graded_notebook("ada", LESSON))).source == SAID


def student_page(course: Path, folder: Path) -> str:
    assert cli.main(["report", "--student", "ada", "--output", str(folder)]) == 0
    return " ".join(next(folder.rglob("*ada*.html")).read_text(encoding="utf-8").split())


def exported(course: Path, *options: str) -> str:
    path = course / "grades.csv"
    assert cli.main(["export", "csv", "--output", str(path), "--force", *options]) == 0
    return path.read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda answer: answer.update(source="### Why\n\nWhy?"), "it does not say what a good answer is"),
        (lambda answer: answer.update(source=QUESTION.removeprefix("### ")), "it has no heading"),
        (lambda answer: answer["metadata"]["nbgrader"].update(points=0), "or no points"),
        (lambda answer: answer["metadata"]["nbgrader"].update(locked=True), "does not take it as an answer in words"),
        (lambda answer: answer.update(id="why") or answer["metadata"]["nbgrader"].update(grade_id="why"), "an id that"),
    ],
)
def test_the_grammar_wants_them_whole(change: Callable[[dict[str, Any]], object], words: str) -> None:
    """A heading, points, a model answer and a name are asked for."""
    answer = written()
    assert lint.breaches(lesson_with(answer), LESSON) == []
    change(answer)
    found = [str(breach) for breach in lint.breaches(lesson_with(answer), LESSON)]
    assert any(words in breach for breach in found), found
