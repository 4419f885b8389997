"""What grading again changed is told, kept through crashes neither lost nor doubled, and printed by `history`."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import printed
from support.downloads import snapshot
from support.gradebook import LESSON, disk_full, hand_in, handed_in_at, keep, record, said, small_result

from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.course.release import release
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook import history, writer
from autograder.grading.gradebook.history import CheckChange, Reason, append, read_history
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.results import Outcome, Status

LOCK = "gradebook.db.lock"  # keeps others away while a command runs
RIGHT = (Outcome("check_double", 3, Status.PASSED), Outcome("check_double_text", 1, Status.PASSED))


def lines(course: Path) -> list[str]:
    """The lines of the file."""
    path = course / "gradebook.db.history.jsonl"
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def graded(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which ada and bob have 3 points each."""
    hand_in(course, "ada", "bob")
    said(course)
    monkeypatch.chdir(course)
    return course


def test_grading_for_the_first_time_is_no_history(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is kept of it, nor of a run that finds nothing changed."""
    assert "graded again" not in said(graded)
    assert lines(graded) == []
    assert printed(capsys, "history") == "Nothing was graded again.\n"


def test_a_dry_run_tells_the_same_and_records_nothing(graded: Path) -> None:
    """The points that would become others, who would be new, and every file as it was; then it is done."""
    handed_in_at(graded, "ada", "2026-01-02 03:04:05 UTC")
    hand_in(graded, "cem")
    before = snapshot(graded, LOCK)
    out = [" ".join(line.split()) for line in said(graded, {"checks": RIGHT}, dry_run=True).splitlines()]
    assert "1 would be recorded again, 1 of them with other points:" in out
    at = out.index(f"ada, {LESSON}: 3 → 4 (submission changed)")
    assert out[at + 1] == "check_double_text 0 → 1"
    assert out[-1] == "Nothing was recorded, being a dry run. 1 of them was never graded before."
    assert [line for line in out if line.startswith(("bob", "cem"))] == [f"cem {LESSON} 4 of 4"]
    forced = json.loads(said(graded, {"checks": RIGHT}, dry_run=True, force=True, as_json=True))
    assert forced["dry_run"] and [regrade["new"] for regrade in forced["regraded"]] == [4.0, 4.0]
    assert snapshot(graded, LOCK) == before
    assert f"ada, {LESSON}: 3 → 4 (" in said(graded, {"checks": RIGHT})


def test_a_regrade_is_told_with_its_reason(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line has the whole, old → new and why, and each check with other points stands beneath it; what stayed is
    counted; `history` says it again.
    """
    handed_in_at(graded, "ada", "2026-01-02 03:04:05 UTC")
    out = [" ".join(line.split()) for line in said(graded, {"checks": RIGHT}).splitlines()]
    assert "1 graded again, 1 of them with other points:" in out
    at = out.index(f"ada, {LESSON}: 3 → 4 (submission changed)")
    assert out[at + 1] == "check_double_text 0 → 1"
    assert "2 graded again, 1 of them with other points:" in said(graded, {"checks": RIGHT}, force=True)
    assert "2 graded again, 0 of them with other points." in said(graded, {"checks": RIGHT}, force=True)
    whole = json.loads(printed(capsys, "history", LESSON, "--student", "a*", "--json"))
    assert whole["students"] == {"ada": "ada"}
    first, second, _ = whole["regraded"]
    times = {key: first.pop(key) for key in ("graded", "regraded")}
    assert times["graded"] < times["regraded"] == second["graded"] < second["regraded"]
    assert first == {
        "student": "ada",
        "lesson": LESSON,
        "reasons": ["submission changed"],
        "old": 3.0,
        "new": 4.0,
        "checks": [{"check": "check_double_text", "old": 0.0, "new": 1.0}],
    }
    assert (second["reasons"], second["old"], second["new"], second["checks"]) == (["forced"], 4.0, 4.0, [])
    shown = printed(capsys, "history").splitlines()
    assert len([line for line in shown if f" UTC  ada, {LESSON}: " in line]) == 3
    assert len([line for line in shown if line.startswith("  check_double_text")]) == 2


def change_lesson(course: Path) -> None:
    """Release another hidden test."""
    source = Course.at(course).source(LESSON)
    source.write_text(source.read_text().replace("hidden_secret", "another_secret"))
    release(course)


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        (lambda course: handed_in_at(course, "ada", "2026-01-02 03:04:05 UTC"), (Reason.SUBMISSION,)),
        (change_lesson, (Reason.LESSON,)),
        (lambda course: shutil.rmtree(course / "autograded" / "ada"), (Reason.LOST,)),
    ],
)
def test_every_reason_is_known(graded: Path, change: Any, reasons: tuple[Reason, ...]) -> None:
    """What has changed is the reason, whether or not the run was forced."""
    change(graded)
    said(graded)
    assert {one.reasons for one in read_history(graded) if one.student == "ada"} == {reasons}
    said(graded, force=True)
    assert [one.reasons for one in read_history(graded) if one.student == "ada"] == [reasons, (Reason.FORCED,)]


def test_reasons_from_digests(course: Path) -> None:
    """Several parts are several reasons; of a digest with other parts, or none, the autograder has changed."""
    with Recorder(course) as recorder:
        for digest in ("v-l-s", "v-m-t", "w-m-t", "old"):
            keep(recorder, small_result(course), digest)
        keep(recorder, small_result(course, reason="It broke off.", checks=(), notebook="", retryable=True), "old")
        keep(recorder, small_result(course), "old", forced=True)
    assert [one.reasons for one in recorder.regraded] == [
        (Reason.LESSON, Reason.SUBMISSION),
        (Reason.ENGINE,),
        (Reason.ENGINE,),
        (Reason.LOST,),
        (Reason.BROKE_OFF,),
    ]
    assert recorder.regraded == read_history(course)
    lost, back = recorder.regraded[-2:]
    assert (lost.old, lost.new, lost.checks) == (3.0, 0.0, (CheckChange("check_double", 3.0, 0.0),))
    assert (back.old, back.new, back.checks) == (0.0, 3.0, (CheckChange("check_double", 0.0, 3.0),))


def test_what_was_not_recorded_is_no_history(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends between the line and the gradebook leaves a line that does not count; the next run's does."""
    record(course)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"), Recorder(course) as recorder:
        patch.setattr(writer, "append", lambda path, regrade: disk_full(append(path, regrade)))
        keep(recorder, replace(small_result(course), checks=RIGHT), "d2")
    assert len(lines(course)) == 1 and recorder.regraded == [] and read_history(course) == []
    record(course, checks=RIGHT)
    (only,) = read_history(course)
    assert len(lines(course)) == 2 and (only.old, only.new) == (3.0, 4.0)


def test_no_result_without_its_line(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the line cannot be written, the gradebook keeps what it has."""
    record(course)
    monkeypatch.setattr(history.os, "fsync", disk_full)
    monkeypatch.setattr(writer, "write_folder", lambda *_: "")
    with Recorder(course) as recorder, pytest.raises(OSError, match="No space"):
        keep(recorder, replace(small_result(course), checks=RIGHT), "d2")
    monkeypatch.undo()
    assert read_history(course) == []
    with open_gradebook(course) as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == 3


def test_a_line_that_is_half_written_spoils_no_other(course: Path) -> None:
    """The next line stands by itself, and what is no line is passed over."""
    record(course, ["ada", "bob"])
    record(course)
    path = course / "gradebook.db.history.jsonl"
    path.write_text(path.read_text() + path.read_text()[:40])
    record(course, ["bob"])
    assert [one.student for one in read_history(course)] == ["ada", "bob"]
    assert len(lines(course)) == 3


def test_a_result_of_an_earlier_version_has_unknown_points(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be compared is told with a question mark, not as a change."""
    record(course)
    with open_gradebook(course) as gradebook:
        gradebook.db.connection().exec_driver_sql("UPDATE autograder_result SET result = '{}'")
        gradebook.db.commit()
    record(course)
    (only,) = read_history(course)
    assert (only.old, only.new, only.checks) == (None, 3.0, ())
    monkeypatch.chdir(course)
    assert f" UTC  ada, {LESSON}: ? → 3 (" in printed(capsys, "history")


def test_unknown_names_are_told(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lesson or student that is none ends with 2 and with what may have been meant."""
    for arguments, meant in ((["01_dubling"], LESSON), (["--student", "adda"], "ada")):
        assert printed(capsys, "history", *arguments, status=2).endswith(f" Did you mean `{meant}`?\n")
    (graded / "gradebook.db").unlink()
    with pytest.raises(CourseError, match="There is no gradebook"):
        read_history(graded)
