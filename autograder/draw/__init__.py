"""The course's figures: one look, colours that colour-blind readers can tell apart, and a sentence for each picture.

Every function takes tensors and returns a `Picture`, which a notebook shows when it is the last line of a cell;
`explore` makes one that a reader can move. They are those of `autograder.draw.figures`, which is imported when the
first of them is asked for: Matplotlib takes longer than all of the course, and not every lesson begins with a figure.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.figures"), name)


def __dir__() -> list[str]:
    names: list[str] = importlib.import_module(f"{__name__}.figures").__all__
    return names
