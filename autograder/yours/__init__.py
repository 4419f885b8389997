"""What a learner has written and predicted: kept from lesson to lesson, and put to work in the later ones.

An answer whose checks have all passed is kept in `my_transformer.py`, beside the lessons. Later lessons take it from
there; what is missing is the course's. No check and no grade depends on any of it.
"""

import contextlib
import inspect
import random
from collections.abc import Collection, Mapping
from typing import Any

from autograder.check import _panel
from autograder.check._progress import exercises, is_solved
from autograder.yours import other_ways, own, place, progress
from autograder.yours.challenges import Challenge, can_be_changed, make
from autograder.yours.entries import board
from autograder.yours.keeper import Keeper
from autograder.yours.own import take
from autograder.yours.questions import Rounds, review, standing
from autograder.yours.reader import train_reader
from autograder.yours.source import SOLUTION, newest
from autograder.yours.training import train
from autograder.yours.trials import TRANSLATING, TRIALS, WRITING
from autograder.yours.weights import load_weights, save_translator, save_weights, save_writer, while_finite

__all__ = ["answer", "board", "challenge", "compare", "failed", "load_weights", "passed", "review", "summary", "take"]
__all__ += ["save_translator", "save_weights", "save_writer", "three_questions", "train", "train_reader"]
__all__ += ["while_finite", "whole_file"]

_keeper = Keeper()
_rounds = Rounds()
_asked: list[Challenge] = []  # the last one, until it is answered
_passed_since: dict[str, set[str]] = {}  # exercise → its checks that have passed since all last did


def challenge(exercise: str, seed: int | None = None) -> None:
    """Make one small change in an answer of this notebook that passes all its checks, and ask what comes of it.

    Args:
        exercise: its number or its name, "1.4" or "causal_mask".
        seed: for the same change again; drawn anew when left out.
    """
    caller = inspect.currentframe()
    names = caller.f_back.f_globals if caller is not None and caller.f_back is not None else {}
    title = next((each for each in exercises() if exercise in each.split(" ", 1)), None)
    if title is None:
        print(f"There is no exercise {exercise} here. There are {', '.join(exercises())}.")
    elif not is_solved(title):
        print(f"First let all checks of {title} pass, in this session: a challenge changes what is right.")
    elif not can_be_changed(title, names):
        print(f"Your {title} is made of what stands elsewhere; a challenge changes the lines that define it.")
    elif (made := make(title, names, random.Random(seed))) is None:
        print(f"No small change of your {title} that was tried breaks a rule quietly; there is nothing fair to ask.")
    else:
        _asked[:] = [made]
        print(f"One place in your {title} has changed, in a copy:\n    {made.change}\n{made.question}")
        if "yours.answer" not in made.question:
            print("Say yours.answer(1), yours.answer(2), …")


def answer(*said: Any, **named: Any) -> None:
    """Answer the last challenge: say whether that is right, what is so, and what was changed."""
    if not _asked:
        print('There is nothing to answer. Ask for something first: yours.challenge("1.4")')
        return
    asked = _asked.pop()
    is_right = asked.is_right(*said, **named)
    print(f"{'✓ Right.' if is_right else '✗ Not so.'} {asked.truth}\n{asked.broken}")


def compare(predicted: object, happened: object) -> None:
    """Print a prediction beside what happened."""
    print(f"you predicted   {str(predicted).strip() or 'nothing yet'}\nwhat happened   {happened}")


def passed(exercise: str, rule: str, exercises: Mapping[str, int], notebook: Mapping[str, object]) -> None:
    """Take note of a check that passed; after the last of an exercise, keep the answer and show others; never raise.

    Args:
        exercise: as its heading names it, "2.3 MultiHeadAttention".
        exercises: all of the lesson, each with the number of checks that its learner sees.
        notebook: the names of the notebook.
    """
    try:
        line = _keeper.passed(exercise, rule, exercises, notebook)
    except Exception as error:  # a check has passed, whatever becomes of the file
        line = f"  Not kept in {place.FILE} ({type(error).__name__}: {error})."
    if line:
        print(line)
    with contextlib.suppress(Exception):  # nothing depends on it
        number, _, name = exercise.partition(" ")
        if _ends_a_round(exercise, rule, exercises) and place.is_used():
            if "In" in notebook:
                progress.attempt(exercise, exercises)
            other_ways.show(name, notebook)
            if _panel.front_end() is not None and SOLUTION not in newest(name, notebook):
                print(f'  Do you know it well? yours.challenge("{number}")')


def _ends_a_round(exercise: str, rule: str, exercises: Mapping[str, int]) -> bool:
    """Whether all checks pass with the answer as it is, and each has since they last did."""
    rules_passed = _passed_since.setdefault(exercise, set())
    rules_passed.add(rule)
    is_end = is_solved(exercise) and len(rules_passed) >= exercises.get(exercise, 1)
    if is_end:
        rules_passed.clear()
    return is_end


def failed(exercise: str, rule: str, exercises: Mapping[str, int], notebook: Mapping[str, object]) -> None:
    """Remember which rule an answer broke; never raise. The arguments are those of `passed`."""
    with contextlib.suppress(Exception):  # nothing depends on it
        if "In" in notebook:
            progress.attempt(exercise, exercises, rule)


def three_questions(lesson: int, *answers: object) -> None:
    """Ask three short questions on earlier lessons and, where answers are given, say which are right; never raise.

    Args:
        lesson: the one that begins.
        answers: what the learner has written, "" for nothing yet.
    """
    try:
        _rounds.show(lesson, answers)
    except Exception as error:  # nothing depends on it
        print(f"There are no questions this time ({type(error).__name__}: {error}).")


def summary() -> None:
    """Print what is solved in all lessons, which parts are kept, and where; never raise."""
    if not place.is_used():
        return
    with contextlib.suppress(Exception):  # whatever somebody has made of the file
        for line in filter(None, [*progress.where_am_i(), standing()]):
            print(line)
    path = place.found(place.FILE)
    learners = own.read()
    if path is None:
        print(f"Nothing is kept yet: an answer that becomes part of the model goes into {place.FILE} when it passes.")
        return
    model = [name for name in TRIALS if name not in (*TRANSLATING, *WRITING)]
    print(f"{path}: {_of(learners, model, 'parts for building, training and decoding')}", end="")
    for names, what in ((TRANSLATING, "for translating"), (WRITING, "of a GPT")):
        if learners.own & {*names}:
            print(f" and {_of(learners, names, what)}", end="")
    print(f", {len(learners.file.text.splitlines())} lines.")
    for note in learners.notes.values():
        print(note)
    if place.will_be_lost():
        print(
            "It goes with this machine: download it (the folder at the left, ⋮ beside its name), and upload it in the "
            "next lesson; or mount your Drive before you begin, where it stays."
        )


def whole_file() -> None:
    """Print what the learner owns at the end, and whether every line of the model is theirs; never raise."""
    learners = own.read()
    needed = learners.sections_of("Transformer")
    courses = [name for name in TRIALS if name not in learners.own and name not in (*TRANSLATING, *WRITING)]
    summary()
    if None not in needed.values():
        print("Every line that the model runs is yours.")
    if courses and place.is_used():
        print(f"Not in the file, since their checks have not passed: {', '.join(courses)}.")


def _of(learners: own.Own, names: Collection[str], what: str) -> str:
    return f"{len(learners.own & {*names})} of the {len(names)} {what}"
