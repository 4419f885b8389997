"""Other right answers to an exercise, folded under its last ✓: those most unlike the learner's own."""

import ast
import functools
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

from autograder.check import _panel
from autograder.yours.source import newest

MOST = 2
THE_SAME = 0.9  # so alike, two answers differ in names or in a detail
NOTHING_DONE = (ast.Assign, ast.AnnAssign, ast.Call, ast.Constant, ast.Expr, ast.Name, ast.Return, ast.expr_context)
TITLES = {1: "Another way to write it", 2: "Two other ways to write it"}


class Way(NamedTuple):
    """A right answer, and a sentence on what it trades."""

    trades: str
    code: str


@functools.cache
def ways() -> dict[str, list[Way]]:
    """All that are known, by exercise."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {exercise: [Way(**way) for way in found] for exercise, found in table.items()}


def show(exercise: str, notebook: Mapping[str, object]) -> None:
    """Show other ways than that of a notebook, where it has a front end that can fold them away."""
    shell, own = _panel.front_end(), newest(exercise, notebook)
    if shell is not None and own and (others := unlike(own, ways().get(exercise, []))):
        title = TITLES[len(others)]
        text = "\n".join([f"{title}:", *(f"\n{way.trades}\n\n{way.code}" for way in others)])
        shell.display_pub.publish(data={"text/html": html(title, others), "text/plain": text})


def unlike(own: str, known: list[Way]) -> list[Way]:
    """The ways most unlike an answer, the most unlike first."""
    alike = {way: likeness(own, way.code) for way in known}
    return sorted((way for way in known if alike[way] < THE_SAME), key=alike.__getitem__)[:MOST]


def likeness(one: str, other: str) -> float:
    """How much two answers have in common, from 0 to 1, whatever they call things and in whatever order."""
    first, second = Counter(_pieces(one)), Counter(_pieces(other))
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def _pieces(source: str) -> Iterator[str]:
    """What the functions of a source do: what they call or read of something, their operators, loops and conditions."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if not isinstance(node, NOTHING_DONE):
                        yield getattr(node, "attr", type(node).__name__)


def html(title: str, others: list[Way]) -> str:
    """The ways as HTML, all but the title folded away."""
    shown = "".join(
        f'<p style="margin:1em 0 .5em">{_panel.prose(way.trades)}</p><pre><code>{escape(way.code)}</code></pre>'
        for way in others
    )
    return f'<details style="margin-left:1em"><summary>{title}</summary>{shown}</details>'
