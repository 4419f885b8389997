"""The pages of `autograder report` say what the gradebook says, let nothing of a student's run, and keep secrets."""

import base64
import hashlib
import json
import os
import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbformat.v4 import new_code_cell, new_notebook, new_output
from support.commands import printed
from support.gradebook import LESSON, configure, disk_full, keep, repaired_notebook
from support.invented_class import invented_class
from support.sample_lesson import ROOT, sample_lesson, write_lesson

from autograder.cli import main
from autograder.course.config import CourseError
from autograder.course.release import release
from autograder.demo.sample_class import open_gradebook
from autograder.grading.gradebook.counting import HandIn
from autograder.grading.gradebook.history import Reason
from autograder.grading.gradebook.lesson import GradebookLesson
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student, read_gradebook
from autograder.grading.gradebook.writer import Recorder
from autograder.grading.pending import Pending
from autograder.grading.results import Note, NoteKind, Outcome, Result, Status
from autograder.report.class_page import class_page
from autograder.report.counts import Failure, Spread, count_mistakes, without_numbers
from autograder.report.outline import hints, outlines_of
from autograder.report.page import MARK, percent, write
from autograder.report.student_page import cells_in, panels_of, student_page
from autograder.report.write import write_report

SECRETS = ("hidden_secret", "BEGIN HIDDEN", "double(3)", "answer_of_the_teacher", "assert double")
HALVING = "the result is halved"
TOPIC = "predict_length"
NOTE = Note(NoteKind.ANSWER, "A note.")
ROGUE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp; \u202etxt.exe\u202c {{ 7 * 7 }} $x^2$ 🙂 `"
PANEL = '<div role="group" style="color:inherit"><b>✗ A panel.</b><table><tr><td>1</td></tr></table></div>'
ERROR = new_output("error", ename="CheckFailed", evalue="✗", traceback=["✗"])
HINTS = """Write it.
<details><summary>A `b` & c</summary>

Say `*x*`, **now**.

</details>
<details>
<summary>T</summary>
<b>raw</b>
</details>"""


def wrong(
    check: str, verdict: str, mistake: str = "", *, slip: str = "", rule: str = "it doubles", points: float = 1.0
) -> Outcome:
    """Return a failed check with a message as the checks write it."""
    slip = f"These are the values you get when {mistake}." if mistake else slip
    message = "\n\n".join([f"✗ {verdict}", *filter(None, [slip]), f"Rule: {rule}."])
    return Outcome(
        check, points, Status.FAILED, message, seconds=0.5, verdict=verdict, slip=slip, rule=rule, mistake=mistake
    )


def right(check: str, points: float = 1.0) -> Outcome:
    """Return a passed check."""
    return Outcome(check, points, Status.PASSED, seconds=0.5)


def untried(check: str, points: float = 1.0) -> Outcome:
    """Return a check of an answer that is still its stub."""
    verdict = "`double` is not written yet."
    return Outcome(check, points, Status.NOT_ATTEMPTED, f"✗ {verdict}", seconds=0.1, verdict=verdict)


AGAIN = Pending("ada", LESSON, was_graded=True, reasons=(Reason.SUBMISSION,))
BOTH_RIGHT = (right("check_double", 3), right("check_double_text"))
HALVED = wrong("check_double", "`double(2)` has the wrong values.", HALVING, points=3)
TOO_LONG = wrong("check_double_text", "`double` has 12 letters too many.", slip="Leave some out.", rule="text works")
CLASS = {
    "ada": BOTH_RIGHT,
    "bob": (HALVED, right("check_double_text")),
    "cem": (HALVED, wrong("check_double_text", "`text` has the wrong values.", HALVING)),
    "dee": (right("check_double", 3), TOO_LONG),
    "eve": (untried("check_double", 3), untried("check_double_text")),
}


@pytest.fixture(scope="module")
def empty(small_course: Path) -> GradebookSnapshot:
    """The gradebook of a course in which nothing is graded."""
    return read_gradebook(small_course)


def graded(student: str, checks: Sequence[Outcome] = (), lesson: str = LESSON, **more: object) -> GradedSubmission:
    """Return a submission as the gradebook would have it."""
    about = {key: more.pop(key) for key in ("notes", "predictions", "reason", "unenforced") if key in more}
    result = Result(student, lesson, tuple(checks), **about)
    scores = {outcome.check: outcome.earned for outcome in checks}
    return replace(GradedSubmission(student, lesson, scores, recorded=datetime(2030, 1, 2), result=result), **more)


def filled(
    empty: GradebookSnapshot, *submissions: GradedSubmission, people: Mapping[str, Student] | None = None
) -> GradebookSnapshot:
    """Return a gradebook with these submissions, and with more students."""
    students = {submission.student: Student(submission.student) for submission in submissions} | dict(people or {})
    return replace(empty, students=students, graded={(one.student, one.lesson): one for one in submissions})


def page_of(
    book: GradebookSnapshot,
    pending: Sequence[Pending] = (),
    *,
    lessons: Sequence[str] = (),
    student: str = "",
    now: datetime | None = None,
) -> BeautifulSoup:
    """Return the class page or a student's, parsed."""
    outlines, waits = outlines_of(book, lessons), {(one.student, one.lesson): one for one in pending}
    if student:
        return parsed(student_page(book, outlines, student, waits, now=now))
    return parsed(class_page(book, outlines, waits, now=now))


def parsed(page: bytes | Path) -> BeautifulSoup:
    """Return a page or the one in a file, parsed."""
    return BeautifulSoup(page if isinstance(page, bytes) else page.read_bytes(), "html.parser")


def words_of(element: BeautifulSoup | Tag) -> str:
    """Return an element's text with one space between words."""
    return " ".join(element.get_text(" ").split())


def rows(page: BeautifulSoup, kind: str) -> list[list[str]]:
    """Return the texts of a table's body, found by its class."""
    body = page.select_one(f"table.{kind} tbody")
    return [[words_of(cell) for cell in row.select("th, td")] for row in body.select("tr")]


def named(page: BeautifulSoup, words: str) -> list[str]:
    """Return the names that fold out under some words."""
    summary = next(element for element in page.select("details.who > summary") if element.get_text() == words)
    return [item.get_text() for item in summary.find_next_sibling("ul").select("li")]


@pytest.fixture(scope="module")
def page(empty: GradebookSnapshot) -> BeautifulSoup:
    """The page of the five of CLASS, of one who handed in nothing, and of one who waits."""
    people = {"fay": Student("fay", "Fay", "Late"), "gus": Student("gus")}
    book = filled(empty, *(graded(*work) for work in CLASS.items()), people=people)
    return page_of(book, [Pending("gus", LESSON), AGAIN])


# What it says


def test_students_have_their_points(course: Path) -> None:
    """Each row of the table of students has the scores and the total that the gradebook has."""
    record(course, CLASS)
    book = read_gradebook(course)
    students = {row[0]: row[1:] for row in rows(page_of(book), "sortable")}
    assert students.keys() == CLASS.keys()
    for student, (points, total, share) in students.items():
        score = book.graded[student, LESSON].score
        assert (float(points), float(total), int(share)) == (score, score, round(100 * score / 4))
    assert {float(row[0]) for row in students.values()} == {4, 1, 0, 3}


def test_who_passed_failed_and_did_not_try(page: BeautifulSoup) -> None:
    """Counts stand in a row of the overview, and the names fold out in the lesson's part."""
    assert rows(page, "glance")[1] == ["1.1 Double", "", "1", "3", "1", "1.6 of 4"]
    assert named(page, "1 passed") == ["ada"]
    assert named(page, "3 failed") == ["bob", "cem", "dee"]
    assert named(page, "1 did not try") == ["eve"]
    assert named(page, "1 not graded yet") == ["gus"]
    assert named(page, "1 handed in nothing") == ["Fay Late"]
    assert named(page, "1 handed in nothing at all") == ["Fay Late"]
    bar = page.select_one("table.glance svg.bar")
    assert [(rect["class"], rect["width"]) for rect in bar.select("rect")] == [
        (["passed"], "20.0%"),
        (["failed"], "60.0%"),
        (["attempted"], "20.0%"),
    ]


def test_the_most_common_mistakes_lead(page: BeautifulSoup) -> None:
    """The slip that two made comes first, once for each of them, with share, example and exercise."""
    first, second = page.select("ol.top > li")
    assert [words_of(part) for part in first.select("summary > span")] == [
        "The result is halved",
        "2 of 4",
        "50 %",
        "1.1 Double",
    ]
    assert first.pre.get_text() == HALVED.message
    assert [name.get_text() for name in first.select("ul.names li")] == ["bob", "cem"]
    assert first.a["href"] == f"#{LESSON}-double"
    assert words_of(second.summary) == "double has 12 letters too many 1 of 4 25 % 1.1 Double"
    names = [item.get_text() for item in page.select_one("ul.mistakes details").select("ul.names li")]
    assert names == ["bob", "cem"]


def test_the_hardest_checks_and_how_long_checks_take(page: BeautifulSoup) -> None:
    """By the part that failed, with the rules that were broken how often; seconds are of those who tried alone."""
    assert [words_of(row) for row in page.select("#checks tbody tr")] == [
        "1.1 Double : the check 2 of 4 it doubles (2)",
        "1.1 Double : text 2 of 4 it doubles (1) ; text works (1)",
    ]
    assert "2 checks, 1.0 s for half of the tries, 1.0 s for the slowest" in page.get_text()


def test_marks_at_points_are_explained(empty: GradebookSnapshot) -> None:
    """What was given by hand, taken off, not gradable, looked at or waiting has a letter, and the caption says it."""
    submissions = [
        graded("ada", BOTH_RIGHT, by_hand=frozenset({"check_double"}), extra={"check_double": 0.5}),
        graded("bob", BOTH_RIGHT, penalty=1.5, to_review=frozenset({"check_double"})),
        graded("cem", reason="The file is empty.", others=(HandIn("d", None, Result("cem", LESSON)),)),
    ]
    page = page_of(filled(empty, *submissions), [Pending("dee", LESSON), AGAIN])
    assert [row[:2] for row in rows(page, "sortable")] == [
        ["ada", "4 heu"],
        ["bob", "2.5 p?"],
        ["cem", "0 on"],
        ["dee", "– w"],
    ]
    caption = page.select_one("table.sortable caption").get_text()
    assert all(
        meaning in caption for meaning in ("by hand", "extra credit", "late", "not be graded", "look at", "not g")
    )
    assert "by hand" not in page_of(filled(empty, submissions[2])).select_one("table.sortable caption").get_text()


def test_what_could_not_be_graded_and_what_was_mended(empty: GradebookSnapshot) -> None:
    """Reasons stand with the students and their addresses, notes with those in whose notebooks they were."""
    note = Note(NoteKind.CHECK_CHANGED, "The check `check_double` had been changed; the original was run.")
    submissions = [
        graded("ada", BOTH_RIGHT, notes=(note,)),
        graded("bob", BOTH_RIGHT, notes=(note, Note(NoteKind.NOTEBOOK, "Odd."))),
        graded("cem", reason="There is only `answer.py`."),
    ]
    book = filled(empty, *submissions)
    cem = Student("cem", "Cem", "Acar", "cem@example.org")
    page = page_of(replace(book, students={**book.students, "cem": cem}))
    (table,) = page.select(f"[id='{LESSON}-ungradable'] table")
    assert [words_of(cell) for cell in table.select("tbody th, tbody td")] == [
        "cem (Cem Acar) cem@example.org",
        "There is only answer.py .",
    ]
    assert table.code.get_text() == "answer.py"
    notes = [words_of(item) for item in page.select("details.notes > ul > li")]
    assert notes == [
        "The check check_double had been changed; the original was run. 2 notebooks ada bob",
        "Odd. 1 notebook bob",
    ]
    assert page.select_one("table.glance tbody tr:nth-of-type(2)").get_text(" ").split()[-3:] == ["4.0", "of", "4"]


def test_what_other_programs_and_versions_graded_is_said(empty: GradebookSnapshot) -> None:
    """Points without reasons, other checks than now and a sandbox with holes are remarked on, not guessed about."""
    foreign = replace(graded("ada", BOTH_RIGHT), result=None, scores={"check_double": 3.0, "check_double_text": 0.0})
    older = graded("bob", (right("check_gone"),), unenforced=("no network",))
    page = page_of(filled(empty, foreign, older))
    text = words_of(page)
    assert "1 graded by another program than autograder grade" in text
    assert "1 graded with other checks than the lesson has now" in text
    assert "1 graded where the sandbox did not wholly hold" in text
    assert named(page, "2 lost points for a reason that was not kept") == ["ada", "bob"]


def test_two_of_one_name_can_be_told_apart(empty: GradebookSnapshot) -> None:
    """Students of the same name have their ids beside it in lists."""
    people = {name: Student(name, "Ada", "L.") for name in ("a1", "a2")}
    page = page_of(filled(empty, graded("a1", CLASS["bob"]), graded("a2", CLASS["bob"]), people=people))
    assert named(page, "2 failed") == ["Ada L. (a1)", "Ada L. (a2)"]
    assert [row[:2] for row in rows(page, "sortable")] == [["L., Ada", "a1"], ["L., Ada", "a2"]]


def test_equal_mistakes_and_equal_verdicts_are_one() -> None:
    """Mistakes group whatever the verdict says, verdicts whatever their numbers, but not what stands in code.

    Named are those that are proved, and those whose message says what to do.
    """
    failures = [
        Failure("ada", wrong("c1", "In training, 31% of the entries of `x` are dropped at dropout=0.1.")),
        Failure("bob", wrong("c2", "In training, 4% of the entries of `x` are dropped at dropout=0.1.")),
        Failure("bob", wrong("c2", "`linear_1(4)` has the wrong shape.")),
        Failure("cem", wrong("c2", "`linear_2(4)` has the wrong shape.")),
        Failure("dee", wrong("c1", "`a` has the wrong shape.", HALVING)),
        Failure("dee", wrong("c2", "`b` has the wrong values.", HALVING)),
        Failure("eve", wrong("c2", "`x` is None.", slip="Is there a `return`?")),
        Failure("eve", wrong("c1", "`b` has the wrong values.", HALVING)),
    ]
    counts = [(mistake.text, mistake.named, mistake.students) for mistake in count_mistakes(failures)]
    assert counts == [
        ("the result is halved", True, ("dee", "eve")),
        ("In training, …% of the entries of `x` are dropped at dropout=….", False, ("ada", "bob")),
        ("`x` is None.", True, ("eve",)),
        ("`linear_1(4)` has the wrong shape.", False, ("bob",)),
        ("`linear_2(4)` has the wrong shape.", False, ("cem",)),
    ]
    assert count_mistakes(failures[:1])[0].text == failures[0].outcome.verdict
    assert without_numbers("Line 12 raised; conv2d, 1e-05, −3, 2.50") == "Line … raised; conv2d, …, …, …"


def test_scores_fall_into_tenths() -> None:
    """A score on an edge counts above it, full marks and extra credit into the last tenth, and none gives no chart."""
    spread = Spread.of([0, 2, 4, 19.9, 20, 25, -1], 20)
    assert spread.bins == (2, 1, 1, 0, 0, 0, 0, 0, 0, 3)
    assert spread.median == 4
    assert spread.words.startswith("2 students with 0 to 10 % of the points; 1 student with 10 to 20 %")
    assert Spread.of([], 20) is None and Spread.of([1.0], 0) is None


def test_no_share_looks_like_all_or_nothing_that_is_not() -> None:
    """One of a thousand is not 0 %, and all but one not 100 %."""
    assert [percent(share) for share in (0, 0.001, 0.314, 0.999, 1)] == ["0 %", "under 1 %", "31 %", "99 %", "100 %"]


ASKED = {"ada": "Four", "bob": "four", "cem": "four", "dee": "2", "eve": "", "gus": ROGUE}


def test_what_the_class_predicted(empty: GradebookSnapshot) -> None:
    """Answers that differ in case alone are one, the most frequent first; who was not asked is not counted."""
    submissions = [graded(student, BOTH_RIGHT, predictions={TOPIC: text}) for student, text in ASKED.items()]
    foreign = replace(graded("hal", BOTH_RIGHT), result=None)
    page = page_of(filled(empty, *submissions, graded("fay", BOTH_RIGHT), foreign, graded("ida", reason="Empty.")))
    (table,) = page.select("article.predictions table")
    assert table.find_previous("h3").get_text() == "What the class predicted"
    question, predicted, answers, came = table.select("tbody th, tbody td")
    asks = 'Predict, then run. How long is double("ab") ?'
    assert words_of(question) == f"{asks} between the quotes: how many letters?"
    assert predicted.get_text() == "5 of 6" and came.get_text() == ""
    assert [words_of(answer) for answer in answers.select("li")] == ["3 four", "1 2", f"1 {ROGUE}"]
    harmless(page, scripts=1)


def test_many_different_predictions_are_cut(empty: GradebookSnapshot) -> None:
    """The most frequent are listed, and how many more there are is said."""
    texts = ["same", *(f"{number:02}" for number in range(20)), "same"]
    submissions = [graded(f"s{at}", BOTH_RIGHT, predictions={TOPIC: text}) for at, text in enumerate(texts)]
    answers = page_of(filled(empty, *submissions)).select("ul.answers li")
    assert [words_of(answer) for answer in answers[:2]] == ["2 same", "1 00"]
    assert len(answers) == 9 and words_of(answers[-1]) == "13 more, none from more than 1"


def test_where_nothing_was_asked_nothing_is_shown(page: BeautifulSoup, empty: GradebookSnapshot) -> None:
    """Results from before there were predictions, and those of a question that is gone, leave no trace on the pages."""
    assert not page.select(".predictions") and "predicted" not in page.get_text()
    book = filled(empty, graded("ada", BOTH_RIGHT, predictions={"predict_gone": "4"}))
    assert not page_of(book).select(".predictions")
    assert not page_of(book, student="ada").select(".predictions")


def hand_in(book: GradebookSnapshot, student: str, notebook: str) -> None:
    """Put a notebook where a student's hand-in lies."""
    folder = book.course.submitted(student, LESSON)
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_text(notebook, encoding="utf-8")


def test_what_the_class_has_forgotten(course: Path) -> None:
    """Counted over the hand-ins that say it, the last time each does; what is no notebook says nothing."""
    book = read_gradebook(course)
    said = "questions   {} of 9 topics right when last asked{}\n".format
    both, rogue = said(7, "; missed: masks (lesson 2), sizes that stretch (lesson 4)"), said(8, f"; missed: {ROGUE}")
    prints = {"ada": both, "bob": both + said(8, "; missed: masks (lesson 5)"), "cem": said(9, ""), "dee": rogue}
    for student, text in (prints | {"eve": "nothing of it\n"}).items():
        cell = new_code_cell("yours.summary()", outputs=[new_output("stream", text=text)])
        hand_in(book, student, nbformat.writes(new_notebook(cells=[cell])))
    hand_in(book, "fay", "[{")
    page = page_of(filled(book, *(graded(student, BOTH_RIGHT) for student in (*prints, "eve", "fay"))))
    section = page.find("h3", string="What was forgotten").parent
    assert "4 hand-ins say" in words_of(section)
    first, *others = [words_of(item) for item in section.select("li")]
    assert first == "2 masks" and len(others) == 2 and "1 sizes that stretch" in others
    harmless(page, scripts=1)


def test_a_student_reads_the_predictions_they_made(empty: GradebookSnapshot) -> None:
    """Beside the question and nothing else, as text; one that was not made is not shown."""
    submissions = [graded(student, BOTH_RIGHT, predictions={TOPIC: text}) for student, text in ASKED.items()]
    book = filled(empty, *submissions)
    page = page_of(book, student="gus")
    assert [answer.get_text() for answer in page.select(".predictions dd")] == [ROGUE]
    assert 'How long is double("ab") ?' in words_of(page.select_one(".predictions dt"))
    harmless(page, scripts=0)
    assert not page_of(book, student="eve").select(".predictions")


def test_nothing_graded_is_said(course: Path) -> None:
    """The page of a class of which nothing is graded says so, and how many wait."""
    assert "Nothing is graded yet" in write_report(course)
    assert "Put what students hand in into submitted/" in (course / "report.html").read_text("utf-8")
    (course / "submitted" / "ada" / LESSON).mkdir(parents=True)
    write_report(course)
    page = parsed(course / "report.html")
    assert "1 hand-in waits" in page.select_one("p.empty").get_text()
    assert rows(page, "sortable") == [["ada", "– w", "0", "–"]]


def test_a_lesson_that_solutions_no_longer_has(course: Path) -> None:
    """Its page is made of the gradebook alone, exercises by the names of their answers, and says so."""
    record(course, CLASS)
    shutil.rmtree(course / "solutions" / LESSON)
    page = page_of(read_gradebook(course))
    assert "solutions/ no longer has this lesson" in page.select_one("p.remark").get_text()
    assert rows(page, "glance")[1] == ["double", "", "1", "3", "1", "1.6 of 4"]


def test_of_the_wanted_lessons_only(empty: GradebookSnapshot) -> None:
    """Lessons that are not asked for are not on the page, nor in its totals."""
    lessons = {**empty.lessons, "02_more": GradebookLesson("02_more", {"check_more": 5.0}, None, frozenset({"more"}))}
    book = filled(
        replace(empty, lessons=lessons), graded("ada", BOTH_RIGHT), graded("bob", (right("check_more", 5),), "02_more")
    )
    whole, part = page_of(book), page_of(book, lessons=["02_more"])
    assert rows(whole, "sortable") == [["ada", "4", "–", "4", "100"], ["bob", "–", "5", "5", "100"]]
    assert rows(part, "sortable") == [["ada", "–", "0", "–"], ["bob", "5", "5", "100"]]
    assert LESSON not in str(part)


# What counts, and when


NOW = datetime(2030, 1, 10)
LATER = "02_more"


def two_weeks(empty: GradebookSnapshot, *submissions: GradedSubmission, **more: object) -> GradebookSnapshot:
    """Return a gradebook of ada, bob and cem with a lesson due before NOW, and one due after it."""
    points = {"check_more": 5.0}
    lessons = {
        LESSON: replace(empty.lessons[LESSON], duedate=datetime(2030, 1, 3)),
        LATER: GradebookLesson(LATER, points, datetime(2030, 1, 17), {"more": "more"}),
    }
    people = {student: Student(student) for student in ("ada", "bob", "cem")}
    return replace(filled(empty, *submissions, people=people), lessons=lessons, **more)


def facts(page: BeautifulSoup) -> dict[str, str]:
    """Return what the head of the page counts."""
    return {fact.dt.get_text(): fact.dd.get_text() for fact in page.select(".facts div")}


def test_what_is_not_due_is_not_missing(empty: GradebookSnapshot) -> None:
    """Who has time left is named so, counts by what is due, and is nowhere told to have handed in nothing."""
    early = graded("ada", (right("check_more", 5),), LATER)
    book = two_weeks(empty, graded("ada", BOTH_RIGHT), graded("bob", CLASS["bob"]), early)
    page = page_of(book, now=NOW)
    assert facts(page) == {
        "students": "3",
        "notebooks graded": "3",
        "not handed in": "1",
        "of the points on average, of all who handed in": "62 %",
    }
    assert rows(page, "sortable") == [
        ["ada", "4", "5", "9", "100"],
        ["bob", "1", "– t", "1", "25"],
        ["cem", "–", "– t", "0", "0"],
    ]
    assert "t not due yet, and not counted" in words_of(page.select_one("table.sortable caption"))
    assert named(page, "1 handed in nothing") == ["cem"] and named(page, "2 have time left") == ["bob", "cem"]
    assert [row[2:] for row in rows(page, "weeks")] == [["2 of 3", "0", "0"], ["1 of 1", "0", "0"]]
    after = page_of(book, now=datetime(2030, 2, 1))
    assert facts(after)["not handed in"] == "3" and rows(after, "sortable")[1] == ["bob", "1", "–", "1", "11"]
    assert [row[2:] for row in rows(after, "weeks")] == [["2 of 3", "0", "0"], ["1 of 3", "0", "1 bob"]]
    assert "2 of 3 students have handed in something, and 1 of them has stopped." in words_of(after)


def test_one_rule_for_all_means(empty: GradebookSnapshot) -> None:
    """Not gradable, or due and not handed in, is 0; not due, not graded yet or without a date is nothing."""
    book = two_weeks(empty, graded("ada", BOTH_RIGHT), graded("bob", reason="A PDF."), graded("cem", BOTH_RIGHT, LATER))
    book = replace(book, students={**book.students, "dee": Student("dee")})

    def means(now: datetime, *undated: str) -> tuple[str, list[str]]:
        lessons = {name: replace(one, duedate=None) if name in undated else one for name, one in book.lessons.items()}
        page = page_of(replace(book, lessons=lessons), [Pending("eve", LESSON)], now=now)
        spreads = [words_of(each).split(" mean ")[1].split(",")[0] for each in page.select("#scores figcaption")]
        for lesson, mean in zip((LESSON, LATER), spreads[1:], strict=True):
            assert f"graded; {mean} of " in words_of(page.select_one(f"[id='{lesson}'] .whos"))
        assert "In totals and means, what could not be graded counts 0" in words_of(page)
        return facts(page)["of the points on average, of all who handed in"], spreads

    assert means(NOW) == ("48 %", ["48.1", "1.3", "4.0"])
    assert means(datetime(2030, 2, 1)) == ("30 %", ["29.6", "1.3", "1.3"])
    assert means(datetime(2030, 2, 1), LESSON) == ("41 %", ["41.5", "2.0", "1.3"])


def test_who_has_talked_about_their_code(empty: GradebookSnapshot) -> None:
    """They are named with the day, below the lesson; where nobody has, nothing is said."""
    talks = {("ada", LESSON): date(2030, 1, 4), ("gone", LESSON): date(2030, 1, 4)}
    page = page_of(two_weeks(empty, graded("ada", BOTH_RIGHT), talks=talks))
    assert named(page, "1 talked about their code") == ["ada, 4 January 2030"]
    assert words_of(page).count("talked") == 1


def test_a_student_is_told_what_is_still_due(empty: GradebookSnapshot) -> None:
    """Before the date, or the own later one, a lesson is due and not in the total; after it nothing was handed in."""
    more_time = {("bob", LESSON): timedelta(days=9)}
    book = two_weeks(empty, graded("ada", BOTH_RIGHT), graded("ada", (right("check_more", 5),), LATER))
    book = replace(book, extensions=more_time)
    pages = {student: page_of(book, student=student, now=NOW) for student in book.students}
    assert pages["ada"].select_one("tfoot td").get_text() == "9 of 9"
    assert pages["cem"].select_one("tfoot td").get_text() == "0 of 4"
    assert pages["bob"].select_one("tfoot td").get_text() == "0 of 0"
    assert "due 12 January 2030, 00:00 UTC" in words_of(pages["bob"])
    assert "Nothing was handed in." in words_of(pages["cem"])
    assert "It is due 17 January 2030, 00:00 UTC, and not counted before." in words_of(pages["cem"])


def test_before_anything_is_due_nothing_counts(course: Path) -> None:
    """In a course that begins, no lesson is on the class page or a student's, and nobody lacks anything."""
    with open_gradebook(course) as gradebook:
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace")
    assert "Nothing is graded yet" in write_report(course)
    page = parsed(course / "report.html")
    assert facts(page) == {"students": "1", "notebooks graded": "0"} and rows(page, "sortable") == [
        ["Lovelace, Ada", "ada"]
    ]
    assert "handed in nothing" not in words_of(page)
    assert "Nothing is due yet, and nothing was handed in." in words_of(shown(course, "ada"))
    write_report(course, [LESSON])
    page = parsed(course / "report.html")
    assert rows(page, "sortable") == [["Lovelace, Ada", "ada", "–", "0", "–"]]


def test_who_was_late_is_marked_and_counted(empty: GradebookSnapshot) -> None:
    """A mark says late, another one that it cost points, and the histogram names both; more time makes it in time."""
    due = datetime(2030, 1, 3)
    submissions = [
        graded("ada", BOTH_RIGHT, submitted=due - timedelta(hours=2)),
        graded("bob", BOTH_RIGHT, submitted=due + timedelta(hours=2)),
        graded("cem", BOTH_RIGHT, submitted=due + timedelta(hours=2), penalty=1.0),
        graded("dee", BOTH_RIGHT, submitted=due + timedelta(hours=2)),
        graded("eve", BOTH_RIGHT),
    ]
    book = two_weeks(empty, *submissions, extensions={("dee", LESSON): timedelta(days=1)})
    page = page_of(book, lessons=[LESSON])
    assert [row[1] for row in rows(page, "sortable")] == ["4", "4 L", "3 p", "4", "4"]
    assert named(page, "2 late") == ["bob", "cem"]
    assert "1 in the last 6 hours, 1 nobody knows when" in words_of(page.select_one("#times figcaption"))
    assert page.select_one("#times svg")["aria-label"].endswith("on the last day: 2; up to a day late: 2.")


def test_students_stand_by_their_last_names(empty: GradebookSnapshot) -> None:
    """Small letters or none, in the table and in every list; who has one name alone stands by that."""
    names = {"1": ("Ada", "lovelace"), "2": ("Zoe", "Babbage"), "3": ("Madonna",), "4": ()}
    people = {student: Student(student, *name) for student, name in names.items()}
    page = page_of(filled(empty, *(graded(student, BOTH_RIGHT) for student in people), people=people))
    assert [row[0] for row in rows(page, "sortable")] == ["4", "Babbage, Zoe", "lovelace, Ada", "Madonna"]
    assert named(page, "4 passed") == ["4", "Zoe Babbage", "Ada lovelace", "Madonna"]


def test_what_came_stands_beside_the_predictions(course: Path) -> None:
    """It is what the lesson's own run printed, and nothing where its stored outputs do not say it."""
    path = course / "solutions" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    figure = next(cell for cell in notebook["cells"] if "yours.compare" in "".join(cell["source"]))
    figure["outputs"] = [new_output("stream", text="you predicted   nothing yet\nwhat happened   4 <b>letters</b>\n")]
    path.write_text(json.dumps(notebook), "utf-8")
    book = filled(read_gradebook(course), graded("ada", BOTH_RIGHT, predictions={TOPIC: "4"}))
    assert page_of(book).select("article.predictions tbody td")[-1].get_text() == "4 <b>letters</b>"
    figure["outputs"] *= 2
    path.write_text(json.dumps(notebook), "utf-8")
    assert page_of(book).select("article.predictions tbody td")[-1].get_text() == ""


def test_pages_that_are_there_are_linked(course: Path, tmp_path: Path) -> None:
    """Names lead to students' pages and points to nbgrader's, from where the class page lies; without a file, none."""
    record(course, CLASS)
    shown(course, "ada")
    theirs = course / "feedback" / "bob" / LESSON / f"{LESSON}.html"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("nbgrader's")
    for output in (course / "report.html", course / "feedback" / "of all.html"):
        write_report(course, output=output)
        page = parsed(output)
        links = [link["href"] for link in page.select("table.sortable tbody a")]
        pages = [(output.parent / unquote(link)).resolve() for link in links]
        assert pages == [course / "feedback" / "ada" / "feedback.html", theirs]
        assert not any(link.startswith("/") for link in links)


@pytest.mark.parametrize("name", ["javascript:alert(1)", "a b#c?d", "50%", "é", '"><img src=x>'])
def test_a_link_leads_to_a_file_whatever_its_name(course: Path, name: str) -> None:
    """An id is only ever a folder in an address, and one that would lead elsewhere has no link."""
    record(course, {name: BOTH_RIGHT})
    shown(course, name)
    with open_gradebook(course) as gradebook:
        gradebook.add_student("..")
    (course / "feedback.html").write_text("not ours")
    write_report(course)
    page = parsed(course / "report.html")
    (link,) = page.select("table.sortable tbody a")
    assert re.fullmatch(r"feedback/[\w.%-]+/feedback\.html", link["href"])
    assert (course / unquote(link["href"])).is_file() and link.get_text() == name


# What it keeps to itself, and what it lets nobody do


def harmless(page: BeautifulSoup, scripts: int) -> None:
    """Assert that nothing runs, loads or leads away but the page's own."""
    assert len(page.select("script")) == scripts and not page.select("img, iframe, object, link, base, form")
    for element in page.find_all(True):
        assert isinstance(element, Tag)
        assert not [name for name in element.attrs if name.startswith("on") or name in ("src", "action", "style")]
        assert element.get("href", "#").startswith("#")


def test_nothing_of_a_students_runs(empty: GradebookSnapshot) -> None:
    """Whatever is in names, messages, reasons and notes stands on both pages as text, and only as text."""
    failed = wrong("check_double", ROGUE, slip=ROGUE, rule=ROGUE, points=3)
    checks = replace(failed, message=f"✗ {ROGUE}\x00\ud800\x1b[31m"), right("check_double_text")
    people = {student: Student(student, ROGUE, "L" * 5000) for student in ("x" * 128, ROGUE)}
    submissions = [graded(student, checks, notes=(Note(NoteKind.FILE, ROGUE),)) for student in people]
    book = filled(empty, *submissions, graded("y", reason=ROGUE), people=people)
    page = page_of(book)
    harmless(page, scripts=1)
    text = page.get_text()
    places = ("#mistakes pre", "#students tbody th", "ul.mistakes li", "details.notes li")
    for place in (*places, f"[id='{LESSON}-ungradable'] td"):
        assert "<script>alert(1)</script>" in page.select_one(place).get_text()
    assert text.count("{{ 7 * 7 }}") == text.count("🙂") > 0
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    page = page_of(book, student=ROGUE)
    harmless(page, scripts=0)
    assert page.select_one("h1 bdi").get_text().startswith(ROGUE)
    assert ROGUE in page.select_one("li.bad pre").get_text()


def test_only_the_pages_own_script_and_style_may_run(page: BeautifulSoup) -> None:
    """The policy names the hashes of the script and the style that the page holds, and allows no network."""
    policy = page.select_one('meta[http-equiv="Content-Security-Policy"]')["content"]
    assert "default-src 'none'" in policy and "http" not in policy and "unsafe" not in policy
    for element in ("script", "style"):
        digest = hashlib.sha256(page.select_one(element).string.encode()).digest()
        assert f"{element}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert not re.search(r"https?:|//[a-z]|url\(|@import", re.sub(r"// .*", "", str(page)))


def test_the_table_can_be_sorted_by_a_machine(page: BeautifulSoup) -> None:
    """Header cells are of columns, those of numbers are marked, and each cell under them begins with one or a dash."""
    heads = page.select("table.sortable thead th")
    assert all(head["scope"] == "col" for head in heads) and page.select_one("table.sortable caption")
    numeric = [place for place, head in enumerate(heads) if "n" in head.get("class", [])]
    assert numeric == [2, 3, 4]
    for row in page.select("table.sortable tbody tr"):
        cells = row.select("th, td")
        assert len(cells) == len(heads) and cells[0]["scope"] == "row"
        assert all(re.match(r"\d|–", str(cells[place].contents[0])) for place in numeric)


def test_every_table_says_what_it_is(page: BeautifulSoup) -> None:
    """All tables have a caption and header cells with a scope; every chart has words or stands beside its numbers."""
    assert len(page.select("table")) >= 4
    for table in page.select("table"):
        assert table.caption is not None and all(head.get("scope") for head in table.select("th"))
    for chart in page.select("svg"):
        assert chart.get("aria-label") or chart.get("aria-hidden") == "true"
    assert len({element["id"] for element in page.select("[id]")}) == len(page.select("[id]"))
    assert {link["href"][1:] for link in page.select("a")} <= {element["id"] for element in page.select("[id]")}


def test_hidden_tests_and_answers_are_on_no_page(course: Path) -> None:
    """Neither the class page nor a student's holds a line of a check's source or of the teacher's answer."""
    record(course, CLASS)
    write_report(course)
    write_report(course, student="*")
    pages = [course / "report.html", *sorted(course.glob("feedback/*/feedback.html"))]
    assert len(pages) == 1 + len(CLASS)
    for path in pages:
        text = parsed(path).get_text()
        assert "Double" in text and not any(secret in text for secret in SECRETS)


def test_a_class_of_a_thousand_is_a_few_megabytes(empty: GradebookSnapshot) -> None:
    """1,000 students in ten lessons, every failure of its own kind, make a page of less than 5 MB."""
    book = invented_class(empty, 1000)
    assert len(book.lessons) == 10 and len(book.graded) > 5000
    data = class_page(book, outlines_of(book, []))
    assert len(data) < 5 * 10**6
    table = parsed(data).select_one("table.sortable tbody")
    assert len(table.select("tr")) == 1000


# The page of a student


def record(
    course: Path,
    work: Mapping[str, Sequence[Outcome]],
    outputs: Mapping[str, list] | None = None,
    answer: str = "def double(x):\n    return x / 2",
) -> None:
    """Record results, with an answer of the students' own and outputs in cells of the graded notebook."""
    made = repaired_notebook(course, outputs)
    next(cell for cell in made.cells if cell.id == "double").source = answer
    notebook = json.dumps(made)
    with Recorder(course) as recorder:
        for student, checks in work.items():
            keep(recorder, Result(student, LESSON, tuple(checks), (NOTE,), notebook=notebook))


def shown(course: Path, student: str) -> BeautifulSoup:
    """Write a student's page and return it, parsed."""
    write_report(course, student=student)
    return parsed(course / "feedback" / student / "feedback.html")


def test_a_student_reads_what_the_checks_said(course: Path) -> None:
    """Points, states, messages, notes and hints are those of the student, and nobody else's."""
    record(course, CLASS)
    page = shown(course, "cem")
    verdicts = page.select("ul.verdicts > li")
    assert [verdict.get("class") for verdict in verdicts] == [["bad"], ["bad"]]
    assert [verdict.select_one("pre").get_text() for verdict in verdicts] == [
        outcome.message for outcome in CLASS["cem"]
    ]
    assert "0 of 4" in page.select_one("tfoot").get_text() and "0 of 4 points" in page.select_one("h3").get_text()
    assert page.select_one(".mended li").get_text().strip() == "A note."
    assert [hint.get_text() for hint in page.select(".hints summary")] == [
        "My result is too small",
        "My result is text",
        "An example on small numbers",
    ]
    assert "Did you add it twice?" in page.select_one(".hints details").get_text()
    assert not any(other in page.get_text() for other in ("ada", "bob", "eve"))
    assert not shown(course, "ada").select(".hints") and not shown(course, "ada").select("pre")
    assert "Not tried" in shown(course, "eve").get_text() and shown(course, "eve").select(".hints")


def test_what_people_gave_and_wrote_is_there(empty: GradebookSnapshot) -> None:
    """Points by hand, extra credit, the penalty and comments are told, whatever they hold."""
    submission = graded(
        "bob",
        CLASS["bob"],
        scores={"check_double": 2.0, "check_double_text": 1.25},
        by_hand=frozenset({"check_double"}),
        extra={"check_double_text": 0.25},
        penalty=1.0,
        comments={"double": f"Nearly. {ROGUE}` But **not** quite."},
    )
    page = page_of(filled(empty, submission), student="bob")
    harmless(page, scripts=0)
    text = words_of(page)
    assert "failed, 2 of 3, given by hand" in text and "passed, 1.25 of 1, 0.25 of it extra credit" in text
    assert "2.25 of 4 points : 3.25, and 1 taken off for being late" in text.replace("points:", "points :")
    assert "Nearly. <script>alert(1)</script>" in page.select_one("blockquote").get_text()
    assert page.select_one("blockquote strong").get_text() == "not"


def test_what_is_not_graded_is_said(empty: GradebookSnapshot) -> None:
    """A reason, nothing handed in and what waits each have their words, and no check is made up."""
    bad = replace(graded("ada", reason=f"No notebook. {ROGUE}"), comments={"double": "Come and see me."})
    book = filled(empty, bad, people={"bob": Student("bob")})
    pages = {student: page_of(book, [Pending("cem", LESSON)], student=student) for student in ("ada", "bob", "cem")}
    assert pages["ada"].select_one(".remark + pre").get_text() == f"No notebook. {ROGUE}"
    assert pages["ada"].select_one("blockquote p + p").get_text() == "Come and see me."
    assert "Nothing was handed in." in pages["bob"].get_text()
    assert "Handed in, not graded yet." in pages["cem"].get_text()
    assert not any(page.select("ul.verdicts") for page in pages.values())


def test_the_panel_of_a_failing_check_is_shown(course: Path) -> None:
    """HTML that the judge put before a check's error takes the message's place; a student's HTML never gets there."""
    panel, rogue = (new_output("display_data", data={"text/html": html, "text/plain": "✗"}) for html in (PANEL, ROGUE))
    outputs = {
        "check_double": [panel, ERROR],
        "check_double_text": [rogue],
        "double": [rogue, ERROR],
        "try_double": [rogue, ERROR],
    }
    record(course, {"cem": CLASS["cem"], "bob": CLASS["bob"]}, outputs)
    page = shown(course, "cem")
    first, second = page.select("ul.verdicts > li")
    assert str(first.select_one(".panel").contents[0]).replace("\n", "") == str(BeautifulSoup(PANEL, "html.parser"))
    assert not first.select("pre") and second.select_one("pre").get_text() == CLASS["cem"][1].message
    assert "onerror" not in str(page) and not page.select("script")
    policy = page.select_one('meta[http-equiv="Content-Security-Policy"]')["content"]
    assert "script-src 'none'" in policy and "default-src 'none'" in policy


def test_the_own_code_stands_beside_what_failed(course: Path) -> None:
    """Folded, as text, so much of it; not where all passed or nothing was tried."""
    source = f"def double(x):\n    return '{ROGUE}'" + "\n# more" * 2000
    record(course, CLASS, answer=source)
    page = shown(course, "bob")
    (code,) = page.select("article details.code")
    assert code.select_one("summary").get_text() == "Your code" and not code.has_attr("open")
    assert code.select_one("pre").get_text() == source[:8000] + " …"
    harmless(page, scripts=0)
    assert not shown(course, "ada").select(".code") and not shown(course, "eve").select(".code")


def test_when_it_was_handed_in_and_what_is_provisional(empty: GradebookSnapshot) -> None:
    """The time stands with points and with a reason; what waits for a person is said there and in the table above."""
    when = datetime(2030, 1, 2, 18, 5)
    waits = graded("bob", CLASS["bob"], submitted=when, to_review=frozenset({"check_double"}))
    text = words_of(page_of(filled(empty, waits), student="bob"))
    counts = graded("bob", CLASS["bob"], submitted=when, others=(HandIn("d", None, Result("bob", LESSON)),))
    assert "counts, and not another one, whose checks came to 0 points." in words_of(
        page_of(filled(empty, counts), student="bob")
    )
    assert "Handed in 2 January 2030, 18:05 UTC." in text and "These points are provisional" in text
    assert "0 of 1 passed; provisional" in text and text.count("waits for a person") == 1
    bad = page_of(filled(empty, graded("bob", reason="It is empty.", submitted=when)), student="bob")
    assert "Handed in 2 January 2030, 18:05 UTC." in words_of(bad)
    final = words_of(page_of(filled(empty, graded("bob", CLASS["bob"])), student="bob"))
    assert not any(words in final for words in ("Handed in", "provisional", "waits"))


def test_nothing_of_a_changed_notebook_is_shown(course: Path) -> None:
    """Where the graded notebook is another than the recorded one, or none, the message stands alone, without code."""
    record(course, CLASS, {"check_double": [new_output("display_data", data={"text/html": PANEL}), ERROR]})
    path = course / "autograded" / "bob" / LESSON / f"{LESSON}.ipynb"
    assert len(shown(course, "bob").select(".panel, .code")) == 2
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert panels_of(cells_in([path], sha256)) == {"check_double": PANEL} and cells_in([path], "") == []
    path.chmod(0o644)
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    page = shown(course, "bob")
    assert not page.select(".panel, .code") and page.select_one("li.bad pre").get_text() == HALVED.message
    path.unlink()
    assert not shown(course, "bob").select(".panel, .code")


def test_hints_are_rendered() -> None:
    """Code, emphasis and titles of hints become HTML; raw HTML in them does not."""
    first, second = hints(HINTS)
    assert first.title == "A <code>b</code> &amp; c"
    assert first.text.strip() == "<p>Say <code>*x*</code>, <strong>now</strong>.</p>"
    assert "<b>" not in second.text and "raw" in second.text


# Where it goes, and what it refuses


def test_pages_lie_beside_nbgraders_own(course: Path) -> None:
    """A student's page goes into the student's folder of feedback, and nbgrader's page in there stays."""
    record(course, CLASS)
    theirs = course / "feedback" / "ada" / LESSON / f"{LESSON}.html"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("nbgrader's")
    assert "2 pages" not in write_report(course, student="ad?")
    assert theirs.read_text() == "nbgrader's"
    assert [path.name for path in sorted((course / "feedback" / "ada").iterdir())] == [LESSON, "feedback.html"]
    assert [path.name for path in (course / "feedback").iterdir()] == ["ada"]
    assert write_report(course, student="*", output=course / "out").startswith("✓ 5 pages")
    assert sorted(path.name for path in (course / "out").iterdir()) == [f"{student}.html" for student in CLASS]


def test_only_the_owner_can_read_them(course: Path) -> None:
    """Files have the mode 600 and folders 700, also over an earlier page; with groupshared the group may, too."""
    record(course, CLASS)
    for _ in range(2):
        write_report(course)
        write_report(course, student="ada")
        paths = [course / "report.html", course / "feedback" / "ada" / "feedback.html", course / "feedback" / "ada"]
        assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600, 0o700]
        paths[0].chmod(0o644)
    configure(course, "c.CourseDirectory.groupshared = True")
    write_report(course)
    assert (course / "report.html").stat().st_mode & 0o777 == 0o660


def test_a_page_is_written_wholly_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full at the last moment, the earlier page stays, nothing else is left, and the error says so."""
    path = tmp_path / "report.html"
    write(path, MARK + b"first", mode=0o600)
    with monkeypatch.context() as patch, pytest.raises(CourseError, match=r"could not be written \(No space left"):
        patch.setattr(os, "replace", disk_full)
        write(path, MARK + b"second", mode=0o600)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"] and path.read_bytes() == MARK + b"first"
    write(path, MARK + b"second", mode=0o600)
    assert path.read_bytes() == MARK + b"second"


def test_somebody_elses_file_is_not_overwritten(course: Path) -> None:
    """A file that is no page of ours and a place in no folder are refused; a folder that is named is made."""
    (course / "report.html").write_text("my own notes")
    with pytest.raises(CourseError, match="was not made by"):
        write_report(course)
    assert (course / "report.html").read_text() == "my own notes"
    record(course, CLASS)
    for output, message in (
        (course, "was not made by"),
        (course / "nowhere" / "report.html", r"There is no folder .*/nowhere. Make it"),
    ):
        with pytest.raises(CourseError, match=message):
            write_report(course, output=output)
    assert not (course / "nowhere").exists()
    write_report(course, student="ada", output=course / "pages" / "of today")
    assert (course / "pages" / "of today" / "ada.html").is_file()
    assert "new/report.html" in write_report(course, output=course / "new")
    assert (course / "new" / "report.html").is_file() and (course / "new").stat().st_mode & 0o777 == 0o700


def test_only_what_has_begun_is_on_the_page(course: Path) -> None:
    """A lesson that nobody has handed in is there when it is due, or by its name, and in no total before."""
    write_lesson(course, sample_lesson(2), "02_tripling")
    release(course)
    record(course, CLASS)
    assert "and 1 lesson," in write_report(course)
    assert "and 2 lessons," in write_report(course, ["02_tripling", LESSON])
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment("02_tripling", duedate=datetime(2020, 1, 2))
    assert "and 2 lessons," in write_report(course)


def test_who_is_unknown_is_said(course: Path) -> None:
    """Students that the gradebook does not have are refused with those that it has."""
    with pytest.raises(CourseError, match=r"No student's id fits z\*. The gradebook has no students yet."):
        write_report(course, student="z*")
    record(course, CLASS)
    with pytest.raises(CourseError, match=r"No student's id fits z\*. The gradebook has ada, bob, cem, dee, eve."):
        write_report(course, student="z*")


@pytest.mark.parametrize("name", ["../../up", "..", "a/b", ".hidden", "line\nbreak"])
def test_an_id_is_no_path(course: Path, empty: GradebookSnapshot, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A student whose id would lead elsewhere gets no page, and it is said why; it costs the others none."""
    empty = replace(empty, course=read_gradebook(course).course)
    submissions = [graded(name, BOTH_RIGHT)]
    monkeypatch.setattr("autograder.report.write.read_gradebook", lambda _: filled(empty, *submissions))
    before = sorted(course.parent.rglob("*"))
    with pytest.raises(CourseError, match="is no name for a file"):
        write_report(course, student="*")
    assert sorted(course.parent.rglob("*")) == before
    submissions.append(graded("ada", BOTH_RIGHT))
    escaped = name.replace("\n", "\\n")
    said = write_report(course, student="*").splitlines()
    assert said[0] == "✓ " + str(course / "feedback" / "ada" / "feedback.html")
    assert f"No page for `{escaped}`, which is no name for a file. Rename that student's folder." in said
    ours = {course / "feedback", course / "feedback" / "ada", course / "feedback" / "ada" / "feedback.html"}
    assert {*course.parent.rglob("*")} == {*before} | ours


def test_feedback_by_lesson_needs_a_folder(course: Path) -> None:
    """Where nbgrader keeps feedback by lesson and then by student, a folder has to be named, and one is enough."""
    record(course, CLASS)
    configure(course, 'c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"')
    with pytest.raises(CourseError, match="Name a folder for the pages with --output"):
        write_report(course, student="ada")
    write_report(course, student="ada", output=course / "out")
    assert "4 of 4" in (course / "out" / "ada.html").read_text("utf-8")


def test_the_command_says_what_it_wrote(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`autograder report` writes into the course from any folder of it, and ends with 0, in error with 2."""
    record(course, CLASS)
    monkeypatch.chdir(course / "solutions")
    assert "5 students and 1 lesson" in printed(capsys, "report") and (course / "report.html").is_file()
    assert main(["report", "--output", "nowhere/report.html"]) == 2
    assert "The gradebook has no lesson 09_none. It has 01_doubling." in printed(capsys, "report", "09_none", status=2)
    (course / "gradebook.db").unlink()
    assert "There is no gradebook at" in printed(capsys, "report", status=2)


def test_pages_come_with_the_package() -> None:
    """What pyproject.toml packs includes every file of the templates."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folder = ROOT / "autograder" / "report"
    packed = {path for pattern in setuptools["package-data"]["autograder.report"] for path in folder.glob(pattern)}
    assert len(packed) >= 5 and packed == set((folder / "templates").iterdir())
