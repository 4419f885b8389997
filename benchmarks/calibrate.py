"""Does the recipe of lesson 6 copy every held-out sequence, whatever the seed? Writes calibration.md.

python benchmarks/calibrate.py [number of seeds]
"""

import time
from pathlib import Path

from chain import MACHINE, SIZES, STEPS, WARMUP, answers, copied, seeds, train

HEAD = """\
# Calibration of the copy task

Made by `python benchmarks/calibrate.py`; do not edit.

The model, the loss, the schedule, the training step and the decoding are the answers in `solutions/`, joined into one
program; the recipe is that of lesson 6 ({sizes}, {steps} steps, warm-up {warmup}, post-norm). Each seed draws its own
weights and training data; exact match is counted on {count} sequences of 3 to 8 words that training never holds.
PyTorch {torch} on {threads} threads, {machine}.

| seed | exact match | seconds of training | seconds of decoding |
|---:|---:|---:|---:|
"""


def main(number: int) -> None:
    """Train once for each seed, say how it went, and write the table."""
    scope, rows, lines, count = answers(), [], [], 0
    for seed in range(number):
        begin = time.perf_counter()
        model = train(scope, seed)
        trained = time.perf_counter()
        match, count = copied(scope, model)
        rows.append((match, trained - begin))
        lines.append(f"| {seed} | {match:.4f} | {trained - begin:.1f} | {time.perf_counter() - trained:.1f} |")
        print(lines[-1], flush=True)
    exact = sum(match == 1 for match, _ in rows)
    summary = f"{exact} of {number} seeds copy all {count} sequences; the longest training took "
    summary += f"{max(seconds for _, seconds in rows):.0f} seconds."
    sizes = ", ".join(f"{name} {value}" for name, value in SIZES.items())
    head = HEAD.format(sizes=sizes, steps=STEPS, warmup=WARMUP, count=count, **MACHINE)
    text = head + "\n".join(lines) + f"\n\n**{summary}**\n"
    (Path(__file__).parent / "calibration.md").write_text(text, encoding="utf-8")
    print(summary)


if __name__ == "__main__":
    main(seeds())
