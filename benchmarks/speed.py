"""How fast is the model that students build, against `torch.nn.Transformer` of the same size? Writes speed.md.

python benchmarks/speed.py
"""

import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from chain import MACHINE, answers
from torch import Tensor, nn

from autograder import data, parts

SIZES = {
    "lesson 6": ({"d_model": 64, "num_heads": 4, "num_layers": 1, "d_ff": 128}, 128, 8),
    "middle": ({"d_model": 256, "num_heads": 8, "num_layers": 3, "d_ff": 1024}, 32, 32),
}
HEAD = """\
# Speed, as ratios

Made by `python benchmarks/speed.py`; do not edit.

Ours is the model of the answers in `solutions/`, theirs `torch.nn.Transformer` with the same weights, embeddings and
output layer. Both run in turn in one process, {repeats} times each; the ratio is that of the medians, ours to theirs,
so less than 1 means that ours is faster. PyTorch {torch} on {threads} threads, {machine}.

| size | batch × words | what | ours / theirs | ours, ms |
|---|---|---|---:|---:|
"""
REPEATS = 15


class Theirs(nn.Module):
    """`nn.Transformer` without the norms at its ends, between embeddings and an output layer."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_layers: int, d_ff: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(vocab_size, d_model), nn.Embedding(vocab_size, d_model)
        self.register_buffer("encoding", parts.sinusoidal_encoding(256, d_model))
        sizes = d_model, num_heads, num_layers, num_layers, d_ff
        self.stacks = nn.Transformer(*sizes, batch_first=True)
        self.stacks.encoder.norm = self.stacks.decoder.norm = None
        self.output = nn.Linear(d_model, vocab_size)
        self.dropout = nn.Dropout(0.1)

    def _embed(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        return self.dropout(table(tokens) * table.embedding_dim**0.5 + self.encoding[: tokens.size(1)])

    def encode(self, src: Tensor) -> Tensor:
        """(batch, src_len) → memory."""
        return self.stacks.encoder(self._embed(self.source, src), src_key_padding_mask=src == 0)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """(batch, tgt_len) and the memory of src → logits."""
        future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        embedded, padding = self._embed(self.target, tgt), src == 0
        return self.output(self.stacks.decoder(embedded, memory, tgt_mask=future, memory_key_padding_mask=padding))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Both token tensors → logits."""
        return self.decode(tgt, self.encode(src), src)


def in_turn(*runs: Callable[[], object]) -> list[float]:
    """Median seconds of each, measured alternately after one run to warm up."""
    seconds: list[list[float]] = [[] for _ in runs]
    for repeat in range(REPEATS + 1):
        for taken, run in zip(seconds, runs, strict=True):
            begin = time.perf_counter()
            run()
            if repeat:
                taken.append(time.perf_counter() - begin)
    return [statistics.median(taken) for taken in seconds]


def measure(name: str, scope: dict, sizes: dict[str, int], batch: int, words: int) -> list[str]:
    """Rows of the table for one size."""
    torch.manual_seed(0)
    models = scope["Transformer"](13, 13, **sizes), Theirs(13, *sizes.values())
    src = data.tokens([words] * batch, vocab_size=13)
    tgt = nn.functional.pad(src, (1, 0), value=1)

    def training(model: nn.Module) -> Callable[[], object]:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
        return lambda: scope["train_step"](model, optimizer, src, tgt)

    def writing(model: nn.Module) -> Callable[[], object]:
        return lambda: scope["greedy_decode"](model, src, words, eos_id=-1)

    model, attend = parts.Transformer(13, 13, **sizes).eval(), scope["cached_attention"]
    pairs = {
        "a training step": [training(each) for each in models],
        f"decoding {words} tokens": [writing(each) for each in models],
        f"decoding {words} tokens: key-value cache / without": [
            lambda: parts.cached_greedy_decode(model, src, words, attend, eos_id=-1),
            writing(model),
        ],
    }
    rows = []
    for what, (ours, theirs) in pairs.items():
        mine, other = in_turn(ours, theirs)
        rows.append(f"| {name} | {batch} × {words} | {what} | {mine / other:.2f} | {1000 * mine:.0f} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure every size, and write the table."""
    warnings.filterwarnings("ignore", "The PyTorch API of nested tensors")  # PyTorch's encoder says it of itself
    scope = answers()
    rows = [row for name, size in SIZES.items() for row in measure(name, scope, *size)]
    head = HEAD.format(repeats=REPEATS, **MACHINE)
    (Path(__file__).parent / "speed.md").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
