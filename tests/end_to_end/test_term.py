"""A term as the guide tells it, from the class list to handing back: nobody is lost, and every number is explained."""

import contextlib
import csv
import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from collect.test_github import push
from support import term
from support.guide import block
from support.sample_lesson import ROOT, write_lesson, write_pyproject
from support.term import CANVAS, CLASS, EVERYBODY, FOLDER, GITHUB, LESSONS, MOODLE, STRANGER, WORDS, Person, TermLesson

from autograder import cli
from autograder.demo import sample_class
from autograder.demo.sample_class import open_gradebook
from autograder.grading.results import Limits

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

DUE = datetime(2025, 10, 12, 23, 59)  # of all but the last lesson, where nobody can be late
SHORT = Limits(cell_seconds=20, submission_seconds=60, memory_bytes=600 * 2**20)
BY_HAND, COMMENT = 0.5, "Nearly: texts have **no** 2.0."
GONE = next(who for who in CLASS if who.id == "gone")
IDS = {who.id: who for who in EVERYBODY}
PEOPLE = [who for who in EVERYBODY if who is not GONE]
PAIRS = [(who, lesson) for who in PEOPLE for lesson in LESSONS]


@dataclass
class Term:
    """What was said on the way, and what there was at its end."""

    course: Path
    said: dict[str, tuple[int, str]] = field(default_factory=dict)  # step → exit status and what was printed

    def run(self, step: str, *words: str) -> str:
        """Run `autograder …` in the course, as it is typed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.said[step] = cli.main([*words]), out.getvalue()
        return out.getvalue()

    def json(self, step: str) -> Any:
        """What a step printed with --json, behind its progress."""
        text = self.said[step][1]
        return json.loads(text[text.index("{") :])


def work(course: Path, lesson: TermLesson) -> term.Work:
    """A lesson as students get it."""
    other = LESSONS[LESSONS.index(lesson) - 1]
    notebooks = [sample_class.released_notebook(course, one.name) for one in (lesson, other)]
    return term.Work(lesson, *(json.loads(json.dumps(notebook)) for notebook in notebooks))


def moodle_time(who: Person) -> str:
    """When somebody handed in, as Moodle writes it."""
    return f"{DUE - timedelta(hours=9) + timedelta(days=who.days_late):%A, %-d %B %Y, %-I:%M %p}"


def give_points(course: Path, lesson: TermLesson, student: str, check: str, points: float) -> None:
    """Give points by hand as formgrader does."""
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade(check, lesson.name, lesson.name, student)
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, None, False
        gradebook.db.commit()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Term]:
    """The term, held once."""
    folder = tmp_path_factory.mktemp("term")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setattr(Limits.__init__, "__defaults__", tuple(vars(SHORT).values()))
        (folder / "course").mkdir()
        patch.chdir(folder / "course")
        yield hold(Term(folder / "course"))


def hold(held: Term) -> Term:
    """Go through the guide from its first section to its tenth."""
    course = held.course
    # 1 and 4: set up and release
    for lesson in LESSONS:
        write_lesson(course, lesson.source(), lesson.name)
    write_pyproject(course)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    config = config.replace("c.Autograder.written_answers = False", "c.Autograder.written_answers = True")
    (course / "nbgrader_config.py").write_text(f"{config}\n{block('TenPercentADay')}", encoding="utf-8")
    (course / "README.md").write_text("# Course\n", encoding="utf-8")
    held.run("release", "release")
    # 2 and 3: the class, due dates, more time
    term.class_list(course / "downloaded" / "students.csv")
    sample_class.nbgrader(course, "db", "student", "import", "downloaded/students.csv")
    with open_gradebook(course) as gradebook:
        for lesson in (CANVAS, MOODLE, FOLDER):
            gradebook.update_or_create_assignment(lesson.name, duedate=DUE)
    for who in CLASS:
        if who.extension:
            held.run("extend", "student", "extend", MOODLE.name, who.id, "--by", f"{who.extension}d")
    # 5: collect
    works = {lesson: work(course, lesson) for lesson in LESSONS}
    downloaded = course / "downloaded"
    term.canvas_gradebook(downloaded / "canvas.csv")
    term.moodle_worksheet(downloaded / "worksheet.csv", moodle_time)
    (downloaded / "canvas.zip").write_bytes(term.canvas_zip(works[CANVAS]))
    (downloaded / "moodle.zip").write_bytes(term.moodle_zip(works[MOODLE]))
    for who in EVERYBODY:
        for day, (name, data) in enumerate(term.hand_in(who, works[FOLDER])):
            path = downloaded / "class" / (who.folder or who.id) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (1e9 + day, 1e9 + day))
    server, words = course.parent / "server", "### Why\n\nWhy?\n\nBecause."
    server.mkdir()
    place = f"notebooks/{GITHUB.name}/{GITHUB.name}.ipynb"
    answered = {"ada": ("return x + x", words), "twin": ("return 2.0 * x", ""), "by-hand": ("return 2.0 * x", words)}
    for student, answer in answered.items():
        push(server, student, {place: term.as_bytes(works[GITHUB].answered(*answer))})
    (downloaded / "accounts.txt").write_text("\n".join(answered), encoding="utf-8")
    canvas = ["collect", "canvas", CANVAS.name, "downloaded/canvas.zip", "--people", "downloaded/canvas.csv"]
    moodle = ["collect", "moodle", MOODLE.name, "downloaded/moodle.zip", "--worksheet", "downloaded/worksheet.csv"]
    github = ["collect", "github", GITHUB.name, "downloaded/accounts.txt", "--repository", f"{server}/{{student}}.git"]
    held.run("collect 1", *canvas)
    held.run("collect 2", *moodle)
    held.run("collect 3", "collect", "folder", FOLDER.name, "downloaded/class")
    held.run("collect 4", *github)
    # 6: grade, by hand too
    held.run("waiting", "status", "--json")
    held.run("grade", "grade", "--json")
    give_points(course, CANVAS, "by-hand", CANVAS.check("text"), BY_HAND)
    give_points(course, MOODLE, "by-hand", MOODLE.check("text"), BY_HAND)
    give_points(course, GITHUB, "by-hand", WORDS, 2)
    with open_gradebook(course) as gradebook:
        gradebook.find_comment(CANVAS.function, CANVAS.name, CANVAS.name, "by-hand").manual_comment = COMMENT
        gradebook.db.commit()
    held.run("graded", "status", "--json")
    # 5, 6 and 10 again: some hand in once more
    (downloaded / "canvas.zip").write_bytes(term.canvas_zip(works[CANVAS], again=True))
    push(server, "by-hand", {place: term.as_bytes(works[GITHUB].answered("return 2.0 * x + 0", words))}, day=2)
    held.run("collect 5", *canvas)
    held.run("collect 6", *github)
    held.run("changed", "status", "--json")
    held.run("too early", "export", "csv")
    held.run("grade again", "grade", "--json")
    held.run("history", "history", "--json")
    held.run("history in words", "history")
    # 2: somebody leaves
    held.run("page of who leaves", "report", "--student", GONE.id)
    held.run("remove", "student", "remove", GONE.id, "--yes")
    # 7, 8 and 9: pages and exports
    held.run("report", "report")
    held.run("pages", "report", "--student", "*")
    held.run("csv", "export", "csv")
    held.run("checks", "export", "csv", "--checks", "--output", "downloaded/checks.csv")
    columns = [word for lesson in LESSONS[1:] for word in ("--column", f"{lesson.name}=new")]
    held.run("canvas", "export", "canvas", "downloaded/canvas.csv", *columns)
    worksheet = ["--worksheet", "downloaded/worksheet.csv"]
    held.run("moodle", "export", "moodle", MOODLE.name, *worksheet, "--feedback")
    held.run("feedback-canvas", "export", "feedback-canvas", CANVAS.name, "downloaded/canvas.zip")
    held.run("feedback-moodle", "export", "feedback-moodle", MOODLE.name, *worksheet)
    held.run("status", "status", "--json")
    held.run("nothing new", "grade", "--json")
    return held


@dataclass(frozen=True)
class Expected:
    """What somebody should have in a lesson; None in place of the points where nothing was handed in."""

    state: str
    points: float | None
    penalty: float = 0.0


def expected(who: Person, lesson: TermLesson) -> Expected:
    """Work out what somebody should have: the sum of a plain table, less ten per cent for each day begun."""
    if who.hands_in is None or lesson not in who.lessons:
        return Expected("not handed in", None)
    passes = who.again[1] if who.again and lesson is CANVAS else who.passes
    if passes is None:
        return Expected("not gradable", 0.0)
    earned = {which: points for which, points in lesson.points.items() if which in passes}
    waits = (who.id, lesson) in {("ada", GITHUB), ("by-hand", CANVAS), ("by-hand", GITHUB)}
    if who.id == "by-hand" and lesson in (CANVAS, MOODLE):
        earned["text"] = BY_HAND
    if who.id == "by-hand" and lesson is GITHUB:
        earned["words"] = 2.0
    raw = sum(earned.values())
    late = DUE - timedelta(hours=9) + timedelta(days=who.days_late) - DUE - timedelta(days=who.extension)
    days = -(-late // timedelta(days=1)) if lesson is MOODLE and late > timedelta() else 0
    penalty = min(1.0, days / 10) * raw
    return Expected("to be looked at" if waits else "graded", raw - penalty, penalty)


def rows(path: Path) -> list[dict[str, str]]:
    """Read a CSV file."""
    with path.open(encoding="utf-8-sig", newline="") as source:
        return list(csv.DictReader(source))


def shown(points: float | None) -> str:
    """Points as people write them."""
    return "" if points is None else f"{round(points, 2):g}"


def test_every_step_ends_as_it_should(held: Term) -> None:
    """Exit status 1 stands where something could not be graded or handed back, and nowhere else."""
    ends = {step: status for step, (status, _) in held.said.items() if status}
    incomplete = dict.fromkeys(("grade", "canvas", "moodle", "feedback-canvas", "feedback-moodle"), 1)
    assert ends == incomplete | {"too early": 2}, {step: held.said[step][1] for step in ends}


def test_points_that_are_out_of_date_do_not_go_out(held: Term) -> None:
    """An export between a new hand-in and its grading names whose points would be old, and says what to do."""
    told = held.said["too early"][1]
    assert all(IDS[who].last in told for who in ("better", "poorer", "by-hand")) and "--stale" in told


def test_the_gradebook_has_what_was_earned(held: Term) -> None:
    """nbgrader's own gradebook has the points of everybody who is in the class, and nobody else."""
    with open_gradebook(held.course) as gradebook:
        assert {student.id for student in gradebook.students} == {who.id for who in PEOPLE}
        has = {
            (one.student_id, lesson.name): one.score - one.late_submission_penalty
            for lesson in gradebook.assignments
            for one in lesson.submissions
        }
    wanted = {(who.id, lesson.name): expected(who, lesson).points for who, lesson in PAIRS}
    assert has == {key: pytest.approx(points) for key, points in wanted.items() if points is not None}


def test_the_table_has_the_same(held: Term) -> None:
    """grades.csv has a row for everybody and each lesson, with state, points and penalty."""
    found = {(row["student_id"], row["assignment"]): row for row in rows(held.course / "grades.csv")}
    assert found.keys() == {(who.id, lesson.name) for who, lesson in PAIRS}
    for who, lesson in PAIRS:
        row, wanted = found[who.id, lesson.name], expected(who, lesson)
        told = row["status"], float(row["score"]), float(row["late_submission_penalty"])
        assert told == (wanted.state, pytest.approx(wanted.points or 0.0), pytest.approx(wanted.penalty)), who.id
        assert bool(row["reason"]) == (wanted.state == "not gradable"), who.id


def test_every_point_lost_is_explained(held: Term) -> None:
    """Where a check did not pass there is what it says, and where nothing could be graded the reason."""
    graded = held.json("grade")["graded"]
    collected = [line for step in held.said if "collect" in step for line in held.said[step][1].splitlines()]
    assert {(one["student"], one["lesson"]) for one in graded} >= {
        (who.id, lesson.name) for who, lesson in PAIRS if expected(who, lesson).points is not None
    }
    for one in graded:
        assert one["reason"] or one["checks"], one["student"]
        assert all(check["message"] for check in one["checks"] if check["status"] != "passed"), one["student"]
        told = [one["reason"], *(note["text"] for note in one["notes"]), *(check["message"] for check in one["checks"])]
        told += [line for line in collected if line.startswith((f"  {one['student']}: ", f"  {one['student']} ("))]
        assert IDS[one["student"]].told.replace("LESSON", one["lesson"]) in " ".join(told), one["student"]


def test_canvas_gets_the_same(held: Term) -> None:
    """The gradebook for Canvas has the points of everybody in it, and nothing for who handed in nothing."""
    found = {row["SIS User ID"]: row for row in rows(held.course / "canvas.csv") if row["ID"].strip()}
    columns = {lesson: term.CANVAS_COLUMN if lesson is CANVAS else lesson.name for lesson in LESSONS}
    assert CANVAS.name not in found[CLASS[0].id]  # no second column
    assert found.keys() == {who.id for who in CLASS}
    for who in CLASS:
        for lesson in LESSONS:
            wanted = None if who is GONE else expected(who, lesson).points
            told = found[who.id][columns[lesson]]
            assert shown(float(told) if told else None) == shown(wanted), who.id
    assert STRANGER.id in held.said["canvas"][1].partition("Not in the file:")[2]


def test_moodle_gets_the_same(held: Term) -> None:
    """The worksheet has the points of everybody in it, and what the checks said beside them."""
    for row, who in zip(rows(held.course / "moodle.csv"), CLASS, strict=True):
        wanted = None if who is GONE else expected(who, MOODLE).points
        assert shown(float(row["Grade"]) if row["Grade"] else None) == shown(wanted), who.id
        assert bool(row["Feedback comments"]) == (wanted is not None), who.id


def test_the_class_page_has_the_same(held: Term) -> None:
    """Each row of the table of students has the points of each lesson and their sum; nobody is missing."""
    page = BeautifulSoup((held.course / "report.html").read_text(encoding="utf-8"), "html.parser")
    found = {}
    for row in page.select("#students tbody tr"):
        for mark in row.select("sup"):
            mark.decompose()
        _, *cells = (one.get_text().strip() for one in row.find_all(["th", "td"]))
        found[cells[0]] = cells[1:]
    absent = {who.id for who in PEOPLE if all(expected(who, lesson).points is None for lesson in LESSONS)}
    assert found.keys() | absent == {who.id for who in PEOPLE}
    for who in PEOPLE:
        if who.id in found:
            points = [expected(who, lesson).points for lesson in LESSONS]
            wanted = [shown(one) or "–" for one in points]
            assert found[who.id][:5] == [*wanted, shown(sum(one or 0 for one in points))], who.id
    assert "Quin Away" in page.select_one("#students").get_text()


def test_each_students_page_has_the_same(held: Term) -> None:
    """The table on each student's page has the points of each lesson, a dash where there are none; names do nothing."""
    for who in PEOPLE:
        text = (held.course / "feedback" / who.id / "feedback.html").read_text(encoding="utf-8")
        cells = BeautifulSoup(text, "html.parser").select("table.short tbody tr td:nth-of-type(1)")
        for cell, lesson in zip(cells, LESSONS, strict=True):
            wants = expected(who, lesson)
            has_points = wants.points is not None and wants.state != "not gradable"
            wanted = f"{shown(wants.points)} of {sum(lesson.points.values()):g}" if has_points else "–"
            assert cell.get_text() == wanted, (who.id, lesson.name)
        assert "<script>alert(1)" not in text
    judged = (held.course / "feedback" / "by-hand" / "feedback.html").read_text(encoding="utf-8")
    assert "Nearly: texts have <strong>no</strong> 2.0." in judged


def test_pages_go_back_to_everybody_who_handed_in(held: Term) -> None:
    """The zip files for Canvas and Moodle have one page each; who has none is named."""
    for form, lesson in (("canvas", CANVAS), ("moodle", MOODLE)):
        with zipfile.ZipFile(held.course / f"feedback-{form}-{lesson.name}.zip") as pages:
            count = len(pages.namelist())
        assert count == sum(expected(who, lesson).points is not None for who in PEOPLE), form
    assert f"{GONE.first} {GONE.last} is not in the gradebook." in held.said["feedback-moodle"][1]
    assert f"user {term.number_of(GONE)} is not in the gradebook." in held.said["feedback-canvas"][1]


def test_the_history_has_every_change(held: Term) -> None:
    """Who handed in again is in it, with the points of the checks before and after, and nobody else."""
    has = {(one["student"], one["lesson"]): (one["old"], one["new"]) for one in held.json("history")["regraded"]}
    half, whole = CANVAS.points["number"], sum(CANVAS.points.values())
    assert has == {
        ("better", CANVAS.name): (half, whole),
        ("poorer", CANVAS.name): (whole, half),
        ("by-hand", CANVAS.name): (half, half),
        ("by-hand", GITHUB.name): (4, 4),
    }
    assert f"better (Yan Upward), {CANVAS.name}: {half:g} → {whole:g} (" in held.said["history in words"][1]


def test_status_counts_what_waits(held: Term) -> None:
    """At each step it says who is not graded, who is to be looked at and who handed in again."""
    lessons = {
        step: {one["lesson"]: one for one in held.json(step)["lessons"]}
        for step in ("waiting", "graded", "changed", "status")
    }
    for lesson in LESSONS:
        handed_in = sorted(who.id for who in EVERYBODY if expected(who, lesson).points is not None)
        assert lessons["waiting"][lesson.name]["handed_in"] == lessons["graded"][lesson.name]["graded"] == handed_in
        assert lessons["waiting"][lesson.name]["graded"] == []
        last = lessons["status"][lesson.name]
        for state, key in (("to be looked at", "to_review"), ("not gradable", "not_gradable")):
            assert last[key] == sorted(who.id for who in PEOPLE if expected(who, lesson).state == state), lesson.name
        assert last["changed"] == []
    assert lessons["graded"][GITHUB.name]["to_review"] == ["ada"]
    assert lessons["changed"][CANVAS.name]["changed"] == ["better", "by-hand", "poorer"]
    assert lessons["changed"][GITHUB.name]["changed"] == ["by-hand"]


def test_nothing_is_left_to_grade(held: Term) -> None:
    """Grading once more grades nothing, counts all as unchanged, and is no failure."""
    told = held.json("nothing new")
    assert told["graded"] == told["regraded"] == told["penalties"] == told["strays"] == []
    assert told["unchanged"] == sum(expected(who, lesson).points is not None for who, lesson in PAIRS)


def test_who_left_is_nowhere(held: Term) -> None:
    """No folder, no row and no page names who was removed."""
    assert not [path for path in held.course.rglob(f"*{GONE.id}*") if "downloaded" not in path.parts]
    assert GONE.last not in (held.course / "report.html").read_text(encoding="utf-8")


def test_who_is_no_one_of_the_class_or_handed_in_nothing_is_named(held: Term) -> None:
    """Each collection names the stranger in it, and ends with who has handed in nothing."""
    for step in ("collect 1", "collect 3"):
        assert STRANGER.id in held.said[step][1].partition("Not in the gradebook before")[2].splitlines()[1], step
        assert "absent (Quin Away)" in held.said[step][1].splitlines()[-1], step
