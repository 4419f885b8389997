"""The code that stands in the instructor's guide, and the keys of JSON that it lists."""

import re
from collections.abc import Sequence

from support.sample_lesson import ROOT

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(GUIDE)
SCRIPTS = [code for language, code in BLOCKS if language == "python"]
JSON_SECTION = GUIDE[GUIDE.index("## JSON for programs") : GUIDE.index("## Many machines")]
JSON_ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.findall(r"^\| `.*$", JSON_SECTION, re.MULTILINE)
]
SHELL = [code for language, code in BLOCKS if language == "sh"]


def block(*parts: str, of: Sequence[str] = SCRIPTS) -> str:
    """Return the one block that holds all parts."""
    (match,) = (code for code in of if all(part in code for part in parts))
    return match


def names(text: str) -> set[str]:
    """Return what stands in backticks, but for what stands in brackets."""
    return set(re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", text)))


def json_keys(command: str) -> set[str]:
    """Return the keys that the guide lists for a command."""
    return {key for row in JSON_ROWS if len(row) == 3 and command in names(row[1]) for key in names(row[0])}


def json_entries(command: str) -> dict[str, set[str]]:
    """Return the keys that the guide lists for what stands in lists: path → keys."""
    rows = [(re.findall(r"`([^`]+)`", row[0]), names(row[1])) for row in JSON_ROWS if len(row) == 2]
    return {path: keys for (path, *whose), keys in rows if command in (whose or [command])}
