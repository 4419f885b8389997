"""A student's Markdown, in which nothing runs, and their code: neither is longer than a page can take."""

import re

MOST_LETTERS = 10_000  # of one text: to make a page of it takes half a second at worst, which grows with the square
MOST_OF_OWN = 50_000  # of all that a student wrote beside the answers
MOST_OF_CODE = 400_000  # letters of all that a student wrote as code; to colour it takes five seconds at worst
LONGEST_LINE = 1000  # letters: the time to colour a line grows with their square
CUT_LINE = "  # … (The line is too long to be shown as a whole; see what was handed in.)"
CUT_CODE = "\n# … (The code is too long to be shown as a whole; see what was handed in.)"
CUT = "\n\n… (The text is too long to be shown as a whole. The rest stands in the notebook that was handed in.)"
_OPENS = re.compile(
    r"<(?=[A-Za-z/!?])|\](?=[(\[:])|\\(?=(?:href|html|require|style|class|cssId|unicode|mmlToken)\b)|[`~]\s*(?=(?i:mermaid))"
)


def harmless(markdown: str) -> str:
    """A student's Markdown as text in which no browser finds anything to run.

    No tags, links or commands of MathJax, and no program for Mermaid, whose text nbconvert does not escape.

    An invisible character (a word joiner) stands behind what would open one; otherwise it reads as it was written.
    """
    return _OPENS.sub(lambda match: f"{match[0]}\N{WORD JOINER}", markdown)


def shortened(markdown: str, most: int) -> str:
    """A text of so many letters, at the end of which is said what is missing."""
    return markdown if len(markdown) <= most else markdown[: max(0, most - len(CUT))] + CUT


def shown_code(source: str, most: int) -> str:
    """Code as a page shows it: so many letters, and of each line only so many."""
    lines = source[:most].split("\n")
    text = "\n".join(line[:LONGEST_LINE] + CUT_LINE * (len(line) > LONGEST_LINE) for line in lines)
    return text + CUT_CODE * (len(source) > most)
