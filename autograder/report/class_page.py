"""The class page: what a class has understood and what not, in one file."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student
from autograder.grading.pending import NOT_GRADED, Pending, grouped
from autograder.grading.results import Status
from autograder.report import analytics
from autograder.report.analytics import HandInTimes, Thirds
from autograder.report.counts import CheckCount, ExerciseCount, LessonCount, MistakeCount, Spread, count_lesson
from autograder.report.forgotten import forgotten
from autograder.report.outline import LessonOutline
from autograder.report.page import code, render, shortened
from autograder.report.roster import LEGEND, PageLinks, Roster, row_of

TOP = 10
MOST_RULES = 3
LONGEST = 1000  # characters of a rule, a mistake or a note
NO_LINKS = PageLinks()


class TopMistake(NamedTuple):
    """A mistake among the most frequent, and where it was made."""

    mistake: MistakeCount
    exercise: ExerciseCount


class HardCheck(NamedTuple):
    """A check, with the name of its lesson, and its exercise."""

    lesson: str
    check: CheckCount
    exercise: ExerciseCount


def class_page(
    book: GradebookSnapshot,
    lessons: Sequence[LessonOutline],
    pending: Mapping[tuple[str, str], Pending] | None = None,
    *,
    links: PageLinks = NO_LINKS,
    now: datetime | None = None,
) -> bytes:
    """Make the page.

    Args:
        lessons: those that count.
        pending: what is out of date, by (student, lesson).
        links: to other pages.
        now: in UTC; what is due later is not called missing.
    """
    names = {outline.name for outline in lessons}
    pending = {pair: one for pair, one in (pending or {}).items() if one.lesson in names}
    waiting = pending.keys() - book.graded.keys()
    students = {**{student: Student(student) for student, _ in waiting}, **book.students}
    roster = Roster(students.values())
    by_lesson: dict[str, list[GradedSubmission]] = {outline.name: [] for outline in lessons}
    for submission in book.graded.values():
        if submission.lesson in by_lesson:
            by_lesson[submission.lesson].append(submission)
    graded = [submission for submissions in by_lesson.values() for submission in submissions]
    handed_in = {(submission.student, submission.lesson) for submission in graded} | waiting
    came = {student for student, _ in handed_in}
    has_time = book.not_due(((student, name) for name in names for student in students), now) - handed_in
    folders = {name: [book.course.submitted(one.student, name) for one in each] for name, each in by_lesson.items()}
    counts = [
        count_lesson(
            outline,
            students,
            by_lesson[outline.name],
            {student for student, name in waiting if name == outline.name},
            {student for student, name in has_time if name == outline.name},
            forgotten(folders[outline.name], outline.name),
        )
        for outline in lessons
    ]
    rows = [row_of(book, student, lessons, pending.keys(), has_time, links) for student in roster.students]
    present = {submission.student for submission in graded}
    percents = [row.percent for row in rows if row.id in present and row.percent is not None]
    marks = {mark for row in rows for cell in row.cells for mark in cell.marks}
    columns = zip(*(row.cells for row in rows if row.id in present), strict=True)
    scores = [[cell.points for cell in column if cell.points is not None] for column in columns]
    spread_of = {one.name: Spread.of(each, one.points) for one, each in zip(lessons, scores, strict=False)}
    spreads = [(spread, one.label) for one in lessons if (spread := spread_of.get(one.name))]
    if len(spreads) > 1 and (whole := Spread.of(percents, 100)):
        spreads.insert(0, (whole, "All lessons together, in per cent"))
    turnout = analytics.count_turnout(lessons, students, handed_in, has_time) if len(lessons) > 1 else ()
    thirds = analytics.count_thirds(lessons, graded)
    top, hardest = _top(counts), _hardest(counts)
    times = _times(book, lessons, by_lesson)
    shown = {
        ("mistakes", "Mistakes"): top,
        ("exercises", "Exercises"): any(lesson.graded for lesson in counts),
        ("checks", "Hardest checks"): hardest,
        ("weeks", "Over the weeks"): turnout,
        ("times", "Times"): times,
        ("scores", "Scores"): spreads,
        ("students", "Students"): True,
    }
    return render(
        "class.html",
        script="class.js",
        course=book.course.name,
        where=book.where,
        last_graded=max((submission.recorded for submission in graded if submission.recorded), default=None),
        contents=[link for link, is_shown in shown.items() if is_shown]
        + [(outline.name, outline.label) for outline in lessons],
        facts=_facts(
            students, counts, percents, len(pending.keys() - waiting), sum(one.needs_review for one in graded)
        ),
        graded=graded,
        waiting=len(waiting),
        pending=grouped(pending.values()),
        NOT_GRADED=NOT_GRADED,
        top=top,
        hardest=hardest,
        odd=_odd(counts, thirds),
        thirds=thirds,
        turnout=turnout,
        most_stopped=max(turnout, key=lambda lesson: len(lesson.stopped), default=None),
        stopped=sum(len(lesson.stopped) for lesson in turnout),
        began=len(came),
        times=times,
        spreads=spreads,
        lessons=counts,
        due={outline.name: book.lessons[outline.name].duedate for outline in lessons},
        spread_of=spread_of,
        talks={one.name: _talks(book, roster, one.name) for one in lessons},
        anchors={exercise: f"{one.name}-{exercise.name}" for one in lessons for exercise in one.exercises},
        rows=rows,
        ids=any(one.name != one.id for one in students.values()),
        maximum=sum(outline.points for outline in lessons),
        legend=[(mark, meaning) for mark, meaning in LEGEND.items() if mark in marks],
        absent=roster.label_all(students.keys() - came),
        students=students,
        label_all=roster.label_all,
        parts=_parts,
        any_without_verdict=any(exercise.without_verdict for lesson in counts for exercise in lesson.exercises),
        rules=_rules,
        longest=LONGEST,
        fewest=analytics.FEWEST,
        hours=analytics.LAST_HOURS // timedelta(hours=1),
    )


def _times(
    book: GradebookSnapshot, lessons: Sequence[LessonOutline], by_lesson: Mapping[str, Sequence[GradedSubmission]]
) -> list[HandInTimes]:
    """When those lessons were handed in of which that is known."""
    times: list[HandInTimes] = []
    for outline in lessons:
        submissions = by_lesson[outline.name]
        due = {one.student: date for one in submissions if (date := book.due(one.student, outline.name))}
        times += filter(None, [analytics.count_hand_in_times(outline, submissions, due)])
    return times


def _talks(book: GradebookSnapshot, roster: Roster, lesson: str) -> list[str]:
    """With whom somebody has talked about their code, and when."""
    days = {student: day for (student, name), day in book.talks.items() if name == lesson and student in roster.labels}
    return [f"{roster.labels[one.id]}, {days[one.id]:%-d %B %Y}" for one in roster.students if one.id in days]


def _parts(count: ExerciseCount) -> list[tuple[str, int]]:
    """The bar of an exercise: the style of each part, and how many students it stands for."""
    return [
        ("passed", count.count(Status.PASSED)),
        ("failed", count.count(Status.FAILED)),
        ("attempted", count.count(Status.NOT_ATTEMPTED)),
        ("gradable", count.without_verdict),
    ]


def _rules(check: CheckCount) -> Markup:
    shown = (
        Markup("{} <small>({})</small>").format(code(shortened(rule, LONGEST)), count)
        for rule, count in check.rules[:MOST_RULES]
    )
    return Markup("; ").join(shown)


def _top(lessons: Sequence[LessonCount]) -> list[TopMistake]:
    """The named mistakes that most students made."""
    named = [
        TopMistake(mistake, exercise)
        for lesson in lessons
        for exercise in lesson.exercises
        for mistake in exercise.mistakes
        if mistake.named
    ]
    return sorted(named, key=lambda top: (-top.mistake.count, -top.mistake.count / max(1, top.exercise.tried)))[:TOP]


def _checks(lessons: Sequence[LessonCount]) -> list[HardCheck]:
    return [
        HardCheck(lesson.outline.name, check, exercise)
        for lesson in lessons
        for exercise in lesson.exercises
        for check in exercise.checks
    ]


def _hardest(lessons: Sequence[LessonCount]) -> list[HardCheck]:
    """The checks that the largest part of those who tried failed."""
    failed = [hard for hard in _checks(lessons) if hard.check.failed]
    return sorted(failed, key=lambda hard: (-hard.check.share_failed, -hard.check.failed))[:TOP]


def _odd(lessons: Sequence[LessonCount], thirds: Mapping[tuple[str, str], Thirds]) -> list[HardCheck]:
    """The checks that weaker students passed more often than stronger ones."""
    odd = {key for key, each in thirds.items() if each.is_odd}
    return [hard for hard in _checks(lessons) if (hard.lesson, hard.check.check.id) in odd]


def _facts(
    students: Collection[str],
    lessons: Sequence[LessonCount],
    percents: Sequence[float],
    outdated: int,
    to_review: int,
) -> list[tuple[str, str]]:
    """The numbers at the head of the page, and what they count."""
    rare = {
        "could not be graded": sum(len(lesson.ungradable) for lesson in lessons),
        "not graded yet": sum(len(lesson.waiting) for lesson in lessons),
        "out of date": outdated,
        "to be looked at": to_review,
        "not handed in": sum(len(lesson.nothing) for lesson in lessons),
    }
    graded = sum(len(lesson.graded) for lesson in lessons)
    facts = [(str(len(students)), "students"), (str(graded), "notebooks graded")]
    facts += [(str(count), label) for label, count in rare.items() if count]
    if percents:
        mean = round(sum(percents) / len(percents))
        facts.append((f"{mean} %", "of the points on average, of all who handed in"))
    return facts
