"""What both sides of the bridge hold alike and call by name: dtypes, PyTorch's layers, what the lessons bring."""

import builtins
import functools
import importlib
import inspect
import math
import pkgutil
from types import ModuleType

import torch
import torch.nn.functional as F
from torch import nn, optim

import autograder
from autograder import check, lessons

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    )
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
DEVICES = {name: torch.device(name) for name in ("cpu", "meta", "cuda")}
OPTIMIZERS: dict[str, type[optim.Optimizer]] = {
    name: kind for name, kind in vars(optim).items() if isinstance(kind, type) and issubclass(kind, optim.Optimizer)
}
LESSONS = lessons.installed()
MODULES: dict[str, ModuleType] = {
    module.__name__: module
    for module in (math, torch, nn, F, optim, autograder, check, *map(importlib.import_module, LESSONS.modules))
}
ERRORS = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
OWN_OF_MODULES = frozenset(vars(nn.Module())) | {"_caller", "_number"}  # a mirror has the two


def _objects() -> dict[str, object]:
    classes = [
        *(nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear, nn.Embedding, nn.LayerNorm, nn.Dropout),
        *(nn.ReLU, nn.GELU, nn.Softmax, nn.Identity, nn.Sequential, nn.ModuleList, nn.ModuleDict),
        *(nn.MultiheadAttention, *map(pkgutil.resolve_name, LESSONS.classes)),
    ]
    finished = (value for name in LESSONS.finished for value in vars(importlib.import_module(name)).values())
    own = [value for value in finished if inspect.isfunction(value) or inspect.isclass(value)]
    objects: dict[str, object] = {f"{value.__module__}.{value.__qualname__}": value for value in classes + own}
    for name in ("relu", "gelu", "softmax", "scaled_dot_product_attention"):
        objects[f"F.{name}"] = getattr(F, name)
    return objects | {"torch.relu": torch.relu, "torch.softmax": torch.softmax} | DTYPES | DEVICES | MODULES


OBJECTS = _objects()
NAMES = {id(value): name for name, value in OBJECTS.items()}
# What the judge never shows of its models, and lets nobody change.
SECRETIVE: tuple[type, ...] = tuple(map(pkgutil.resolve_name, LESSONS.secretive))
LAYERS: dict[str, type[nn.Module]] = {
    name: value
    for name, value in OBJECTS.items()
    if isinstance(value, type) and issubclass(value, nn.Module) and value not in SECRETIVE
}


def layer_name(module: nn.Module) -> str | None:
    """The name of a module's class, where the other side can rebuild the module from its plain attributes."""
    name = NAMES.get(id(type(module)))
    hooked = any(vars(module).get(key) for key in ("_forward_hooks", "_forward_pre_hooks")) or "forward" in vars(module)
    return name if name in LAYERS and not hooked else None


@functools.cache
def ancestor_name(kind: type) -> str:
    """The name of the nearest class above `kind` that both sides have; empty for `nn.Module`."""
    names = (NAMES.get(id(parent), "") for parent in kind.__mro__)
    return next((name for name in names if name in LAYERS), "")


@functools.cache
def may_be_set(kind: type, name: str) -> bool:
    """A plain attribute of that name on a module of that class hides nothing that the class itself has."""
    return name.isidentifier() and name not in OWN_OF_MODULES and not name.startswith("__") and not hasattr(kind, name)
