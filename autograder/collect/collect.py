"""`autograder collect`: what a platform gives out, or a folder or repositories hold, into submitted/."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.collect import platforms
from autograder.collect.download import Download
from autograder.collect.github import Wanted, accounts, github
from autograder.collect.groups import HANDED_IN_BY, read_groups
from autograder.collect.hand_in import HandIn, read
from autograder.collect.people import People
from autograder.collect.place import Placed, Submitted
from autograder.collect.platforms import Found
from autograder.course.config import CourseError
from autograder.course.names import counted, printable
from autograder.course.paths import REPLACED, Course
from autograder.course.versions.released import read_source
from autograder.grading.gradebook.database import Gradebook, explained
from autograder.grading.gradebook.reader import label_of, read_students
from autograder.grading.gradebook.students import write_students
from autograder.grading.submission.lessons import NOT_THIS_LESSON, Marks, another_lesson, marks_of, with_name
from autograder.grading.submission.reader import NotGradable, bytes_of, cells_of, find
from autograder.grading.submission.repair import repair

REPOSITORIES = Path("downloaded", "repositories")
PROBLEMS = 3  # that are named of one hand-in
MOST_LINES = 200  # of each kind


@dataclass(frozen=True)
class CollectOptions:
    """What to collect."""

    form: str  # "canvas", "moodle", "gradescope", "folder" or "github"
    lesson: str
    file: Path  # the download; for "github" the list of accounts
    people: Path | None = None  # the class list, if any
    worksheet: Path | None = None  # Moodle's grading worksheet
    repository: str = ""  # the address of a student's repository, with {student} in it


@dataclass
class Summary:
    """What became of all that was handed in."""

    lesson: str
    people: People
    placed: dict[Placed, list[str]] = field(default_factory=lambda: {state: [] for state in Placed})
    notes: list[str] = field(default_factory=list)  # what is worth knowing, each with whom it is about
    gradable: int = 0  # how many hand-ins can be graded
    not_gradable: list[str] = field(default_factory=list)  # who handed in what no grading can read, and why
    of_others: dict[str, str] = field(default_factory=dict)  # who handed in another lesson's notebook → that lesson
    unplaced: list[str] = field(default_factory=list)  # what could not be put into submitted/, and why
    strangers: list[str] = field(default_factory=list)  # hand-ins of those whom neither gradebook nor list has
    nobodys: list[str] = field(default_factory=list)  # files of a download that are nobody's
    # files that are called like those of another lesson, with their number
    elsewhere: list[str] = field(default_factory=list)
    missing: list[str] | None = None  # who has handed in nothing, by whatever way; None where there is no class list

    def named(self, student: str) -> str:
        """The id, with the name beside it where that is known."""
        return label_of(student, self.people.students)


def collect(root: Path, options: CollectOptions) -> int:
    """Collect one lesson and say what came of it; 1 where something could not be put there, or is all another lesson's.

    Raises:
        CourseError: nothing was collected, and why.
    """
    course = Course.at(root)
    (lesson,) = course.choose_lessons([options.lesson])
    gradebook = Gradebook(course.db_url, course.root)
    with gradebook.writing() as connection:
        submitted, marks = Submitted(course, lesson), marks_of(course.sources())
        with explained(gradebook.where), connection.begin():
            people = People.of(read_students(connection))
        summary = Summary(lesson, people)
        if options.people:
            people.read(options.people)
        with ExitStack() as stack:
            if options.form == "github":
                found = _from_repositories(course, Wanted(lesson, b"", marks.get(lesson)), options, people)
            else:
                download = stack.enter_context(Download(options.file))
                found = _from_download(download, course, lesson, options, people)
            with explained(gradebook.where):
                write_students(connection, people.students.values())
            summary.notes += people.notes
            summary.nobodys += found.nobodys
            summary.elsewhere += [
                counted(count, f"file of {other}") for other, count in sorted(found.of_others.items())
            ]
            groups = read_groups(course.root, people.students, {one.student for one in found.hand_ins})
            for hand_in in _newest(_shared(found.hand_ins, groups), summary):
                _place(hand_in, course, submitted, marks, summary)
            if _wrong_download(summary):
                submitted.let_older_replace(summary.of_others)
    if people.listed:
        summary.missing = [summary.named(one) for one in sorted(people.listed - set(course.students(lesson)))]
        strangers = {one.student: one.who for one in found.hand_ins if one.student not in people.listed}
        summary.strangers = [f"{student} ({who})" for student, who in sorted(strangers.items())]
    print(*map(printable, _lines(summary)), sep="\n")
    return int(bool(summary.unplaced or _wrong_download(summary)))


def _from_repositories(course: Course, lesson: Wanted, options: CollectOptions, people: People) -> Found:
    released = course.root / course.directory.release_directory / lesson.name / f"{lesson.name}.ipynb"
    with suppress(OSError):
        lesson = replace(lesson, released=released.read_bytes())
    return github(accounts(options.file, people), options.repository, course.root / REPOSITORIES, lesson)


def _from_download(download: Download, course: Course, lesson: str, options: CollectOptions, people: People) -> Found:
    if options.form == "canvas":
        found = platforms.canvas(download, people)
    elif options.form == "moodle":
        assert options.worksheet is not None, "the command line asks for it"
        found = platforms.moodle(download, people, options.worksheet)
    elif options.form == "gradescope":
        found = platforms.gradescope(download, people)
    else:
        found = platforms.folder(download, people, lesson, course.lessons())
    platforms.require_some(found, options.form, download.path)
    return found


def _shared(hand_ins: Iterable[HandIn], groups: Mapping[str, Collection[str]]) -> Iterator[HandIn]:
    """Yield each hand-in, for every member of its group."""
    for one in hand_ins:
        yield one
        for member in groups.get(one.student, ()):
            if member != one.student:
                yield replace(one, student=member, notes=(*one.notes, HANDED_IN_BY.format(one.student)))


def _newest(hand_ins: Iterable[HandIn], summary: Summary) -> list[HandIn]:
    """Return one hand-in of each student, by their ids."""
    newest: dict[str, HandIn] = {}
    for hand_in in hand_ins:
        earlier = newest.setdefault(hand_in.student, hand_in)
        if earlier is not hand_in:
            summary.notes.append(f"{summary.named(hand_in.student)}: handed in several times; the newest is taken.")
            newest[hand_in.student] = max(earlier, hand_in, key=_age)
    return [newest[student] for student in sorted(newest)]


def _age(hand_in: HandIn) -> tuple[float, float]:
    """What is greatest for the newest; where a platform says nothing, the times of the files do."""
    return hand_in.order, max((file.modified for file in hand_in.files), default=0.0)


def _place(hand_in: HandIn, course: Course, submitted: Submitted, marks: Mapping[str, Marks], summary: Summary) -> None:
    """Put a hand-in into its folder; whatever it brings about, the others go on."""
    student, lesson, name = hand_in.student, summary.lesson, summary.named(hand_in.student)
    try:
        contents = read(hand_in, lesson)
        if hand_in.files:
            summary.placed[submitted.place(student, contents.files, hand_in.order)].append(student)
            reason, another = _why_not_gradable(course, student, lesson, marks)
            summary.gradable += not reason
            if another:
                summary.of_others[student] = another
            if reason:
                summary.not_gradable.append(" ".join([f"{name}: {reason}", *contents.problems[:PROBLEMS]]))
                contents.problems.clear()
        summary.notes += [f"{name}: {text}" for text in (*contents.notes, *contents.problems[:PROBLEMS])]
    except Exception as error:  # a disk that is full, or what nobody foresaw
        told = str(error) if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
        summary.unplaced.append(f"{name}: {told}")


def _why_not_gradable(course: Course, student: str, lesson: str, marks: Mapping[str, Marks]) -> tuple[str, str]:
    """What grading will say of a submission that it cannot grade, and whose lesson's it is, if another's."""
    try:
        cells = cells_of(bytes_of(find(course.submitted(student, lesson), lesson)[0]))
    except NotGradable as error:
        return str(error), ""
    if lesson not in marks or marks[lesson].known_in(cells) > 1:
        return "", ""
    reason = repair(read_source(course.source(lesson), course.config), cells).reason
    another = another_lesson(lesson, cells, marks) if reason == NOT_THIS_LESSON else ""
    return with_name(reason, lesson, cells, marks), another


def _wrong_download(summary: Summary) -> str:
    """What to say where no notebook is of the lesson, and several are of another one; one alone may be a slip."""
    ((another, count),) = Counter(summary.of_others.values()).most_common(1) or [("", 0)]
    if count < 2 or summary.gradable:
        return ""
    some = f"All {count}" if count == len(summary.of_others) else f"{count} of {len(summary.of_others)}"
    return (
        f"✗ {some} notebooks are of lesson {another}, and none is of {summary.lesson}: this is probably the wrong "
        f"download. Collect the right one, which takes their place, and this one as {another}."
    )


def _lines(summary: Summary) -> Iterator[str]:
    """Say what became of all that was handed in, in the order of what is to be done about it."""
    placed = summary.placed
    if wrong := _wrong_download(summary):
        yield wrong
    counts = [f"{len(placed[state])} {state.value}" for state in (Placed.NEW, Placed.REPLACED, Placed.UNCHANGED)]
    yield f"✓ {summary.lesson}: {', '.join(counts)}."
    parts = {
        f"Replaced; what was there before is in submitted/{REPLACED}/:": [*map(summary.named, placed[Placed.REPLACED])],
        "Older than what is there, and left out:": [*map(summary.named, placed[Placed.OLDER])],
        "Changed in submitted/ by hand, or not put there by this command, and left as it is. To take what was "
        "downloaded, move the folder away and collect again:": [*map(summary.named, placed[Placed.EDITED])],
        "Notes:": summary.notes,
        "Not gradable as it is:": summary.not_gradable,
        "Not in the gradebook before, and collected all the same:": summary.strangers,
        "Left out, since the name does not say whose it is:": summary.nobodys,
        "Left out, since this collects one lesson:": summary.elsewhere,
        "Could not be put into submitted/:": summary.unplaced,
    }
    for title, lines in parts.items():
        if lines:
            yield title
            yield from (f"  {line}" for line in lines[:MOST_LINES])
            if len(lines) > MOST_LINES:
                yield f"  … and {len(lines) - MOST_LINES} more."
    if summary.missing is None:
        yield "Who has handed in nothing is not known: there is no class list. Name one with --people."
    elif summary.missing:
        yield f"Handed in nothing ({len(summary.missing)}): {', '.join(summary.missing)}."
    else:
        yield "Everybody in the gradebook has handed in something."
