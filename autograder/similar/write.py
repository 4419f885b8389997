"""`autograder similar`: pairs of hand-ins to look at together, in the terminal and on a page."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder.collect.groups import read_groups
from autograder.course.config import CourseError
from autograder.course.lesson import Lesson, cells_of
from autograder.course.names import counted, listed, printable
from autograder.course.plain import notebooks_in
from autograder.course.versions.released import read_source
from autograder.grading.gradebook.reader import GradebookSnapshot, Student, read_gradebook
from autograder.report.page import render, write
from autograder.report.write import SIMILAR_PAGE, file_size, mode_of, page_place, shown
from autograder.similar.hand_ins import OWN_CELLS, HandIn, known_traits, read_hand_ins
from autograder.similar.shared import SimilarPair, similar_pairs

FEWEST = 6  # hand-ins of students' own, among which something can be rare
MOST_PAIRS = 50  # on the page, and in the terminal
LOOK = (
    "Look at each pair yourself, and ask both: what two share may come from work done together, from a page that "
    "both read, or from one another."
)


@dataclass(frozen=True)
class Comparison:
    """The hand-ins of one lesson, compared.

    Attributes:
        compared, left_out: students' ids, one of each group; who is left out handed in what cannot be graded.
        published: whose hand-in is the published solution.
        own: how many of those compared are students' own: neither blank nor the published solution.
        cut: whose hand-in is so long that not all of it was compared.
        not_graded: whose slips are not known, among those compared.
    """

    lesson: str
    compared: tuple[str, ...]
    left_out: tuple[str, ...]
    published: tuple[str, ...]
    own: int
    cut: tuple[str, ...]
    not_graded: tuple[str, ...]
    pairs: tuple[SimilarPair, ...]


def similar(root: Path, name: str, out: Console, *, output: Path | None = None, as_json: bool = False) -> None:
    """Compare what was handed in for a lesson, say which pairs share what, and write a page that shows it.

    Args:
        output: the page; None for the usual place.
        as_json: print JSON, and write no page.

    Raises:
        CourseError: there is no gradebook or no lesson of that name, or the page cannot be written.
    """
    book = read_gradebook(root)
    (lesson,) = book.choose_lessons([name])
    comparison = _compared(book, lesson.name)
    everybody = (*comparison.compared, *comparison.left_out)
    people = {student: book.students.get(student, Student(student)) for student in everybody}
    if as_json:
        out.print_json(json.dumps(_as_json(comparison, people)))
        return
    for line in _lines(comparison, people):
        out.print(escape(printable(line)), highlight=False, soft_wrap=True)
    path = page_place(book, output, SIMILAR_PAGE)
    data = render(
        "similar.html",
        course=book.course.name,
        comparison=comparison,
        labels={student: person.label for student, person in people.items()},
        lines=_about(comparison, people),
        look=LOOK,
        own_cells=OWN_CELLS,
        pairs=comparison.pairs[:MOST_PAIRS],
        more=max(0, len(comparison.pairs) - MOST_PAIRS),
    )
    write(path, data, mode=mode_of(book))
    who = "you and your group" if book.course.is_shared else "you"
    done = f"✓ {shown(path)}: side by side, {file_size(data)}. It holds names; only {who} can read the file."
    out.print(escape(done), highlight=False, soft_wrap=True)


def _compared(book: GradebookSnapshot, lesson: str) -> Comparison:
    path = book.course.source(lesson)
    try:
        source = read_source(path, book.course.config)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None
    exercises = [cell.id for cell in cells_of(source) if cell.is_answer] or [
        exercise.name for exercise in Lesson(lesson, source).exercises
    ]
    hand_ins, left_out = dict[str, HandIn](), set(book.course.students(lesson))
    groups = read_groups(book.course.root, book.students, left_out)
    for hand_in in read_hand_ins(book, lesson, source):
        left_out.remove(hand_in.student)
        hand_ins.setdefault(min(groups.get(hand_in.student, [hand_in.student])), hand_in)
    folders = (path.parent for path in book.course.sources())
    known = known_traits(path for folder in folders for path in notebooks_in(folder))
    compared = list(hand_ins.values())
    students = tuple(hand_in.student for hand_in in compared)
    return Comparison(
        lesson,
        compared=students,
        left_out=tuple(sorted(left_out)),
        published=tuple(hand_in.student for hand_in in compared if hand_in.is_published),
        own=sum(hand_in.is_own for hand_in in compared),
        cut=tuple(hand_in.student for hand_in in compared if hand_in.is_cut),
        not_graded=tuple(student for student in students if (student, lesson) not in book.graded),
        pairs=tuple(similar_pairs(compared, exercises, known)),
    )


def _as_json(comparison: Comparison, people: dict[str, Student]) -> dict[str, object]:
    pairs = [
        {"students": [pair.first, pair.second], "shares": [asdict(share) for share in pair.shares]}
        for pair in comparison.pairs
    ]
    others = {name: value for name, value in asdict(comparison).items() if name != "pairs"}
    return {"students": {student: person.name for student, person in people.items()}, **others, "pairs": pairs}


def _lines(comparison: Comparison, people: dict[str, Student]) -> Iterator[str]:
    """Say in the terminal what was found."""
    yield from _about(comparison, people)
    for pair in comparison.pairs[:MOST_PAIRS]:
        who = f"{people[pair.first].label} and {people[pair.second].label}"
        yield f"  {who} share {'; '.join(map(str, pair.shares))}."
    if len(comparison.pairs) > MOST_PAIRS:
        yield f"  … and {len(comparison.pairs) - MOST_PAIRS} pairs more; --json lists all."
    if comparison.pairs:
        yield LOOK


def _about(comparison: Comparison, people: dict[str, Student]) -> list[str]:
    """How many pairs there are, and what was not compared."""
    count, compared = len(comparison.pairs), len(comparison.compared)
    hand_ins = counted(compared, "hand-in")
    if compared < 2:
        lines = [f"{comparison.lesson}: {hand_ins}, nothing to compare."]
    elif count:
        lines = [f"{comparison.lesson}: {counted(count, 'pair')} among {hand_ins} to look at together."]
    elif comparison.own < FEWEST:
        own = f"{comparison.own} of {hand_ins} {'is' if comparison.own == 1 else 'are'} a student's own"
        own += ", the others being blank or the published solution" * (comparison.own < compared)
        lines = [f"{comparison.lesson}: {own}; with fewer than {FEWEST}, what two share by chance cannot be told."]
    else:
        lines = [f"{comparison.lesson}: no pair among {hand_ins} shares more than chance brings about."]
    if comparison.published:
        who = listed([people[student].label for student in comparison.published])
        lines.append(f"The published solution, in every exercise, was handed in by {who}.")
    groups = {
        "cannot be graded, and was left out": comparison.left_out,
        "is so long that only its beginning was compared": comparison.cut,
    }
    lines += [f"What {people[student].label} handed in {what}." for what, who in groups.items() for student in who]
    if comparison.not_graded:
        number = len(comparison.not_graded)
        verb = "is" if number == 1 else "are"
        lines.append(f"{number} of them {verb} not graded: what checks would say is not compared.")
    return lines
