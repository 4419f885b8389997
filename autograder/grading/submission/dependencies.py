"""Which given cells of a notebook have to run so that what a student wrote runs as it would in the whole of it."""

from __future__ import annotations

import symtable
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from autograder.course.lesson import as_python

# With these a cell may read any name, whatever its source says.
ANYTHING = frozenset({"globals", "locals", "vars", "eval", "exec", "get_ipython", "__import__", "dir"})

_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr"})


class Names(NamedTuple):
    """The names that a cell reads and binds for all the notebook to see.

    Attributes:
        now: read while the cell runs.
        lasting: read by its functions, at any later time; by all of it, where it is not given.
        binds: bound by it.
        variables: those of them that are bound otherwise than by `import`, `def` and `class`.
        opaque: it is no Python, so nobody knows.
    """

    now: frozenset[str]
    lasting: frozenset[str]
    binds: frozenset[str]
    variables: frozenset[str]
    opaque: bool


def unneeded(
    cells: Sequence[tuple[str, bool]], precomputed: Mapping[tuple[str, bool], Names] | None = None
) -> set[int]:
    """The places of given cells that nothing of the student's, and no check, can see.

    A given cell is needed when it binds a name that a needed cell reads later, or itself reads a variable that one of
    those reads later, since it may change it. What stands in a function, an answer or a check may be read at any time.

    Args:
        cells: source, and whether it is given (neither the student's nor a check), of all code cells in order.
        precomputed: the names of some such cells.
    """
    precomputed = precomputed or {}
    used = [precomputed.get(cell) or names_in(*cell) for cell in cells]
    if any(names.lasting & ANYTHING for names, (_, given) in zip(used, cells, strict=True) if not given):
        return set()
    variables = set().union(*(names.variables for names in used))
    visible = set().union(*(names.lasting for names, (_, given) in zip(used, cells, strict=True) if not given))
    needed: set[int] = set()
    before = -1
    while before != len(needed):  # backwards, and once more where a function's names came to be visible
        before, later = len(needed), set(visible)
        for place in reversed(range(len(cells))):
            names = used[place]
            if not cells[place][1]:
                continue
            if names.opaque or names.binds & later or (names.now | names.lasting) & later & variables:
                needed.add(place)
                visible |= names.lasting
                later |= names.now | names.lasting
    return {place for place, (_, given) in enumerate(cells) if given and place not in needed}


def names_in(source: str, given: bool) -> Names:
    """The names of a cell, which is given or not."""
    table = _table(source)
    if table is None:
        return Names(frozenset(), frozenset(), frozenset(), frozenset(), True)
    now: set[str] = set()
    lasting: set[str] = set()
    binds: set[str] = set()
    variables: set[str] = set()
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if symbol.is_referenced():
            (now if given else lasting).add(name)
        if symbol.is_assigned() or symbol.is_imported():
            binds.add(name)
            if not symbol.is_imported() and not symbol.is_namespace():
                variables.add(name)
    for child in table.get_children():
        at_once = given and child.get_name() in _COMPREHENSIONS
        (now if at_once else lasting).update(_globals(child))
        waiting = child.get_children()
        while waiting:
            inner = waiting.pop()
            lasting.update(_globals(inner))
            waiting += inner.get_children()
    return Names(frozenset(now), frozenset(lasting), frozenset(binds), frozenset(variables), opaque=False)


def _globals(table: symtable.SymbolTable) -> Iterable[str]:
    if isinstance(table, symtable.Function):
        return table.get_globals()
    return [symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()]


def _table(source: str) -> symtable.SymbolTable | None:
    for text in (source, None):
        try:
            text = as_python(source) if text is None else text
            return symtable.symtable(text, "<cell>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None
