"""How nbgrader sees this course; read by every nbgrader command, by formgrader and by `autograder release`."""

import os
import sysconfig
from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    DeduplicateIds,
    GetGrades,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)

from autograder.grading.nbgrader_plugin import Repair, Run
from autograder.stub import STUB, TEXT_STUB
from autograder.transformer import CELLS

c = get_config()  # noqa: F821 (defined by nbgrader when it reads this file)

# The course is where this file is, not where the command was started.
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "transformer"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# To create a gradebook nbgrader calls `alembic` by name; this finds it in an environment that is not activated.
scripts, path = sysconfig.get_path("scripts"), os.environ.get("PATH", "")
if scripts not in path.split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join([scripts, path])

# What students find in place of a solution, and what their checks recognise as not implemented yet.
c.ClearSolutions.code_stub = {"python": STUB}
c.ClearSolutions.text_stub = TEXT_STUB

# What release puts into the cells that are the same in all lessons; without this line they stay as you write them.
c.Autograder.cells = CELLS

# True: lesson 8 ends in a report, five answers in words, 10 points more, which you read and grade in formgrader.
c.Autograder.written_answers = False

# An AI assistant at a learner's side: "tutor" (asks, and writes no answer), "off", or "free".
c.Autograder.assistants = "tutor"

# Of several hand-ins of a student for a lesson: "last", "last_in_time" (where none is in time, the last) or "best".
c.Autograder.counts = "last"

# Training cells take longer than nbgrader's 30 seconds on a slow machine.
c.Execute.timeout = 120

# A deleted check is put back; it would otherwise wait for manual grading for ever.
c.OverwriteCells.add_missing_cells = True

# nbgrader's own list and one more, which rebuilds the notebook around the student's answers: copied, deleted, moved or
# edited cells and lost metadata would cost points, or the whole submission.
c.Autograde.sanitize_preprocessors = [
    Repair,
    ClearOutput,
    DeduplicateIds,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]

# Submissions run in the sandbox of `autograder grade`, with the checks outside of it. Without these lines nbgrader runs
# them itself: slower, and with nothing between a submission and your files.
c.Autograde.autograde_preprocessors = [
    Run,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]

# An exchange of a hub: nbgrader's own collecting follows links of students.
c.ExchangeFactory.collect = "autograder.collect.exchange.ExchangeCollect"

# A warning on stderr would otherwise make a correct answer worth nothing; a failed check is an error, never a warning.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "(?s)."

# Feedback shows what a check said, not the hidden tests; a stack trace quotes the one line that failed.
c.GenerateFeedback.preprocessors = [GetGrades, ClearHiddenTests, CSSHTMLHeaderPreprocessor]
c.Execute.shutdown_kernel = "immediate"  # a graded kernel has nothing to save; waiting costs half a second each
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--InteractiveShell.xmode=Plain"]
