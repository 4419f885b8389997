"""Which files of this repository a file imports."""

import ast
import functools
import importlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ROOT, ROOT / "tests", ROOT / "tools"


def is_ours(module: str, name: str) -> bool:
    """Whether what is imported by this name from a module is of this repository."""
    return bool(file_of(module) or file_of(f"{module}.{name}"))


@functools.cache
def home(module: str, name: str) -> str:
    """The module that defines what another one knows by a name, or is that."""
    if file_of(f"{module}.{name}"):
        return f"{module}.{name}"
    value = getattr(importlib.import_module(module), name, None)
    defined = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return defined if file_of(defined or "") else module


@functools.cache
def file_of(module: str) -> Path | None:
    """The file of a module of ours."""
    path = module.replace(".", "/")
    files = (root / name for root in ROOTS for name in (f"{path}.py", f"{path}/__init__.py"))
    return next(filter(Path.is_file, files), None) if module else None


def reached(files: Iterable[Path]) -> set[Path]:
    """These files, and all of ours that they import, wherever in them."""
    left, found = set(files), set()
    while left:
        found |= left
        left = set().union(*map(imported, left)) - found
    return found


@functools.cache
def imported(path: Path) -> set[Path]:
    """The files of ours that one imports something of, wherever in it; packages that only hand it on are none."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {home(node.module, alias.name) for alias in node.names if is_ours(node.module, alias.name)}
    return set(filter(None, map(file_of, modules)))
