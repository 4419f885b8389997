"""The code that stands in the instructor's guide."""

from __future__ import annotations

import re
from collections.abc import Sequence

from support.sample_lesson import ROOT

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
SCRIPTS = [code for language, code in BLOCKS if language == "python"]
SHELL = [code for language, code in BLOCKS if language == "sh"]


def block(*parts: str, of: Sequence[str] = SCRIPTS) -> str:
    """Return the one block that holds all parts."""
    (match,) = (code for code in of if all(part in code for part in parts))
    return match
