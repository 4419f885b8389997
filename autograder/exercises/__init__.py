"""The exercises, each with the cases that answers are tried on, and the slips that messages name.

`exercises.padding_mask` is the module `lesson_1/padding_mask.py`. In it `cases` compares an answer with PyTorch on
inputs drawn from a seed, from the smallest to the largest, so the first that fails is the smallest one found. Notebooks
call it with the seed that students see; hidden tests with others. `slips` takes what a check gave to the answer and
returns `{slip: values}` for `mistakes=` of `check.close`, `check.equal` and `check.shape`; a slip completes "These are
the values you get when …". A slip that could not show on these inputs is left out.
"""

import importlib
import pkgutil
from types import ModuleType

_MODULES = {
    name.rpartition(".")[2]: importlib.import_module(name)
    for _, name, is_lesson in pkgutil.walk_packages(__path__, f"{__name__}.")
    if not is_lesson and not name.endswith(".shared")
}


def __getattr__(name: str) -> ModuleType:
    """Return the module of an exercise."""
    if name in _MODULES:
        return _MODULES[name]
    raise AttributeError(f"no exercise is called {name}")
