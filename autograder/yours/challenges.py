"""A challenge after the last ✓: one small change in the learner's own answer, and what comes of it."""

import contextlib
import io
import random
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograder import random_state
from autograder.calls import SECONDS, Answer, Call, TooLongError, is_small, look_alike, noting, same, text_of, within
from autograder.changes import Mutant, mutants
from autograder.check import CheckFailed, _progress
from autograder.yours.source import newest

_ODD = re.compile(r"\.to\(\)|\brand|^return \d+$|^raise ['\"]|^[\w.]+$|transpose\((-?\d), \1\)")
SECONDS_IN_ALL = 15.0  # for all changes that are looked at
MOST_FAIR, MOST_OPTIONS = 4, 4  # changes among which the best is taken; values to choose from


@dataclass(frozen=True)
class Challenge:
    """A question about a changed answer."""

    question: str
    is_right: Callable[..., bool]  # whether what the learner says is so
    truth: str  # what is so
    change: str  # the learner's line before → after
    broken: str  # the first rule that it breaks, and by what


@dataclass
class _Bench:
    """An answer of a notebook, and its rules, to be tried with other answers in its place."""

    exercise: str
    notebook: dict[str, Any]
    draw: random.Random
    rules: dict[str, Callable[[], None]] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = dict(_progress.rules(self.exercise))
        self.name = self.exercise.partition(" ")[2]
        self.own: Answer = self.notebook[self.name]

    def defined(self, mutant: Mutant) -> Answer | None:
        """The changed answer, which sees the names of the notebook as a rule leaves them; None where that fails."""
        before = dict(self.notebook)
        try:
            exec(mutant.code, self.notebook)
            made: Answer = self.notebook[self.name]
            return made
        except Exception:
            return None
        finally:
            for name in self.notebook.keys() - before.keys():
                del self.notebook[name]
            self.notebook.update(before)

    def broken(self, answer: Answer) -> dict[str, Exception]:
        """The rules that another answer breaks, each with its error; the first alone where Python ends it.

        Raises:
            TooLongError: one of them comes to no end.
        """
        self.notebook[self.name] = answer
        found = {}
        try:
            with (
                within(SECONDS),
                random_state.preserved(),
                contextlib.redirect_stdout(io.StringIO()),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                for rule, attempt in self.rules.items():
                    try:
                        attempt()
                    except Exception as error:
                        found[rule] = error
                        if len(found) == 1 and not isinstance(error, CheckFailed):
                            break
        finally:
            self.notebook[self.name] = self.own
        return found

    def calls(self) -> list[Call]:
        """What the rules call the learner's own function with, where that can be shown."""
        found: list[Call] = []
        with contextlib.suppress(TooLongError):
            self.broken(noting(self.own, found))
        return found


def make(exercise: str, notebook: dict[str, Any], draw: random.Random) -> Challenge | None:
    """Change the answer to a solved exercise, and ask something that running it decides; None where no change is fair.

    A fair change ends in no Python error. Of several one is taken that keeps all shapes and types, if there is one, and
    gets furthest through the rules; where one can be shown by its values, such a one.

    Args:
        exercise: as its heading names it, "1.4 causal_mask"; all its checks have passed in this session.
        notebook: the names of the notebook.
    """
    bench, fair, deadline = _Bench(exercise, notebook, draw), list[_Fair](), time.monotonic() + SECONDS_IN_ALL
    changes = [mutant for mutant in mutants(newest(bench.name, notebook)) if _is_natural(mutant.change)]
    draw.shuffle(changes)
    calls = bench.calls()
    for change in changes:
        is_enough = any(each.telling for each in fair) or len({each.verdict for each in fair}) > 1
        if time.monotonic() > deadline or (is_enough and len(fair) >= MOST_FAIR):
            break
        with contextlib.suppress(TooLongError):
            fair += _fair(bench, change, calls)
    if not fair:
        return None
    rules = list(bench.rules)
    best = max(fair, key=lambda each: (bool(each.telling), each.is_quiet, rules.index(each.broken[0])))
    kept = [rule for rule in rules if rule not in best.broken]
    with contextlib.suppress(TooLongError), within(SECONDS):
        match draw.choice(["value", "input"] * bool(best.telling) + ["rule"] * bool(kept) or ["verdict"]):
            case "value":
                others = filter(None, map(bench.defined, changes[: 3 * MOST_OPTIONS]))
                return _about_values(bench, best.telling[0], [best.changed, bench.own, *others], best.shown)
            case "input":
                return _about_inputs(bench, best.changed, best.telling[0], best.shown)
    if kept:
        options = sorted([best.broken[0], *draw.sample(kept, min(len(kept), MOST_OPTIONS - 1))], key=rules.index)
        question = "Which of these rules does it break? The others still hold."
        return _about_options(question, options, options.index(best.broken[0]), best.shown)
    verdicts = sorted({each.verdict for each in fair})
    if len(verdicts) == 1:
        return None
    question = "What does the first check that fails say of it?"
    return _about_options(question, verdicts, verdicts.index(best.verdict), best.shown)


def can_be_changed(exercise: str, notebook: dict[str, Any]) -> bool:
    """Whether what defines the answer holds anything to change: that of an object of a class does not."""
    return bool(mutants(newest(exercise.partition(" ")[2], notebook)))


def _is_natural(change: str) -> bool:
    """Something changes that somebody might write, and that is shown whole: no block goes, or changes its place."""
    before, _, after = change.partition(" → ")
    is_part = before.endswith(":") and (after == "(deleted)" or after.endswith(" first"))
    is_part |= "return " in before and after == "(deleted)"
    return before != after and not is_part and not _ODD.search(after)


class _Fair(NamedTuple):
    """A change that may be asked about."""

    changed: Answer
    is_quiet: bool  # all shapes and types stay as they are
    broken: list[str]  # the rules that it breaks
    verdict: str  # what the first of them says
    telling: list[Call]  # calls for which the changed answer gives something else
    shown: tuple[str, str]  # what was changed, and what breaks


def _fair(bench: _Bench, change: Mutant, calls: Sequence[Call]) -> Iterator[_Fair]:
    """The change, if it is fair and there is something to ask about it."""
    changed = bench.defined(change)
    broken = bench.broken(changed) if changed is not None else {}
    rule, error = next(iter(broken.items()), ("", None))
    if changed is None or not isinstance(error, CheckFailed):
        return
    with within(SECONDS):
        pairs = [(call, call.made(bench.own), call.made(changed)) for call in calls]
    telling = [call for call, own, other in pairs if not same(own, other)]
    fails = any(isinstance(other, str) and not isinstance(own, str) for _, own, other in pairs)
    if not fails:
        shown = change.change, f"The first rule that it breaks is “{rule}”: {error.verdict}"
        is_quiet = all(look_alike(own, other) for _, own, other in pairs)
        yield _Fair(changed, is_quiet, list(broken), error.verdict, telling, shown)


def _about_options(question: str, options: Sequence[str], right: int, shown: tuple[str, str]) -> Challenge:
    """Which of these options it is, by their places."""
    listed = "\n".join(f"  {number}  {option}" for number, option in enumerate(options, start=1))
    return Challenge(f"{question}\n{listed}", lambda said=None: said == right + 1, f"It is {right + 1}.", *shown)


def _about_values(bench: _Bench, call: Call, answers: Sequence[Answer], shown: tuple[str, str]) -> Challenge:
    """What the first of these answers returns, among what the others do."""
    values: list[object] = []
    made = (call.made(answer) for answer in answers)
    for value in (each for each in made if not isinstance(each, str) or isinstance(call.made(bench.own), str)):
        if is_small(value) and not any(same(value, other) for other in values) and len(values) < MOST_OPTIONS:
            values.append(value)
    order = bench.draw.sample(range(len(values)), len(values))
    question = f"What does the changed one make of\n    {call.of(bench.name)}"
    return _about_options(question, [text_of(values[place]) for place in order], order.index(0), shown)


def _about_inputs(bench: _Bench, changed: Answer, call: Call, shown: tuple[str, str]) -> Challenge:
    def is_right(*args: object, **kwargs: object) -> bool:
        own = Call(args, kwargs)
        with within(SECONDS):
            return not same(own.made(bench.own), own.made(changed))

    question = f"Find an input on which the two differ: yours.answer(…), with what you would give `{bench.name}`."
    return Challenge(question, is_right, f"They differ on\n    {call.of(bench.name)}", *shown)
