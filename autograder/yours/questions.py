"""Short questions, answered before the cell that knows: which answers are right, and what to read about the others."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from autograder.yours import place, progress
from autograder.yours.topics import TOPICS, Question, ask, known_before

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
KEPT, COUNT = "questions", 3  # in the file of what is remembered; questions at the beginning of a lesson


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
    written = {number: str(answers.get(number, "")).strip() for number in truths}
    right = {number for number, (value, _) in truths.items() if written[number] and is_right(written[number], value)}
    wrong = [number for number in truths if written[number] and number not in right]
    for number, (value, _) in truths.items():
        mark = "✓" if number in right else "✗" if number in wrong else "–"
        after = f": it is {value}" if number in wrong else ""
        print(f"{number:2} {mark} {written[number] or 'not answered'}{after}")
    print(f"\n{len(right)} of {len(truths)} are right.")
    for source in dict.fromkeys(truths[number][1] for number in wrong):
        numbers = ", ".join(str(number) for number in wrong if truths[number][1] == source)
        print(f"Read about {numbers}: {source}.")


class Asked(NamedTuple):
    """A question that somebody has answered: in which lesson, whether they were right, and the day."""

    lesson: int
    right: bool
    day: str


@dataclass
class Round:
    """The questions that a lesson asks, until they are answered."""

    questions: dict[str, Question]  # by their topics
    before: list[str]  # what stood between the quotes when they were first shown
    judged: set[str] = field(default_factory=set)  # the topics whose first answer is remembered


class Rounds:
    """The rounds of one session: the cell of a lesson shows its questions, and judges what is then written into it."""

    def __init__(self) -> None:
        self._rounds: dict[int, Round] = {}

    def show(self, lesson: int, answers: Sequence[object]) -> None:
        """Print the questions and, where an answer is new, which are right; remember the first answer to each."""
        written = [str(answer).strip() for answer in answers][:COUNT]
        written += [""] * (COUNT - len(written))
        now = self._rounds.get(lesson)
        if now is None or (now.judged and not any(written)):
            now = self._rounds[lesson] = Round(_drawn(lesson), written)
        if not now.questions:
            return
        for number, question in enumerate(now.questions.values(), start=1):
            print(f"{number}  {question.text}\n")
        if written == now.before:
            if any(written):
                print("These are new, and the answers above are to others: write yours, and run this again.")
            return
        if not any(written):
            return
        _remember(lesson, now, written)
        truths = [
            (question.truth, f"exercise {question.exercise}, the text above it and its hints")
            for question in now.questions.values()
        ]
        review(dict(enumerate(written, start=1)), dict(enumerate(truths, start=1)))
        print("For others, empty the quotes, and run this again.")


def _drawn(lesson: int) -> dict[str, Question]:
    """Questions on what was missed or is rare; the same each time where a program runs the lesson."""
    draw = random.Random() if place.is_used() else random.Random(lesson)
    return {topic: ask(topic, lesson, draw) for topic in chosen(lesson, asked(), draw)}


def chosen(lesson: int, known: Mapping[str, Sequence[Asked]], draw: random.Random) -> list[str]:
    """The topics to ask about in a lesson.

    First one that was missed when last asked, unless another has come in two lessons fewer; then what was missed, or
    was not asked in the lesson before, the rarest first.
    """
    taught = [topic for topic in TOPICS if known_before(lesson, topic)]
    before = {topic: known.get(topic, []) for topic in draw.sample(taught, len(taught))}
    missed = {topic for topic, answered in before.items() if answered and not answered[-1].right}
    times = {topic: len({each.lesson for each in answered}) for topic, answered in before.items()}

    def order(topic: str) -> tuple[bool, int, bool]:
        is_due = topic in missed or not before[topic] or before[topic][-1].lesson < lesson - 1
        return not is_due, times[topic], topic not in missed

    ordered = sorted(before, key=order)
    again = [topic for topic in ordered if topic in missed and times[topic] < min(times.values()) + 2]
    return list(dict.fromkeys([*again[:1], *ordered]))[:COUNT]


def asked() -> dict[str, list[Asked]]:
    """For each topic what was answered so far, as the file has it; what is no such thing is left out."""
    kept = {topic: entry.get("asked") for topic, entry in progress.read(KEPT).items() if isinstance(entry, dict)}
    return {
        topic: [Asked(*each) for each in given if isinstance(each, list) and [*map(type, each)] == [int, bool, str]]
        for topic, given in kept.items()
        if isinstance(given, list)
    }


def standing() -> str:
    """A line on the topics that were asked about; "" where none was."""
    last = {topic: before[-1] for topic, before in asked().items() if topic in TOPICS and before}
    missed = [f"{topic} (lesson {answered.lesson})" for topic, answered in last.items() if not answered.right]
    right = f"questions   {len(last) - len(missed)} of {len(last)} topics right when last asked"
    return right * bool(last) + f"; missed: {', '.join(missed)}" * bool(missed)


def _remember(lesson: int, now: Round, written: Sequence[str]) -> None:
    """Keep whether the first answer to each question is right."""
    new = {
        topic: Asked(lesson, is_right(answer, question.truth), date.today().isoformat())
        for (topic, question), answer in zip(now.questions.items(), written, strict=False)
        if answer and topic not in now.judged
    }
    known = asked()
    progress.keep(KEPT, {topic: {"asked": [*known.get(topic, []), answered]} for topic, answered in new.items()})
    now.judged |= new.keys()


def _numbers(value: object) -> list[float]:
    """The numbers of a text, written as digits, as fractions or as words."""
    text = str(value).casefold().replace("−", "-")  # the sign, and what keyboards have
    for number, word in enumerate(NUMBERS):
        text = re.sub(rf"\b{word}\b", str(number), text)
    parts = re.findall(r"(-?\d*\.?\d+)(?:\s*/\s*(\d+))?", text)
    return [float(number) / float(below) if below.strip("0") else float(number) for number, below in parts]
