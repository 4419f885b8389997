"""Short questions, answered before the cell that knows: which answers are right, and what to read about the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


class Truth(NamedTuple):
    """What is so, as it was computed, and what to read for whoever thought otherwise."""

    value: object
    read: str


def is_right(answer: object, value: object) -> bool:
    """Both hold the same numbers, in whatever words: "2x3", "tensor([2, 3])" and "two, three" are (2, 3)."""
    return _numbers(answer) == _numbers(value)


def review(answers: Mapping[int, object], truths: Mapping[int, tuple[object, str]]) -> None:
    """Print for each answer whether it is right and, where it is not, what is; then what to read about these.

    What is right stays unsaid where nothing is answered.

    Args:
        answers: the number of a question → what the learner wrote, "" for nothing.
        truths: the number of a question → what is so, in numbers, and what to read about it.
    """
    known = {number: Truth(*truth) for number, truth in truths.items()}
    written = {number: str(answers.get(number, "")).strip() for number in known}
    right = {number for number, truth in known.items() if written[number] and is_right(written[number], truth.value)}
    wrong = {number: truth for number, truth in known.items() if written[number] and number not in right}
    for number, truth in known.items():
        mark = "✓" if number in right else "✗" if number in wrong else "–"
        after = f": it is {truth.value}" if number in wrong else ""
        print(f"{number:2} {mark} {written[number] or 'not answered'}{after}")
    print(f"\n{len(right)} of {len(known)} are right.")
    for place in dict.fromkeys(truth.read for truth in wrong.values()):
        numbers = ", ".join(str(number) for number, truth in wrong.items() if truth.read == place)
        print(f"Read about {numbers}: {place}.")


def _numbers(value: object) -> list[float]:
    """The numbers of a text, written as digits, as fractions or as words."""
    text = str(value).casefold().replace("−", "-")  # the sign, and what keyboards have
    for number, word in enumerate(NUMBERS):
        text = re.sub(rf"\b{word}\b", str(number), text)
    parts = re.findall(r"(-?\d*\.?\d+)(?:\s*/\s*(\d+))?", text)
    return [float(number) / float(below) if below.strip("0") else float(number) for number, below in parts]
