"""The page of a leaderboard: places, curves, and what each entry changed."""

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.leaderboard.entries import NICKNAME, Entry
from autograder.report.page import render

WIDTH, HEIGHT = 240, 60  # of a curve
MOST_CHANGES = 200  # lines of an entry that differ from the lesson's


@dataclass(frozen=True)
class Standing:
    """What came of an entry."""

    entry: Entry
    # (processor seconds, bits) after each part of its training; the last is what it is worth
    curve: Sequence[tuple[float, float]]
    why: str = ""  # why it is worth nothing; "" where it is

    @property
    def bits(self) -> float:
        """What it needs for a character; infinitely many where it did not come to its end."""
        return math.inf if self.why else self.curve[-1][1]

    @property
    def seconds(self) -> float:
        """The processor seconds that it has taken."""
        return self.curve[-1][0]


def board_page(course: str, lesson: str, standings: Sequence[Standing], seconds: float) -> bytes:
    """Make the page of a leaderboard, for the class to see."""
    done = [one for one in standings if not one.why]
    own = next(one for one in standings if not one.entry.student)
    highest = max(bits for _, bits in own.curve)  # whoever begins worse would flatten all others
    lowest = min(bits for one in done for _, bits in one.curve)

    def curve(one: Standing) -> str:
        """The points of its curve, as SVG has them."""
        scale = HEIGHT / ((highest - lowest) or 1.0)
        return " ".join(f"{WIDTH * s / seconds:.1f},{max(0, highest - bits) * scale:.1f}" for s, bits in one.curve)

    return render(
        "leaderboard.html",
        course=course,
        lesson=lesson,
        done=done,
        failed=[one for one in standings if one.why],
        own=own,
        curves={one.entry.nickname: curve(one) for one in done},
        changes={one.entry.nickname: _changes(own.entry, one.entry) for one in done},
        size=(WIDTH, HEIGHT),
        range=(lowest, highest),
        seconds=seconds,
    )


def _changes(own: Entry, entry: Entry) -> list[str]:
    """The lines of an entry that the lesson's does not have, and those that it has instead."""
    before, after = (
        [line for line in each.code.splitlines() if not line.startswith(NICKNAME)] for each in (own, entry)
    )
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    return [line for line in lines if not line.startswith(("---", "+++"))][:MOST_CHANGES]
