"""axe-core, which looks at a page in Chromium for what keeps somebody from reading or using it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page

AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE = "The tests need axe-core, and it is not there. `make browser` gets it with npm."
WCAG_2_2_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
EXAMPLES = 5  # elements shown of those that break one rule

OPEN_ALL = (
    "document.querySelectorAll('details').forEach(details => { details.open = true; })"  # axe passes over the rest
)
RUN = """async ([tags, without, off]) => {
    const rules = { "target-size": { enabled: true } };  // of WCAG 2.2, and off by default
    off.forEach(rule => { rules[rule] = { enabled: false }; });
    const options = { runOnly: tags, rules, resultTypes: ["violations"], preload: false };
    const { violations } = await axe.run({ exclude: without }, options);
    return violations.map(({ id, help, nodes }) => ({
        id, help, nodes: nodes.map(({ target, html, failureSummary }) => [target.join(" "), html, failureSummary]),
    }));
}"""
CUT_OFF = "document.documentElement.scrollWidth > innerWidth"


def violations(page: Page, without: Sequence[str] = (), off: Sequence[str] = ()) -> list[str]:
    """What on a page breaks WCAG 2.2 AA, as far as a program can tell; what is folded is opened before.

    axe-core does not know success criterion 1.4.10, by which a page has to fit a narrow window; that is looked at here.

    Args:
        without: selectors of what is not looked at.
        off: names of axe-core's rules that do not count.

    Returns:
        A text for each rule that is broken: its name, what it asks for, and where.
    """
    if not AXE.is_file():
        pytest.fail(NO_AXE)
    page.evaluate(OPEN_ALL)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = [_told(**violation) for violation in page.evaluate(RUN, [WCAG_2_2_AA, without, off])]
    return found + ["reflow: The page must not be wider than its window"] * page.evaluate(CUT_OFF)


def _told(id: str, help: str, nodes: list[list[str]]) -> str:
    lines = [f"{id}: {help} ({len(nodes)} times)"]
    for selector, html, summary in nodes[:EXAMPLES]:
        lines += [f"  {selector}", f"    {html[:200]}", *(f"    {line.strip()}" for line in summary.splitlines()[1:])]
    return "\n".join(lines)
