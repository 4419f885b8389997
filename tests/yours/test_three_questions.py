"""The questions that open a lesson are right, come back where they should, and cost nobody anything."""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from support.classroom import LESSONS, ROOT
from yours.conftest import Notebook

from autograder import check, exercises, files, lessons, yours
from autograder.check import _progress
from autograder.course.lesson import Lesson
from autograder.yours import progress, questions
from autograder.yours.questions import Asked, Rounds, chosen
from autograder.yours.topics import NAMES, TOPICS, ask

DRAWS = 1000  # of each kind of question
MARK = "✓"


class Shape(tuple):
    """A shape, computed as one does on paper, without a tensor."""

    def __matmul__(self, other: Shape) -> Shape:
        product = Shape((*Shape(self[:-2]) + Shape(other[:-2]), self[-2], other[-1]))
        product.multiplications = math.prod(product) * self[-1]
        return product

    def __add__(self, other: Shape) -> Shape:
        pairs = itertools.zip_longest(reversed(self), reversed(other), fillvalue=1)
        return Shape(reversed([max(pair) for pair in pairs]))

    __mul__ = __and__ = __add__

    def view(self, *sizes: int) -> Shape:
        return Shape(sizes)

    def flatten(self, start: int) -> Shape:
        return Shape((*self[:start], math.prod(self[start:])))

    def transpose(self, one: int, other: int) -> Shape:
        sizes = list(self)
        sizes[one], sizes[other] = sizes[other], sizes[one]
        return Shape(sizes)


ON_PAPER = {
    "torch": SimpleNamespace(ones=lambda *sizes, dtype=None: Shape(sizes), long=None),
    "F": SimpleNamespace(
        linear=lambda x, weight: x @ weight.transpose(0, 1),
        scaled_dot_product_attention=lambda query, key, value: Shape((query[0], value[1])),
    ),
    "padding_mask": lambda tokens: Shape((tokens[0], 1, 1, tokens[1])),
    "causal_mask": lambda size: Shape((size, size)),
    "split_heads": lambda x, heads: Shape((x[0], heads, x[1], x[2] // heads)),
    "merge_heads": lambda x: Shape((x[0], x[2], x[1] * x[3])),
    "sinusoidal_encoding": lambda *sizes: Shape(sizes),
    "MultiHeadAttention": lambda *sizes: lambda query, key, value: query,
    "DecoderLayer": lambda *sizes: lambda x, memory: x,
    "TokenEmbedding": lambda vocabulary, width: lambda tokens: Shape((*tokens, width)),
}
COUNTED = {
    "nn": SimpleNamespace(Linear=lambda given, made, bias=True: given * made + bias * made),
    "MultiHeadAttention": lambda width, heads: 4 * (width * width + width),
    "TokenEmbedding": lambda vocabulary, width: vocabulary * width,
    "AddNorm": lambda width: 2 * width,
    "FeedForward": lambda width, inner: 2 * width * inner + width + inner,
}
IN_NUMPY = {
    "torch": SimpleNamespace(arange=np.arange, tensor=np.array),
    "causal_mask": lambda size: np.tri(size, dtype=bool),
    "padding_mask": lambda tokens: (tokens != 0)[:, None, None],
    "decoder_mask": lambda tokens: (tokens != 0)[:, None, None] & np.tri(tokens.shape[1], dtype=bool),
    "teacher_forcing": lambda tokens: (tokens[:, :-1], tokens[:, 1:]),
}
ORACLES: dict[str, Callable[[str], object]] = {
    "shape": lambda code: eval(code, ON_PAPER),
    "multiplications": lambda code: eval(code, ON_PAPER).multiplications,
    "parameters": lambda code: eval(code, COUNTED),
    "hidden": lambda code: np.flatnonzero(~eval(code, IN_NUMPY)).tolist(),
}


@pytest.mark.parametrize("kind", [*ORACLES, "slip"])
def test_a_thousand_draws_of_each_kind_agree_with_another_computation(kind: str) -> None:
    """Shapes, costs and hidden places are as on paper; of the slips offered exactly one gives the table shown."""
    of_kind, draw = [topic for topic in TOPICS if TOPICS[topic][0] == kind], random.Random(36)
    seen = set()
    for number in range(DRAWS):
        question = ask(of_kind[number % len(of_kind)], draw.randint(2, 9), draw)
        seen.add(question.text)
        first, code, *rest = question.text.splitlines()
        assert len(f"1  {first}") <= 88 and max(map(len, (code, *rest))) <= 88  # Colab's width
        if kind != "slip":
            assert ORACLES[kind](code.strip()) == question.truth != [], question.text
            continue
        table, options = re.fullmatch(r"(.*?\]\n)   1  (.*)", "\n".join(rest), re.DOTALL).groups()
        name, _, arguments = code.strip().removesuffix(")").partition("(")
        slips = getattr(exercises, name).slips(*eval(f"({arguments},)", NAMES))
        named = [" ".join(option.split()) for option in re.split(r"\n   \d  ", options)]
        offered = [value for option in named for slip, value in slips.items() if " ".join(slip.split()) == option]
        assert len(offered) == len(named) == 3
        shown = [float(entry) for entry in re.findall(r"[-\w.]+", table)]
        values = [value.flatten().double() for value in (*offered, eval(code.strip(), NAMES))]
        agree = [np.allclose(value, shown, atol=0.006) for value in values]
        assert agree == [place == question.truth for place in (1, 2, 3, 4)], question.text
    assert len(seen) > 50


def test_each_question_belongs_to_the_exercise_that_teaches_it() -> None:
    """The exercise to read again is in the course, and code that calls an exercise's name is not asked before it."""
    names: dict[str, str] = {}
    for lesson in LESSONS:
        notebook = nbformat.read(ROOT / "solutions" / lesson / f"{lesson}.ipynb", as_version=4)
        names |= {exercise.name: exercise.number for exercise in Lesson(lesson, notebook).exercises}
    for line in (line for _, *lines in TOPICS.values() for line in lines):
        exercise, _, code = line.partition(" ")
        called = {names[name] for name in re.findall(r"\b\w+(?=\()", code) if name in names}
        assert exercise in names.values() and all(name <= exercise for name in called), code


@pytest.mark.parametrize("chance", [0, 0.2, 0.5, 1])
def test_every_topic_comes_in_three_lessons(chance: float) -> None:
    """Whoever answers at random meets each topic in three lessons; what was missed comes first, what is fresh waits."""
    for seed in range(200):
        draw, known = random.Random(seed), dict[str, list[Asked]]()
        for lesson in range(1, 10):
            asked = chosen(lesson, known, draw)
            assert len({*asked}) == 3
            for topic in asked:
                known.setdefault(topic, []).append(Asked(lesson, draw.random() < chance, ""))
        assert min(len(known[topic]) for topic in TOPICS) >= 3
    right = {topic: [Asked(lesson, True, "")] for lesson, topic in enumerate(TOPICS)}
    assert chosen(8, right | {"parameters": [Asked(7, False, "")]}, draw)[0] == "parameters"
    assert "multiplications" not in chosen(8, right, draw)


def test_a_cell_asks_judges_and_asks_anew(notebook: Notebook, said, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of another session are not judged, first answers are remembered once, and empty quotes bring others."""
    monkeypatch.setattr(yours, "_rounds", Rounds())
    yours.three_questions(5, "7", "", "")
    asked = said()
    assert MARK not in asked and "the answers above are to others" in asked and questions.asked() == {}
    now = yours._rounds._rounds[5]
    truths = [question.truth for question in now.questions.values()]
    yours.three_questions(5, truths[0], "no", "")
    assert "1 of 3 are right." in said()
    yours.three_questions(5, *truths)
    assert "3 of 3 are right." in said()
    kept = questions.asked()
    assert [[each[:2] for each in kept[topic]] for topic in now.questions] == [[(5, True)], [(5, False)], [(5, True)]]
    yours.three_questions(5, "", "", "")
    first, missed, third = now.questions
    again = [*yours._rounds._rounds[5].questions]
    assert MARK not in said() and again[0] == missed and not {first, third} & {*again}
    yours.summary()
    (line,) = lessons.installed().missed
    (found,) = re.finditer(line, said(), re.MULTILINE)  # by which the class page knows it
    assert found["topics"] == f"{missed} (lesson 5)"
    yours.three_questions("five", "")
    assert said().startswith("There are no questions this time (TypeError")


def test_a_program_that_runs_a_lesson_is_asked_the_same_each_time(
    notebook: Notebook, said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grading and tests see one text, nothing is kept, and nobody's random numbers change."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    state = torch.get_rng_state(), random.getstate()
    for _ in range(2):
        monkeypatch.setattr(yours, "_rounds", Rounds())
        yours.three_questions(9, "", "", "")
    first, second = np.array_split(said().splitlines(), 2)
    assert (
        list(first) == list(second) and torch.equal(state[0], torch.get_rng_state()) and state[1] == random.getstate()
    )
    yours.three_questions(9, "1", "2", "3")
    assert not list(notebook.folder.parent.glob("*.json"))


def test_students_get_questions_without_answers() -> None:
    """Each lesson from 1 on has the cell behind its first three, with empty quotes and no output."""
    for number, lesson in enumerate(LESSONS):
        notebook = nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4)
        cells = [place for place, cell in enumerate(notebook.cells) if "three_questions(" in cell.source]
        assert cells == ([3] if number else [])
        for place in cells:
            cell = notebook.cells[place]
            code = ast.unparse(ast.parse(cell.source))
            assert code == f"yours.three_questions({number}, '', '', '')" and not cell.outputs


def attempts(notebook: Notebook, *holds: bool) -> None:
    """Run a check of `causal_mask` in the notebook, and let it hold or not."""
    check.lesson({"1.4 causal_mask": 1, "1.5 decoder_mask": 2})
    for each in holds:
        notebook.scope |= {"check": check, "holds": each}
        source = "@check.exercise('1.4 causal_mask')\ndef a_rule():\n    check.true(holds, 'It is wrong.')\n"
        try:
            notebook.run(source)
        except check.CheckFailed:
            assert not each


def test_attempts_broken_rules_and_days_are_kept(notebook: Notebook, said) -> None:
    """What resisted and what is solved stands in the file, and a later session shows it for all lessons."""
    attempts(notebook, False, False, True, True)
    (of_it,) = (entry for name, entry in progress.read("checks")["1"].items() if name.startswith("1.4"))
    assert of_it["tries"] == 3 and of_it["broken"] == {"a rule": 2} and of_it["first"] <= of_it["solved"]
    _progress._session = _progress.Session()
    yours.summary()
    assert f"lesson 1   ✓–          1 of 2 solved, last on {of_it['last']}\n" in said()


SPOILED = [
    "",
    "no JSON",
    "[]",
    "3",
    "null",
    '{"checks": []}',
    '{"questions": 1, "checks": {"1": [], "x": {}, "10": 1}}',
]
SPOILED += ['{"checks": {"1": {"1.4 causal_mask": {"tries": "3", "broken": [1], "last": 4}, "1.5": null}}}']
SPOILED += ['{"questions": {"parameters": {"asked": [[1], [true, 1, ""], {}, [9, false, "", 1]]}, "unknown": {}}}']
SPOILED += ['{"version": 9, "other": "\\ud800"}', "\x00" * 9, "[" * 100_000, '{"a":' * 900 + "1" + "}" * 900]
SPOILED += [f'{{"checks": {"9" * 5000}}}', '{"a": "' + "b" * 2_000_000 + '"}', "folder", "not writable"]


@pytest.mark.parametrize("spoiled", SPOILED, ids=range(len(SPOILED)))
def test_whatever_becomes_of_the_file_nothing_breaks(
    spoiled: str, notebook: Notebook, said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions, checks and summary go on; what is kept is kept again, or one sentence says that it cannot be."""

    def refuse(path: Path, data: bytes) -> None:
        raise PermissionError

    monkeypatch.setattr(yours, "_rounds", Rounds())
    file = notebook.folder.parent / "progress.json"
    file.mkdir() if spoiled == "folder" else file.write_text(spoiled)
    if spoiled == "not writable":
        monkeypatch.setattr(files, "write", refuse)
    yours.three_questions(4, "", "", "")
    yours.three_questions(4, "1", "2", "3")
    attempts(notebook, False, True)
    yours.summary()
    words = said()
    assert "of 3 are right." in words and "There are no questions" not in words
    lost = spoiled in ("folder", "not writable")
    assert words.count("cannot be written") == lost
    if not lost:
        kept = json.loads(file.read_bytes())
        assert len(kept["questions"]) >= 3 and kept["checks"]["1"]["1.4 causal_mask"]["tries"] == 2
        assert "lesson 1   ✓–" in words
