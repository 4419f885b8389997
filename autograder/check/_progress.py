"""What is solved and what is left: how the checks that ran in this session ended, shown at the end of a lesson."""

import os
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from html import escape
from types import FunctionType
from typing import NamedTuple

from autograder.check import _panel

SOLVED, WRONG, OPEN = "✓", "✗", "–"
LEFT, NAME, TABLE = "text-align:left", "text-align:left;white-space:nowrap", "margin:0;width:auto;table-layout:auto"


class Ending(Enum):
    """How a check ended."""

    PASSED = auto()
    FAILED = auto()
    UNWRITTEN = auto()


class State(NamedTuple):
    """Where an exercise stands: a mark, and what it stands for."""

    exercise: str
    mark: str
    words: str


class Session:
    """How the checks of one session ended when they last ran."""

    def __init__(self) -> None:
        self.exercises: Mapping[str, int] = {}  # each with the number of checks that a learner sees
        self._endings: dict[str, dict[str, Ending]] = {}  # exercise → rule → ending, for the answer as it is
        self._versions: dict[str, object] = {}  # exercise → the answer that those are about
        self._rewritten: set[str] = set()  # exercises whose answers have changed since a check ran
        self.rules: dict[str, dict[str, Callable[[], None]]] = {}  # exercise → rule → what tries it anew

    def record(self, exercise: str, rule: str, ending: Ending, version: object) -> None:
        """Remember how a check ended; what it did before is forgotten, and what others did with another answer."""
        if self._versions.setdefault(exercise, version) != version:
            self._versions[exercise] = version
            self._endings.pop(exercise)
            self._rewritten.add(exercise)
        self._endings.setdefault(exercise, {})[rule] = ending

    def state(self, exercise: str, count: int) -> State:
        """Where an exercise with so many checks stands."""
        endings = self._endings.get(exercise, {})
        if failing := [rule for rule, ending in endings.items() if ending is Ending.FAILED]:
            return State(exercise, WRONG, f"fails “{failing[0]}”")
        if Ending.UNWRITTEN in endings.values():
            return State(exercise, OPEN, "not written yet")
        if not endings:
            return State(exercise, OPEN, "not checked yet")
        if len(endings) < count:
            since = " since you changed it" * (exercise in self._rewritten)
            return State(exercise, OPEN, f"{len(endings)} of {count} checks run{since}, and passed")
        return State(exercise, SOLVED, "all checks pass")


_session = Session()


def record(exercise: str, rule: str, ending: Ending, answers: Iterable[object] = ()) -> None:
    """Remember how a check of this session ended, which tried these answers: with a changed one, all begins anew."""
    _session.record(exercise, rule, ending, [_code_of(answer) for answer in answers])


def _code_of(answer: object) -> object:
    """What an answer does: the same after its cell has run once more, another after it was changed."""
    if isinstance(answer, FunctionType):
        return answer.__code__
    methods = vars(answer) if isinstance(answer, type) else {}
    return {name: value.__code__ for name, value in methods.items() if isinstance(value, FunctionType)}


def keep(exercise: str, rule: str, attempt: Callable[[], None]) -> None:
    """Keep a check, to try it anew with whatever its names mean then."""
    _session.rules.setdefault(exercise, {})[rule] = attempt


def rules(exercise: str) -> Mapping[str, Callable[[], None]]:
    """The checks of an exercise that have run in this session, each as a function that raises when it fails."""
    return dict(_session.rules.get(exercise, {}))


def lesson(exercises: Mapping[str, int]) -> None:
    """Say which exercises a lesson has, each as its heading names it, and how many checks: so all passed are known."""
    _session.exercises = dict(exercises)


def exercises() -> Mapping[str, int]:
    """The exercises of the lesson, as `lesson` was last given them."""
    return _session.exercises


def is_solved(exercise: str) -> bool:
    """Whether all checks of an exercise passed when they last ran in this session."""
    return _session.state(exercise, _session.exercises.get(exercise, 1)).mark == SOLVED


def relies_on(*exercises: str) -> None:
    """Say which of these exercises are not solved yet, for what a cell shows depends on them; it never raises.

    While a notebook is graded nothing is said: checks run elsewhere.
    """
    if "NBGRADER_EXECUTION" in os.environ:
        return
    if unsolved := [name for name in exercises if not is_solved(name)]:
        listed = " and ".join([", ".join(unsolved[:-1]), unsolved[-1]] if unsolved[1:] else unsolved)
        print(f"What follows uses {listed}: not all checks of {'them' if unsolved[1:] else 'it'} have passed yet.")


def progress(exercises: Mapping[str, int] | None = None) -> None:
    """Show which exercises, or which of those `lesson` was last given, are solved in this session; it never raises."""
    try:
        states = [_session.state(name, count) for name, count in (exercises or _session.exercises).items()]
        text = "\n".join([_summary(states), *(f"{mark} {name}: {words}" for name, mark, words in states)])
        shell = _panel.front_end()
        if shell is None:
            print(text)
        else:
            shell.display_pub.publish(data={"text/html": _html(states), "text/plain": text})
    except Exception as error:
        print(f"The progress cannot be shown ({type(error).__name__}: {error}). Nothing else depends on it.")


def _summary(states: list[State]) -> str:
    solved = sum(state.mark == SOLVED for state in states)
    return f"{solved} of {len(states)} exercises solved."


def _html(states: list[State]) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="{NAME}">{escape(name)}</th><td style="{LEFT}">{mark} {escape(words)}</td></tr>'
        for name, mark, words in states
    )
    heads = "".join(f'<th scope="col" style="{LEFT}">{head}</th>' for head in ("exercise", "state"))
    caption = f'<caption style="{LEFT};caption-side:top;color:inherit"><b>{_summary(states)}</b></caption>'
    return f'<table style="{TABLE}">{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
