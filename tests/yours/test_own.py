"""Kept parts are taken, whatever state their file is in; what is missing or broken is the course's."""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from support.classroom import ROOT
from yours.conftest import Notebook

from autograder import parts, yours
from autograder.yours import place
from autograder.yours.trials import TRIALS, runs

Said = Callable[[], str]
MASK = "# Exercise 1.4 · causal_mask\ndef causal_mask(size):\n    return torch.ones(size, size).tril() > 0\n"
SPLIT = "# Exercise 2.1 · split_heads\ndef split_heads(x, num_heads):\n    return x.unflatten(-1, (num_heads, -1)).mT\n"


def write(notebook: Notebook, *sections: str, head: str = "import torch\n") -> None:
    notebook.file.write_text("\n\n".join([head, *sections]), encoding="utf-8")


def test_the_course_has_every_part_and_each_runs() -> None:
    """Every part that can be kept is one of the course's, which passes its own trial, and a broken one does not."""
    assert set(TRIALS) <= set(parts.__all__)
    assert {name: problem for name in TRIALS if (problem := runs(name, getattr(parts, name)))} == {}
    assert all(runs(name, lambda *_, **__: 1 / 0).startswith("ZeroDivisionError") for name in TRIALS)


def test_without_a_file_all_parts_are_the_courses(notebook: Notebook, said: Said) -> None:
    """A name alone gives the part, several a tuple; a name that no lesson has is refused."""
    assert yours.take("causal_mask") is parts.causal_mask
    assert yours.take("causal_mask", "Transformer") == (parts.causal_mask, parts.Transformer)
    assert said().splitlines() == ["The course's: causal_mask.", "The course's: causal_mask, Transformer."]
    with pytest.raises(ValueError, match=r"`?no_such"):
        yours.take("no_such")


def test_own_parts_are_taken_and_the_rest_is_the_courses(notebook: Notebook, said: Said) -> None:
    """A line says which parts are the learner's, which need the course's, and which are that; no part adds any."""
    body = "    print(tokens)\n    return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1))\n"
    write(notebook, MASK, f"# Exercise 1.5 · decoder_mask\ndef decoder_mask(tokens, pad_id=0):\n{body}")
    causal, decoder_mask, padding = yours.take("causal_mask", "decoder_mask", "padding_mask")
    assert said().splitlines() == [
        "Yours: causal_mask, decoder_mask (with the course's padding_mask).",
        "The course's: padding_mask.",
    ]
    tokens = torch.tensor([[4, 5, 0]])
    assert padding is parts.padding_mask and causal.__globals__ is vars(sys.modules["my_transformer"])
    assert torch.equal(decoder_mask(tokens), parts.decoder_mask(tokens))


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        (
            SPLIT.replace("(x, num_heads):", "(x, num_heads:"),
            "`split_heads` in my_transformer.py has a syntax error on line 10",
        ),
        (SPLIT.replace("x.unflatten", "helper(x).unflatten"), "does not run any more (NameError: name 'helper'"),
        (SPLIT.replace("def", "@missing\ndef"), "does not run (NameError: name 'missing'"),
        (SPLIT.replace("    return", "    raise NotImplementedError\n    return"), "NotImplementedError"),
    ],
)
def test_a_broken_part_costs_no_other(notebook: Notebook, said: Said, section: str, reason: str) -> None:
    """A part that is no Python any more, or does not run, is the course's, and the others stay the learner's."""
    write(notebook, MASK, section)
    causal, split = yours.take("causal_mask", "split_heads")
    words = said()
    assert split is parts.split_heads and causal is not parts.causal_mask
    assert reason in words and "The course's: split_heads." in words and "Yours: causal_mask." in words


def test_a_part_that_is_made_of_a_missing_one_is_made_of_the_courses(notebook: Notebook, said: Said) -> None:
    """What a class inherits from, or a function takes by default, is the course's where it is not solved."""
    write(notebook, "# Exercise 5.1 · Decoder\nclass Decoder(Encoder):\n    layer = DecoderLayer\n")
    decoder = yours.take("Decoder")
    assert issubclass(decoder, parts.Encoder) and "Yours: Decoder (with the course's " in said()


def test_a_file_that_cannot_be_read_is_harmless(
    notebook: Notebook, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file may not be read, the lesson goes on with the course's parts and says why."""
    write(notebook, MASK)

    def refused(*_: object, **__: object) -> str:
        raise PermissionError("no")

    monkeypatch.setattr(Path, "read_text", refused)
    assert yours.take("causal_mask") is parts.causal_mask
    assert "cannot be read (PermissionError: no)" in said()


@pytest.mark.parametrize("head", ["from torch im\n", "def (\n", "import no_such_library\n"])
def test_damaged_imports_cost_no_part_and_are_repaired(notebook: Notebook, said: Said, head: str) -> None:
    """Parts go on with the usual imports, and the next answer that is kept brings all of them back."""
    write(notebook, MASK, SPLIT, head=head)
    causal, _ = yours.take("causal_mask", "split_heads")
    assert causal is not parts.causal_mask and "above the first part of my_transformer.py" in said()
    notebook.solve("def merge_heads(x):\n    return F.relu(x).transpose(1, 2).flatten(2)\n", "2.2 merge_heads")
    assert "import torch\n" in notebook.kept and "import torch.nn.functional as F\n" in notebook.kept
    said()
    yours.take("causal_mask", "merge_heads")
    assert said() == "Yours: causal_mask, merge_heads.\n"


@pytest.mark.parametrize("data", [b"def f(:", b"\xff\xfe\x00", b"", b"import no_such_library\n", b"x = 1\n"])
def test_a_file_of_anything_is_harmless(notebook: Notebook, said: Said, data: bytes) -> None:
    """Whatever stands in the file, the lesson goes on with the course's parts."""
    notebook.file.write_bytes(data)
    assert yours.take("causal_mask") is parts.causal_mask
    yours.summary()
    yours.whole_file()
    assert "my_transformer.py" in said()


def test_of_two_copies_the_one_beside_the_lessons_is_used(notebook: Notebook, said: Said) -> None:
    """A copy in a lesson's folder is used when there is no other; of two, the learner reads which one is."""
    inside = notebook.folder / "my_transformer.py"
    inside.write_text(f"import torch\n\n\n{MASK}", encoding="utf-8")
    assert yours.take("causal_mask") is not parts.causal_mask
    write(notebook, SPLIT)
    assert yours.take("causal_mask") is parts.causal_mask
    words = said()
    assert f"{notebook.file} is used, {inside} is not" in words


def test_on_colab_the_drive_is_used_when_it_is_mounted(
    notebook: Notebook, said: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a Drive the learner is told to carry the file along; with one it is kept there."""
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    monkeypatch.setattr(place, "DRIVE", tmp_path / "MyDrive")
    monkeypatch.chdir(tmp_path)
    yours.take("causal_mask")
    assert "upload my_transformer.py" in said()
    notebook.solve(MASK)
    yours.summary()
    assert (tmp_path / "my_transformer.py").is_file() and "download it" in said()
    (tmp_path / "MyDrive").mkdir()
    notebook.run("def padding_mask(tokens, pad_id=0):\n    return (tokens != pad_id)[:, None, None]\n")
    notebook.pass_checks("1.3 padding_mask", "values")
    kept = (tmp_path / "MyDrive" / "my_transformer" / "my_transformer.py").read_text(encoding="utf-8")
    assert "def causal_mask" in kept and "def padding_mask" in kept
    yours.summary()
    assert "download" not in said()


def test_nothing_is_taken_in_solutions_nor_while_a_program_runs_the_notebook(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Grading, CI and the instructors' outputs do not depend on any file."""
    write(notebook, MASK)
    for setting in ("PYTEST_VERSION", "NBGRADER_EXECUTION"):
        with monkeypatch.context() as graded:
            graded.setenv(setting, "1")
            assert yours.take("causal_mask") is parts.causal_mask
    assert yours.take("causal_mask") is not parts.causal_mask
    monkeypatch.chdir(ROOT / "solutions" / "01_attention")
    said()
    assert yours.take("causal_mask") is parts.causal_mask
    yours.summary()
    assert said() == "The course's: causal_mask.\n"


def test_weights_fit_the_model_that_they_were_trained_with(notebook: Notebook, said: Said) -> None:
    """Weights and snapshots come back as they were, until a part of the model changes; then they are left alone."""
    model = torch.nn.Linear(2, 3)
    snapshots = {20: {name: value.clone() for name, value in model.state_dict().items()}}
    torch.nn.init.zeros_(model.weight)
    yours.save_weights(model, snapshots)
    other = torch.nn.Linear(2, 3)
    loaded = yours.load_weights(other)
    assert loaded is not None and torch.equal(loaded[20]["weight"], snapshots[20]["weight"])
    assert not other.weight.any() and torch.equal(other.bias, model.bias)
    said()
    assert yours.load_weights(torch.nn.Linear(3, 3)) is None
    assert "cannot be used (RuntimeError)" in said()
    assert yours.load_weights(torch.nn.Sequential(model)) is None
    assert "cannot be used (KeyError)" in said()
    write(notebook, "# Exercise 5.3 · Transformer\nclass Transformer(torch.nn.Linear):\n    pass\n")
    assert yours.load_weights(other) is not None  # it does not run, so the model is still the course's
    run = "# Exercise 5.3 · Transformer\nfrom autograder.parts import Transformer\n"
    write(notebook, run)
    said()
    assert yours.load_weights(other) is None and "has changed" in said()
    notebook.file.with_suffix(".pt").write_bytes(b"no weights")
    assert yours.load_weights(other) is None
    notebook.file.with_suffix(".pt").unlink()
    assert yours.load_weights(other) is None and "trained here" in said()
    notebook.file.with_suffix(".pt").mkdir()
    yours.save_weights(model, {})
    assert "cannot be written" in said()


def test_a_training_that_meets_a_nan_stops_and_nothing_of_it_is_kept(notebook: Notebook, said: Said) -> None:
    """The batches end with the step that spoiled the weights, and no file holds such weights."""
    model, seen = torch.nn.Linear(2, 3), []
    with pytest.raises(ArithmeticError, match="The last step left weights that are no numbers"):
        for batch in yours.while_finite(model, "abc"):
            seen.append(batch)
            if batch == "b":
                model.bias.data[1] = math.nan
    assert seen == ["a", "b"]
    yours.save_weights(model, {})
    assert "Not kept" in said() and not notebook.file.with_suffix(".pt").exists()
    assert list(yours.while_finite(torch.nn.Linear(2, 3), range(3))) == [0, 1, 2]


def test_weights_that_are_no_numbers_are_not_taken(notebook: Notebook, said: Said) -> None:
    """A file that somehow holds them is left alone, and the model is trained anew."""
    model = torch.nn.Linear(2, 3)
    yours.save_weights(model, {})
    kept = torch.load(notebook.file.with_suffix(".pt"), weights_only=True)
    kept["weights"]["bias"][0] = math.inf
    torch.save(kept, notebook.file.with_suffix(".pt"))
    said()
    assert yours.load_weights(model) is None and "trained here" in said()


def test_the_last_page_says_whose_the_model_is(notebook: Notebook, said: Said) -> None:
    """Every line is the learner's only where all parts of the model are; else the course's are named."""
    yours.whole_file()
    assert (
        "Not in the file, since their checks have not passed: " in (words := said())
        and "Transformer" in words
        and "yours" not in words
    )
    own = "# Exercise 5.3 · Transformer\nfrom autograder.parts import Transformer\n"
    write(notebook, own)
    yours.whole_file()
    assert "Every line that the model runs is yours." in said()


def test_a_prediction_stands_beside_what_happened(said: Said) -> None:
    """Both are printed, and a prediction that was not made says so."""
    yours.compare("3 times", f"{2.7:.1f} times")
    yours.compare(" ", 5)
    assert said().splitlines() == [
        *("you predicted   3 times", "what happened   2.7 times"),
        *("you predicted   nothing yet", "what happened   5"),
    ]
