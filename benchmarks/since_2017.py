"""What is each change of lesson 9 worth, whatever the seed?

python benchmarks/since_2017.py [number of seeds] trains the six models of the lesson, and writes since_2017.md.
"""

import contextlib
import io
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from chain import MACHINE, ROOT, answers, seeds, spread

from autograder import data, yours
from autograder.course.config import read_notebook

HEAD = """\
# What each change since 2017 is worth

Made by `python benchmarks/since_2017.py`; do not edit.

The models, the text and the training are those of lesson 9, made of the answers in `solutions/` (one thread). Each seed
draws its own weights; the batches are the same. Bits a character are those of the first 20,000 held-out characters, in
blocks of 64: the mean, and the lowest and the highest of the seeds. *Better than the one before* counts the seeds in
which a model needs fewer bits than the one above it with the same seed. PyTorch {torch}.

| model | seeds | bits a character | better than the one before | parameters | processor seconds |
|---|---:|---:|---:|---:|---:|
"""
LESSON = "09_since_2017"


class Result(NamedTuple):
    """What became of a model with one seed."""

    bits: float
    parameters: int
    seconds: float


def lesson() -> dict[str, Any]:
    """The names of lesson 9, with the answers for its parts and none of its models trained."""
    scope = answers() | {"data": data, "yours": yours, "device": torch.device("cpu")}
    scope |= {"TheNorm": scope["RMSNorm"], "TheGate": scope["SwiGLU"], "TheGPT": scope["GPT"]}
    cells = {
        cell["id"]: cell["source"] for cell in read_notebook(ROOT / "solutions" / LESSON / f"{LESSON}.ipynb")["cells"]
    }
    with contextlib.redirect_stdout(io.StringIO()):
        for name in ("the_text", "six_models"):
            exec(cells[name], scope)
    return scope


def one(scope: Mapping[str, Any], name: str, seed: int, steps: int = 300) -> Result:
    """Train a model with weights of its own, and measure it."""
    begin = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):  # its bar
        model, _ = scope["trained"](name, steps=steps, seed=seed)
    seconds = time.process_time() - begin
    bits = scope["bits_per_character"](model, scope["held_out"][:20_001], scope["BLOCK"])
    return Result(bits, sum(parameter.numel() for parameter in model.parameters()), seconds)


def page(table: Mapping[str, Sequence[Result]]) -> str:
    """The page of what has been measured so far."""
    text, before = HEAD.format(**MACHINE), None
    for name, results in table.items():
        pairs = zip(results, before or results, strict=True)
        fewer = f"{sum(one.bits < other.bits for one, other in pairs)} of {len(results)}"
        better = "–" if before is None else fewer
        seconds = statistics.mean(result.seconds for result in results)
        bits = spread((result.bits for result in results), 2)
        text += f"| {name} | {len(results)} | {bits} | {better} | {results[0].parameters:,} | {seconds:.0f} |\n"
        before = results
    return text


def main(number: int) -> None:
    """Train every model once for each seed, and write the page anew after each seed."""
    scope = lesson()
    table: dict[str, list[Result]] = {name: [] for name in scope["MODELS"]}
    for seed in range(number):
        for name, results in table.items():
            results.append(one(scope, name, seed))
            print(f"seed {seed}, {name}: {results[-1].bits:.3f} bits", flush=True)
        (Path(__file__).parent / "since_2017.md").write_text(page(table), encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(seeds())
