"""Requests to look again: found wherever students write them, open until somebody answers, and worth no points."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from rich.console import Console
from support.downloads import collect, zipped
from support.gradebook import LESSON, Pretender, by_hand, configure, handed_in_at, set_duedate
from support.sample_lesson import code, markdown, sample_lesson

from autograder import cli
from autograder.course.paths import Course
from autograder.demo.sample_class import released_notebook
from autograder.grading.grade import grade
from autograder.grading.gradebook.database import Gradebook
from autograder.grading.gradebook.reader import read_gradebook
from autograder.grading.options import GradeOptions
from autograder.grading.submission.requests import LONGEST, requests_in

SOURCE = json.dumps(sample_lesson()).encode()
WHY = "Regrade 1.1: my answer takes text, too."
WORDS = "my answer takes text, too."
LATE = "2030-01-05 12:00 UTC"


@pytest.fixture(autouse=True)
def _in_course(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course)


def found(*cells: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """What a notebook of these cells asks for."""
    return requests_in(json.dumps({"cells": cells}).encode(), SOURCE)


def hand_in(course: Path, *texts: str) -> None:
    """Let ada hand in the lesson with these cells of her own, as a download has it; a comment is in code."""
    notebook = released_notebook(course, LESSON)
    notebook.cells[5:5] = [(new_code_cell if text.startswith("#") else new_markdown_cell)(text) for text in texts]
    assert collect("folder", zipped({f"ada/{LESSON}.ipynb": json.dumps(notebook)})) == 0


def grade_all(course: Path, *, force: bool = False) -> None:
    """Grade what is new."""
    assert grade(course, GradeOptions(force=force), Console(quiet=True), warm=Pretender(course)) == 0


def ask(course: Path, *texts: str) -> None:
    """Let ada hand in the lesson with these cells of her own, and grade it."""
    hand_in(course, *texts)
    grade_all(course)


def listed(capsys: pytest.CaptureFixture[str], *lessons: str) -> list[tuple[str, str, str]]:
    """The open requests, as `autograder status` lists them."""
    capsys.readouterr()
    assert cli.main(["status", *lessons, "--json"]) == 0
    (lesson,) = json.loads(capsys.readouterr().out)["lessons"]
    assert all(one["asked"] <= datetime.now(UTC).isoformat() for one in lesson["requests"])
    return [(one["student"], one["exercise"], one["words"]) for one in lesson["requests"] if one["is_open"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Regrade 1.1: why", "why"),
        ("regrade 1.1 – why", "why"),
        ("## **Regrade 1.1:**\n\nwhy", "why"),
        ("Regrade exercise 1.1. why", "why"),
        ("Regrade `double`: why", "why"),
        ("Regrade: DOUBLE why\n\neven so", "why even so"),
        ("Regrade 1.1", ""),
        ("Regrade 1.1: <b>\x1b[31m\u202eno</b>", "<b>?[31m?no</b>"),
        ("Please regrade 1.1", None),
        ("Regrading 1.1: is a pity", None),
    ],
)
def test_a_request_is_known_by_how_its_cell_begins(text: str, words: str | None) -> None:
    """As a heading, in bold, as a comment in a code cell, by number or name; harmless in a terminal."""
    expected = {} if words is None else {"double": words}
    assert found(markdown("x", text)) == (expected, [])
    if "\n" not in text:
        assert found(code("x", f"# {text}")) == (expected, [])


def test_the_last_of_several_counts_and_is_shortened() -> None:
    """Of each exercise there is one request, of a length that a line can have."""
    requests, notes = found(markdown("a", "Regrade 1.1: first"), markdown("b", f"Regrade 1.1: {'long ' * 1000}"))
    assert requests["double"].startswith("long long") and len(requests["double"]) == LONGEST + 2 and not notes


def test_a_request_about_no_exercise_is_told_how_to_be_one() -> None:
    """What it names, and what it could name; what is no notebook asks for nothing."""
    said = ["“Regrade 7.9” names no exercise of this lesson. Write its number, as in `Regrade 1.1: why`."]
    assert found(markdown("a", "Regrade 7.9: why"), markdown("b", "Regrade 7.9 again")) == ({}, said)
    assert len(found(*[markdown(f"c{place}", f"Regrade {place}.9") for place in range(1500)])[1]) == 3
    assert requests_in(b"Regrade 1.1", SOURCE) == ({}, [])


@pytest.mark.parametrize(
    "text", ["regrade " + "." * 10**6, "_" * 10**6 + "regrade", "regrade " * 10**5, "Regrade 1.1 " + "*" * 10**6]
)
def test_hostile_requests_take_no_time(text: str) -> None:
    """Neither a long one nor two thousand."""
    begin = time.process_time()
    requests, notes = found(*[markdown(f"c{place}", text[: 2000 if place else 10**6]) for place in range(1500)])
    assert time.process_time() - begin < 5 and len(requests) <= 1 and sum(map(len, notes)) < 300


def test_a_request_is_open_until_somebody_answers(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is listed with its words; points by hand answer it, for good; other words ask again, and a comment answers."""
    ask(course)
    assert listed(capsys) == []
    before = read_gradebook(course).graded["ada", LESSON].score
    ask(course, WHY)
    assert listed(capsys, LESSON) == [("ada", "double", WORDS)]
    assert read_gradebook(course).graded["ada", LESSON].score == before
    assert cli.main(["status", LESSON]) == 0
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert f":\n  ada, double, {today}: {WORDS}\n" in capsys.readouterr().out
    by_hand(course, points=1)
    assert listed(capsys) == []
    grade_all(course, force=True)
    by_hand(course, points=0)
    assert listed(capsys) == [], "answered once, though points change"
    ask(course, "Regrade 1.1: once more")
    assert listed(capsys) == [("ada", "double", "once more")]
    by_hand(course, comment="It stays.")
    assert listed(capsys) == []
    ask(course)
    assert read_gradebook(course).requests == [], "taken back"


def test_an_open_request_outlives_grading_again(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It stays open, with the day on which it came, and what was by hand before is no answer.

    Here it is a comment in a cell of code, which is what a new cell in Colab is made for.
    """
    by_hand_before = "Well done."
    ask(course)
    by_hand(course, points=1, comment=by_hand_before)
    ask(course, f"# {WHY}")
    (asked,) = read_gradebook(course).requests
    grade_all(course, force=True)
    assert listed(capsys) == [("ada", "double", WORDS)]
    assert read_gradebook(course).requests == [asked]
    assert read_gradebook(course).graded["ada", LESSON].comments == {"double": by_hand_before}


def test_asking_costs_no_time(course: Path) -> None:
    """Adding, changing or taking back a request leaves the time of the hand-in; what else is new has its own."""
    set_duedate(course)
    hand_in(course)
    handed_in_at(course, "ada", "2030-01-01 12:00 UTC")
    grade_all(course)
    points = read_gradebook(course).graded["ada", LESSON].score
    replaced = course / "submitted" / ".replaced" / "ada" / LESSON
    for number, texts in enumerate([[WHY], ["Regrade 1.1: other words"], [], [WHY, "another text"]], start=1):
        place, kept = Course.at(course).submitted("ada", LESSON), replaced / str(number)
        kept.parent.mkdir(parents=True, exist_ok=True)
        place.rename(kept)
        hand_in(course, *texts)
        handed_in_at(course, "ada", LATE)
        grade_all(course)
        graded = read_gradebook(course).graded["ada", LESSON]
        assert (graded.score, graded.penalty) == ((points, 0) if number < 4 else (0, points)), texts
        assert cli.main(["status"]) == 0


@pytest.mark.parametrize("rule", ["best", "last_in_time"])
def test_the_last_hand_in_asks_whichever_counts(course: Path, capsys: pytest.CaptureFixture[str], rule: str) -> None:
    """Where an earlier one has the points, the request is listed all the same."""
    configure(course, f'c.Autograder.counts = "{rule}"')
    ask(course)
    ask(course, WHY)
    assert listed(capsys) == [("ada", "double", WORDS)]
    grade_all(course, force=True)
    assert listed(capsys) == [("ada", "double", WORDS)]


def test_the_students_page_says_what_became_of_it(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That it was received, then that it is answered; what is HTML in it is text there."""
    ask(course, "Regrade 1.1: <script>alert(1)</script>", "Regrade 7.9: no such thing")
    for says in ("received, waits for an answer", "answered; see its points and comments"):
        assert cli.main(["report", "--student", "ada"]) == 0
        page = (course / "feedback" / "ada" / "feedback.html").read_text(encoding="utf-8")
        assert f"1.1 Double: {says}</dt><dd><bdi>&lt;script&gt;" in page and "<script>" not in page
        assert "“Regrade 7.9” names no exercise of this lesson." in page
        by_hand(course, comment="It stays.")


def test_a_student_goes_with_their_requests(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are among what is kept about a student, and are removed with it."""
    ask(course, WHY)
    assert cli.main(["student", "remove", "ada", "--yes"]) == 0
    assert "1 row in autograder_request" in capsys.readouterr().out
    place = Course.at(course)
    with Gradebook(place.db_url, place.root).reading() as connection:
        assert not connection.exec_driver_sql("SELECT * FROM autograder_request").all()
