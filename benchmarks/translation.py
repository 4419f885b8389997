"""Does the recipe of lesson 8 read 99 % of held-out dates, whatever the seed, and how long do others take?

python benchmarks/translation.py [number of seeds] writes translation.md.
"""

import math
import multiprocessing
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from chain import MACHINE, ROOT, answers, seeds
from torch import Tensor, nn

from autograder import data, parts, yours
from autograder.course.config import read_notebook

GOAL = 0.99
HEAD = """\
# Translation of dates

Made by `python benchmarks/translation.py`; do not edit.

The whole model, the tokenizer, the batches, the loss, the training and the decoding are the answers in `solutions/`,
joined into one program; the recipe is the `Settings` of lesson 8 ({steps} steps). Each seed draws its own weights,
dropout and batches. Counted are the dates that are right to the last digit, of {count} that training never holds; the
beam is one of 4, with the paper's length penalty. PyTorch {torch}.

| seed | greedy | beam |
|---:|---:|---:|
"""
OTHERS = """
## Time to 99 %

The same dates, pieces, batches and sizes, alone on {threads} threads ({machine}). Every 100 steps the clock stops
while held-out dates are translated; what counts is the training until 99 % of them are right for the first time, with
seed 0.

- **nn.Transformer**: PyTorch's own, with the recipe of the lesson.
- **The Annotated Transformer's recipe**: its norm before each sublayer and its learning rates (the paper's, here with
  the 400 steps of warm-up of its first example; its 3,000 would last longer than our training), on PyTorch's modules;
  {patience} steps at most.

| model | steps | seconds | ratio |
|---|---:|---:|---:|
"""
PATIENCE = 6000
ANNOTATED = "The Annotated Transformer's recipe"


def prepared() -> dict:
    """The answers, and what lesson 8 makes of them before it trains, by name."""
    scope = answers()
    scope.update(__name__=__name__, data=data, yours=yours, device=torch.device("cpu"))
    scope["batches_from"] = scope["make_batches"]
    texts = [text for text, _ in data.dates(20_000, seed=1)]
    letters = sorted({*"".join(texts), *"0123456789-"})
    scope["tokenizer"] = scope["Tokenizer"](scope["learn_merges"](parts.words_of(texts), 40), letters)
    notebook = read_notebook(ROOT / "solutions" / "08_translation" / "08_translation.ipynb")
    cells = {cell["id"]: cell["source"] for cell in notebook["cells"]}
    exec(cells["padded"], scope)
    scope["pairs"] = scope["with_ids"](data.dates(60_000, seed=1))
    exec(cells["train_function"], scope)
    return scope


class Torch(nn.Module):
    """`nn.Transformer` between the embedding and the output of the lesson, under the names that the answers call."""

    def __init__(self, scope: dict, settings: object, *, norm_first: bool = False) -> None:
        super().__init__()
        self.tokenizer = scope["tokenizer"]
        vocab_size, d_model = scope["tokenizer"].vocab_size, settings.d_model
        self.embed = nn.Sequential(
            scope["TokenEmbedding"](vocab_size, d_model), scope["PositionalEncoding"](d_model, 64, settings.dropout)
        )
        sizes = d_model, settings.num_heads, settings.num_layers, settings.num_layers, settings.d_ff, settings.dropout
        self.transformer = nn.Transformer(*sizes, batch_first=True, norm_first=norm_first)
        if not norm_first:  # the paper has no further norm behind a stack
            self.transformer.encoder.norm = self.transformer.decoder.norm = None
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = self.embed[0].embedding.weight
        scope["initialize_parameters"](self)

    def encode(self, src: Tensor) -> Tensor:
        return self.transformer.encoder(self.embed(src), src_key_padding_mask=src == 0)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        later = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        padding = {"tgt_key_padding_mask": tgt == 0, "memory_key_padding_mask": src == 0}
        states = self.transformer.decoder(self.embed(tgt), memory, tgt_mask=later, tgt_is_causal=True, **padding)
        return self.output(states)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return self.decode(tgt, self.encode(src), src)


def time_to_goal(
    scope: dict, model: nn.Module, settings: object, rate: Callable[[int], float], steps: int
) -> tuple[int, float]:
    """Train until the goal is reached; return the steps and the seconds, infinite where it is not."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    batches = scope["batches_of"](scope["Settings"](steps=steps))
    seconds = 0.0
    for done in range(100, steps + 1, 100):
        begin = time.perf_counter()
        scope["fit"](model, batches[done - 100 : done], optimizer, schedule)
        seconds += time.perf_counter() - begin
        if scope["exactly_right"](model.eval(), scope["held_out"]) >= GOAL:
            return done, seconds
    return steps, math.inf


def others(scope: dict) -> list[str]:
    """The rows of the second table: ours, PyTorch's own, and The Annotated Transformer's recipe."""
    settings = scope["Settings"]()

    def line(step: int) -> float:
        return scope["straight_line"](step, settings)

    def noam(step: int) -> float:
        return scope["learning_rate"](step + 1, settings.d_model, 400)

    rows, ours = [], 0.0
    for name, make, rate, steps in (
        ("the course's answers", lambda: scope["untrained"](settings), line, settings.steps),
        ("nn.Transformer", lambda: Torch(scope, settings), line, settings.steps),
        (ANNOTATED, lambda: Torch(scope, settings, norm_first=True), noam, PATIENCE),
    ):
        torch.manual_seed(0)
        done, seconds = time_to_goal(scope, make(), settings, rate, steps)
        ours = ours or seconds
        found = f"{done} | {seconds:.0f} | {seconds / ours:.1f}" if seconds < math.inf else f"not in {done} | – | –"
        rows.append(f"| {name} | {found} |")
        print(rows[-1], flush=True)
    return rows


def one_seed(seed: int) -> tuple[int, int, int]:
    """Train with one thread and one seed; return the seed, and how many dates are right, greedy and with a beam."""
    torch.set_num_threads(1)
    scope = prepared()
    texts, wanted = zip(*scope["held_out"], strict=True)

    def beam(model: nn.Module, src: Tensor, max_len: int) -> Tensor:
        return scope["beam_search"](model, src, 4, max_len)[0]

    model, _ = scope["trained"](scope["Settings"](seed=seed))
    greedy, beamed = (
        sum(one == iso for one, iso in zip(scope["translate"](model, texts, decode), wanted, strict=True))
        for decode in (scope["greedy_decode"], beam)
    )
    print(seed, greedy, beamed, flush=True)
    return seed, greedy, beamed


def write(rows: Sequence[tuple[int, int, int]], times: Sequence[str], scope: dict) -> None:
    """Write the page of both tables."""
    count = len(scope["held_out"])
    reached = sum(greedy >= GOAL * count for _, greedy, _ in rows)
    as_good = sum(beamed >= greedy for _, greedy, beamed in rows)
    text = HEAD.format(steps=scope["Settings"]().steps, count=count, **MACHINE)
    text += "".join(f"| {seed} | {greedy / count:.2%} | {beamed / count:.2%} |\n" for seed, greedy, beamed in rows)
    text += (
        f"\n**{reached} of {len(rows)} seeds read at least {GOAL:.0%}; the beam is at least as good as greedy decoding "
        f"with {as_good} of {len(rows)}.**\n"
    )
    text += OTHERS.format(patience=PATIENCE, **MACHINE)
    (Path(__file__).parent / "translation.md").write_text(text + "\n".join(times) + "\n", encoding="utf-8")


def main(number: int) -> None:
    """Train once for each seed, two at a time, then compare times on all cores, and write the tables."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        rows = pool.map(one_seed, range(number), chunksize=1)
    scope = prepared()
    write(rows, others(scope), scope)


if __name__ == "__main__":
    main(seeds())
