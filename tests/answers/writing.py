"""How the answers of the tables are written: as a whole source, as a body, or as edits of another answer.

A file has the answers to the exercise that it is named after, by what each of them does:

    WRONG = {
        "no scale": edit("/ math.sqrt(query.size(-1))", "").fails("values", "not divided by √d_k"),
        "uses the keys twice": body("return softmax(query @ key.mT) @ key").named("keys"),
    }
    RIGHT = {
        "in float64": edit("query @ key.mT", "(query.double() @ key.double().mT).to(query)"),
    }

A row of the tables is such a piece of code, or a string: a whole source. Sources and bodies may be indented.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent, indent

BARE = "bare"  # the solution without its docstrings, annotations and lines of comments
TYPED = "typed"  # the solution without its docstrings and lines of comments


@dataclass(frozen=True)
class Code:
    """How the source of an answer is written."""

    whole: str = ""  # the source
    body: str = ""  # the body instead, to which the solution's bare first line belongs
    # texts of another answer → texts in their place instead, one after the other
    edits: tuple[tuple[str, str], ...] = ()
    # the answer that is edited: "" for the solution, `BARE` or `TYPED` for it without some things, or another answer to
    # the exercise, by what it does
    on: str = ""

    def fails(self, check: str, says: str = "", *, names: str = "") -> Wrong:
        """Aim it at a check; see `Wrong`."""
        return Wrong(self, check=check, says=says, names=names)

    def named(self, names: str) -> Wrong:
        """Say which words name its slip; see `Wrong`."""
        return Wrong(self, names=names)


@dataclass(frozen=True)
class Wrong:
    """A wrong answer, which must fail some check."""

    code: Code
    exercise: str = ""
    what: str = ""  # what it does, in words
    # the check that must fail: the part of its id behind `check_<exercise>_`, or "" for `check_<exercise>`; None where
    # any may
    check: str | None = None
    says: str = ""  # words that the message of this check must hold
    # a regular expression for other words by which a message could fairly name the slip, "" for none. A message that
    # names a slip otherwise is wrong
    names: str = ""
    part: str = ""  # what of the answer cell it stands in for; "" for all of it
    trick: bool = False  # True when it was written to get past the checks; nobody would by mistake


@dataclass(frozen=True)
class Right:
    """A right answer that is not the solution: it must earn all points, in silence."""

    code: Code
    exercise: str = ""
    what: str = ""
    part: str = ""


def whole(source: str) -> Code:
    """An answer as it is; a string in a table is one as well."""
    return Code(whole=dedent(source).strip())


def body(text: str) -> Code:
    """A function that starts as the solution does, without annotations and docstring."""
    return Code(body=dedent(text).strip())


def edit(old: str, new: str, *, on: str = "") -> Code:
    """Another answer in which `new` stands for `old` everywhere.

    In `old` an … stands for any text, at the end for the rest of the line; in `new` it stands for what was there. Lines
    of `new` behind the first are indented like the line in which `old` begins.
    """
    return Code(edits=((old, new),), on=on)


def edits(*pairs: tuple[str, str], on: str = "") -> Code:
    """Several edits, one after the other."""
    return Code(edits=pairs, on=on)


def source(code: Code, solution: str, others: Mapping[str, Code]) -> str:
    """The source of an answer.

    Args:
        solution: the source of the solution.
        others: the answers that edits may be `on`, by what they do.

    Raises:
        ValueError: an edit does not fit what it is on, any more.
        KeyError: there is no such answer to edit.
    """
    if code.whole:
        return code.whole
    if code.body:
        first = without_docstrings(solution, annotations=False).splitlines()[0]
        return f"{first}\n{indent(code.body, '    ')}"
    if code.on in (BARE, TYPED):
        text = without_docstrings(solution, annotations=code.on == TYPED)
    else:
        text = source(others[code.on], solution, others) if code.on else solution
    for old, new in code.edits:
        text = replaced(text, old, new)
    return text


def part_of(source: str, name: str) -> str:
    """The lines of an answer cell that define one of its functions or classes."""
    nodes = ast.parse(source).body
    at = next(place for place, node in enumerate(nodes) if getattr(node, "name", "") == name)
    ends = [node.lineno - 1 for node in nodes[at + 1 :]] + [None]
    return "\n".join(source.splitlines()[nodes[at].lineno - 1 : ends[0]]).strip()


def replaced(text: str, old: str, new: str) -> str:
    """The text with one edit made; see `edit`."""
    pattern = re.escape(old).replace("\\\n", "\n *")
    if pattern.endswith("…"):
        pattern = pattern[:-1] + "[^\n]*"

    def put(match: re.Match[str]) -> str:
        line = text[text.rfind("\n", 0, match.start()) + 1 :]
        margin = line[: len(line) - len(line.lstrip(" "))]
        return new.replace("\n", "\n" + margin).replace("…", match[0])

    changed, count = re.subn(pattern.replace("…", ".*?"), put, text, flags=re.DOTALL)
    if not count:
        raise ValueError(f"{old!r} is no longer in what it was to be replaced in:\n{text}")
    return changed


def without_docstrings(text: str, *, annotations: bool) -> str:
    """A source without docstrings, empty lines and lines of comments, and without annotations unless they are kept."""
    lines = text.encode().splitlines(keepends=True)  # as columns count bytes
    for first, start, last, end in sorted(_left_out(ast.parse(text), annotations), reverse=True):
        lines[first - 1 : last] = [lines[first - 1][:start] + lines[last - 1][end:]]
    kept = b"".join(lines).decode().splitlines()
    return "\n".join(line for line in kept if line.strip() and not line.lstrip().startswith("#"))


def _left_out(tree: ast.Module, annotations: bool) -> Iterator[tuple[int, int, int, int]]:
    """First line and column, last line and column of each docstring and annotation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            yield text.lineno, text.col_offset, text.end_lineno, text.end_col_offset
        elif isinstance(node, ast.arg) and node.annotation and not annotations:
            start = node.col_offset + len(node.arg.encode())
            yield node.lineno, start, node.annotation.end_lineno, node.annotation.end_col_offset
        if isinstance(node, ast.FunctionDef) and node.returns and not annotations:
            start = node.returns.col_offset - len(" -> ")
            yield node.returns.lineno, start, node.returns.end_lineno, node.returns.end_col_offset
