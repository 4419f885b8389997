"""Stock nbgrader: it runs what was handed in itself, without our engine."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import gradebook

from autograder.demo import sample_class
from autograder.demo.students import STUDENTS

STOCK = """
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, Execute, IgnorePattern, LimitOutput
from nbgrader.preprocessors import SaveAutoGrades

c.Autograde.autograde_preprocessors = [Execute, IgnorePattern, ClearMetadataPreprocessor, LimitOutput, SaveAutoGrades]
c.Autograde.autograde_preprocessors += [AssignLatePenalties, CheckCellMetadata]
c.Execute.shutdown_kernel = "immediate"  # nothing is lost with it but a second of waiting
"""


def configure(folder: Path) -> None:
    """Let nbgrader run submissions in a course itself."""
    gradebook.configure(folder, STOCK)


def grade(folder: Path, lessons: Sequence[str], students: Sequence[str] = STUDENTS) -> None:
    """Autograde, two lessons at a time, and write the feedback pages."""
    with sample_class.open_gradebook(folder) as book:
        for student in students:
            book.update_or_create_student(student)

    def autograde(lesson: str) -> None:
        sample_class.nbgrader(folder, "autograde", lesson, "--force")
        sample_class.nbgrader(folder, "generate_feedback", "--force", lesson)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(autograde, lessons))
