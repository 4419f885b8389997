"""JupyterLab, nbgrader and the class page do in a real browser what students and instructors are promised."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Browser, expect
from support.browser import HARD_TO_READ, SCREENSHOTS, Notebook, menu, window
from support.jupyter import Server, jupyter_lab
from support.sample_lesson import ROOT

from autograder.course.config import read_notebook
from autograder.course.lesson import Lesson
from autograder.demo import sample_class
from autograder.demo.students import STUDENTS, TYPICAL, answer, class_work, solved

NAME = "01_attention"
LESSON = Lesson(NAME, read_notebook(ROOT / "solutions" / NAME / f"{NAME}.ipynb"))
STUDENTS_FILE = f"notebooks/{NAME}/{NAME}.ipynb"
EXERCISE = "scaled_dot_product_attention"
CHECK = f"check_{EXERCISE}_values"
PANEL = f"Failing check 1.2 {EXERCISE}"
RIGHT = solved(LESSON.exercises)[EXERCISE]
SLIP = "the scores are not divided by √d_k"
WRONG = answer(next(each.answer.source for each in LESSON.exercises if each.name == EXERCISE), TYPICAL[EXERCISE])
COLAB = "colab.research.google.com"  # whose badge stands in every lesson


@pytest.fixture(scope="module", autouse=True)  # before the browser is there
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of lesson 1 in which the demo's students have handed in, nothing graded yet."""
    folder = tmp_path_factory.mktemp("template") / "course"
    sample_class.make_course(ROOT, folder, [NAME])
    for student, notebook in class_work(LESSON, sample_class.released_notebook(folder, NAME)).items():
        sample_class.hand_in(folder, student, NAME, notebook)
    return folder


@pytest.fixture
def server(template: Path, tmp_path: Path) -> Iterator[Server]:
    """JupyterLab in a course of the test's own."""
    course = shutil.copytree(template, tmp_path / "course")
    with jupyter_lab(course, tmp_path / "home") as server:
        yield server


def test_a_student_is_told_the_slip_and_then_that_it_is_right(browser: Browser, server: Server) -> None:
    """Untouched, the check says that there is no answer; a wrong answer's slip is named; a right one gets its ✓."""
    handed_out = read_notebook(server.course / STUDENTS_FILE)
    with window(browser, "student", server) as seen:
        notebook = Notebook(seen, server, STUDENTS_FILE)
        seen.picture("1-opened")
        expect(notebook.run("setup")).to_contain_text("Ready: PyTorch")

        notebook.run(EXERCISE)
        expect(notebook.run(CHECK)).to_contain_text(f"✗ {EXERCISE} is not written yet.")
        seen.picture("2-not-written")

        notebook.write(EXERCISE, WRONG)
        notebook.run(EXERCISE)
        expect(notebook.run(CHECK)).to_contain_text(SLIP)
        panel = notebook.output(CHECK).get_by_role("group", name=PANEL)
        expect(panel).to_contain_text("✗ weights has the wrong values.")
        panel.scroll_into_view_if_needed()
        expect(panel.get_by_role("table", name="expected")).to_be_in_viewport()
        expect(panel.get_by_role("table", name="got")).to_be_in_viewport()
        seen.picture("3-slip")

        notebook.write(EXERCISE, RIGHT)
        notebook.run(EXERCISE)
        output = notebook.run(CHECK)
        expect(output).to_contain_text(f"✓ 1.2 {EXERCISE}: weights and output are those of equation 1.")
        expect(output).not_to_contain_text("✗")
        seen.picture("4-right")

        saved = notebook.save()
        assert seen.outside <= {COLAB}
    sources = {cell.id: cell.source for cell in handed_out.cells} | {EXERCISE: RIGHT}
    assert {cell.id: cell.source for cell in saved.cells} == sources
    assert [cell.metadata for cell in saved.cells] == [cell.metadata for cell in handed_out.cells]


def test_the_panel_can_be_read_in_both_themes(browser: Browser, server: Server) -> None:
    """Of numbers and of a mask, in light and in dark, all texts have WCAG's contrast of 4.5, and none is cut off."""
    shutil.copy(server.course / "submitted" / "typical" / NAME / f"{NAME}.ipynb", server.course / STUDENTS_FILE)
    with window(browser, "panel", server) as seen:
        notebook = Notebook(seen, server, STUDENTS_FILE)
        expect(notebook.run("setup")).to_contain_text("Ready: PyTorch")
        for exercise in (EXERCISE, "causal_mask"):
            notebook.run(exercise)
            notebook.run(f"check_{exercise}_values")
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            notebook.choose_theme(theme)
            for exercise in (EXERCISE, "causal_mask"):
                panel = notebook.output(f"check_{exercise}_values").get_by_role("group")
                panel.scroll_into_view_if_needed()
                seen.picture(f"{exercise}-{theme.split()[-1].lower()}")
                assert panel.evaluate(HARD_TO_READ) == []


def test_validate_says_what_the_checks_say(browser: Browser, server: Server) -> None:
    """The button Validate runs the notebook from start to end and shows what each failing check says."""
    shutil.copy(server.course / "submitted" / "typical" / NAME / f"{NAME}.ipynb", server.course / STUDENTS_FILE)
    with window(browser, "validate", server) as seen:
        Notebook(seen, server, STUDENTS_FILE)
        seen.page.get_by_role("button", name="Validate").click()
        results = seen.page.get_by_role("dialog").filter(has_text="Validation Results")
        for verdict in ("✗ `weights` has the wrong values.", "✗ `causal_mask(4)` has the wrong values."):
            expect(results).to_contain_text(verdict)
        seen.picture("results")


def test_formgrader_grades_with_our_engine(browser: Browser, server: Server) -> None:
    """An instructor finds what was handed in, grades it with a click, reads the verdicts and leaves a comment."""
    checks = {check.id: check.points for exercise in LESSON.exercises for check in exercise.checks}
    lost = {f"check_{each.name}_values" for each in LESSON.exercises if each.name in TYPICAL}
    score = sum(points for check, points in checks.items() if check not in lost)
    path = server.course / "submitted" / "typical" / NAME / f"{NAME}.ipynb"
    asking = read_notebook(path)
    asking.cells.append(new_markdown_cell("Regrade 1.2: the scores need no root."))
    nbformat.write(asking, path)
    with window(browser, "formgrader", server, width=1600) as seen:
        seen.page.goto(server.address("/lab"))
        menu(seen.page, "Nbgrader", "Formgrader")
        form = seen.page.frame_locator("iframe[src*=formgrader]")
        assignment = form.get_by_role("row").filter(has_text=NAME)
        expect(assignment.locator(".num-submissions")).to_have_text(str(len(STUDENTS)))
        seen.picture("1-assignments")

        assignment.locator(".num-submissions a").click()
        submitted = form.get_by_role("row").filter(has_text="typical")
        expect(submitted.locator(".status")).to_have_text("needs autograding")
        seen.picture("2-submissions")
        submitted.locator(".autograde a").click()
        report = form.locator("#success-modal, #error-modal")
        expect(report).to_contain_text(f"Successfully autograded '{NAME}' for student 'typical'.")
        expect(report).to_contain_text("Applying preprocessor: Run")
        expect(report).to_have_css("opacity", "1")
        seen.picture("3-autograded")
        report.get_by_text("OK", exact=True).click()
        expect(form.locator(".modal-backdrop")).to_have_count(0)
        expect(submitted.locator(".status")).to_have_text("graded")
        expect(submitted.locator(".score")).to_have_text(f"{score:g} / {sum(checks.values()):g}")
        seen.picture("4-graded")
        autograder(server.course, "grade", NAME)
        assert open_requests(server.course) == ["the scores need no root."]

        submitted.locator(".student-name a").click()
        form.get_by_role("link", name=NAME, exact=True).last.click()
        for check, points in checks.items():
            expect(form.locator(f"input#{check}")).to_have_attribute(
                "placeholder", "0" if check in lost else f"{points:g}"
            )
        verdict = form.get_by_text(SLIP)
        verdict.scroll_into_view_if_needed()
        seen.picture("5-submission")
        comment = form.locator(f"textarea#{EXERCISE}-comment")
        with seen.page.expect_response(lambda response: "/api/comment/" in response.url and response.ok):
            comment.fill("Look at equation 1 once more.")
            comment.blur()
        seen.picture("6-comment")
        assert not open_requests(server.course)

        said = autograder(server.course, "comments", NAME, EXERCISE)
        assert said == f"{EXERCISE} 1, 1×: Look at equation 1 once more.\n"
        autograder(server.course, "comments", NAME, EXERCISE, "--give", "1", "half-done")
        with sample_class.open_gradebook(server.course) as gradebook:
            other = gradebook.find_submission_notebook(NAME, NAME, "half-done").id
        seen.page.goto(server.address(f"/formgrader/submissions/{other}/"))
        expect(seen.page.locator(f"textarea#{EXERCISE}-comment")).to_have_value("Look at equation 1 once more.")
    with sample_class.open_gradebook(server.course) as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, "typical")
        assert notebook.score == score
        assert gradebook.find_comment(EXERCISE, NAME, NAME, "typical").comment == "Look at equation 1 once more."
    graded = read_notebook(server.course / "autograded" / "typical" / NAME / f"{NAME}.ipynb")
    assert "autograder" in graded.metadata


def autograder(course: Path, *words: str) -> str:
    """Run a command, and return what it says."""
    command = [sys.executable, "-m", "autograder.cli", *words]
    done = subprocess.run(command, cwd=course, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def open_requests(course: Path) -> list[str]:
    """What students ask to be looked at again, as `autograder status` has it."""
    (lesson,) = json.loads(autograder(course, "status", NAME, "--json"))["lessons"]
    return [one["words"] for one in lesson["requests"] if one["is_open"]]


def test_the_class_page_sorts_filters_and_prints(browser: Browser, template: Path, tmp_path: Path) -> None:
    """The page that `autograder report` writes needs nothing but its file, complains of nothing, and can be printed."""
    course = shutil.copytree(template, tmp_path / "course")
    autograder(course, "grade")
    autograder(course, "report")
    address = (course / "report.html").as_uri()
    with window(browser, "class") as seen:
        asked = []
        seen.page.on("request", lambda request: asked.append(request.url))
        seen.page.goto(address)
        seen.picture("1-page")
        table = seen.page.locator("table").filter(has=seen.page.get_by_role("button", name="Total"))
        names = table.locator("tbody th:visible")
        points = table.locator("tbody tr td:nth-last-child(2)")
        expect(names).to_have_text(sorted(STUDENTS))

        total = table.get_by_role("columnheader", name="Total")
        for order in ("descending", "ascending"):
            total.get_by_role("button").click()
            expect(total).to_have_attribute("aria-sort", order)
            shown = [float(text) for text in points.all_inner_texts()]
            assert shown == sorted(shown, reverse=order == "descending")
            assert len(set(shown)) > 2
        seen.picture("2-sorted")

        seen.page.get_by_label("Filter by name").fill("half")
        expect(names).to_have_text(["half-done"])
        expect(seen.page.get_by_role("status")).to_have_text(f"1 of {len(STUDENTS)} students")
        seen.picture("3-filtered")
        seen.page.get_by_label("Filter by name").fill("")
        expect(names).to_have_count(len(STUDENTS))

        seen.page.emulate_media(color_scheme="dark")
        seen.picture("4-dark")
        assert seen.page.locator("body").evaluate(HARD_TO_READ) == []
        seen.page.emulate_media(color_scheme="light")
        assert seen.page.locator("body").evaluate(HARD_TO_READ) == []
        printed = seen.page.pdf(path=SCREENSHOTS / "class.pdf", format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 1
        assert (asked, seen.errors) == ([address], [])
