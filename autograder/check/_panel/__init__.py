"""A failing check as a panel: the message of `CheckFailed` as HTML, with a picture of expected beside got.

It is plain HTML, no script and no style sheet, and takes colours and fonts from the page around it, so that it reads in
light and dark themes and survives where untrusted notebooks are cleaned. What an answer has made, names, values and
messages, is escaped.
"""

import os
import re
import sys
from html import escape
from typing import Any

from autograder.check._errors import CheckFailed, NotWritten, Picture
from autograder.check._panel.pictures import Sizes, Values, sizes, values

__all__ = ["Sizes", "Values", "bundle", "front_end", "html", "prose", "show", "sizes", "values"]

PLAIN = {"PYTEST_VERSION", "NBGRADER_VALIDATING"}  # nbgrader's button Validate shows the error alone
MOST_BYTES = 20_000  # of a panel; a longer one stays plain text
MOST_LETTERS = 1000  # of one part of it
FAILED, UNWRITTEN = "#D55E00", "#888888"
BOX = "border:1px solid rgba(128,128,128,.4);border-left:4px solid {};padding:.5em 1em;margin:.3em 0;line-height:1.5"
DETAILS = "margin:.5em 0;padding:0;background:none;border:0;color:inherit;white-space:pre-wrap"
NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def html(error: CheckFailed) -> str:
    """A failing check as HTML: verdict, details, slip and rule as in the plain message, and the picture."""
    colour = UNWRITTEN if isinstance(error, NotWritten) else FAILED
    parts = [f"<div><b>✗ {prose(error.verdict)}</b></div>"]
    if error.lines:
        lines = "\n".join(map(str, error.lines))
        parts.append(f'<pre style="{DETAILS}">{_text(lines)}</pre>')
    if error.slip:
        parts.append(f"<div>{prose(error.slip)}</div>")
    parts.append(_picture(error.picture))
    if error.rule:
        parts.append(f"<div>{prose(f'Rule: {error.rule}.')}</div>")
    label = f"Failing check {error.exercise or ''}".rstrip()
    return f'<div role="group" aria-label="{_text(label)}" style="{BOX.format(colour)}">{"".join(parts)}</div>'


def bundle(error: CheckFailed) -> dict[str, str] | None:
    """A failing check as a notebook stores it, HTML and the plain message; None where plain text has to do."""
    try:
        page = html(error)
    except Exception:  # how a message looks must not cost the message
        return None
    return {"text/html": page, "text/plain": error.message} if len(page.encode()) <= MOST_BYTES else None


def show(error: CheckFailed) -> bool:
    """Publish a failing check where somebody works in a notebook; False where plain text has to do."""
    shell = None if PLAIN & os.environ.keys() else front_end()
    if shell is None or (data := bundle(error)) is None:
        return False
    try:
        shell.display_pub.publish(data=data)
    except Exception:  # a front end's own trouble
        return False
    return True


def front_end() -> Any | None:
    """The IPython shell that runs this for a front end which shows HTML; None in a terminal and in plain Python."""
    ipython, publishing = sys.modules.get("IPython"), sys.modules.get("IPython.core.displaypub")
    if ipython is None or publishing is None or (shell := ipython.get_ipython()) is None:
        return None
    # The publisher of a terminal prints; a kernel's, and whatever captures, is another.
    return None if type(shell.display_pub) is publishing.DisplayPublisher else shell


def _picture(picture: Picture | None) -> str:
    try:
        return picture.html() if picture is not None else ""
    except Exception:  # a picture less, the words stay
        return ""


def prose(text: str) -> str:
    """Escaped text, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    text = NO_TEXT.sub("", str(text))
    return escape(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} …")
