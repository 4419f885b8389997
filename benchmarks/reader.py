"""How much of a date do the readers of lessons 1 to 4 read, whatever the seed, and what does each part bring?

python benchmarks/reader.py [number of seeds] writes reader.md.
"""

import contextlib
import io
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
from chain import MACHINE, ROOT, answers, seeds, spread
from torch import nn

from autograder import data, yours
from autograder.course.config import read_notebook
from autograder.yours import reader

HEAD = """\
# The date reader of lessons 1 to 4

Made by `python benchmarks/reader.py`; do not edit.

The readers are those of the lessons, made of the answers in `solutions/` and trained as there ({steps} steps of {batch}
dates, one thread). Each seed draws its own weights; the batches are the same. Counted are the digits and the whole
dates that are right, of {count} that training never holds: the mean, and the lowest and the highest of the seeds.
PyTorch {torch}.

| the reader | seeds | digits right | dates right | processor seconds |
|---|---:|---:|---:|---:|
"""
WITHOUT = """
## The encoder layer without one of its parts

The last reader, with the layer of lesson 4's cell `reader_without`, trained as long.

| without | seeds | digits right | dates right | processor seconds |
|---|---:|---:|---:|---:|
"""
LESSONS = {1: "01_attention", 2: "02_multi_head_attention", 3: "03_positional_encoding", 4: "04_encoder_decoder_blocks"}
PARTS = ("self-attention", "feed-forward network", "additions", "norms")
Result = tuple[float, float, float]  # the shares of digits and of dates that are right, and processor seconds


def readers() -> tuple[dict[str, Callable[[], nn.Module]], dict[str, Callable[[], nn.Module]]]:
    """What makes a reader: of each lesson by its title, and of lesson 4 by the part that its layer lacks."""
    scopes = {number: _after_the_cells(name) for number, name in LESSONS.items()}
    one, last = scopes[1], scopes[4]

    def without(part: str) -> nn.Module:
        changed = last["DateReader"]()
        changed.layer = last["LayerWithout"](part)
        return changed

    titles = {2: "four heads", 3: "positions", 4: "an encoder layer"}
    return {
        "the mean of all letters": lambda: one["DateReader"](one["evenly"]),
        "attention": lambda: one["DateReader"](one["attend"]),
        **{title: scopes[number]["DateReader"] for number, title in titles.items()},
    }, {part: partial(without, part) for part in PARTS}


def _after_the_cells(lesson: str) -> dict:
    """What the cells of a lesson's reader define, with the answers for its parts."""
    scope = answers() | {"data": data, "yours": yours, "predicted_digits": "", "predicted_left": ""}
    take = yours.take
    yours.take = lambda *names: tuple(scope[name] for name in names) if len(names) > 1 else scope[names[0]]
    train, yours.train_reader = yours.train_reader, lambda *_, **__: None
    try:
        notebook = read_notebook(ROOT / "solutions" / lesson / f"{lesson}.ipynb")
        for cell in notebook["cells"]:
            if cell["id"] in ("date_reader", "reader_without"):
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(cell["source"], scope)
    finally:
        yours.take, yours.train_reader = take, train
    return scope


def one(make: Callable[[], nn.Module], seed: int) -> Result:
    """Train a reader with weights of its own, and let it read."""
    torch.manual_seed(seed)
    model = make()
    begin = time.process_time()
    reader.train(model)
    seconds = time.process_time() - begin
    reached = reader.measured(model, "", 0)
    return statistics.mean(reached.digits), reached.exact, seconds


def write(tables: Sequence[Mapping[str, Sequence[Result]]]) -> None:
    """Write the page of both tables, of what has been measured so far."""
    text = ""
    first = HEAD.format(steps=reader.STEPS, batch=reader.BATCH, count=reader.DATES, **MACHINE)
    for head, table in zip((first, WITHOUT), tables, strict=True):
        text += head
        for name, results in table.items():
            digits, dates, seconds = zip(*results, strict=True)
            shares = " | ".join(spread((100 * each for each in shares), 1, " %") for shares in (digits, dates))
            text += f"| {name} | {len(results)} | {shares} | {statistics.mean(seconds):.0f} |\n"
    (Path(__file__).parent / "reader.md").write_text(text, encoding="utf-8")


def main(number: int) -> None:
    """Train every reader once for each seed, and write the tables anew after each seed."""
    torch.set_num_threads(1)
    both = readers()
    results: tuple[dict[str, list[Result]], ...] = tuple({name: [] for name in made} for made in both)
    for seed in range(number):
        for made, table in zip(both, results, strict=True):
            for name, make in made.items():
                table[name].append(one(make, seed))
                print(seed, name, table[name][-1], flush=True)
        write(results)


if __name__ == "__main__":
    main(seeds())
