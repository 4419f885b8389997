"""`autograder due` and `student extend`: dates, and more time, honoured wherever points are read."""

import csv
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.gradebook import LESSON, configure, record

from autograder import cli
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook.reader import read_gradebook

LATE = datetime(2030, 1, 2, 13, 0)  # when ada and bob handed in, and eve does


def extend(*arguments: str) -> int:
    """Give more time for the small lesson."""
    return cli.main(["student", "extend", LESSON, *arguments])


def penalties(course: Path) -> dict[str, float]:
    """Return what the gradebook takes off for being late."""
    return {student: graded.penalty for (student, _), graded in read_gradebook(course).graded.items()}


def shown(student: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Return what `show` says of the lesson."""
    capsys.readouterr()
    assert cli.main(["student", "show", student, "--json"]) == 0
    lesson: dict[str, object] = json.loads(capsys.readouterr().out)["lessons"][0]
    return lesson


def test_more_time_before_anything_is_handed_in(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no hand-in to pages and exports, and what is then handed in and graded is not late; later still is."""
    assert extend("eve", "--until", "2030-01-02 13:00 Europe/Berlin") == 2, "that is when it is due"
    assert extend("eve", "--until", "2030-01-03 13:00 Europe/Berlin") == 0
    assert "3 January 2030, 13:00 Europe/Berlin (2030-01-03 12:00 UTC), for eve." in capsys.readouterr().out
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
    assert extend("ada", "bob", "--by", "2d") == 0
    assert "bob: 0 points off for being late, 3 before." in capsys.readouterr().out
    assert penalties(course) == {"ada": 0.0, "bob": 0.0}
    assert cli.main(["export", "csv"]) == 0
    assert (course / "grades.csv").read_text(encoding="utf-8-sig").count(",3,0,3,4,") == 2
    assert extend("bob", "--by", "0d") == 0
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
        assert cli.main(command) == 0
        assert ("without a time" in (out := capsys.readouterr().out)) == bool(said) and said in out
    configure(course, 'c.Autograder.counts = "best"')
    assert extend("eve", "--by", "3d") == 0
    assert "run `autograder grade`" not in capsys.readouterr().out, "eve has handed in nothing"
    assert extend("bob", "--by", "3d") == 0
    assert "Which hand-in counts depends on the date: run `autograder grade`." in capsys.readouterr().out


def test_more_time_for_all(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that the gradebook has get it, those too who have handed in nothing; who has more keeps it, and is named."""
    assert extend("--all", "--by", "36h") == 0
    assert "keeps more time: until 2030-01-0" in (said := capsys.readouterr().out)
    assert "  ada keeps" in said and "for all 2 students who had less" in said
    assert [shown(student, capsys)["extension"] for student in ("ada", "bob", "eve")] == [172800.0, 129600.0, 129600.0]
    assert extend("--all", "--by", "3d") == 0
    assert "for all 3 students." in capsys.readouterr().out
    assert extend("--all", "--by", "0d") == 0
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
        status = extend(*arguments)
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert says in capsys.readouterr().err
    assert shown("ada", capsys) == before


def test_without_a_due_date_there_is_no_extension(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """nbgrader cannot read an extension of a lesson that is never due, so none is recorded."""
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=None)
    assert extend("eve", "--by", "2d") == 2
    assert "01_doubling has no due date, so nobody is late." in capsys.readouterr().err


def test_a_due_date_is_set_shown_and_taken_back(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was understood is said in its zone, kept in UTC, shown as JSON too, and moves what is taken off at once."""
    assert cli.main(["due", LESSON, "2030-01-02", "11:59", "PM", "Europe/Berlin"]) == 0
    said = capsys.readouterr().out
    assert "is due on Wednesday, 2 January 2030, 23:59 Europe/Berlin (2030-01-02 22:59 UTC).\n" in said
    assert "bob: 0 points off for being late, 3 before." in said and penalties(course) == {"ada": 0.0, "bob": 0.0}
    with open_gradebook(course) as gradebook:
        assert gradebook.find_assignment(LESSON).duedate == datetime(2030, 1, 2, 22, 59)
    assert cli.main(["release"]) == cli.main(["due"]) == cli.main(["due", LESSON, "--json"]) == 0
    said = capsys.readouterr().out
    more = f"{'':{len(LESSON)}}  2030-01-04 22:59 UTC  ada (Ada Löve)\n"
    assert f"{LESSON}  2030-01-02 22:59 UTC\n{more}" in said
    assert json.loads(said[said.index("{") :]) == {"lessons": [{"lesson": LESSON, "due": "2030-01-02T22:59:00+00:00"}]}
    assert cli.main(["due", LESSON, "2020-01-01 Europe/Berlin"]) == 0
    assert "That is in the past: what is handed in from now on is late." in capsys.readouterr().out
    assert penalties(course) == {"ada": 3.0, "bob": 3.0}
    assert extend("ada", "--by", "1d") == 0
    assert cli.main(["due", LESSON, "--none"]) == 2, "nbgrader counts an extension from the due date"
    assert "1 student has more time for 01_doubling" in capsys.readouterr().err
    assert extend("--all", "--by", "0d") == cli.main(["due", LESSON, "--none"]) == cli.main(["due"]) == 0
    assert f"✓ {LESSON} has no due date.\nada: 0 points off" in (said := capsys.readouterr().out)
    assert said.endswith(f"{LESSON}  –\n") and penalties(course) == {"ada": 0.0, "bob": 0.0}


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
    assert cli.main(["due", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert read_gradebook(course).lessons[LESSON].duedate == datetime(2030, 1, 2, 12, 0)


def test_a_lesson_that_was_not_released_says_so(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The gradebook has to know a lesson before it has a date."""
    (course / "solutions" / "02_new").mkdir()
    (course / "solutions" / "02_new" / "02_new.ipynb").write_text("{}")
    assert cli.main(["due", "02_new", "2030-01-02 UTC"]) == 2
    assert "does not know the lesson 02_new" in capsys.readouterr().err


def test_a_rule_of_the_course_is_asked(course: Path) -> None:
    """Hours late are counted from the moved due date, by the rule that nbgrader_config.py sets."""
    rule = "from nbgrader.plugins import LateSubmissionPlugin\n\n\nclass Hours(LateSubmissionPlugin):\n"
    rule += "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
    rule += "        return total_seconds_late / 3600\n\n\nc.AssignLatePenalties.plugin_class = Hours"
    configure(course, rule)
    record(course, ["bob"], datetime(2030, 1, 2, 14, 30))
    assert penalties(course)["bob"] == 2.5
    assert extend("bob", "--by", "1h") == 0
    assert penalties(course)["bob"] == 1.5


def test_stock_nbgrader_reads_it(course: Path) -> None:
    """To nbgrader an extension before a hand-in is a submission without points, and in no list of graded ones."""
    assert extend("eve", "--by", "2d") == 0
    with open_gradebook(course) as gradebook:
        submission = gradebook.find_submission(LESSON, "eve")
        assert (submission.score, submission.timestamp, submission.total_seconds_late) == (0.0, None, 0)
        assert [row["id"] for row in gradebook.student_dicts() if row["id"] == "eve"] == ["eve"]
        assert {row["student"] for row in gradebook.submission_dicts(LESSON)} == {"ada", "bob"}
    assert cli.main(["release"]) == 0
