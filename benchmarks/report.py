"""How long does the class page of a large class take, and is it quick in a browser? Writes report.md.

    python benchmarks/report.py             # 1,000 students in all lessons
    python benchmarks/report.py 120 FOLDER  # a smaller class, kept in FOLDER, to look at

The students are invented; what the checks tell them is real: it is what wrong answers of tests/answers are
told. Their results go into a gradebook as `autograder grade` would record them, but without graded notebooks; empty
files stand for the pages that the class page links to.
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median

from nbgrader import api
from sqlalchemy import create_engine, insert, select, update

from autograder.course.lesson import Exercise, Lesson
from autograder.course.predictions import questions_of
from autograder.demo import sample_class
from autograder.grading.gradebook.database import RESULTS
from autograder.grading.results import Note, NoteKind, Outcome, Result, Status

ROOT = Path(__file__).resolve().parent.parent
MOST = 8  # wrong answers to an exercise
REPEATS = 3
SUBMITTED = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
FIRST = (
    *("Ada", "Bo", "Chidi", "Dara", "Elif", "Farid", "Grace"),
    *("Hana", "Ines", "Jonas", "Kofi", "Lena", "Mehmet", "Noor"),
)
PREDICTIONS = ("", "none", "some", "1", "2", "yes", "no", "both", "10", "half")
FIRST_DUE, WEEK = datetime(2026, 1, 9, 22), timedelta(weeks=1)
LAST = ("Abe", "Bauer", "Costa", "Diallo", "Eriksen", "Fischer", "García", "Haddad", "Ito", "Jansen", "Kaya", "O'Neill")
UNREADABLE = ("The file is empty.", "The notebook is not JSON: line 1 column 1.", "There is no notebook in the folder.")
NOTES = tuple(
    Note(NoteKind.NOTEBOOK, text) for text in ("Cells stood in another order.", "The cells had lost nbgrader's marks.")
)
SORT = "document.querySelector('table.sortable thead th:last-child button').click()"
FILTER = "const i = document.querySelector('input'); i.value = 'fischer'; i.dispatchEvent(new Event('input'))"
HEAD = """\
# How quick the class page is

Made by `python benchmarks/report.py`; do not edit.

`autograder report` for a class of {students} invented students in {lessons} lessons ({submissions} graded notebooks),
from start to end, and its page in headless Chromium; medians of {repeats}.

| what | |
|---|---:|
| `autograder report` | {report:.1f} s |
| of it the processor's time | {processor:.1f} s |
| the file | {size:.1f} MB |
| the page is loaded and laid out | {load:.2f} s |
| sorting the students by a column | {sort:.2f} s |
| filtering them by a name | {filter:.2f} s |
"""


def told_by(lesson: str, exercise: str) -> list[list[Outcome]]:
    """What the checks of an exercise say to some wrong answers, the failing checks alone."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
    import matrix

    found = []
    for answer in matrix.wrong_answers(lesson, exercise)[:MOST]:
        failed = []
        for each in matrix.failing(matrix.graded(lesson, answer)):
            error, text = each.error, matrix.message(each)
            why = (error.verdict, error.slip or "", error.rule or "", error.mistake or "")
            failed.append(Outcome(each.check, each.points, Status.FAILED, text, 0.02, *why))
        found += [failed] if failed else []
    return found


def a_class(
    lessons: Sequence[Lesson], told: Mapping[str, Sequence[Sequence[Outcome]]], count: int, seed: int = 0
) -> Iterator[Result]:
    """Invent what students of different strength hand in; some give up, and some files cannot be read.

    Args:
        told: exercise → what each of its wrong answers is told.
    """
    chance = random.Random(seed)
    asked = {lesson.name: [question.cell for question in questions_of(lesson)] for lesson in lessons}
    for number in range(count):
        strength, last = chance.betavariate(4, 1.5), len(lessons) - int(chance.expovariate(0.9))
        for lesson in lessons[: max(0, last)]:
            student = f"s{number:04}"
            if chance.random() < 0.01:
                yield Result(student, lesson.name, reason=chance.choice(UNREADABLE))
                continue
            checks = [outcome for each in lesson.exercises for outcome in _answer(chance, each, told, strength)]
            notes = tuple(note for note in NOTES if chance.random() < 0.06)
            predictions = {cell: chance.choice(PREDICTIONS) for cell in asked[lesson.name]}
            yield Result(student, lesson.name, tuple(checks), notes, predictions, seconds=1.0)


def _answer(
    chance: random.Random, exercise: Exercise, told: Mapping[str, Sequence[Sequence[Outcome]]], strength: float
) -> Iterable[Outcome]:
    passed = [
        Outcome(cell.id, cell.points, Status.PASSED, seconds=chance.uniform(0.01, 0.2)) for cell in exercise.checks
    ]
    if chance.random() > strength + 0.35:
        verdict = f"`{exercise.name}` is not written yet."
        return [
            Outcome(each.check, each.points, Status.NOT_ATTEMPTED, f"✗ {verdict}", 0.01, verdict) for each in passed
        ]
    wrong = told.get(exercise.name) or []
    if not wrong or chance.random() < strength:
        return passed
    failed = {outcome.check: outcome for outcome in wrong[min(int(chance.expovariate(0.5)), len(wrong) - 1)]}
    return [failed.get(each.check, each) for each in passed]


def name_of(number: int) -> tuple[str, str]:
    """An invented first and last name."""
    return FIRST[number % len(FIRST)], LAST[number // len(FIRST) % len(LAST)] + (
        f" {number // 168 + 1}" if number >= 168 else ""
    )


def store(db_url: str, results: Iterable[Result], students: int) -> int:
    """Put results into a released gradebook, and return how many."""
    engine, count, chance = create_engine(db_url), 0, random.Random(0)
    with closing(engine.connect()) as connection, connection.begin():
        notebook, assignment, cell = (each.__table__.c for each in (api.Notebook, api.Assignment, api.BaseCell))
        notebooks = {
            name: ids for name, *ids in connection.execute(select(notebook.name, notebook.id, notebook.assignment_id))
        }
        lessons = connection.scalars(select(assignment.name).order_by(assignment.name)).all()
        due = {name: FIRST_DUE + place * WEEK for place, name in enumerate(lessons)}
        for name, date in due.items():
            connection.execute(update(api.Assignment).where(assignment.name == name).values(duedate=date))
        cells = {(of, name): id_ for of, name, id_ in connection.execute(select(cell.notebook_id, cell.name, cell.id))}
        RESULTS.create(connection, checkfirst=True)
        named = [name_of(number) for number in range(students)]
        people = [{"id": f"s{i:04}", "first_name": a, "last_name": b} for i, (a, b) in enumerate(named)]
        connection.execute(insert(api.Student), people)
        while some := list(islice(results, 500)):
            rows: dict[object, list[dict]] = {table: [] for table in (*SUBMITTED, RESULTS)}
            for each in some:
                of, its_assignment = notebooks[each.lesson]
                ours = {"submission_id": api.new_uuid(), "student": each.student, "lesson": each.lesson}
                mine = {"id": api.new_uuid(), "notebook_id": of, "assignment_id": ours["submission_id"]}
                handed_in = due[each.lesson] + timedelta(hours=3 - chance.expovariate(1 / 30))
                about = {"assignment_id": its_assignment, "student_id": each.student, "timestamp": handed_in}
                rows[api.SubmittedAssignment].append({"id": ours["submission_id"], **about})
                rows[api.SubmittedNotebook].append(mine)
                for outcome in each.checks:
                    grade = {"auto_score": outcome.earned, "needs_manual_grade": False, "notebook_id": mine["id"]}
                    rows[api.Grade].append({"id": api.new_uuid(), "cell_id": cells[of, outcome.check], **grade})
                when = due[each.lesson] + timedelta(days=1, seconds=count)
                kept = {"digest": "", "notebook_sha256": "", "recorded": when, "result": json.dumps(each.to_json())}
                rows[RESULTS].append(ours | kept)
                count += 1
            for table, listed in rows.items():
                if listed:
                    connection.execute(insert(table), listed)
    engine.dispose()
    return count


def make(folder: Path, students: int) -> tuple[int, int]:
    """Make a course with a graded class, and return how many lessons and graded notebooks it has."""
    lessons = sample_class.make_course(ROOT, folder)
    told = {each.name: told_by(lesson, each.name) for lesson in lessons for each in lessons[lesson].exercises}
    results = a_class(list(lessons.values()), told, students)
    count = store(f"sqlite:///{folder / 'gradebook.db'}", results, students)
    for number in range(students):
        feedback = folder / "feedback" / f"s{number:04}"
        pages = [feedback / "feedback.html", *(feedback / name / f"{name}.html" for name in lessons)]
        for page in pages:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.touch()
    return len(lessons), count


def in_browser(page: Path) -> dict[str, float]:
    """Seconds until the page is laid out, sorted and filtered."""
    from playwright.sync_api import sync_playwright

    work = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")  # the system's, or else playwright's own
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        begin = time.perf_counter()
        tab.goto(page.as_uri())
        tab.evaluate(work)
        taken = {"load": time.perf_counter() - begin}
        for what, action in (("sort", SORT), ("filter", FILTER)):
            begin = time.perf_counter()
            tab.evaluate(f"() => {{ {action}; document.body.offsetHeight }}")
            tab.evaluate(work)
            taken[what] = time.perf_counter() - begin
        browser.close()
    return taken


def main() -> None:
    """Measure a class of 1,000 and write the page."""
    if sys.argv[1:]:
        make(Path(sys.argv[2]), int(sys.argv[1]))
        return
    students = 1000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "course")
        lessons, submissions = make(folder, students)
        taken, page = [], folder / "report.html"
        for _ in range(REPEATS):
            begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-m", "autograder.cli", "report"], cwd=folder, check=True)
            seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            taken.append({"report": seconds, "processor": processor, **in_browser(page)})
        medians = {what: median(each[what] for each in taken) for what in taken[0]}
        size = page.stat().st_size / 10**6
    about = {"students": f"{students:,}", "lessons": lessons, "submissions": f"{submissions:,}", "repeats": REPEATS}
    text = HEAD.format(**about, **medians, size=size)
    (ROOT / "benchmarks" / "report.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
