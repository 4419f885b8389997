"""What both sides of the bridge hold alike, so that it crosses by its name: dtypes, PyTorch's layers, our own parts."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
from types import ModuleType

import torch
import torch.nn.functional as F
from torch import nn, optim

import autograder
from autograder import check, data, draw, mistakes, parts
from autograder.parts import blocks

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    )
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
OPTIMIZERS = {name: kind for name, kind in vars(optim).items() if isinstance(kind, type)}
MODULES = {each.__name__: each for each in (math, torch, nn, F, optim, autograder, check, data, draw, mistakes, parts)}
ERRORS = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
OWN_OF_MODULES = frozenset(vars(nn.Module())) | {"_peer", "_number"}  # a mirror has the two


def _objects() -> dict[str, object]:
    classes = [
        *(nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear, nn.Embedding, nn.LayerNorm, nn.Dropout),
        *(nn.ReLU, nn.GELU, nn.Softmax, nn.Identity, nn.Sequential, nn.ModuleList, nn.ModuleDict),
        *(nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer),
        *(nn.TransformerEncoder, nn.TransformerDecoder, nn.Transformer, blocks._RecordingAttention),
    ]
    own = [each for each in vars(parts).values() if inspect.isfunction(each) or inspect.isclass(each)]
    found: dict[str, object] = {f"{each.__module__}.{each.__qualname__}": each for each in classes + own}
    for name in ("relu", "gelu", "softmax", "scaled_dot_product_attention"):
        found[f"F.{name}"] = getattr(F, name)
    return found | {"torch.relu": torch.relu, "torch.softmax": torch.softmax}


OBJECTS = _objects()
NAMES = {id(each): name for name, each in OBJECTS.items()}
# The scripted model remembers how it is used: a copy of it elsewhere would not.
LAYERS = frozenset(
    name
    for name, each in OBJECTS.items()
    if isinstance(each, type) and issubclass(each, nn.Module) and each is not parts.ScriptedModel
)

# What the judge never shows of its models, and lets nobody change: what they are going to say.
SECRETIVE = (parts.ScriptedModel,)


def layer_name(module: nn.Module) -> str | None:
    """The name of a module's class, where the other side can rebuild the module from its plain attributes."""
    name = NAMES.get(id(type(module)))
    hooked = any(vars(module).get(key) for key in ("_forward_hooks", "_forward_pre_hooks")) or "forward" in vars(module)
    return name if name in LAYERS and not hooked else None


@functools.cache
def ancestor(kind: type) -> type[nn.Module]:
    """The nearest class above `kind` that both sides have."""
    return next((each for each in kind.__mro__ if NAMES.get(id(each)) in LAYERS), nn.Module)


@functools.cache
def may_be_set(kind: type, name: str) -> bool:
    """A plain attribute of that name on a module of that class hides nothing that the class itself has."""
    return name.isidentifier() and name not in OWN_OF_MODULES and not name.startswith("__") and not hasattr(kind, name)


def is_module(value: object) -> bool:
    """A Python module that both sides have."""
    return isinstance(value, ModuleType) and MODULES.get(value.__name__) is value
