"""What is each change of lesson 9 worth, whatever the seed, and what would PyTorch's layers or nanoGPT's do?

python benchmarks/since_2017.py [number of seeds] trains the six models of the lesson, and writes since_2017.md.
python benchmarks/since_2017.py beside [number of seeds] trains two of them beside the same sizes of other make, and
writes since_2017_beside.md.
"""

import contextlib
import io
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from chain import MACHINE, ROOT, answers, seeds, spread
from torch import Tensor, nn

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
BESIDE = """\
# A learner's blocks beside others of the same size

Made by `python benchmarks/since_2017.py beside`; do not edit.

The text and the training are those of lesson 9 (one thread, 300 batches, {seeds} seeds). Times are processor seconds of
a training in relation to the one above, in one run: for each seed one after the other. PyTorch {torch}.

| model | bits a character | time | parameters |
|---|---:|---:|---:|
"""
LESSON = "09_since_2017"
VOCAB_SIZE, D_MODEL, HEADS, LAYERS, D_FF, BLOCK = 103, 64, 4, 3, 256, 64  # of the lesson's models


class OfPyTorch(nn.Module):
    """PyTorch's own encoder layers, the norm first and nothing seen of what follows; all else as in the lesson."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        super().__init__()
        self.token = scope["TokenEmbedding"](VOCAB_SIZE, D_MODEL)
        self.place = scope["PositionalEncoding"](D_MODEL, dropout=0.0)
        layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=True)
        self.stack = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(D_MODEL), enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1))
        x = self.stack(self.place(self.token(tokens)), mask, is_causal=True)
        return F.linear(x, self.token.embedding.weight)


class LikeNanoGPT(nn.Module):
    """The GPT of 2019 as nanoGPT has it: one matrix for queries, keys and values, GELU, a learned vector a position."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(VOCAB_SIZE, D_MODEL), nn.Embedding(BLOCK, D_MODEL)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm_1": nn.LayerNorm(D_MODEL),
                    "qkv": nn.Linear(D_MODEL, 3 * D_MODEL),
                    "out": nn.Linear(D_MODEL, D_MODEL),
                    "norm_2": nn.LayerNorm(D_MODEL),
                    "up": nn.Linear(D_MODEL, D_FF),
                    "down": nn.Linear(D_FF, D_MODEL),
                }
            )
            for _ in range(LAYERS)
        )
        self.norm = nn.LayerNorm(D_MODEL)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length = tokens.shape
        x = self.token(tokens) + self.place.weight[:length]
        for block in self.blocks:
            heads = block["qkv"](block["norm_1"](x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + block["out"](mixed.transpose(1, 2).flatten(2))
            x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
        return F.linear(self.norm(x), self.token.weight)


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


def beside(number: int) -> None:
    """Train a learner's pre-norm model and GPT beside the others, and write the page."""
    scope = lesson()
    scope["MODELS"] |= {"nn.TransformerEncoderLayer": lambda: OfPyTorch(scope), "as nanoGPT writes it": LikeNanoGPT}
    names = {
        "pre-norm": "the learner's, pre-norm",
        "nn.TransformerEncoderLayer": "`nn.TransformerEncoderLayer(norm_first=True)`, causal",
        "grouped": "the learner's GPT",
        "as nanoGPT writes it": "the GPT of 2019 as nanoGPT writes it",
    }
    table: dict[str, list[Result]] = {name: [] for name in names}
    for seed in range(number):
        for name, results in table.items():
            results.append(one(scope, name, seed))
            print(f"seed {seed}, {name}: {results[-1].bits:.3f} bits, {results[-1].seconds:.1f} s", flush=True)
    text, of_learner = BESIDE.format(seeds=number, **MACHINE), [0.0]
    for place, (name, results) in enumerate(table.items()):
        seconds = [result.seconds for result in results]
        of_learner = of_learner if place % 2 else seconds
        ratio = statistics.median(mine / own for mine, own in zip(seconds, of_learner, strict=True))
        bits = spread((result.bits for result in results), 2)
        text += f"| {names[name]} | {bits} | {f'{ratio:.2f}' if place % 2 else '1'} | {results[0].parameters:,} |\n"
    (Path(__file__).parent / "since_2017_beside.md").write_text(text, encoding="utf-8")


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
    beside(seeds()) if "beside" in sys.argv else main(seeds())
