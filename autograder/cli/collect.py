"""`autograder collect`: hand-ins from Canvas, Moodle, Gradescope, repositories or a folder into submitted/."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.cli.running import in_course
from autograder.course.names import lesson_name

ABOUT = (
    "Put what students handed in into submitted/, whatever it is, one folder for each. Of several notebooks the newest "
    "counts, zip files are opened, and what cannot be graded is kept and said. Names and e-mails go into the "
    "gradebook. The same download a second time changes nothing, a later one adds what is new; what you changed in "
    "submitted/ stays. At the end stands who has handed in nothing. Exit status 1: something could not be "
    "written, or all notebooks are another lesson's."
)


def add_collect(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder collect` and its forms."""
    command = commands.add_parser("collect", help="put what students handed in into submitted/", description=ABOUT)
    forms = command.add_subparsers(title="forms", metavar="FORM", required=True, dest="form")
    people = argparse.ArgumentParser(add_help=False)
    people.add_argument(
        "--people",
        type=Path,
        metavar="CSV",
        help="the class list: the gradebook that Canvas exports, or a file with a column id or email",
    )

    def add(name: str, about: str, file: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        form = forms.add_parser(name, help=about.partition(".")[0], description=about, parents=list(parents))
        form.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
        form.add_argument("file", type=Path, metavar="FILE", help=file)
        form.set_defaults(run=run_collect)
        return form

    download = "the zip file that was downloaded, or the folder that it was unpacked to"
    add("canvas", "what Canvas gives out under Download Submissions.", download, people)
    form = add("moodle", "what Moodle gives out under Download all submissions.", download, people)
    form.add_argument(
        "--worksheet",
        type=Path,
        metavar="CSV",
        required=True,
        help="the grading worksheet of the same assignment, which says whose number is whose",
    )
    add("gradescope", "what Gradescope gives out under Download Submissions.", download, people)
    add(
        "folder",
        "a folder for each student, or files called STUDENT_LESSON.ipynb. STUDENT is an id or an e-mail.",
        "the folder, or a zip file of it",
        people,
    )
    form = add(
        "github",
        "the repository of each student, cloned into downloaded/repositories/ or brought up to date there. What counts "
        "is the lesson's folder in notebooks/, with the time of its last commit; the notebook as released is nothing. "
        "A notebook elsewhere is taken if there is one, and named if there are several.",
        "the accounts, one a line, or a CSV file with a column id",
    )
    form.add_argument(
        "--repository",
        required=True,
        metavar="ADDRESS",
        help="with {student} for the account: git@github.com:{student}/course.git; and with {lesson}, for example "
        "01-attention, where each lesson has its own, as in Classroom 50: …:ORG/CLASSROOM-{lesson}-{student}.git",
    )


@in_course
def run_collect(arguments: argparse.Namespace, root: Path) -> int:
    """Collect a lesson of the course around the current folder."""
    from autograder.collect.collect import CollectOptions, collect

    try:
        return collect(root, CollectOptions(**vars(arguments)))
    except KeyboardInterrupt:
        print("Stopped. What was put into submitted/ stays; the same command goes on.", file=sys.stderr)
        return 130
