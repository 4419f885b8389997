"""Imports of PyTorch's that take half a second each, which few submissions need: they wait until one does.

PyTorch imports `torch._dynamo` with the first step of an optimizer, only to say that the step is not to be compiled. As
long as it is not there nothing is compiled, so what says so may do nothing. Its settings, which tensors without numbers
read, are there; whatever else is asked of it, or of one of its modules, loads it. `torch.distributed.tensor` is loaded
by the first call of `torch.testing.assert_close`, and of functions as `torch.where` on tensors without numbers.
"""

import importlib.util
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"
SLOW = {COMPILER: f"{COMPILER}.config", "torch.distributed.tensor": "torch.distributed.tensor"}  # name → what loads it


class _Postponed(ModuleType):
    """A package that is executed when it is first asked for something else than these two."""

    @staticmethod
    def disable(function: Any = None, *args: object, **options: object) -> Any:
        """Return the function, which nobody compiles."""
        return function

    @staticmethod
    def graph_break(*args: object, **options: object) -> None:
        """Do nothing, since nothing is being compiled."""

    def __getattr__(self, name: str) -> Any:
        """Load the package, and return what it has by that name; `__path__`, too, by which its modules are found."""
        spec = self.__spec__
        if name == "__file__" or spec is None or spec.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__path__ = [*(spec.submodule_search_locations or ())]
        spec.loader.exec_module(self)
        return getattr(self, name)


def postpone() -> None:
    """Let the compiler's import wait, unless it is there already."""
    spec = importlib.util.find_spec(COMPILER)
    if COMPILER not in sys.modules and spec is not None:
        package = importlib.util.module_from_spec(spec)
        sys.modules[COMPILER] = sys.modules["torch"]._dynamo = package  # type: ignore[attr-defined]
        importlib.import_module(f"{COMPILER}.config")
        del package.__path__
        package.__class__ = _Postponed


def loaded() -> set[str]:
    """Return which of the slow imports are there."""
    return {name for name in SLOW if type(sys.modules.get(name)) is ModuleType}


def load(names: Iterable[str]) -> None:
    """Do those of the slow imports that are named."""
    for name in SLOW.keys() & {*names}:
        importlib.import_module(SLOW[name])
