"""A class of invented students in all lessons of the course, as the gradebook would have it."""

import random
import sys
from dataclasses import replace
from datetime import datetime, timedelta

from support.sample_lesson import ROOT

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.results import Outcome, Status

sys.path.insert(0, str(ROOT / "benchmarks"))

import report as invented

WAYS = "abcdefghijklmnopqrst"
FIRST_DUE = datetime(2020, 1, 1)


def failure(check: str, points: float, way: str) -> Outcome:
    """Return a failed check, of a kind of its own."""
    verdict = f"`f` is wrong in way {way}."
    return Outcome(check, points, Status.FAILED, f"✗ {verdict}", 0.5, verdict, f"Mend {way}.", f"{way} holds", way)


def invented_class(empty: GradebookSnapshot, count: int) -> GradebookSnapshot:
    """Return a gradebook of these students, each lesson due a week after the one before; some are late."""
    sources = sorted((ROOT / "solutions").glob("*/*.ipynb"))
    lessons = [Lesson(path.stem, read_notebook(path)) for path in sources]
    failures = {
        exercise.name: [[failure(check.id, check.points, way) for check in exercise.checks] for way in WAYS]
        for lesson in lessons
        for exercise in lesson.exercises
    }
    released = {}
    for week, lesson in enumerate(lessons):
        points = {check.id: check.points for exercise in lesson.exercises for check in exercise.checks}
        answers = {exercise.name: exercise.name for exercise in lesson.exercises}
        due = FIRST_DUE + timedelta(weeks=week)
        released[lesson.name] = GradebookLesson(lesson.name, points, due, answers)
    people = {f"s{number:04}": Student(f"s{number:04}", *invented.name_of(number)) for number in range(count)}
    chance, graded = random.Random(0), {}
    for result in invented.a_class(lessons, failures, count):
        scores = {outcome.check: outcome.earned for outcome in result.checks}
        submitted = released[result.lesson].duedate + timedelta(hours=chance.uniform(-200, 50))
        graded[result.student, result.lesson] = GradedSubmission(
            result.student, result.lesson, scores, submitted=submitted, result=result
        )
    return replace(empty, lessons=released, students=people, graded=graded)
