"""The names that a check sees: the lesson's own from here, the others from the student's process."""

import ast
import builtins
import dis
import functools
import pkgutil
import sys
import warnings
from collections import UserDict
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any

import torch

from autograder.check._translate import MODULES as NAMED
from autograder.check._translate import REBOUND
from autograder.course.lesson import parse_or_none
from autograder.grading.rpc.channel import malformed
from autograder.grading.rpc.peer import Peer
from autograder.grading.rpc.proxies import RemoteClass, RemoteFunction
from autograder.grading.rpc.registry import MODULES
from autograder.grading.worker.messages import Operation

READING = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")


class Definitions:
    """The code that stands in the notebook where a name is bound, to see what an answer calls.

    Args:
        imports: what the lesson's own cells import, by the names that they give it: of these a check sees the judge's
            own, whatever the notebook makes of the names.
    """

    def __init__(self, imports: Mapping[str, str]) -> None:
        self._codes: dict[str, tuple[CodeType, ...]] = {}
        self._own = {name: own for name, source in {**NAMED, **imports}.items() if (own := _own(source)) is not None}
        self._own["device"] = torch.device("cpu")
        held = MODULES.values()
        self.modules = [name for name, own in self._own.items() if isinstance(own, ModuleType) and own in held]

    @property
    def names(self) -> list[str]:
        """All that is bound."""
        return [*self._codes]

    def add(self, source: str) -> None:
        """Remember what a cell binds.

        A name that the cell binds otherwise than by `def` or `class` stands for the whole cell.
        """
        module = _parsed(source)
        if module is None:
            return
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            whole = compile(module, "<cell>", "exec")
            codes = {constant.co_name: constant for constant in whole.co_consts if isinstance(constant, CodeType)}
            for statement in module.body:
                if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    # What a class is derived from is no part of its code.
                    bases = ast.Tuple(getattr(statement, "bases", []), ast.Load())
                    expression = ast.Expression(ast.copy_location(bases, statement))
                    own = codes.get(statement.name, whole), compile(expression, "<cell>", "eval")
                    self._codes[statement.name] = own
                else:
                    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                    self._codes |= {name.id: (whole,) for name in names if isinstance(name.ctx, ast.Store)}

    def scope(self, code: CodeType, peer: Peer) -> dict[str, Any]:
        """Return the names that a check's code sees.

        Raises:
            Lost: the student's process says what the protocol does not know.
        """
        scope: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, **self._own}
        # What a check binds is nobody's business; what it deletes as well was somebody's before.
        read = {*_names_read(code)} - (_names(code, "STORE_NAME") - _names(code, "DELETE_NAME"))
        for written in [self._codes[name] for name in read & self._codes.keys()]:
            read.update(*map(_names_read, written))
        theirs = sorted(
            name for name in read - self._own.keys() if not hasattr(builtins, name) and not name.startswith("__")
        )
        names = theirs + self.modules
        values = peer.request(Operation.LOOK_UP_NAMES, *names)
        if not isinstance(values, tuple) or len(values) != len(names):
            raise malformed("no names")
        rebound = set()
        for name, value in zip(names, values, strict=True):
            if not (isinstance(value, list) and len(value) <= 1):
                raise malformed("no name")
            if value and name not in self._own:
                scope[name] = self._with_code(name, value[0])
            elif value and not isinstance(value[0], ModuleType):
                rebound.add(name)
        scope[REBOUND] = rebound
        return scope

    def holding(self, code: CodeType, scope: dict[str, Any], peer: Peer) -> MutableMapping[str, Any]:
        """What a check's code binds its names in: the scope, and where it deletes some, the notebook as well."""
        return _Names(scope, peer) if _names(code, "DELETE_NAME") else scope

    def _with_code(self, name: str, value: Any) -> Any:
        """A function or class with the code that stands in the notebook."""
        codes = self._codes.get(name, ())
        if codes and isinstance(value, RemoteFunction):
            vars(value)["__code__"] = codes[0]
        elif isinstance(value, RemoteClass):
            for number, code in enumerate(codes):
                type.__setattr__(value, f"written_{number}", _WrittenMethod(code))
        return value


class _Names(UserDict[str, Any]):
    """The names of a check that deletes some: these are gone from the notebook, too, until they are bound again."""

    def __init__(self, scope: dict[str, Any], peer: Peer) -> None:
        self.data, self._peer, self._gone = scope, peer, set[str]()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._gone.add(name)
        self._peer.request(Operation.BIND, name, ())

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name in self._gone:
            self._gone.remove(name)
            self._peer.request(Operation.BIND, name, (value,))


def _own(source: str) -> Any:
    """What the judge has of that name: what both sides have, or something of Python's own; None for anything else."""
    if source.partition(".")[0] in sys.stdlib_module_names:
        with suppress(ImportError, AttributeError, ValueError):
            return pkgutil.resolve_name(source)
    return MODULES.get(source)


class _WrittenMethod:
    """A method of an answer, as it is written; nobody can call it here."""

    def __init__(self, code: CodeType) -> None:
        self.__code__ = code

    def __call__(self) -> None:
        raise TypeError("This is only what the answer says.")


def _parsed(source: str) -> ast.Module | None:
    """A cell's syntax tree; most cells are Python as they stand."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return parse_or_none(source)


@functools.cache
def _names_read(code: CodeType) -> frozenset[str]:
    """The global names that code, and what is defined in it, reads: no attributes, and not what it only binds."""
    inner = (_names_read(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return _names(code, *READING).union(*inner)


def _names(code: CodeType, *operations: str) -> frozenset[str]:
    """The names with which code itself does one of these operations of Python's."""
    return frozenset(each.argval for each in dis.get_instructions(code) if each.opname in operations)
