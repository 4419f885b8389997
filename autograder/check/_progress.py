"""What is solved and what is left: how the checks that ran in this session ended, shown at the end of a lesson."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from autograder.check import _panel

PASSED, FAILED, UNWRITTEN = "passed", "failed", "not written"
SOLVED, WRONG, OPEN = "✓", "✗", "–"
LEFT, NAME, TABLE = "text-align:left", "text-align:left;white-space:nowrap", "margin:0;width:auto;table-layout:auto"

_runs: dict[str, dict[str, str]] = {}  # exercise → rule → how its check ended when it last ran


def record(exercise: str, rule: str, ended: str) -> None:
    """Remember how a check ended; what it did before is forgotten."""
    _runs.setdefault(exercise, {})[rule] = ended


def progress(exercises: Mapping[str, int]) -> None:
    """Show which exercises are solved, as their checks last said in this session; it never raises.

    Args:
        exercises: each exercise as its heading names it, with the number of checks that it has.
    """
    try:
        states = [(name, *_state(name, count)) for name, count in exercises.items()]
        text = "\n".join([_summary(states), *(f"{mark} {name}: {words}" for name, mark, words in states)])
        shell = _panel.front_end()
        if shell is None:
            print(text)
        else:
            shell.display_pub.publish(data={"text/html": _html(states), "text/plain": text})
    except Exception as error:
        print(f"The progress cannot be shown ({type(error).__name__}: {error}). Nothing else depends on it.")


def _state(name: str, count: int) -> tuple[str, str]:
    """A mark and what it stands for."""
    ended = _runs.get(name, {})
    if failing := [rule for rule, how in ended.items() if how == FAILED]:
        return WRONG, f"fails “{failing[0]}”"
    if UNWRITTEN in ended.values():
        return OPEN, "not written yet"
    if not ended:
        return OPEN, "not checked yet"
    if len(ended) < count:
        return OPEN, f"{len(ended)} of {count} checks run, and passed"
    return SOLVED, "all checks pass"


def _summary(states: list[tuple[str, str, str]]) -> str:
    solved = sum(mark == SOLVED for _, mark, _ in states)
    return f"{solved} of {len(states)} exercises solved."


def _html(states: list[tuple[str, str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="{NAME}">{escape(name)}</th><td style="{LEFT}">{mark} {escape(words)}</td></tr>'
        for name, mark, words in states
    )
    heads = "".join(f'<th scope="col" style="{LEFT}">{head}</th>' for head in ("exercise", "state"))
    caption = f'<caption style="{LEFT};caption-side:top;color:inherit"><b>{_summary(states)}</b></caption>'
    return f'<table style="{TABLE}">{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
