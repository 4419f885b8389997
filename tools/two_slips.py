"""Two mistakes made together: what a message then names must be one of the two.

    PYTHONPATH=tests python tools/two_slips.py [EXERCISE …]    # every pair; half an hour for all exercises

Each mistake of the tables that is an edit of the solution, and whose slip has a name, is made on top of each other one.
"""

import ast
import itertools
import multiprocessing
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import matrix
from answers import Wrong
from support.classroom import classroom

# What two mistakes together may be in truth: these sentences say so of their values, whoever made them.
TRUE_OF_BOTH = {
    "each column takes its own number, and the exponent is doubled, or the base is squared: it should be "
    "10000^(2i / d_model), where an even column's number already is 2i",
    "the heads stand last, behind their columns",
    "the heads are folded in behind the batch, but masks and result are treated as if they came before it",
    "an odd column uses its own number instead of its pair's even one",
    "an odd column takes the angle of the next pair",
    "True marks the future, which must be blocked (True = may attend)",
    "`weight` and `bias` are not used",
    "the ReLU comes after the second layer",
    "the biases of the layers are left out",
    "the output layer scores the source, too",
    "there is no warm-up, as where warmup_steps has the exponent 1.5",
    "a negative offset moves forward",
    "the score is the mean log-probability of a token",
}


def pairs(lesson: str, exercise: str, most: int | None = None, seed: int = 0) -> list[tuple[Wrong, Wrong, str]]:
    """Two mistakes and the source in which both are made; `most` of all pairs, drawn by `seed`."""
    rows = [
        each
        for each in matrix.wrong_answers(lesson, exercise)
        if each.code.edits and not each.trick and matrix.words(each) is not None
    ]
    both = [pair for pair in itertools.permutations(rows, 2) if pair[0].part == pair[1].part]
    random.Random(seed).shuffle(both)
    return list(itertools.islice(_made(lesson, both), most))


def _made(lesson: str, both: list[tuple[Wrong, Wrong]]) -> Iterator[tuple[Wrong, Wrong, str]]:
    """Those pairs that can be made together, each once: the second edits what the first left."""
    seen: set[str] = set()
    for one, other in both:
        alone = {matrix.source(lesson, each) for each in (one, other)}
        # The edits of one, on what the other made of the text that it edits.
        chained = replace(other, code=replace(other.code, edits=one.code.edits + other.code.edits, on=one.code.on))
        try:
            source = matrix.source(lesson, chained)
            ast.parse(source)
        except (ValueError, SyntaxError):
            continue  # they change the same place
        if source not in alone | seen:
            seen.add(source)
            yield one, other, source


def misnamed(lesson: str, exercise: str, most: int | None = None, seed: int = 0) -> tuple[int, list[str]]:
    """How many pairs were tried, and a line for each that is told of a slip which is neither."""
    tried, wrong = pairs(lesson, exercise, most, seed), []
    for one, other, source in tried:
        results = tuple(classroom(lesson).grade({exercise: source}, exercise=exercise))
        words = [wanted for each in (one, other) if (wanted := matrix.words(each)) is not None]
        for slip in matrix.slips(results):
            if slip not in TRUE_OF_BOTH and not any(each.search(slip) for each in words):
                wrong.append(f"`{one.what}` and `{other.what}` are told that {slip}.")
    return len(tried), wrong


def main(names: list[str]) -> None:
    """Try every pair, of all exercises or of those called by name."""
    wanted = [each for each in matrix.exercises() if not names or each[1] in names]
    told = 0
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for (_, exercise), (count, wrong) in zip(wanted, pool.map(misnamed, *zip(*wanted, strict=True)), strict=True):
            print(f"{exercise}: {count} pairs, {len(wrong)} told of neither", *wrong, sep="\n    ", flush=True)
            told += len(wrong)
    sys.exit(told and f"{told} pairs are told of a mistake that is neither.")


if __name__ == "__main__":
    main(sys.argv[1:])
