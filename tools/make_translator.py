"""Train the translator that lesson 0 shows, and write autograder/parts/translation/translator.safetensors."""

import itertools
from collections.abc import Iterator

import torch
from safetensors.torch import save_file
from torch import Tensor
from tqdm import tqdm

from autograder import data, parts
from autograder.parts.translation.translator import WEIGHTS, Translator, untrained

STEPS, WARM_UP, PEAK = 4000, 400, 4e-3
CELLS = 2500  # of a batch, its padding included


def endless(tokenizer: parts.Tokenizer) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of ever new dates."""
    for seed in itertools.count(1):
        dates = data.dates(50_000, seed=seed)
        pairs = [([*tokenizer.encode(text), 2], [1, *tokenizer.encode(iso), 2]) for text, iso in dates]
        yield from parts.make_batches(pairs, CELLS, seed=seed)


def rate(step: int) -> float:
    """Up to the peak, then down to zero at the last step."""
    return PEAK * min((step + 1) / WARM_UP, (STEPS - step) / (STEPS - WARM_UP))


def exactly_right(translator: Translator, count: int = 1000) -> float:
    """The share of held-out dates that are right to the last digit."""
    held_out = data.dates(count, held_out=True, seed=7)
    return sum(translator(text).text == iso for text, iso in held_out) / count


def main() -> None:
    """Train, say how good it is, and write."""
    torch.manual_seed(0)
    model, tokenizer = untrained(), parts.Tokenizer([], data.DATE_LETTERS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for src, tgt in tqdm(itertools.islice(endless(tokenizer), STEPS), total=STEPS):
        # Without smoothing, so that its probabilities say how sure it is.
        parts.train_step(model, optimizer, src, tgt, smoothing=0.0)
        schedule.step()
    weights = {name: parameter.detach().half() for name, parameter in model.named_parameters()}
    save_file(weights, WEIGHTS)
    right = exactly_right(Translator(weights))
    print(f"{WEIGHTS.stat().st_size:,} bytes; {right:.1%} of held-out dates are right to the last digit")


if __name__ == "__main__":
    main()
