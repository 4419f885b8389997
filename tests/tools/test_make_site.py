"""The site shows all of the course and none of its answers, is whole without a network, and is for everybody."""

import re
from pathlib import Path
from urllib.parse import unquote

import make_site
import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, expect
from support.accessibility import violations
from support.browser import window
from support.classroom import LESSONS, ROOT, classroom

from autograder.course.lint import PROGRESS
from autograder.stub import code_lines, regions

SHORT = 12  # letters: what any text may hold
LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


@pytest.fixture(scope="module", autouse=True)  # before the browser is there
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made once."""
    folder = tmp_path_factory.mktemp("made") / "site"
    make_site.write(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, BeautifulSoup]:
    """Its pages, read."""
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in site.rglob("*.html")}


def test_no_answer_and_no_hidden_test_is_in_it(site: Path, pages: dict[Path, BeautifulSoup]) -> None:
    """No line of a solution or a hidden test stands on a page or in what is searched, unless students are given it."""
    text = "\n".join([*(page.get_text() for page in pages.values()), (site / "search.js").read_text(encoding="utf-8")])
    notebooks = (nbformat.read(path, as_version=4) for path in (ROOT / "notebooks").glob("*/*.ipynb"))
    given = "\n".join(cell.source for notebook in notebooks for cell in notebook.cells)
    hidden = {
        line.strip()
        for room in map(classroom, LESSONS)
        for cell in room.cells
        for kind in ("SOLUTION", "HIDDEN TESTS")
        for region in regions(cell.source, kind)
        for line in code_lines(region)
    }
    assert len(hidden) > 50 * len(LESSONS)
    assert [line for line in hidden if len(line) > SHORT and line in text and line not in given] == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_all_there(pages: dict[Path, BeautifulSoup], site: Path, lesson: str) -> None:
    """Its page has every exercise, every figure of its given cells with its words, and the checks folded."""
    page, room = pages[site / f"{lesson}.html"], classroom(lesson)
    assert len(page.find_all(string=re.compile(r"^Exercise \d+\.\d+ · "))) >= len(room.stubs)
    drawn = [
        output.metadata["image/png"]["alt"]
        for cell in room.given
        if cell.id != PROGRESS
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert [image["alt"] for image in page.find_all("img", class_="figure")] == drawn != []
    assert len(page.select(".answer")) == len(room.stubs)
    folded = [summary.get_text() for summary in page.select("details.folded > summary")]
    assert sum(title.startswith("Check ") for title in folded) == len(room.checks)


def test_every_link_and_every_anchor_holds(pages: dict[Path, BeautifulSoup]) -> None:
    """What a page links to is there, down to the heading; no two elements of a page have one id."""
    ids = {path: [tag["id"] for tag in page.find_all(id=True)] for path, page in pages.items()}
    assert not [path for path, names in ids.items() if len(names) != len(set(names))]
    for path, page in pages.items():
        for link in page.find_all("a"):
            target, _, anchor = unquote(link["href"]).partition("#")
            if target.startswith(("https://", "http://")):
                continue
            found = (path.parent / target).resolve() if target else path
            assert found.is_file() and (not anchor or anchor in ids[found]), f"{path.name}: {link['href']}"


def test_nothing_comes_from_elsewhere(pages: dict[Path, BeautifulSoup], site: Path) -> None:
    """All that a page loads lies in the site's folder, and neither script nor style names an address."""
    for path, page in pages.items():
        for tag in page.find_all(list(LOADING)):
            assert (path.parent / unquote(tag[LOADING[tag.name]])).is_file(), f"{path.name}: {tag}"
        assert not page.find_all(["base", "embed", "form"]) and "url(" not in str(page.find_all(style=True))
    assert not re.search(
        r"https?:|url\(|@import|fetch\(", (site / "site.js").read_text() + (site / "site.css").read_text()
    )


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", LESSONS[1]])
def test_nothing_is_wrong_with_a_page(browser: Browser, site: Path, name: str, scheme: str, width: int) -> None:
    """Opened from its folder a page breaks no rule of WCAG 2.2 AA, asks for nothing elsewhere, and shows no error."""
    with window(browser, "site", width=width) as seen:
        seen.page.emulate_media(color_scheme=scheme)
        seen.page.goto((site / f"{name}.html").as_uri())
        seen.picture(f"{name}-{scheme}-{width}")
        found = violations(seen.page)
    assert not found and not seen.errors and not seen.outside, "\n".join(found)


def test_it_can_be_searched(browser: Browser, site: Path) -> None:
    """Words lead to the heading that they stand under, from any page, without a server."""
    with window(browser, "site") as seen:
        seen.page.goto((site / "docs" / "guide.html").as_uri())
        seen.page.get_by_role("searchbox").fill("why divide")
        expect(seen.page.get_by_role("status")).to_contain_text("found")
        seen.page.locator(".found a").first.click()
        expect(seen.page.locator(":target")).to_have_text("Why divide by √d_k")
        assert not seen.errors
