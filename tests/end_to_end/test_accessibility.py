"""Whoever cannot see, has no mouse, or reads on a phone can use our pages: axe-core finds nothing on them."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import gallery
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser
from rich.console import Console
from support.accessibility import violations
from support.browser import window
from support.classroom import LESSONS
from support.drawn import some_of
from support.sample_lesson import ROOT

from autograder.demo import sample_class
from autograder.demo.students import class_work
from autograder.grading.grade import grade
from autograder.grading.jobs import Job
from autograder.grading.options import GradeOptions
from autograder.grading.results import Limits
from autograder.leaderboard.entries import Entry
from autograder.leaderboard.page import Standing, board_page
from autograder.report.write import write_report
from autograder.similar.write import similar

NAME = "01_attention"
PAGES = "class", "typical", "similar", "leaderboard", "gallery"
WIDTHS = {"desktop": 1280, "phone": 390}
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]
# The colours of code and of prompts, links without a line, and what scrolls are nbconvert's, not the lesson's.
WITHOUT = (".highlight", ".prompt", ".jp-InputPrompt")
OFF = ("link-in-text-block", "scrollable-region-focusable")
NO_WORDS = "[alt=''], [alt*='No description']"  # the second is nbconvert's where there are none
BAD = """<!DOCTYPE html><title>Bad</title><div style="width: 2000px">Wide.</div>
<p style="color: #999">Pale.</p><img src="data:,"><details><summary>More</summary><input></details>"""


@pytest.fixture(scope="module", autouse=True)  # before the browser is there
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the gallery and the pages about a class in which all that can happen has happened."""
    folder = tmp_path_factory.mktemp("pages")
    course = folder / "course"
    lesson = sample_class.make_course(ROOT, course, [NAME])[NAME]
    work = class_work(lesson, sample_class.released_notebook(course, NAME))
    for cell in work["typical"].cells:
        if cell.id.startswith("predict_"):
            cell.source = cell.source.replace('""', '"2"')
    for student, notebook in work.items():
        sample_class.hand_in(course, student, NAME, notebook)
    unreadable = course / "submitted" / "unreadable" / NAME / f"{NAME}.ipynb"
    unreadable.parent.mkdir(parents=True)
    unreadable.touch()
    assert grade(course, GradeOptions(), Console(quiet=True)) == 1
    sample_class.hand_in(course, "late", NAME, work["perfect"])
    with sample_class.open_gradebook(course) as gradebook:
        gradebook.find_comment("causal_mask", NAME, NAME, "typical").manual_comment = "Look at [1](#x) `once` more."
        gradebook.db.commit()
    write_report(course, student="typical", output=folder)
    write_report(course, student="*")
    sample_class.nbgrader(course, "generate_feedback", NAME, "--student=perfect")
    write_report(course, output=folder / "class.html")
    for number in range(30):  # of whom the first two share what no other has
        notebook, mine = copy.deepcopy(work["typical"]), max(1, number)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source += f"\n\n# kept for later, {mine} of these\nrest_{mine} = {mine + 0.5}"
        sample_class.hand_in(course, f"s{number:02}", NAME, notebook)
    similar(course, NAME, Console(quiet=True), output=folder / "similar.html")
    own = Entry("", "the lesson's own", "class Entry: pass", Job("", NAME, b"", b"", Limits()))
    better = replace(own, student="ada", nickname="Ada", code="class Entry: ...")
    curves = [(3.0, 4.0), (40.0, 3.1)], [(2.0, 5.0), (20.0, 3.2)]
    standings = [*map(Standing, (better, own), curves), Standing(replace(own, student="bob"), [], "`Entry` fails.")]
    (folder / "leaderboard.html").write_bytes(board_page("course", NAME, standings, 60.0))
    (folder / "gallery.html").write_text(gallery.page(), encoding="utf-8")
    return folder


def test_what_is_wrong_is_found(browser: Browser) -> None:
    """Pale text, a picture without words, a small field without a name that was folded, and a page that is too wide."""
    with window(browser, "accessibility", width=WIDTHS["phone"]) as seen:
        seen.page.set_content(BAD)
        found = violations(seen.page)
    broken = [text.partition(":")[0] for text in found]
    assert broken == ["color-contrast", "html-has-lang", "image-alt", "label", "target-size", "reflow"]
    assert '<p style="color: #999">Pale.</p>' in found[0]


def looks(page: str) -> Sequence[tuple[str, str]]:
    """How a page is looked at: in each way, on a push in one."""
    return some_of(LOOKS, page, one_in=1, on_a_push=len(LOOKS))


@pytest.mark.parametrize(("name", "scheme", "width"), [(name, *look) for name in PAGES for look in looks(name)])
def test_nothing_is_wrong_with_a_page(browser: Browser, pages: Path, name: str, scheme: str, width: str) -> None:
    """The gallery and the pages of a class, a student and more break no rule of WCAG 2.2 AA, in any look."""
    with window(browser, "accessibility", width=WIDTHS[width]) as seen:
        seen.page.emulate_media(color_scheme=scheme)
        seen.page.goto((pages / f"{name}.html").as_uri())
        if name == "gallery":
            seen.page.get_by_label("dark page").set_checked(scheme == "dark")
        found = violations(seen.page)
        seen.picture(f"{name}-{scheme}-{width}")
    assert not found, "\n".join(found)


def rendered(notebook: Path, folder: Path, **options: str) -> str:
    """Write a notebook as a page, and return its address."""
    page = folder / "lesson.html"
    page.write_text(HTMLExporter(**options).from_filename(str(notebook))[0], encoding="utf-8")
    return page.as_uri()


@pytest.mark.parametrize(("scheme", "width"), looks("failing checks"))
def test_nothing_is_wrong_with_failing_checks(
    browser: Browser, pages: Path, scheme: str, width: str, tmp_path: Path
) -> None:
    """A lesson in which checks have failed, as JupyterLab looks: neither panels nor tables nor texts break a rule."""
    notebook = pages / "course" / "autograded" / "typical" / NAME / f"{NAME}.ipynb"
    with window(browser, "accessibility", width=WIDTHS[width]) as seen:
        seen.page.goto(rendered(notebook, tmp_path, theme=scheme))
        assert seen.page.get_by_role("group", name="Failing check").count() > 2
        found = violations(seen.page, WITHOUT, OFF)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", some_of(LESSONS, "a lesson's page", one_in=1, on_a_push=3))
def test_nothing_is_wrong_with_a_lesson(browser: Browser, name: str, tmp_path: Path) -> None:
    """No lesson breaks a rule, and all figures have their words where a template keeps them, as nbgrader's does."""
    notebook = ROOT / "solutions" / name / f"{name}.ipynb"
    with window(browser, "accessibility") as seen:
        seen.page.goto(rendered(notebook, tmp_path, template_name="classic"))
        found = violations(seen.page, WITHOUT, OFF)
        figures = seen.page.locator("img[src^='data:']")
        assert figures.count() and not figures.and_(seen.page.locator(NO_WORDS)).count()
    assert not found, "\n".join(found)
