"""A demo class: five invented students in every lesson, graded in a folder of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.course.config import CONFIG, CourseError, read_notebook, to_bytes
from autograder.course.lesson import Lesson
from autograder.course.paths import Course
from autograder.course.release import release
from autograder.demo.students import STUDENTS, class_work
from autograder.grading.grade import grade as grade_all
from autograder.grading.options import GradeOptions

MARKER = ".made-by-autograder-demo"
OWN_FOLDERS = """
# The demo has its own folders and its own gradebook, whatever stands above.
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"
c.CourseDirectory.directory_structure = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def hand_in(folder: Path, student: str, lesson: str, notebook: NotebookNode) -> None:
    """Put a notebook where nbgrader expects it."""
    path = folder / "submitted" / student / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_bytes(notebook))


def make_course(root: Path, folder: Path, lessons: Sequence[str] = ()) -> dict[str, Lesson]:
    """Copy these lessons of a course, or all, into a course of their own, release them, and return them."""
    names = sorted(path.name for path in (root / "solutions").glob("[!._]*/"))
    if unknown := set(lessons) - set(names):
        raise CourseError(f"solutions/ has no lesson {', '.join(sorted(unknown))}. It has {', '.join(names)}.")
    if root.resolve().is_relative_to(folder.resolve()):
        raise CourseError(f"{folder} holds the course itself. Name another folder.")
    prepare(folder)
    for name in lessons or names:
        shutil.copytree(root / "solutions" / name, folder / "solutions" / name)
    shutil.copy(root / "pyproject.toml", folder)
    config = f"{(root / CONFIG).read_text(encoding='utf-8')}\nimport os\nfrom pathlib import Path\n{OWN_FOLDERS}"
    (folder / CONFIG).write_text(config, encoding="utf-8")
    release(folder)
    sources = sorted((folder / "solutions").glob("*/*.ipynb"))
    return {path.stem: Lesson(path.stem, read_notebook(path)) for path in sources}


def prepare(folder: Path) -> None:
    """Make the folder, or empty it when it is an earlier demo; touch nothing else."""
    if (folder / MARKER).is_file():
        shutil.rmtree(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} was not made by `autograder demo`. Move it away, or name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).touch()


def released_notebook(folder: Path, lesson: str) -> NotebookNode:
    """Read a lesson as students get it."""
    return read_notebook(folder / "notebooks" / lesson / f"{lesson}.ipynb")


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run an nbgrader command in a course, with one thread for numbers, and return what it said."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    environment = os.environ | ONE_THREAD
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise CourseError(f"`nbgrader {' '.join(arguments)}` failed in {folder}. It says:\n{last}")
    return done.stderr


def open_gradebook(folder: Path) -> Gradebook:
    """Open the gradebook of a demo."""
    course = Course.at(folder)
    return Gradebook(course.db_url, course.directory.course_id)


def grade(folder: Path, lessons: Iterable[str]) -> None:
    """Grade what was handed in, and write the feedback pages."""
    if grade_all(folder, GradeOptions(), Console(quiet=True)):
        raise CourseError(f"Some of what the invented students handed in could not be graded. See {folder}/autograded.")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: nbgrader(folder, "generate_feedback", name), lessons))


def scores(folder: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Return points and maximum of every (student, lesson) in the gradebook."""
    with open_gradebook(folder) as gradebook:
        return {
            (submission.student_id, lesson.name): (submission.score, submission.max_score)
            for lesson in gradebook.assignments
            for submission in lesson.submissions
        }


def table(scores: Mapping[tuple[str, str], tuple[float, float]], lessons: Sequence[str]) -> list[str]:
    """Return a line per student, points of maximum for each lesson."""
    rows = [["", *lessons]]
    for student in STUDENTS:
        marks = [scores[student, lesson] for lesson in lessons]
        rows.append([student, *(f"{points:g} of {maximum:g}" for points, maximum in marks)])
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    aligned = ([name.ljust(first), *map(str.rjust, marks, widths)] for name, *marks in rows)
    return ["   ".join(line).rstrip() for line in aligned]


def demo(root: Path, folder: Path, names: Sequence[str]) -> None:
    """Make the demo class of a course in `folder`, grade it, and say how everyone did and where to look."""
    lessons = make_course(root, folder, names)
    count = len(lessons) * len(STUDENTS)
    print(f"Grading {count} notebooks of {len(STUDENTS)} invented students, about {round(20 + count * 0.8)} seconds …")
    for name, lesson in lessons.items():
        for student, notebook in class_work(lesson, released_notebook(folder, name)).items():
            hand_in(folder, student, name, notebook)
    grade(folder, lessons)
    print("", *table(scores(folder), list(lessons)), "", sep="\n")
    print(f"gradebook             {folder / 'gradebook.db'}")
    print(f"feedback pages        {folder / 'feedback' / 'STUDENT' / 'LESSON' / 'LESSON.html'}")
    print(f"autograded notebooks  {folder / 'autograded' / 'STUDENT' / 'LESSON' / 'LESSON.ipynb'}")
