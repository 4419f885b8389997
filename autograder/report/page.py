"""A page as a file: templates, escaping, what a browser may do with it, and how it gets to its place."""

import base64
import hashlib
import math
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import mistune
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder import files
from autograder.course.config import CourseError
from autograder.course.names import counted
from autograder.grading.results import Status
from autograder.version import installed

TEMPLATES = Path(__file__).parent / "templates"
MARK = b'<meta name="generator" content="autograder report">'
HEAD_BYTES = 2000  # bytes at the beginning of a page, among which the mark stands
CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "\ufffd")  # not for pages


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters = (code, counted, markdown, number, mean, percent, seconds, moment, shortened, sentence)
    environment.filters |= {function.__name__: function for function in filters}
    environment.globals["Status"] = Status
    return environment


def render(template: str, *, script: str = "", any_style: bool = False, **values: object) -> bytes:
    """Fill a template in; everything but Markup is escaped.

    Args:
        template: its file in the folder of templates.
        script: the file with the page's script; only what it holds may run.
        any_style: allow styles besides the page's own, for pictures that bring theirs.
    """
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    program = (TEMPLATES / script).read_text(encoding="utf-8") if script else ""
    policy = {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'" if any_style else _hash(style),
        "script-src": _hash(program) if program else "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    head = {
        "mark": Markup(MARK.decode()),
        "policy": Markup("; ".join(f"{name} {value}" for name, value in policy.items())),
        "style": Markup(style),
        "script": Markup(program),
        "made": datetime.now(UTC),
        "maker": f"autograder {installed()}".rstrip(),
    }
    text = _environment().get_template(template).render(**head, **values)
    return text.translate(CONTROLS).encode("utf-8", "replace")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def code(text: str) -> Markup:
    """Escape a sentence, and set in code what stands in backticks."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def markdown(text: str) -> Markup:
    """Markdown as HTML; what is HTML in it stays text, and a link that is a program leads nowhere."""
    return Markup(_markdown()(text))


@cache
def _markdown() -> mistune.Markdown:
    return mistune.create_markdown(escape=True, plugins=["table", "strikethrough"])


def number(value: float) -> str:
    """Points, with two digits at most after the point."""
    return f"{round(value, 2):g}" if abs(value) < 10**6 else f"{value:.0f}"


def mean(value: float) -> str:
    """Points on average."""
    return f"{value:.1f}"


def percent(share: float) -> str:
    """A share of one; what is not quite nothing or all does not look as if it were."""
    if 0 < share < 0.01:
        return "under 1 %"
    return f"{min(round(100 * share), 99) if share < 1 else 100} %"


def seconds(value: float) -> str:
    """A duration."""
    if not math.isfinite(value):
        return "unknown"
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s" if value >= 0.1 else f"{value:.2f} s"


def moment(when: datetime) -> str:
    """A moment in UTC."""
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def shortened(text: str, most: int) -> str:
    """A text of a student's, cut where it is too long."""
    return text if len(text) <= most else f"{text[:most]} …"


def sentence(text: str) -> str:
    """As a heading: with a capital at the beginning, unless that is code or one letter, and no full stop."""
    return re.sub(r"^[a-z](?=[a-z])", lambda match: match[0].upper(), text.removesuffix("."))


def write(path: Path, data: bytes, *, mode: int) -> None:
    """Put a page in its place, wholly or not at all, over an earlier page of ours but over nothing else.

    Raises:
        CourseError: it cannot be written, or there is something else.
    """
    try:
        path = path.resolve()
        _require_place(path)
        files.write(path, data, mode=mode)
    except OSError as error:
        raise CourseError(
            f"{path} could not be written ({error.strerror or error}). Make room for it, or say where with --output."
        ) from None


def _require_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise CourseError(f"There is no folder {path.parent}. Make it, or say with --output where else.")
    if path.is_dir():
        raise CourseError(f"{path} is a folder. Move it away, or say with --output where else.")
    if path.exists():
        with path.open("rb") as file:
            if MARK not in file.read(HEAD_BYTES):
                raise CourseError(
                    f"{path} is there already and was not made by this program. "
                    "Move it away, or say with --output where else."
                )
