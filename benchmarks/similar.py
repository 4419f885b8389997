"""How many pairs does `autograder similar` list where nobody shared anything, and how many copies? Writes similar.md.

    python benchmarks/similar.py

The classes are drawn from students who know nothing of each other (see independent_students.py). Into other classes one
copy each is put, disguised (see disguises.py). Hand-ins are compared as the command compares them, but are not written
into notebooks first, and are not graded: that a wrong answer makes the same slip stands in the tables.
"""

import random
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import independent_students as independent
import numpy as np
from disguises import KINDS, disguised
from independent_students import ROOT, Written

from autograder.similar.hand_ins import OWN_CELLS, Cell, HandIn, Holdings, known_traits
from autograder.similar.pairs import pairs_of, tables_of
from autograder.similar.traits import Kind, Trait, traits_of

LESSONS = ("01_attention", "02_multi_head_attention", "04_encoder_decoder_blocks", "06_training")
STUDENTS, CLASS = 400, 100  # invented for each lesson; of whom a class is drawn
CLASSES, COPIES = 1000, 25  # classes in all; copies of each kind and lesson
HEAD = """\
# Pairs of hand-ins that are listed

Made by `python benchmarks/similar.py`; do not edit.

## Where nobody shared anything

{classes:,} classes of {size}, drawn from {students} invented students of each lesson, who know nothing of each other:
answers from `tests/answers`, common ones more often, each written with habits, names, comments, texts and cells of the
student's own. On average {mean:.3f} pairs a class are listed; {share:.1%} of the classes have any.

| lesson | classes | pairs a class | classes with a pair |
|---|---:|---:|---:|
"""
COPIED = """
## Copies, by how they were disguised

One copy in a class of {size}, {copies} of each kind in each lesson.

| the copy has | listed |
|---|---:|
"""
TAIL = """
## What this does not cover

- The students are invented. Habits, pools of names and comments, and how common an answer is are guesses; they were
  written down before the comparison was, and not changed for it.
- The classes of a lesson are drawn from the same {students} students, so they are not wholly independent of each other.
- Students who learn from the same page, group or program share more than chance brings about, and are listed without
  having copied from each other. Nothing here says how often.
- A copy of an answer that many give, or of the course's own, cannot be told from that answer: what is missing above is
  mostly that. With other names and no comments, nothing is left in short exercises that only two students have.
- A slip is known by its row in the tables, not by grading; two rows with the same values would be one slip in a class.
- Classes that are much smaller tell less: what is rare can only be known where there are many to compare with.

Made on a pool of {students} students a lesson in {minutes:.0f} minutes of processor time; a class of {size} takes
{each:.2f} s to compare.
"""


@cache
def known() -> frozenset[Trait]:
    """What the course itself says, in all lessons."""
    return known_traits(sorted((ROOT / "solutions").glob("*/*.ipynb")))


def held(written: Written) -> Holdings:
    """What a hand-in holds, as the command sees it."""
    sources = [*written.answers.items(), *((OWN_CELLS, cell) for cell in written.cells)]
    cells = tuple(Cell(place, source, traits_of(source)) for place, source in sources)
    found = dict(HandIn("", cells).holdings([]))
    for exercise, slip in written.slips.items():
        found[exercise] = found.get(exercise, frozenset()) | {Trait(Kind.SLIP, slip)}
    return found


def listed(tables: Mapping[str, np.ndarray], who: list[int]) -> set[tuple[int, int]]:
    """The pairs of a class, by their rows in the tables."""
    found = pairs_of({aspect: table[who] for aspect, table in tables.items()})
    return {(who[pair.first], who[pair.second]) for pair in found}


@cache
def everybody(lesson: str, students: int) -> tuple[list[Written], list[Holdings]]:
    """So many students who know nothing of each other, and what each of them holds."""
    written = independent.students(lesson, students)
    return written, [held(each) for each in written]


def independent_classes(lesson: str, count: int, students: int = STUDENTS, size: int = CLASS) -> list[int]:
    """How many pairs are listed in each of so many classes whose students share nothing."""
    chance = random.Random(f"classes {lesson}")
    tables = tables_of(everybody(lesson, students)[1], known())
    return [len(listed(tables, chance.sample(range(students), size))) for _ in range(count)]


def copies(lesson: str, count: int, students: int = STUDENTS, size: int = CLASS) -> dict[str, list[bool]]:
    """Kind of disguise → for each of so many copies whether it is listed with what it was made of."""
    chance = random.Random(f"copies {lesson}")
    written, holds = everybody(lesson, students)
    made = [(kind, chance.randrange(students)) for kind in KINDS for _ in range(count)]
    fakes = [held(disguised(written[original], kind, lesson, chance)) for kind, original in made]
    tables = tables_of([*holds, *fakes], known())
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for place, (kind, original) in enumerate(made, students):
        others = chance.sample([other for other in range(students) if other != original], size - 2)
        found[kind].append((original, place) in listed(tables, [original, *others, place]))
    return found


def measured(lesson: str) -> tuple[list[int], float, dict[str, list[bool]], float]:
    """Pairs in each class, seconds a class, whether copies are listed, and seconds in all: the processor's."""
    begin = time.process_time()
    everybody(lesson, STUDENTS), known()
    start = time.process_time()
    pairs = independent_classes(lesson, CLASSES // len(LESSONS))
    each = (time.process_time() - start) / len(pairs)
    found = copies(lesson, COPIES)
    print(lesson, np.mean(pairs), {kind: float(np.mean(one)) for kind, one in found.items()}, flush=True)
    return pairs, each, found, time.process_time() - begin


def main() -> None:
    """Measure these lessons and write the page."""
    with ProcessPoolExecutor(len(LESSONS)) as pool:
        results = dict(zip(LESSONS, pool.map(measured, LESSONS), strict=True))
    counts = np.array([count for pairs, *_ in results.values() for count in pairs])
    about = {"classes": len(counts), "size": CLASS, "students": STUDENTS, "copies": COPIES}
    text = HEAD.format(**about, mean=counts.mean(), share=(counts > 0).mean())
    for lesson, (pairs, *_) in results.items():
        text += f"| {lesson} | {len(pairs)} | {np.mean(pairs):.3f} | {np.mean([n > 0 for n in pairs]):.1%} |\n"
    text += COPIED.format(**about)
    for kind in KINDS:
        text += f"| {kind} | {np.mean([one for _, _, found, _ in results.values() for one in found[kind]]):.0%} |\n"
    seconds = sum(taken for *_, taken in results.values())
    text += TAIL.format(**about, minutes=seconds / 60, each=np.mean([each for _, each, *_ in results.values()]))
    Path(ROOT / "benchmarks" / "similar.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
