"""What a student wrote in a predict cell is read as a text or number, and nothing else is taken for one."""

import pytest
from support.sample_lesson import PREDICT, sample_lesson

from autograder.course.lesson import Lesson
from autograder.course.predictions import LONGEST, Question, predicted, questions_of

NAME = "predicted_length"
READ = {
    PREDICT: "",
    'predicted_length = "  "': "",
    'predicted_length = " four\t or\\n more "  # I think': "four or more",
    "# Hm.\npredicted_length = '4'\n": "4",
    "predicted_length = 4": "4",
    "predicted_length = -0.5;": "-0.5",
    "predicted_length = +1_000": "1000",
    "predicted_length = True": "True",
    "predicted_length = 1e999": "inf",
    'predicted_length = "a" "b"': "ab",
    'predicted_length = "\\d"': "\\d",
    'predicted_length = "\\ud800"': "?",
    '  predicted_length = "indented"': "indented",
    'predicted_length = "<script>alert(1)</script>"': "<script>alert(1)</script>",
    f'predicted_length = "{"x" * LONGEST}"': "x" * LONGEST,
}
NOT_READ = {
    "nothing": "",
    "too long": f'predicted_length = "{"x" * (LONGEST + 1)}"',
    "huge": f'predicted_length = "{"x" * 10**6}"',
    "a long number": f"predicted_length = {'9' * (LONGEST + 1)}",
    "a number of too many digits": f"predicted_length = 0x{'f' * 900}",
    "a call": "predicted_length = open('/etc/passwd').read()",
    "a formatted string": 'predicted_length = f"{1}"',
    "a sum": "predicted_length = 1 + 1",
    "a list": "predicted_length = [1]",
    "None": "predicted_length = None",
    "bytes": 'predicted_length = b"4"',
    "a complex number": "predicted_length = 4j",
    "no": "predicted_length = not 4",
    "minus a text": 'predicted_length = -"4"',
    "another name": 'predicted_size = "4"',
    "a longer name": 'predicted_length_2 = "4"',
    "the name in a text": 'x = "predicted_length"',
    "two statements": 'predicted_length = "4"; import os',
    "two lines": 'predicted_length = "4"\nprint("4")',
    "two names": 'predicted_length = x = "4"',
    "a part of it": 'predicted_length[0] = "4"',
    "added to": 'predicted_length += "4"',
    "with a type": 'predicted_length: str = "4"',
    "no Python": "predicted_length = four letters",
    "an open quote": 'predicted_length = "4',
    "a magic": "predicted_length = !ls",
    "a null byte": 'predicted_length = "4"\x00',
    "too deep": f"predicted_length = {'-' * 900}1",
}


@pytest.mark.parametrize(("source", "text"), READ.items())
def test_one_constant_is_read(source: str, text: str) -> None:
    """A text or number that is assigned to the name comes back as text, its spaces folded."""
    assert predicted(source, NAME) == text


@pytest.mark.parametrize("source", NOT_READ.values(), ids=NOT_READ)
def test_anything_else_is_none(source: str) -> None:
    """Code, another name, several statements and what is too long are no prediction."""
    assert predicted(source, NAME) is None


def test_a_question_comes_with_its_paragraph() -> None:
    """The lesson's questions have the comment of their cell, and the paragraph before it that asks."""
    text = '**Predict, then run.** How long is `double("ab")`?'
    kind = "between the quotes: how many letters?"
    assert questions_of(Lesson("01_doubling", sample_lesson())) == [Question("predict_length", kind, text)]
