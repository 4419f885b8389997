"""`autograder leaderboard`: entries are trained in the sandbox, and nobody is better than the text allows."""

import io
import json
import math
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell
from rich.console import Console
from support.commands import printed
from support.drawn import some_of
from support.sample_lesson import ROOT
from support.warm import Lent

from autograder.course.config import CourseError
from autograder.course.paths import Course
from autograder.demo.sample_class import open_gradebook
from autograder.grading.results import Outcome, Result, Status
from autograder.grading.worker.client import GradingServer
from autograder.leaderboard.entries import entries
from autograder.leaderboard.run import RECORD, leaderboard
from autograder.report.write import LEADERBOARD_PAGE
from autograder.yours.entries import CHARACTERS

LESSON = "09_since_2017"
LETTERS = "abcdefghijklmnopqrstuvwxyz .,()\n"  # 32 of them, drawn at random: five bits each, whoever guesses
SECONDS = 4.0
# Counts which letter follows which.
PLAIN = dedent("""
    class Entry:
        def __init__(self, tokens, vocab_size):
            self.tokens, self.size = tokens, vocab_size
            self.counts = torch.ones(vocab_size, vocab_size)

        def train(self):
            pairs = self.tokens[:-1], self.tokens[1:]
            self.counts.index_put_(pairs, torch.ones(len(pairs[0])), accumulate=True)

        def predict(self, tokens):
            return self.counts[tokens[:, -1]].log()
""").strip()
GUESSING = "return torch.zeros(len(tokens), self.size)"


def entry(train: str = "pass", predict: str = GUESSING, begin: str = "pass", before: str = "") -> str:
    """An entry whose methods do this."""
    methods = {"__init__(self, tokens, vocab_size)": f"self.size = vocab_size\n{begin}"}
    methods |= {"train(self)": train, "predict(self, tokens)": predict}
    body = "\n".join(f"    def {head}:\n{indent(dedent(code), ' ' * 8)}" for head, code in methods.items())
    return f"{before}\nclass Entry:\n{body}"


def named(nickname: str, code: str) -> str:
    """An entry with a nickname."""
    return f"nickname = {nickname!r}\n{code}"


def learning() -> str:
    """An entry whose parameters are drawn and learned."""
    return entry(
        begin="self.tokens, self.layer = tokens, nn.Embedding(vocab_size, vocab_size)",
        train="""
            places = torch.randint(len(self.tokens) - 1, (512,))
            loss = F.cross_entropy(self.layer(self.tokens[places]), self.tokens[places + 1])
            loss.backward()
            with torch.no_grad():
                self.layer.weight -= self.layer.weight.grad
        """,
        predict="return self.layer(tokens[:, -1])",
    )


BURN = "import time\nend = time.thread_time() + 1\nwhile time.thread_time() < end:\n    torch.ones(9, 9).sum()"
# Each must end without a number, or with no better one than chance allows.
HOSTILE = {
    "reads the text": entry(
        "import gc\nself.found = [x for x in gc.get_objects() if type(x) is str and len(x) > 100_000]\n"
        "import glob\nself.found += [open(x).read() for x in glob.glob('/**/text.txt', recursive=True)]",
    ),
    "remembers all that it was shown": entry(
        begin="self.seen = {}",
        predict="""
            logits = torch.zeros(len(tokens), self.size)
            for row, line in enumerate(tokens.tolist()):
                for length in (3, 8, 127):
                    for end in range(length, len(line)):
                        self.seen[tuple(line[end - length : end])] = line[end]
                    known = self.seen.get(tuple(line[-length:]))
                    if known is not None:
                        logits[row, known] = 50.0
            return logits
        """,
    ),
    "writes into what it is given": entry(predict=f"tokens[:] = 7\n{GUESSING}"),
    "no logits": entry(predict="return None"),
    "numbers that are none": entry(predict="return torch.full((len(tokens), self.size), float('nan'))"),
    "infinite ones": entry(predict="return torch.full((len(tokens), self.size), float('inf'))"),
    "the largest there are": entry(predict="return torch.full((len(tokens), self.size), 3e38)"),
    "one row too many": entry(predict="return torch.zeros(len(tokens) + 1, self.size)"),
    "whole numbers": entry(predict="return torch.zeros(len(tokens), self.size, dtype=torch.long)"),
    "a tensor of its own kind": entry(
        predict="return torch.zeros(len(tokens), self.size).as_subclass(Kind)",
        before="class Kind(torch.Tensor):\n    def double(self): return self\n    def isfinite(self): return 1",
    ),
    "another loss": entry(
        before="torch.Tensor.log_softmax = lambda self, dim: torch.zeros_like(self)\n"
        "F.cross_entropy = lambda *a, **k: torch.zeros(())\ncheck.measured(0.0, 0.0)",
        train="check.measured(1.0, 0.0)",
    ),
    "another clock": entry(
        train=BURN,
        before="import time, os, resource\ntime.process_time = lambda: 0.0\nos.times = lambda: (0,) * 5\n"
        "check.processor_seconds = lambda: 0.0",
    ),
    "trains before it is asked to": entry(before="\n".join([BURN] * 5)),
    "trains in threads": entry(
        train=f"""
            import threading
            torch.set_num_threads(2)
            def burn():
{indent(BURN, " " * 16)}
            threads = [threading.Thread(target=burn) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        """
    ),
    "trains in another process": entry(train="import os\nos.fork()"),
    "ends Python": entry(train="import os\nos._exit(0)"),
    "never ends": entry(train="while True: pass"),
    "a model beside the notebook": entry(begin="import beside\nself.model = beside.model"),
    "learned by heart": PLAIN + f"\nheart = '''{'x' * 20_001}'''",
}
# What the command says of some of them, in place of a number.
SAYS = {
    **dict.fromkeys(["another clock", "trains before it is asked to", "trains in threads", "never ends"], "seconds"),
    "trains in another process": "PermissionError",
    "a model beside the notebook": "ModuleNotFoundError",
    "learned by heart": "letters of code beside the lesson's own",
}


def random_text(seed: int = 1) -> str:
    """A text of which nobody can know anything."""
    return "".join(random.Random(seed).choices(LETTERS, k=CHARACTERS + 100))


def make_course(root: Path, entered: Mapping[str, str]) -> Path:
    """A course whose lesson enters the plain entry, and students who hand it in solved, with a cell of their own."""
    shutil.copytree(ROOT / "solutions" / LESSON, root / "solutions" / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    path = root / "solutions" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    text = next(cell for cell in notebook["cells"] if cell["id"] == "leaderboard")
    text["source"] = f"## A leaderboard\n\n```python\n{PLAIN}\n```"
    path.write_text(json.dumps(notebook))
    (root / "text.txt").write_text(random_text())
    for student, code in entered.items():
        folder = root / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        cell = new_code_cell(code, id="mine")
        mine = {**notebook, "cells": [*notebook["cells"], cell]} if code else notebook
        (folder / f"{LESSON}.ipynb").write_text(json.dumps(mine))
    return root


def standing(course: Path, warm: GradingServer, **options: object) -> tuple[str, BeautifulSoup]:
    """What the command prints, and the page."""
    out = io.StringIO()
    options = {"text": Path("text.txt"), "seconds": SECONDS, **options}
    leaderboard(course, LESSON, Console(file=out, width=300), warm=Lent(warm), **options)
    return out.getvalue(), BeautifulSoup((course / LEADERBOARD_PAGE).read_text(), "html.parser")


def values(course: Path) -> list[float]:
    """The bits of all entries that came to their end."""
    return [
        each["curve"][-1][1] for each in json.loads((course / RECORD).read_text())[LESSON].values() if not each["why"]
    ]


def test_nobody_is_better_than_the_text_allows(tmp_path: Path, warm: GradingServer) -> None:
    """Whoever reads, patches, hides or remembers stands no better than chance, and stops nobody else."""
    seen = some_of(list(HOSTILE), "hostile entries", one_in=1, on_a_push=3)
    students = {f"student{number}": what for number, what in enumerate(seen)}
    course = make_course(tmp_path, {student: HOSTILE[what] for student, what in students.items()})
    for student in students:
        (course / "submitted" / student / LESSON / "beside.py").write_text("model = 1")
    said, page = standing(course, warm)
    least = math.log2(len(LETTERS)) - 0.02
    assert all(bits > least for bits in values(course))
    lines = {line.split(":")[0].split()[-1]: line for line in said.splitlines()}
    why = {what: lines[student] for student, what in students.items() if what in SAYS}
    assert all("–" in line.split()[0] and SAYS[what] in line for what, line in why.items()), "\n".join(why.values())
    assert not any(student in page.text for student in students)
    assert len(page.select("tbody tr")) + len(page.select("main li")) == len(students) + 1


def test_the_same_hand_in_twice_gives_the_same(tmp_path: Path, warm: GradingServer) -> None:
    """What was trained once is not trained again; where the record is lost, the same comes of it."""
    course = make_course(tmp_path, {"ada": named("Ada", learning()), "bob": ""})
    said, _ = standing(course, warm)
    assert "Training 2 of 2" in said
    first = values(course)
    with open_gradebook(course) as gradebook:
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace")
    again, page = standing(course, warm)
    assert "Training" not in again and "  Ada  ada (Ada Lovelace)\n" in again and "Lovelace" not in page.text
    (course / RECORD).write_text("{")
    assert "Training 2 of 2" in standing(course, warm)[0]
    assert values(course) == first
    (course / "text.txt").write_text(random_text(seed=2))
    assert "Training 2 of 2" in standing(course, warm)[0]
    assert values(course) != first


def test_what_is_taken_out_leaves_no_room(tmp_path: Path) -> None:
    """Who removes answers and checks may not learn so much more by heart; the lesson's own cells count nothing."""
    course = Course.at(make_course(tmp_path, {"ada": f"{PLAIN}\nheart = '{'x' * 35_000}'", "bob": PLAIN}))
    path = course.submitted("ada", LESSON) / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    path.write_text(json.dumps({**notebook, "cells": notebook["cells"][-1:]}))
    _, ada, bob = entries(course, LESSON, "", SECONDS)
    assert "letters of code beside the lesson's own" in ada.job.reason
    assert not bob.job.reason


def test_what_was_measured_is_kept_with_the_result() -> None:
    """It comes back from JSON as it was; results of before there was any of it have measured nothing."""
    result = Result("ada", LESSON, (Outcome("check_Entry", 0.0, Status.PASSED, measured=((1.5, 3.25),)),))
    written = json.loads(json.dumps(result.to_json()))
    assert Result.from_json(written) == result
    del written["checks"][0]["measured"]
    assert Result.from_json(written).checks[0].measured == ()


def test_the_page_shows_nicknames_and_changes(tmp_path: Path, warm: GradingServer) -> None:
    """Whatever somebody calls themselves acts nowhere, and nobody takes another's nickname."""
    entered = {"ada": "<script>alert(1)</script>", "bob": "THE LESSON'S OWN", "eve": "\x1b[31mred", "fay": "x" * 99}
    changed = PLAIN.replace("torch.ones(vocab_size", "torch.zeros(vocab_size").replace(".log()", ".add(0.1).log()")
    course = make_course(tmp_path, {student: named(name, changed) for student, name in entered.items()})
    said, page = standing(course, warm)
    assert "\x1b" not in said
    names = [name.text for name in page.select("tbody th bdi")]
    assert sorted(names) == sorted(
        ["the lesson's own", "<script>alert(1)</script", "THE LESSON'S OWN (2)", "?[31mred", "x" * 24]
    )
    assert page.find("script") is None and len(page.select("polyline")) == 5
    shown = page.find("details").text
    assert "-        self.counts = torch.ones(" in shown and "+        self.counts = torch.zeros(" in shown


def test_what_the_lesson_shows_works(tmp_path: Path, warm: GradingServer) -> None:
    """The entry in lesson 9, with few steps; and it is measured in the notebook as well."""
    text = json.loads((ROOT / "solutions" / LESSON / f"{LESSON}.ipynb").read_text())
    cell = next("".join(cell["source"]) for cell in text["cells"] if cell["id"] == "leaderboard")
    code = cell.partition("```python\n")[2].partition("\n```")[0].replace("steps, block = 300", "steps, block = 10")
    course = make_course(tmp_path, {"ada": code})
    said, page = standing(course, warm, seconds=60.0)
    assert len(values(course)) == 2, said
    assert page.find("bdi", string="…")


def test_what_somebody_has_to_mend(
    tmp_path: Path, warm: GradingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No text, a short one, nobody who takes part, a lesson without a leaderboard: each says so."""
    course = make_course(tmp_path, {"bob": ""})
    monkeypatch.chdir(course)
    assert "Name a text that no student has, with --text" in printed(capsys, "leaderboard", LESSON, status=2)
    assert "none.txt cannot be read as a text" in printed(capsys, "leaderboard", LESSON, "--text", "none.txt", status=2)
    assert "Nobody takes part" in printed(capsys, "leaderboard", LESSON, "--text", "text.txt", status=2)
    shutil.copytree(ROOT / "solutions" / "01_attention", course / "solutions" / "01_attention")
    said = printed(capsys, "leaderboard", "01_attention", "--text", "text.txt", status=2)
    assert f"01_attention has no leaderboard. Lessons that have one: {LESSON}." in said
    shutil.copytree(course / "submitted" / "bob", course / "submitted" / "ada")
    path = course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    path.write_text(path.read_text().replace("import math", PLAIN.replace("\n", "\\n")))
    (course / "text.txt").write_text(random_text()[:1000])
    with pytest.raises(CourseError, match=r"The text has 1,000 characters that count, and needs 131,328\."):
        standing(course, warm)
