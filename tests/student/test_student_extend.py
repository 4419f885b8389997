"""`autograder due` and `student extend`: dates, and more time, honoured wherever points are read."""

import csv
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.commands import printed
from support.gradebook import LESSON, configure, record

from autograder import cli
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook.reader import read_gradebook

LATE = datetime(2030, 1, 2, 13, 0)  # when ada and bob handed in, and eve does


def extend(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Give more time for the small lesson, and return what is said."""
    return printed(capsys, "student", "extend", LESSON, *arguments, status=status)


def penalties(course: Path) -> dict[str, float]:
    """Return what the gradebook takes off for being late."""
    return {student: graded.penalty for (student, _), graded in read_gradebook(course).graded.items()}


def shown(student: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Return what `show` says of the lesson."""
    lesson: dict[str, object] = json.loads(printed(capsys, "student", "show", student, "--json"))["lessons"][0]
    return lesson


def test_more_time_before_anything_is_handed_in(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no hand-in to pages and exports, and what is then handed in and graded is not late; later still is."""
    extend(capsys, "eve", "--until", "2030-01-02 13:00 Europe/Berlin", status=2)  # that is when it is due
    said = extend(capsys, "eve", "--until", "2030-01-03 13:00 Europe/Berlin")
    assert "3 January 2030, 13:00 Europe/Berlin (2030-01-03 12:00 UTC), for eve." in said
    lesson = shown("eve", capsys)
    assert (lesson["state"], lesson["due"], lesson["extension"]) == (
        "not handed in",
        "2030-01-03T12:00:00+00:00",
        86400.0,
    )
    assert cli.main(["report"]) == cli.main(["export", "csv"]) == 0
    with open(course / "grades.csv", encoding="utf-8-sig", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert (rows["eve"]["status"], rows["eve"]["timestamp"], rows["eve"]["score"]) == ("not handed in", "", "0")
    record(course, ["eve"], LATE)
    assert penalties(course) == {"ada": 0.0, "bob": 3.0, "eve": 0.0}
    record(course, ["eve"], LATE + timedelta(days=1))
    assert penalties(course)["eve"] == 3.0


def test_points_of_who_is_graded_change_at_once(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was taken off comes back with an extension, goes again with a shorter one, and only for whom it is."""
    assert "bob: 0 points off for being late, 3 before." in extend(capsys, "ada", "bob", "--by", "2d")
    assert penalties(course) == {"ada": 0.0, "bob": 0.0}
    assert cli.main(["export", "csv"]) == 0
    assert (course / "grades.csv").read_text(encoding="utf-8-sig").count(",3,0,3,4,") == 2
    extend(capsys, "bob", "--by", "0d")
    assert penalties(course) == {"ada": 0.0, "bob": 3.0}
    with open_gradebook(course) as gradebook:
        assert gradebook.find_submission(LESSON, "ada").duedate == datetime(2030, 1, 4, 12, 0)
        assert gradebook.find_submission(LESSON, "bob").extension is None


def test_what_another_date_does_not_bring_about_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hand-in without a time is never late here, and which one counts is found when it is graded."""
    (course / "submitted" / "bob" / LESSON / "timestamp.txt").write_text("2030-01-02 13:00 UTC")
    none = "1 hand-in comes without a time, as all do from Canvas, and cannot be late here: set the date there, too.\n"
    for command, said in (
        (["due", LESSON, "2030-01-02 12:00 UTC"], none),
        (["student", "extend", LESSON, "ada", "--by", "2d"], none),
        (["student", "extend", LESSON, "bob", "eve", "--by", "2d"], ""),
    ):
        assert ("without a time" in (out := printed(capsys, *command))) == bool(said) and said in out
    configure(course, 'c.Autograder.counts = "best"')
    assert "run `autograder grade`" not in extend(capsys, "eve", "--by", "3d"), "eve has handed in nothing"
    why = "Which hand-in counts depends on the date: run `autograder grade`."
    assert why in extend(capsys, "bob", "--by", "3d")


def test_more_time_for_all(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that the gradebook has get it, those too who have handed in nothing; who has more keeps it, and is named."""
    assert "keeps more time: until 2030-01-0" in (said := extend(capsys, "--all", "--by", "36h"))
    assert "  ada keeps" in said and "for all 2 students who had less" in said
    assert [shown(student, capsys)["extension"] for student in ("ada", "bob", "eve")] == [172800.0, 129600.0, 129600.0]
    assert "for all 3 students." in extend(capsys, "--all", "--by", "3d")
    extend(capsys, "--all", "--by", "0d")
    assert [shown(student, capsys)["extension"] for student in ("ada", "bob", "eve")] == [None] * 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ada", "nobody", "--by", "2d"], "The gradebook has no student nobody. Add who is"),
        ([LESSON, "--by", "2d"], f"The lesson comes first: autograder student extend {LESSON} {LESSON}"),
        (["adda", "--by", "2d"], "The gradebook has no student adda. Did you mean `ada`?"),
        (["ada", "--by", "2 days"], "--by 2 days is no time like 36h, 2d or 1w."),
        (["ada", "--by", "-2d"], "expected one argument"),
        (["ada", "--until", "soon"], "“soon” is no date that is understood here"),
        (["ada", "--until", "2031-01-01 12:00"], "names no time zone"),
        (["ada", "--until", "01/02/2031 12:00 UTC"], "Write 2031-02-01 or 2031-01-02."),
        (["ada", "--until", "2029-01-01 12:00 UTC"], "--until names no later time"),
        (["ada", "--all", "--by", "2d"], "Name students, or give --all"),
        (["--by", "2d"], "Name students, or give --all"),
        (["ada"], "one of the arguments --until --by is required"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], says: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing changes, not for those either who are named rightly beside somebody who is not."""
    before = shown("ada", capsys)
    try:
        status = cli.main(["student", "extend", LESSON, *arguments])
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert says in capsys.readouterr().err
    assert shown("ada", capsys) == before


def test_without_a_due_date_there_is_no_extension(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """nbgrader cannot read an extension of a lesson that is never due, so none is recorded."""
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=None)
    assert "01_doubling has no due date, so nobody is late." in extend(capsys, "eve", "--by", "2d", status=2)


def test_a_due_date_is_set_shown_and_taken_back(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was understood is said in its zone, kept in UTC, shown as JSON too, and moves what is taken off at once."""
    said = printed(capsys, "due", LESSON, "2030-01-02", "11:59", "PM", "Europe/Berlin")
    assert "is due on Wednesday, 2 January 2030, 23:59 Europe/Berlin (2030-01-02 22:59 UTC).\n" in said
    assert "bob: 0 points off for being late, 3 before." in said and penalties(course) == {"ada": 0.0, "bob": 0.0}
    with open_gradebook(course) as gradebook:
        assert gradebook.find_assignment(LESSON).duedate == datetime(2030, 1, 2, 22, 59)
    assert cli.main(["release"]) == 0
    more = f"{'':{len(LESSON)}}  2030-01-04 22:59 UTC  ada (Ada Löve)\n"
    assert printed(capsys, "due") == f"{LESSON}  2030-01-02 22:59 UTC\n{more}"
    said = json.loads(printed(capsys, "due", LESSON, "--json"))
    assert said == {"lessons": [{"lesson": LESSON, "due": "2030-01-02T22:59:00+00:00"}]}
    said = printed(capsys, "due", LESSON, "2020-01-01 Europe/Berlin")
    assert "That is in the past: what is handed in from now on is late." in said
    assert penalties(course) == {"ada": 3.0, "bob": 3.0}
    extend(capsys, "ada", "--by", "1d")
    # nbgrader counts an extension from the due date
    assert "1 student has more time for 01_doubling" in printed(capsys, "due", LESSON, "--none", status=2)
    extend(capsys, "--all", "--by", "0d")
    assert f"✓ {LESSON} has no due date.\nada: 0 points off" in printed(capsys, "due", LESSON, "--none")
    assert printed(capsys, "due") == f"{LESSON}  –\n" and penalties(course) == {"ada": 0.0, "bob": 0.0}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["01_doublin", "2030-01-02 UTC"], "Did you mean `01_doubling`?"),
        ([LESSON, "10/12/2026 11:59 PM"], "Write 2026-12-10 or 2026-10-12."),
        ([LESSON, "2030-01-02 23:59"], "names no time zone"),
        ([LESSON, "2030-01-02 UTC", "--none"], "Give --none a lesson, and no date."),
        (["--none"], "Give --none a lesson, and no date."),
        (["01_doublin"], "Did you mean `01_doubling`?"),
    ],
)
def test_a_date_that_is_not_clear_changes_nothing(
    arguments: list[str], says: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused with what to write, and the date stays."""
    assert says in printed(capsys, "due", *arguments, status=2)
    assert read_gradebook(course).lessons[LESSON].duedate == datetime(2030, 1, 2, 12, 0)


def test_a_lesson_that_was_not_released_says_so(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The gradebook has to know a lesson before it has a date."""
    (course / "solutions" / "02_new").mkdir()
    (course / "solutions" / "02_new" / "02_new.ipynb").write_text("{}")
    assert "does not know the lesson 02_new" in printed(capsys, "due", "02_new", "2030-01-02 UTC", status=2)


def test_a_rule_of_the_course_is_asked(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hours late are counted from the moved due date, by the rule that nbgrader_config.py sets."""
    rule = "from nbgrader.plugins import LateSubmissionPlugin\n\n\nclass Hours(LateSubmissionPlugin):\n"
    rule += "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
    rule += "        return total_seconds_late / 3600\n\n\nc.AssignLatePenalties.plugin_class = Hours"
    configure(course, rule)
    record(course, ["bob"], datetime(2030, 1, 2, 14, 30))
    assert penalties(course)["bob"] == 2.5
    extend(capsys, "bob", "--by", "1h")
    assert penalties(course)["bob"] == 1.5


def test_stock_nbgrader_reads_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To nbgrader an extension before a hand-in is a submission without points, and in no list of graded ones."""
    extend(capsys, "eve", "--by", "2d")
    with open_gradebook(course) as gradebook:
        submission = gradebook.find_submission(LESSON, "eve")
        assert (submission.score, submission.timestamp, submission.total_seconds_late) == (0.0, None, 0)
        assert [row["id"] for row in gradebook.student_dicts() if row["id"] == "eve"] == ["eve"]
        assert {row["student"] for row in gradebook.submission_dicts(LESSON)} == {"ada", "bob"}
    assert cli.main(["release"]) == 0
