"""Exercise `exact_match`: its cases and its slips."""

import random
from collections.abc import Callable, Iterator, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder import check, parts
from autograder.exercises.shared import PAD_IDS, sizes, some

ALIKE = (  # rows that only look alike: as text, without padding before them, in few bits, nearly
    ([1, 12], [11, 2]),
    ([5, 10], [5, 1]),
    ([0, 5, 2], [5, 2, 0]),
    ([5, 261], [5, 5]),
    ([14, 1], [1, 2]),
    ([5, 1], [1, 2]),
    ([30000, 30011], [30001, 30011]),
    ([5, 250000], [5, 250001]),
)


def cases(answer: Callable[..., object], *, seed: int = 0) -> None:
    """The fraction of equal rows, for any widths and pad id, whichever of the two is the prediction."""
    for one, other, pad_id in _pairs(seed):
        for predicted, expected in ((one, other), (other, one), (one, one)):
            fraction = torch.tensor(parts.exact_match(predicted, expected, pad_id))
            given = {"predicted": predicted, "expected": expected}
            name = (
                f"exact_match(predicted, expected, pad_id={pad_id})" if pad_id else "exact_match(predicted, expected)"
            )
            with check.case(**given), check.unchanged(**given):
                result = answer(predicted, expected, pad_id=pad_id) if pad_id else answer(predicted, expected)
                with_zeros = torch.tensor(parts.exact_match(predicted, expected, 0))
                slips = {"`pad_id` is taken to be 0": with_zeros} if with_zeros != fraction else {}
                check.close(name, check.number(name, result), fraction, mistakes=slips)


def _pairs(seed: int) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Two tables of rows (batch, …) that are equal, or nearly so, and their pad id, the smallest first."""
    generator = random.Random(seed)
    yield torch.tensor([[1, 5, 2, 9], [1, 2, 9, 9], [1, 4, 4, 2]]), torch.tensor([[1, 5, 2], [1, 2, 0], [1, 4, 4]]), 9
    for one, other in some(seed, ALIKE):
        yield torch.tensor([one]), torch.tensor([other]), 0
    for index, size in enumerate(sizes(seed, 8, batch=(1, 7), width=(1, 7))):
        batch, width = size.values()
        pad_id = PAD_IDS[(index + seed) % len(PAD_IDS)] if index % 2 else 0
        words = [word for word in (1, 2, 3, 5, 12, pad_id + 1, pad_id + 256) if word != pad_id]
        base = [[generator.choice(words) for _ in range(generator.randint(1, width))] for _ in range(3)]
        rows = [generator.choice(base) for _ in range(batch)]
        others = [_changed(generator, row, pad_id) for row in rows]
        yield _table(rows, pad_id, index % 3), _table(others, pad_id, (index + 1) % 3), pad_id


def _changed(generator: random.Random, row: list[int], pad_id: int) -> list[int]:
    """A row, as it is half of the time."""
    changed = [*row, row[0]], row[:-1], row[::-1], [pad_id, *row], [row[0] + 256, *row[1:]], [*row[:-1], row[-1] + 1]
    return row if generator.random() < 0.5 else generator.choice(changed)


def _table(rows: list[list[int]], pad_id: int, extra: int) -> Tensor:
    """Rows as (batch, …), with columns of padding at the end."""
    width = max(1, *map(len, rows)) + extra
    return torch.tensor([row + [pad_id] * (width - len(row)) for row in rows])


def _exact_match(predicted: Tensor, expected: Tensor, pad_id: int) -> dict[str, Tensor]:
    """Fractions for predicted and expected tokens (batch, …), of which one may be wider."""
    narrow, width = (of(predicted.size(1), expected.size(1)) for of in (min, max))
    one, two = (F.pad(tokens, (0, width - tokens.size(1)), value=pad_id) for tokens in (predicted, expected))
    ends = [F.pad(tokens, (width - tokens.size(1), 0), value=pad_id) for tokens in (predicted, expected)]
    same, real = one == two, two != pad_id

    def mean(values: Tensor) -> Tensor:
        return values.float().mean()

    def rows(values: Tensor) -> Tensor:
        return mean(values.all(1))

    return {
        "tokens are counted, not whole rows": mean(same),
        "real tokens are counted, not whole rows": mean(same[real]),
        "what one of the two has beyond the width of the other is not looked at": rows(same[:, :narrow]),
        "only the prediction is padded, and it is cut where it runs on past the width of what is expected": rows(
            same[:, : expected.size(1)]
        ),
        "only what is expected is padded, and it is cut where it is wider than the prediction": rows(
            same[:, : predicted.size(1)]
        ),
        "only the real tokens of what is expected are looked at, not what was written after them": rows(same | ~real),
        "only the real tokens of what is predicted are looked at": rows(same | (one == pad_id)),
        "columns are counted, not rows": mean(same.all(0)),
        "rows of different widths are never equal": rows(ends[0] == ends[1]),
        "a single right token is enough": mean(same.any(1)),
        "the sums of the rows are compared, not their tokens": mean(one.sum(1) == two.sum(1)),
        "the tokens of a row may stand in any order": rows(one.sort(1).values == two.sort(1).values),
        "the first token is not looked at": rows(same[:, 1:]),
        "it is 1 where all rows are right, and 0 otherwise": mean(same.all()),
        "right rows are counted, not their fraction": same.all(1).sum().float(),
        "wrong rows are counted instead of right ones": 1 - rows(same),
        "it is a percentage, not a fraction": 100 * rows(same),
    }


def slips(
    pairs: Mapping[str, tuple[Tensor, float]], expected: Tensor, results: Mapping[str, Tensor]
) -> dict[str, dict[str, Tensor]]:
    """For each of the predictions the slip that gives all of the results, where just one does.

    Args:
        pairs: predicted tokens and their fraction, by what they are.
        results: what the answer says of each of them.
    """
    by_pair = {what: _exact_match(predicted, expected, 0) for what, (predicted, _) in pairs.items()}
    given = [results[what] for what in pairs]
    named = [
        slip
        for slip in next(iter(by_pair.values()))
        if torch.equal(torch.stack([values[slip] for values in by_pair.values()]), torch.stack(given))
    ]
    return {
        what: {slip: by_pair[what][slip] for slip in named if len(named) == 1 and by_pair[what][slip] != fraction}
        for what, (_, fraction) in pairs.items()
    }
