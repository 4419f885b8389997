"""What a source says, in pieces that two sources may share, however they are formatted and whatever they call things.

Code is parsed, never run. Names that a source binds itself count for nothing in its statements; they are pieces of
their own. So are comments, lines of docstrings and texts. What is no Python is taken line by line.
"""

import ast
import io
import itertools
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from autograder.course.lesson import as_python

PHRASE = 6  # tokens
PASSAGE = 4  # words
LEAST_TEXT = 6  # letters of a text in code that says something
MOST_LINES = 8  # of one piece that are marked; every phrase of a long statement stands on all of its lines
MOST_LETTERS = 20_000  # of a source that is parsed; of a longer one its lines are compared
OWN = "\x01"  # stands before a name that the source binds itself
TOKEN = re.compile(rf"{OWN}\w+|\w+|[^\w\s]")
WORD = re.compile(r"\w+")


class Kind(StrEnum):
    """What a trait is a piece of."""

    STATEMENT = "statement"
    PHRASE = "phrase"  # of a statement
    NAME = "name"
    COMMENT = "comment"
    DOCSTRING = "docstring"  # a line of it
    TEXT = "text"  # in code, or a line of Markdown
    PASSAGE = "passage"  # of a comment, a docstring or a text
    SLIP = "slip"  # what a check said


class Trait(NamedTuple):
    """A piece of a source, as it is compared."""

    kind: Kind
    text: str


Traits: TypeAlias = Mapping[Trait, frozenset[int]]


def traits_of(source: str, *, is_code: bool = True) -> Traits:
    """The traits of a source, and the lines on which each stands, counted from 1."""
    found: dict[Trait, set[int]] = {}
    for kind, text, lines in _of_code(source) if is_code else _of_text(source):
        found.setdefault(Trait(kind, text), set()).update(itertools.islice(lines, MOST_LINES))
    return {trait: frozenset(lines) for trait, lines in found.items()}


_Piece: TypeAlias = tuple[Kind, str, Iterable[int]]


def _of_code(source: str) -> Iterable[_Piece]:
    if len(source) <= MOST_LETTERS:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(as_python(source))
            return [*_of_tree(tree), *_of_comments(source)]
    return _of_unparsed(source)


def _of_unparsed(source: str) -> Iterator[_Piece]:
    for number, line in enumerate(source.splitlines(), 1):
        code, _, comment = line.partition("#")
        if statement := " ".join(TOKEN.findall(code)):
            yield Kind.STATEMENT, statement, [number]
        yield from _of_words(Kind.COMMENT, comment, number)


def _of_tree(tree: ast.Module) -> Iterator[_Piece]:
    docstrings = {*map(id, _docstrings(tree))}
    normalise = _Normaliser(tree)
    places: dict[ast.stmt, range] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if id(node) in docstrings:
                for number, line in zip(lines, node.value.splitlines(), strict=False):
                    yield from _of_words(Kind.DOCSTRING, line, number)
            elif len(node.value.strip()) >= LEAST_TEXT:
                yield from _of_words(Kind.TEXT, node.value, *lines)
        if isinstance(node, ast.stmt):
            places[node] = _lines(node)
    for name, bound_on in normalise.names.items():
        yield Kind.NAME, name, bound_on
    for statement, lines in places.items():
        if text := normalise.header(statement):
            tokens = TOKEN.findall(text)
            yield Kind.STATEMENT, _numbered(text), lines
            plain = ["v" if token.startswith(OWN) else token for token in tokens]
            for start in range(len(plain) - PHRASE + 1):
                yield Kind.PHRASE, " ".join(plain[start : start + PHRASE]), lines


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement, of one that holds others those before the first of them."""
    last = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        last = max(statement.lineno, body[0].lineno - 1)
    return range(statement.lineno, last + 1)


def _numbered(text: str) -> str:
    """A statement in which names of its own are numbers, in the order in which they come."""
    numbers: dict[str, str] = {}
    return re.sub(rf"{OWN}\w+", lambda match: numbers.setdefault(match[0], f"v{len(numbers)}"), text)


class _Normaliser(ast.NodeTransformer):
    """Takes out of a tree what may be changed without thinking: names of its own, texts, annotations.

    Attributes:
        names: those that it binds, and their lines.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, set[int]] = {}
        self.attributes: set[str] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    self.attributes.add(name)
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case _:
                    continue
            self.names.setdefault(name, set()).add(node.lineno)

    def header(self, statement: ast.stmt) -> str:
        """A statement as text, without the statements in it; "" for a docstring and for what only declares."""
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return ""
        made = type(statement)(**dict(ast.iter_fields(statement)))
        for field in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(getattr(made, field, None), list):
                setattr(made, field, [ast.Pass()] if field == "body" else [])
        if isinstance(made, ast.Try):
            return "try"
        return ast.unparse(ast.fix_missing_locations(self.visit(made))).removesuffix("pass").strip()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"{OWN}{node.id}", node.ctx) if node.id in self.names else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(f"{OWN}{node.arg}")

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value: ast.expr = self.visit(node.value)
        return ast.Attribute(value, f"{OWN}{node.attr}" if node.attr in self.attributes else node.attr, node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        made = ast.Assign([node.target], node.value) if node.value else ast.Expr(node.target)
        return self.generic_visit(made)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = f"{OWN}{node.name}", None
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = f"{OWN}{node.name}"
        return self.generic_visit(node)


def _of_comments(source: str) -> Iterator[_Piece]:
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield from _of_words(Kind.COMMENT, token.string, token.start[0])


def _of_text(source: str) -> Iterator[_Piece]:
    for number, line in enumerate(source.splitlines(), 1):
        yield from _of_words(Kind.TEXT, line, number)


def _of_words(kind: Kind, text: str, *lines: int) -> Iterator[_Piece]:
    """A text by its words alone, and each passage of it where it is longer."""
    words = WORD.findall(text.lower())
    if sum(map(len, words)) >= 3:
        yield kind, " ".join(words), lines
    for start in range(len(words) - PASSAGE + 1 if len(words) > PASSAGE else 0):
        yield Kind.PASSAGE, " ".join(words[start : start + PASSAGE]), lines
