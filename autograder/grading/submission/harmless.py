"""A student's Markdown, in which nothing runs."""

from __future__ import annotations

import re

_OPENS = re.compile(
    r"<(?=[A-Za-z/!?])|\](?=[(\[:])|\\(?=(?:href|html|require|style|class|cssId|unicode|mmlToken)\b)|[`~]\s*(?=(?i:mermaid))"
)


def harmless(markdown: str) -> str:
    """A student's Markdown as text in which no browser finds anything to run.

    No tags, links or commands of MathJax, and no program for Mermaid, whose text nbconvert does not escape.

    An invisible character (a word joiner) stands behind what would open one; otherwise it reads as it was written.
    """
    return _OPENS.sub(lambda match: f"{match[0]}\N{WORD JOINER}", markdown)
