"""The class page in Chromium: its links lead where they say, and nothing of it is cut off."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.accessibility import OPEN_ALL
from support.browser import window
from support.invented_class import invented_class

from autograder.grading.gradebook.reader import read_gradebook
from autograder.report.class_page import class_page
from autograder.report.outline import outlines_of

STUDENTS = 40
BELOW = 40  # pixels between the top of the window and what a link leads to
WIDTHS = "heads => heads.map(head => head.getBoundingClientRect().width)"
LINKS = "main a[href^='#'], nav a"
# Runs in the page: follows each link, and says how far below the top it led, and whether the page ends there.
FOLLOW_ALL = """links => links.map(link => {
    link.click();
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const page = document.documentElement, atEnd = scrollY + innerHeight >= page.scrollHeight - 1;
    const sticky = Array.from(document.querySelectorAll("thead th"))
        .filter(th => getComputedStyle(th).position == "sticky").map(th => th.getBoundingClientRect())
        .filter(box => box.top <= 0 && box.bottom > 0);
    const head = Math.max(0, ...sticky.map(box => box.bottom));
    return [link.hash, Math.round(target.getBoundingClientRect().top - head), atEnd];
})"""


@pytest.fixture(scope="module", autouse=True)  # before the browser is there
def page(small_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a class in which all lessons have mistakes, hardest checks, and who could not be graded."""
    book = invented_class(read_gradebook(small_course), STUDENTS)
    path = tmp_path_factory.mktemp("page") / "class.html"
    path.write_bytes(class_page(book, outlines_of(book, [])))
    return path


@pytest.mark.parametrize("is_open", [False, True], ids=["folded", "open"])
@pytest.mark.parametrize("width", [1280, 390])
def test_links_lead_to_the_top_of_their_target(browser: Browser, page: Path, width: int, is_open: bool) -> None:
    """Each link within the page, in what is folded too, brings its target just below the window's top."""
    with window(browser, "links", width=width) as seen:
        seen.page.goto(page.as_uri())
        if is_open:
            seen.page.evaluate(OPEN_ALL)
        followed = seen.page.locator(LINKS).evaluate_all(FOLLOW_ALL)
        assert len(followed) > 100 and not seen.errors
        astray = [(target, top) for target, top, at_end in followed if not (0 <= top <= BELOW or (at_end and top > 0))]
        assert not astray


@pytest.mark.parametrize("width", [1280, 360])
def test_words_in_a_table_have_room(browser: Browser, page: Path, width: int) -> None:
    """Columns of words are wide enough for them: no row is high because one of its cells is a letter wide."""
    with window(browser, "words", width=width) as seen:
        seen.page.goto(page.as_uri())
        seen.page.evaluate(OPEN_ALL)
        assert len(widths := seen.page.locator("th.words").evaluate_all(WIDTHS)) > 10
        assert min(widths) >= 11 * 16


def test_a_link_from_elsewhere_leads_there_too(browser: Browser, page: Path) -> None:
    """An address with an exercise's anchor opens the page at that exercise, and a click on a link by mouse as well."""
    with window(browser, "links") as seen:
        seen.page.goto(f"{page.as_uri()}#02_multi_head_attention-split_heads")
        assert 0 <= seen.page.locator("[id='02_multi_head_attention-split_heads']").bounding_box()["y"] <= BELOW
        seen.page.locator("ol.top summary").first.click()
        link = seen.page.locator("ol.top a").first
        target = seen.page.locator(f"[id='{link.get_attribute('href')[1:]}']")
        link.click()
        seen.page.wait_for_timeout(100)
        assert 0 <= target.bounding_box()["y"] <= BELOW
