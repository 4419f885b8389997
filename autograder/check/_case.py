"""Which of many inputs a check is trying, so that a verdict can show the one that failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

import torch
from torch import Tensor

MOST_NUMBERS = 12  # of a tensor of whole numbers that is shown as it is


@contextmanager
def case(**inputs: object) -> Iterator[None]:
    """What runs inside is tried with these inputs, by name; a verdict that comes from it shows them."""
    try:
        yield
    except Exception as error:
        vars(error)["case"] = shorten(", ".join(_shown(*each) for each in inputs.items()), 150, placeholder=" …")
        raise


def case_of(error: BaseException) -> str:
    """The inputs with which an error came, as text; "" where none were named."""
    return str(vars(error).get("case", ""))


def _shown(name: str, value: object) -> str:
    """An input in a few words: small whole numbers as they are, other tensors by shape and dtype."""
    if not isinstance(value, Tensor):
        return f"{name} = {str(value).removeprefix('torch.')}"
    if value.numel() <= MOST_NUMBERS and not value.is_floating_point():
        return f"{name} = {value.tolist()}"
    dtype = (
        "" if value.dtype in (torch.float32, torch.int64, torch.bool) else f" in {value.dtype}".replace("torch.", "")
    )
    return f"{name} {tuple(value.shape)}{dtype}"
