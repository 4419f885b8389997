"""A hostile hand-in is looked at in a real browser: on no page of nbgrader's or of ours does anything of it run."""

import shutil
from pathlib import Path

import pytest
from attacks.active_content import PAST_FILTERS
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Browser, Page
from support.browser import window
from support.gradebook import LESSON
from support.jupyter import jupyter_lab
from support.sample_lesson import cell, make_course

from autograder import cli
from autograder.demo import sample_class

EVIL = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'><svg onload='window.ran = 1'></svg>"
ANSWER = f"""{PAST_FILTERS}
for kind in ("text/html", "text/markdown", "text/latex", "image/svg+xml", "application/javascript"):
    show(kind, evil)
show("image/png", png, {{"width": "1 onerror=window.ran=1", "alt": "' onerror='window.ran=1"}})
print(evil)

def double(x):
    raise ValueError(evil)
"""
MARKDOWN = rf"""# {EVIL}

{EVIL} [a](javascript:window.ran=1) [b](java&#115;cript:window.ran=1) ![c](javascript:window.ran=1) [d] [e][d]
<a href="javascript:window.ran=1">f</a> $\href{{javascript:window.ran=1}}{{g}}$

[d]: javascript:window.ran=1

| h |
|---|
| {EVIL} |
"""
ACTIVE = """() => [
    ...document.querySelectorAll("a[href^='javascript:' i], a[href^='java'], img[onerror], svg[onload]"),
].map(node => node.outerHTML)"""


@pytest.fixture(scope="module", autouse=True)  # before the browser is there
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which one student has handed in what a browser could run, graded, with all pages."""
    root, folder = (tmp_path_factory.mktemp("hostile") / name for name in ("root", "course"))
    sample_class.make_course(make_course(root), folder)
    notebook = sample_class.released_notebook(folder, LESSON)
    cell(notebook, "double").source = ANSWER
    cell(notebook, "predict_length").source = f'predicted_length = "{EVIL[:60]}"'
    notebook.cells.insert(3, new_markdown_cell(MARKDOWN))
    sample_class.hand_in(folder, "eve", LESSON, notebook)
    sample_class.grade(folder, [LESSON])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(["report"]) == cli.main(["report", "--student", "*"]) == 0
    return folder


def require_nothing_ran(page: Page) -> None:
    page.wait_for_timeout(500)
    assert page.evaluate(ACTIVE) == []
    assert page.evaluate("window.ran") is None


def test_nothing_runs_on_the_pages_that_are_files(browser: Browser, course: Path) -> None:
    """nbgrader's feedback, the student's page and the class page show it as text."""
    pages = [*course.glob("feedback/eve/**/*.html"), course / "report.html"]
    assert {page.name for page in pages} == {f"{LESSON}.html", "feedback.html", "report.html"}
    for path in pages:
        with window(browser, f"hostile-{path.stem}") as seen:
            seen.page.goto(path.as_uri())
            require_nothing_ran(seen.page)
            seen.picture("page")
    assert "window.ran" in (course / "feedback" / "eve" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")


def test_nothing_runs_in_formgrader(browser: Browser, course: Path, tmp_path: Path) -> None:
    """Neither does the notebook as an instructor opens it to grade by hand."""
    with sample_class.open_gradebook(course) as gradebook:
        submission = gradebook.find_submission_notebook(LESSON, LESSON, "eve").id
    own = shutil.copytree(course, tmp_path / "course")
    with jupyter_lab(own, tmp_path / "home") as server, window(browser, "hostile-formgrader", server) as seen:
        seen.page.goto(server.address(f"/formgrader/submissions/{submission}/"))
        seen.page.get_by_text("window.ran").first.wait_for()
        require_nothing_ran(seen.page)
        seen.picture("page")
