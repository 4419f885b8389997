"""All that one exercise still lacks: the lesson's form, its files, and what its checks do not see.

    PYTHONPATH=tests python tools/exercise.py EXERCISE

Releases the lessons, grades the known answers to the exercise, changes its reference answer in one place at a time, and
ends with one line beginning with ✗ for each thing to do; exits with 1 where there is any.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import matrix
import mutants
from support.classroom import message

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def lacks(lesson: str, exercise: str) -> Iterator[str]:
    """What has to be done, in the order in which one would do it."""
    file = f"lesson_{int(lesson[:2])}/{exercise}.py"
    for place in (f"autograder/exercises/{file}", f"tests/answers/{file}"):
        if not (ROOT / place).exists():
            yield f"There is no {place}."
    for command in ("autograder release", "ruff check", "ruff format --check", "mypy"):
        program, *arguments = command.split()
        done = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"`{command}` says:\n{done.stdout}{done.stderr}"
    yield from matrix.missing(lesson, exercise)
    yield from astray(lesson, exercise)
    counts, survivors = mutants.report(lesson, exercise)
    yield from (line.removeprefix("✗ ") for line in survivors)
    if survivors:
        yield "What is as right as the answer belongs into tools/equivalent_mutants.toml, with the reason."
    summary = matrix.summary(lesson, exercise)
    yield from outdated(matrix.PAGE, [matrix.row(summary), *matrix.rows_of_checks(summary)])
    yield from outdated(mutants.PAGE, [mutants.row(exercise, counts)])


def astray(lesson: str, exercise: str) -> Iterator[str]:
    """The wrong answers that do not fail the check that they are aimed at, or not with the words of the table."""
    for answer in matrix.wrong_answers(lesson, exercise):
        failed = {each.check: message(each) for each in matrix.failing(matrix.graded(lesson, answer))}
        aimed = f"check_{exercise}" + (f"_{answer.check}" if answer.check else "")
        if answer.check is not None and aimed not in failed:
            yield f"`{answer.what}` should fail `{aimed}`, and fails {', '.join(failed) or 'nothing'}."
        elif answer.check is not None and answer.says not in failed[aimed]:
            yield f"`{answer.what}` should be told “{answer.says}”, and is told:\n{failed[aimed]}"


def outdated(page: Path, rows: Iterable[str]) -> Iterator[str]:
    """What has to be run where a page does not say what came of it."""
    known = page.read_text(encoding="utf-8").splitlines()
    if not all(row in known for row in rows):
        yield f"`make {'mutants' if page == mutants.PAGE else 'mistakes'}` renews {page.relative_to(ROOT)}."


def main(names: list[str]) -> int:
    """Say what one exercise lacks."""
    lessons = mutants.exercises()
    if len(names) != 1 or names[0] not in lessons:
        sys.exit(f"Give one exercise, as in `make exercise EXERCISE=split_heads`. There are: {', '.join(lessons)}.")
    found = list(lacks(lessons[names[0]], names[0]))
    print(*(f"✗ {each}" for each in found), *([] if found else ["Nothing is missing."]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
