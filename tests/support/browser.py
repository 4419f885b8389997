"""A Chromium that looks at JupyterLab as a person does, and pictures of what there is to see."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect, sync_playwright
from support.jupyter import PATIENCE, Server, tail
from support.sample_lesson import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CLIPBOARD = ["clipboard-read", "clipboard-write"]
NO_CHROMIUM = (
    "The tests need Chromium or Chrome, and none is on PATH. "
    "On Debian: apt-get install chromium. (`make test` does it where it may.)"
)

# Runs in the page: the texts in an element that stand out too little, or do not fit, as far as WCAG's formula knows.
HARD_TO_READ = """element => {
    const parsed = colour => colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((each, i) => each * a + below[i] * (1 - a));
    const behind = node => {
        if (!node) return [255, 255, 255];
        const colour = parsed(getComputedStyle(node).backgroundColor);
        return colour[3] === undefined ? colour : over(colour, behind(node.parentElement));
    };
    const light = colour => colour.map(each => each / 255)
        .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
    const found = [], texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const node = texts.currentNode.parentElement, background = behind(node);
        if (!texts.currentNode.data.trim()) continue;
        const both = [light(over(parsed(getComputedStyle(node).color), background)), light(background)];
        const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(1)}: ${texts.currentNode.data}`);
        if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 1) found.push(`cut off: ${node.textContent}`);
    }
    return found;
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a Chromium without a window, the one that is installed."""
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not program:
        pytest.fail(NO_CHROMIUM)
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, timeout=PATIENCE * 1000)
        yield browser
        browser.close()


@dataclass
class Window:
    """A browser window, and what happened in it that nobody sees."""

    page: Page  # playwright's page
    name: str  # what its screenshots begin with
    errors: list[str] = field(default_factory=list)  # what scripts complained about
    # the hosts that were asked for something, this machine excepted; none of them was reached
    outside: set[str] = field(default_factory=set)

    def picture(self, what: str) -> Path:
        """Keep a screenshot of the window as it is now."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{self.name}-{what}.png"
        self.page.screenshot(path=path, animations="disabled", timeout=PATIENCE * 1000)
        return path


@contextmanager
def window(browser: Browser, name: str, server: Server | None = None, width: int = 1280) -> Iterator[Window]:
    """Open a window that reaches this machine only; when a test fails in it, say what was to be seen and heard."""
    context = browser.new_context(viewport={"width": width, "height": 1000}, permissions=CLIPBOARD)
    context.set_default_timeout(PATIENCE * 1000)
    opened = Window(context.new_page(), name)

    def stay_here(route: Route) -> None:
        host = urlsplit(route.request.url).hostname
        if host in (None, "127.0.0.1"):
            route.continue_()
        else:
            opened.outside.add(host)
            route.abort()

    context.route("**/*", stay_here)
    opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.page.on("console", lambda said: opened.errors.append(said.text) if said.type == "error" else None)
    try:
        yield opened
    except Exception as error:
        with contextlib.suppress(Exception):  # whatever is wrong with the window, the test's own error counts
            error.add_note(f"What was to be seen: {opened.picture('failed')}")
        error.add_note("\n".join(["Errors in the browser:", *(opened.errors or ["none"])]))
        if server:
            error.add_note(f"The server said last:\n{tail(server.log)}")
        raise
    finally:
        context.close()


def menu(page: Page, first: str, *items: str) -> None:
    """Click through JupyterLab's menus."""
    page.locator("#jp-MainMenu").get_by_text(first, exact=True).click()
    for item in items:
        page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()


class Notebook:
    """A notebook in JupyterLab, used as people do: click, type, paste, and read what stands there.

    Args:
        window: where it is to be opened.
        server: whose notebook it is.
        path: the file, from the course's folder.
    """

    def __init__(self, window: Window, server: Server, path: str) -> None:
        self.page, self.file = window.page, server.course / path
        self.ids = [cell.id for cell in nbformat.read(self.file, as_version=4).cells]
        self.page.goto(server.address(f"/lab/tree/{path}"))
        expect(self.page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(self.ids))
        expect(self.page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle")

    def cell(self, name: str) -> Locator:
        """The cell with this id."""
        return self.page.locator(f'.jp-Cell[data-windowed-list-index="{self.ids.index(name)}"]')

    def source(self, name: str) -> Locator:
        """Where a cell's source is edited."""
        return self.cell(name).locator(".cm-content")

    def output(self, name: str) -> Locator:
        """Where a cell's output appears."""
        return self.cell(name).locator(".jp-Cell-outputWrapper")

    def write(self, name: str, source: str) -> None:
        """Replace all of a cell by pasting."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", source)
        self.source(name).click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.press("ControlOrMeta+v")
        expect(self.source(name).locator(".cm-line")).to_have_text(source.split("\n"))

    def select(self, name: str) -> None:
        """Click into a cell; at the edge of one whose source is folded, since a click into it would open it.

        Cells above may still grow, and the click then meets another one.
        """
        for _ in range(10):
            if self.cell(name).locator(".jp-InputPlaceholder").count():
                self.cell(name).click(position={"x": 2, "y": 2})
            else:
                self.source(name).click()
            if "jp-mod-active" in str(self.cell(name).get_attribute("class")):
                return
        pytest.fail(f"The cell {name} cannot be selected.")

    def run(self, name: str) -> Locator:
        """Run a cell, wait until it has ended, and return its output."""
        self.select(name)
        self.page.keyboard.press("Control+Enter")
        prompt = self.cell(name).locator(".jp-InputArea-prompt")
        if prompt.count():
            expect(prompt).to_have_text(re.compile(r"\[\d+\]:"))
        self.page.wait_for_timeout(200)  # the kernel has begun by then
        expect(self.page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute("data-status", "idle")
        return self.output(name)

    def save(self) -> nbformat.NotebookNode:
        """Save, and return what is on the disk then."""
        self.page.keyboard.press("ControlOrMeta+s")
        expect(self.page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
        return nbformat.read(self.file, as_version=4)

    def choose_theme(self, name: str) -> None:
        """Choose a theme in the menu Settings."""
        menu(self.page, "Settings", "Theme", name)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", name)
