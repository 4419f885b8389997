"""`autograder status`, `history`, `report`, `similar`, `leaderboard` and `export`: what is known of hand-ins."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.cli.running import console, in_course
from autograder.course.names import lesson_name

ONLY_STUDENTS = "only students whose ids fit, for example 'a*'"


def add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder status`."""
    command = commands.add_parser(
        "status",
        help="say for each lesson who handed in, who is graded, and what waits",
        description="Say for each lesson when it is due, how many handed in and are graded, whom somebody is to look "
        "at, what could not be graded, what has changed since it was graded, and what students ask to be looked at "
        "again. Nothing is written.",
    )
    command.add_argument("lessons", nargs="*", type=lesson_name, metavar="LESSON", help="default: all")
    forms = command.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print it as JSON")
    forms.add_argument(
        "--addresses",
        metavar="WHO",
        help="print names and e-mail addresses, for a mail, of those who handed in `nothing`, whose hand-in is "
        "`not-gradable`, or who have less than so many per cent of the points: `below-50`",
    )
    command.set_defaults(run=run_status)


@in_course
def run_status(arguments: argparse.Namespace, root: Path) -> None:
    """Say where the course around the current folder stands."""
    from autograder.report.addresses import addresses
    from autograder.report.status import status

    if arguments.addresses is not None:
        addresses(root, arguments.lessons, arguments.addresses)
    else:
        status(root, arguments.lessons, console(), as_json=arguments.json)


def add_history(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder history`."""
    command = commands.add_parser(
        "history",
        help="say what grading again changed, and why",
        description="Say what grading again changed, the oldest first: each check whose points became others, and "
        "why it was graded again. Points are those of the checks, before points by hand and penalties.",
    )
    command.add_argument("lessons", nargs="*", type=lesson_name, metavar="LESSON", help="default: all")
    command.add_argument("--student", default="*", metavar="GLOB", help=ONLY_STUDENTS)
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=run_history)


@in_course
def run_history(arguments: argparse.Namespace, root: Path) -> None:
    """Say what grading again changed in the course around the current folder."""
    from autograder.report.history import history

    history(root, arguments.lessons, arguments.student, console(), as_json=arguments.json)


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder report`."""
    command = commands.add_parser(
        "report",
        help="write a page about what the class has understood, or one for each student",
        description="Write one HTML file about the class: the mistakes made most often, how each exercise and check "
        "went, who stopped, when work was handed in, all points, and what could not be graded. With --student, write "
        "a page of feedback for each student instead. Pages need nothing but a browser. Only you can read the files "
        "(your group too, where nbgrader shares the course with one); students get theirs when you hand it out.",
    )
    command.add_argument(
        "lessons",
        nargs="*",
        type=lesson_name,
        metavar="LESSON",
        help="default: those that are due or that somebody has handed in",
    )
    command.add_argument(
        "--student", default="", metavar="GLOB", help="a page for each student whose id fits: 'a*', or '*' for all"
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="the file for the class, or a folder for it (default: report.html in the course folder); with --student, "
        "a folder for the pages, STUDENT.html each (default: feedback/STUDENT/feedback.html, beside nbgrader's own)",
    )
    command.set_defaults(run=run_report)


@in_course
def run_report(arguments: argparse.Namespace, root: Path) -> None:
    """Write pages about the course around the current folder."""
    from autograder.report.write import write_report

    print(write_report(root, arguments.lessons, student=arguments.student, output=arguments.output))


def add_similar(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder similar`."""
    command = commands.add_parser(
        "similar",
        help="list pairs of hand-ins that share what the class does not, to look at together",
        description="Compare what was handed in for a lesson, and list the pairs that share rare lines, comments, "
        "names, slips or cells of their own. What many of the class, the solution or the given cells have in common "
        "counts nothing. One HTML file shows each pair side by side, for a person to judge; only you can read it.",
    )
    command.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
    command.add_argument("--json", action="store_true", help="print it as JSON, and write no page")
    command.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="the page, or a folder for it (default: similar.html in the course folder)",
    )
    command.set_defaults(run=run_similar)


@in_course
def run_similar(arguments: argparse.Namespace, root: Path) -> None:
    """Compare the hand-ins for a lesson of the course around the current folder."""
    from autograder.similar.write import similar

    similar(root, arguments.lesson, console(), output=arguments.output, as_json=arguments.json)


def add_leaderboard(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder leaderboard`."""
    command = commands.add_parser(
        "leaderboard",
        help="train the models that students have entered, and write a page of how they stand",
        description="Train each entry to a lesson's leaderboard in the sandbox, measure it on a text that no student "
        "has, and write a page with nicknames. A hand-in takes part with a cell of its own that defines a class "
        "`Entry`. What was trained once is not trained again. No points depend on it.",
    )
    command.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 09_since_2017")
    command.add_argument(
        "--text", type=Path, metavar="FILE", help="what no student has (default: c.Autograder.leaderboard_text)"
    )
    command.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="processor seconds that an entry has (default: 60)"
    )
    command.add_argument("--jobs", type=int, default=0, metavar="N", help="how many at a time (default: one a core)")
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="the page (default: leaderboard.html in the course folder)"
    )
    command.add_argument("--unprotected", action="store_true", help="also where the sandbox does not hold")
    command.set_defaults(run=run_leaderboard)


@in_course
def run_leaderboard(arguments: argparse.Namespace, root: Path) -> None:
    """Train the entries of the course around the current folder."""
    from autograder.leaderboard.run import leaderboard

    arguments.text = arguments.text and arguments.text.absolute()
    leaderboard(root, out=console(), **vars(arguments))


def add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder export` and its forms."""
    command = commands.add_parser("export", help="write grades for spreadsheets, Canvas, Moodle or Gradescope")
    forms = command.add_subparsers(title="forms", metavar="FORM", required=True, dest="form")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--output", default="", metavar="FILE", help="- for the screen; default: named after the form")
    common.add_argument("--force", action="store_true", help="replace the file, if it is there already")
    some = argparse.ArgumentParser(add_help=False)
    some.add_argument("--student", dest="students", default="*", metavar="GLOB", help=ONLY_STUDENTS)
    some.add_argument(
        "--stale", action="store_true", help="go on where something is not graded yet or has changed since"
    )
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument(
        "lessons", nargs="*", type=lesson_name, metavar="LESSON", help="default: all, or all that somebody handed in"
    )
    grades = argparse.ArgumentParser(add_help=False)
    grades.add_argument("--zeros", action="store_true", help="enter 0 where nothing was handed in, not nothing")
    grades.add_argument("--scale", action="store_true", help="convert points where the maximum there is another")

    def add(name: str, about: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        form = forms.add_parser(name, help=about.partition(".")[0], description=about, parents=[common, *parents])
        form.set_defaults(run=run_export)
        return form

    form = add(
        "csv",
        "one row for each student and lesson. The first columns are those of `nbgrader export`; students who handed in "
        "nothing have 0. Times are UTC. The file is UTF-8 with the mark that Excel needs for accents. Ids, names and "
        "texts that a spreadsheet would take for a formula get an apostrophe in front.",
        some,
        named,
    )
    rows = form.add_mutually_exclusive_group()
    rows.add_argument("--checks", action="store_true", help="a row for each student, lesson and check instead")
    rows.add_argument(
        "--wide",
        action="store_true",
        help="a row for each student instead, with a column for each lesson and the total; – where nothing was handed "
        "in",
    )
    form = add(
        "canvas",
        "the gradebook that Canvas exported, with points filled in, for Grades → Import. Students are found by ID "
        "(lms_user_id in nbgrader), SIS User ID or SIS Login ID (the student id or e-mail), never by name. A lesson's "
        "column is the one of its name or title, however they are written; where none or several may be it, --column "
        "says which. "
        "Without a file, one is made for the students whose lms_user_id is known; names in it that a spreadsheet would "
        "take for a formula get an apostrophe in front. Exit status 1: some grades are missing, and are listed.",
        some,
        grades,
    )
    form.add_argument("template", nargs="?", type=Path, metavar="GRADEBOOK", help="the CSV file exported from Canvas")
    form.add_argument(
        "--lesson",
        action="append",
        default=[],
        dest="lessons",
        type=lesson_name,
        metavar="NAME",
        help="only this; may be repeated",
    )
    form.add_argument(
        "--column",
        action="append",
        default=[],
        dest="columns",
        metavar="LESSON=HEADING",
        help="what Canvas calls a lesson, kept for the next time; LESSON=new adds a column, which Canvas makes an "
        "assignment of",
    )
    form = add(
        "moodle",
        "a CSV file for Moodle's grade import, or an assignment's offline grading worksheet with points filled in. "
        "Points have a decimal point, which Moodle takes in every language. Exit status 1: some grades are not in the "
        "file, and are listed.",
        some,
        grades,
        named,
    )
    form.add_argument(
        "--worksheet", type=Path, dest="template", metavar="FILE", help="the worksheet downloaded from Moodle"
    )
    form.add_argument(
        "--by",
        choices=("email", "username", "idnumber"),
        default="email",
        dest="identifier",
        help="what Moodle knows students by, without a worksheet: their e-mail, our student id, or lms_user_id",
    )
    form.add_argument("--feedback", action="store_true", help="what the checks said, too; comments of others stay")
    form = add(
        "feedback-canvas",
        "the students' pages as one zip file, for Canvas' Upload Submissions. DOWNLOAD is what Download Submissions "
        "gave, as fresh as can be: each page gets the name by which Canvas knows whose it is. Exit status 1: somebody "
        "who handed in has no page in it, and is listed.",
        some,
    )
    form.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
    form.add_argument("template", type=Path, metavar="DOWNLOAD", help="the zip file or folder downloaded from Canvas")
    form.set_defaults(run=run_hand_back)
    form = add(
        "feedback-moodle",
        "the students' pages as one zip file, for Moodle's Upload multiple feedback files in a zip. The worksheet of "
        "the same assignment says whose number is whose. Exit status 1: somebody who handed in has no page in it, and "
        "is listed.",
        some,
    )
    form.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
    form.add_argument(
        "--worksheet", type=Path, dest="template", required=True, metavar="FILE", help="downloaded from Moodle"
    )
    form.set_defaults(run=run_hand_back)
    add("gradescope", "results for Gradescope. FILE is a folder, which gets STUDENT/LESSON/results.json.", some, named)
    form = add(
        "gradescope-zip",
        "an autograder for one lesson, to upload to Gradescope. It holds the lesson with its hidden tests. As far as a "
        "container lets it, a submission runs in the engine's sandbox; for the rest the container has to do, and what "
        "the run prints for instructors says so. Give it 2 GB of memory.",
    )
    form.add_argument("lessons", nargs=1, type=lesson_name, metavar="LESSON", help="for example 01_attention")
    form = add(
        "classroom50",
        "an autograder for one lesson, to unpack into CLASSROOM/autograders/ASSIGNMENT/ of Classroom 50's repository. "
        "What is there is published, so it holds the checks that students have, and nothing hidden.",
    )
    form.add_argument("lessons", nargs=1, type=lesson_name, metavar="LESSON", help="for example 01_attention")


@in_course
def run_export(arguments: argparse.Namespace, root: Path) -> int:
    """Export from the gradebook of the course around the current folder."""
    from autograder.export.write import ExportOptions, write_export

    return write_export(root, ExportOptions(**vars(arguments)))


@in_course
def run_hand_back(arguments: argparse.Namespace, root: Path) -> int:
    """Put students' pages into one zip file, for a platform to hand back."""
    from autograder.hand_back.write import hand_back

    return hand_back(root, **vars(arguments))
