"""How an exception that escapes from an answer becomes a verdict."""

import linecache
import re
import sys
import textwrap
import traceback
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType, TracebackType
from typing import Any, NamedTuple

from torch import Tensor, nn

from autograder.check._errors import CheckBroken, CheckFailed, NotWritten
from autograder.stub import STUB_MESSAGE

REBOUND = "__rebound__"  # under which a judge knows the names of modules that a notebook has given to something else
# What answers and checks call so in all lessons.
MODULES = {"F": "torch.nn.functional", "check": "autograder.check", "math": "math", "nn": "torch.nn", "torch": "torch"}
COURSE = __name__.partition(".")[0]
COURSES_MISTAKE = "The check itself is broken: this is a mistake of the course."
NOT_YOURS = "Nothing is wrong with your answer for that. Please tell whoever gives the course."
NO_MESSAGE = "It came without a message."
MAX_DETAIL_LINES = 3
MAX_LINE_LENGTH = 160
# Python and PyTorch give no data about what went wrong, only words; behind them stands the line, after a line's end.
ADVICE = {
    r"Boolean value of Tensor": (
        "`if`, `not`, `and`, `or` and Python's `max` and `min` ask for one yes or no, and this tensor holds many. "
        "`mask is not None` is one; `~`, `&` and `|` work on every entry."
    ),
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x": (
        "The last dimension is {0} wide, and the layer or matrix it meets takes {1}."
    ),
    r"must match the size of tensor b .*\n.*\w\.T\b": (
        "`.T` reverses all dimensions, that of the batch too; `transpose(-2, -1)` exchanges the last two."
    ),
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)": (
        "Lined up at their last dimensions, the two tensors differ in dimension {2}: {0} entries in one, {1} in the "
        "other. They must be equal, or one of them 1."
    ),
    r"shape of the mask \[.*\] at index": (
        "An index does not broadcast: it needs the shape of what it stands behind. `masked_fill` and `torch.where` do."
    ),
    r"must be Tensor, not (ReLU|GELU|Softmax|Dropout|Linear|LayerNorm|Embedding)\b": (
        "`nn.{0}(…)` makes a layer; the layer computes when it is called in its turn, with the tensor."
    ),
    r"'Tensor' object is not callable": (
        "What stands before the parentheses is a tensor, computed already: only a layer or a function is called."
    ),
    r"expected Tensor as element 0 in argument 0, but got list": (
        "A list stands where a tensor belongs: `torch.cat(tensors)` takes one list of tensors, and "
        "`torch.block_diag(*tensors)` takes them one by one."
    ),
    r"must be Tensor, not (?:int|float)": "PyTorch's functions take tensors; for a number there is the one of `math`.",
    r"only one element tensors can be converted": (
        "`math` and `float` take one number; a tensor's own methods, as `x.exp()`, work on every entry."
    ),
    r"attribute '\w+' already exists": "`register_buffer` sets the attribute itself: leave the other line out.",
    r"can't assign a (?:list|tuple) to a torch": "Make a tensor of it first: `torch.tensor(…)`.",
    r"view size is not compatible": (
        "`view` cannot join dimensions whose numbers do not lie one after the other in memory, as after `transpose`, "
        "`expand` or a slice: `reshape` can."
    ),
    r"received an empty list of sequences": "There is nothing to pad: a batch holds no pairs.",
    r"'tuple' object has no attribute": (
        "What stands before the dot is a tuple, not a tensor or a list: a function that returns several values gives "
        "one, and so does a comma."
    ),
}
UNDEFINED = re.compile(r"name '(\w+)' is not defined")
MISFIT_CALL = re.compile(r"positional argument|keyword argument|multiple values")


class Frame(NamedTuple):
    """One frame of a stack trace."""

    code: CodeType
    line: int
    scope: dict[str, Any]


class Place(NamedTuple):
    """A place in a notebook: the function as a learner knows it, the line in its cell, and what stands there."""

    owner: str
    line: int
    source: str


def from_exception(error: Exception, check: CodeType, notebook: Mapping[str, Any]) -> CheckFailed:
    """Turn an exception that escaped from an answer into a verdict that names the learner's line.

    Args:
        check: the code of the check; its own cell is not the learner's.
    """
    frames = list(frames_of(error.__traceback__))
    own: list[Place] | None = getattr(error, "answer_frames", None)  # where the answers are in another process
    if own is None:
        own = [
            where(frame.code, frame.line)
            for frame in frames
            if frame.scope is notebook and frame.code.co_filename != check.co_filename
        ]
    if isinstance(error, NotImplementedError) and str(error) in ("", STUB_MESSAGE):
        name = own[-1][0] if own else "this answer"
        return NotWritten(
            f"`{name}` is not written yet.",
            slip="Put your answer in place of the line that raises NotImplementedError, run that cell, "
            "then run this one again.",
        )
    if not own and _is_the_courses(error, frames, notebook):
        return CheckBroken(COURSES_MISTAKE, _told(error), NOT_YOURS)
    if isinstance(error, NameError) and not own:
        slip = "Run the cell that defines it (if it ends in an error, mend that), then this one again."
        failed = CheckFailed(f"`{error.name}` is not defined.", slip=slip)
        failed.missing = error.name or ""
        return failed
    if not own and (misfit := _misfit(error, notebook)):
        return misfit
    if not own:
        return CheckFailed("The check cannot go on with your answer.", _told(error))
    text, kind = _shorten(str(error) or NO_MESSAGE), type(error).__name__
    owner, line, source = own[-1]
    places = [f"in line {line} of its cell" + (f":  {source}" if source else "")]
    others = [place for place in own if _whole(place[0]) != _whole(owner)]
    if others:  # `owner` is a helper, or stands in a cell that was given: who calls it matters more
        caller, line, source = others[-1]
        places.append(f"called in line {line} of the cell of `{_whole(caller)}`:  {source}")
    advice = _rebound(source, notebook) or _advice(f"{error}\n{source}")
    failed = CheckFailed(f"`{owner}` raised {kind}.", [*text, *places], advice)
    if isinstance(error, NameError) and (missing := UNDEFINED.search(str(error))):
        failed.missing = missing[1]
    return failed


def where(code: CodeType, line: int) -> Place:
    """The place of a line of code in its notebook: `MultiHeadAttention.forward`, never `f.<locals>.<lambda>`."""
    owner = code.co_qualname.split(".<locals>")[0].removeprefix("<lambda>") or "your lambda"
    return Place(owner, line, linecache.getline(code.co_filename, line).strip())


def frames_of(trace: TracebackType | None) -> Iterator[Frame]:
    """The frames of a stack trace, the outermost first."""
    return (Frame(frame.f_code, line, frame.f_globals) for frame, line in traceback.walk_tb(trace))


def _whole(owner: str) -> str:
    """The function or class that a place is in, `MultiHeadAttention` for `MultiHeadAttention.forward`."""
    return owner.partition(".")[0]


def _is_the_courses(error: Exception, frames: list[Frame], notebook: Mapping[str, Any]) -> bool:
    """A name is missing in the course's own code or in one of its modules, or a statement of a check takes no such
    argument: no answer can be the reason."""
    if isinstance(error, TypeError) and MISFIT_CALL.search(str(error)):
        called = str(error).partition("(")[0]
        is_statement = called not in notebook and hasattr(sys.modules[f"{COURSE}.check"], called)
        return bool(frames) and called in frames[-1].code.co_names and is_statement
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ModuleType) and error.obj.__name__.partition(".")[0] == COURSE
    raised_in = str(frames[-1].scope.get("__name__")) if frames else ""
    return isinstance(error, ImportError) or (isinstance(error, NameError) and raised_in.partition(".")[0] == COURSE)


def _told(error: Exception) -> list[str]:
    """What was raised, and its words."""
    first, *others = _shorten(str(error) or NO_MESSAGE)
    return [f"{type(error).__name__}: {first}", *others]


def _misfit(error: Exception, notebook: Mapping[str, object]) -> CheckFailed | None:
    """The verdict on an answer that has not the form that the check calls: its arguments or its attributes."""
    if isinstance(error, TypeError) and MISFIT_CALL.search(str(error)):
        called = str(error).partition(".")[0]
        if called not in notebook and hasattr(nn, called):  # as a part of an answer, perhaps in the place of another
            slip = "Is it the part that belongs there?"
            return CheckFailed(f"PyTorch's `{called}` does not take the arguments that it gets.", _told(error), slip)
        slip = "Keep the arguments, their order and their defaults as they were given."
        return CheckFailed(
            "Your answer does not take the arguments that it is called with.", _shorten(str(error)), slip
        )
    if not isinstance(error, AttributeError) or error.name is None or isinstance(error.obj, type | ModuleType):
        return None
    if error.obj is None:
        slip = "Does each of your functions end in a `return`, and does `__init__` make each part?"
        return CheckFailed(f"There is None where something with `{error.name}` should be.", slip=slip)
    kind = type(error.obj).__name__
    if kind in notebook:
        return CheckFailed(f"`{kind}` has no attribute `{error.name}`.")
    if hasattr(Tensor, error.name) and not isinstance(error.obj, nn.Module):  # which is a part of another kind
        return CheckFailed(f"There is something of the type {kind} where a tensor should be.")
    slip = "Every part needs the name, and is of the kind, that the exercise gives."
    return CheckFailed(f"A part of your answer, of the type {kind}, has no `{error.name}`.", slip=slip)


def _rebound(line: str, notebook: Mapping[str, Any]) -> str | None:
    """What a line that failed has to do with a module whose name now means something else."""
    known = notebook.get(REBOUND, ())
    for name, module in MODULES.items():
        is_other = name in known or (name in notebook and not isinstance(notebook[name], ModuleType))
        if is_other and re.search(rf"\b{name}\.", line):
            return f"`{name}` is no longer {module}: a variable of your notebook has that name. Give it another one."
    return None


def _advice(text: str) -> str | None:
    """What an error says, in a learner's words."""
    found = ((re.search(pattern, text), advice) for pattern, advice in ADVICE.items())
    return next((advice.format(*match.groups()) for match, advice in found if match), None)


def _shorten(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return [textwrap.shorten(line, MAX_LINE_LENGTH, placeholder=" …") for line in lines[:MAX_DETAIL_LINES]]
