"""What every check goes through: its own random state, right neighbours, and one line or one verdict at its end."""

import builtins
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr
from types import FunctionType
from typing import Any

import numpy as np
import torch

from autograder import lessons, random_state
from autograder.check import _backend, _causes, _panel, _progress
from autograder.check._errors import CheckFailed, ExerciseName, NotWritten, case_of
from autograder.check._forbidden import reads, require_written_by_hand
from autograder.check._progress import Ending
from autograder.check._translate import MODULES, REBOUND, from_exception

SEED = 20170612


def exercise(name: str, *, given: Mapping[str, object] | None = None) -> Callable[[Callable[[], None]], None]:
    """Run the decorated check at once, and print one line when it passes.

    The function's name is the rule it proves, `each_row_sums_to_one`. The check runs with its own random state, and
    what the answer writes to stderr goes to stdout, so that a warning costs nothing.

    Args:
        name: the exercise, as its heading names it.
        given: right neighbours that stand in for the learner's own functions while the check runs, so that one
            mistake is not paid for twice.

    Raises:
        CheckFailed: what is wrong, in the learner's words.
        NotWritten: the answer is still its stub.
    """
    exercise_name, neighbours = ExerciseName.parse(name), given or {}

    def run(check: Callable[[], None]) -> None:
        def attempt() -> None:
            with (
                _isolated(of_module=exercise_name.answer[:1].isupper()),
                _replaced(notebook, neighbours),
                _backend.current().exercise(neighbours),
            ):
                _with_the_courses_names(check)()
                _require_shared_state_unchanged()

        rule, notebook, failed = check.__name__.replace("_", " "), check.__globals__, None
        answers = lessons.installed().answers_of(exercise_name.answer)
        own = [notebook.get(answer) for answer in answers]
        if "In" in notebook:  # where somebody works
            _progress.keep(name, rule, attempt)
        try:
            for answer in answers:
                if len(answers) == 1 or reads(check.__code__, answer):
                    require_written_by_hand(answer, notebook)
            _causes.run(attempt)
        except Exception as error:
            failed = error if isinstance(error, CheckFailed) else from_exception(error, check.__code__, notebook)
            failed.case = case_of(error)
        if failed is None:
            _progress.record(name, rule, Ending.PASSED, own)
            print(f"✓ {name}: {rule}.")
            lessons.tell(lessons.installed().passed, name, rule, _progress.exercises(), notebook)
            return
        is_unwritten = isinstance(failed, NotWritten)
        _progress.record(name, rule, Ending.UNWRITTEN if is_unwritten else Ending.FAILED, own)
        if not is_unwritten:
            lessons.tell(lessons.installed().failed, name, rule, _progress.exercises(), notebook)
        failed.exercise, failed.rule, failed.display = exercise_name, None if is_unwritten else rule, _panel.show
        # Neither the frames of the check nor the error that a verdict was made of: both hold tensors.
        failed.__context__, failed.__traceback__ = None, None
        try:
            raise failed from None
        finally:
            del failed

    return run


@contextmanager
def _isolated(*, of_module: bool) -> Iterator[None]:
    """The random state, PyTorch's defaults, gradients and warnings are a check's own, and the caller's come back.

    Args:
        of_module: the answer is a class, which may leave a parameter as it finds it in memory: zeros by chance.
    """
    defaults = random_state.Defaults.capture()
    with (
        random_state.preserved(),
        random_state.unset_memory_is_nan() if of_module else nullcontext(),
        torch.enable_grad(),
        redirect_stderr(sys.stdout),
        warnings.catch_warnings(),
    ):
        seed_all()
        random_state.Defaults().restore()
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            defaults.restore()


def seed_all() -> None:
    """Seed PyTorch, Python and NumPy as every check does."""
    random.seed(SEED)
    np.random.seed(SEED)
    if torch.cuda.is_initialized() or torch.backends.mps.is_available():  # type: ignore[no-untyped-call]
        torch.manual_seed(SEED)
    else:  # a tenth of the time: no seed has to be kept for devices that nobody uses
        torch.default_generator.manual_seed(SEED)


def _require_shared_state_unchanged() -> None:
    """The answer has changed nothing that all of PyTorch shares."""
    state = _backend.current().shared_state()
    if not state.gradients_enabled:
        raise CheckFailed("Your code switches gradients off for everybody.", slip="Use `with torch.no_grad():`.")
    if state.default_dtype != torch.float32:
        raise CheckFailed("Your code changes PyTorch's default dtype for everybody.")
    if state.seed != SEED:
        slip = "Who calls your code decides about that, once."
        raise CheckFailed("Your code seeds PyTorch's random numbers.", slip=slip)


def _with_the_courses_names(check: Callable[[], None]) -> Callable[[], None]:
    """The check, for which the names of the setup cell and Python's own mean what they did, whatever a notebook does.

    Answers go on seeing the notebook's own: `data = [1, 2]` in a cell is the learner's business.
    """
    names = dict(check.__globals__)
    modules = {module.rpartition(".")[2]: module for module in lessons.installed().modules}
    for name, module in ({} if REBOUND in names else MODULES | modules).items():
        if name in names and getattr(names[name], "__name__", "") != module and module in sys.modules:
            names[name] = sys.modules[module]
    if not isinstance(names.get("device", ""), str | torch.device):
        names["device"] = torch.device("cpu")
    for name in vars(builtins).keys() & names.keys():
        if not name.startswith("__"):
            del names[name]
    return FunctionType(check.__code__, names, check.__name__, check.__defaults__, check.__closure__)


@contextmanager
def _replaced(notebook: dict[str, Any], given: Mapping[str, object]) -> Iterator[None]:
    """Names of the notebook mean what is given, and afterwards what they did."""
    before = {name: notebook[name] for name in given if name in notebook}
    notebook.update(given)
    try:
        yield
    finally:
        for name in given:
            notebook.pop(name, None)
        notebook.update(before)
