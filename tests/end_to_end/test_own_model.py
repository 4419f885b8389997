"""A learner's own lines, from lesson 1 to a GPT: kept, trained, decoded with, and theirs alone."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.classroom import LESSONS, ROOT
from support.learner import Learner, errors, said

from autograder.yours.trials import TRIALS

COPIED = "exact match on 640 held-out sequences: 100.0%"
# Lesson 8 trains its model as it says; the others, which show what becomes of it otherwise, need not get far here.
BRIEF_EXPERIMENTS = {"steps=300, warmup_steps=60": "steps=20, warmup_steps=4"}
# Likewise lesson 9's models, but the one that it keeps.
BRIEF_MODELS = {
    "def trained(name, steps=300": "def trained(name, steps=8",
    "steps=500, batch_size=16": "steps=60, batch_size=16",
}
DATES = {
    "27. März 2019": "2019-03-27",
    "March twenty-seventh, 2019": "2019-03-27",
    "siebenundzwanzigster märz 2019": "2019-03-27",
    "14/02/1950": "1950-02-14",
    "mardi 3 octobre 2051": "2051-10-03",
}
# In a terminal, where the course is not installed: the file alone builds the model, loads what was trained, and writes.
TERMINAL = """
import sys
sys.modules["autograder"] = None  # whoever imports it here gets an error
import torch
import my_transformer as mine
model = mine.Transformer(13, 13, d_model=64, num_heads=4, num_layers=1, d_ff=128, dropout=0.1)
model.load_state_dict(torch.load("my_transformer.pt", weights_only=True)["weights"])
print(mine.greedy_decode(model, torch.tensor([[7, 7, 4, 7, 7, 2], [5, 9, 3, 2, 0, 0]]), 8).tolist())
"""


def terminal(learner: Learner, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a learner's folder."""
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=learner.folder, capture_output=True, encoding="utf-8", check=False)


BRIEF_READERS = {", lesson=": ", steps=200, lesson="}  # half of what they take


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Learner:
    """Somebody who has solved lessons 0 to 5 in order."""
    learner = Learner(tmp_path_factory.mktemp("learner"))
    for lesson in LESSONS[:6]:
        assert errors(learner.work(lesson, instead=BRIEF_READERS)) == {}
    return learner


def test_the_number_rises_with_every_lesson(learner: Learner) -> None:
    """The date reader, made of the learner's own parts, reads more digits after each of lessons 1 to 4."""
    kept = json.loads((learner.folder / "progress.json").read_bytes())["reader"]
    assert [kept[lesson]["whose"] for lesson in "01234"] == ["", *4 * ["yours"]]
    shares = [sum(kept[lesson]["digits"]) / 8 for lesson in "01234"]
    assert all(later > earlier + 0.01 for earlier, later in itertools.pairwise(shares)), shares


def test_a_learners_own_transformer_trains_copies_and_translates(learner: Learner) -> None:
    """Lessons 6 to 9 work with the learner's lines alone, 640 copies of 640, and a terminal needs no course."""
    training, decoding = map(learner.work, LESSONS[6:8])
    translating = learner.work(LESSONS[8], instead=BRIEF_EXPERIMENTS)
    writing = learner.work(LESSONS[9], instead=BRIEF_MODELS)
    assert errors(training) == errors(decoding) == errors(translating) == errors(writing) == {}
    for notebook in (training, decoding, translating):
        assert "The course's" not in said(notebook, "earlier_parts")
        assert "Transformer" in said(notebook, "earlier_parts").partition("Yours: ")[2]
    assert "The weights are kept in my_transformer.pt" in said(training, "keep_weights")
    assert "The weights that lesson 6 trained" in said(decoding, "train_the_model")
    assert COPIED in said(decoding, "try_decode")
    (right,) = re.findall(r"what happened   (\S+)% of 2000 held-out dates", said(translating, "train_the_model"))
    assert float(right) > 98
    assert "Every line that the model runs is yours." in said(decoding, "whole_file")
    text = learner.file.read_text(encoding="utf-8")
    assert "autograder" not in text and "TODO" not in text and "SOLUTION" not in text
    assert [name for name in TRIALS if f" · {name}\n" not in text] == []
    some = int(re.search(r"some (\d+) lines", (ROOT / "README.md").read_text(encoding="utf-8"))[1])
    assert 0.9 * some < len(text.splitlines()) < 1.1 * some
    done = terminal(learner, "-c", TERMINAL)
    assert done.stdout.strip() == "[[1, 7, 7, 4, 7, 7, 2], [1, 5, 9, 3, 2, 0, 0]]", done.stderr
    assert "The course's" not in said(writing, "earlier_parts") + said(writing, "try_change")
    assert "Kept in " in said(translating, "try_terminal") and "Kept in " in said(writing, "try_terminal")
    done = terminal(learner, learner.file.name, *DATES)
    written = done.stdout.split()
    begin = "The if statement"
    writes = terminal(learner, learner.file.name, "--write", begin)
    assert writes.returncode == 0 and writes.stdout.startswith(begin) and len(writes.stdout) == len(begin) + 112 + 1
    assert sum(one == other for one, other in zip(written, DATES.values(), strict=True)) >= 4, done.stdout + done.stderr


def test_lessons_in_any_order_say_whose_parts_they_use(tmp_path: Path) -> None:
    """Lesson 4 half solved, then 5, then 4 to 0: all run, each names what is the course's, and the file comes whole."""
    learner = Learner(tmp_path)
    half = learner.work(LESSONS[4], ["LayerNorm", "FeedForward", "EncoderLayer"])
    assert said(half, "earlier_parts") == "The course's: MultiHeadAttention.\n"
    assert all(error.startswith(("NotWritten", "NotImplementedError")) for error in errors(half).values())
    whole = learner.work(LESSONS[5])
    assert errors(whole) == {}
    yours, _, courses = said(whole, "earlier_parts").partition("The course's: ")
    assert "EncoderLayer (with the course's " in yours and "DecoderLayer" in courses
    assert "# Not solved yet, but needed below: " in learner.file.read_text(encoding="utf-8")
    for lesson in reversed(LESSONS[:5]):
        assert errors(learner.work(lesson)) == {}
    text = learner.file.read_text(encoding="utf-8")
    assert "Not solved yet" not in text
    names = re.findall(r"^# Exercise \S+ · (\w+)$", text, re.MULTILINE)
    assert [name for name in names if name in TRIALS] == list(TRIALS)[: list(TRIALS).index("initialize_parameters") + 1]
    assert terminal(learner, "-c", "import my_transformer").returncode == 0
