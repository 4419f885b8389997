"""What an answer needs to stand on its own: its source, its helpers' and the imports of both."""

import ast
import builtins
import functools
import re
import symtable
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

# A stub's plan: from its TODO to the sentence that says how many lines it takes.
_PLAN = re.compile(r"^[ \t]*# TODO(?:.*\n[ \t]*#)*?.*\blines?\b[^\n]*\.[ \t]*\n|^[ \t]*# TODO.*\n", re.MULTILINE)
SOLUTION = "### BEGIN SOLUTION"
_LITERAL = (bool, int, float, complex, str, bytes, type(None))


class NotAlone(Exception):
    """An answer needs something that cannot stand in a file beside it; the text says what."""


@dataclass
class Gathered:
    """Answers with all that they need."""

    # of the answers and their helpers, by name; a helper comes before what needs it
    sources: dict[str, str] = field(default_factory=dict)
    # the statements that bind the names which they import, by name
    imports: dict[str, str] = field(default_factory=dict)


def imports_of(notebook: Mapping[str, object]) -> dict[str, str]:
    """The statements by which the cells of a notebook import names, the newest of each name; the course's are none."""
    return {
        name: statement
        for cell in _cells(notebook)
        for node in _statements(cell)
        for name, statement in imported([node]).items()
        if not statement.split()[1].startswith("autograder")
    }


def newest(name: str, notebook: Mapping[str, object]) -> str:
    """The source of what the newest cell that binds a name binds it to; "" where no cell does."""
    binding = _newest(name, _cells(notebook))
    return binding.source if binding else ""


def gather(names: Iterable[str], notebook: Mapping[str, object], known: Iterable[str]) -> Gathered | None:
    """Collect what answers of a notebook need.

    Args:
        names: the answers.
        notebook: its names; IPython keeps the cells that have run in `In`.
        known: parts of the course, which a file of parts has or will have by itself.

    Returns:
        None when the cells are not at hand, or are the course's own solutions.

    Raises:
        NotAlone: an answer needs what is not a function, a class, a module or a number.
    """
    gatherer = _Gatherer(_cells(notebook), notebook, frozenset(known))
    return gatherer.gathered if all(gatherer.add(name) for name in names) else None


def _cells(notebook: Mapping[str, object]) -> list[str]:
    """The cells of a notebook that have run, where they are at hand."""
    cells = notebook.get("In")
    return [cell for cell in cells if isinstance(cell, str)] if isinstance(cells, list) else []


class _Gatherer:
    def __init__(self, cells: Sequence[str], notebook: Mapping[str, object], known: frozenset[str]) -> None:
        self.cells, self.notebook, self.known = cells, notebook, known
        self.gathered = Gathered()
        self._begun: set[str] = set()

    def add(self, name: str) -> bool:
        """Collect what the newest cell that binds a name binds it to; False when none does, or it is a solution."""
        self._begun.add(name)
        found = _newest(name, self.cells)
        if found is None or SOLUTION in found.source:
            return False
        if found.is_import:
            self.gathered.imports[name] = found.source
            return True
        source = _PLAN.sub("", found.source)
        for needed in sorted(global_names(source) - self._begun - self.known):
            is_builtin = needed not in self.notebook and hasattr(builtins, needed)
            if not is_builtin and not (_is_kept(self.notebook.get(needed)) and self.add(needed)):
                raise NotAlone(f"`{name}` uses `{needed}` of another cell, which cannot be kept with it")
        self.gathered.sources[name] = source
        return True


class _Binding(NamedTuple):
    source: str
    is_import: bool


def _newest(name: str, cells: Sequence[str]) -> _Binding | None:
    return next(filter(None, (_binding(name, cell) for cell in reversed(cells))), None)


def _binding(name: str, cell: str) -> _Binding | None:
    """The definition, assignment or import by which a cell binds a name at last."""
    for node in reversed(_statements(cell)):
        if name in (imports := imported([node])):
            return _Binding(imports[name], True)
        if name in _bound(node):
            first = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
            lines = cell.splitlines(keepends=True)[first - 1 : node.end_lineno]
            return _Binding("".join(lines).rstrip() + "\n", False)
    return None


def imported(statements: Iterable[ast.stmt]) -> dict[str, str]:
    """The statements that import one name each, by the names that statements of any kind import."""
    return {
        alias.asname or alias.name: _one_import(statement, alias)
        for statement in statements
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    }


def _one_import(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    module = f"from {statement.module} " if isinstance(statement, ast.ImportFrom) else ""
    return f"{module}import {name}"


@functools.lru_cache(maxsize=512)
def _statements(cell: str) -> list[ast.stmt]:
    try:
        return ast.parse(cell).body
    except (SyntaxError, ValueError):
        return []


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a definition or a plain assignment binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def global_names(source: str) -> set[str]:
    """The names that a source reads and does not bind itself."""
    top = symtable.symtable(source, "part", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    read = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        read |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        tables += table.get_children()
    return read - bound


def _is_kept(value: object) -> bool:
    """Whether a value can stand in a file: a library, or what is defined in words and is not the course's."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if isinstance(name, str) and name.partition(".")[0] == "autograder":
        return False
    literals = value if isinstance(value, tuple) else (value,)
    return isinstance(value, ModuleType) or callable(value) or all(isinstance(item, _LITERAL) for item in literals)
