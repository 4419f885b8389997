"""The gradebook as pages and exports read it says what nbgrader says, whoever graded, and is left as it was."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console
from support.gradebook import DUE, LESSON, record, set_duedate, small_result
from support.sample_lesson import ROOT

from autograder.course.config import CourseError
from autograder.demo import sample_class
from autograder.demo.sample_class import open_gradebook
from autograder.demo.students import STUDENTS, class_work
from autograder.grading import grade
from autograder.grading.gradebook.reader import GradebookSnapshot, read_gradebook
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.results import Note, NoteKind
from autograder.student.extend import give_time

REAL = "02_multi_head_attention"


of_nbgrader = pytest.mark.filterwarnings("ignore:Object of type <Submitted.* not in session")  # add_submission


def agrees(book: GradebookSnapshot, course: Path) -> int:
    """Compare every submission with what nbgrader's own Gradebook says, and return how many there are."""
    count = 0
    with open_gradebook(course) as gradebook:
        assert list(book.lessons) == sorted(lesson.name for lesson in gradebook.assignments)
        assert set(book.students) == {student.id for student in gradebook.students}
        for lesson in gradebook.assignments:
            assert book.lessons[lesson.name].max_score == lesson.max_score
            for theirs in lesson.submissions:
                ours = book.graded[theirs.student_id, lesson.name]
                (notebook,) = theirs.notebooks
                assert ours.raw_score == theirs.score
                assert ours.penalty == (theirs.late_submission_penalty or 0)
                assert ours.scores == {grade.name: grade.score for grade in notebook.grades}
                assert ours.needs_review == theirs.needs_manual_grade
                assert ours.submitted == theirs.timestamp
                count += 1
        assert len(book.graded) == count
    return count


def test_a_graded_class_has_nbgraders_scores(tmp_path: Path) -> None:
    """Of five students graded by our engine, every score, total and maximum is what nbgrader itself reads."""
    lesson = sample_class.make_course(ROOT, tmp_path / "demo", [REAL])[REAL]
    for student, notebook in class_work(lesson, sample_class.released_notebook(tmp_path / "demo", REAL)).items():
        sample_class.hand_in(tmp_path / "demo", student, REAL, notebook)
    assert grade.grade(tmp_path / "demo", grade.GradeOptions(), Console(quiet=True)) == 0
    book = read_gradebook(tmp_path / "demo")
    assert agrees(book, tmp_path / "demo") == len(STUDENTS)
    assert len({submission.score for submission in book.graded.values()}) > 3
    for submission in book.graded.values():
        assert submission.result.score == submission.score
        assert len(submission.result.checks) == len(book.lessons[REAL].points)
        assert book.course.graded_notebook(submission.student, REAL).is_file() and len(submission.notebook_sha256) == 64
    assert set(book.lessons[REAL].answers) == {exercise.name for exercise in lesson.exercises}


def test_points_and_comments_by_hand_count(course: Path) -> None:
    """Points by hand replace those of the check, extra credit is in the score and beside it, comments come along."""
    record(course, ("ada", "bob"))
    with open_gradebook(course) as gradebook:
        grades = {grade.name: grade for grade in gradebook.find_submission_notebook(LESSON, LESSON, "ada").grades}
        grades["check_double"].manual_score, grades["check_double"].needs_manual_grade = 1.5, False
        grades["check_double_text"].extra_credit = 0.25
        gradebook.find_comment("double", LESSON, LESSON, "ada").manual_comment = "Nearly."
        gradebook.find_comment("double", LESSON, LESSON, "bob").manual_comment = " "
        gradebook.db.commit()
    book = read_gradebook(course)
    assert agrees(book, course) == 2
    ada, bob = (book.graded[student, LESSON] for student in ("ada", "bob"))
    assert (ada.score, ada.by_hand, ada.extra) == (1.75, {"check_double"}, {"check_double_text": 0.25})
    assert (bob.score, bob.by_hand, bob.extra) == (3.0, frozenset(), {})
    assert ada.comments == {"double": "Nearly."} and bob.comments == {}
    assert not ada.needs_review
    record(course)
    assert read_gradebook(course).graded["ada", LESSON].needs_review
    assert agrees(read_gradebook(course), course) == 2


def test_what_is_taken_off_for_being_late_does_not_count(course: Path) -> None:
    """The score is what is left after nbgrader's penalty, and never below 0."""
    set_duedate(course)
    record(course, timestamp=DUE + timedelta(hours=5))
    record(course, ["bob"], timestamp=DUE)
    book = read_gradebook(course)
    assert agrees(book, course) == 2
    ada, bob = (book.graded[student, LESSON] for student in ("ada", "bob"))
    assert (ada.raw_score, ada.penalty, ada.score) == (3, 3, 0)
    assert (bob.raw_score, bob.penalty, bob.score) == (3, 0, 3)
    assert book.lessons[LESSON].duedate == DUE


def test_more_time_moves_a_students_due_date(course: Path) -> None:
    """An extension counts for whom it was given to, handed in or not; what is due later than now is told apart."""
    record(course, ["ada", "bob"])
    assert read_gradebook(course).due("ada", LESSON) is None
    set_duedate(course)
    with open_gradebook(course) as gradebook:
        gradebook.add_student("cem")
    give_time(course, LESSON, Console(quiet=True), students=["ada", "cem"], by="2d")
    book = read_gradebook(course)
    later = DUE + timedelta(days=2)
    assert [book.due(student, LESSON) for student in ("ada", "bob", "cem")] == [later, DUE, later]
    pairs = {(student, LESSON) for student in book.students}
    assert book.not_due(pairs, DUE) == {("ada", LESSON), ("cem", LESSON)}
    assert book.not_due(pairs, later) == set() and ("cem", LESSON) not in book.graded


def test_results_come_along_as_long_as_their_points_stand(course: Path) -> None:
    """With the time and the digest of the notebook; not where the autograder's points are another program's by now."""
    result = small_result(course, notes=(Note(NoteKind.NOTEBOOK, "A note."),), notebook="")
    record(course, ("ada", "bob"), notes=result.notes)
    book = read_gradebook(course)
    assert Path(book.where) == course / "gradebook.db" and book.course.root == course.resolve()
    ada = book.graded["ada", LESSON]
    assert ada.result == result
    assert ada.recorded is not None and ada.notebook_sha256
    with open_gradebook(course) as gradebook:
        for grade in gradebook.find_submission_notebook(LESSON, LESSON, "ada").grades:
            grade.auto_score = 1.0
        gradebook.db.commit()
    book = read_gradebook(course)
    assert book.graded["ada", LESSON].result is None and book.graded["ada", LESSON].score == 2
    assert book.graded["bob", LESSON].result is not None


@of_nbgrader
def test_another_programs_points_are_there_without_a_result(course: Path) -> None:
    """A submission that stock nbgrader graded, in a gradebook without our table, has its scores and no result."""
    with open_gradebook(course) as gradebook:
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace", email="a@b.c", lms_user_id="7")
        gradebook.add_student("bob")
        gradebook.add_submission(LESSON, "ada")
        for grade in gradebook.find_submission_notebook(LESSON, LESSON, "ada").grades:
            grade.auto_score, grade.needs_manual_grade = 0.5, False
        gradebook.db.commit()
    book = read_gradebook(course)
    assert agrees(book, course) == 1
    ada = book.graded["ada", LESSON]
    assert (ada.score, ada.result, ada.recorded, ada.notebook_sha256) == (1.0, None, None, "")
    assert (book.students["ada"].name, book.students["bob"].name) == ("Ada Lovelace", "bob")
    assert book.students["ada"].lms_id == "7"


@of_nbgrader
def test_tasks_that_are_graded_by_hand_count(course: Path) -> None:
    """A cell with points of its own kind, which only a person grades, is part of score and maximum."""
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_task_cell("essay", LESSON, LESSON, max_score=5, cell_type="markdown")
        gradebook.add_student("ada")
        gradebook.add_submission(LESSON, "ada")
        grade = next(g for g in gradebook.find_submission_notebook(LESSON, LESSON, "ada").grades if g.name == "essay")
        grade.manual_score, grade.needs_manual_grade = 4.0, False
        gradebook.db.commit()
    book = read_gradebook(course)
    assert agrees(book, course) == 1
    assert book.lessons[LESSON].max_score == 9 and book.graded["ada", LESSON].score == 4


def test_a_writer_neither_waits_nor_is_seen_too_early(course: Path) -> None:
    """While somebody writes, the gradebook is read as it was; afterwards as it is, and reading changes no byte."""
    record(course)
    with Recorder(course):
        writer = sqlite3.connect(course / "gradebook.db", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO student (id) VALUES ('eve')")
        assert set(read_gradebook(course).students) == {"ada"}
        writer.execute("COMMIT")
        writer.close()
        before = (course / "gradebook.db").read_bytes()
        assert set(read_gradebook(course).students) == {"ada", "eve"}
        assert (course / "gradebook.db").read_bytes() == before


def test_no_gradebook_is_said(course: Path) -> None:
    """Without a gradebook the error says where it was looked for and what to do, and none is made."""
    (course / "gradebook.db").unlink()
    with pytest.raises(CourseError, match=r"There is no gradebook at .*gradebook.db. Run `autograder release`"):
        read_gradebook(course)
    assert not (course / "gradebook.db").exists()
    (course / "gradebook.db").write_text("This is no database, and long enough to show it." * 10)
    with pytest.raises(CourseError, match=r"could not be used"):
        read_gradebook(course)
