"""The answers of all lessons are one program, which learns to copy."""

import json
import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from support.classroom import LESSONS, ROOT, classroom

sys.path.insert(0, str(ROOT / "benchmarks"))

import chain
import checks
import grading
import reader
import since_2017
import speed
from measured import course as courses
from measured import engine, many, processes
from measured.clock import Seconds, Took, worked_by
from nbformat import NotebookNode

from autograder.course.config import read_notebook
from autograder.demo.sample_class import hand_in, released_notebook
from autograder.grading.results import Outcome, Result, Status


@pytest.fixture(scope="module")
def scope() -> dict:
    """The namespace that holds every answer."""
    return chain.answers()


def test_the_answers_train_and_decode(scope: dict) -> None:
    """By the recipe of lesson 6, the model of lessons 1 to 5 copies all but a few of the held-out sequences."""
    model = chain.train(scope, seed=0)
    match, count = chain.copied(scope, model, batches=8)
    assert count == 512 and match > 0.98


@pytest.mark.parametrize(
    ("lesson", "rate"),
    [
        ("06_training", "learning_rate(step + 1, 64, {warmup}) * (1 - step / num_steps)"),
        ("07_greedy_decoding", "paper_optimizer(model, warmup_steps={warmup}, num_steps=len(batches))"),
    ],
)
def test_the_recipe_is_that_of_the_lessons(lesson: str, rate: str) -> None:
    """Sizes, steps, rate and warm-up are those that the training cells of lessons 6 and 7 show."""
    text = (ROOT / "solutions" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
    layers = {name: value for name, value in chain.SIZES.items() if name != "dropout"}
    assert ", ".join(f'\\"{name}\\": {value}' for name, value in layers.items()) in text
    assert f"Transformer({chain.VOCAB_SIZE}, {chain.VOCAB_SIZE}, " in text
    assert f"dropout={chain.SIZES['dropout']}).to(device)" in text
    assert f"data.shortened({chain.STEPS})" in text and ", batch_size=128, seed=1)" in text
    assert all(words in text for words in (rate.format(warmup=chain.WARMUP), "lr=0.2", "betas=(0.9, 0.98), eps=1e-9"))


def test_every_seed_copied_everything() -> None:
    """The table in the repository says so for at least 20 seeds and 500 sequences, within a minute each."""
    table = (ROOT / "benchmarks" / "calibration.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|") and line[2].isdigit()]
    assert len(rows) >= 20 and all(float(match) == 1 and float(seconds) < 60 for _, match, seconds, _ in rows)


def test_every_seed_translates() -> None:
    """The table says so of at least 20 seeds: 99 % are right, and a beam is as good; its recipe is lesson 8's."""
    table = (ROOT / "benchmarks" / "translation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| ([\d.]+)% \| ([\d.]+)% \|$", table, re.MULTILINE)
    assert len(rows) >= 20 and all(99 <= float(greedy) <= float(beam) for greedy, beam in rows)
    lesson = read_notebook(ROOT / "solutions" / "08_translation" / "08_translation.ipynb")
    text = "\n".join(cell["source"] for cell in lesson["cells"])
    (steps,) = re.findall(r"    steps: int = (\d+)\n", text)
    assert f"({steps} steps)" in table
    assert "merges[:40]" in text and "with_ids(data.dates(data.shortened(60_000), seed=1))" in text


def test_every_lessons_reader_reads_more() -> None:
    """By the tables, the worst of 20 seeds reads more digits than the best of the reader before it, and whatever the
    layer lacks costs digits on average."""
    page = (ROOT / "benchmarks" / "reader.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| ([\w -]+) \| (\d+) \| ([\d.]+) % \(([\d.]+) to ([\d.]+)\) \| ", page, re.MULTILINE)
    rows = {name: [float(number) for number in numbers] for name, *numbers in found}  # seeds, mean, lowest, highest
    lessons, without = map(list, reader.readers())
    assert list(rows) == lessons + without and all(rows[name][0] >= 20 for name in lessons)
    assert all(rows[earlier][3] < rows[later][2] for earlier, later in pairwise(lessons))
    assert all(rows[part][1] < rows[lessons[-1]][1] for part in without)


def test_positions_are_what_lesson_3_says_they_are() -> None:
    """Made of the answers, the reader with positions gets many dates right, and the one with four heads hardly any."""
    lessons, without = reader.readers()
    assert all(make()(torch.ones(2, 5, dtype=torch.long)).shape == (2, 8, 10) for make in (lessons | without).values())
    shares = [reader.one(lessons[name], seed=0)[1] for name in ("four heads", "positions")]
    assert shares[0] < 0.03 and shares[1] > 0.2


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")  # which PyTorch's own encoder says of itself
def test_both_models_can_be_measured(scope: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison runs, and gives a ratio for a step, for decoding and for the cache."""
    monkeypatch.setattr(speed, "REPEATS", 1)
    rows = speed.measure("tiny", scope, {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 8}, 2, 3)
    assert len(rows) == 3 and all(float(row.split("|")[4]) > 0 for row in rows)


def test_the_models_since_2017_can_be_trained_and_measured() -> None:
    """Each of the six is trained as lesson 9 does, and the page has a row for it."""
    scope = since_2017.lesson()
    table = {name: [since_2017.one(scope, name, seed=0, steps=1)] for name in ("rotary", "grouped")}
    assert len(scope["MODELS"]) == 6 and table["grouped"][0].parameters < 0.93 * table["rotary"][0].parameters
    assert all(4 < results[0].bits < 10 for results in table.values())
    assert "| grouped | 1 | " in since_2017.page(table)


def test_nobody_waits_for_the_visible_checks() -> None:
    """By the tables in the repository, those of each lesson take less than 2 s, or than 1.67 times `import torch` where
    that is slow, and the first verdict comes less than 0.8 times later than PyTorch's imports alone would let it."""
    table = (ROOT / "benchmarks" / "checks.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in table.splitlines() if re.match(r"\| \d\d_", line)]
    assert [row[0].strip() for row in rows] == [*LESSONS, *LESSONS]  # in both tables
    assert all(float(row[1]) < 2 or float(row[3]) < 2 / 1.2 for row in rows[: len(LESSONS)])
    opened = [(float(row[1]), float(row[2])) for row in rows[len(LESSONS) :]]
    assert all(ours < 0.8 * (seconds - ours) for seconds, ours in opened)


def test_visible_checks_can_be_measured() -> None:
    """Every check cell of a lesson is timed once, and takes some time."""
    taken = checks.seconds("02_multi_head_attention")
    assert set(taken) == {cell.id for cell in classroom("02_multi_head_attention").checks}
    assert all(seconds > 0 for seconds in taken.values())


def test_a_class_is_as_large_and_as_mixed_as_it_should_be(tmp_path: Path) -> None:
    """The benchmark of grading hands in as many submissions as asked, the same every time, and most of them differ."""
    made = courses.Course(tmp_path, "02_multi_head_attention", 24)
    again = courses.hand_ins(made.made, made.released, 24)
    assert len(again) == 24 and again == made.students
    assert len({str(notebook.cells) for notebook in again.values()}) > 12


def test_other_points_than_those_of_stock_end_the_benchmark() -> None:
    """One check that is graded otherwise is named."""
    same = {("ada", "check_one"): 2.0, ("bob", "check_one"): 0.0}
    courses.require_same(same, dict(same))
    with pytest.raises(SystemExit, match=r"bob  check_one: ours 1.0, stock 0.0"):
        courses.require_same({**same, ("bob", "check_one"): 1.0}, same)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_that_of_all_processes() -> None:
    """The peak of a process holds what a child of it holds."""
    inner = "import time; held = bytearray(b'x') * 10**8; time.sleep(1)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    assert 100 < processes.peak(processes.memory([sys.executable, "-c", outer], Path.cwd())) < 200


@pytest.mark.skipif(sys.platform != "linux", reason="work is read from /proc")
def test_work_is_that_of_all_that_was_started() -> None:
    """What a process has worked holds the work of its children, in a session of their own as well."""
    inner = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); time.sleep(600)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], start_new_session=True)"
    with subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        worked = worked_by(process.pid)
        for pid in processes.tree(process.pid):
            os.kill(pid, signal.SIGKILL)
    assert worked >= 0.5


def test_a_section_of_the_page_replaces_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured again stands where it stood, what is new where it belongs, and the others stay."""
    monkeypatch.setattr(grading, "PAGE", tmp_path / "grading.md")
    for name, text in {"many": "old", "time": "first", "cluster": "new", "many ": "again"}.items():
        grading.write(name.strip(), f"{grading.HEADINGS[name.strip()]}\n\n{text}")
    headings = [grading.HEADINGS[name] for name in ("time", "cluster", "many")]
    texts = [f"{heading}\n\n{text}\n" for heading, text in zip(headings, ("first", "new", "again"), strict=True)]
    assert grading.PAGE.read_text(encoding="utf-8") == "\n".join(texts)


class CountsAnswers:
    """Grades with a point for each answer, in ever less time."""

    seconds = 100

    def grade(self, lesson: str, source: bytes, notebook: NotebookNode) -> tuple[Result, Seconds]:
        """Grade."""
        self.seconds -= 1
        answers = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
        points = sum("NotImplementedError" not in cell.source for cell in answers)
        check = Outcome("check", points, Status.PASSED)
        return Result("student", lesson, checks=(check,)), Seconds(self.seconds, self.seconds / 2)


def test_a_blank_hand_in_and_a_half_done_one_are_measured_beside_a_solved_one() -> None:
    """Each is graded to its points as often as the others, in turn, and the fastest counts."""
    lesson = ROOT / "solutions" / "00_orientation" / "00_orientation.ipynb"
    taken = engine.each_hand_in(CountsAnswers(), lesson)
    last = 100 - 3 * (engine.REPEATS + 1)
    assert taken == {
        "solved": (last + 2, last / 2 + 1, 4),
        "half done": (last + 1, last / 2 + 0.5, 2),
        "blank": (last, last / 2, 0),
    }


def test_many_submissions_are_told_in_parts() -> None:
    """Of ten a second that grow faster in the last part: how much faster, what recording took, and the memory."""
    recorded = [(1000 + each / 10, 0.02, 0.01) for each in range(1, 201)]
    recorded += [(1020 + each / 20, 0.02, 0.02) for each in range(1, 101)]
    samples = [(1000 + each, 500 + each) for each in range(28)]
    run = many.Run("01_doubling", 1000.0, 0.1, Took(27.0, 40.0, 0.0), recorded, samples, 600_000, 3_000_000)
    head, *rows = "\n".join(many.told(run, 100)).rsplit("|---|---:|---:|---:|---:|\n")[0:2]
    assert "**0.50 times** as long as the second, and **1.01 times** the memory" in head
    assert "20 ms a submission, 13 ms of work" in head and "**2.00 times** the work" in head
    assert "2.0 kB a submission" in head and "10 kB." in head
    assert rows[0].splitlines() == [
        "| 1 to 100, with start-up | 10.0 | 0.100 | 10.0 | 510 |",
        "| 101 to 200 | 10.0 | 0.100 | 10.0 | 520 |",
        "| 201 to 300 | 5.0 | 0.050 | 20.0 | 525 |",
        "| the end: penalties and the table | 2.0 | | | 527 |",
    ]


def test_many_submissions_take_what_few_take() -> None:
    """By the page in the repository, the last ones take the time and the memory of the second, within 10 %."""
    page = (ROOT / "benchmarks" / "grading.md").read_text(encoding="utf-8")
    ratios = re.search(r"\*\*([\d.]+) times\*\* as long as the second, and \*\*([\d.]+) times\*\* the memory", page)
    assert all(0.9 < float(ratio) < 1.1 for ratio in ratios.groups())


def test_recording_is_timed_while_grading_goes_on(course: Path) -> None:
    """Each result that is recorded has a time of its own, and a line says how far it is."""
    for student in ("ada", "bob", "eve"):
        hand_in(course, student, "01_doubling", released_notebook(course, "01_doubling"))
    times = course / "times.json"
    line = [sys.executable, str(many.TIMED_GRADE), str(times), "2", "01_doubling", "--jobs", "1"]
    done = subprocess.run(line, cwd=course, check=True, capture_output=True, encoding="utf-8")
    assert re.search(r"^2 recorded after \d+ s$", done.stderr, re.MULTILINE)
    taken = json.loads(times.read_text(encoding="utf-8"))
    assert len(taken) == 3 and all(0 < work < clock for _, clock, work in taken)
