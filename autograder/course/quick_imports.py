"""Import nbformat and nbgrader in less time."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

GRAMMAR = "rfc3987_syntax"
EXTENSIONS = "assignment_list", "course_list", "formgrader", "validate_assignment"


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Within, to import nbformat takes 0.2 s of processor time instead of 1.5 s, and nbgrader 0.4 s less.

    For nbformat jsonschema is imported, which where it can compiles a grammar of addresses; no notebook has any use for
    that. nbgrader imports its parts of a Jupyter server, which who is no such server never runs.
    """
    modules: dict[str, Any] = sys.modules
    absent: dict[str, Any] = {GRAMMAR: None}  # an ImportError for whoever asks, which jsonschema expects
    if "nbgrader" not in modules:
        absent |= {name: _extension(name) for name in (f"nbgrader.server_extensions.{each}" for each in EXTENSIONS)}
    absent = {name: module for name, module in absent.items() if name not in modules}
    modules |= absent
    try:
        yield
    finally:
        for name, module in absent.items():
            if modules.get(name) is module:
                del modules[name]


def _extension(name: str) -> ModuleType:
    """A part of a Jupyter server that has what nbgrader hands on to one; whoever calls that gets the part itself."""

    def load(app: object) -> None:
        importlib.import_module(name).load_jupyter_server_extension(app)

    module = ModuleType(name)
    module.__dict__["load_jupyter_server_extension"] = load
    return module
