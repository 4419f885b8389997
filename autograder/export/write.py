"""`autograder export`: what the gradebook holds, in the forms that other programs read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from traitlets.config import Config

from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.export import canvas, csv_columns, moodle
from autograder.export.columns import Choices
from autograder.export.gradescope.bundle import bundle, for_classroom50
from autograder.export.gradescope.results import UNKNOWN, of_result, page, to_bytes
from autograder.export.output import SCREEN, put, tell
from autograder.export.selection import Messages, Selection, select_current
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradedSubmission, read_gradebook
from autograder.spreadsheets.sheet import Sheet, save


@dataclass(frozen=True)
class ExportOptions:
    """What to export, and how; every form takes some of these."""

    form: str  # "csv", "canvas", "moodle", "gradescope", "gradescope-zip" or "classroom50"
    lessons: Sequence[str] = ()  # their names; all that there are, or that somebody handed in, when there are none
    students: str = "*"  # a pattern for the ids of students, "a*"
    output: str = ""  # the file, or for "gradescope" the folder; "" for the usual one, "-" for standard output
    force: bool = False  # replace what is there
    template: Path | None = None  # the file that was downloaded from Canvas or Moodle, if any
    checks: bool = False  # a row for each check
    wide: bool = False  # a row for each student
    scale: bool = False  # convert points where the template has another maximum
    zeros: bool = False  # 0 where nothing was handed in
    feedback: bool = False  # what the checks said, too
    identifier: str = "email"  # by which Moodle finds students: "email", "username" or "idnumber"
    columns: Sequence[str] = ()  # "LESSON=HEADING" for lessons whose column in Canvas cannot be told
    stale: bool = False  # write points that are out of date, too


def write_export(root: Path, options: ExportOptions) -> int:
    """Write one form; 0 when all grades got there, 1 when some did not, which standard error lists.

    Raises:
        CourseError: nothing was written, and why.
    """
    if options.form in ZIPS:
        return _zip(root, options)
    book, messages = read_gradebook(root), Messages()
    named, all_lessons = (options.lessons, options.students), options.form == "csv"
    selection = select_current(book, *named, messages, stale=options.stale, handed_in=not all_lessons)
    if options.form == "gradescope":
        return _gradescope(selection, options, messages)
    data, choices = FORMS[options.form](selection, options, messages)
    if options.form != "csv" or options.wide:  # the others have a column for it
        messages.note_unfinished(selection)
    table = "checks" if options.checks else "table" if options.wide else "grades"
    usual = table if options.form == "csv" else options.form
    output = put(data, options.output, f"{usual}.csv", force=options.force, template=options.template)
    choices.save()
    lessons = ", ".join(lesson.name for lesson in selection.lessons)
    return tell(messages, f"{output}: {lessons}.", options.output)


_Made: TypeAlias = tuple[bytes, Choices]  # a file's content, and what was said of Canvas' columns


def _csv(selection: Selection, options: ExportOptions, messages: Messages) -> _Made:
    tables = csv_columns
    make = tables.checks_table if options.checks else tables.wide_table if options.wide else tables.grades_table
    return make(selection), Choices()


def _canvas(selection: Selection, options: ExportOptions, messages: Messages) -> _Made:
    course = selection.book.course
    path = Gradebook(course.db_url, course.root).columns
    choices = Choices.read(path, _columns(options.columns, selection))
    if options.template is None:
        if options.columns or options.scale:
            raise CourseError("--column and --scale need Canvas' exported gradebook. Name that file.")
        return canvas.fresh(selection, choices, messages, zeros=options.zeros), Choices()
    sheet = Sheet.read(options.template)
    return canvas.fill(selection, sheet, choices, messages, scale=options.scale, zeros=options.zeros), choices


def _columns(arguments: Sequence[str], selection: Selection) -> dict[str, str]:
    """Read LESSON=HEADING."""
    headings, names = {}, [lesson.name for lesson in selection.lessons]
    for argument in arguments:
        lesson, equals, heading = argument.partition("=")
        if not equals or not heading.strip() or lesson not in names:
            raise CourseError(f"--column {argument} is not LESSON=HEADING with one of the lessons {', '.join(names)}.")
        headings[lesson] = heading.strip()
    return headings


def _moodle(selection: Selection, options: ExportOptions, messages: Messages) -> _Made:
    zeros, feedback = options.zeros, options.feedback
    if options.template is None:
        if options.scale:
            raise CourseError("--scale needs a worksheet, which says Moodle's maximum. Name it with --worksheet.")
        return moodle.fresh(selection, messages, options.identifier, zeros=zeros, feedback=feedback), Choices()
    if len(selection.lessons) != 1:
        names = ", ".join(lesson.name for lesson in selection.lessons)
        raise CourseError(f"A worksheet is that of one assignment, and these are {names}. Name one lesson.")
    sheet, scale = Sheet.read(options.template), options.scale
    return moodle.fill(selection, sheet, messages, scale=scale, zeros=zeros, feedback=feedback), Choices()


FORMS = {"csv": _csv, "canvas": _canvas, "moodle": _moodle}


def _gradescope(selection: Selection, options: ExportOptions, messages: Messages) -> int:
    """Write FOLDER/STUDENT/LESSON/results.json for all that was handed in."""
    folder, pages = Path(options.output or "gradescope"), {}
    if options.output == SCREEN:
        raise CourseError("There are many results, for which --output has to name a folder.")
    for lesson in selection.lessons:
        for student in selection.students:
            graded = selection.graded(student, lesson)
            if graded and Path(student.id).name != student.id:
                raise CourseError(f"The student id {student.id} is no name for a folder. Leave it out with --student.")
            if graded:
                pages[folder / student.id / lesson.name / "results.json"] = _page(lesson, graded)
    if not options.force and (there := next((path for path in pages if path.exists()), None)):
        raise CourseError(f"{there} exists. Give --output another folder, or --force to replace what is in it.")
    for path, data in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, data, force=options.force, suffix=".json")
    return tell(messages, f"{folder}: {len(pages)} results.", str(folder))


def _page(lesson: GradebookLesson, graded: GradedSubmission) -> bytes:
    if graded.result:
        result, maximum = graded.result, lesson.max_score
        return to_bytes(of_result(result, scores=graded.scores, penalty=graded.penalty, maximum=maximum))
    tests = [
        {"name": check, "score": score, "max_score": lesson.points.get(check, 0.0), "visibility": "visible"}
        for check, score in graded.scores.items()
    ]
    return to_bytes(page(UNKNOWN, graded.score, tests, extra={"lesson": lesson.name}))


ZIPS: dict[str, tuple[Callable[[Path, Path, Config | None], bytes], str]] = {
    "gradescope-zip": (bundle, "source_directory"),
    "classroom50": (for_classroom50, "release_directory"),
}


def _zip(root: Path, options: ExportOptions) -> int:
    """Write an autograder for one lesson, made of its notebooks in solutions/ or, as they are released, notebooks/."""
    course, (lesson,), platform = Course.at(root), options.lessons, options.form.removesuffix("-zip")
    make, step = ZIPS[options.form]
    notebooks = sorted(root.glob(f"{getattr(course.directory, step)}/*/*.ipynb"), reverse=True)
    folders = {path.parent.name: path for path in notebooks}
    if lesson not in folders:
        raise CourseError(f"There is no lesson {lesson}. There are {', '.join(sorted(folders)) or 'none'}.")
    made = make(root, folders[lesson], course.config if course.is_plain else None)
    output = put(made, options.output, f"{platform}-{lesson}.zip", force=options.force, suffix=".zip")
    return tell(Messages(), f"{output}: {lesson}, for {platform.capitalize()}.", options.output)
