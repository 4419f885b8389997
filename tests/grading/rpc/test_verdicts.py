"""In grading, beside the checks or across the bridge, answers are judged as in a student's own notebook."""

import pytest
from matrix import exercises, graded, right_answers, source, wrong_answers
from support import two_processes
from support.classroom import classroom
from support.drawn import some_of

ONE_IN, ON_A_PUSH = 4, 12  # answers of the tables: each is judged three times
OTHERWISE = {  # told otherwise across the bridge
    *("sampling at low temperature", "dropout at a fixed rate", "new layers on every call"),  # luck decides
    "memory cached by shape",  # likewise: its key is where a model lies in memory
    "in place on x in train only when no grad",  # an input that is written into does not take the graph along
    "shared growing buffer",  # likewise
    "sparse gradients",  # which are dense there
    *("pads the caller's lists", "writes into the ids that it was given"),  # lists cross as copies
    "global seed",  # told in other words there, as are the next two
    "pops the caller's list",
    "a norm alone for the first add & norm",  # `LayerNorm` has no …; there a part of the type LayerNorm has none
    "the same dropout in every step",  # what it draws is drawn there, and seen by nobody here
    "two in one memory",  # which are apart there: other values
    "cached by shape",  # a tensor without numbers that an answer has kept is another error there
}


@pytest.mark.parametrize(("lesson", "exercise"), exercises(), ids=str)
def test_verdicts_and_words_are_those_of_a_students_own_notebook(lesson: str, exercise: str) -> None:
    """Answers, right and wrong ones, are told the same by the same checks, wherever they are.

    Messages that hold a random number may differ in it.
    """
    tables = wrong_answers(lesson, exercise), right_answers(lesson, exercise)
    for answer in [each for table in tables for each in some_of(table, exercise, one_in=ONE_IN, on_a_push=ON_A_PUSH)]:
        room, code = classroom(lesson), source(lesson, answer)
        if not two_processes.goes_beyond(lesson, [code]):
            beside = two_processes.grade(room, {exercise: code}, exercise, beside=True)
            assert all(map(two_processes.same, graded(lesson, answer), beside)), answer
        if getattr(answer, "what", "") in OTHERWISE:
            continue
        outcomes = two_processes.grade(room, {exercise: code}, exercise)
        for here, there in zip(graded(lesson, answer), outcomes, strict=True):
            assert here.passed == (there.status == "passed"), (answer, there.message, here.error)
            if not here.passed:
                assert first_words(there.message) == first_words(str(here.error)), answer


def first_words(message: str) -> str:
    """The verdict and the rule of a message, without the numbers between them."""
    lines = [line for line in message.splitlines() if line.startswith(("✗", "Rule"))]
    return " ".join(word for line in lines for word in line.split() if not any(map(str.isdigit, word)))
