"""How nbgrader sees this course; read by every nbgrader command, by formgrader and by `autograder release`."""

from pathlib import Path

from autograder.grading.nbgrader_plugin import grade_in_sandbox
from autograder.stub import STUB, TEXT_STUB
from autograder.transformer import CELLS

c = get_config()  # noqa: F821 (defined by nbgrader when it reads this file)

# The course is where this file is, not where the command was started.
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "transformer"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

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

# nbgrader's own commands and formgrader's buttons grade in the sandbox of `autograder grade`. Without this line
# nbgrader runs submissions itself: slower, and with nothing between a submission and your files.
grade_in_sandbox(c)
