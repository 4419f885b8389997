"""`autograder grade`, whatever was handed in and whenever it is killed: every submission comes to its result, once."""

import contextlib
import copy
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from faults import broken_files
from faults.broken_files import LESSON, ROWS, Row
from nbformat import NotebookNode
from rich.console import Console
from support.drawn import some_of
from support.processes import descendants, living, wait_until
from support.sample_lesson import ROOT, sample_lesson, write_lesson
from support.warm import Lent

from autograder import cli, files
from autograder.course.config import CourseError, read_notebook
from autograder.course.lesson import Lesson
from autograder.demo import sample_class
from autograder.demo.students import class_work, solved, submission
from autograder.grading.grade import grade
from autograder.grading.jobs import prepared
from autograder.grading.options import GradeOptions
from autograder.grading.results import GradingServerError, Limits, Result
from autograder.grading.worker.client import GradingServer
from autograder.stub import code_lines, regions

SMALL = "09_doubling"
BRIEF = Limits(cell_seconds=6, submission_seconds=30, memory_bytes=600 * 2**20)
GRADE = [sys.executable, "-m", "autograder.cli", "grade"]
NAMES = [f"student-{number:02}" for number in range(12)]
SLEEP = {"cell_type": "code", "metadata": {}, "source": "import time\ntime.sleep(1000)", "outputs": []}
DIES = 30.0  # seconds within which all of a killed run is gone: a warm process looks around once it has imported all

HONEST = [row for row in ROWS if row.what.startswith("the right notebook")]  # the first and the last
SEEN = [HONEST[0], *some_of([row for row in ROWS if row not in HONEST], "faults", one_in=1, on_a_push=2), HONEST[1]]

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with lesson 1 and a lesson of three lines, nothing handed in."""
    root, folder = (tmp_path_factory.mktemp("command") / name for name in ("root", "course"))
    shutil.copytree(ROOT / "solutions" / LESSON, root / "solutions" / LESSON)
    write_lesson(root, sample_lesson(9), SMALL)
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    sample_class.make_course(root, folder)
    return folder


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Path:
    """A course of the test's own."""
    return Path(shutil.copytree(template, tmp_path / "a [new] course"))


def lesson_of(course: Path, name: str = LESSON) -> Lesson:
    """Read a lesson's source."""
    return Lesson(name, read_notebook(course / "solutions" / name / f"{name}.ipynb"))


def right(course: Path, name: str = LESSON) -> NotebookNode:
    """A notebook with all answers."""
    return submission(sample_class.released_notebook(course, name), solved(lesson_of(course, name).exercises))


def hand_in(course: Path, *students: str) -> None:
    """Let students hand in the right notebook of the small lesson."""
    for student in students:
        sample_class.hand_in(course, student, SMALL, right(course, SMALL))


def with_cell(notebook: NotebookNode, cell: dict[str, Any]) -> NotebookNode:
    """A notebook that begins with a cell of the student's."""
    notebook = copy.deepcopy(notebook)
    notebook.cells.insert(1, NotebookNode(cell))
    return notebook


def run(
    course: Path, warm: GradingServer, limits: Limits = BRIEF, **wanted: Any
) -> tuple[int, dict[str, dict[str, Any]], int]:
    """Grade in this process: exit code, results by student, how many were unchanged."""
    out = io.StringIO()
    done = grade(course, GradeOptions(as_json=True, **wanted), Console(file=out), warm=warm, limits=limits)
    said = json.loads(out.getvalue())
    return done, {each["student"]: each for each in said["graded"]}, said["unchanged"]


def points(result: dict[str, Any]) -> float | None:
    """The points of a result in JSON, None where nothing could be graded."""
    return None if result["reason"] else sum(each["points"] for each in result["checks"] if each["status"] == "passed")


def recorded(course: Path) -> dict[str, tuple[str, str]]:
    """Student → when it was recorded, and its digest, of all that is in our table."""
    with contextlib.closing(sqlite3.connect(f"file:{course / 'gradebook.db'}?mode=ro", uri=True, timeout=30)) as book:
        try:
            rows = book.execute("SELECT student, recorded, digest FROM autograder_result").fetchall()
        except sqlite3.OperationalError:  # no table yet
            return {}
    return {student: (when, digest) for student, when, digest in rows}


def scores(course: Path, lesson: str) -> dict[str, float]:
    """Student → points, as nbgrader has them."""
    return {student: got for (student, name), (got, _) in sample_class.scores(course).items() if name == lesson}


def leads(started: set[psutil.Process]) -> bool:
    """Whether one of the processes is a warm one, which has a session of its own."""
    with contextlib.suppress(ProcessLookupError):  # one has just ended
        return any(process.pid == os.getsid(process.pid) for process in living(started))
    return False


# The command line


@dataclass
class Run:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str
    before: dict[str, tuple[str, str]]  # what was recorded as it began
    after: dict[str, tuple[str, str]]  # what was recorded as it ended
    alive: set[psutil.Process]  # those of it that did not end
    litter: list[str]  # what it left in the folder for temporary files
    seconds: float

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


def command(
    course: Path, *arguments: str, when: Callable[[set[psutil.Process]], object] | None = None, kill: int = 0
) -> Run:
    """Run `autograder grade` in a course; where `when` is true of what it has started, send it a signal."""
    before, started, begin = recorded(course), set(), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {"TMPDIR": place, "COLUMNS": "120", "NO_COLOR": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "start_new_session": True}
        with subprocess.Popen([*GRADE, *arguments], cwd=course, env=environment, **pipes) as process:
            while when and process.poll() is None:
                started |= descendants(process.pid)
                if when(started):
                    started |= descendants(process.pid)
                    os.killpg(process.pid, kill)
                    break
                time.sleep(0.005)
            begin = time.monotonic() if when else begin
            process.wait(60)
            seconds = time.monotonic() - begin
            end = time.monotonic() + DIES
            while (living(started) or os.listdir(place)) and time.monotonic() < end:
                time.sleep(0.02)
            alive, litter = living(started), sorted(os.listdir(place))
            for left in alive:
                left.kill()
            out, err = process.communicate()
    return Run(process.returncode, out, err, before, recorded(course), alive, litter, seconds)


@dataclass
class Term:
    """One course, and what each run of the command left behind."""

    course: Path
    runs: list[Run]  # two were killed, one was stopped, one ended, and one came after a student's notebook changed


@pytest.fixture(scope="module")
def term(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Term:
    """Twelve students and two special ones; two runs are killed, one is stopped, the others go through."""
    course = Path(shutil.copytree(template, tmp_path_factory.mktemp("term") / "course"))
    lesson, released = lesson_of(course), sample_class.released_notebook(course, LESSON)
    work = class_work(lesson, released)
    for student in NAMES:
        sample_class.hand_in(course, student, LESSON, work["typical" if student == NAMES[3] else "perfect"])
    (course / "submitted" / "nobody" / LESSON).mkdir(parents=True)
    sample_class.hand_in(course, "a-sleeper", LESSON, with_cell(work["perfect"], SLEEP))
    runs = [
        command(course, "--jobs", "2", when=leads, kill=signal.SIGKILL),
        command(course, "--jobs", "2", when=lambda started: len(recorded(course)) >= 2, kill=signal.SIGKILL),
        command(course, "--jobs", "2", when=lambda started: len(recorded(course)) >= 5, kill=signal.SIGINT),
    ]
    sample_class.hand_in(course, "a-sleeper", LESSON, work["half-done"])
    runs.append(command(course, LESSON, "--json"))
    sample_class.hand_in(course, NAMES[0], LESSON, work["half-done"])
    return Term(course, [*runs, command(course)])


def test_no_process_and_no_file_of_a_run_survives_it(term: Term) -> None:
    """Killed, stopped or at its end, a run takes all that it started with it, and what it put into /tmp."""
    for run in term.runs:
        assert (run.alive, run.litter) == (set(), [])
    news = any(result["reason"] for result in term.runs[3].json["graded"])  # else an earlier run came to it
    assert [run.code for run in term.runs] == [-signal.SIGKILL, -signal.SIGKILL, 130, int(news), 0]


def test_nothing_is_lost_and_nothing_is_graded_twice(term: Term) -> None:
    """What a killed run recorded stays as it is, row for row; the last run grades exactly the rest."""
    for run in term.runs[:4]:
        assert run.before.items() <= run.after.items()
    assert [bool(run.after) for run in term.runs[:4]] == [False, True, True, True]
    last = term.runs[3]
    assert last.after.keys() == {*NAMES, "nobody", "a-sleeper"}
    graded = [result["student"] for result in last.json["graded"]]
    assert sorted(graded) == sorted(last.after.keys() - last.before.keys())
    assert last.json["unchanged"] == len(last.before) >= 5
    assert not list(term.course.glob("autograded/*/.*"))


def test_killed_runs_come_to_the_same_scores(term: Term) -> None:
    """The gradebook has each student's points, as if no run had been killed."""
    points = scores(term.course, LESSON)
    assert {points[student] for student in NAMES if student not in (NAMES[0], NAMES[3])} == {broken_files.WHOLE}
    assert points["nobody"] == 0 and 0 < points[NAMES[3]] < broken_files.WHOLE
    assert points[NAMES[0]] == points["a-sleeper"] < broken_files.WHOLE  # both have handed in half


def test_ctrl_c_stops_at_once_and_says_what_holds(term: Term) -> None:
    """It waits for no submission that sleeps, shows no traceback, and tells how to go on."""
    run = term.runs[2]
    assert run.seconds < 15
    assert run.err == "Stopped. What was graded is recorded; the same command goes on.\n"
    assert "Traceback" not in run.out


def test_json_is_complete_and_gives_nothing_away(term: Term) -> None:
    """Standard output is one JSON text with every check of every result; it holds no notebook and no hidden test."""
    run = term.runs[3]
    lesson = lesson_of(term.course)
    checks = [check.id for exercise in lesson.exercises for check in exercise.checks]
    for result in run.json["graded"]:
        assert result.pop("counts")["points"] == (points(result) or 0)
        assert json.loads(json.dumps(Result.from_json(result).to_json())) == result
        assert [check["check"] for check in result["checks"]] == ([] if result["student"] == "nobody" else checks)
        assert result["notebook"] == ""
    sources = [cell.source for cell in sample_class.released_notebook(term.course, LESSON).cells]
    released = json.dumps(sources, ensure_ascii=False)
    hidden = [
        line.strip()
        for exercise in lesson.exercises
        for check in exercise.checks
        for region in regions(check.source, "HIDDEN TESTS")
        for line in code_lines(region)
    ]
    secret = [line for line in hidden if len(line) > 5 and line not in released]
    assert secret and not [line for line in secret if line in run.out]
    assert "Traceback" not in run.err


def test_what_has_changed_is_graded_again_and_nothing_else(term: Term) -> None:
    """Another notebook of one student is one row of the table; the other records stay, and still one has no points."""
    run = term.runs[4]
    differ = [student for student in run.after if run.after[student] != run.before[student]]
    assert (run.code, differ) == (0, [NAMES[0]])
    (row,) = [line for line in run.out.splitlines() if line.startswith("student-0") and " of " in line]
    assert row.split()[:2] == [NAMES[0], LESSON]
    assert "✓ 1 graded in" in run.out and run.err == ""
    assert "13 unchanged since they were graded (--force grades them anew), 1 of them not gradable." in run.out
    assert f"Known from before and still not gradable: nobody ({LESSON})." in run.out


def test_force_grades_those_that_are_named_again(term: Term, warm: GradingServer) -> None:
    """Without it nothing is graded; with it all students whose names fit, to the same digests."""
    before = recorded(term.course)
    code, results, unchanged = run(term.course, Lent(warm), limits=Limits(), students="student-*")
    assert (code, results, unchanged) == (0, {}, 12) and recorded(term.course) == before
    code, results, unchanged = run(term.course, Lent(warm), limits=Limits(), students="student-0[12]", force=True)
    after = recorded(term.course)
    assert (code, sorted(results), unchanged) == (0, NAMES[1:3], 0)
    assert sorted(student for student in after if after[student] != before[student]) == NAMES[1:3]
    assert [(student, digest) for student, (_, digest) in sorted(after.items())] == [
        (student, digest) for student, (_, digest) in sorted(before.items())
    ]


@pytest.mark.parametrize(
    ("arguments", "missing", "says"),
    [
        (["10_nothing"], "", f"There is no lesson 10_nothing. There are {LESSON}, {SMALL}."),
        (["--jobs", "-1"], "", "Give --jobs a number above 0."),
        (["--student", "nobody"], "", f"Nobody whose name fits nobody has handed in {SMALL}, but anna."),
        ([], "gradebook.db", "There is no gradebook at"),
        ([], "nbgrader_config.py", "nbgrader_config.py"),
    ],
)
def test_where_nothing_can_be_done_it_says_why(
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    missing: str,
    says: str,
) -> None:
    """An unknown lesson or student, no gradebook or no course end with 2, a sentence on stderr, and nothing else."""
    hand_in(course, "anna")
    if missing:
        (course / missing).unlink()
    monkeypatch.chdir(course)
    assert cli.main(["grade", *arguments]) == 2
    said = capsys.readouterr()
    assert says in said.err and "Traceback" not in said.err and said.err.count("\n") <= 3
    assert said.out.strip() == ""


# Faults


@dataclass
class Class:
    """The class of the table, graded in one run."""

    course: Path
    code: int
    results: dict[str, dict[str, Any]]
    seconds: float


@pytest.fixture(scope="module")
def graded(template: Path, warm: GradingServer) -> Iterator[Class]:
    """Every row of the table, on a push every other one, is a student.

    Its folder is none of pytest's, which cannot remove one that deep: left by a broken-off run, it ends later ones.
    """
    place = tempfile.mkdtemp()
    course = Path(shutil.copytree(template, Path(place, "course")))
    notebook = right(course)
    for row in SEEN:
        row.puts(course / "submitted" / name_of(row) / LESSON, copy.deepcopy(notebook))
    begin = time.monotonic()
    code, results, unchanged = run(course, Lent(warm), jobs=2)
    assert unchanged == 0
    yield Class(course, code, results, time.monotonic() - begin)
    files.remove(place)


def name_of(row: Row) -> str:
    """The student of a row."""
    return row.student or row.what


def test_the_table_of_faults_is_long_and_each_row_is_a_student() -> None:
    """At least thirty rows, no two of them the same student, two of them honest."""
    assert len(ROWS) >= 30
    assert [name for name, count in Counter(map(name_of, ROWS)).items() if count > 1] == []
    assert len(HONEST) == 2


@pytest.mark.parametrize("row", SEEN, ids=lambda row: row.what)
def test_every_submission_comes_to_its_verdict(graded: Class, row: Row) -> None:
    """Points or a reason as in the table, notes that are true and no others, and the words of a failed check."""
    result = graded.results[name_of(row)]
    assert points(result) == row.points, (result["reason"], [each["message"] for each in result["checks"]])
    assert row.reason in result["reason"] and len(result["reason"]) < 600
    assert len(result["notes"]) == len(row.notes), result["notes"]
    assert all(any(words in note["text"] for note in result["notes"]) for words in row.notes), result["notes"]
    assert not row.says or any(row.says in each["message"] for each in result["checks"])
    assert result["unenforced"] == []
    assert f"{result['notes']}{result['reason']}".isprintable()


def test_one_run_grades_them_all(graded: Class) -> None:
    """Nobody is missing, the exit code says that some could not be graded, and no submission ended the run."""
    assert graded.results.keys() == set(map(name_of, SEEN))
    assert graded.code == 1
    kept = {name_of(row): row.points or 0.0 for row in SEEN if row.recorded}
    assert scores(graded.course, LESSON) == kept
    assert recorded(graded.course).keys() == kept.keys()


def test_faults_hold_nobody_up(graded: Class) -> None:
    """Two at a time, the run takes little more than half of what its submissions take."""
    alone = [each["seconds"] for each in graded.results.values()]
    assert graded.seconds < sum(alone) / 2 + max(alone) + 0.15 * len(alone)
    assert max(alone) < BRIEF.submission_seconds + 20


def test_nothing_beside_a_notebook_is_imported(graded: Class) -> None:
    """Files called torch.py, conftest.py and so on are handed in and kept, and nobody runs them."""
    traps = [row for row in ROWS if row.what.endswith(".py beside it")]
    assert len(traps) == 4
    assert "imported" not in {path.name for path in files.walk(graded.course)} and not Path("imported").exists()


# Lost processes


def forked(warm: GradingServer) -> list[psutil.Process]:
    """What the warm process has forked, the older first."""
    return sorted(descendants(warm._process.pid), key=lambda process: (process.create_time(), process.pid))


def test_a_judge_that_dies_costs_one_submission(course: Path, warm: GradingServer) -> None:
    """Its submission has a reason that says what to do, and the next one is graded."""
    source = prepared(course / "solutions" / SMALL / f"{SMALL}.ipynb")
    notebook = right(course, SMALL)
    sleeper = json.dumps(with_cell(notebook, SLEEP)).encode()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(warm.grade, "ann", SMALL, source, sleeper, BRIEF)
        wait_until(lambda: len(forked(warm)) >= 2)  # the judge and its student
        forked(warm)[0].kill()
        result = lost.result(timeout=20)
    assert result.reason == "Its grading broke off; try again." and result.checks == ()
    wait_until(lambda: not forked(warm))
    after = warm.grade("ben", SMALL, source, json.dumps(notebook).encode(), BRIEF)
    assert (after.reason, after.score) == ("", 4)


def test_what_broke_off_is_graded_by_the_next_run(course: Path, warm: GradingServer) -> None:
    """It is in the gradebook with its reason; the same command, without --force, grades it and nothing else."""
    hand_in(course, "ann", "ben")

    def broken(student: str, *rest: Any) -> Result:
        if student == "ann":
            return Result(student, SMALL, reason="Its grading broke off; try again.", retryable=True)
        return warm.grade(student, *rest)

    code, results, _ = run(course, Lent(warm, broken))
    assert (code, points(results["ann"]), points(results["ben"])) == (1, None, 4)
    assert scores(course, SMALL) == {"ann": 0, "ben": 4}
    code, results, unchanged = run(course, Lent(warm))
    assert (code, list(results), points(results["ann"]), unchanged) == (0, ["ann"], 4, 1)
    assert scores(course, SMALL) == {"ann": 4, "ben": 4}


def test_a_warm_process_that_dies_ends_the_run_and_nothing_else(course: Path, warm: GradingServer) -> None:
    """The error says so and how to go on; what was recorded stays, and the next run grades the rest."""
    hand_in(course, *"abcdef")
    sample_class.hand_in(course, "g", SMALL, with_cell(right(course, SMALL), SLEEP))
    own = GradingServer()

    def kill() -> None:
        wait_until(lambda: len(recorded(course)) >= 2)
        os.kill(own._process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(CourseError, match=r"The process that grades has ended\. What was graded is recorded; the same"):
        run(course, own, jobs=2)
    killer.join()
    before = recorded(course)
    assert 2 <= len(before) < 7
    code, results, unchanged = run(course, Lent(warm))
    assert (code, unchanged) == (0, len(before)) and results.keys() == set("abcdefg") - before.keys()
    assert before.items() <= recorded(course).items()
    assert scores(course, SMALL) == dict.fromkeys("abcdefg", 4)


def test_grading_after_the_end_is_an_error_that_says_so() -> None:
    """A warm process that was stopped, or was never started, is told apart from a submission that cannot be graded."""
    warm = GradingServer()
    with pytest.raises(GradingServerError, match="has not been started"):
        warm.grade("ann", SMALL, b"{}", b"{}", BRIEF)
    warm.start()
    warm.stop()
    with pytest.raises(GradingServerError, match="has ended"):
        warm.grade("ann", SMALL, b"{}", b"{}", BRIEF)


def test_a_gradebook_that_is_lost_ends_the_run(course: Path, warm: GradingServer) -> None:
    """Where it is the gradebook and not one student that cannot be recorded, nothing goes on."""
    hand_in(course, *"abc")

    def losing(*rest: Any) -> Result:
        with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
            book.execute("DELETE FROM base_cell"), book.commit()
        return warm.grade(*rest)

    with pytest.raises(CourseError, match="Run `autograder release`"):
        run(course, Lent(warm, losing), jobs=1)


def test_sixty_submissions_leave_no_trace_in_the_warm_process(course: Path, warm: GradingServer) -> None:
    """It has no child, no zombie, no open file and no more memory than before."""
    source = prepared(course / "solutions" / SMALL / f"{SMALL}.ipynb")
    submitted = json.dumps(right(course, SMALL)).encode()

    def one(number: int) -> Result:
        return warm.grade(f"student {number}", SMALL, source, submitted, BRIEF)

    def state() -> tuple[int, int, int]:
        pid = warm._process.pid
        wait_until(lambda: not psutil.Process(pid).children())
        status = Path(f"/proc/{pid}/status").read_text()
        files = len(os.listdir(f"/proc/{pid}/fd"))
        return int(status.split("VmRSS:")[1].split()[0]), files, int(status.split("Threads:")[1].split()[0])

    with ThreadPoolExecutor(2) as pool:
        assert all(each.score == 4 for each in pool.map(one, range(6)))
        before, ours = state(), len(os.listdir("/proc/self/fd"))
        assert all(each.score == 4 for each in pool.map(one, range(60)))
        after = state()
    assert after[0] - before[0] < 1024, "kilobytes"
    assert after[1:] == before[1:] and after[2] == 1
    assert len(os.listdir("/proc/self/fd")) == ours
    assert not list(Path(warm.folder).glob("submission-*"))
