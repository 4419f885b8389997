"""What passed is kept, whole and alone; what did not, or cannot stand alone, is not."""

import ast
import subprocess
import sys
from collections.abc import Callable

import pytest
from yours.conftest import Notebook

from autograder import parts, yours
from autograder.yours import own

MASK = "def causal_mask(size):\n    return torch.ones(size, size).tril() > 0\n"
PROGRAM_PARTS = {
    "5.2 Transformer": (
        "class Transformer(nn.Module):\n    def __init__(self, *sizes, **options):\n        super().__init__()\n"
        "        self.one = nn.Parameter(torch.ones(1))\n    def forward(self, src, tgt):\n        return self.one\n"
    ),
    "7.2 greedy_decode": "def greedy_decode(model, src, max_len):\n    return src\n",
    "8.3 Tokenizer": (
        "class Tokenizer:\n    def __init__(self, merges, alphabet):\n        pass\n"
        "    def encode(self, text):\n        return [ord(letter) for letter in text]\n"
        "    def decode(self, ids):\n        return ids\n"
    ),
}
Said = Callable[[], str]


def test_an_answer_is_kept_with_the_last_of_its_checks(notebook: Notebook, said: Said) -> None:
    """Nothing is kept before all checks have passed with one and the same answer, then it is, and once."""
    notebook.run(MASK)
    notebook.pass_checks("1.4 causal_mask", "shape", of=2)
    assert said() == notebook.kept == ""
    notebook.run(MASK.replace("> 0", "!= 0"))
    notebook.pass_checks("1.4 causal_mask", "values", of=2)
    assert said() == notebook.kept == ""
    notebook.pass_checks("1.4 causal_mask", "shape", of=2)
    assert said() == "  Kept in my_transformer.py.\n"
    assert "# Exercise 1.4 · causal_mask\n" + MASK.replace("> 0", "!= 0") in notebook.kept
    assert "import torch\n" in notebook.kept and "nn" not in notebook.kept.split('"""')[2]
    notebook.pass_checks("1.4 causal_mask", "shape", "values")
    assert said() == ""


def test_a_new_answer_takes_the_place_of_the_old_one(notebook: Notebook) -> None:
    """The file holds one answer to an exercise: the one that passed last; the stub's plan is not kept."""
    notebook.solve(MASK)
    plan = "    # TODO: a triangle of True,\n    # diagonal included. One line is enough.\n    # mine\n"
    notebook.solve(MASK.replace("    return", f"{plan}    return ~~"))
    assert notebook.kept.count("def causal_mask") == 1
    assert "return ~~" in notebook.kept and "TODO" not in notebook.kept and "    # mine\n" in notebook.kept


def test_parts_stand_in_the_order_of_the_lessons(notebook: Notebook) -> None:
    """Whichever is solved first, the file can be imported where the course is not."""
    notebook.run("def decoder_mask(tokens, pad_id=0):\n    return padding_mask(tokens, pad_id) & causal_mask(3)\n")
    notebook.pass_checks("1.5 decoder_mask", "values")
    notebook.solve(MASK)
    assert notebook.kept.index("def causal_mask") < notebook.kept.index("def decoder_mask")
    program = "import my_transformer, sys; assert not any('autograder' in name for name in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=notebook.file.parent, check=True, timeout=60)


HELPED = """
import numpy as np
from math import inf as infinity
from functools import partial
LOW: float = -1e9
SHIFT = (-2, -1)

def swapped(x):
    return x.transpose(*SHIFT)

@partial
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = query @ swapped(key) / np.sqrt(query.shape[-1]) + 0 * LOW - 0 / infinity
    return scores @ value, scores
"""


def test_helpers_numbers_and_imports_are_kept_with_an_answer(notebook: Notebook) -> None:
    """Functions, numbers and libraries of other cells that an answer uses come with it."""
    for cell in HELPED.split("\n\n"):
        notebook.run(cell)
    notebook.pass_checks("1.2 scaled_dot_product_attention", "values")
    kept = notebook.kept
    assert "# Helper of 1.2 · swapped\n" in kept and "# Helper of 1.2 · LOW\nLOW: float = -1e9\n" in kept
    head = kept.split('"""')[2]
    assert head.index("from functools import partial") < head.index("import numpy as np")
    assert "from math import inf as infinity" in kept or "infinity = " in kept
    scope: dict = {}
    exec(kept, scope)
    torch = notebook.scope["torch"]
    output, _ = scope["scaled_dot_product_attention"](*[torch.ones(2, 2)] * 3)
    assert output.shape == (2, 2)


def test_a_helper_stays_while_somebody_needs_it(notebook: Notebook, said: Said) -> None:
    """Two parts share a helper, which outlives the first; another one of its name is refused, in words."""
    notebook.run("def h(x):\n    return x\n")
    notebook.solve("def padding_mask(tokens, pad_id=0):\n    return h(tokens) != pad_id\n", "1.3 padding_mask")
    notebook.solve("def causal_mask(size):\n    return h(torch.ones(size, size)).tril() > 0\n")
    notebook.solve("def padding_mask(tokens, pad_id=0):\n    return tokens != pad_id\n", "1.3 padding_mask")
    assert notebook.kept.count("def h(x)") == 1
    said()
    notebook.run("def h(x):\n    return 2 * x\n")
    notebook.solve("def padding_mask(tokens, pad_id=0):\n    return h(tokens) != 2 * pad_id\n", "1.3 padding_mask")
    assert "Not kept" in (words := said()) and "`h`" in words and "rename it" in words


@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("device = torch.device('cpu')", "`device`"),
        ("size_of = torch.ones(3)", "`size_of`"),
        ("from autograder import parts as mine", "`mine`"),
        ("from autograder.parts import stack_twin as causal", "`causal`"),
    ],
)
def test_what_cannot_stand_alone_is_not_kept_and_says_so(notebook: Notebook, said: Said, cell: str, named: str) -> None:
    """An answer that uses a tensor, a device or the course's package of its notebook stays there, in one line."""
    notebook.run(cell)
    notebook.solve(f"def causal_mask(size):\n    return {named.strip('`')}\n")
    assert said().startswith("  Not kept in my_transformer.py: ") and notebook.kept == ""
    notebook.pass_checks("1.4 causal_mask", "values")
    assert named in said()


def test_solutions_and_other_exercises_are_not_kept(notebook: Notebook, said: Said) -> None:
    """The instructor's own answers, exercises that are no part of the model, and answers without cells are not."""
    notebook.solve("def causal_mask(size):\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n")
    notebook.solve("def attend_one_query(query, key, value):\n    return value\n", "1.1 attend_one_query")
    notebook.scope["causal_mask"] = max
    notebook.scope["In"].clear()
    notebook.pass_checks("1.4 causal_mask", "values")
    assert said() == notebook.kept == ""


@pytest.mark.parametrize("setting", ["NBGRADER_EXECUTION", "PYTEST_VERSION"])
def test_nothing_is_kept_while_a_program_runs_the_notebook(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    """Grading and tests leave no file behind."""
    monkeypatch.setenv(setting, "1")
    notebook.solve(MASK)
    assert list(notebook.file.parent.rglob("*.py")) == []


def test_what_was_written_into_the_file_by_hand_is_not_lost(notebook: Notebook, said: Said) -> None:
    """Where keeping would take something away that somebody wrote, a copy stays, and the learner is told its name."""
    notebook.solve(MASK)
    edited = notebook.kept + "\nprint('mine')\n"
    notebook.file.write_text(edited, encoding="utf-8")
    notebook.run(MASK.replace("> 0", "!= 0"))
    said()
    notebook.pass_checks("1.4 causal_mask", "values")
    assert "my_transformer.edited-1.py" in said()
    assert (notebook.file.parent / "my_transformer.edited-1.py").read_text(encoding="utf-8") == edited
    assert "print" not in notebook.kept
    notebook.file.write_text("def f(:\n", encoding="utf-8")
    notebook.pass_checks("1.4 causal_mask", "values")
    assert (notebook.file.parent / "my_transformer.edited-2.py").read_text(encoding="utf-8") == "def f(:\n"
    ast.parse(notebook.kept)
    notebook.file.write_bytes(b"\xff\xfe no text")
    notebook.pass_checks("1.4 causal_mask", "values")
    assert (notebook.file.parent / "my_transformer.edited-3.py").read_bytes() == b"\xff\xfe no text"
    assert "def causal_mask" in notebook.kept


def test_a_folder_that_takes_no_file_costs_nothing(notebook: Notebook, said: Said) -> None:
    """Where the file cannot be written the learner reads so, and the check has passed all the same."""
    notebook.file.mkdir()
    notebook.solve(MASK)
    words = said()
    assert "cannot be written" in words and "safe in this notebook" in words and len(words.splitlines()) == 1


def test_another_answer_of_the_lesson_is_no_helper(notebook: Notebook) -> None:
    """What an answer uses of another exercise comes with it, under that exercise, and follows when it changes."""
    norm = "class LayerNorm(nn.LayerNorm):\n    pass\n"
    for cell in (norm, norm.replace("pass", "mine = True")):
        notebook.run(cell)
        notebook.run(
            "class AddNorm(nn.Module):\n    def __init__(self, d_model):\n        self.norm = LayerNorm(d_model)\n"
        )
        notebook.pass_checks("4.3 AddNorm", "values")
        assert f"# Exercise 4.1 · LayerNorm\n{cell}" in notebook.kept and "Helper" not in notebook.kept


def test_what_is_still_missing_stands_at_the_top(notebook: Notebook) -> None:
    """Parts that kept ones need and that are not solved yet are named, until they are."""
    notebook.run("def decoder_mask(tokens, pad_id=0):\n    return padding_mask(tokens) & causal_mask(3)\n")
    notebook.pass_checks("1.5 decoder_mask", "values")
    assert "# Not solved yet, but needed below: padding_mask, causal_mask\n" in notebook.kept
    notebook.solve(MASK)
    assert "needed below: padding_mask\n" in notebook.kept
    assert list(notebook.file.parent.glob("*edited*")) == []


def test_two_classes_of_one_exercise_are_kept_together(notebook: Notebook) -> None:
    """Encoder and Decoder are one exercise, and both are kept."""
    notebook.solve("class Encoder(nn.Module):\n    pass\n\n\nclass Decoder(Encoder):\n    pass\n", "5.1 Encoder")
    assert "# Exercise 5.1 · Encoder\n" in notebook.kept and "# Exercise 5.1 · Decoder\n" in notebook.kept
    scope: dict = {}
    exec(notebook.kept, scope)
    assert issubclass(scope["Decoder"], scope["Encoder"])


def test_a_file_with_a_model_and_a_tokenizer_is_a_program(notebook: Notebook, said: Said) -> None:
    """It ends in lines that translate, which are nobody's own work; without weights it says what is missing."""
    notebook.solve(MASK)
    for exercise, source in PROGRAM_PARTS.items():
        notebook.run(source)
        assert "__main__" not in notebook.kept
        notebook.pass_checks(exercise, "values")
    notebook.solve(MASK.replace("> 0", "!= 0"))
    assert notebook.kept.count("__main__") == 1 and not list(notebook.file.parent.glob("*edited*"))
    edited = notebook.kept + "print('mine')\n"
    notebook.file.write_text(edited, encoding="utf-8")
    notebook.solve(MASK)
    assert notebook.kept.count("__main__") == 1 and "mine" not in notebook.kept
    assert [path.read_text(encoding="utf-8") for path in notebook.file.parent.glob("*edited*")] == [edited]
    terminal = [sys.executable, notebook.file.name, "AB", "ba"]
    lost = subprocess.run(terminal, cwd=notebook.file.parent, capture_output=True, encoding="utf-8", check=False)
    assert lost.returncode == 1 and "my_translator.pt of lesson 8" in lost.stderr
    said()
    model = own.read().part("Transformer")(9, 9, 4, 2, 1, 8, share_embeddings=True)
    yours.save_translator(model, sizes=[9, 9, 4, 2, 1, 8], merges=[("a", "b")], alphabet=["a", "b"])
    assert 'python my_transformer.py "27. März 2019"' in said()
    done = subprocess.run(terminal, cwd=notebook.file.parent, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == "[97, 98, 2]\n[98, 97, 2]\n", done.stderr


def test_a_translator_of_other_parts_is_not_kept(notebook: Notebook, said: Said) -> None:
    """What is the course's cannot run in a terminal, so it is named instead."""
    yours.save_translator(parts.Transformer(9, 9), sizes=[], merges=[], alphabet=[])
    assert said() == (
        "Not kept, since a terminal has only what is yours, and these are the course's: "
        "Transformer, greedy_decode, Tokenizer.\n"
    )
    assert not (notebook.file.parent / "my_translator.pt").exists()
