"""`autograder student`: one student, their removal, more time; `autograder due` and `comments`: for several."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from autograder.cli.running import console, in_course
from autograder.course.names import lesson_name


def add_student(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder student` and its forms."""
    command = commands.add_parser("student", help="show a student, ask about their answers, give more time, remove")
    forms = command.add_subparsers(title="forms", metavar="FORM", required=True)
    form = forms.add_parser(
        "show",
        help="what a student has in each lesson, and all that is kept about them",
        description="Print what a student has in each lesson: points, state, due date, extension, and when it was "
        "handed in.",
    )
    form.add_argument("student", metavar="STUDENT", help="the id, for example ada")
    form.add_argument("--json", dest="as_json", action="store_true", help="print it as JSON")
    form.add_argument(
        "--archive",
        type=Path,
        metavar="FILE.zip",
        help="write all that is kept about the student: hand-ins, graded notebooks without hidden tests, feedback, "
        "and what the gradebook has, as JSON",
    )
    form.add_argument(
        "--open",
        dest="opened",
        default="",
        type=lesson_name,
        metavar="LESSON",
        help="open the notebook with its results in the browser",
    )
    form.set_defaults(run=run_show)
    form = forms.add_parser(
        "remove",
        help="a student, with all that is kept about them",
        description="List all that is kept about a student: folders in submitted/, autograded/, feedback/ and of their "
        "repository, what was replaced, what collecting wrote down, and the rows in the gradebook. With --yes, remove "
        "it, and the class page, which names everybody. A run that was stopped is run again.",
    )
    form.add_argument("student", metavar="STUDENT", help="the id, for example ada")
    form.add_argument("--yes", action="store_true", help="remove it, for good")
    form.set_defaults(run=run_remove)
    form = forms.add_parser(
        "extend",
        help="more time for one student, several or all",
        description="Move the due date of a lesson for some students, who may have handed in something or not. What is "
        "taken off for being late is computed anew at once. A second extension takes the place of the first.",
    )
    form.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
    form.add_argument("students", nargs="*", metavar="STUDENT", help="the ids, for example ada")
    form.add_argument("--all", action="store_true", help="all students that the gradebook has now")
    time = form.add_mutually_exclusive_group(required=True)
    time.add_argument("--until", default="", metavar="DATE", help="for example '2026-10-14 23:59 Europe/Berlin'")
    time.add_argument("--by", default="", metavar="TIME", help="after the due date: 36h, 2d, 1w; 0d takes it back")
    form.set_defaults(run=run_extend)
    form = forms.add_parser(
        "defence",
        help="three questions about what a student handed in, with their answers",
        description="Make small changes in answers of a student that pass all their checks, grade each changed "
        "hand-in as grading does, and print what breaks: three questions for a talk of five minutes. With --held, ask "
        "nothing, and keep for the class page that you have talked.",
    )
    form.add_argument("student", metavar="STUDENT", help="the id, for example ada")
    form.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 01_attention")
    form.add_argument("--seed", type=int, metavar="N", help="the same questions again for the same number")
    form.add_argument(
        "--held",
        nargs="?",
        default="",
        const=f"{date.today()}",
        metavar="DATE",
        help="keep that the talk took place, today or on a day like 2026-10-12; none takes it back",
    )
    form.add_argument("--unprotected", action="store_true", help="also where the sandbox does not hold")
    form.set_defaults(run=run_defence)


def add_due(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder due`."""
    command = commands.add_parser(
        "due",
        help="set, take back or show when lessons are due",
        description="Set when a lesson is due, and say what was understood. Without DATE, show when lessons are due. "
        "A date has a time zone, and one that could mean two moments is refused; without a time of the day it is the "
        "end of that day. What is taken off for being late is computed anew at once.",
    )
    command.add_argument("lesson", nargs="?", default="", type=lesson_name, metavar="LESSON", help="default: all")
    command.add_argument("date", nargs="*", metavar="DATE", help="for example 2026-10-12 23:59 Europe/Berlin")
    command.add_argument("--none", action="store_true", help="take the date back: nobody is late")
    command.add_argument("--json", action="store_true", help="print the dates as JSON")
    command.set_defaults(run=run_due)


def add_comments(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder comments`."""
    command = commands.add_parser(
        "comments",
        help="list comments by hand, most frequent first, and give one to other students",
        description="List what was written by hand in formgrader about the answers of a lesson, with numbers, those "
        "first that most students have. With --give, one goes to other students too, beneath what was written there.",
    )
    command.add_argument("lesson", type=lesson_name, metavar="LESSON", help="for example 08_translation")
    command.add_argument("exercise", nargs="?", default="", metavar="EXERCISE", help="default: all of the lesson")
    command.add_argument(
        "--give", nargs="+", default=[], metavar=("N", "STUDENT"), help="the number of a comment, and who gets it"
    )
    command.set_defaults(run=run_comments)


@in_course
def run_comments(arguments: argparse.Namespace, root: Path) -> None:
    """List or give comments of the course around the current folder."""
    from autograder.student.comments import comments

    comments(root, arguments.lesson, arguments.exercise, arguments.give, console())


@in_course
def run_due(arguments: argparse.Namespace, root: Path) -> None:
    """Set or show the due dates of the course around the current folder."""
    from autograder.course.config import CourseError
    from autograder.student.due import due

    if arguments.none and (arguments.date or not arguments.lesson):
        raise CourseError("Give --none a lesson, and no date.")
    date = " ".join(arguments.date)
    due(root, console(), lesson=arguments.lesson, date=date, none=arguments.none, as_json=arguments.json)


@in_course
def run_show(arguments: argparse.Namespace, root: Path) -> None:
    """Show a student of the course around the current folder."""
    from autograder.student.show import show

    show(root, out=console(), **vars(arguments))


@in_course
def run_remove(arguments: argparse.Namespace, root: Path) -> None:
    """Remove a student of the course around the current folder."""
    from autograder.student.remove import remove

    remove(root, arguments.student, console(), confirmed=arguments.yes)


@in_course
def run_defence(arguments: argparse.Namespace, root: Path) -> None:
    """Ask about what a student of the course around the current folder handed in."""
    from autograder.student.defence import defence

    defence(root, out=console(), **vars(arguments))


@in_course
def run_extend(arguments: argparse.Namespace, root: Path) -> None:
    """Give students of the course around the current folder more time."""
    from autograder.course.config import CourseError
    from autograder.student.extend import give_time

    if arguments.all == bool(arguments.students):
        raise CourseError("Name students, or give --all for everybody.")
    options = {name: getattr(arguments, name) for name in ("students", "until", "by")}
    give_time(root, arguments.lesson, console(), **options)
