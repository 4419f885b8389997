"""Statements about modules: what they hold, and where it lives. `autograder.check` hands them on to check cells."""

import inspect
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder.check import _backend
from autograder.check._compare import kind, versus
from autograder.check._errors import CheckFailed

# How PyTorch says that tensors are on several devices, before 2.12 and since.
MISMATCH = "two different devices", "same device"


def parameters(name: str, module: nn.Module, expected: Mapping[str, Sequence[int]]) -> None:
    """The trainable parameters of `module` are exactly those in `expected`: name → shape."""
    if not isinstance(module, nn.Module):
        raise CheckFailed(f"`{name}` should be an nn.Module.", [f"got  {kind(module)}"])
    # Under all their names: a part may stand in a container of the learner's own as well.
    trainable = {key: value for key, value in module.named_parameters(remove_duplicate=False) if value.requires_grad}
    matched: set[int] = set()
    for key, expected_shape in expected.items():
        if key not in trainable or id(trainable[key]) in matched:
            if stack := _shared_stack(module, key):
                slip = f"`{stack}` holds one layer many times; each needs its own."
                raise CheckFailed(f"In `{name}`, all layers share their parameters.", slip=slip)
            if twin := _same_module(module, key):
                part = key.partition(".")[0]
                raise CheckFailed(f"In `{name}`, `{part}` is the same module as `{twin}`.", slip="Each needs its own.")
            if key in trainable:
                twin = next(each for each in expected if trainable.get(each) is trainable[key])
                raise CheckFailed(
                    f"In `{name}`, `{key}` is the same parameter as `{twin}`.", slip="Each needs its own."
                )
            if not trainable and dict(module.named_parameters()):
                slip = "`requires_grad` is False for each of them."
                raise CheckFailed(f"All parameters of `{name}` are frozen.", slip=slip)
            raise _missing(name, module, key)
        if tuple(trainable[key].shape) != tuple(expected_shape):
            lines = versus(tuple(expected_shape), tuple(trainable[key].shape))
            raise CheckFailed(f"The parameter `{key}` has the wrong shape.", lines)
        matched.add(id(trainable[key]))
    extra = [key for key, value in trainable.items() if id(value) not in matched]
    if extra:
        raise CheckFailed(f"`{name}` has a trainable parameter that it should not have: `{extra[0]}`.")


def _same_module(module: nn.Module, key: str) -> str | None:
    """The other name of the part of `module` that should hold the parameter `key`, where it has one."""
    part = key.partition(".")[0]
    children = dict(module._modules)
    return next(
        (name for name, child in children.items() if child and child is children.get(part) and name != part), None
    )


def _shared_stack(module: nn.Module, key: str) -> str | None:
    """The name of the list of layers on the way to the parameter `key` that holds one layer again and again."""
    path = key.split(".")
    for depth in range(1, len(path)):
        stack = dict(module.named_modules()).get(".".join(path[:depth]))
        if isinstance(stack, nn.ModuleList) and len(stack) > 1 and all(layer is stack[0] for layer in stack):
            return ".".join(path[:depth])
    return None


def _missing(name: str, module: nn.Module, key: str) -> CheckFailed:
    """The verdict that `module` has no trainable parameter `key`, in terms of the first part on the way that lacks it.

    What lies inside a part that is another module than it should be has names that the learner has never seen.
    """
    place, here, missing = module, list[str](), key.split(".")
    while len(missing) > 1 and isinstance(part := place._modules.get(missing[0]), nn.Module):
        place = part
        here.append(missing.pop(0))
    inside = f"`{'.'.join(here)}` in `{name}`" if here else f"`{name}`"
    own = [each for each, value in place.named_parameters(recurse=False) if value.requires_grad]
    parts = [each for each, part in place._modules.items() if part is not None and any(True for _ in part.parameters())]
    names = [*own, *(f"{each} (a layer)" if [each] == missing else each for each in parts)]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    held = [f"got  {shown or 'nothing that can be trained'}"]
    if here and len(missing) > 1 and not missing[0].isdigit():
        return CheckFailed(f"{inside} is another module than it should be.", [f"got  {kind(place)}"])
    if len(missing) > 2 or missing[0].isdigit():
        return CheckFailed(f"{inside} has no part `{missing[0]}`.", held, _unregistered(module, key))
    return CheckFailed(f"{inside} has no trainable parameter `{'.'.join(missing)}`.", held, _unregistered(module, key))


def _unregistered(module: nn.Module, key: str) -> str | None:
    """Why `module` does not have the parameter `key`, where that can be told."""
    head = key.partition(".")[0]
    wanted = "an `nn.Parameter`" if head == key else f"a layer, which has `{key.partition('.')[2]}`"
    if key in dict(module.named_parameters()):
        return f"`{key}` is frozen: its `requires_grad` is False."
    if head != key and isinstance(getattr(module, head, None), nn.Parameter):
        return f"`{head}` is a parameter itself; it should be a layer."
    if isinstance(module._modules.get(key), nn.Module):
        return f"`{key}` is a layer; it should be an `nn.Parameter`."
    named = dict(module.named_parameters(remove_duplicate=False))
    shared = [name for name, value in named.items() if name != key and value is named.get(key)]
    if shared:
        return f"`{key}` is the same parameter as `{shared[0]}`."
    if head in module._buffers:
        return f"`{head}` is a buffer, which is never trained; it should be {wanted}."
    if head not in module._modules and (found := getattr(module, head, None)) is not None:
        wrap = f" A plain tensor is no part of a module: it should be {wanted}." if isinstance(found, Tensor) else ""
        return f"`{head}` is there, but not as a layer or parameter that PyTorch registers.{wrap}"
    if named or head in module._modules:
        return None
    return f"`__init__` makes it a part of the module by `self.{head} = …`."


def layers(name: str, stack: object, of: type[nn.Module], count: int | None = None) -> None:
    """`stack` is a list of `count` layers (None: any number) that PyTorch knows of, each of the class `of`."""
    if not isinstance(stack, nn.ModuleList | nn.Sequential):
        slip = "PyTorch finds no layers in a plain list." if isinstance(stack, list | tuple) else None
        raise CheckFailed(f"`{name}` should be an nn.ModuleList.", [f"got  {kind(stack)}"], slip)
    if count is not None and len(stack) != count:
        raise CheckFailed(f"`{name}` has the wrong number of layers.", versus(count, len(stack)))
    strange = next((layer for layer in stack if not isinstance(layer, of)), None)
    if strange is not None:
        slip = None
        if type(strange).__name__ == of.__name__:
            slip = f"The check puts a right one in place of your class: write `{of.__name__}(…)` where you make them."
        raise CheckFailed(f"`{name}` should hold layers of the class {of.__name__}.", [f"got  {kind(strange)}"], slip)


def settings(name: str, module: nn.Module, *, num_heads: int, dropout: float) -> None:
    """Every attention of PyTorch's in `module` has `num_heads` heads, and every dropout acts at the rate `dropout`."""
    heads = sorted({part.num_heads for part in module.modules() if isinstance(part, nn.MultiheadAttention)})
    if heads and heads != [num_heads]:
        counts = " and ".join(map(str, heads))
        raise CheckFailed(f"With num_heads={num_heads} the layers of `{name}` have {counts} heads.")
    rates = sorted({part.p for part in module.modules() if isinstance(part, nn.Dropout)})
    if rates != [dropout]:
        found = " and ".join(map(str, rates)) or "no rate at all"
        raise CheckFailed(f"With dropout={dropout} the parts of `{name}` drop out at {found}.")


def buffer(name: str, module: nn.Module, key: str) -> None:
    """`key` is a buffer of `module`: it moves with it from device to device and is never trained."""
    if key in dict(module.named_buffers()):
        return
    if key in dict(module.named_parameters()):
        raise CheckFailed(f"`{name}.{key}` is a parameter; what is never trained should be a buffer.")
    if key in module._buffers:
        raise CheckFailed(
            f"`{name}.{key}` is None.", slip="`register_buffer` returns nothing: call it, assign nothing."
        )
    if key in module._modules:
        slip = "Register the table itself: a layer keeps its own under another name."
        raise CheckFailed(f"`{name}.{key}` is a layer; it should be a buffer, a tensor.", slip=slip)
    if hasattr(module, key):
        raise CheckFailed(
            f"`{name}.{key}` is not registered as a buffer, so it is neither saved nor moved to a device."
        )
    plain = [each for each, value in vars(module).items() if isinstance(value, Tensor)]
    held = [*dict(module.named_buffers()), *plain]
    found = f"got  {', '.join(held)}" if held else "got  neither a buffer nor another tensor in `self`"
    renamed = f"Its name has to be `{key}`." if len(held) == 1 else None
    raise CheckFailed(f"`{name}` has no buffer `{key}`.", [found], renamed)


def separate(name: str, one: nn.Module, other: nn.Module) -> None:
    """Two modules that were made one after the other share no parameter; `name` is the call that makes one."""
    parameters_of_one = {id(parameter) for parameter in one.parameters()}
    shared = next((key for key, parameter in other.named_parameters() if id(parameter) in parameters_of_one), None)
    if shared is not None:
        raise CheckFailed(f"Two modules made by `{name}` share their parameter `{shared}`.")


def device(name: str, function: Callable[..., object], *inputs: object) -> None:
    """`function` makes its new tensors where `inputs` are, and its result is there, too.

    No other device is needed: PyTorch computes shapes and devices alone, with tensors that hold no numbers. An answer
    that asks for numbers cannot be judged in this way, and passes; one that asks yes or no is told no, and then yes.

    Args:
        inputs: tensors, modules and whatever else it takes; parameters and buffers of modules live with the tensors.
    """
    backend = _backend.current()
    if backend.has(function, *inputs):
        return backend.ask(device, name, function, *inputs)
    if _stays_away_from_the_cpu(function, inputs):
        return
    # A build without CUDA cannot make tensors there, only compute with them.
    answers = [_Answering(answer) for answer in (False, True)]
    for elsewhere, answering in itertools.product(("cuda", "meta"), answers):
        if answering.answer and not answers[0].was_asked:
            continue  # it would do the same again, which takes as long
        try:
            result = _fake(elsewhere, answering, function, inputs)
        except Exception as error:
            if any(words in str(error) for words in MISMATCH):
                takes_module = any(isinstance(value, nn.Module) for value in (function, *inputs))
                slip = "register constants as buffers" if takes_module else "move others there with `.to(x.device)`"
                slip = f"For an input x, make new tensors with `device=x.device`; {slip}."
                raise CheckFailed(
                    f"`{name}` uses a tensor on the CPU while its inputs are elsewhere.", slip=slip
                ) from None
            continue
        results = result if isinstance(result, tuple | list) else [result]
        devices = [value.device.type for value in results if isinstance(value, Tensor)]
        strays = [device for device in devices if device != elsewhere]
        if strays:
            raise CheckFailed(f"`{name}` is on the device {strays[0]}, its inputs are elsewhere.")


class _Noting(TorchFunctionMode):
    """Notes whether a tensor on the CPU takes part in anything."""

    cpu = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What the function returns."""
        tensors = (value for value in tree_leaves((args, kwargs)) if isinstance(value, Tensor))
        self.cpu |= any(tensor.is_cpu for tensor in tensors)
        return function(*args, **(kwargs or {}))


class _Together(nn.Module):
    """A function and the modules that it is called with: one module, whose tensors can be elsewhere for a call."""

    def __init__(self, function: Callable[..., object], inputs: Sequence[object], noting: _Noting) -> None:
        super().__init__()
        self.function, self.noting = function, noting
        self.models = nn.ModuleList([value for value in inputs if isinstance(value, nn.Module)])

    def forward(self, *inputs: object) -> object:
        """What the function returns."""
        with self.noting:
            return self.function(*inputs)


class _Answering(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Answers yes or no where Python asks it of tensors that hold no numbers, as `while not ended.all()` does."""

    def __init__(self, answer: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.answer, self.was_asked = answer, False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What the operator returns."""
        asks = function is torch.ops.aten._local_scalar_dense.default and args[0].dtype is torch.bool
        try:
            return function(*args, **(kwargs or {}))
        except RuntimeError:
            if asks:
                self.was_asked = True
                return self.answer
            raise


@contextmanager
def _unlogged() -> Iterator[None]:
    """PyTorch keeps to itself what cannot be done with tensors that hold no numbers."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _stays_away_from_the_cpu(function: Callable[..., object], inputs: Sequence[object]) -> bool:
    """Whether there is nothing to ask: with inputs that hold no numbers, it computes with such tensors alone."""
    noting = _Noting()
    try:
        with torch.no_grad():
            result = _on("meta", function, inputs, noting)
    except Exception:
        return False
    return not noting.cpu and all(value.is_meta for value in tree_leaves(result) if isinstance(value, Tensor))


def _fake(elsewhere: str, answering: _Answering, function: Callable[..., object], inputs: Sequence[object]) -> object:
    from torch._subclasses.fake_tensor import FakeTensorMode  # takes a second, and few answers need it

    with _unlogged(), torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True), answering:
        return _on(elsewhere, function, inputs, _Noting())


def _on(elsewhere: str, function: Callable[..., object], inputs: Sequence[object], noting: _Noting) -> object:
    def moved(tensor: Tensor) -> Tensor:
        return torch.empty(tensor.shape, dtype=tensor.dtype, device=elsewhere)

    together = _Together(function, inputs, noting)
    state, made = dict[str, Tensor](), dict[int, Tensor]()
    # Each module once, and shared tensors shared: PyTorch puts back a module with two names as it found it last.
    for place, module in together.named_modules():
        own = module.named_parameters(recurse=False, remove_duplicate=False)
        for key, tensor in (*own, *module.named_buffers(recurse=False, remove_duplicate=False)):
            state[f"{place}.{key}".lstrip(".")] = made.setdefault(id(tensor), moved(tensor))
    arguments = tuple(moved(value) if isinstance(value, Tensor) else value for value in inputs)
    return torch.func.functional_call(together, state, arguments, tie_weights=False)


def defaults(name: str, function: Callable[..., object], **expected: object) -> None:
    """Arguments of `function`, or of the class, that have defaults have these; `name` is what it is called."""
    arguments = inspect.signature(function).parameters
    for key, value in expected.items():
        default = arguments[key].default if key in arguments else inspect.Parameter.empty
        if default is not inspect.Parameter.empty and default != value:
            slip = "Keep the arguments, their order and their defaults as they were given."
            raise CheckFailed(f"`{name}` has another default for `{key}`.", versus(value, default), slip)


def mode(name: str, module: nn.Module, training: bool) -> None:
    """`module` and all its parts still are in train mode, or in eval mode, after the call `name`."""
    if {part.training for part in module.modules()} != {training}:
        modes = {True: "train mode", False: "eval mode"}
        raise CheckFailed(f"`{name}` takes a model, or a part of it, out of {modes[training]}.")
