"""What a class predicted before the figures of a lesson, counted; nothing of it is graded."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autograder.grading.results import Result
from autograder.report.outline import QuestionOutline


class AnswerCount(NamedTuple):
    """A prediction, as most wrote it, and how many made it."""

    text: str
    students: int


@dataclass(frozen=True)
class PredictionCount:
    """What became of one question."""

    question: QuestionOutline
    asked: int  # how many handed in a notebook in which it was asked
    answers: tuple[AnswerCount, ...]  # what they predicted, the most frequent first

    @property
    def predicted(self) -> int:
        """How many predicted something."""
        return sum(answer.students for answer in self.answers)


def count_predictions(questions: Iterable[QuestionOutline], results: Sequence[Result]) -> tuple[PredictionCount, ...]:
    """Count the answers to those questions that somebody was asked."""
    counts = []
    for question in questions:
        asked = [result.predictions[question.cell] for result in results if question.cell in result.predictions]
        spellings: dict[str, Counter[str]] = {}
        for text in filter(None, asked):
            spellings.setdefault(text.casefold(), Counter())[text] += 1
        answers = (AnswerCount(group.most_common(1)[0][0], group.total()) for group in spellings.values())
        ordered = sorted(answers, key=lambda answer: (-answer.students, answer.text))
        counts.append(PredictionCount(question, len(asked), tuple(ordered)))
    return tuple(count for count in counts if count.asked)
