"""What a student wrote, named, printed or predicted stands on every page as text: parsed as a browser would."""

import copy
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from fuzz.html_of_pages import TEXT, active, parsed
from fuzz.strategies import (
    CHECKS,
    FEW,
    LESSON,
    anything,
    dumped,
    lesson,
    markdown,
    names,
    outputs,
    results,
    sources,
    texts,
)
from hypothesis import example, given
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import markdown2html
from nbgrader.converters import GenerateFeedback
from traitlets.config import Config

from autograder.check import _panel
from autograder.check._errors import CheckFailed, ExerciseName, NotWritten
from autograder.grading.gradebook.reader import GradebookSnapshot, GradedSubmission, Student, read_gradebook
from autograder.grading.gradebook.writer import _page
from autograder.grading.pending import Pending
from autograder.grading.rpc.channel import Lost
from autograder.grading.submission.harmless import harmless
from autograder.grading.submission.reader import SubmittedCell
from autograder.grading.submission.repair import repair
from autograder.grading.worker.outputs import LEAST, MOST_OUTPUTS, SHOWN, Allowance, error_output, outputs_from
from autograder.report.class_page import class_page
from autograder.report.outline import outlines_of
from autograder.report.page import markdown as comment_to_html
from autograder.report.student_page import student_page

FRAME = TEXT | {"html", "head", "body"}
SOURCE = nbformat.from_dict(lesson())
GRADED = {"score": 1.0, "max_score": 4.0, "late_penalty": 0.0, "notebook": "n"}
ENTITY = "&#60;img src=x onerror=alert(1)&#62;"


def require_text(html: str) -> None:
    """There is nothing in it but what Markdown makes of text."""
    assert not active(html, FRAME)


@given(markdown)
@example(f'```mermaid\nflowchart TD\n  a["{ENTITY}"] --> b\n  click b "javascript:alert(1)"\n```')  # was drawn
@example("~~~ \u00a0mermaid\na\n~~~")
def test_markdown_of_a_student_is_text(source: str) -> None:
    """nbconvert makes paragraphs, tables and code of it, and nothing that a browser follows, loads, draws or runs."""
    require_text(markdown2html(harmless(source)))


@given(texts)
def test_a_reason_is_text_in_a_notebook(reason: str) -> None:
    """The page that stands for what could not be graded shows the reason, whatever file it quotes."""
    (cell,) = _page(reason).cells
    require_text(markdown2html(cell.source))


@given(markdown)
def test_a_comment_is_text_on_our_pages(comment: str) -> None:
    """Markdown by hand may hold links, none of which is a program, and pictures."""
    for why in active(str(comment_to_html(comment)), FRAME):
        assert why in ("img", "img src", "img alt") or why.startswith("a href="), why
        target = why.removeprefix("a href=").strip().lower()
        assert not target.startswith(("javascript:", "vbscript:", "data:", "file:"))


@given(st.one_of(st.lists(outputs(), max_size=5), anything), st.integers(0, 300), st.sampled_from([1, 200]))
def test_outputs_are_bounded_and_of_few_kinds(said: Any, size: int, times: int) -> None:
    """What a process says that its cell has put out is refused, or becomes text and true pictures, and not too much."""
    data = dumped(said * times if isinstance(said, list) else said).encode("utf-8", "replace")
    try:
        found = outputs_from(data, Allowance(size))
    except Lost:
        return
    assert len(found) <= min(MOST_OUTPUTS, size // LEAST + 2) + 1
    for output in found:
        assert set(output.get("data", {})) <= set(SHOWN)
        assert all(set(about) == {"alt"} for about in output.get("metadata", {}).values())


# nbgrader's feedback


# What `nbgrader generate_feedback` turns notebooks into HTML with.
exporter = cache(lambda: HTMLExporter(config=GenerateFeedback(config=Config()).config))


def feedback(notebook: nbformat.NotebookNode) -> str:
    """A graded notebook as nbgrader hands it back."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader |= {"score": 1.0, "points": cell.metadata.nbgrader.get("points", 0)}
    resources = {"nbgrader": dict(GRADED), "metadata": {"name": "n"}}
    return exporter().from_notebook_node(notebook, resources=resources)[0]


@cache
def usual() -> Counter[str]:
    """What stands in any such page: nbconvert's own scripts and styles."""
    return active(feedback(repair(SOURCE, []).notebook))


@pytest.mark.filterwarnings("ignore:Your element with mimetype")
@FEW
@given(
    st.lists(st.tuples(st.sampled_from(["code", "markdown"]), st.one_of(markdown, sources), texts), max_size=4),
    markdown,
    st.lists(outputs(), max_size=4),
    st.tuples(texts, texts),
)
@example([("markdown", f"```mermaid\n{ENTITY}\n```", "")], "", [], ("", ""))
def test_nothing_acts_in_the_feedback_of_nbgrader(
    cells: list[tuple[str, str, str]], answer: str, said: list[Any], error: tuple[str, str]
) -> None:
    """Sources, Markdown, answers in words, outputs, pictures' words and errors add nothing to what the page does."""
    own = [SubmittedCell(*cell) for cell in cells]
    notebook = repair(SOURCE, [*own, SubmittedCell("markdown", answer, "explain")]).notebook
    for cell in notebook.cells:
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            try:
                cell.outputs = outputs_from(dumped(said).encode("utf-8", "replace"), Allowance(2000))
            except Lost:
                cell.outputs = [error_output(*error)]
    page = feedback(nbformat.from_dict(json.loads(json.dumps(notebook))))
    found = active(page.encode("utf-8", "replace").decode())
    pictures = Counter({why: count for why, count in found.items() if why in ("img", "img src", "img alt")})
    assert found - pictures == usual() - pictures


# The panel of a failing check


@given(texts, st.lists(texts, max_size=3), st.one_of(st.none(), texts), texts, st.booleans(), texts)
@example("", [], None, "", False, "<svg> double")  # an exercise's number stood there as it was
def test_a_panel_shows_what_an_answer_says_as_text(
    verdict: str, details: list[str], slip: str | None, rule: str, is_unwritten: bool, heading: str
) -> None:
    """The judge's own HTML has no more elements than it means to have, whatever an answer's names and messages are."""
    error = (NotWritten if is_unwritten else CheckFailed)(verdict, details, slip)
    error.rule, error.exercise, error.case = rule, ExerciseName.parse(heading), verdict
    require_text(re.sub("<(/?)[bi]>", r"<\1em>", _panel.html(error)))


# Our pages


@pytest.fixture(scope="module")
def book(small_course: Path) -> GradebookSnapshot:
    """A gradebook in which nothing is graded."""
    return read_gradebook(small_course)


@st.composite
def submissions(draw: st.DrawFn) -> GradedSubmission:
    """A graded submission as the gradebook would have it, with whatever was given by hand."""
    result = draw(results())
    points = st.one_of(st.floats(-5, 5), st.integers(0, 3))
    return GradedSubmission(
        result.student,
        LESSON,
        {check: result.earned.get(check, 0.0) for check in CHECKS},
        by_hand=frozenset(draw(st.sets(st.sampled_from(list(CHECKS))))),
        penalty=abs(draw(points)),
        to_review=frozenset(draw(st.sets(st.sampled_from(list(CHECKS))))),
        submitted=draw(st.one_of(st.none(), st.datetimes())),
        recorded=draw(st.one_of(st.none(), st.datetimes(datetime(2000, 1, 1)))),
        result=draw(st.one_of(st.just(result), st.just(result), st.none())),
        extra=draw(st.dictionaries(st.sampled_from(list(CHECKS)), points)),
        comments=draw(st.dictionaries(st.sampled_from(["double", *CHECKS]), st.one_of(texts, markdown))),
    )


def require_same(page: bytes, plain: bytes, scripts: int) -> None:
    """A page does no more than one on which there is nothing; it holds no letter that no page may hold."""
    found, bare = active(page), active(plain)
    drawn = "svg", "rect", "text", "path", "img"
    quiet = {why for why in found if why.split(" ")[0] in drawn or why.startswith("a href=http")}
    one, other = ({why: count for why, count in each.items() if why not in quiet} for each in (found, bare))
    assert one == other
    soup = parsed(page)
    assert len(soup.find_all("script")) == scripts and len(soup.find_all("style")) == 1
    known = {"class", "viewBox", "role", "aria-label", "aria-hidden", "focusable"}
    assert all(set(svg.attrs) <= known for svg in soup.find_all("svg"))
    assert not any(name.startswith("on") for element in soup.find_all(True) for name in element.attrs)
    assert not set(soup.get_text()) & {*map(chr, range(9)), *map(chr, range(14, 32)), *map(chr, range(127, 160))}


@FEW
@given(st.lists(submissions(), max_size=4), st.lists(names, max_size=2), st.lists(st.tuples(names, names), max_size=1))
def test_nothing_acts_on_our_pages(
    book: GradebookSnapshot, graded: list[GradedSubmission], waiting: list[str], people: list[tuple[str, str]]
) -> None:
    """The class page and every student's are made of any results, names and comments, and escape all of them."""
    students = {submission.student: Student(submission.student) for submission in graded}
    for student, (first, last) in zip(list(students), people, strict=False):
        students[student] = Student(student, first, last)
    full = replace(book, students=students, graded={(each.student, LESSON): each for each in graded})
    outlines, waits = outlines_of(full, []), {(student, LESSON): Pending(student, LESSON) for student in waiting}
    require_same(class_page(full, outlines, waits), class_page(book, outlines), scripts=1)
    for student in {*students, *waiting}:
        require_same(student_page(full, outlines, student, waits), student_page(book, outlines, "ada"), scripts=0)
