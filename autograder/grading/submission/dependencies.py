"""Which given cells of a notebook have to run so that what a student wrote runs as it would in the whole of it."""

import ast
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from autograder.course.lesson import ONE_AT_A_TIME, as_python

# With these a cell may read any name, whatever its source says.
ANYTHING = frozenset({"globals", "locals", "vars", "eval", "exec", "get_ipython", "__import__", "dir"})

# Magics that read no name of the notebook, and those that run what stands behind them.
_QUIET = frozenset({"autoreload", "conda", "config", "load_ext", "matplotlib", "pip", "precision", "pwd"})
_RUNNING = frozenset({"time", "timeit"})
MOST_NESTED = 2  # magics in magics: each reads the whole line again
_OPTIONS = re.compile(r"(?:-[a-z]\s*\d*\s+)*")  # of `%timeit`

_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr"})


class Names(NamedTuple):
    """The names that a cell reads and binds for all the notebook to see."""

    now: frozenset[str] = frozenset()  # read while the cell runs
    # read by its methods and the like, at any later time; by all of it, where it is not given
    lasting: frozenset[str] = frozenset()
    # read by each plain function of a given cell, which nobody calls who does not know its name
    functions: Mapping[str, frozenset[str]] = {}
    binds: frozenset[str] = frozenset()  # bound by it
    # those of them that are bound otherwise than by `import`, `def`, `class` and `yours.take`
    variables: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()  # those of them that are bound by `class` and `yours.take`
    opaque: bool = False  # it is no Python, so nobody knows

    @property
    def reads(self) -> frozenset[str]:
        """All that the cell ever reads."""
        return self.now.union(self.lasting, *self.functions.values())


def unneeded(
    cells: Sequence[tuple[str, bool]], precomputed: Mapping[tuple[str, bool], Names] | None = None
) -> set[int]:
    """The places of given cells that nothing of the student's, and no check, can see.

    A given cell is needed when it binds a name that a needed cell reads later, or itself reads a variable that one of
    those reads later, since it may change it. What stands in a function, an answer or a check may be read at any time.

    `cells` are all code cells in order: source, and whether it is given (neither the student's nor a check).
    `precomputed` are the names of some.
    """
    precomputed = precomputed or {}
    used = [precomputed.get(cell) or names_in(*cell) for cell in cells]
    if any(names.lasting & ANYTHING for names, (_, given) in zip(used, cells, strict=True) if not given):
        return set()
    variables = set().union(*(names.variables for names in used))
    visible = set().union(*(names.lasting for names, (_, given) in zip(used, cells, strict=True) if not given))
    needed: set[int] = set()
    before = (-1, -1)
    while before != (len(needed), len(visible)):  # backwards, and once more where more names came to be visible
        before, later = (len(needed), len(visible)), set(visible)
        for place in reversed(range(len(cells))):
            names = used[place]
            if not cells[place][1]:
                continue
            if names.opaque or names.binds & later or names.reads & later & variables:
                needed.add(place)
                later |= names.now
                visible = visible.union(names.lasting, *(names.functions[name] for name in later & {*names.functions}))
                later |= visible
    return {place for place, (_, given) in enumerate(cells) if given and place not in needed}


def names_in(source: str, given: bool) -> Names:
    """The names of a cell, which is given or not."""
    parsed = _parsed(source)
    if parsed is None:
        return Names(opaque=True)
    table, tree = parsed
    plain, taken = set[str](), set[str]()
    if given:  # a function that no decorator has seen runs by a call of its name alone
        plain = {each.name for each in tree.body if isinstance(each, ast.FunctionDef) and not each.decorator_list}
        taken = _taken(tree)
    now, lasting, binds, variables = set[str](), set[str](), set[str](), set[str]()
    functions: dict[str, set[str]] = {}
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if symbol.is_referenced():
            (now if given else lasting).add(name)
        if symbol.is_assigned() or symbol.is_imported():
            binds.add(name)
            if not symbol.is_imported() and not symbol.is_namespace() and name not in taken:
                variables.add(name)
    for child in table.get_children():
        name, reads = child.get_name(), set(_globals(child))
        if given and name in _COMPREHENSIONS:
            now |= reads
            reads = set()
        waiting = child.get_children()
        while waiting:
            inner = waiting.pop()
            reads.update(_globals(inner))
            waiting += inner.get_children()
        (functions.setdefault(name, set()) if name in plain else lasting).update(reads)
    by_function = {name: frozenset(reads) for name, reads in functions.items()}
    classes = {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
    parts = frozenset(binds & (taken | classes))
    return Names(frozenset(now), frozenset(lasting), by_function, frozenset(binds), frozenset(variables), parts)


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What an import binds: each name, and what it stands for; nothing for any other node."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            yield name, package + (alias.name if alias.asname or package else name)


def _taken(tree: ast.Module) -> set[str]:
    """The names of parts of the course, which are functions and classes."""
    calls = ((each, each.value) for each in tree.body if isinstance(each, ast.Assign))
    taken = [each for each, call in calls if isinstance(call, ast.Call) and ast.unparse(call.func) == "yours.take"]
    return {
        name.id for each in taken for target in each.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def _globals(table: symtable.SymbolTable) -> Iterable[str]:
    if isinstance(table, symtable.Function):
        return table.get_globals()
    return [symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()]


def _parsed(source: str) -> tuple[symtable.SymbolTable, ast.Module] | None:
    for text in (source, None):
        try:
            text = _without_magics(as_python(source)) if text is None else text
            with ONE_AT_A_TIME:
                return symtable.symtable(text, "<cell>", "exec"), ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _without_magics(text: str, depth: int = 0) -> str:
    """A cell with what a magic runs in its place, as far as that is known; a shell command runs nothing here."""
    with ONE_AT_A_TIME:
        tree = ast.parse(text)
        for place, statement in reversed([*enumerate(tree.body)]):
            match statement:
                case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython")), called), arguments)):
                    words = [each.value if isinstance(each, ast.Constant) else None for each in arguments]
                    tree.body[place : place + 1] = _run_by([called, *words], depth) or [statement]
    return ast.unparse(tree)


def _run_by(words: Sequence[object], depth: int) -> list[ast.stmt]:
    """The statements that a call of IPython's runs, by its name and arguments; nothing where that is not known."""
    match words:
        case ["system", str()]:
            return [ast.Pass()]
        case [_, _, str(line), *_] if "{" in line or "$" in line:  # which IPython fills in
            return []
        case ["run_line_magic", name, str()] if name in _QUIET:
            return [ast.Pass()]
        case ["run_line_magic" | "run_cell_magic", name, str(line), *cell] if name in _RUNNING and depth < MOST_NESTED:
            code = "\n".join([_OPTIONS.sub("", f"{line} ", count=1), *map(str, cell)])
            return ast.parse(_without_magics(as_python(code), depth + 1)).body or [ast.Pass()]
    return []
