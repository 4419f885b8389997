"""The command line of the course: `autograder release` and what else instructors and students run."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = argparse.ArgumentParser(prog="autograder", description="Tools of the Transformer course.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_release(commands)
    add_grade(commands)
    add_report(commands)
    add_doctor(commands)
    add_demo(commands)
    add_export(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except ModuleNotFoundError as error:
        return explain_missing(error)


def add_release(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder release`."""
    command = commands.add_parser("release", help="make notebooks/ from solutions/, and record the lessons for grading")
    command.add_argument("--check", action="store_true", help="write nothing; say what would change, exit 1 if any")
    command.add_argument(
        "--force", action="store_true", help="overwrite notebooks somebody worked in, keeping a copy beside each"
    )
    command.set_defaults(run=run_release)


def run_release(arguments: argparse.Namespace) -> int:
    """Release the course around the current folder and say what changed."""
    from autograder.course.config import CourseError, course_root
    from autograder.course.release import release

    try:
        lines = release(course_root(Path.cwd()), check=arguments.check, force=arguments.force)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*lines, sep="\n", end="\n" if lines else "")
    if arguments.check and lines:
        print("✗ The course is not as released. Run `autograder release`.", file=sys.stderr)
        return 1
    print("✓ The lessons are released." if lines else "✓ The lessons are up to date.")
    return 0


def add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder demo`."""
    command = commands.add_parser("demo", help="grade five invented students in a folder of their own")
    command.add_argument("folder", nargs="?", type=Path, default=Path("demo"), metavar="FOLDER", help="default: ./demo")
    command.add_argument(
        "--lesson", action="append", default=[], metavar="NAME", help="only this lesson; may be repeated"
    )
    command.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Make and grade the demo class of the course around the current folder."""
    from autograder.course.config import CourseError, course_root
    from autograder.demo.sample_class import demo

    try:
        demo(course_root(Path.cwd()), arguments.folder, arguments.lesson)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def add_grade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder grade`."""
    command = commands.add_parser("grade", help="grade what students handed in, safely and in parallel")
    command.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all that were handed in")
    command.add_argument(
        "--student", default="*", metavar="GLOB", help="only students whose names fit, for example 'a*'"
    )
    command.add_argument("--jobs", type=int, default=0, metavar="N", help="how many at a time (default: one a core)")
    command.add_argument("--force", action="store_true", help="also what has not changed since it was graded")
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help="grade on a Dask cluster, tcp://host:8786")
    command.add_argument("--json", action="store_true", help="print the results as JSON")
    command.add_argument(
        "--unprotected", action="store_true", help="grade even where the sandbox does not hold; every result is marked"
    )
    command.set_defaults(run=run_grade)


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade the course around the current folder."""
    from rich.console import Console

    from autograder.grading.worker.client import GradingServer
    from autograder.grading.worker.quick_imports import quick_imports

    warm = GradingServer(unprotected=arguments.unprotected)
    if not arguments.scheduler:
        warm.start()  # it takes as long to warm up as nbgrader takes to be imported
    try:
        with quick_imports():
            from autograder.course.config import CourseError, course_root
            from autograder.grading.grade import GradeOptions, grade  # nbgrader comes with it
        options = GradeOptions(
            lessons=arguments.lessons,
            students=arguments.student,
            jobs=arguments.jobs,
            force=arguments.force,
            scheduler=arguments.scheduler,
            unprotected=arguments.unprotected,
            as_json=arguments.json,
        )
        try:
            return grade(course_root(Path.cwd()), options, Console(), warm=warm)
        except (CourseError, OSError) as error:
            print(error, file=sys.stderr)
            return 2
    except KeyboardInterrupt:
        on = "without --force it goes on with what is not graded yet" if arguments.force else "the same command goes on"
        print(f"Stopped. What was graded is recorded; {on}.", file=sys.stderr)
        return 130
    finally:
        warm.stop()


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder report`."""
    command = commands.add_parser(
        "report",
        help="write a page about what the class has understood, or one for each student",
        description="Write one HTML file about the class: the mistakes made most often, how each exercise and check "
        "went, all points, and what could not be graded. With --student, write a page of feedback for each student "
        "instead. Pages need nothing but a browser. Only you can read the files (your group too, where nbgrader shares "
        "the course with one); students get theirs when you hand it out.",
    )
    command.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="default: those that are due or that somebody has handed in"
    )
    command.add_argument(
        "--student", default="", metavar="GLOB", help="a page for each student whose id fits: 'a*', or '*' for all"
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="PATH",
        help="the file for the class (default: report.html in the course folder); with --student, a folder for the "
        "pages, STUDENT.html each (default: feedback/STUDENT/feedback.html, beside nbgrader's own pages)",
    )
    command.set_defaults(run=run_report)


def run_report(arguments: argparse.Namespace) -> int:
    """Write pages about the course around the current folder."""
    from autograder.grading.worker.quick_imports import quick_imports

    with quick_imports():
        from autograder.course.config import CourseError, course_root
        from autograder.report.write import ReportOptions, write_report

    options = ReportOptions(arguments.lessons, arguments.student, arguments.output)
    try:
        print(write_report(course_root(Path.cwd()), options))
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder doctor`."""
    command = commands.add_parser("doctor", help="try what the sandbox promises on this machine")
    command.set_defaults(run=run_doctor)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Probe the sandbox and say what holds."""
    from rich.console import Console

    from autograder.grading.doctor import doctor

    return doctor(Console())


def add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe `autograder export` and its forms."""
    command = commands.add_parser("export", help="write grades for spreadsheets, Canvas, Moodle or Gradescope")
    forms = command.add_subparsers(title="forms", metavar="FORM", required=True, dest="form")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--output", default="", metavar="FILE", help="default: named after the form; - for the screen")
    common.add_argument("--force", action="store_true", help="replace the file, if it is there already")
    some = argparse.ArgumentParser(add_help=False)
    some.add_argument("--student", default="*", metavar="GLOB", help="only students whose ids fit, for example 'a*'")
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all, or all that somebody handed in")
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
    form.add_argument("--checks", action="store_true", help="a row for each student, lesson and check instead")
    form = add(
        "canvas",
        "the gradebook that Canvas exported, with points filled in, for Grades → Import. Students are found by ID "
        "(lms_user_id in nbgrader), SIS User ID or SIS Login ID (the student id or e-mail), never by name. A lesson's "
        "column is the one of its name; where there is none, one is added, and Canvas makes an assignment of it. "
        "Without a file, one is made for the students whose lms_user_id is known; names in it that a spreadsheet would "
        "take for a formula get an apostrophe in front. Exit status 1: some grades are missing, and are listed.",
        some,
        grades,
    )
    form.add_argument("template", nargs="?", type=Path, metavar="GRADEBOOK", help="the CSV file exported from Canvas")
    form.add_argument("--lesson", action="append", dest="lessons", metavar="NAME", help="only this; may be repeated")
    form.add_argument(
        "--column", action="append", dest="columns", metavar="LESSON=HEADING", help="what Canvas calls a lesson"
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
    add("gradescope", "results for Gradescope. FILE is a folder, which gets STUDENT/LESSON/results.json.", some, named)
    form = add(
        "gradescope-zip",
        "an autograder for one lesson, to upload to Gradescope. It holds the lesson with its hidden tests. As far as a "
        "container lets it, a submission runs in the engine's sandbox; for the rest the container has to do, and what "
        "the run prints for instructors says so. Give it 2 GB of memory.",
    )
    form.add_argument("lessons", nargs=1, metavar="LESSON", help="for example 01_attention")


def run_export(arguments: argparse.Namespace) -> int:
    """Export from the gradebook of the course around the current folder."""
    from autograder.course.config import CourseError, course_root
    from autograder.export.write import ExportOptions, write_export

    given = {name: value for name, value in vars(arguments).items() if name != "run" and value is not None}
    given["students"] = given.pop("student", "*")
    try:
        return write_export(course_root(Path.cwd()), ExportOptions(**given))
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def explain_missing(error: ModuleNotFoundError) -> int:
    """Say what to do where a module is missing that this installation may lack; pass on an error of another kind."""
    name = error.name or ""
    if name.split(".")[:2] == ["autograder", "demo"]:
        advice = "The demo needs a checkout of the course, and this installation is none. From its folder, install "
        print(f'{advice}it with: pip install --editable ".[grading]"', file=sys.stderr)
        return 1
    if name.split(".")[0] == "autograder":
        raise error
    print(
        f"This command needs {name}, which is not installed. "
        'Install what instructors need, from the course folder: pip install ".[grading]"',
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
