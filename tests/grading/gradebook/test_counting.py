"""Of several hand-ins the one counts that the course's rule names; of the others nothing is lost."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from support.gradebook import LESSON, Pretender, by_hand, configure, hand_in, handed_in_at, set_duedate, small_result

from autograder import cli
from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.course.release import release
from autograder.demo.sample_class import open_gradebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.counting import Attempt, Rule, which_counts
from autograder.grading.gradebook.history import Reason, read_history
from autograder.grading.gradebook.late import LateRule
from autograder.grading.gradebook.reader import GradedSubmission, read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.pending import outdated
from autograder.grading.results import Outcome, Result, Status
from autograder.report.status import lesson_status

POINTS = {"check_double": 3, "check_double_text": 1}
EARLY, LATE = "2030-01-01 12:00 UTC", "2030-01-03 12:00 UTC"


@pytest.mark.parametrize(
    ("rule", "attempts", "counts"),
    [
        (Rule.LAST, [(4, True), (1, False)], 1),
        (Rule.BEST, [(1, True), (4, False), (3, True)], 1),
        (Rule.BEST, [(4, True), (4, True)], 0),
        (Rule.LAST_IN_TIME, [(4, True), (1, True), (4, False)], 1),
        (Rule.LAST_IN_TIME, [(4, False), (1, False)], 1),
        *((rule, [(0, False)], 0) for rule in Rule),
    ],
)
def test_the_rule_names_one(rule: Rule, attempts: list[tuple[float, bool]], counts: int) -> None:
    """The last; the best, of equals the first; the last in time, or where none is, the last."""
    assert which_counts(rule, [Attempt(*one) for one in attempts]) == counts


class Marker(Pretender):
    """A warm process by which a hand-in passes the checks that are named in its metadata, less what is taken."""

    def __init__(self, course: Path, *taken: str) -> None:
        super().__init__(course)
        self.taken = taken

    def grade(self, student: str, lesson: str, source: bytes, submitted: bytes, *_: object) -> Result:
        passed = set(json.loads(submitted)["metadata"]["passes"]).difference(self.taken)
        status = {True: Status.PASSED, False: Status.FAILED}
        checks = tuple(Outcome(check, points, status[check in passed]) for check, points in POINTS.items())
        return small_result(self._course, student, checks=checks)


def hand_in_again(course: Path, *passes: str, time: str = "") -> None:
    """Let ada hand in once more, as `collect` puts it: what was there before is kept."""
    folder = Course.at(course).submitted("ada", LESSON)
    if folder.exists():
        earlier = Course.at(course).replaced("ada", LESSON)
        earlier.mkdir(parents=True, exist_ok=True)
        folder.rename(earlier / str(len(list(earlier.iterdir())) + 1))
    hand_in(course, "ada")
    path = folder / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["passes"] = passes
    path.write_text(json.dumps(notebook))
    if time:
        handed_in_at(course, "ada", time)


def run(course: Path, warm: Pretender | None = None, **options: bool) -> str:
    """Grade what is to be graded, and return what is printed."""
    out = io.StringIO()
    assert grade(course, GradeOptions(**options), Console(file=out, width=200), warm=warm or Marker(course)) == 0
    return out.getvalue()


def come(course: Path, *passes: str, time: str = "") -> None:
    """Let ada hand in once more, and grade it."""
    hand_in_again(course, *passes, time=time)
    run(course)


def out_of_date(course: Path) -> list[str]:
    """Why points are out of date, as every page and export knows it, which is what `status` counts."""
    book = read_gradebook(course)
    changed = lesson_status(book, book.lessons[LESSON], LateRule(book.course.config)).changed
    whys = {student: one.why for (student, _), one in outdated(book, [LESSON]).items()}
    assert tuple(whys) == changed
    return list(whys.values())


def grade_what_counts(course: Path) -> tuple[Reason, ...]:
    """Grade where another hand-in counts than before, once said beforehand, and return why points are others."""
    assert out_of_date(course) == ["another hand-in may count now"]
    assert run(course, dry_run=True).count("(another hand-in counts)") == 1
    run(course)
    return read_history(course)[-1].reasons


def counted(course: Path) -> GradedSubmission:
    """What the gradebook has of ada, whose graded notebook is in its place."""
    assert out_of_date(course) == []
    return read_gradebook(course).graded["ada", LESSON]


@pytest.mark.parametrize(
    ("rule", "points"), [("", 1), ('c.Autograder.counts = "last"', 1), ('c.Autograder.counts = "best"', 4)]
)
def test_the_last_counts_unless_the_course_says_the_best(course: Path, rule: str, points: float) -> None:
    """A worse hand-in takes the place of a better one, or is kept beside it and graded once."""
    configure(course, rule)
    come(course, *POINTS, time=EARLY)
    hand_in_again(course, "check_double_text", time=LATE)
    if points == 4:
        assert "would be recorded again" not in run(course, dry_run=True)
    printed = run(course)
    assert ("does not count; the one of 2030-01-01 12:00 UTC does" in printed) == (points == 4)
    one = counted(course)
    assert one.score == points and [other.result.score for other in one.others] == [1] * (points == 4)
    assert len(read_history(course)) == (points == 1)
    assert "✓ 0 graded" in run(course), "what does not count is known"


def test_a_better_one_takes_its_place(course: Path) -> None:
    """Points, time and notebook become its own; what was better before is kept, and comes back if it is again."""
    configure(course, 'c.Autograder.counts = "best"')
    for passes, time in ((["check_double_text"], EARLY), (["check_double"], LATE)):
        come(course, *passes, time=time)
    one = counted(course)
    assert one.score == 3 and f"{one.submitted:%d}" == "03" and [other.result.score for other in one.others] == [1]
    run(course, Marker(course, "check_double"), force=True)
    one = counted(course)
    assert one.score == 1 and f"{one.submitted:%d}" == "01" and [other.result.score for other in one.others] == [0]


def test_grading_the_same_again_lowers_points(course: Path) -> None:
    """What counts is its own rival never: a check that became stricter takes points off."""
    configure(course, 'c.Autograder.counts = "best"')
    come(course, *POINTS)
    run(course, Marker(course, "check_double"), force=True)
    assert counted(course).score == 1


def test_another_lesson_grades_all_that_is_kept(course: Path) -> None:
    """After a change in solutions/ the hand-ins are compared by what they come to since."""
    configure(course, 'c.Autograder.counts = "best"')
    for passes in (["check_double_text"], ["check_double"], []):
        come(course, *passes)
    source = Course.at(course).source(LESSON)
    source.write_text(source.read_text().replace("hidden_secret", "another_secret"))
    release(course)
    stricter = Marker(course, "check_double")
    assert run(course, stricter, dry_run=True).count("3 → 1 (lesson changed, another hand-in counts)") == 1
    run(course, stricter)
    one = counted(course)
    assert one.score == 1 and sorted(other.result.score for other in one.others) == [0, 0]


def test_what_is_late_is_compared_by_what_is_left_of_it(course: Path) -> None:
    """The best is the best after what is taken off for being late; more time brings a late one back."""
    set_duedate(course)
    configure(course, 'c.Autograder.counts = "best"')
    come(course, "check_double_text", time=EARLY)
    come(course, *POINTS, time=LATE)
    assert counted(course).score == 1
    with open_gradebook(course) as gradebook:
        gradebook.grant_extension(LESSON, "ada", days=2)
    assert grade_what_counts(course) == (Reason.COUNTS,)
    assert counted(course).score == 4
    configure(course, 'c.Autograder.counts = "last"')
    assert counted(course).score == 4, "it is the last one"


def test_another_penalty_is_known_before_it_is_recorded(course: Path) -> None:
    """A rule that changed makes points out of date, which the next run mends; nothing is graded again for it."""
    set_duedate(course)
    come(course, *POINTS, time=LATE)
    assert counted(course).score == 0
    configure(course, 'c.LateSubmissionPlugin.penalty_method = "none"')
    assert out_of_date(course) == ["another penalty for being late now"]
    assert "✓ 0 graded" in run(course)
    assert counted(course).score == 4


def test_a_rule_that_fails_is_named(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status, pages and exports end with what to mend, not with a traceback, and not with "the lesson changed"."""
    set_duedate(course)
    come(course, *POINTS, time=LATE)
    rule = "from nbgrader.plugins import LateSubmissionPlugin\n\n\nclass Broken(LateSubmissionPlugin):\n"
    rule += "    def late_submission_penalty(self, *_):\n        return 1 / 0\n\n\n"
    configure(course, rule + "c.AssignLatePenalties.plugin_class = Broken")
    monkeypatch.chdir(course)
    for command in (["status"], ["report"], ["export", "csv"]):
        assert cli.main(command) == 2, command
        assert "The rule for late hand-ins in nbgrader_config.py fails for ada" in capsys.readouterr().err


def test_the_last_in_time_counts(course: Path) -> None:
    """By the student's own due date; the extension that makes another one the last in time is seen."""
    set_duedate(course)
    configure(course, 'c.Autograder.counts = "last_in_time"')
    for passes, time in ((POINTS, EARLY), (["check_double"], EARLY), (["check_double_text"], LATE)):
        hand_in_again(course, *passes, time=time)
    run(course)
    assert counted(course).score == 3
    with open_gradebook(course) as gradebook:
        gradebook.grant_extension(LESSON, "ada", days=2)
    assert grade_what_counts(course) == (Reason.COUNTS,)
    assert counted(course).score == 1


def test_points_by_hand_stay_with_what_counts(course: Path) -> None:
    """They count for either of two hand-ins, and wait for nobody where the other one does not count."""
    configure(course, 'c.Autograder.counts = "best"')
    come(course, "check_double")
    by_hand(course, points=0.5, comment="Nearly.")
    come(course, "check_double_text")
    one = counted(course)
    assert one.score == 3.5 and not one.needs_review and one.comments == {"double": "Nearly."}


@pytest.mark.parametrize("rule", ["", 'c.Autograder.counts = "best"'])
def test_what_is_no_longer_kept_is_no_rival(course: Path, rule: str) -> None:
    """A time that somebody corrects in submitted/ counts, whatever it costs, and is graded once."""
    set_duedate(course)
    configure(course, rule)
    come(course, *POINTS, time=EARLY)
    handed_in_at(course, "ada", LATE)
    assert "✓ 1 graded" in run(course) and "✓ 0 graded" in run(course)
    one = counted(course)
    assert one.score == 0 and f"{one.submitted:%d}" == "03"


def test_what_was_collected_before_the_rule_competes(course: Path) -> None:
    """A course that turns to another rule grades what it has kept, and turns back."""
    come(course, *POINTS)
    come(course)
    assert counted(course).score == 0
    configure(course, 'c.Autograder.counts = "best"')
    assert grade_what_counts(course) == (Reason.COUNTS,)
    assert counted(course).score == 4
    configure(course, 'c.Autograder.counts = "last"')
    assert grade_what_counts(course) == (Reason.COUNTS,)
    one = counted(course)
    assert one.score == 0 and not one.others


def test_an_unknown_rule_is_told(course: Path) -> None:
    """It says what there is."""
    configure(course, 'c.Autograder.counts = "first"')
    with pytest.raises(CourseError, match=r'is \'first\' .* Make it one of "last", "last_in_time", "best"'):
        run(course)
